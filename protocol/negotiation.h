/*
 * negotiation: what a connection may say before its session: requests for encryption, a cancel, the
 * startup packet; each at its time and once, as PostgreSQL's ProcessStartupPacket takes them.
 */
#ifndef PGW_NEGOTIATION_H
#define PGW_NEGOTIATION_H

#include "protocol/error.h"
#include "protocol/startup.h"

typedef struct pgw_negotiation {
    bool tls;       /* can be had, and is not there yet */
    bool tls_asked; /* SSLRequest was answered, or TLS began without it */
    bool gss_asked;
    const char *unencrypted; /* what the bytes were behind that came too early; NULL: none did */
} pgw_negotiation;

typedef enum pgw_negotiated {
    PGW_NEGOTIATED_MORE,    /* the packet is not wholly there */
    PGW_NEGOTIATED_DECLINE, /* answer 'N' and go on */
    PGW_NEGOTIATED_ENCRYPT, /* answer 'S', drop what else is there; then everything goes through TLS
                             */
    PGW_NEGOTIATED_SESSION, /* `startup` has the parameters */
    PGW_NEGOTIATED_CANCEL,  /* `startup` has whom; then close without a word */
    PGW_NEGOTIATED_DROP,    /* close without a word */
    PGW_NEGOTIATED_REFUSE   /* say `error`, then close */
} pgw_negotiated;

/* The first byte of a connection is that of a TLS handshake nobody asked for, and it may be. */
PGW_MUST_CHECK bool pgw_negotiate_directly(pgw_negotiation *state, unsigned char first);
/* The packet at the start of `input`, of `startup->size` bytes. Bytes behind a request for
 * encryption that came before its answer are refused with 08P01 next, and never read
 * (CVE-2021-23214): behind 'N' at once, behind 'S' as soon as TLS is there to say it in. */
PGW_MUST_CHECK pgw_negotiated pgw_negotiate(pgw_negotiation *state, pgw_slice input,
                                            pgw_startup *startup, pgw_error *error);

#endif
