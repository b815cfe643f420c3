/*
 * negotiation: what a connection may say before its session: requests for encryption, a cancel, the
 * startup packet; each at its time and once, as PostgreSQL's ProcessStartupPacket takes them.
 */
#ifndef PGW_NEGOTIATION_H
#define PGW_NEGOTIATION_H

#include "protocol/error.h"
#include "protocol/startup.h"

typedef struct pgw_negotiation {
    bool tls;       /* TLS can be had, and has not begun */
    bool tls_asked; /* SSLRequest was answered, or TLS began without it */
    bool gss_asked;
    const char *unencrypted; /* the request behind which bytes came too early; NULL: none did */
} pgw_negotiation;

typedef enum pgw_negotiated {
    PGW_NEGOTIATED_MORE,    /* the packet is not wholly there */
    PGW_NEGOTIATED_DECLINE, /* answer 'N' and go on */
    PGW_NEGOTIATED_ENCRYPT, /* answer 'S', drop the rest of the input; then everything goes through
                               TLS */
    PGW_NEGOTIATED_SESSION, /* `startup` has the parameters */
    PGW_NEGOTIATED_CANCEL,  /* `startup` has the session to cancel; then close without a word */
    PGW_NEGOTIATED_DROP,    /* close without a word */
    PGW_NEGOTIATED_REFUSE   /* say `error`, then close */
} pgw_negotiated;

/* Whether `first`, the first byte of a connection, begins a TLS handshake without an SSLRequest,
 * and TLS can be had. */
PGW_MUST_CHECK bool pgw_negotiate_directly(pgw_negotiation *state, unsigned char first);
/* The packet at the start of `input`, of `startup->size` bytes. Bytes behind a request for
 * encryption that came before its answer are refused with 08P01 next, and never read
 * (CVE-2021-23214): behind 'N' at once, behind 'S' as soon as TLS is there to say it in. */
PGW_MUST_CHECK pgw_negotiated pgw_negotiate(pgw_negotiation *state, pgw_slice input,
                                            pgw_startup *startup, pgw_error *error);

#endif
