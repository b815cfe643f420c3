#include "protocol/scram.h"

#include "protocol/base64.h"
#include "protocol/frontend.h"
#include "protocol/reader.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_SASL = 10, CODE_SASL_CONTINUE = 11, CODE_SASL_FINAL = 12 };

/* PG_MAX_SASL_MESSAGE_LENGTH, which counts the four bytes of the length. */
enum { MAX_BODY = 1024 - 4 };

#define MECHANISM "SCRAM-SHA-256"
#define MECHANISM_PLUS "SCRAM-SHA-256-PLUS"
#define BINDING_TYPE "tls-server-end-point"

/* Fills the error and is false, for `return MALFORMED(…)`; arguments behind `error` are the
 * DETAIL. */
#define MALFORMED(error, ...)                                                                      \
    (pgw_fail(error, "08P01", "malformed SCRAM message"), pgw_error_detail(error, __VA_ARGS__),    \
     false)

void pgw_scram_start(pgw_scram *scram, const pgw_scram_secret *secret, bool mock, pgw_slice binding,
                     const uint8_t nonce[PGW_SCRAM_NONCE])
{
    if (binding.len > PGW_SCRAM_MAX_BINDING)
        abort();
    *scram = (pgw_scram){.state = PGW_SCRAM_INITIAL, .secret = *secret, .mock = mock};
    if (binding.len > 0)
        memcpy(scram->binding, binding.ptr, binding.len);
    scram->binding_len = binding.len;
    memcpy(scram->nonce, nonce, PGW_SCRAM_NONCE);
}

void pgw_scram_clear(pgw_scram *scram)
{
    pgw_buf_free(&scram->messages);
    OPENSSL_cleanse(scram, sizeof *scram);
}

static void write_sasl(int32_t code, pgw_slice data, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'R');
    pgw_buf_add_i32(out, code);
    pgw_buf_add_slice(out, data);
    pgw_end_small(out, begun);
}

void pgw_scram_offer(const pgw_scram *scram, pgw_buf *out)
{
    if (scram->binding_len > 0)
        write_sasl(CODE_SASL, PGW_LITERAL(MECHANISM_PLUS "\0" MECHANISM "\0\0"), out);
    else
        write_sasl(CODE_SASL, PGW_LITERAL(MECHANISM "\0\0"), out);
}

/* Reading attributes: a message holds no NUL, so that '\0' stands for its end. */

static char peek(const pgw_reader *reader)
{
    return reader->at < reader->end ? *reader->at : '\0';
}

/* A character of the client's for error messages, as printable ASCII. */
static const char *show(char c, char shown[static 5])
{
    snprintf(shown, 5, c > ' ' && c <= '~' ? "'%c'" : "0x%02x", (unsigned char)c);
    return shown;
}

/* Reads "=value" and the comma behind it, if any, of attribute `name`. */
static bool read_value(pgw_reader *reader, char name, pgw_slice *value, pgw_error *error)
{
    reader->at++;
    if (peek(reader) != '=')
        return MALFORMED(error, "Expected character \"=\" for attribute \"%c\".", name);
    size_t left = (size_t)(reader->end - ++reader->at);
    const char *comma = memchr(reader->at, ',', left);
    *value = (pgw_slice){reader->at, comma != NULL ? (size_t)(comma - reader->at) : left};
    reader->at += value->len + (comma != NULL);
    return true;
}

static bool read_attribute(pgw_reader *reader, char name, pgw_slice *value, pgw_error *error)
{
    char shown[5];
    if (peek(reader) != name)
        return MALFORMED(error, "Expected attribute \"%c\" but found \"%s\".", name,
                         show(peek(reader), shown));
    return read_value(reader, name, value, error);
}

static bool read_any_attribute(pgw_reader *reader, char *name, pgw_slice *value, pgw_error *error)
{
    char shown[5];
    *name = peek(reader);
    if (*name == '\0')
        return MALFORMED(error, "Attribute expected, but found end of string.");
    if (!(*name >= 'A' && *name <= 'Z') && !(*name >= 'a' && *name <= 'z'))
        return MALFORMED(error, "Attribute expected, but found invalid character \"%s\".",
                         show(*name, shown));
    return read_value(reader, *name, value, error);
}

static bool is_text(pgw_slice message, pgw_error *error)
{
    if (message.len == 0)
        return MALFORMED(error, "The message is empty.");
    if (memchr(message.ptr, '\0', message.len) != NULL)
        return MALFORMED(error, "Message length does not match input length.");
    return true;
}

/* client-first-message = gs2-header [m=…,] n=…,r=nonce[,extensions] */

static bool read_no_binding(pgw_scram *scram, pgw_reader *reader, pgw_error *error)
{
    char shown[5];
    if (scram->plus)
        return MALFORMED(error, "The client selected " MECHANISM_PLUS ", but the SCRAM message "
                                "does not include channel binding data.");
    /* The client did not see -PLUS, which was offered: the list was changed on the way. */
    if (scram->flag == 'y' && scram->binding_len > 0) {
        pgw_fail(error, "28000", "SCRAM channel binding negotiation error");
        pgw_error_detail(error, "The client supports SCRAM channel binding but thinks the server "
                                "does not.  However, this server does support channel binding.");
        return false;
    }
    reader->at++;
    if (peek(reader) != ',')
        return MALFORMED(error, "Comma expected, but found character \"%s\".",
                         show(peek(reader), shown));
    reader->at++;
    return true;
}

static bool read_binding_type(pgw_scram *scram, pgw_reader *reader, pgw_error *error)
{
    pgw_slice type;
    if (!scram->plus)
        return MALFORMED(error, "The client selected " MECHANISM " without channel binding, but "
                                "the SCRAM message includes channel binding data.");
    if (!read_attribute(reader, 'p', &type, error))
        return false;
    if (pgw_slice_eq_str(type, BINDING_TYPE))
        return true;
    char shown[31] = "";
    for (size_t i = 0; i < type.len && i < sizeof shown - 1; i++)
        shown[i] = type.ptr[i] > ' ' && type.ptr[i] <= '~' ? type.ptr[i] : '?';
    return pgw_fail(error, "08P01", "unsupported SCRAM channel-binding type \"%s\"", shown);
}

static bool read_header(pgw_scram *scram, pgw_reader *reader, pgw_error *error)
{
    char shown[5];
    scram->flag = peek(reader);
    if (scram->flag == 'n' || scram->flag == 'y') {
        if (!read_no_binding(scram, reader, error))
            return false;
    } else if (scram->flag == 'p') {
        if (!read_binding_type(scram, reader, error))
            return false;
    } else {
        return MALFORMED(error, "Unexpected channel-binding flag \"%s\".",
                         show(scram->flag, shown));
    }
    if (peek(reader) == 'a')
        return pgw_fail(error, "0A000",
                        "client uses authorization identity, but it is not supported");
    if (peek(reader) != ',')
        return MALFORMED(error, "Unexpected attribute \"%s\" in client-first-message.",
                         show(peek(reader), shown));
    reader->at++;
    return true;
}

static bool is_printable(pgw_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
            return false;
    return true;
}

/* The user's name is ignored: it came with the StartupMessage, and libpq's is empty here. */
static bool read_first(pgw_reader *reader, pgw_slice *nonce, pgw_error *error)
{
    pgw_slice ignored;
    char name;
    if (peek(reader) == 'm')
        return pgw_fail(error, "0A000", "client requires an unsupported SCRAM extension");
    if (!read_attribute(reader, 'n', &ignored, error) || !read_attribute(reader, 'r', nonce, error))
        return false;
    if (!is_printable(*nonce))
        return pgw_fail(error, "08P01", "non-printable characters in SCRAM nonce");
    while (reader->at < reader->end)
        if (!read_any_attribute(reader, &name, &ignored, error))
            return false;
    return true;
}

/* Writes server-first-message, and in `messages` both first messages for the AuthMessage. */
static void write_first(pgw_scram *scram, pgw_slice bare, pgw_slice nonce, pgw_buf *out)
{
    pgw_buf *messages = &scram->messages;
    pgw_buf_add_slice(messages, bare);
    pgw_buf_add_byte(messages, ',');
    size_t begun = messages->len;
    pgw_buf_add_str(messages, "r=");
    scram->nonce_at = messages->len;
    pgw_buf_add_slice(messages, nonce);
    pgw_base64_encode(scram->nonce, PGW_SCRAM_NONCE, messages);
    scram->nonce_len = messages->len - scram->nonce_at;
    pgw_buf_add_str(messages, ",s=");
    pgw_base64_encode(scram->secret.salt, scram->secret.salt_len, messages);
    pgw_buf_addf(messages, ",i=%u", scram->secret.iterations);
    write_sasl(CODE_SASL_CONTINUE, (pgw_slice){messages->ptr + begun, messages->len - begun}, out);
    pgw_buf_add_byte(messages, ',');
}

static pgw_scram_result take_first(pgw_scram *scram, pgw_slice message, pgw_buf *out,
                                   pgw_error *error)
{
    pgw_reader reader = pgw_reader_of(message);
    if (!is_text(message, error) || !read_header(scram, &reader, error))
        return PGW_SCRAM_FAILED;
    pgw_slice nonce = {0}, bare = {reader.at, (size_t)(reader.end - reader.at)};
    if (!read_first(&reader, &nonce, error))
        return PGW_SCRAM_FAILED;
    write_first(scram, bare, nonce, out);
    scram->state = PGW_SCRAM_FINAL;
    return PGW_SCRAM_CONTINUE;
}

/* SASLInitialResponse: the mechanism's name, and client-first-message or the length -1. */

static bool choose_mechanism(pgw_scram *scram, pgw_slice name)
{
    scram->plus = scram->binding_len > 0 && pgw_slice_eq_str(name, MECHANISM_PLUS);
    return scram->plus || pgw_slice_eq_str(name, MECHANISM);
}

/* Reads SASLInitialResponse; `message` stays as it is if there is none in it. */
static bool read_initial(pgw_scram *scram, pgw_reader *reader, pgw_slice *message, pgw_error *error)
{
    pgw_slice name = pgw_read_string(reader);
    if (reader->failed)
        return pgw_fail(error, "08P01", "invalid string in message");
    if (!choose_mechanism(scram, name))
        return pgw_fail(error, "08P01", "client selected an invalid SASL authentication mechanism");
    uint32_t len = pgw_read_u32(reader);
    if (len != UINT32_MAX)
        *message = pgw_read_bytes(reader, len);
    if (reader->failed)
        return pgw_fail(error, "08P01", "insufficient data left in message");
    if (!pgw_reader_done(reader))
        return pgw_fail(error, "08P01", "invalid message format");
    return true;
}

static pgw_scram_result take_initial(pgw_scram *scram, pgw_slice body, pgw_buf *out,
                                     pgw_error *error)
{
    pgw_reader reader = pgw_reader_of(body);
    pgw_slice message = {NULL, 0};
    if (!read_initial(scram, &reader, &message, error))
        return PGW_SCRAM_FAILED;
    if (message.ptr != NULL)
        return take_first(scram, message, out, error);
    write_sasl(CODE_SASL_CONTINUE, PGW_LITERAL(""), out);
    scram->state = PGW_SCRAM_FIRST;
    return PGW_SCRAM_CONTINUE;
}

/* client-final-message = c=binding,r=nonce[,extensions],p=proof */

typedef struct final_message {
    pgw_slice without_proof, nonce;
    uint8_t proof[PGW_SCRAM_KEY];
} final_message;

/* Checks the gs2-header, sent again, with the hash that the client saw: a middleman's certificate
 * has another. */
static bool check_binding(const pgw_scram *scram, pgw_slice sent, pgw_error *error)
{
    pgw_buf input = {0}, expected = {0};
    if (scram->plus) {
        pgw_buf_add_str(&input, "p=" BINDING_TYPE ",,");
        pgw_buf_add(&input, scram->binding, scram->binding_len);
    } else {
        pgw_buf_addf(&input, "%c,,", scram->flag);
    }
    pgw_base64_encode((const uint8_t *)input.ptr, input.len, &expected);
    bool same = pgw_slice_eq(sent, pgw_slice_buf(&expected));
    pgw_buf_free(&input);
    pgw_buf_free(&expected);
    if (same)
        return true;
    if (scram->plus)
        return pgw_fail(error, "28000", "SCRAM channel binding check failed");
    return pgw_fail(error, "08P01",
                    "unexpected SCRAM channel-binding attribute in client-final-message");
}

static bool read_final(const pgw_scram *scram, pgw_slice message, final_message *final,
                       pgw_error *error)
{
    pgw_reader reader = pgw_reader_of(message);
    pgw_slice value;
    size_t len;
    char name;
    if (!read_attribute(&reader, 'c', &value, error) || !check_binding(scram, value, error) ||
        !read_attribute(&reader, 'r', &final->nonce, error))
        return false;
    do { /* reads over the extensions, to the proof and the comma before it */
        final->without_proof = (pgw_slice){message.ptr, (size_t)(reader.at - 1 - message.ptr)};
        if (!read_any_attribute(&reader, &name, &value, error))
            return false;
    } while (name != 'p');
    if (!pgw_base64_decode(value, final->proof, sizeof final->proof, &len) ||
        len != sizeof final->proof)
        return MALFORMED(error, "Malformed proof in client-final-message.");
    if (reader.at < reader.end)
        return MALFORMED(error, "Garbage found at the end of client-final-message.");
    return true;
}

static bool check_nonce(const pgw_scram *scram, pgw_slice nonce, pgw_error *error)
{
    if (pgw_slice_eq(nonce, (pgw_slice){scram->messages.ptr + scram->nonce_at, scram->nonce_len}))
        return true;
    pgw_fail(error, "08P01", "invalid SCRAM response");
    pgw_error_detail(error, "Nonce does not match.");
    return false;
}

static bool sign(const pgw_scram *scram, const uint8_t key[PGW_SCRAM_KEY],
                 uint8_t signature[PGW_SCRAM_KEY], pgw_error *error)
{
    if (HMAC(EVP_sha256(), key, PGW_SCRAM_KEY, (const uint8_t *)scram->messages.ptr,
             scram->messages.len, signature, NULL) == NULL)
        return pgw_fail(error, "XX000", "could not compute a SCRAM signature");
    return true;
}

/* The proof is the client's key, hidden by a signature that the server can make of the key's hash.
 * A mock exchange takes the same steps, and fails. */
static bool check_proof(const pgw_scram *scram, const uint8_t proof[PGW_SCRAM_KEY],
                        pgw_error *error)
{
    uint8_t client_key[PGW_SCRAM_KEY], stored_key[PGW_SCRAM_KEY];
    if (!sign(scram, scram->secret.stored_key, client_key, error))
        return false;
    for (int i = 0; i < PGW_SCRAM_KEY; i++)
        client_key[i] ^= proof[i];
    bool hashed = SHA256(client_key, sizeof client_key, stored_key) != NULL;
    OPENSSL_cleanse(client_key, sizeof client_key);
    if (!hashed)
        return pgw_fail(error, "XX000", "could not hash a SCRAM key");
    bool wrong = CRYPTO_memcmp(stored_key, scram->secret.stored_key, sizeof stored_key) != 0;
    if (wrong | scram->mock) /* `|`, so that both cases take the same time */
        return pgw_fail(error, "28P01", "%s", "");
    return true;
}

static pgw_scram_result take_final(pgw_scram *scram, pgw_slice message, pgw_buf *out,
                                   pgw_error *error)
{
    final_message final;
    if (!is_text(message, error) || !read_final(scram, message, &final, error) ||
        !check_nonce(scram, final.nonce, error))
        return PGW_SCRAM_FAILED;
    pgw_buf_add_slice(&scram->messages, final.without_proof);
    uint8_t signature[PGW_SCRAM_KEY];
    if (!check_proof(scram, final.proof, error) ||
        !sign(scram, scram->secret.server_key, signature, error))
        return PGW_SCRAM_FAILED;
    pgw_buf verifier = {0};
    pgw_buf_add_str(&verifier, "v=");
    pgw_base64_encode(signature, sizeof signature, &verifier);
    write_sasl(CODE_SASL_FINAL, pgw_slice_buf(&verifier), out);
    pgw_buf_free(&verifier);
    return PGW_SCRAM_DONE;
}

pgw_scram_result pgw_scram_step(pgw_scram *scram, pgw_slice body, pgw_buf *out, pgw_error *error)
{
    pgw_scram_state state = scram->state;
    scram->state = PGW_SCRAM_NOTHING; /* the next step fails, unless this one goes well */
    *error = PGW_ERROR_NONE;
    if (body.len > MAX_BODY) {
        pgw_fail(error, "28P01", "%s", ""); /* PostgreSQL also says 28P01 here */
        return PGW_SCRAM_FAILED;
    }
    switch (state) {
    case PGW_SCRAM_INITIAL:
        return take_initial(scram, body, out, error);
    case PGW_SCRAM_FIRST:
        return take_first(scram, body, out, error);
    case PGW_SCRAM_FINAL:
        return take_final(scram, body, out, error);
    default:
        pgw_fail(error, "XX000", "invalid SCRAM exchange state");
        return PGW_SCRAM_FAILED;
    }
}
