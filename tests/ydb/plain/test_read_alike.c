/* Which constants of an INSERT settings or names decide, for every type that PostgreSQL is born
 * with. */
#include "rewrite/insert/insert.h"
#include "rewrite/insert/parse.h"
#include "ydb/plain/pg_type.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* By typname, between blanks; their arrays are read in the same way. */
static const char of_time[] = " date timestamp timestamptz time timetz interval tsrange tstzrange "
                              "daterange tsmultirange tstzmultirange datemultirange ";
static const char of_names[] = " regproc regprocedure regoper regoperator regclass regtype regrole "
                               "regnamespace regconfig regdictionary regcollation ";
static const pgw_env env = {.utf8 = true, .conforming = true};

typedef struct flags {
    bool constants, names, heeds;
} flags;

/* Of an INSERT of a text into a column of the type. */
static flags insert(uint32_t type, const char *value, const char *tail)
{
    rw_column columns[] = {
        {.name = "id", .type = PGW_INT8, .typmod = -1, .type_name = "", .not_null = true},
        {.name = "hash", .type = PGW_INT8, .typmod = -1, .type_name = "", .not_null = true},
        {.name = "v", .type = type, .typmod = -1, .type_name = ""}};
    size_t key[] = {0};
    const rw_table table = {.schema = "public",
                            .name = "t",
                            .columns = columns,
                            .column_count = 3,
                            .primary_key = key,
                            .primary_key_count = 1,
                            .hash_key = key,
                            .hash_key_count = 1,
                            .hash_column = 1,
                            .partitions = {.kind = RW_PARTITION_UNIFORM, .count = 16},
                            .looked_up = true},
                   *pointer = &table;
    const rw_catalog catalog = {.tables = &pointer, .count = 1};
    pgw_arena arena = {0};
    pgw_error error;
    rw_insert *parsed = NULL;
    char *sql = pgw_arena_printf(&arena, "INSERT INTO t (id, v) VALUES (1, %s)%s", value, tail);
    assert_true(rw_insert_parse(pgw_slice_str(sql), &catalog, &env, &arena, &parsed, &error));
    assert_non_null(parsed);
    flags found = {parsed->reads_constants, parsed->reads_names, parsed->heeds_settings};
    pgw_arena_free(&arena);
    return found;
}

static bool lists(const char *list, const char *name)
{
    char word[48];
    snprintf(word, sizeof word, " %s ", name + (name[0] == '_'));
    return strstr(list, word) != NULL;
}

static void check_type(const vector_line *line)
{
    rw_pg_type type;
    assert_true(rw_pg_type_called(line->fields[0], &type));
    if (type.kind == 'p' || type.element == 2249 || type.element == 2275)
        return;
    flags found = insert(type.oid, "'x'", "");
    if (found.constants != lists(of_time, type.name) || found.names != lists(of_names, type.name))
        fail_msg("%s: %d %d", type.name, found.constants, found.names);
    assert_true(insert(type.oid, "lower('x')", "").names == found.names);
    assert_false(insert(type.oid, "1", "").constants);
    const char *update = " ON CONFLICT (id) DO UPDATE SET v = excluded.v";
    assert_true(insert(type.oid, "'x'", update).names == found.names);
}

static void types_are_read_by_settings_or_by_names(void **state)
{
    (void)state;
    assert_true(vector_each(VECTORS "/plain/pg_types.txt", check_type) > 180);
    assert_false(insert(16383, "'x'", "").constants);
    assert_true(insert(16384, "'x'", "").constants); /* a domain or a row may have a date */
}

static void a_cast_says_how_it_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        bool constants, names;
    } cases[] = {
        {"'x'::text", false, false},       {"'x'::date", true, false},
        {"'x'::text::date", false, false}, {"'2026-01-02'::date", false, false},
        {"'t'::regclass", true, true},     {"'t'::regclass::int8", true, true},
        {"'x'::of_others", true, true},    {"'t'::text::regclass", false, true},
        {"DATE 'x'", true, false},         {"REGCLASS 't'", true, true},
        {"$1::regclass", false, true},     {"NULL::date", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flags found = insert(PGW_TEXT, cases[i].value, "");
        if (found.constants != cases[i].constants || found.names != cases[i].names)
            fail_msg("%s: %d %d", cases[i].value, found.constants, found.names);
    }
}

/* In these forms a text is the same moment in all sessions. */
static void some_forms_are_read_alike(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        const char *value;
        bool alike;
    } cases[] = {
        {PGW_DATE, "'2026-01-02'", true},
        {PGW_DATE, "'02-01-2026'", false},
        {PGW_DATE, "'2026-01-0'", false},
        {PGW_DATE, "'2026-01-023'", false},
        {PGW_DATE, "'2026-01-/0'", false},
        {PGW_DATE, "'2026-01-:0'", false},
        {PGW_DATE, "'2026-01-02 03:04:05'", false},
        {PGW_DATE, "''", false},
        {PGW_TIMESTAMP, "'2026-01-02 03:04:05'", true},
        {PGW_TIMESTAMP, "'2026-01-02'", false},
        {PGW_TIMESTAMP, "'2026-01-02 03:04:05.6'", false},
        {PGW_TIMESTAMP, "'2026-01-02T03:04:05'", false},
        {PGW_TIMESTAMPTZ, "'2026-01-02 03:04:05+00'", true},
        {PGW_TIMESTAMPTZ, "'2026-01-02 03:04:05-07'", true},
        {PGW_TIMESTAMPTZ, "'2026-01-02 03:04:05*07'", false},
        {PGW_TIMESTAMPTZ, "'2026-01-02 03:04:05'", false},
        {PGW_TEXT, "'2026-01-0'", true},
        {PGW_INT8, "'1'", true},
        {PGW_UUID, "'x'", true},
        {1186, "'1 day'", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flags found = insert(cases[i].type, cases[i].value, "");
        if (found.heeds == cases[i].alike || (cases[i].alike && found.constants))
            fail_msg("%u %s: %d %d", cases[i].type, cases[i].value, found.constants, found.heeds);
    }
}

/* What a tail sets may be a number that a name has become, though no column says so. */
static void a_tail_may_read_names(void **state)
{
    (void)state;
    static const char update[] = " ON CONFLICT (id) DO UPDATE SET v = ";
    static const struct {
        const char *set;
        bool names;
    } cases[] = {{"'x'", false}, {"'t'::regclass", true}, {"'t'::REGTYPE::oid", true},
                 {"re", false},  {"1 + regx", true},      {"regx", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char tail[128];
        snprintf(tail, sizeof tail, "%s%s", update, cases[i].set);
        if (insert(PGW_TEXT, "'x'", tail).names != cases[i].names)
            fail_msg("%s", cases[i].set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_read_by_settings_or_by_names),
        cmocka_unit_test(a_cast_says_how_it_is_read),
        cmocka_unit_test(some_forms_are_read_alike),
        cmocka_unit_test(a_tail_may_read_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
