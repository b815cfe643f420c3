/*
 * scram_secret: what a server keeps instead of a password for SCRAM-SHA-256 (RFC 5803), read, made
 * of a password, and made up for a user that does not exist.
 */
#ifndef PGW_SCRAM_SECRET_H
#define PGW_SCRAM_SECRET_H

#include "protocol/bytes.h"

enum {
    PGW_SCRAM_KEY = 32,          /* bytes of SHA-256 */
    PGW_SCRAM_SALT = 16,         /* bytes of salt in the secrets that PostgreSQL makes */
    PGW_SCRAM_ITERATIONS = 4096, /* iterations in the secrets that PostgreSQL makes */
    PGW_SCRAM_MAX_SALT = 64
};

/* A SCRAM secret, which a server keeps instead of a password. */
typedef struct pgw_scram_secret {
    uint32_t iterations;
    uint8_t salt[PGW_SCRAM_MAX_SALT];
    size_t salt_len;
    uint8_t stored_key[PGW_SCRAM_KEY], server_key[PGW_SCRAM_KEY];
} pgw_scram_secret;

/* Parses "SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>", as in pg_authid. False: the
 * text is no secret, and `secret` must not be used. */
PGW_MUST_CHECK bool pgw_scram_secret_parse(pgw_slice text, pgw_scram_secret *secret);
/* Makes a secret of a password, which is prepared as PostgreSQL does it (SASLprep, or its bytes as
 * they are if they cannot be prepared). This takes milliseconds by design: it is not for a login,
 * whose duration would tell that the user exists. False if the salt or the iterations are out of
 * range. */
PGW_MUST_CHECK bool pgw_scram_secret_make(pgw_slice password, const uint8_t *salt, size_t salt_len,
                                          uint32_t iterations, pgw_scram_secret *secret);
/* Makes the secret for an unknown user's exchange: no password matches it, and its salt is always
 * the same for this user and this key, as a real one's would be. It looks like a secret that
 * PostgreSQL made: one with other iterations or another length of salt tells that its user exists.
 * `key` is random and secret. Never make it of passwords or verifiers: any client is given a salt,
 * and could try passwords against it offline, millions a second. */
void pgw_scram_secret_mock(pgw_slice user, const uint8_t key[PGW_SCRAM_KEY],
                           pgw_scram_secret *secret);

#endif
