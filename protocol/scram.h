/*
 * scram: the server's side of SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, 7677, and 5929's
 * tls-server-end-point), with the secrets, the messages and the errors of PostgreSQL 15. Random
 * bytes and the hash of the certificate come from the caller.
 */
#ifndef PGW_SCRAM_H
#define PGW_SCRAM_H

#include "protocol/bytes.h"
#include "protocol/error.h"

enum {
    PGW_SCRAM_KEY = 32, /* bytes of SHA-256 */
    PGW_SCRAM_NONCE = 18,
    PGW_SCRAM_SALT = 16,         /* of the secrets that PostgreSQL makes … */
    PGW_SCRAM_ITERATIONS = 4096, /* … and their iterations */
    PGW_SCRAM_MAX_SALT = 64,
    PGW_SCRAM_MAX_BINDING = 64 /* SHA-512 */
};

/* What a server keeps instead of a password. */
typedef struct pgw_scram_secret {
    uint32_t iterations;
    uint8_t salt[PGW_SCRAM_MAX_SALT];
    size_t salt_len;
    uint8_t stored_key[PGW_SCRAM_KEY], server_key[PGW_SCRAM_KEY];
} pgw_scram_secret;

/* "SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>", as in pg_authid. If it is none,
 * false, and nothing is to be made of what is in `secret`. */
bool pgw_scram_secret_parse(pgw_slice text, pgw_scram_secret *secret);
/* From a password, which is prepared as PostgreSQL does it (SASLprep, or its bytes as they are if
 * they cannot be prepared). Takes milliseconds by design: it is not for a login, whose duration
 * would tell that the user exists. False if the salt or the iterations are out of range. */
bool pgw_scram_secret_make(pgw_slice password, const uint8_t *salt, size_t salt_len,
                           uint32_t iterations, pgw_scram_secret *secret);
/* What an unknown user's exchange is led with: nothing matches it, and its salt is always the same
 * for this user and this key, as a real one's would be. It looks like a secret that PostgreSQL
 * made: one with other iterations or another length of salt tells that its user exists.
 * `key` is random and secret. Never make it of passwords or verifiers: everybody is given a salt,
 * and could try passwords against it at home, millions a second. */
void pgw_scram_secret_mock(pgw_slice user, const uint8_t key[PGW_SCRAM_KEY],
                           pgw_scram_secret *secret);

/* Which message is awaited. */
typedef enum pgw_scram_state {
    PGW_SCRAM_NOTHING, /* over, or never begun: whatever comes fails */
    PGW_SCRAM_INITIAL, /* SASLInitialResponse */
    PGW_SCRAM_FIRST,   /* client-first-message, where that was not in it */
    PGW_SCRAM_FINAL    /* client-final-message */
} pgw_scram_state;

/* One exchange. All zero is one that takes nothing. */
typedef struct pgw_scram {
    pgw_scram_state state;
    pgw_scram_secret secret;
    bool mock; /* fails at the end, whatever the proof */
    bool plus; /* the client chose SCRAM-SHA-256-PLUS */
    char flag; /* the first of its gs2-header: 'n', 'y' or 'p' */
    uint8_t binding[PGW_SCRAM_MAX_BINDING];
    size_t binding_len;
    uint8_t nonce[PGW_SCRAM_NONCE];
    pgw_buf messages;           /* RFC 5802's AuthMessage, as far as it is known */
    size_t nonce_at, nonce_len; /* the client's and the server's nonce in it */
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
pgw_scram_result pgw_scram_step(pgw_scram *scram, pgw_slice body, pgw_buf *out, pgw_error *error);
/* Wipes and frees; more than once does no harm. */
void pgw_scram_clear(pgw_scram *scram);

#endif
