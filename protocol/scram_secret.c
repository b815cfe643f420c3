#include "protocol/scram_secret.h"

#include "protocol/base64.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <stringprep.h>

/* Cuts `text` at the first `separator`: returns what stands before it, leaves what stands behind.
 * False if there is none. */
static bool cut(pgw_slice *text, char separator, pgw_slice *part)
{
    const char *at = text->len > 0 ? memchr(text->ptr, separator, text->len) : NULL;
    if (at == NULL)
        return false;
    *part = (pgw_slice){text->ptr, (size_t)(at - text->ptr)};
    *text = (pgw_slice){at + 1, text->len - part->len - 1};
    return true;
}

static bool read_iterations(pgw_slice digits, uint32_t *iterations)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(digits.ptr[i] - '0');
        if (value > INT_MAX)
            return false;
    }
    *iterations = (uint32_t)value;
    return value > 0;
}

static bool read_key(pgw_slice text, uint8_t key[PGW_SCRAM_KEY])
{
    size_t len;
    return pgw_base64_decode(text, key, PGW_SCRAM_KEY, &len) && len == PGW_SCRAM_KEY;
}

bool pgw_scram_secret_parse(pgw_slice text, pgw_scram_secret *secret)
{
    pgw_slice scheme, iterations, salt, stored;
    if (!cut(&text, '$', &scheme) || !cut(&text, ':', &iterations) || !cut(&text, '$', &salt) ||
        !cut(&text, ':', &stored))
        return false;
    return pgw_slice_eq_str(scheme, "SCRAM-SHA-256") &&
           read_iterations(iterations, &secret->iterations) && salt.len > 0 &&
           pgw_base64_decode(salt, secret->salt, sizeof secret->salt, &secret->salt_len) &&
           read_key(stored, secret->stored_key) && read_key(text, secret->server_key);
}

/* PostgreSQL looks for what is prohibited or runs both ways before it normalizes, RFC 4013 and with
 * it libidn's profile afterwards. So these are the profile's steps, normalization last. */
static void postgres_steps(Stringprep_profile *steps, size_t max)
{
    size_t count = 0;
    for (int last = 0; last < 2; last++)
        for (const Stringprep_profile *step = stringprep_saslprep; step->operation != 0; step++)
            if ((step->operation == STRINGPREP_NFKC) == last) {
                if (count + 1 == max)
                    abort();
                steps[count++] = *step;
            }
    steps[count] = (Stringprep_profile){0};
}

/* The prepared password in `out`, NUL-terminated. False if it is to be taken as it is: not UTF-8,
 * prohibited, not in Unicode 3.2, or nothing left of it. Tried with every character, alone and in
 * Latin text: PostgreSQL 15 prepares all the same, but five CJK compatibility ideographs that
 * Unicode 4 corrected. */
static bool prepare(pgw_slice password, char *out, size_t cap)
{
    if (password.len == 0 || memchr(password.ptr, '\0', password.len) != NULL)
        return false;
    Stringprep_profile steps[32];
    postgres_steps(steps, sizeof steps / sizeof steps[0]);
    memcpy(out, password.ptr, password.len);
    out[password.len] = '\0';
    return stringprep(out, cap, STRINGPREP_NO_UNASSIGNED, steps) == STRINGPREP_OK && out[0] != '\0';
}

static bool salted_password(pgw_slice password, const pgw_scram_secret *secret,
                            uint8_t salted[PGW_SCRAM_KEY])
{
    return PKCS5_PBKDF2_HMAC(password.len > 0 ? password.ptr : "", (int)password.len, secret->salt,
                             (int)secret->salt_len, (int)secret->iterations, EVP_sha256(),
                             PGW_SCRAM_KEY, salted) == 1;
}

static bool make_keys(pgw_slice password, pgw_scram_secret *secret)
{
    uint8_t salted[PGW_SCRAM_KEY], client_key[PGW_SCRAM_KEY];
    bool made = salted_password(password, secret, salted) &&
                HMAC(EVP_sha256(), salted, sizeof salted, (const uint8_t *)"Client Key", 10,
                     client_key, NULL) != NULL &&
                SHA256(client_key, sizeof client_key, secret->stored_key) != NULL &&
                HMAC(EVP_sha256(), salted, sizeof salted, (const uint8_t *)"Server Key", 10,
                     secret->server_key, NULL) != NULL;
    OPENSSL_cleanse(salted, sizeof salted);
    OPENSSL_cleanse(client_key, sizeof client_key);
    return made;
}

bool pgw_scram_secret_make(pgw_slice password, const uint8_t *salt, size_t salt_len,
                           uint32_t iterations, pgw_scram_secret *secret)
{
    if (salt_len == 0 || salt_len > sizeof secret->salt || iterations == 0 ||
        iterations > INT_MAX || password.len > INT_MAX / 16)
        return false;
    *secret = (pgw_scram_secret){.iterations = iterations, .salt_len = salt_len};
    memcpy(secret->salt, salt, salt_len);
    size_t cap = password.len * 11 + 1; /* NFKC makes eleven times as much of U+FDFA */
    char *prepared = pgw_alloc(cap);
    bool made = prepare(password, prepared, cap) ? make_keys(pgw_slice_str(prepared), secret)
                                                 : make_keys(password, secret);
    OPENSSL_cleanse(prepared, cap);
    free(prepared);
    return made;
}

void pgw_scram_secret_mock(pgw_slice user, const uint8_t key[PGW_SCRAM_KEY],
                           pgw_scram_secret *secret)
{
    uint8_t digest[PGW_SCRAM_KEY] = {0};
    HMAC(EVP_sha256(), key, PGW_SCRAM_KEY, (const uint8_t *)(user.len > 0 ? user.ptr : ""),
         user.len, digest, NULL);
    *secret = (pgw_scram_secret){.iterations = PGW_SCRAM_ITERATIONS, .salt_len = PGW_SCRAM_SALT};
    memcpy(secret->salt, digest, PGW_SCRAM_SALT);
}
