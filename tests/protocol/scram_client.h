/*
 * scram_client: the client's side of SCRAM-SHA-256 (RFC 5802, section 3), written down apart from
 * the server's, so that neither hides a mistake of the other.
 */
#ifndef TESTS_SCRAM_CLIENT_H
#define TESTS_SCRAM_CLIENT_H

#include "protocol/bytes.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENT_KEY = 32 };

typedef struct client_keys {
    uint8_t client[CLIENT_KEY], stored[CLIENT_KEY], server[CLIENT_KEY];
} client_keys;

static inline void client_hmac(const uint8_t *key, pgw_slice text, uint8_t *out)
{
    size_t len;
    if (EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key, CLIENT_KEY,
                  (const unsigned char *)text.ptr, text.len, out, CLIENT_KEY, &len) == NULL)
        abort();
}

static inline void client_hash(const uint8_t *key, uint8_t *out)
{
    size_t len;
    if (EVP_Q_digest(NULL, "SHA256", NULL, key, CLIENT_KEY, out, &len) != 1)
        abort();
}

/* `password` is prepared already. */
static inline client_keys client_derive(pgw_slice password, const uint8_t *salt, size_t salt_len,
                                        int iterations)
{
    uint8_t salted[CLIENT_KEY];
    client_keys keys;
    if (PKCS5_PBKDF2_HMAC(password.ptr, (int)password.len, salt, (int)salt_len, iterations,
                          EVP_sha256(), CLIENT_KEY, salted) != 1)
        abort();
    client_hmac(salted, PGW_LITERAL("Client Key"), keys.client);
    client_hmac(salted, PGW_LITERAL("Server Key"), keys.server);
    client_hash(keys.client, keys.stored);
    return keys;
}

static inline void client_proof(const client_keys *keys, pgw_slice auth_message, uint8_t *proof)
{
    client_hmac(keys->stored, auth_message, proof);
    for (int i = 0; i < CLIENT_KEY; i++)
        proof[i] ^= keys->client[i];
}

static inline void client_base64(const uint8_t *bytes, size_t len, pgw_buf *out)
{
    char *end = pgw_buf_reserve(out, len / 3 * 4 + 5);
    out->len += (size_t)EVP_EncodeBlock((unsigned char *)end, bytes, (int)len);
}

/* What the client's first message says behind its gs2-header; empty if there is none. */
static inline pgw_slice client_bare(pgw_slice first)
{
    for (int commas = 0; first.len > 0 && commas < 2; first.ptr++, first.len--)
        commas += *first.ptr == ',';
    return first;
}

/* The nonce of a server-first-message. */
static inline pgw_slice client_nonce(pgw_slice server_first)
{
    if (server_first.len < 2)
        abort();
    const char *comma = memchr(server_first.ptr, ',', server_first.len);
    return (pgw_slice){server_first.ptr + 2, (size_t)(comma - server_first.ptr) - 2};
}

/* AuthMessage */
static inline void client_auth_message(pgw_slice bare, pgw_slice server_first,
                                       pgw_slice without_proof, pgw_buf *out)
{
    pgw_buf_add_slice(out, bare);
    pgw_buf_add_byte(out, ',');
    pgw_buf_add_slice(out, server_first);
    pgw_buf_add_byte(out, ',');
    pgw_buf_add_slice(out, without_proof);
}

/* SASLInitialResponse's body. */
static inline void client_initial(const char *mechanism, pgw_slice first, pgw_buf *out)
{
    pgw_buf_add(out, mechanism, strlen(mechanism) + 1);
    pgw_buf_add_i32(out, (int32_t)first.len);
    pgw_buf_add_slice(out, first);
}

#endif
