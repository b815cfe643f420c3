/*
 * startup: the first packet of a connection, which has no type byte: StartupMessage, SSLRequest,
 * GSSENCRequest or CancelRequest (protocol documentation, "Message Formats").
 */
#ifndef PGW_STARTUP_H
#define PGW_STARTUP_H

#include "protocol/reader.h"

enum {
    PGW_REQUEST = 8,          /* the bytes of a request for encryption */
    PGW_MINOR = 2,            /* The newest protocol that is spoken is 3.2. */
    PGW_CANCEL_KEY = 4,       /* Bytes of a cancel key before protocol 3.2. */
    PGW_CANCEL_KEY_LONG = 32, /* Bytes of a cancel key in protocol 3.2, as PostgreSQL makes them. */
    PGW_CANCEL_KEY_MOST = 256, /* The most bytes of a cancel key in a CancelRequest. */
};

typedef enum pgw_startup_kind {
    PGW_STARTUP_MORE,        /* the packet is not wholly there yet */
    PGW_STARTUP_BAD_LENGTH,  /* no packet has this length: another protocol's client, most likely */
    PGW_STARTUP_BAD_LAYOUT,  /* parameters are not pairs with a terminator behind them */
    PGW_STARTUP_UNSUPPORTED, /* a major protocol version other than 3 */
    PGW_STARTUP_SESSION,
    PGW_STARTUP_SSL,
    PGW_STARTUP_GSSENC,
    PGW_STARTUP_CANCEL
} pgw_startup_kind;

typedef struct pgw_parameter {
    pgw_slice name, value; /* a NUL stands behind each */
} pgw_parameter;

typedef struct pgw_startup {
    size_t size;           /* bytes of the packet on the wire */
    uint16_t major, minor; /* the protocol version that is asked for */
    pgw_slice parameters;  /* names and values as sent, with protocol options */
    uint32_t cancel_pid;
    pgw_slice cancel_key; /* A CancelRequest has 1 to PGW_CANCEL_KEY_MOST bytes here. */
} pgw_startup;

/* Decodes the packet at the start of `bytes`; slices point into it. */
PGW_MUST_CHECK pgw_startup_kind pgw_startup_decode(pgw_slice bytes, pgw_startup *startup);
/* Takes the next parameter of `rest`, which is `parameters` at first; false: there are no more. */
PGW_MUST_CHECK bool pgw_startup_next(pgw_slice *rest, pgw_parameter *parameter);
/* The value of a parameter, the last if it was sent twice, as PostgreSQL has it; {NULL, 0} if it
 * was not sent. */
pgw_slice pgw_startup_parameter(const pgw_startup *startup, const char *name);
/* True for the names of protocol options (_pq_.…), which are no settings. */
bool pgw_startup_is_option(pgw_slice name);
/* Writes NegotiateProtocolVersion if more was asked for than there is, as PostgreSQL does: a
 * protocol newer than 3.2, or options, none of which is known. */
void pgw_startup_negotiate(const pgw_startup *startup, pgw_buf *out);

#endif
