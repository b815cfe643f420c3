/* Types of parameters: by vectors that PostgreSQL was asked
 * (tests/integration/test_plain_types.py). */
#include "protocol/array.h"
#include "ydb/plain/functions.h"
#include "ydb/plain/infer.h"
#include "rewrite/statement/script/types.h"
#include "rewrite/statement/script/tree.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "typed_tables.h"

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};
enum { TYPES = 56, FUNCTIONS = 83 };

static unsigned wrong;

static void add_types(const rw_inferred *found, pgw_buf *out)
{
    for (size_t i = 0; i < found->count; i++) {
        pgw_buf_add_str(out, i > 0 ? ", " : "");
        assert_true(rw_add_type(found->types[i], out));
    }
}

static void check(const vector_line *line)
{
    pgw_arena arena = {0};
    pgw_error error;
    pgw_buf got = {0};
    rw_inferred found;
    if (pgw_slice_eq_str(line->fields[0], "table")) {
        add_table(line);
        return;
    }
    if (rw_infer(line->fields[0], &catalog, (rw_declared){NULL, 0},
                 &(pgw_reading){&env, &arena, &error}, &found))
        add_types(&found, &got);
    wrong += !vector_same(line, line->fields[1], &got);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void types_are_inferred(void **state)
{
    (void)state;
    assert_true(vector_each(VECTORS "/plain/types.txt", check) > 235);
    assert_true(vector_each(VECTORS "/plain/functions.txt", check) > 400);
    assert_true(vector_each(VECTORS "/plain/operators.txt", check) > 800);
    assert_int_equal(wrong, 0);
}

/* How many arguments it may have, of which the first is of this type, and the others may be
 * anything. */
static void add_arities(const char *name, uint32_t first, pgw_buf *out)
{
    for (size_t count = 0; count <= 6; count++) {
        uint32_t arguments[] = {first,       PGW_UNKNOWN, PGW_UNKNOWN,
                                PGW_UNKNOWN, PGW_UNKNOWN, PGW_UNKNOWN};
        rw_call_types call = {.name = name, .arguments = arguments, .count = count};
        rw_call_types_find(&call);
        if (call.result != PGW_UNSPECIFIED)
            pgw_buf_addf(out, "%s%zu", out->len > 0 ? " " : "", count);
    }
}

/* name | numbers of arguments that may be anything | of which the first is a bytea, where there are
 * such */
static void check_arities(const vector_line *line)
{
    char *name = pgw_strndup(line->fields[0].ptr, line->fields[0].len);
    pgw_buf any = {0}, bytes = {0};
    add_arities(name, PGW_UNKNOWN, &any);
    wrong += !vector_same(line, line->fields[1], &any);
    if (line->count > 2) {
        add_arities(name, PGW_BYTEA, &bytes);
        wrong += !vector_same(line, line->fields[2], &bytes);
    }
    pgw_buf_free(&any);
    pgw_buf_free(&bytes);
    free(name);
}

static void functions_have_so_many_arguments(void **state)
{
    (void)state;
    assert_int_equal(vector_each(VECTORS "/plain/arities.txt", check_arities), FUNCTIONS);
    assert_int_equal(wrong, 0);
}

/* name | oid | oid of its array */
static void check_oids(const vector_line *line)
{
    uint32_t type = rw_type_named(line->fields[0]);
    uint32_t array = (uint32_t)vector_number(line->fields[2]);
    assert_int_equal(type, (uint32_t)vector_number(line->fields[1]));
    assert_int_equal(pgw_array_of(type), array);
    assert_int_equal(pgw_array_element(array), type);
    assert_int_equal(pgw_array_element(type), PGW_UNSPECIFIED);
    assert_int_equal(pgw_array_of(array), PGW_UNSPECIFIED);
}

static void oids_are_those_of_pg_type(void **state)
{
    (void)state;
    assert_int_equal(vector_each(VECTORS "/plain/oids.txt", check_oids), TYPES);
    assert_int_equal(rw_type_named(pgw_slice_str("no_type")), PGW_UNSPECIFIED);
    pgw_buf none = {0};
    assert_false(rw_add_type(PGW_UNKNOWN, &none));
    assert_int_equal(none.len, 0);
}

static bool infer(const char *text, rw_declared declared, pgw_arena *arena, rw_inferred *found,
                  pgw_error *error)
{
    return rw_infer(pgw_slice_str(text), &catalog, declared, &(pgw_reading){&env, arena, error},
                    found);
}

/* More than there are in the text is right, and 0 and unknown say nothing. */
static void declared_types_count(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_error error;
    rw_inferred found;
    const uint32_t types[] = {0, PGW_UNKNOWN, PGW_INT2, PGW_UUID};
    assert_true(infer("select * from t where k = $1 and i = $2 and v = $3", (rw_declared){types, 4},
                      &arena, &found, &error));
    assert_int_equal(found.count, 4);
    assert_int_equal(found.types[0], PGW_INT8);
    assert_int_equal(found.types[1], PGW_INT4);
    assert_int_equal(found.types[2], PGW_INT2);
    assert_int_equal(found.types[3], PGW_UUID);
    pgw_arena_free(&arena);
}

static void errors_of_the_grammar_are_told(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_error error;
    rw_inferred found;
    assert_false(infer("select $1 frm t where", (rw_declared){NULL, 0}, &arena, &found, &error));
    assert_string_equal(error.sqlstate, "42601");
    assert_int_equal(error.position, 15);
    assert_false(infer("select 'é', date $1", (rw_declared){NULL, 0}, &arena, &found, &error));
    assert_string_equal(error.sqlstate, "42601");
    assert_string_equal(error.message, "syntax error at or near \"$1\"");
    assert_int_equal(error.position, 18);
    assert_false(infer("select interval $1", (rw_declared){NULL, 0}, &arena, &found, &error));
    assert_false(infer("select i << x $2", (rw_declared){NULL, 0}, &arena, &found, &error));
    assert_false(
        infer("select extract($1 from d) from t", (rw_declared){NULL, 0}, &arena, &found, &error));
    assert_true(infer("select cast($1 as date), date '2000-01-01', ($1)::date",
                      (rw_declared){NULL, 0}, &arena, &found, &error));
    assert_false(infer("select $65536", (rw_declared){NULL, 0}, &arena, &found, &error));
    assert_string_equal(error.sqlstate, "42P02");
    assert_false(infer("select $1, E'\\xff'", (rw_declared){NULL, 0}, &arena, &found, &error));
    assert_string_equal(error.sqlstate, "22021");
    assert_string_equal(error.message, "invalid byte sequence for encoding \"UTF8\": 0xff");
    pgw_arena_free(&arena);
}

/* Their $n are not the client's to bind. */
static void other_statements_have_no_parameters(void **state)
{
    (void)state;
    static const char *const texts[] = {"prepare a (int8) as select $1", "set a = 1",
                                        "create view v as select $1", "select 1"};
    static const char *const with[] = {"explain select $1", "declare c cursor for select $1",
                                       "create table a as select $1", "call p($1)"};
    pgw_arena arena = {0};
    pgw_error error;
    rw_inferred found;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(infer(texts[i], (rw_declared){NULL, 0}, &arena, &found, &error));
        assert_int_equal(found.count, 0);
        assert_true(infer(with[i], (rw_declared){NULL, 0}, &arena, &found, &error));
        assert_int_equal(found.count, 1);
    }
    pgw_arena_free(&arena);
}

static void columns_without_names_are_found(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_error error;
    rw_inferred found;
    const char *text = "with a as (select $1) select ($2), $3 as x, $4 + 1, $5 collate \"C\", "
                       "($6)[1], ($7).f from t union select $8";
    assert_true(infer(text, (rw_declared){NULL, 0}, &arena, &found, &error));
    assert_int_equal(found.unnamed_count, 5);
    const char *names[] = {"$1", "$2", "$5", "$6", "$8"};
    for (size_t i = 0; i < 5; i++)
        assert_memory_equal(text + found.unnamed[i], names[i], 2);
    pgw_arena_free(&arena);
}

/* Wherever they stand in the tree. */
static void columns_without_names_are_in_order(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t count;
    } cases[] = {
        {"select (select $1), $2 from (select $3) x where exists (select $4) union select $5", 5},
        {"with a as (select $1), b as (select $2) select $3, (select $4) from (select $5) y, "
         "(select $6) z order by (select $7)",
         7},
        {"select $1 from (select $2 from (select $3, $4) a) b where (select $5) = 1", 5},
        {"select ($1)[1][2], (($2)), ($3) collate \"C\" collate \"D\", ($4)[1:2], ($5).a.b", 4},
        {"insert into t (v) select $1 union all select $2", 2},
        {"select $1, $1, $2", 3},
        {"select 1", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        pgw_error error;
        rw_inferred found;
        assert_true(infer(cases[i].text, (rw_declared){NULL, 0}, &arena, &found, &error));
        if (found.unnamed_count != cases[i].count)
            fail_msg("%s: %zu", cases[i].text, found.unnamed_count);
        for (size_t k = 0; k < found.unnamed_count; k++) {
            assert_int_equal(cases[i].text[found.unnamed[k]], '$');
            assert_true(k == 0 || found.unnamed[k] > found.unnamed[k - 1]);
        }
        pgw_arena_free(&arena);
    }
}

/* Rows beyond what libpg_query is given: the columns decide all the same. */
static void large_inserts_are_read(void **state)
{
    (void)state;
    enum { ROWS = 10000 };
    pgw_arena arena = {0};
    pgw_error error;
    pgw_buf text = {0};
    rw_inferred found;
    pgw_buf_add_str(&text, "insert into t (k, v, i) values ");
    for (int i = 0; i < ROWS; i++)
        pgw_buf_addf(&text, "%s($%d, $%d, $%d::int2)", i > 0 ? "," : "", 3 * i + 1, 3 * i + 2,
                     3 * i + 3);
    assert_true(rw_infer(pgw_slice_buf(&text), &catalog, (rw_declared){NULL, 0},
                         &(pgw_reading){&env, &arena, &error}, &found));
    assert_int_equal(found.count, 3 * ROWS);
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(found.types[3 * i], PGW_INT8);
        assert_int_equal(found.types[3 * i + 1], PGW_TEXT);
        assert_int_equal(found.types[3 * i + 2], PGW_INT2);
    }
    pgw_buf_free(&text);
    pgw_arena_free(&arena);
}

enum { LISTED = 30000 };

/* `head` with the numbers of the list's parameters, $2 … */
static bool infers_listed(const char *head, const char *tail, uint32_t *types, pgw_arena *arena)
{
    pgw_buf text = {0};
    pgw_error error;
    rw_inferred found;
    pgw_buf_add_str(&text, head);
    for (int i = 0; i < LISTED; i++)
        pgw_buf_addf(&text, "%s$%d", i > 0 ? ", " : "", i + 2);
    pgw_buf_add_str(&text, tail);
    bool fine = rw_infer(pgw_slice_buf(&text), &catalog, (rw_declared){types, LISTED + 1},
                         &(pgw_reading){&env, arena, &error}, &found);
    for (size_t i = 0; fine && i < LISTED + 1; i++)
        types[i] = found.types[i];
    fine = fine && found.count == LISTED + 1;
    pgw_buf_free(&text);
    return fine;
}

/* Lists that libpg_query is not given: each parameter is as the others of its list. */
static void long_lists_are_of_one_type(void **state)
{
    static const struct {
        const char *head, *tail;
        uint32_t expected, last;
    } cases[] = {
        {"select from t where v = $1 and k in (", ")", PGW_INT8, PGW_INT8},
        {"select from t where v = $1 and k NOT IN (", ") limit 3", PGW_INT8, PGW_INT8},
        {"delete from t where v = $1 and i in (", ")", PGW_INT4, PGW_INT4},
        {"select from t where v = $1 and k in (", ") and i = $30001", PGW_INT8, PGW_INT4},
        /* the first one stands elsewhere, too */
        {"select from t where v = $1 and v = $2 and k in (", ")", PGW_TEXT, PGW_TEXT},
        {"select from t where v = $1 and k in ($2::int2, ", ")", PGW_TEXT, PGW_TEXT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        uint32_t *types = pgw_arena_alloc(&arena, (LISTED + 1) * sizeof *types);
        if (!infers_listed(cases[i].head, cases[i].tail, types, &arena))
            fail_msg("%s", cases[i].head);
        assert_int_equal(types[1], cases[i].expected);
        assert_int_equal(types[LISTED], cases[i].last);
        pgw_arena_free(&arena);
    }
}

/* What was declared stays, and what stands behind it is told by itself, or is text. */
static void long_lists_keep_what_was_declared(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    uint32_t *types = pgw_arena_alloc(&arena, (LISTED + 1) * sizeof *types);
    for (size_t i = 1; i < LISTED + 1; i++)
        types[i] = PGW_INT2;
    types[LISTED] = PGW_INT4;
    assert_true(infers_listed("select from t where v = $1 and k in (", ")", types, &arena));
    assert_int_equal(types[0], PGW_TEXT);
    assert_int_equal(types[LISTED - 1], PGW_INT2);
    assert_int_equal(types[LISTED], PGW_INT4);
    pgw_arena_free(&arena);
}

/* What is nested is looked at once for each level, not twice. */
static void nesting_costs_no_more_than_its_size(void **state)
{
    (void)state;
    enum { DEPTH = 200 };
    static const char *const forms[][2] = {
        {"(", " between $1 and 2)"},
        {"(", " in ($1, 2))"},
        {"nullif(", ", $1)"},
        {"(", " collate \"C\" collate \"D\")"},
        {"case ", " when $1 then 1 end"},
        {"(", " = any (array[$1]))"},
        {"coalesce(", ", $1)"},
        {"(select x from unnest(", ") x)"},
        {"row(", ", $1) in (row(1, 2), row(3, 4))"},
    };
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        pgw_arena arena = {0};
        pgw_error error;
        pgw_buf text = {0};
        rw_inferred found;
        pgw_buf_add_str(&text, "select ");
        for (int i = 0; i < DEPTH; i++)
            pgw_buf_add_str(&text, forms[form][0]);
        pgw_buf_add_str(&text, "1");
        for (int i = 0; i < DEPTH; i++)
            pgw_buf_add_str(&text, forms[form][1]);
        pgw_buf_add_byte(&text, '\0');
        assert_true(infer(text.ptr, (rw_declared){NULL, 0}, &arena, &found, &error));
        pgw_buf_free(&text);
        pgw_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_inferred), /* first: it makes the tables */
        cmocka_unit_test(functions_have_so_many_arguments),
        cmocka_unit_test(oids_are_those_of_pg_type),
        cmocka_unit_test(declared_types_count),
        cmocka_unit_test(errors_of_the_grammar_are_told),
        cmocka_unit_test(other_statements_have_no_parameters),
        cmocka_unit_test(columns_without_names_are_found),
        cmocka_unit_test(columns_without_names_are_in_order),
        cmocka_unit_test(large_inserts_are_read),
        cmocka_unit_test(long_lists_are_of_one_type),
        cmocka_unit_test(long_lists_keep_what_was_declared),
        cmocka_unit_test(nesting_costs_no_more_than_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
