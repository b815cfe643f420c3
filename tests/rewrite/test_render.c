/* Rendering: what is put in can be taken out again, and positions find their way back. */
#include "rewrite/insert/guard.h"
#include "rewrite/insert/insert.h"
#include "rewrite/insert/parse.h"
#include "rewrite/insert/parser.h"
#include "rewrite/insert/render.h"
#include "tests/rewrite/exact.h"
#include "tests/rewrite/lines.h"
#include "tests/rewrite/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const rw_table *pointers[TEST_TABLE_COUNT];

static rw_insert *parse(const char *sql, pgw_arena *arena)
{
    rw_catalog catalog = test_catalog(pointers);
    pgw_error error;
    rw_insert *insert;
    bool accepted = rw_insert_parse(exact(sql), &catalog, &test_env, arena, &insert, &error);
    return accepted ? insert : NULL;
}

static rw_insert *must_parse(const char *sql, pgw_arena *arena)
{
    rw_insert *insert = parse(sql, arena);
    if (insert == NULL)
        fail_msg("not parsed: %s", sql);
    return insert;
}

static void check(const pgw_buf *actual, const char *expected)
{
    if (!pgw_slice_eq_str(pgw_slice_buf(actual), expected))
        fail_msg("\n%.*s\n  not\n%s", (int)actual->len, actual->ptr, expected);
}

static void merged_statements_are_made_of_parts(void **state)
{
    (void)state;
    test_lines lines = {.file = fopen(VECTORS "/merge", "r")};
    assert_non_null(lines.file);
    while (test_next_line(&lines)) {
        pgw_arena arena = {0};
        pgw_buf out = {0};
        const rw_insert *insert = must_parse(lines.fields[0], &arena);
        rw_render_head(insert, &out);
        check(&out, lines.fields[1]);
        pgw_buf_clear(&out);
        rw_render_row(insert, 0, 901, false, &out);
        check(&out, lines.fields[2]);
        pgw_buf_clear(&out);
        rw_render_tail(insert, &out);
        check(&out, lines.count > 3 ? lines.fields[3] : "");
        pgw_buf_free(&out);
        pgw_arena_free(&arena);
    }
}

static void hashes_are_written_in_their_type(void **state)
{
    (void)state;
    static const struct {
        uint64_t hash;
        rw_hash_type type;
        const char *row;
    } cases[] = {
        {0, RW_HASH_INT8, "(1, 0)"},
        {(uint64_t)-5, RW_HASH_INT8, "(1, -5)"},
        {INT64_MAX, RW_HASH_INT8, "(1, 9223372036854775807)"},
        {(uint64_t)INT64_MIN, RW_HASH_INT8, "(1, '-9223372036854775808')"},
        {(uint64_t)INT64_MIN, RW_HASH_UINT64, "(1, 9223372036854775808)"},
        {UINT64_MAX, RW_HASH_UINT64, "(1, 18446744073709551615)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        pgw_buf out = {0};
        rw_insert *insert = must_parse("INSERT INTO events (userid) VALUES (1)", &arena);
        rw_table table = *insert->table;
        table.hash_type = cases[i].type;
        insert->table = &table;
        rw_render_row(insert, 0, cases[i].hash, false, &out);
        check(&out, cases[i].row);
        pgw_buf_free(&out);
        pgw_arena_free(&arena);
    }
}

static void hashes_may_be_further_parameters(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_buf out = {0};
    rw_render_statement(
        must_parse("INSERT INTO events (userid, ts) VALUES ($1, $3), ($2, $3)", &arena),
        RW_HASH_PARAMETER, NULL, &out);
    check(&out, "INSERT INTO events (userid, ts, \"userhash\") VALUES ($1, $3, $4), ($2, $3, $5)");
    pgw_buf_clear(&out);
    rw_render_statement(
        must_parse("INSERT INTO events (userhash, userid) VALUES (DEFAULT, $1)", &arena),
        RW_HASH_PARAMETER, NULL, &out);
    check(&out, "INSERT INTO events (userhash, userid) VALUES ($2, $1)");
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

static void what_is_put_in_is_counted(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        size_t added;
    } cases[] = {
        {"INSERT INTO events (userid, ts) VALUES (1, now())", sizeof ", \"userhash\"" - 1},
        {"INSERT INTO events (userid, ts, userhash) VALUES (1, now(), DEFAULT)", 0},
        {"INSERT INTO events (userid, ts) VALUES (1, now()) RETURNING *",
         sizeof ", \"userhash\"\"userid\", \"ts\", \"event\"" - 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        assert_int_equal(rw_render_added(must_parse(cases[i].sql, &arena)), cases[i].added);
        pgw_arena_free(&arena);
    }
}

/* --- properties, over all statements of the vectors --- */

static void render(const rw_insert *insert, pgw_buf *out)
{
    uint64_t hashes[64];
    for (size_t i = 0; i < 64; i++)
        hashes[i] = i * 0x9E3779B97F4A7C15u;
    rw_render_statement(insert, RW_HASH_CONSTANT, hashes, out);
}

static size_t position_of(const rw_insert *insert, size_t position)
{
    uint64_t hashes[64];
    for (size_t i = 0; i < 64; i++)
        hashes[i] = i * 0x9E3779B97F4A7C15u;
    return rw_render_position(insert, RW_HASH_CONSTANT, hashes, position);
}

/* The rendered text less what was put in, told only by where its positions lead: of those that lead
 * to one place, the last is the client's. Only for texts of one byte a character. */
static void strip(const rw_insert *insert, const pgw_buf *rendered, pgw_buf *out)
{
    for (size_t i = 0; i < rendered->len; i++)
        if (position_of(insert, i + 1) != position_of(insert, i + 2) &&
            position_of(insert, i + 1) <= insert->text.len)
            pgw_buf_add_byte(out, rendered->ptr[i]);
}

/* Where bytes of the client's are replaced and not only joined. */
static bool replaces(const rw_insert *insert)
{
    bool removed = false;
    for (size_t i = 0; i < insert->splice_count; i++)
        removed = removed || insert->splices[i].remove > 0;
    return removed || insert->verb != RW_VERB_INSERT || insert->returning > 0 ||
           insert->rows[0].hash_cell->kind == RW_CELL_DEFAULT;
}

static bool is_ascii(const char *text)
{
    while (*text != '\0' && (unsigned char)*text < 0x80)
        text++;
    return *text == '\0';
}

static void what_is_put_in_can_be_taken_out(void **state)
{
    (void)state;
    test_lines lines = {.file = fopen(VECTORS "/inserts", "r")};
    assert_non_null(lines.file);
    size_t stripped = 0;
    while (test_next_line(&lines)) {
        pgw_arena arena = {0};
        const rw_insert *insert = parse(lines.fields[0], &arena);
        if (insert != NULL && insert->row_count > 0 && !replaces(insert) &&
            is_ascii(lines.fields[0])) {
            pgw_buf rendered = {0}, out = {0};
            render(insert, &rendered);
            strip(insert, &rendered, &out);
            check(&out, lines.fields[0]);
            pgw_buf_free(&rendered);
            pgw_buf_free(&out);
            stripped++;
        }
        pgw_arena_free(&arena);
    }
    assert_true(stripped > 50);
}

/* What was rendered lists the hash, so that nothing is put in a second time. */
static void rendering_twice_changes_nothing(void **state)
{
    (void)state;
    test_lines lines = {.file = fopen(VECTORS "/inserts", "r")};
    assert_non_null(lines.file);
    while (test_next_line(&lines)) {
        pgw_arena arena = {0};
        const rw_insert *insert = parse(lines.fields[0], &arena);
        if (insert != NULL && insert->row_count > 0 && insert->verb == RW_VERB_INSERT) {
            pgw_buf once = {0}, twice = {0};
            render(insert, &once);
            pgw_buf_add_byte(&once, '\0');
            const rw_insert *again = must_parse(once.ptr, &arena);
            assert_true(again->hash_listed);
            assert_int_equal(again->row_count, insert->row_count);
            render(again, &twice);
            check(&twice, once.ptr);
            pgw_buf_free(&once);
            pgw_buf_free(&twice);
        }
        pgw_arena_free(&arena);
    }
}

static void parts_make_the_whole(void **state)
{
    (void)state;
    static const char sql[] = "UPSERT INTO events VALUES (1, now()),(2, now()) RETURNING *";
    pgw_arena arena = {0};
    pgw_buf whole = {0}, parts = {0};
    const rw_insert *insert = must_parse(sql, &arena);
    const uint64_t hashes[] = {7, 8};
    rw_render_statement(insert, RW_HASH_CONSTANT, hashes, &whole);
    rw_render_head(insert, &parts);
    pgw_buf_add_byte(&parts, ' ');
    rw_render_row(insert, 0, 7, false, &parts);
    pgw_buf_add_byte(&parts, ',');
    rw_render_row(insert, 1, 8, false, &parts);
    rw_render_tail(insert, &parts);
    assert_true(pgw_slice_eq(pgw_slice_buf(&whole), pgw_slice_buf(&parts)));
    pgw_buf_free(&whole);
    pgw_buf_free(&parts);
    pgw_arena_free(&arena);
}

/* The first row asks for the type of what is hashed, and for the columns if their list is ours; a
 * merged statement has both in its conditions. */
static void the_first_row_is_guarded(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        size_t lists;
    } cases[] = {{"INSERT INTO events VALUES (1, now()), (2, now())", 1},
                 {"INSERT INTO events (userid, ts) VALUES (1, now())", 0},
                 {"INSERT INTO events VALUES ($1, $2, 'it''s')", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        pgw_buf out = {0};
        rw_insert *insert = must_parse(cases[i].sql, &arena);
        rw_table known = *insert->table;
        known.oid = 16384;
        insert->table = &known;
        const uint64_t hashes[] = {7, 8};
        rw_render_statement(insert, RW_HASH_CONSTANT, hashes, &out);
        pgw_buf_add_byte(&out, '\0');
        const char *guard = strstr(
            out.ptr, "case when pg_catalog.pg_typeof((null::\"public\".\"events\").\"userid\")"
                     " operator(pg_catalog.=) 20::pg_catalog.oid ");
        assert_non_null(guard);
        assert_null(strstr(guard + 1, "case when"));
        assert_int_equal(strstr(guard, " operator(pg_catalog.=) '{\"userid\",\"ts\",\"event\","
                                       "\"userhash\"}'::pg_catalog.name[] then 7 else ") != NULL,
                         cases[i].lists);
        pgw_buf_clear(&out);
        rw_guard_conditions(insert, &out);
        pgw_buf_add_byte(&out, '\0');
        assert_non_null(strstr(out.ptr, " and not exists (select from pg_catalog.pg_trigger"));
        assert_int_equal(strstr(out.ptr, "array(") != NULL, cases[i].lists);
        pgw_buf_clear(&out);
        rw_render_row(insert, 0, 7, false, &out);
        pgw_buf_add_byte(&out, '\0');
        assert_null(strstr(out.ptr, "case"));
        pgw_buf_free(&out);
        pgw_arena_free(&arena);
    }
}

/* --- positions --- */

/* `mark` in the rendered text must lead to `expected` in the client's. */
static void check_position(const char *sql, const char *mark, const char *expected)
{
    pgw_arena arena = {0};
    pgw_buf out = {0};
    const rw_insert *insert = must_parse(sql, &arena);
    render(insert, &out);
    pgw_buf_add_byte(&out, '\0');
    const char *there = strstr(out.ptr, mark), *here = strstr(sql, expected);
    assert_non_null(there);
    assert_non_null(here);
    size_t position = 1, wanted = 1;
    for (const char *c = out.ptr; c < there; c++)
        position += ((unsigned char)*c & 0xC0) != 0x80;
    for (const char *c = sql; c < here; c++)
        wanted += ((unsigned char)*c & 0xC0) != 0x80;
    assert_int_equal(position_of(insert, position), wanted);
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

static void positions_lead_back(void **state)
{
    (void)state;
    static const char sql[] =
        "INSERT INTO events VALUES (1, 'é', 'x'), (2, 'ü', nosuch) RETURNING *, f(1)";
    check_position(sql, "INSERT", "INSERT");
    check_position(sql, "events", "events");
    check_position(sql, "\"userid\"", " VALUES");
    check_position(sql, "VALUES", "VALUES");
    check_position(sql, "'x'", "'x'");
    check_position(sql, "2, 'ü'", "2, 'ü'");
    check_position(sql, "nosuch", "nosuch");
    check_position(sql, "\"ts\", \"event\", f", "*");
    check_position(sql, "f(1)", "f(1)");
    static const char upsert[] = "UPSERT INTO events VALUES (1, now()) RETURNING nosuch";
    check_position(upsert, "EXCLUDED", " RETURNING");
    check_position(upsert, "nosuch", "nosuch");
}

static void what_is_forwarded_keeps_its_positions(void **state)
{
    (void)state;
    static const char sql[] = "INSERT INTO forwards SELECT 'é', nosuch";
    check_position(sql, "forwards", "forwards");
    check_position(sql, "\"userid\"", " SELECT");
    check_position(sql, "nosuch", "nosuch");
}

static void positions_of_nothing_stay_inside(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    const rw_insert *insert = must_parse("INSERT INTO events VALUES (1)", &arena);
    assert_int_equal(position_of(insert, 0), 0);
    assert_int_equal(position_of(insert, 100000), insert->text.len + 1);
    pgw_arena_free(&arena);
}

static void any_row_may_be_left_out(void **state)
{
    (void)state;
    static const char *const left[8] = {NULL,
                                        "(1, now(), 11) /* a */, (2, now(), 12), (3, now(), 13)",
                                        "(2, now(), 12), (3, now(), 13)",
                                        "(1, now(), 11) /* a */, (3, now(), 13)",
                                        "(3, now(), 13)",
                                        "(1, now(), 11) /* a */, (2, now(), 12)",
                                        "(2, now(), 12)",
                                        "(1, now(), 11)"};
    pgw_arena arena = {0};
    rw_insert *insert = must_parse("INSERT INTO events (userid, ts) VALUES (1, now()) /* a */, "
                                   "(2, now()), (3, now()) ON CONFLICT DO NOTHING",
                                   &arena);
    for (unsigned without = 0; without < 7; without++) {
        pgw_buf out = {0}, expected = {0};
        for (size_t i = 0; i < 3; i++)
            insert->rows[i].superseded = (without >> i & 1) != 0;
        rw_render_statement(insert, RW_HASH_CONSTANT, (uint64_t[]){11, 12, 13}, &out);
        pgw_buf_addf(
            &expected,
            "INSERT INTO events (userid, ts, \"userhash\") VALUES %s ON CONFLICT DO NOTHING",
            left[without + 1]);
        pgw_buf_add_byte(&expected, '\0');
        check(&out, expected.ptr);
        pgw_buf_free(&expected);
        pgw_buf_free(&out);
    }
    pgw_arena_free(&arena);
}

/* It fails there as a whole, with what the server finds wrong before, or with the refusal. */
static void a_row_without_a_hash_fails_at_the_server(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_buf out = {0};
    rw_insert *insert = must_parse("INSERT INTO events (userid) VALUES (1), (2)", &arena);
    const uint64_t hashes[] = {7, 8};
    insert->rows[1].unhashed = true;
    rw_render_statement(insert, RW_HASH_CONSTANT, hashes, &out);
    check(&out, "INSERT INTO events (userid, \"userhash\") VALUES (1, 7), (2, '" RW_REFUSAL
                "'::varchar::bigint)");
    assert_true(rw_insert_may_fail(insert));
    assert_false(rw_insert_may_fail(must_parse(
        "INSERT INTO events (userid, userhash) VALUES (1, 3439722301264460078)", &arena)));
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

/* The upper half of the numbers comes as negative ones. */
static void a_parameter_of_an_unsigned_hash_is_an_int8(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_buf out = {0};
    rw_table table = test_tables[0];
    rw_insert *insert = must_parse("INSERT INTO events (userid) VALUES ($1)", &arena);
    table.hash_type = RW_HASH_UINT64;
    insert->table = &table;
    rw_render_statement(insert, RW_HASH_PARAMETER, NULL, &out);
    check(&out, "INSERT INTO events (userid, \"userhash\") VALUES ($1, ($2::numeric + "
                "18446744073709551616) % 18446744073709551616)");
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

static void no_position_is_none(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    const uint64_t hash = 7;
    const rw_insert *insert = must_parse("INSERT INTO events (userid) VALUES (1)", &arena);
    assert_int_equal(rw_render_position(insert, RW_HASH_CONSTANT, &hash, 0), 0);
    assert_int_equal(rw_render_position(insert, RW_HASH_CONSTANT, &hash, 1), 1);
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_statements_are_made_of_parts),
        cmocka_unit_test(hashes_are_written_in_their_type),
        cmocka_unit_test(hashes_may_be_further_parameters),
        cmocka_unit_test(what_is_put_in_is_counted),
        cmocka_unit_test(what_is_put_in_can_be_taken_out),
        cmocka_unit_test(rendering_twice_changes_nothing),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(the_first_row_is_guarded),
        cmocka_unit_test(positions_lead_back),
        cmocka_unit_test(what_is_forwarded_keeps_its_positions),
        cmocka_unit_test(positions_of_nothing_stay_inside),
        cmocka_unit_test(any_row_may_be_left_out),
        cmocka_unit_test(a_row_without_a_hash_fails_at_the_server),
        cmocka_unit_test(a_parameter_of_an_unsigned_hash_is_an_int8),
        cmocka_unit_test(no_position_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
