/* Messages, startup packets, passwords' secrets, options and arrays with a byte left out, or twice:
 * what each reader makes of them, and what the writers write of that. */
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

#include "left_out.h"

static pgw_buf lines;
static pgw_slice whole; /* of the message at hand */

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
    pgw_certainly(pgw_write_bind(&bind, bind.statement, bind.portal, more, 2, out));
    pgw_certainly(pgw_write_bind_text(&bind, values, 2, out));
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
        pgw_certainly(pgw_write_parse(parse.query, parse.name, types, parse.type_count, out));
}

static void add_frontend(pgw_slice body, pgw_buf *out)
{
    pgw_target target;
    pgw_execute execute;
    pgw_slice text;
    add_bind(body, out);
    add_parse(body, out);
    if (pgw_target_decode(body, &target)) {
        pgw_write_describe(target.kind, target.name, out);
        pgw_write_close(target.kind, target.name, out);
    }
    if (pgw_execute_decode(body, &execute))
        pgw_write_execute(execute.portal, execute.max_rows, out);
    if (pgw_query_decode(body, &text))
        pgw_certainly(pgw_write_query(text, out));
    if (pgw_password_decode(body, &text))
        print_bracketed(out, text);
}

/* --- the server's --- */

static void add_error(pgw_slice body, pgw_buf *out)
{
    pgw_error error;
    pgw_error_read(body, &error);
    pgw_error_write(&error, "ERROR", out);
    pgw_notice_write(&error, "NOTICE", out);
    pgw_error_write_old(&error, "FATAL", out);
    for (const char *code = "SVCMDHPsWc"; *code != '\0'; code++)
        print_bracketed(out, pgw_error_field(body, *code));
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
        pgw_certainly(pgw_write_data_row(cells, (size_t)there, out));
    pgw_buf_addf(out, " %d %d", pgw_row_descriptions_agree(body, whole),
                 pgw_row_descriptions_read_alike(whole, body));
    add_error(body, out);
}

static void describe_message(pgw_slice bytes, pgw_buf *out)
{
    if (bytes.len < 5)
        return;
    pgw_slice body = {bytes.ptr + 5, bytes.len - 5};
    add_frontend(body, out);
    add_backend(body, out);
}

/* --- before the session --- */

static void describe_startup(pgw_slice bytes, pgw_buf *out)
{
    pgw_startup startup = {0};
    pgw_startup_kind kind = pgw_startup_decode(bytes, &startup);
    pgw_buf_addf(out, "%d %zu", kind, startup.size);
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
        pgw_buf_addf(out, " %d %s %s %d%d%d", result,
                     result == PGW_NEGOTIATED_REFUSE ? error.sqlstate : "",
                     result == PGW_NEGOTIATED_REFUSE ? error.message : "", state.tls,
                     state.tls_asked, state.gss_asked);
    }
}

static void describe_secret(pgw_slice text, pgw_buf *out)
{
    pgw_scram_secret secret = {0};
    if (!pgw_scram_secret_parse(text, &secret))
        return;
    pgw_buf_addf(out, "%u ", secret.iterations);
    pgw_buf_add(out, secret.salt, secret.salt_len);
    pgw_buf_add(out, secret.stored_key, sizeof secret.stored_key);
    pgw_buf_add(out, secret.server_key, sizeof secret.server_key);
}

/* --- texts --- */

static void describe_text(pgw_slice text, pgw_buf *out)
{
    enum { MOST = 4 };
    pgw_arena arena = {0};
    pgw_array array;
    pgw_buf_addf(out, "%d", pgw_options_add(text, out));
    pgw_options_set(text, PGW_LITERAL("a 'b\\"), out);
    pgw_add_printable(text, false, out);
    pgw_add_printable(text, true, out);
    pgw_add_logfmt(text, out);
    pgw_buf_addf(out, " %d %zu %zu", pgw_utf8_valid(text), pgw_utf8_cut(text, 5).len,
                 pgw_characters(text, 7, true));
    pgw_verdict verdict = pgw_array_from_text(text, MOST, &arena, &array);
    pgw_buf_addf(out, " %d", verdict);
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

static void add(const char *name, int number, pgw_slice bytes, left_out_describe *describe)
{
    pgw_buf_addf(&lines, "%s %d", name, number);
    left_out_bytes(bytes, describe, &lines);
    pgw_buf_add_byte(&lines, '\n');
}

static void add_vector(const vector *v, void *data)
{
    const char *name = data;
    pgw_slice bytes = vector_bytes(v->field[strcmp(name, "scram_secrets") == 0]);
    whole = bytes.len > 5 ? (pgw_slice){bytes.ptr + 5, bytes.len - 5} : (pgw_slice){"", 0};
    add(name, v->line, bytes,
        strcmp(name, "startup") == 0         ? describe_startup
        : strcmp(name, "scram_secrets") == 0 ? describe_secret
                                             : describe_message);
    exact_free(bytes);
}

static char *all(void)
{
    lines = (pgw_buf){0};
    vectors_each("frontend.txt", add_vector, "frontend");
    vectors_each("backend.txt", add_vector, "backend");
    vectors_each("startup.txt", add_vector, "startup");
    vectors_each("scram_secrets.txt", add_vector, "scram_secrets");
    for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++)
        add("text", i, pgw_slice_str(texts[i]), describe_text);
    pgw_buf_add_byte(&lines, '\0');
    return lines.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/left_out_messages.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
