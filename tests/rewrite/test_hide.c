/* The backend's errors as the client is shown them. */
#include "rewrite/insert/parse.h"
#include "rewrite/insert/render.h"
#include "rewrite/statement/errors/hide.h"
#include "rewrite/statement/errors/hint.h"
#include "rewrite/statement/errors/part_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rewrite/hash/hash.h"
#include "exact.h"
#include "tables.h"
#include "vectors.h"

static rw_insert *parse(const char *text, pgw_arena *arena)
{
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    rw_insert *insert = NULL;
    pgw_error error = PGW_ERROR_NONE;
    if (!rw_insert_parse(exact(text), &catalog, &test_env, arena, &insert, &error))
        fail_msg("%s: %s", error.message, text);
    assert_non_null(insert);
    return insert;
}

/* An INSERT into the table of that name. */
static const char *insert_into(const char *table)
{
    if (strcmp(table, "serials") == 0)
        return "INSERT INTO serials (userid, event, pk) VALUES (1, 'x', 1)";
    if (strcmp(table, "events") == 0)
        return "INSERT INTO events (userid, ts) VALUES (1, '2026-01-01 00:00:00+00')";
    return "INSERT INTO \"Odd\".\"Mixed \"\"Case\"\"\" (\"Text \"\"Id\"\"\", n) VALUES ('a', 1.5)";
}

static void add_field(pgw_buf *body, char code, const char *text)
{
    pgw_buf_add_byte(body, code);
    pgw_buf_add(body, text, strlen(text) + 1);
}

static pgw_buf body_of(const char *sqlstate, const char *detail, const char *position)
{
    pgw_buf body = {0};
    add_field(&body, 'S', "ERROR");
    add_field(&body, 'C', sqlstate);
    add_field(&body, 'M', "Key (userhash, userid)=(1, 2) stays here");
    if (detail != NULL)
        add_field(&body, 'D', detail);
    if (position != NULL)
        add_field(&body, 'P', position);
    add_field(&body, 't', "events");
    pgw_buf_add_byte(&body, '\0');
    return body;
}

static void check_others(pgw_slice body, const char *sqlstate)
{
    assert_true(body.len > 0 && body.ptr[body.len - 1] == '\0');
    assert_true(pgw_slice_eq_str(pgw_error_field(body, 'S'), "ERROR"));
    assert_true(pgw_slice_eq_str(pgw_error_field(body, 'C'), sqlstate));
    assert_true(
        pgw_slice_eq_str(pgw_error_field(body, 'M'), "Key (userhash, userid)=(1, 2) stays here"));
    assert_true(pgw_slice_eq_str(pgw_error_field(body, 't'), "events"));
}

static void details_lose_the_hash(void **state)
{
    (void)state;
    vectors it = {.file = fopen(VECTORS "/hide.txt", "r")};
    assert_non_null(it.file);
    int cases = 0, wrong = 0;
    for (; vectors_next(&it, 4); cases++) {
        pgw_arena arena = {0};
        pgw_buf out = {0};
        rw_insert *insert = parse(insert_into(it.field[0]), &arena);
        pgw_buf body = body_of(it.field[1], it.field[3], NULL);
        rw_hide_error(pgw_slice_buf(&body), &(rw_sent){.insert = insert, .form = RW_HASH_PARAMETER},
                      &out);
        check_others(pgw_slice_buf(&out), it.field[1]);
        pgw_slice shown = pgw_error_field(pgw_slice_buf(&out), 'D');
        const char *expected = strcmp(it.field[2], "=") == 0 ? it.field[3] : it.field[2];
        if (!pgw_slice_eq_str(shown, expected)) {
            print_error("line %d: %.*s\n", it.line, (int)shown.len, shown.ptr);
            wrong++;
        }
        pgw_buf_free(&body);
        pgw_buf_free(&out);
        pgw_arena_free(&arena);
    }
    fclose(it.file);
    assert_int_equal(wrong, 0);
    assert_true(cases >= 50);
}

/* Shows `detail` for the INSERT `text`, whose hashes are known. */
static void check_detail(const char *text, const char *detail, const char *expected)
{
    pgw_arena arena = {0};
    rw_insert *insert = parse(text, &arena);
    uint64_t hashes[4];
    for (size_t i = 0; i < insert->row_count; i++)
        hashes[i] = 100 + i;
    pgw_buf body = body_of("23505", detail, NULL), out = {0};
    rw_hide_error(pgw_slice_buf(&body), &(rw_sent){.insert = insert, .hashes = hashes}, &out);
    pgw_slice shown = pgw_error_field(pgw_slice_buf(&out), 'D');
    if (!pgw_slice_eq_str(shown, expected))
        fail_msg("%.*s, not %s", (int)shown.len, shown.ptr, expected);
    pgw_buf_free(&body);
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

static void only_hashes_of_the_statement_are_taken_for_hashes(void **state)
{
    (void)state;
    const char *text = "INSERT INTO events (userid, ts) VALUES (1, '2026-01-01 00:00:00+00'), "
                       "(2, '2026-01-01 00:00:00+00')";
    check_detail(text, "Key (userhash, userid)=(100, 1) already exists.",
                 "Key (userid)=(1) already exists.");
    check_detail(text, "Key (userhash, userid)=(101, 1) already exists.",
                 "Key (userid)=(1) already exists.");
    check_detail(text, "Key (userhash, userid)=(102, 1) already exists.",
                 "Key (userhash, userid)=(102, 1) already exists.");
}

static void who_lists_the_hash_column_is_shown_it(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    rw_insert *insert =
        parse("INSERT INTO events (userid, ts, userhash) VALUES ($1, $2, $3)", &arena);
    const char *detail = "Key (userhash, userid, ts)=(1, 2, 3) already exists.";
    pgw_buf body = body_of("23505", detail, NULL), out = {0};
    rw_hide_error(pgw_slice_buf(&body), &(rw_sent){.insert = insert, .form = RW_HASH_PARAMETER},
                  &out);
    assert_true(pgw_slice_eq_str(pgw_error_field(pgw_slice_buf(&out), 'D'), detail));
    pgw_buf_free(&body);
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

/* The context of an INSERT of two parameters and a hash. */
static void check_context(const char *context, const char *expected)
{
    pgw_arena arena = {0};
    rw_insert *insert = parse("INSERT INTO events (userid, ts) VALUES ($1, $2)", &arena);
    pgw_buf body = {0}, out = {0};
    pgw_buf_addf(&body, "C22P02%cW%s%c", '\0', context, '\0');
    pgw_buf_add_byte(&body, '\0');
    rw_hide_error(pgw_slice_buf(&body), &(rw_sent){.insert = insert, .form = RW_HASH_PARAMETER},
                  &out);
    pgw_slice shown = pgw_error_field(pgw_slice_buf(&out), 'W');
    if (!pgw_slice_eq_str(shown, expected))
        fail_msg("%.*s, not %s", (int)shown.len, shown.ptr, expected);
    pgw_buf_free(&body);
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

static void contexts_lose_our_parameters(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"unnamed portal with parameters: $1 = '1', $2 = NULL, $3 = '-5'",
         "unnamed portal with parameters: $1 = '1', $2 = NULL"},
        {"portal \"p\" with parameters: $1 = 'it''s, $2 = ''x''', $2 = '', $3 = '5'",
         "portal \"p\" with parameters: $1 = 'it''s, $2 = ''x''', $2 = ''"},
        {"function f() line 1\nPortal mit Parametern: $1 = 'a\nb', $2 = '2', $3 = '1...'\nmore",
         "function f() line 1\nPortal mit Parametern: $1 = 'a\nb', $2 = '2'\nmore"},
        {"$1 = '1', $2 = '2', $3 = '3'", "$1 = '1', $2 = '2'"},
        {"$1 = NULL, $2 = NULL, $3 = NULL", "$1 = NULL, $2 = NULL"},
        {"$1 = '''', $2 = '', $3 = ''''''", "$1 = '''', $2 = ''"},
        {"$1 = $1 = '1', $2 = '2', $3 = '3'", "$1 = $1 = '1', $2 = '2'"},
        {"$1 = '1', $2 = 'x', $1 = '1', $2 = '2', $3 = '3'",
         "$1 = '1', $2 = 'x', $1 = '1', $2 = '2'"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        check_context(pairs[i][0], pairs[i][1]);
    static const char *const kept[] = {
        "unnamed portal parameter $1 = 'x'",
        "unnamed portal with parameters: $1 = '1', $2 = '2'",
        "unnamed portal with parameters: $1 = '1', $2 = '2', $3 = '3",
        "unnamed portal with parameters: $1 = '1', $2 = , $3 = '3'",
        "$1 = ",
        "$1 = NULL, $2 = NULL, $3 = NUL",
        "$1 = '1', $2 = '2', $3 = ",
        "$1 = '1', $2 = '2', $3 = '",
        "$1 = '1', $2 = '2', $3 = '''",
        "$1 = '1', $2 = '2', $3",
        "$1 = '1', $2 = '2', $30 = '3'",
        "$1 = '1', $3 = '3', $2 = '2'",
        "$1 = '1';$2 = '2', $3 = '3'",
        "$1 = NULLx, $2 = '2', $3 = '3'",
        "$1 = nULL, $2 = '2', $3 = '3'",
        ""};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        check_context(kept[i], kept[i]);
}

/* Of a statement with conditions: behind its own parameters are those of the hashes. */
static void contexts_lose_those_of_lookups(void **state)
{
    (void)state;
    static const struct {
        uint32_t own, ours;
        const char *context, *expected;
    } cases[] = {
        {1, 1, "$1 = '1', $2 = '2'", "$1 = '1'"},
        {1, 2, "$1 = '1', $2 = '2', $3 = NULL", "$1 = '1'"},
        {2, 1, "x: $1 = '1', $2 = '2', $3 = '3' y", "x: $1 = '1', $2 = '2' y"},
        {1, 1, "$1 = '1'", "$1 = '1'"},
        {2, 0, "$1 = '1', $2 = '2'", "$1 = '1', $2 = '2'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_conditions conditions = {.own = cases[i].own, .parameters = cases[i].ours};
        pgw_buf body = {0}, out = {0};
        pgw_buf_addf(&body, "C22P02%cW%s%c", '\0', cases[i].context, '\0');
        pgw_buf_add_byte(&body, '\0');
        rw_hide_error(pgw_slice_buf(&body), &(rw_sent){.conditions = &conditions}, &out);
        pgw_slice shown = pgw_error_field(pgw_slice_buf(&out), 'W');
        if (!pgw_slice_eq_str(shown, cases[i].expected))
            fail_msg("%.*s, not %s", (int)shown.len, shown.ptr, cases[i].expected);
        pgw_buf_free(&body);
        pgw_buf_free(&out);
    }
}

/* A hint that there is a column of that name, of which nobody is to know. */
static void hints_do_not_tell_of_the_hash(void **state)
{
    (void)state;
    static const struct {
        bool strict;
        const char *sqlstate, *hint;
        bool told;
    } cases[] = {
        {true, "42703", "There is a column named \"userhash\" in table \"events\".", false},
        {true, "42703", "Perhaps you meant \"events.userid\".", true},
        {true, "42704", "There is a column named \"userhash\" in table \"events\".", true},
        {false, "42703", "There is a column named \"userhash\" in table \"events\".", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        rw_table table = test_tables[0];
        table.strict = cases[i].strict;
        const rw_table *pointers[] = {&table};
        rw_insert *insert = NULL;
        pgw_error error = PGW_ERROR_NONE;
        assert_true(rw_insert_parse(exact(insert_into("events")),
                                    &(rw_catalog){.tables = pointers, .count = 1}, &test_env,
                                    &arena, &insert, &error));
        pgw_buf body = {0}, out = {0};
        add_field(&body, 'C', cases[i].sqlstate);
        add_field(&body, 'D', cases[i].hint);
        add_field(&body, 'H', cases[i].hint);
        add_field(&body, 'R', "behind");
        pgw_buf_add_byte(&body, '\0');
        rw_hide_error(pgw_slice_buf(&body), &(rw_sent){.insert = insert, .form = RW_HASH_PARAMETER},
                      &out);
        pgw_slice shown = pgw_error_field(pgw_slice_buf(&out), 'H');
        assert_int_equal(shown.ptr != NULL, cases[i].told);
        assert_true(!cases[i].told || pgw_slice_eq_str(shown, cases[i].hint));
        assert_true(pgw_slice_eq_str(pgw_error_field(pgw_slice_buf(&out), 'R'), "behind"));
        assert_non_null(pgw_error_field(pgw_slice_buf(&out), 'D').ptr);
        pgw_buf_free(&body);
        pgw_buf_free(&out);
        pgw_arena_free(&arena);
    }
}

/* The position of `word` in `text`, in characters from 1 (ASCII only). */
static size_t position_of(pgw_slice text, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.ptr + i, word, len) == 0)
            return i + 1;
    fail_msg("no %s", word);
    return 0;
}

static size_t shown_position(const rw_insert *insert, const uint64_t *hashes, size_t sent,
                             size_t before, size_t rendered_before)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%zu", sent);
    pgw_buf body = body_of("42703", NULL, digits), out = {0};
    rw_hide_error(pgw_slice_buf(&body),
                  &(rw_sent){.insert = insert,
                             .hashes = hashes,
                             .before = before,
                             .rendered_before = rendered_before},
                  &out);
    check_others(pgw_slice_buf(&out), "42703");
    pgw_slice field = pgw_error_field(pgw_slice_buf(&out), 'P');
    char shown[24];
    snprintf(shown, sizeof shown, "%.*s", (int)field.len, field.ptr);
    pgw_buf_free(&body);
    pgw_buf_free(&out);
    return strtoul(shown, NULL, 10);
}

static void positions_point_where_the_client_wrote(void **state)
{
    (void)state;
    static const char *const words[] = {"INSERT", "events", "userid", "ts",
                                        "VALUES", "2026",   "AAA",    "BBB"};
    const char *text = "INSERT INTO events (userid, ts, event) VALUES (1, '2026-01-01 00:00:00+00',"
                       " 'AAA'), (2, '2026-01-01 00:00:00+00', 'BBB') ON CONFLICT DO NOTHING";
    pgw_arena arena = {0};
    rw_insert *insert = parse(text, &arena);
    uint64_t hashes[2] = {1234567, 89};
    pgw_buf sent = {0};
    rw_render_statement(insert, RW_HASH_CONSTANT, hashes, &sent);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t there = position_of(pgw_slice_buf(&sent), words[i]);
        size_t here = position_of(pgw_slice_str(text), words[i]);
        assert_int_equal(shown_position(insert, hashes, there, 0, 0), here);
        assert_int_equal(shown_position(insert, hashes, 70 + there, 50, 70), 50 + here);
    }
    /* in front of this statement: not ours to move */
    assert_int_equal(shown_position(insert, hashes, 7, 50, 70), 7);
    pgw_buf_free(&sent);
    pgw_arena_free(&arena);
}

static void without_an_insert_only_positions_move(void **state)
{
    (void)state;
    const char *detail = "Key (userhash, userid, ts)=(1, 2, 3) already exists.";
    pgw_buf body = body_of("23505", detail, "30"), out = {0};
    rw_hide_error(pgw_slice_buf(&body), &(rw_sent){.before = 5, .rendered_before = 10}, &out);
    assert_true(pgw_slice_eq_str(pgw_error_field(pgw_slice_buf(&out), 'D'), detail));
    assert_true(pgw_slice_eq_str(pgw_error_field(pgw_slice_buf(&out), 'P'), "25"));
    pgw_buf_free(&body);
    pgw_buf_free(&out);
}

/* … which may be about one of our tables all the same: by an UPDATE, or past keyspread. What is
 * told of the hash column itself stays whole: who wrote it knows of it. */
static void without_an_insert_the_table_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *sqlstate, *column, *detail, *shown;
    } cases[] = {
        {"23505", "", "Key (userhash, userid, ts)=(1, 2, 3) already exists.",
         "Key (userid, ts)=(2, 3) already exists."},
        {"23502", "event", "Failing row contains (7, 3, x, 1).", "Failing row contains (7, 3, x)."},
        {"23514", "", "Failing row contains (7, 3, x, 1).", "Failing row contains (7, 3, x)."},
        {"22000", "", "Failing row contains (7, 3, x, 1).", "Failing row contains (7, 3, x, 1)."},
        {"23502", "userhash", "Failing row contains (7, 3, x, 1).",
         "Failing row contains (7, 3, x, 1)."},
        {"23P01", "", "Key (userhash, userid)=(1, 2) conflicts with key (userhash, userid)=(1, 2).",
         "Key (userhash, userid)=(1, 2) conflicts with key (userhash, userid)=(1, 2)."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf body = {0}, out = {0};
        add_field(&body, 'C', cases[i].sqlstate);
        add_field(&body, 'D', cases[i].detail);
        add_field(&body, 'c', cases[i].column);
        pgw_buf_add_byte(&body, '\0');
        rw_hide_error(pgw_slice_buf(&body), &(rw_sent){.table = &test_tables[0]}, &out);
        pgw_slice shown = pgw_error_field(pgw_slice_buf(&out), 'D');
        if (!pgw_slice_eq_str(shown, cases[i].shown))
            fail_msg("%s: %.*s", cases[i].detail, (int)shown.len, shown.ptr);
        pgw_buf_free(&body);
        pgw_buf_free(&out);
    }
}

/* Bodies cut at every byte, in memory of just that size, and positions that are none. */
static void broken_bodies_are_harmless(void **state)
{
    (void)state;
    static const char *const positions[] = {"",  "-1", "x", "99999999999999999999999",
                                            "0", "1:", "/"};
    pgw_arena arena = {0};
    rw_insert *insert = parse(insert_into("events"), &arena);
    uint64_t hash = 123;
    pgw_buf body = body_of("23505", "Key (userhash, userid, ts)=(123, 1, x) already exists.", "12");
    for (size_t cut = 0; cut <= body.len; cut++) {
        char *copy = pgw_alloc(cut);
        memcpy(copy, body.ptr, cut);
        pgw_buf out = {0};
        rw_hide_error((pgw_slice){copy, cut}, &(rw_sent){.insert = insert, .hashes = &hash}, &out);
        assert_true(out.len > 0 && out.ptr[out.len - 1] == '\0');
        pgw_buf_free(&out);
        free(copy);
    }
    pgw_buf_free(&body);
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
        pgw_buf odd = body_of("23505", NULL, positions[i]), out = {0};
        rw_hide_error(pgw_slice_buf(&odd), &(rw_sent){.insert = insert, .hashes = &hash}, &out);
        assert_true(pgw_slice_eq_str(pgw_error_field(pgw_slice_buf(&out), 'P'), positions[i]));
        pgw_buf_free(&odd);
        pgw_buf_free(&out);
    }
    pgw_arena_free(&arena);
}

static void check_message(const char *text, const char *sqlstate, const char *near_sent,
                          const char *expected)
{
    pgw_arena arena = {0};
    rw_insert *insert = parse(text, &arena);
    uint64_t hash = 123;
    pgw_buf sent = {0}, body = {0}, out = {0};
    rw_render_statement(insert, RW_HASH_CONSTANT, &hash, &sent);
    pgw_buf_addf(&body, "C%s%cMnear \",\" here%cP%zu%c%c", sqlstate, 0, 0,
                 7 + position_of(pgw_slice_buf(&sent), near_sent), 0, 0);
    rw_hide_error(pgw_slice_buf(&body),
                  &(rw_sent){.insert = insert, .hashes = &hash, .rendered_before = 7}, &out);
    pgw_slice shown = pgw_error_field(pgw_slice_buf(&out), 'M');
    if (!pgw_slice_eq_str(shown, expected))
        fail_msg("%.*s, not %s", (int)shown.len, shown.ptr, expected);
    pgw_buf_free(&sent);
    pgw_buf_free(&body);
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

/* What was put in begins with a comma; where it was none, the client's ')' would be met. */
static void a_comma_of_ours_is_not_shown(void **state)
{
    (void)state;
    const char *text = "INSERT INTO events (userid, ts) VALUES (1, now())";
    check_message(text, "42601", ", 123", "near \")\" here");
    check_message(text, "42601", ", \"userhash\"", "near \")\" here");
    check_message(text, "42601", ", ts", "near \",\" here");
    check_message(text, "42703", ", 123", "near \",\" here");
}

static void fields(pgw_buf *body, const char *const *of)
{
    pgw_buf_clear(body);
    for (; *of != NULL; of++)
        add_field(body, (*of)[0], *of + 1);
    pgw_buf_add_byte(body, '\0');
}

static void partitions_are_called_by_their_table(void **state)
{
    (void)state;
    rw_table plain = {.schema = "s", .name = "plain"};
    rw_table table = {.schema = "app",
                      .name = "ev \"x\"",
                      .part_names = "p0\1p0_pkey\1ev_pkey\2p1\1p1_a_key\1ev_a_key\2"
                                    "p1\1p1_pkey\1ev_pkey\1parts"};
    const rw_table *tables[] = {&plain, &table};
    static const struct {
        const char *given[8], *shown[8];
    } cases[] = {
        {{"C23505", "Mduplicate key value violates unique constraint \"p1_pkey\"", "DKey (a)=(p1)",
          "sparts", "tp1", "np1_pkey", NULL},
         {"C23505", "Mduplicate key value violates unique constraint \"ev_pkey\"", "DKey (a)=(p1)",
          "sapp", "tev \"x\"", "nev_pkey", NULL}},
        {{"M\"p1_a_key\" \"p1\" p1 \"p1", "tp1", "np1_a_key", NULL},
         {"M\"ev_a_key\" \"ev \"x\"\" p1 \"p1", "tev \"x\"", "nev_a_key", NULL}},
        {{"Mnull value in column \"c\" of relation \"p0\" violates", "tp0", "cc", NULL},
         {"Mnull value in column \"c\" of relation \"ev \"x\"\" violates", "tev \"x\"", "cc",
          NULL}},
        {{"Mrow for relation \"p1\" violates check constraint \"p1_pkey_\"", "tp1", "np1_pkey_",
          NULL},
         {"Mrow for relation \"ev \"x\"\" violates check constraint \"p1_pkey_\"", "tev \"x\"",
          "np1_pkey_", NULL}},
        {{"M\"p0\"", "sapp", "tp0", NULL}, {"M\"ev \"x\"\"", "sapp", "tev \"x\"", NULL}},
        {{"M\"p0\"", "sparts", "tp0", "np0_pkey", NULL}, {NULL}}, /* somebody else's */
        {{"M\"p2\"", "tp2", "np1_pkey", NULL}, {NULL}},
        {{"M\"p1\"", "np1_pkey", NULL}, {NULL}},
        {{"M\"p\"", "tp", NULL}, {NULL}},
        {{"tp1", "np1_a_key", "Mx \"", NULL}, {"tev \"x\"", "nev_a_key", "Mx \"", NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf body = {0}, shown = {0}, expected = {0};
        fields(&body, cases[i].given);
        char *all = pgw_alloc(body.len); /* of just that size */
        memcpy(all, body.ptr, body.len);
        bool named = rw_part_names(tables, 2, (pgw_slice){all, body.len}, &shown);
        free(all);
        assert_int_equal(named, cases[i].shown[0] != NULL);
        if (named) {
            fields(&expected, cases[i].shown);
            assert_int_equal(shown.len, expected.len);
            assert_memory_equal(shown.ptr, expected.ptr, expected.len);
        } else {
            assert_int_equal(shown.len, 0);
        }
        pgw_buf_free(&body);
        pgw_buf_free(&shown);
        pgw_buf_free(&expected);
    }
}

/* Also of one letter, and no more than as much as is a name. */
static void short_names_are_told(void **state)
{
    (void)state;
    rw_table table = {.schema = "s", .name = "t", .part_names = "p\1q\1i\1parts\2"};
    const rw_table *tables[] = {&table};
    const char *body[] = {"sparts", "tp", "nq", "Mrow of \"p\" breaks \"q\", not \"pq\" or \"p",
                          NULL};
    const char *told[] = {"ss", "tt", "ni", "Mrow of \"t\" breaks \"i\", not \"pq\" or \"p", NULL};
    pgw_buf sent = {0}, expected = {0}, shown = {0};
    fields(&sent, body);
    fields(&expected, told);
    assert_true(rw_part_names(tables, 1, pgw_slice_buf(&sent), &shown));
    assert_true(pgw_slice_eq(pgw_slice_buf(&shown), pgw_slice_buf(&expected)));
    pgw_buf_free(&sent);
    pgw_buf_free(&expected);
    pgw_buf_free(&shown);
}

static void errors_are_about_a_table(void **state)
{
    (void)state;
    rw_table one = {.schema = "s", .name = "one"};
    rw_table two = {.schema = "app", .name = "two", .part_names = "p0\1p0_pkey\1two_pkey\1parts"};
    const rw_table *tables[] = {&one, &two};
    static const struct {
        const char *fields[4];
        int table; /* -1: none */
    } cases[] = {
        {{"ss", "tone", NULL}, 0},     {{"sother", "tone", NULL}, -1},
        {{"sapp", "ttwo", NULL}, 1},   {{"sparts", "tp0", NULL}, 1},
        {{"sparts", "tp1", NULL}, -1}, {{"ss", NULL}, -1},
        {{"sapp", "tp0", NULL}, -1},   {{"Mrelation \"one\"", NULL}, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf body = {0};
        fields(&body, cases[i].fields);
        const rw_table *found = rw_part_table(tables, 2, pgw_slice_buf(&body));
        assert_ptr_equal(found, cases[i].table < 0 ? NULL : tables[cases[i].table]);
        pgw_buf_free(&body);
    }
}

/* What is left of the hint; "-": the error stays as it is. */
static void check_misspelled(const char *code, const char *hint, const char *left)
{
    static rw_column columns[] = {{.name = "k"}, {.name = "k_hash"}};
    const rw_table hides = {.columns = columns, .column_count = 2, .hash_column = 1};
    const rw_table shows = {
        .columns = columns, .column_count = 2, .hash_column = 0, .shows_hash = true};
    const rw_table *const tables[] = {&shows, &hides};
    const char *const sent[] = {"SERROR", code, hint, "P8", NULL};
    pgw_buf body = {0}, out = {0};
    fields(&body, sent);
    bool hidden = rw_hint_hide(tables, 2, pgw_slice_buf(&body), &out);
    assert_int_equal(hidden, strcmp(left, "-") != 0);
    if (hidden) {
        pgw_slice told = pgw_error_field(pgw_slice_buf(&out), 'H');
        assert_true(pgw_slice_eq_str(told, left));
        assert_true(pgw_slice_eq_str(pgw_error_field(pgw_slice_buf(&out), 'P'), "8"));
    }
    pgw_buf_free(&body);
    pgw_buf_free(&out);
}

#define PERHAPS "Perhaps you meant to reference the column \""

static void nobody_is_advised_to_name_the_hash(void **state)
{
    (void)state;
    check_misspelled("C42703", "H" PERHAPS "t.k_hash\".", "");
    check_misspelled("C42703", "H" PERHAPS "t.k_hash\" or the column \"u.k_hash\".", "");
    check_misspelled("C42703", "H" PERHAPS "t.k_hash\" or the column \"u.j\".", PERHAPS "u.j\".");
    check_misspelled("C42703", "H" PERHAPS "t.j\" or the column \"u.k_hash\".", PERHAPS "t.j\".");
    check_misspelled("C42703", "H" PERHAPS "t.k\".", "-");
    check_misspelled("C42703", "H" PERHAPS "t.a_k_hash\".", "-");
    check_misspelled("C42703", "H" PERHAPS "t.j\" or the column \"u.k\".", "-");
    check_misspelled("C42703", "H" PERHAPS "k_hash\".", "-");
    check_misspelled("C42702", "H" PERHAPS "t.k_hash\".", "-");
    check_misspelled("C42703", "HVielleicht die Spalte »t.k_hash«.", "");
    check_misspelled("C42703", "HEtwas anderes.", "-");
    check_misspelled("C42703", "Dk_hash", "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(details_lose_the_hash),
        cmocka_unit_test(partitions_are_called_by_their_table),
        cmocka_unit_test(short_names_are_told),
        cmocka_unit_test(only_hashes_of_the_statement_are_taken_for_hashes),
        cmocka_unit_test(contexts_lose_our_parameters),
        cmocka_unit_test(contexts_lose_those_of_lookups),
        cmocka_unit_test(hints_do_not_tell_of_the_hash),
        cmocka_unit_test(who_lists_the_hash_column_is_shown_it),
        cmocka_unit_test(positions_point_where_the_client_wrote),
        cmocka_unit_test(without_an_insert_only_positions_move),
        cmocka_unit_test(a_comma_of_ours_is_not_shown),
        cmocka_unit_test(without_an_insert_the_table_is_told),
        cmocka_unit_test(broken_bodies_are_harmless),
        cmocka_unit_test(errors_are_about_a_table),
        cmocka_unit_test(nobody_is_advised_to_name_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
