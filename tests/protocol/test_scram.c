/*
 * SCRAM: RFC 7677's example, whole exchanges of PostgreSQL 15, its answer to every mistake, and
 * that nothing but the right proof leads to the end.
 */
#include "protocol/frame.h"
#include "protocol/reader.h"
#include "protocol/scram.h"
#include "tests/protocol/scram_checks.h"
#include "tests/protocol/wire_vectors.h"

#define PLAIN "SCRAM-SHA-256"
#define PLUS "SCRAM-SHA-256-PLUS"

static const uint8_t NONCE[PGW_SCRAM_NONCE] = "eighteen bytes now";
static const uint8_t SALT[PGW_SCRAM_SALT] = "salt of the test";

static const char *const RESULTS[] = {"CONTINUE", "DONE", "FAILED"};

static pgw_scram_secret secret_of(const char *text)
{
    pgw_scram_secret secret;
    assert_true(pgw_scram_secret_parse(pgw_slice_str(text), &secret));
    return secret;
}

static pgw_scram_secret pencil(void)
{
    static pgw_scram_secret secret;
    if (secret.iterations == 0)
        assert_true(pgw_scram_secret_make(PGW_LITERAL("pencil"), SALT, sizeof SALT, 64, &secret));
    return secret;
}

/* A step with a body of exactly its size; what holds after every step. */
static pgw_scram_result step(pgw_scram *scram, pgw_slice body, pgw_buf *out, pgw_error *error)
{
    pgw_buf_clear(out);
    pgw_slice copy = exact(body);
    memset(error, 'x', sizeof *error);
    pgw_scram_result result = pgw_scram_step(scram, copy, out, error);
    exact_free(copy);
    assert_int_equal(error->sqlstate[0] != '\0', result == PGW_SCRAM_FAILED);
    assert_int_equal(out->len > 0, result != PGW_SCRAM_FAILED);
    return result;
}

/* The data of the Authentication… message that `out` holds, and nothing else. */
static pgw_slice sasl_data(const pgw_buf *out, int32_t code)
{
    pgw_frame frame;
    assert_int_equal(pgw_frame_next(pgw_slice_buf(out), &frame), PGW_FRAME_OK);
    assert_int_equal(frame.type, 'R');
    assert_int_equal(frame.size, out->len);
    pgw_reader reader = pgw_reader_of(pgw_frame_body(pgw_slice_buf(out), frame));
    assert_int_equal(pgw_read_u32(&reader), code);
    return (pgw_slice){reader.at, (size_t)(reader.end - reader.at)};
}

static void test_rfc_exchange(void **state)
{
    (void)state;
    static const char bare[] = "n=user,r=rOprNGfwEbeRWgbNEkqO";
    static const char server_first[] = "r=rOprNGfwEbeRWgbNEkqOZWlnaHRlZW4gYnl0ZXMgbm93,"
                                       "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    pgw_scram_secret secret;
    pgw_scram scram;
    pgw_error error;
    pgw_buf out = {0}, message = {0}, auth = {0};
    assert_true(pgw_scram_secret_make(PGW_LITERAL("pencil"), RFC_SALT, 16, 4096, &secret));
    pgw_scram_start(&scram, &secret, false, PGW_LITERAL(""), NONCE);

    pgw_buf_addf(&auth, "n,,%s", bare);
    client_initial(PLAIN, pgw_slice_buf(&auth), &message);
    assert_int_equal(step(&scram, pgw_slice_buf(&message), &out, &error), PGW_SCRAM_CONTINUE);
    assert_true(pgw_slice_eq_str(sasl_data(&out, 11), server_first));

    pgw_slice without_proof = PGW_LITERAL("c=biws,r=rOprNGfwEbeRWgbNEkqOZWlnaHRlZW4gYnl0ZXMgbm93");
    client_keys keys = client_derive(PGW_LITERAL("pencil"), RFC_SALT, 16, 4096);
    uint8_t bytes[32];
    pgw_buf_clear(&auth);
    client_auth_message(pgw_slice_str(bare), pgw_slice_str(server_first), without_proof, &auth);
    client_proof(&keys, pgw_slice_buf(&auth), bytes);
    pgw_buf_clear(&message);
    pgw_buf_add_slice(&message, without_proof);
    pgw_buf_add_str(&message, ",p=");
    client_base64(bytes, sizeof bytes, &message);
    assert_int_equal(step(&scram, pgw_slice_buf(&message), &out, &error), PGW_SCRAM_DONE);

    client_hmac(keys.server, pgw_slice_buf(&auth), bytes);
    pgw_slice last = sasl_data(&out, 12);
    assert_true(last.len == 46 && memcmp(last.ptr, "v=", 2) == 0);
    pgw_buf_clear(&message);
    pgw_buf_add(&message, last.ptr + 2, last.len - 2);
    pgw_buf_add_byte(&message, '\0');
    check_base64(bytes, message.ptr);
    pgw_scram_clear(&scram);
    pgw_buf_free(&out);
    pgw_buf_free(&message);
    pgw_buf_free(&auth);
}

/* Exchanges as they were */

static size_t hex_bytes(const char *hex, uint8_t *bytes)
{
    size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        bytes[i] = (uint8_t)byte;
    }
    return len;
}

typedef struct recorded {
    pgw_scram_secret secret;
    uint8_t binding[PGW_SCRAM_MAX_BINDING], nonce[PGW_SCRAM_NONCE + 1];
    size_t binding_len;
    pgw_slice initial, server_first, final, server_final;
} recorded;

static recorded read_recorded(const vector *v)
{
    recorded r = {.secret = secret_of(v->field[1])};
    r.binding_len = hex_bytes(v->field[0], r.binding);
    assert_int_equal(strlen(v->field[2]), 24);
    EVP_DecodeBlock(r.nonce, (const unsigned char *)v->field[2], 24);
    r.initial = vector_bytes(v->field[3]);
    r.server_first = vector_bytes(v->field[4]);
    r.final = vector_bytes(v->field[5]);
    r.server_final = vector_bytes(v->field[6]);
    return r;
}

static void free_recorded(recorded *r)
{
    exact_free(r->initial);
    exact_free(r->server_first);
    exact_free(r->final);
    exact_free(r->server_final);
}

/* The exchange with these messages, to its end or to what is not taken. */
static pgw_scram_result play(const recorded *r, pgw_slice initial, pgw_slice final, pgw_buf *out,
                             pgw_error *error)
{
    pgw_scram scram;
    pgw_slice binding = {(const char *)r->binding, r->binding_len};
    pgw_scram_start(&scram, &r->secret, false, binding, r->nonce);
    pgw_scram_result result = step(&scram, initial, out, error);
    if (result == PGW_SCRAM_CONTINUE)
        result = step(&scram, final, out, error);
    pgw_scram_clear(&scram);
    return result;
}

static void check_recorded(const vector *v, void *data)
{
    (void)data;
    recorded r = read_recorded(v);
    pgw_scram scram;
    pgw_error error;
    pgw_buf out = {0};
    pgw_slice binding = exact((pgw_slice){(const char *)r.binding, r.binding_len});
    pgw_scram_start(&scram, &r.secret, false, binding, r.nonce);
    exact_free(binding);
    assert_int_equal(step(&scram, r.initial, &out, &error), PGW_SCRAM_CONTINUE);
    check_bytes(v, sasl_data(&out, 11), r.server_first);
    if (step(&scram, r.final, &out, &error) != PGW_SCRAM_DONE)
        fail_msg("line %d: %s %s: %s", v->line, error.sqlstate, error.message, error.detail);
    check_bytes(v, sasl_data(&out, 12), r.server_final);
    assert_int_equal(step(&scram, r.final, &out, &error), PGW_SCRAM_FAILED);
    pgw_scram_clear(&scram);
    pgw_buf_free(&out);
    free_recorded(&r);
}

static void test_recorded(void **state)
{
    (void)state;
    assert_in_range(vectors_each("scram_exchanges.txt", check_recorded, NULL), 8, 1000);
}

/* `body` cut to `len` bytes; of SASLInitialResponse with a length that fits, if there is one. */
static pgw_slice cut(pgw_slice body, size_t len, bool initial)
{
    pgw_slice part = exact((pgw_slice){body.ptr, len});
    size_t length_at = initial ? strlen(body.ptr) + 1 : len;
    if (len >= length_at + 4) {
        uint32_t left = (uint32_t)(len - length_at - 4);
        memcpy((char *)part.ptr + length_at,
               (uint8_t[4]){0, 0, (uint8_t)(left >> 8), (uint8_t)left}, 4);
    }
    return part;
}

static void refuse(const vector *v, const recorded *r, pgw_slice initial, pgw_slice final)
{
    pgw_buf out = {0};
    pgw_error error;
    if (play(r, initial, final, &out, &error) == PGW_SCRAM_DONE)
        fail_msg("line %d: taken: %.*s %.*s", v->line, (int)initial.len, initial.ptr,
                 (int) final.len, final.ptr);
    pgw_buf_free(&out);
}

static void check_cuts(const vector *v, void *data)
{
    (void)data;
    recorded r = read_recorded(v);
    for (int initial = 0; initial < 2; initial++) {
        pgw_slice whole = initial ? r.initial : r.final;
        for (size_t len = 0; len < whole.len; len++) {
            pgw_slice part = cut(whole, len, initial);
            refuse(v, &r, initial ? part : r.initial, initial ? r.final : part);
            exact_free(part);
            part = exact((pgw_slice){whole.ptr, len});
            refuse(v, &r, initial ? part : r.initial, initial ? r.final : part);
            exact_free(part);
        }
    }
    free_recorded(&r);
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    vectors_each("scram_exchanges.txt", check_cuts, NULL);
}

/* Bit 3, because a change of the last digit's lower bits may leave the proof what it is. */
static void check_changes(const vector *v, void *data)
{
    (void)data;
    recorded r = read_recorded(v);
    for (int initial = 0; initial < 2; initial++) {
        pgw_slice whole = initial ? r.initial : r.final;
        for (size_t i = 0; i < whole.len; i++) {
            pgw_slice changed = exact(whole);
            ((char *)changed.ptr)[i] ^= 8;
            refuse(v, &r, initial ? changed : r.initial, initial ? r.final : changed);
            exact_free(changed);
        }
    }
    for (size_t i = 0; i < r.binding_len; i++) {
        recorded other = r;
        other.binding[i] ^= 1;
        if (strstr(r.initial.ptr, "PLUS") != NULL)
            refuse(v, &other, r.initial, r.final);
    }
    for (size_t i = 0; i < PGW_SCRAM_KEY; i++) {
        recorded other = r;
        other.secret.stored_key[i] ^= 1;
        refuse(v, &other, r.initial, r.final);
    }
    free_recorded(&r);
}

static void test_changed_anywhere(void **state)
{
    (void)state;
    vectors_each("scram_exchanges.txt", check_changes, NULL);
}

/* PostgreSQL's answers */

static const uint8_t BINDING[32] = "the hash of another certificate.";

typedef struct filling {
    pgw_slice nonce, bare, server_first;
    char flag;
} filling;

static void fill_binding(const filling *f, pgw_buf *out)
{
    pgw_buf input = {0};
    if (f->flag == 'p') {
        pgw_buf_add_str(&input, "p=tls-server-end-point,,");
        pgw_buf_add(&input, BINDING, sizeof BINDING);
    } else {
        pgw_buf_addf(&input, "%c,,", f->flag);
    }
    client_base64((const uint8_t *)input.ptr, input.len, out);
    pgw_buf_free(&input);
}

/* The proof of what `out` holds so far, up to ",p=", as {p…} asks for it. */
static void fill_proof(const filling *f, const char *kind, pgw_buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t proof[CLIENT_KEY + 1] = {0};
    pgw_buf auth = {0}, text = {0};
    client_keys keys = client_derive(PGW_LITERAL("pencil"), SALT, sizeof SALT, 64);
    pgw_buf_add_byte(out, '\0');
    size_t without_proof = (size_t)(strstr(out->ptr, ",p=") - out->ptr);
    out->len--;
    client_auth_message(f->bare, f->server_first, (pgw_slice){out->ptr, without_proof}, &auth);
    client_proof(&keys, pgw_slice_buf(&auth), proof);
    proof[0] ^= strcmp(kind, "pflip") == 0;
    size_t len = strcmp(kind, "pshort") == 0 ? 31 : strcmp(kind, "plong") == 0 ? 33 : 32;
    client_base64(proof, len, &text);
    if (strcmp(kind, "pbits") == 0)
        text.ptr[42] = digits[(strchr(digits, text.ptr[42]) - digits) ^ 1];
    if (strcmp(kind, "punpadded") == 0)
        text.len--;
    if (strcmp(kind, "pblank") == 0)
        pgw_buf_add_byte(out, ' ');
    size_t half = strcmp(kind, "phalf") == 0 ? 20 : 0;
    pgw_buf_add(out, text.ptr, half);
    if (half > 0)
        pgw_buf_add_byte(out, ' ');
    pgw_buf_add(out, text.ptr + half, text.len - half);
    pgw_buf_free(&auth);
    pgw_buf_free(&text);
}

static void fill(const filling *f, pgw_slice pattern, pgw_buf *out)
{
    for (size_t i = 0; i < pattern.len; i++) {
        char kind[16] = "";
        if (pattern.ptr[i] != '{' || sscanf(pattern.ptr + i, "{%15[a-z]}", kind) != 1) {
            pgw_buf_add_byte(out, pattern.ptr[i]);
            continue;
        }
        i += strlen(kind) + 1;
        if (kind[0] == 'r')
            pgw_buf_add_slice(out, f->nonce);
        else if (kind[0] == 's')
            pgw_buf_add(out, f->nonce.ptr + f->nonce.len - 24, 24);
        else if (kind[0] == 'c')
            fill_binding(f, out);
        else
            fill_proof(f, kind, out);
    }
}

/* Plays client-first-message and, if that is taken, the filled pattern. */
static pgw_scram_result play_pattern(pgw_scram *scram, const char *mechanism, pgw_slice first,
                                     pgw_slice pattern, pgw_error *error)
{
    pgw_buf out = {0}, message = {0}, server_first = {0};
    client_initial(mechanism, first, &message);
    pgw_scram_result result = step(scram, pgw_slice_buf(&message), &out, error);
    if (result == PGW_SCRAM_CONTINUE) {
        pgw_buf_add_slice(&server_first, sasl_data(&out, 11));
        filling f = {.server_first = pgw_slice_buf(&server_first), .flag = first.ptr[0]};
        f.nonce = client_nonce(f.server_first);
        f.bare = client_bare(first);
        pgw_buf_clear(&message);
        fill(&f, pattern, &message);
        result = step(scram, pgw_slice_buf(&message), &out, error);
    }
    pgw_buf_free(&out);
    pgw_buf_free(&message);
    pgw_buf_free(&server_first);
    return result;
}

static void check_error(const vector *v, pgw_scram_result result, const pgw_error *error,
                        const char *const expected[3])
{
    pgw_buf got = {0}, wanted = {0};
    if (result == PGW_SCRAM_FAILED)
        pgw_buf_addf(&got, "%s %s: %s", error->sqlstate, error->message, error->detail);
    if (expected[0][0] != '\0')
        pgw_buf_addf(&wanted, "%s %s: %s", expected[0], expected[1], expected[2]);
    pgw_buf_add_byte(&wanted, '\0');
    check_text(v, &got, wanted.ptr);
    pgw_buf_free(&got);
    pgw_buf_free(&wanted);
}

static void check_answer(const vector *v, void *data)
{
    bool mock = data != NULL;
    pgw_slice first = vector_bytes(v->field[2]), pattern = vector_bytes(v->field[3]);
    bool tls = strcmp(v->field[0], "tls") == 0;
    pgw_scram_secret secret = pencil();
    pgw_scram scram;
    pgw_error error;
    pgw_scram_start(&scram, &secret, mock,
                    tls ? (pgw_slice){(const char *)BINDING, sizeof BINDING} : PGW_LITERAL(""),
                    NONCE);
    pgw_scram_result result = play_pattern(&scram, v->field[1], first, pattern, &error);
    const char *taken[] = {mock ? "28P01" : "", "", ""};
    check_error(v, result, &error, v->field[4][0] != '\0' ? v->field + 4 : taken);
    if (result == PGW_SCRAM_CONTINUE)
        fail_msg("line %d: %s", v->line, RESULTS[result]);
    pgw_scram_clear(&scram);
    exact_free(first);
    exact_free(pattern);
}

static void test_answers(void **state)
{
    (void)state;
    assert_in_range(vectors_each("scram_answers.txt", check_answer, NULL), 120, 1000);
}

/* Whatever is sent: the answer to an unknown user is that to a known one with a wrong password. */
static void test_mock_answers(void **state)
{
    (void)state;
    bool mock = true;
    vectors_each("scram_answers.txt", check_answer, &mock);
}

static void check_initial(const vector *v, void *data)
{
    (void)data;
    pgw_slice body = vector_bytes(v->field[0]);
    bool empty = strcmp(v->field[1], "empty") == 0;
    pgw_scram_secret secret = pencil();
    pgw_scram scram;
    pgw_error error;
    pgw_buf out = {0};
    pgw_scram_start(&scram, &secret, false, PGW_LITERAL(""), NONCE);
    pgw_scram_result result = step(&scram, body, &out, &error);
    check_error(v, result, &error, empty ? (const char *[]){"", "", ""} : v->field + 1);
    assert_true(result != PGW_SCRAM_DONE);
    if (result == PGW_SCRAM_CONTINUE)
        assert_int_equal(sasl_data(&out, 11).len == 0, empty);
    pgw_scram_clear(&scram);
    pgw_buf_free(&out);
    exact_free(body);
}

static void test_initial_responses(void **state)
{
    (void)state;
    assert_in_range(vectors_each("scram_initial.txt", check_initial, NULL), 25, 1000);
}

/* The rest */

static void check_offer(pgw_slice binding, pgw_slice expected)
{
    pgw_scram_secret secret = pencil();
    pgw_scram scram;
    pgw_buf out = {0};
    pgw_scram_start(&scram, &secret, false, binding, NONCE);
    pgw_scram_offer(&scram, &out);
    assert_true(pgw_slice_eq(sasl_data(&out, 10), expected));
    pgw_scram_clear(&scram);
    pgw_buf_free(&out);
}

static void test_offer(void **state)
{
    (void)state;
    check_offer(PGW_LITERAL(""), PGW_LITERAL(PLAIN "\0\0"));
    check_offer(PGW_LITERAL("hash"), PGW_LITERAL(PLUS "\0" PLAIN "\0\0"));
}

/* A client that sends its first message only when it is asked to. */
static void test_empty_challenge(void **state)
{
    (void)state;
    pgw_scram_secret secret = pencil();
    pgw_scram scram;
    pgw_error error;
    pgw_buf out = {0}, final = {0}, server_first = {0};
    pgw_scram_start(&scram, &secret, false, PGW_LITERAL(""), NONCE);
    pgw_slice first = PGW_LITERAL("n,,n=,r=abc");
    assert_int_equal(step(&scram, PGW_LITERAL(PLAIN "\0\xff\xff\xff\xff"), &out, &error),
                     PGW_SCRAM_CONTINUE);
    assert_int_equal(sasl_data(&out, 11).len, 0);
    assert_int_equal(step(&scram, first, &out, &error), PGW_SCRAM_CONTINUE);
    pgw_buf_add_slice(&server_first, sasl_data(&out, 11));
    filling f = {.server_first = pgw_slice_buf(&server_first), .flag = 'n'};
    f.nonce = client_nonce(f.server_first);
    f.bare = client_bare(first);
    fill(&f, PGW_LITERAL("c={c},r={r},p={p}"), &final);
    assert_int_equal(step(&scram, pgw_slice_buf(&final), &out, &error), PGW_SCRAM_DONE);
    pgw_scram_clear(&scram);
    pgw_buf_free(&out);
    pgw_buf_free(&final);
    pgw_buf_free(&server_first);
}

/* A final message may be no longer than others; PostgreSQL takes that for a wrong password. */
static void test_long_final(void **state)
{
    (void)state;
    pgw_scram_secret secret = pencil();
    pgw_slice first = PGW_LITERAL("n,,n=,r=abc");
    for (size_t more = 0; more < 2; more++) {
        pgw_scram scram;
        pgw_error error;
        pgw_buf pattern = {0};
        pgw_buf_add_str(&pattern, "c={c},r={r},x=");
        size_t rest = strlen("c=biws,r=abc") + 24 + strlen(",x=,p=") + 44;
        pgw_buf_addf(&pattern, "%0*d,p={p}", (int)(1020 - rest + more), 0);
        pgw_buf_add_byte(&pattern, '\0');
        pattern.len--;
        pgw_scram_start(&scram, &secret, false, PGW_LITERAL(""), NONCE);
        pgw_scram_result result =
            play_pattern(&scram, PLAIN, first, pgw_slice_buf(&pattern), &error);
        assert_int_equal(result, more == 0 ? PGW_SCRAM_DONE : PGW_SCRAM_FAILED);
        if (more > 0)
            assert_string_equal(error.sqlstate, "28P01");
        pgw_scram_clear(&scram);
        pgw_buf_free(&pattern);
    }
}

/* Of two users, one unknown, the answers differ in the salt only. */
static void test_mock_looks_real(void **state)
{
    (void)state;
    uint8_t key[PGW_SCRAM_KEY] = "a key of this process";
    pgw_scram_secret secrets[2];
    pgw_buf out[2] = {{0}, {0}};
    pgw_error errors[2];
    assert_true(pgw_scram_secret_make(PGW_LITERAL("pencil"), SALT, sizeof SALT,
                                      PGW_SCRAM_ITERATIONS, &secrets[0]));
    pgw_scram_secret_mock(PGW_LITERAL("nobody"), key, &secrets[1]);
    for (int mock = 0; mock < 2; mock++) {
        pgw_scram scram;
        pgw_scram_start(&scram, &secrets[mock], mock, PGW_LITERAL(""), NONCE);
        assert_int_equal(
            step(&scram, PGW_LITERAL(PLAIN "\0\0\0\0\x09n,,n=,r=a"), &out[mock], &errors[mock]),
            PGW_SCRAM_CONTINUE);
        pgw_buf last = {0};
        assert_int_equal(step(&scram,
                              PGW_LITERAL("c=biws,r=aZWlnaHRlZW4gYnl0ZXMgbm93,"
                                          "p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
                              &last, &errors[mock]),
                         PGW_SCRAM_FAILED);
        pgw_scram_clear(&scram);
        pgw_buf_free(&last);
    }
    pgw_slice nonce = client_nonce(sasl_data(&out[0], 11));
    size_t salt_at = (size_t)(nonce.ptr + nonce.len + strlen(",s=") - out[0].ptr);
    assert_int_equal(out[0].len, out[1].len);
    assert_memory_equal(out[0].ptr, out[1].ptr, salt_at);
    assert_memory_not_equal(out[0].ptr + salt_at, out[1].ptr + salt_at, 24);
    assert_memory_equal(out[0].ptr + salt_at + 24, out[1].ptr + salt_at + 24,
                        out[0].len - salt_at - 24);
    assert_memory_equal(&errors[0], &errors[1], sizeof errors[0]);
    assert_string_equal(errors[0].sqlstate, "28P01");
    assert_string_equal(errors[0].message, "");
    pgw_buf_free(&out[0]);
    pgw_buf_free(&out[1]);
}

/* After a failure nothing is taken, be it right. */
static void test_no_second_try(void **state)
{
    (void)state;
    static const char *const wrong[] = {"c={c},r={r},p={pflip}", "c={c},r={r}x,p={p}", "x", ""};
    pgw_scram_secret secret = pencil();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pgw_scram scram;
        pgw_error error;
        pgw_buf out = {0};
        pgw_slice first = PGW_LITERAL("n,,n=,r=abc");
        pgw_scram_start(&scram, &secret, false, PGW_LITERAL(""), NONCE);
        assert_int_equal(play_pattern(&scram, PLAIN, first, pgw_slice_str(wrong[i]), &error),
                         PGW_SCRAM_FAILED);
        assert_int_equal(
            play_pattern(&scram, PLAIN, first, PGW_LITERAL("c={c},r={r},p={p}"), &error),
            PGW_SCRAM_FAILED);
        assert_string_equal(error.sqlstate, "XX000");
        assert_int_equal(step(&scram, PGW_LITERAL(PLAIN "\0\xff\xff\xff\xff"), &out, &error),
                         PGW_SCRAM_FAILED);
        pgw_scram_clear(&scram);
        pgw_buf_free(&out);
    }
}

static void test_cleared(void **state)
{
    (void)state;
    pgw_scram_secret secret = pencil();
    pgw_scram scram, zero;
    pgw_error error;
    pgw_buf out = {0};
    memset(&zero, 0, sizeof zero);
    pgw_scram_start(&scram, &secret, false, PGW_LITERAL("hash"), NONCE);
    assert_int_equal(step(&scram, PGW_LITERAL(PLAIN "\0\0\0\0\x09n,,n=,r=a"), &out, &error),
                     PGW_SCRAM_CONTINUE);
    pgw_scram_clear(&scram);
    assert_memory_equal(&scram, &zero, sizeof scram);
    pgw_scram_clear(&scram);
    assert_int_equal(step(&scram, PGW_LITERAL(PLAIN "\0\0\0\0\x09n,,n=,r=a"), &out, &error),
                     PGW_SCRAM_FAILED);
    pgw_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rfc_exchange),      cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_cut_anywhere),      cmocka_unit_test(test_changed_anywhere),
        cmocka_unit_test(test_answers),           cmocka_unit_test(test_mock_answers),
        cmocka_unit_test(test_initial_responses), cmocka_unit_test(test_offer),
        cmocka_unit_test(test_empty_challenge),   cmocka_unit_test(test_long_final),
        cmocka_unit_test(test_mock_looks_real),   cmocka_unit_test(test_no_second_try),
        cmocka_unit_test(test_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
