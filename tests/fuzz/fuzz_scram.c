/*
 * fuzz_scram: any bytes as the messages of a client, as a secret and as a password. The first byte
 * chooses: 1 there is a binding, 2 the user is unknown, 4 the right proof is put behind the last
 * message. Then come messages, each behind two bytes of its length. Whatever they are, the exchange
 * only ends well with a proof of the right key over what was really said.
 */
#include "protocol/frame.h"
#include "protocol/reader.h"
#include "protocol/scram.h"
#include "tests/protocol/scram_client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t NONCE[PGW_SCRAM_NONCE] = "eighteen bytes now";
static const uint8_t SALT[PGW_SCRAM_SALT] = "salt of the test";
static const uint8_t MOCK_KEY[PGW_SCRAM_KEY] = "a key of this process";
static const char BINDING[] = "the hash of the certificate";

enum { BOUND = 1, MOCK = 2, PROVEN = 4 };

typedef struct exchange {
    pgw_scram scram;
    client_keys keys;
    bool mock;
    pgw_buf first, server_first; /* the messages that the proof is to be over */
} exchange;

static void require(bool holds)
{
    if (!holds)
        abort();
}

static pgw_slice sasl_data(const pgw_buf *out, uint32_t code)
{
    pgw_frame frame;
    require(pgw_frame_next(pgw_slice_buf(out), &frame) == PGW_FRAME_OK);
    require(frame.type == 'R' && frame.size == out->len);
    pgw_reader reader = pgw_reader_of(pgw_frame_body(pgw_slice_buf(out), frame));
    require(pgw_read_u32(&reader) == code);
    return (pgw_slice){reader.at, (size_t)(reader.end - reader.at)};
}

static void start(exchange *x, int options)
{
    x->keys = client_derive(PGW_LITERAL("pencil"), SALT, sizeof SALT, 1);
    pgw_scram_secret secret;
    require(pgw_scram_secret_make(PGW_LITERAL("pencil"), SALT, sizeof SALT, 1, &secret));
    require(memcmp(secret.stored_key, x->keys.stored, sizeof x->keys.stored) == 0);
    x->mock = options & MOCK;
    pgw_scram_start(&x->scram, &secret, x->mock,
                    options & BOUND ? PGW_LITERAL(BINDING) : PGW_LITERAL(""), NONCE);
    pgw_buf out = {0};
    pgw_scram_offer(&x->scram, &out);
    sasl_data(&out, 10);
    pgw_buf_free(&out);
}

/* "c=…,r=…" as it has to be. */
static void expected_start(const exchange *x, pgw_buf *out)
{
    pgw_slice first = pgw_slice_buf(&x->first);
    pgw_buf input = {0};
    pgw_buf_add(&input, first.ptr, first.len - client_bare(first).len);
    if (first.ptr[0] == 'p')
        pgw_buf_add_str(&input, BINDING);
    pgw_buf_add_str(out, "c=");
    client_base64((const uint8_t *)input.ptr, input.len, out);
    pgw_buf_add_str(out, ",r=");
    pgw_buf_add_slice(out, client_nonce(pgw_slice_buf(&x->server_first)));
    pgw_buf_add_str(out, ",");
    pgw_buf_free(&input);
}

static void require_starts_well(const exchange *x, pgw_slice final)
{
    pgw_buf expected = {0};
    expected_start(x, &expected);
    require(final.len > expected.len && memcmp(final.ptr, expected.ptr, expected.len) == 0);
    pgw_buf_free(&expected);
}

static void require_proof(const exchange *x, pgw_slice text, pgw_slice auth)
{
    uint8_t proof[CLIENT_KEY + 1], expected[CLIENT_KEY];
    if (text.len == 45 && text.ptr[44] == ',')
        text.len--;
    require(text.len == 44);
    require(EVP_DecodeBlock(proof, (const unsigned char *)text.ptr, 44) == 33);
    client_proof(&x->keys, auth, expected);
    require(memcmp(proof, expected, sizeof expected) == 0);
}

static void require_signature(const exchange *x, const pgw_buf *out, pgw_slice auth)
{
    uint8_t signature[CLIENT_KEY];
    pgw_buf expected = {0};
    client_hmac(x->keys.server, auth, signature);
    pgw_buf_add_str(&expected, "v=");
    client_base64(signature, sizeof signature, &expected);
    require(pgw_slice_eq(sasl_data(out, 12), pgw_slice_buf(&expected)));
    pgw_buf_free(&expected);
}

static void require_earned(const exchange *x, pgw_slice final, const pgw_buf *out)
{
    require(!x->mock && x->first.len > 0);
    require_starts_well(x, final);
    size_t at = 0;
    while (at + 3 < final.len && memcmp(final.ptr + at, ",p=", 3) != 0)
        at++;
    pgw_slice without_proof = {final.ptr, at}, proof = {final.ptr + at + 3, final.len - at - 3};
    pgw_buf auth = {0};
    client_auth_message(client_bare(pgw_slice_buf(&x->first)), pgw_slice_buf(&x->server_first),
                        without_proof, &auth);
    require_proof(x, proof, pgw_slice_buf(&auth));
    require_signature(x, out, pgw_slice_buf(&auth));
    pgw_buf_free(&auth);
}

/* Of SASLInitialResponse what stands behind mechanism and length. */
static pgw_slice first_of(pgw_slice body, bool initial)
{
    pgw_reader reader = pgw_reader_of(body);
    if (initial) {
        pgw_read_string(&reader);
        pgw_read_u32(&reader);
    }
    return (pgw_slice){reader.at, (size_t)(reader.end - reader.at)};
}

static void add_proof(const exchange *x, pgw_buf *message)
{
    uint8_t proof[CLIENT_KEY];
    pgw_buf auth = {0};
    client_auth_message(client_bare(pgw_slice_buf(&x->first)), pgw_slice_buf(&x->server_first),
                        pgw_slice_buf(message), &auth);
    client_proof(&x->keys, pgw_slice_buf(&auth), proof);
    pgw_buf_add_str(message, ",p=");
    client_base64(proof, sizeof proof, message);
    pgw_buf_free(&auth);
}

/* In a block of its own, so that a read past the body is seen. */
static pgw_scram_result step(exchange *x, const pgw_buf *message, pgw_buf *out)
{
    char *copy = pgw_alloc(message->len);
    if (message->len > 0)
        memcpy(copy, message->ptr, message->len);
    pgw_slice body = {copy, message->len};
    bool initial = x->scram.state == PGW_SCRAM_INITIAL;
    pgw_error error;
    pgw_scram_result result = pgw_scram_step(&x->scram, body, out, &error);
    require((error.sqlstate[0] != '\0') == (result == PGW_SCRAM_FAILED));
    require((out->len > 0) == (result != PGW_SCRAM_FAILED));
    if (result == PGW_SCRAM_CONTINUE && sasl_data(out, 11).len > 0) {
        require(x->first.len == 0);
        pgw_buf_add_slice(&x->first, first_of(body, initial));
        pgw_buf_add_slice(&x->server_first, sasl_data(out, 11));
    }
    if (result == PGW_SCRAM_DONE)
        require_earned(x, body, out);
    free(copy);
    return result;
}

static void try_exchange(int options, pgw_slice bytes)
{
    exchange x = {.mock = false};
    start(&x, options);
    pgw_reader reader = pgw_reader_of(bytes);
    pgw_scram_result result = PGW_SCRAM_CONTINUE;
    for (int steps = 0; steps < 6; steps++) { /* on behind the end, where nothing is taken */
        pgw_buf message = {0}, out = {0};
        size_t len = pgw_read_u16(&reader), left = (size_t)(reader.end - reader.at);
        pgw_buf_add_slice(&message, pgw_read_bytes(&reader, len < left ? len : left));
        if (options & PROVEN && x.first.len > 0)
            add_proof(&x, &message);
        bool over = result != PGW_SCRAM_CONTINUE;
        result = step(&x, &message, &out);
        require(!over || result == PGW_SCRAM_FAILED);
        pgw_buf_free(&message);
        pgw_buf_free(&out);
    }
    pgw_scram_clear(&x.scram);
    pgw_buf_free(&x.first);
    pgw_buf_free(&x.server_first);
}

static void try_secrets(pgw_slice bytes)
{
    pgw_scram_secret secret;
    if (pgw_scram_secret_parse(bytes, &secret))
        require(secret.iterations > 0 && secret.salt_len > 0 &&
                secret.salt_len <= sizeof secret.salt);
    require(pgw_scram_secret_make(bytes, SALT, sizeof SALT, 1, &secret));
    pgw_scram_secret_mock(bytes, MOCK_KEY, &secret);
    require(secret.salt_len == PGW_SCRAM_SALT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pgw_slice bytes = {(const char *)data, size};
    try_secrets(bytes);
    if (size > 0)
        try_exchange(data[0], (pgw_slice){bytes.ptr + 1, size - 1});
    return 0;
}
