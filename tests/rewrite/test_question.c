/* Questions about keys, whole: what PostgreSQL, or YDB, is asked about defaults and expressions of
 * each type, with the casts that are PostgreSQL's and with others, and what is said of a failure.
 */
#include "rewrite/insert/answers.h"
#include "rewrite/insert/parse.h"
#include "rewrite/insert/render.h"
#include "rewrite/insert/typed.h"
#include "rewrite/statement/errors/hide.h"
#include "tests/protocol/value_vectors.h"
#include "tests/rewrite/tables.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MADE(n, t, name_of_type, ...)                                                              \
    {                                                                                              \
        .name = (n), .type = (t), .typmod = -1, .type_name = (char *)(name_of_type),               \
        .default_text = (char *)"d_" n "()", .has_default = true, .not_null = true, __VA_ARGS__    \
    }
#define COLUMNS(casts)                                                                             \
    {                                                                                              \
        MADE("i2", PGW_INT2, "smallint", .own_casts = (casts)),                                    \
            MADE("i4", PGW_INT4, "integer", .own_casts = (casts)),                                 \
            MADE("i8", PGW_INT8, "bigint", .own_casts = (casts)),                                  \
            MADE("t", PGW_TEXT, "text", .own_casts = (casts)),                                     \
            MADE("vc", PGW_VARCHAR, "character varying(5)", .own_casts = (casts)),                 \
            MADE("bc", PGW_BPCHAR, "character(3)", .own_casts = (casts)),                          \
            MADE("by", PGW_BYTEA, "bytea", .own_casts = (casts)),                                  \
            MADE("u", PGW_UUID, "uuid", .own_casts = (casts)),                                     \
            MADE("b", PGW_BOOL, "boolean", .own_casts = (casts)),                                  \
            MADE("d", PGW_DATE, "date", .own_casts = (casts)),                                     \
            MADE("ts", PGW_TIMESTAMP, "timestamp(3) without time zone", .own_casts = (casts)),     \
            MADE("tz", PGW_TIMESTAMPTZ, "timestamp with time zone", .own_casts = (casts)),         \
            MADE("n", PGW_NUMERIC, "numeric(6,2)", .own_casts = (casts)),                          \
            MADE("f", PGW_FLOAT8, "double precision", .own_casts = (casts)),                       \
            MADE("id", PGW_INT8, "bigint", .own_casts = (casts), .always = true,                   \
                 .identity = true),                                                                \
            COLUMN("v", PGW_TEXT, -1, .not_null = false), HASH("h"),                               \
    }

static rw_column own[] = COLUMNS(RW_NO_OWN_CASTS), others[] = COLUMNS(RW_OWN_CASTS_ELSEWHERE);
static size_t key[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, numbers[] = {2, 14, 12};
enum { KEY = sizeof key / sizeof *key, HASH_COLUMN = KEY + 1 };

#define TABLE(n, of, k, keys)                                                                      \
    {                                                                                              \
        .schema = "public", .name = (n), .columns = (of), .column_count = HASH_COLUMN + 1,         \
        .primary_key = (k), .primary_key_count = (keys), .hash_key = (k),                          \
        .hash_key_count = (keys), .hash_column = HASH_COLUMN, .hash_function = RW_XXH3,            \
        .partitions = {.kind = RW_PARTITION_UNIFORM, .count = 16}, .looked_up = true,              \
        .mergeable = true, .oid = 4711                                                             \
    }

static const rw_table made[] = {TABLE("every", own, key, KEY), TABLE("cast_all", others, key, KEY),
                                TABLE("nums", own, numbers, 3),
                                TABLE("cast_nums", others, numbers, 3)};
static const rw_table *const tables[] = {&made[0], &made[1], &made[2], &made[3]};
static const rw_catalog catalog = {.tables = tables, .count = 4};

static unsigned wrong;

static rw_insert *parse(pgw_slice text, pgw_arena *arena, pgw_buf *got)
{
    rw_insert *insert = NULL;
    pgw_error error = PGW_ERROR_NONE;
    if (!rw_insert_parse(text, &catalog, &test_env, arena, &insert, &error))
        pgw_buf_addf(got, "!%s %s", error.sqlstate, error.message);
    return insert;
}

/* Where PostgreSQL's errors at each byte of the question are told to stand, as runs of bytes. */
static void add_positions(const rw_question *question, pgw_buf *got)
{
    size_t last = 0, began = 0;
    for (size_t at = 1; at <= question->sql.len + 1; at++) {
        pgw_error error;
        pgw_fail(&error, "22012", "division by zero");
        error.position = at;
        rw_question_failed(question, &error);
        if (error.position != last + (last > 0 ? at - began : 0)) {
            if (last > 0)
                pgw_buf_addf(got, " %zu-%zu=%zu", began, at - 1, last);
            last = error.position;
            began = at;
        }
    }
}

/* What is told of an error at this byte of the statement; 0: no position. */
static size_t told_at(const rw_sent *sent, size_t at)
{
    pgw_arena arena = {0};
    pgw_buf shown = {0};
    char *body = pgw_arena_printf(&arena, "CXX000%cP%zu%c", 0, at, 0);
    rw_hide_error((pgw_slice){body, 7 + strlen(body + 7) + 1}, sent, &shown);
    size_t told = (size_t)vector_number(pgw_error_field(pgw_slice_buf(&shown), 'P'));
    pgw_buf_free(&shown);
    pgw_arena_free(&arena);
    return told;
}

/* That, as runs of bytes: first-last=the first's, which count up, or first-last:of all. */
static void add_shown(const rw_sent *sent, size_t len, pgw_buf *got)
{
    size_t *told = malloc((len + 2) * sizeof *told);
    for (size_t at = 1; at <= len + 1; at++)
        told[at] = told_at(sent, at);
    for (size_t at = 1, end; at <= len; at = end) {
        size_t step = told[at + 1] == told[at] + 1;
        for (end = at + 1; end <= len && told[end] == told[at] + step * (end - at);)
            end++;
        pgw_buf_addf(got, " %zu-%zu%c%zu", at, end - 1, step ? '=' : ':', told[at]);
    }
    free(told);
}

static void add_filled(const rw_insert *asked, pgw_arena *arena, pgw_buf *rendered, pgw_buf *shown)
{
    rw_filled filled;
    pgw_buf unused = {0};
    rw_fill_parameters(asked, asked->param_count + 1, arena, &filled);
    rw_insert *insert = parse(filled.text, arena, &unused);
    pgw_buf_free(&unused);
    if (insert == NULL)
        return;
    rw_keep_expressions(asked, &filled, arena, insert);
    rw_render_statement(insert, RW_HASH_PARAMETER, NULL, rendered);
    add_shown(&(rw_sent){.insert = insert,
                         .form = RW_HASH_PARAMETER,
                         .filled = &filled,
                         .utf8 = true,
                         .asked = asked->wanted_count},
              rendered->len, shown);
}

/* statement | the question | of its bytes, which are the client's, and where | in plain
 * words | the statement with parameters for the answers | where its bytes stood */
static void check(const vector_line *line)
{
    pgw_arena arena = {0};
    pgw_buf asked = {0}, positions = {0}, plainly = {0}, rendered = {0}, shown = {0};
    rw_question question;
    rw_insert *insert = parse(line->fields[0], &arena, &asked);
    if (insert != NULL && insert->wanted_count > 0) {
        rw_question_of(insert, false, &arena, &question);
        pgw_buf_add_slice(&asked, question.sql);
        add_positions(&question, &positions);
        for (size_t i = 0; i < insert->wanted_count; i++)
            assert_int_equal(question.types[i],
                             insert->table->columns[insert->wanted[i].column].type);
        rw_question_of(insert, true, &arena, &question);
        pgw_buf_add_slice(&plainly, question.sql);
        add_filled(insert, &arena, &rendered, &shown);
    }
    wrong += !vector_same(line, line->fields[1], &asked);
    wrong += !vector_same(line, line->fields[2], &positions);
    wrong += !vector_same(line, line->fields[3], &plainly);
    wrong += !vector_same(line, line->fields[4], &rendered);
    wrong += !vector_same(line, line->fields[5], &shown);
    pgw_buf_free(&rendered);
    pgw_buf_free(&shown);
    pgw_buf_free(&asked);
    pgw_buf_free(&positions);
    pgw_buf_free(&plainly);
    pgw_arena_free(&arena);
}

static void questions_are_these(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/questions.txt", check) > 20);
    assert_int_equal(wrong, 0);
}

static void several_statements_are_one_question(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_buf unused = {0};
    rw_question question;
    const rw_insert *inserts[] = {
        parse(PGW_LITERAL("insert into nums (i8, v) values (1, 'a'), (2, 'b')"), &arena, &unused),
        parse(PGW_LITERAL("insert into cast_nums (id, v) overriding system value values (7, 'a')"),
              &arena, &unused)};
    rw_question_of_several(inserts, 2, false, &arena, &question);
    static const char wanted[] =
        "select n::pg_catalog.text, case when c operator(pg_catalog.=) 14 then '20' when c "
        "operator(pg_catalog.=) 12 then '1700' end, case when c operator(pg_catalog.=) 14 "
        "then ((pg_catalog.d_id())::pg_catalog.int8)::pg_catalog.text when c "
        "operator(pg_catalog.=) 12 "
        "then ((pg_catalog.d_n())::pg_catalog.numeric)::pg_catalog.text end from rows from "
        "(pg_catalog.unnest('{1,0,3,2}'::pg_catalog.int4[]), "
        "pg_catalog.unnest('{12,14,12,14}'::pg_catalog.int4[])) q(n, c) where "
        "pg_catalog.has_any_column_privilege(4711::pg_catalog.oid, 'insert') union all "
        "select pg_catalog.textin(pg_catalog.int4out(n)), case when c operator(pg_catalog.=) "
        "2 then '20' when c operator(pg_catalog.=) 12 then '1700' end, case when c "
        "operator(pg_catalog.=) 2 then "
        "pg_catalog.textin(pg_catalog.int8out((pg_catalog.d_i8())::pg_catalog.int8)) when c "
        "operator(pg_catalog.=) 12 then "
        "pg_catalog.textin(pg_catalog.numeric_out((pg_catalog.d_n())::pg_catalog.numeric)) end "
        "from "
        "rows from (pg_catalog.unnest('{4,5}'::pg_catalog.int4[]), "
        "pg_catalog.unnest('{2,12}'::pg_catalog.int4[])) q(n, c) where "
        "pg_catalog.has_any_column_privilege(4711::pg_catalog.oid, 'insert')";
    if (!pgw_slice_eq_str(question.sql, wanted))
        fail_msg("%.*s", (int)question.sql.len, question.sql.ptr);
    static const uint32_t types[] = {PGW_INT8,    PGW_NUMERIC, PGW_INT8,
                                     PGW_NUMERIC, PGW_INT8,    PGW_NUMERIC};
    assert_memory_equal(question.types, types, sizeof types);
    assert_true(question.utf8);
    pgw_buf_free(&unused);
    pgw_arena_free(&arena);
}

/* A value of `type 'text'` is pointed to at its text, of other expressions at their beginning. */
static void errors_point_into_the_cell(void **state)
{
    (void)state;
    static const struct {
        const char *cell;
        size_t inside;
    } cases[] = {
        {"f('x')", 0},     {"json '1'", 5},        {"\"json\" '1'", 7}, {"pg_catalog.json '1'", 16},
        {"bit(3) '1'", 7}, {"json '1' || '2'", 0}, {"1 + 1", 0},        {"(json '1')", 0},
        {"json $$1$$", 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        pgw_buf unused = {0};
        pgw_error error = PGW_ERROR_NONE;
        char *sql = pgw_arena_printf(
            &arena,
            "insert into nums (v, i8, n, id) overriding system value values ('ä', %s, 2, 3)",
            cases[i].cell);
        rw_insert *insert = parse(pgw_slice_str(sql), &arena, &unused);
        if (insert == NULL || insert->wanted_count != 1)
            fail_msg("%s: %.*s", sql, (int)unused.len, unused.ptr);
        assert_true(rw_answer_check(insert, 0, &(rw_answer){.null = true}, &error));
        assert_false(
            rw_answer_check(insert, 0, &(rw_answer){.other_type = PGW_LITERAL("json")}, &error));
        assert_string_equal(error.sqlstate, "42804");
        assert_string_equal(error.message,
                            "column \"i8\" is of type bigint but expression is of type json");
        assert_string_equal(error.hint, "You will need to rewrite or cast the expression.");
        assert_int_equal(error.position, 70 + cases[i].inside);
        rw_question question;
        rw_question_of(insert, true, &arena, &question);
        pgw_fail(&error, "42846", "cannot cast type json to bigint");
        rw_question_failed(&question, &error);
        assert_string_equal(error.sqlstate, "42804");
        assert_int_equal(error.position, 70 + cases[i].inside);
        pgw_buf_free(&unused);
        pgw_arena_free(&arena);
    }
}

/* The places of its expressions go along. */
static void a_question_stands_behind_another(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_buf unused = {0};
    rw_question question;
    const rw_insert *insert =
        parse(PGW_LITERAL("insert into nums (v, i8, n, id) overriding system value values ('a', "
                          "json '1', 2, 3)"),
              &arena, &unused);
    rw_question_of(insert, false, &arena, &question);
    pgw_slice before = question.sql;
    size_t count = question.count, at = question.places[0].at;
    assert_int_not_equal(count, 0);
    rw_question_put_before(&question, PGW_LITERAL("select 1 union all "), &arena);
    assert_int_equal(question.sql.len, before.len + 19);
    assert_memory_equal(question.sql.ptr, "select 1 union all ", 19);
    assert_memory_equal(question.sql.ptr + 19, before.ptr, before.len);
    assert_int_equal(question.count, count);
    assert_int_equal(question.places[0].at, at + 19);
    pgw_buf_free(&unused);
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_are_these),
        cmocka_unit_test(several_statements_are_one_question),
        cmocka_unit_test(errors_point_into_the_cell),
        cmocka_unit_test(a_question_stands_behind_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
