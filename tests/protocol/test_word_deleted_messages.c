/* Messages, startup packets, passwords' secrets, options and arrays with a byte left out, or twice:
 * what a reader takes is written so that it is read again as the same, and lies in the message. */
#include "protocol/array.h"
#include "protocol/authentication.h"
#include "protocol/backend.h"
#include "protocol/error.h"
#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "protocol/negotiation.h"
#include "protocol/options.h"
#include "protocol/printable.h"
#include "protocol/scram_secret.h"
#include "protocol/startup.h"
#include "protocol/utf8.h"
#include "tests/protocol/wire_vectors.h"

#include "word_deleted.h"

static pgw_slice whole; /* of the message at hand */

/* The body of the only message that was written from there on. */
static pgw_slice body_of(const pgw_buf *out, size_t from)
{
    const unsigned char *head = (const unsigned char *)out->ptr + from + 1;
    size_t len = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    word_deleted_holds(out->len == from + 1 + len, "a message that is written has its length");
    return (pgw_slice){out->ptr + from + 5, out->len - from - 5};
}

/* --- the client's --- */

static void add_bind(pgw_slice body, pgw_buf *out)
{
    pgw_bind bind;
    const int64_t more[] = {1, -2};
    const pgw_slice values[] = {PGW_LITERAL("x"), {NULL, 0}};
    if (!pgw_bind_decode(body, &bind))
        return;
    print_bracketed(out, bind.portal);
    print_bracketed(out, bind.statement);
    pgw_reader reader = pgw_reader_of(bind.values);
    for (size_t i = 0; i < bind.value_count; i++) {
        pgw_bind_value value = pgw_bind_next(&reader);
        pgw_buf_addf(out, " %d %d", value.null, pgw_bind_is_binary(&bind, i));
        print_bracketed(out, value.bytes);
    }
    print_bracketed(out, bind.results);
    pgw_bind again;
    size_t from = out->len;
    pgw_certainly(pgw_write_bind(&bind, bind.portal, bind.statement, more, 2, out));
    word_deleted_holds(pgw_bind_decode(body_of(out, from), &again) &&
                           again.value_count == bind.value_count + 2 &&
                           pgw_slice_eq(again.portal, bind.portal) &&
                           pgw_slice_eq(again.statement, bind.statement) &&
                           pgw_slice_eq(again.results, bind.results),
                       "a Bind that is written is the same Bind, with two values more");
    for (size_t i = 0; i < bind.value_count; i++)
        word_deleted_holds(pgw_bind_is_binary(&again, i) == pgw_bind_is_binary(&bind, i),
                           "a value of a Bind keeps its format");
    from = out->len;
    pgw_certainly(pgw_write_bind_text(&bind, values, 2, out));
    word_deleted_holds(pgw_bind_decode(body_of(out, from), &again) &&
                           again.value_count == bind.value_count + 2,
                       "a Bind with two texts more has two values more");
}

static void write_parse(const pgw_parse *parse, const uint32_t *types, pgw_buf *out)
{
    pgw_parse again;
    size_t from = out->len;
    pgw_certainly(pgw_write_parse(parse->name, parse->query, types, parse->type_count, out));
    bool read = pgw_parse_decode(body_of(out, from), &again);
    word_deleted_holds(read && pgw_slice_eq(again.query, parse->query) &&
                           pgw_slice_eq(again.name, parse->name) &&
                           again.type_count == parse->type_count,
                       "a Parse that is written is the same Parse");
    for (size_t i = 0; read && i < parse->type_count; i++)
        word_deleted_holds(pgw_parse_type(&again, i) == types[i], "a Parse keeps its types");
}

static void add_parse(pgw_slice body, pgw_buf *out)
{
    pgw_parse parse;
    uint32_t types[16];
    if (!pgw_parse_decode(body, &parse))
        return;
    print_bracketed(out, parse.name);
    print_bracketed(out, parse.query);
    for (size_t i = 0; i < parse.type_count + 1; i++)
        pgw_buf_addf(out, " %u", types[i < 16 ? i : 15] = pgw_parse_type(&parse, i));
    if (parse.type_count <= 16)
        write_parse(&parse, types, out);
}

static void add_frontend(pgw_slice body, pgw_buf *out)
{
    pgw_target target;
    pgw_execute execute;
    pgw_slice text;
    add_bind(body, out);
    add_parse(body, out);
    if (pgw_target_decode(body, &target)) {
        size_t from = out->len;
        pgw_target again;
        pgw_write_describe(target.kind, target.name, out);
        word_deleted_holds(pgw_target_decode(body_of(out, from), &again) &&
                               again.kind == target.kind && pgw_slice_eq(again.name, target.name),
                           "a Describe that is written is the same Describe");
        pgw_write_close(target.kind, target.name, out);
    }
    if (pgw_execute_decode(body, &execute)) {
        size_t from = out->len;
        pgw_write_execute(execute.portal, execute.max_rows, out);
        word_deleted_holds(pgw_slice_eq(body_of(out, from), body),
                           "an Execute that is written is the same Execute");
    }
    if (pgw_query_decode(body, &text)) {
        size_t from = out->len;
        pgw_certainly(pgw_write_query(text, out));
        word_deleted_holds(pgw_slice_eq(body_of(out, from), body),
                           "a Query that is written is the same Query");
    }
    if (pgw_password_decode(body, &text))
        print_bracketed(out, text);
}

/* --- the server's --- */

static void add_error(pgw_slice body, pgw_buf *out)
{
    pgw_error error;
    pgw_error_read(body, &error);
    size_t from = out->len;
    pgw_error again;
    word_deleted_holds(error.sqlstate[0] != '\0', "an error always has a SQLSTATE");
    pgw_error_write(&error, "ERROR", out);
    pgw_error_read(body_of(out, from), &again);
    word_deleted_holds(strcmp(again.sqlstate, error.sqlstate) == 0 &&
                           strcmp(again.message, error.message) == 0 &&
                           strcmp(again.detail, error.detail) == 0 &&
                           strcmp(again.hint, error.hint) == 0 && again.position == error.position,
                       "an error that is written is read as the same error");
    pgw_notice_write(&error, "NOTICE", out);
    pgw_error_write_old(&error, "FATAL", out);
    for (const char *code = "SVCMDHPsWc"; *code != '\0'; code++)
        print_bracketed(out, pgw_error_field(body, *code));
}

static void write_row(const pgw_slice *cells, size_t count, pgw_slice body, pgw_buf *out)
{
    size_t from = out->len;
    pgw_certainly(pgw_write_data_row(cells, count, out));
    word_deleted_holds(pgw_slice_eq(body_of(out, from), body),
                       "a DataRow that is written is the same DataRow");
}

static void add_backend(pgw_slice body, pgw_buf *out)
{
    enum { MOST = 3 };
    pgw_slice name, value, types, cells[MOST];
    bool nulls[MOST];
    size_t count;
    if (pgw_parameter_status_decode(body, &name, &value))
        pgw_write_parameter_status(value, name, out);
    if (pgw_parameter_description_decode(body, &count, &types))
        for (size_t i = 0; i < count + 1 && i < 20; i++)
            pgw_buf_addf(out, " %u", pgw_type_at(types, i));
    int there = pgw_data_row_decode(body, cells, nulls, MOST);
    pgw_buf_addf(out, " %d %llu", there, (unsigned long long)pgw_tag_rows(body));
    for (int i = 0; i < there && i < MOST; i++) {
        cells[i] = nulls[i] ? (pgw_slice){NULL, 0} : cells[i];
        print_bracketed(out, cells[i]);
    }
    if (there >= 0 && there <= MOST)
        write_row(cells, (size_t)there, body, out);
    pgw_buf_addf(out, " %d %d", pgw_row_descriptions_agree(body, whole),
                 pgw_row_descriptions_read_alike(whole, body));
    add_error(body, out);
}

static void judge_message(pgw_slice bytes, pgw_buf *out)
{
    if (bytes.len < 5)
        return;
    pgw_slice body = {bytes.ptr + 5, bytes.len - 5};
    add_frontend(body, out);
    add_backend(body, out);
}

/* --- before the session --- */

static void judge_startup(pgw_slice bytes, pgw_buf *out)
{
    pgw_startup startup = {0};
    pgw_startup_kind kind = pgw_startup_decode(bytes, &startup);
    pgw_buf_addf(out, "%d %zu", kind, startup.size);
    word_deleted_holds(startup.size <= bytes.len || kind != PGW_STARTUP_SESSION,
                       "a startup packet that is read lies in what has come");
    if (kind == PGW_STARTUP_CANCEL)
        pgw_buf_addf(out, " %u %zu", startup.cancel_pid, startup.cancel_key.len);
    if (kind == PGW_STARTUP_SESSION) {
        pgw_slice rest = startup.parameters;
        pgw_parameter parameter;
        pgw_buf_addf(out, " %u.%u", startup.major, startup.minor);
        while (pgw_startup_next(&rest, &parameter)) {
            pgw_buf_addf(out, " %d", pgw_startup_is_option(parameter.name));
            print_bracketed(out, parameter.name);
            print_bracketed(out, parameter.value);
        }
        print_bracketed(out, pgw_startup_parameter(&startup, "user"));
        pgw_startup_negotiate(&startup, out);
    }
    for (int tls = 0; tls < 4; tls++) {
        pgw_negotiation state = {.tls = tls & 1, .tls_asked = tls & 2, .gss_asked = tls & 1};
        pgw_error error = PGW_ERROR_NONE;
        pgw_negotiated result = pgw_negotiate(&state, bytes, &startup, &error);
        word_deleted_holds(result != PGW_NEGOTIATED_REFUSE || strlen(error.sqlstate) == 5,
                           "a login that is refused has a SQLSTATE");
        pgw_buf_addf(out, " %d %s %s %d%d%d", result,
                     result == PGW_NEGOTIATED_REFUSE ? error.sqlstate : "",
                     result == PGW_NEGOTIATED_REFUSE ? error.message : "", state.tls,
                     state.tls_asked, state.gss_asked);
    }
}

static void judge_secret(pgw_slice text, pgw_buf *out)
{
    pgw_scram_secret secret = {0};
    if (!pgw_scram_secret_parse(text, &secret))
        return;
    word_deleted_holds(secret.iterations > 0 && secret.salt_len > 0 &&
                           secret.salt_len <= sizeof secret.salt,
                       "a secret that is taken has iterations and a salt");
    pgw_buf_addf(out, "%u ", secret.iterations);
    pgw_buf_add(out, secret.salt, secret.salt_len);
    pgw_buf_add(out, secret.stored_key, sizeof secret.stored_key);
    pgw_buf_add(out, secret.server_key, sizeof secret.server_key);
}

/* --- texts --- */

static void judge_text(pgw_slice text, pgw_buf *out)
{
    enum { MOST = 4 };
    pgw_arena arena = {0};
    pgw_array array;
    pgw_buf_addf(out, "%d", pgw_options_add(text, out));
    pgw_options_set(text, PGW_LITERAL("a 'b\\"), out);
    pgw_add_printable(text, false, out);
    pgw_add_printable(text, true, out);
    pgw_add_logfmt(text, out);
    pgw_slice cut = pgw_utf8_cut(text, 5);
    word_deleted_holds(cut.len <= 5 && (!pgw_utf8_valid(text) || pgw_utf8_valid(cut)),
                       "a text is cut between two characters");
    pgw_buf_addf(out, " %d %zu %zu", pgw_utf8_valid(text), pgw_utf8_cut(text, 5).len,
                 pgw_characters(text, 7, true));
    pgw_verdict verdict = pgw_array_from_text(text, MOST, &arena, &array);
    pgw_buf_addf(out, " %d", verdict);
    word_deleted_holds(verdict != PGW_KNOWN || array.count <= MOST,
                       "an array has no more elements than may be");
    for (size_t i = 0; verdict == PGW_KNOWN && i < array.count; i++)
        print_bracketed(out, array.list[i]);
    pgw_arena_free(&arena);
}

static const char *const texts[] = {
    "{ 1 ,\t2\n,\"a\\\"b,}\",null}",
    "{\"null\",{nul},nulls,x y ,z}",
    "-c a=b\\ c --d-e='f' -B 5 -d3 -h x",
    " \t-c  search_path=\"x y\",z\\\\ -e -S 4MB ",
    "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xe2\x80\xae\xc2\x9b\x1b[1mz\r\n\"q\"=\\",
    "\xef\xbb\xbf\xed\xa0\x80\xc0\x80\xf4\x90\x80\x80\xfe\x7f",
};

/* --- all --- */

static void vary_vector(const vector *v, void *data)
{
    const char *name = data;
    pgw_slice bytes = vector_bytes(v->field[strcmp(name, "scram_secrets") == 0]);
    whole = bytes.len > 5 ? (pgw_slice){bytes.ptr + 5, bytes.len - 5} : (pgw_slice){"", 0};
    word_deleted_bytes(bytes, strcmp(name, "startup") == 0         ? judge_startup
                              : strcmp(name, "scram_secrets") == 0 ? judge_secret
                                                                   : judge_message);
    exact_free(bytes);
}

static void every_text_holds(void **state)
{
    (void)state;
    vectors_each("frontend.txt", vary_vector, "frontend");
    vectors_each("backend.txt", vary_vector, "backend");
    vectors_each("startup.txt", vary_vector, "startup");
    vectors_each("scram_secrets.txt", vary_vector, "scram_secrets");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        word_deleted_bytes(pgw_slice_str(texts[i]), judge_text);
    assert_in_range(word_deleted_count, 5000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
