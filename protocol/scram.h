/*
 * scram: the server's side of SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, 7677, and 5929's
 * tls-server-end-point), with the messages and errors of PostgreSQL 15. Random bytes and the hash
 * of the certificate come from the caller.
 */
#ifndef PGW_SCRAM_H
#define PGW_SCRAM_H

#include "protocol/error.h"
#include "protocol/scram_secret.h"

enum {
    PGW_SCRAM_NONCE = 18,
    PGW_SCRAM_MAX_BINDING = 64 /* bytes of SHA-512 */
};

/* The message that an exchange waits for. */
typedef enum pgw_scram_state {
    PGW_SCRAM_NOTHING, /* no message: the exchange is over, or never began, and any fails */
    PGW_SCRAM_INITIAL, /* SASLInitialResponse */
    PGW_SCRAM_FIRST,   /* client-first-message, where SASLInitialResponse had none */
    PGW_SCRAM_FINAL    /* client-final-message */
} pgw_scram_state;

/* One exchange. All zero is an exchange that takes no message. */
typedef struct pgw_scram {
    pgw_scram_state state;
    pgw_scram_secret secret;
    bool mock; /* the exchange fails at the end, whatever the proof */
    bool plus; /* the client chose SCRAM-SHA-256-PLUS */
    char flag; /* the flag in the client's gs2-header: 'n', 'y' or 'p' */
    uint8_t binding[PGW_SCRAM_MAX_BINDING];
    size_t binding_len;
    uint8_t nonce[PGW_SCRAM_NONCE];
    pgw_buf messages;           /* RFC 5802's AuthMessage, as far as it is known */
    size_t nonce_at, nonce_len; /* where the client's and the server's nonce stand in `messages` */
} pgw_scram;

typedef enum pgw_scram_result {
    PGW_SCRAM_CONTINUE, /* `out` has AuthenticationSASLContinue, and another 'p' is awaited */
    PGW_SCRAM_DONE,     /* `out` has AuthenticationSASLFinal, AuthenticationOk is the caller's */
    PGW_SCRAM_FAILED    /* nothing is written, the error is filled; there is no way on */
} pgw_scram_result;

/* Begins an exchange; the owner calls pgw_scram_clear(). `binding` is the hash of the server's
 * certificate for tls-server-end-point, at most PGW_SCRAM_MAX_BINDING bytes; empty without TLS:
 * then -PLUS is not offered. `nonce` is random and new each time. All is copied. */
void pgw_scram_start(pgw_scram *scram, const pgw_scram_secret *secret, bool mock, pgw_slice binding,
                     const uint8_t nonce[PGW_SCRAM_NONCE]);
/* Writes AuthenticationSASL: the mechanisms, best first. */
void pgw_scram_offer(const pgw_scram *scram, pgw_buf *out);
/* Takes the body of a 'p' message: SASLInitialResponse, then SASLResponse. Errors are those of
 * PostgreSQL 15, but for 28P01: its message is left empty, because it is to name the user. A mock
 * exchange ends exactly like one with a wrong proof. */
PGW_MUST_CHECK pgw_scram_result pgw_scram_step(pgw_scram *scram, pgw_slice body, pgw_buf *out,
                                               pgw_error *error);
/* Wipes and frees; more than once does no harm. */
void pgw_scram_clear(pgw_scram *scram);

#endif
