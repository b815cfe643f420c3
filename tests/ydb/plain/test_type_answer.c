/* All that each search for types finds by each of many values, in columns of all kinds: nothing
 * changes unseen. What PostgreSQL answers is test_type_question's matter. */
#include "ydb/plain/type_answer.h"
#include "tests/protocol/left_out.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *const texts[] = {
    NULL,
    "",
    "0",
    "16",
    "18",
    "20",
    "25",
    "705",
    "1007",
    "1028",
    "2249",
    "3904",
    "4451",
    "4294967295",
    "4294967296",
    "4294967316",
    "99999999999",
    "-20",
    "20x",
    "/",
    ":",
    "int4",
    "INT4",
    "_int4",
    "int4[]",
    "text",
    "record",
    "any",
    "int4range",
    "int4multirange",
    "bpchar",
    "\"char\"",
    "pg_catalog.int8",
    "timestamp with time zone",
    "none",
    "record ",
    "  _int4  ",
    "{}",
    "{20,23,1007}",
    "{3904,4451,1007,20}",
    "{20,20,x,NULL}",
    "{{20},{23}}",
    "{20",
};

/* What stands for the second and the third value of a question. */
static const struct {
    uint32_t types[2];
    const char *texts[2];
} further[] = {
    {{0, 0}, {NULL, NULL}},
    {{PGW_TEXT, 0}, {"pg_catalog", "t"}},
    {{PGW_TEXT, 0}, {"public", "t"}},
    {{PGW_TEXT, PGW_BOOL}, {"public", "t"}},
    {{PGW_TEXT, PGW_BOOL}, {"public", "TRUE"}},
    {{PGW_TEXT, PGW_BOOL}, {"public", "f"}},
    {{PGW_TEXT, PGW_BOOL}, {"pg_catalog", "f"}},
};

static pgw_slice slice_of(const char *text)
{
    return text != NULL ? pgw_slice_str(text) : (pgw_slice){NULL, 0};
}

static void add_answer(const rw_type_question *question, const rw_known_value *values, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_said said;
    if (rw_type_answer(question, values, &(pgw_reading){&(pgw_env){0}, &arena, &error}, &said))
        pgw_buf_addf(out, "%s:", said.tag);
    else
        pgw_buf_addf(out, "!%s %s", error.sqlstate, error.message);
    for (size_t i = 0; i < said.rows * said.width; i++) {
        pgw_buf_add_str(out, said.cells[i].ptr != NULL ? " " : " NULL");
        pgw_buf_add_slice(out, said.cells[i]);
    }
    pgw_arena_free(&arena);
}

/* The letters of the answers to a question for each value. */
static void add_search(rw_type_search search, size_t more, pgw_buf *out)
{
    rw_type_question question = {
        .search = search,
        .types = {PGW_TEXT, further[more].types[0], further[more].types[1]},
    };
    pgw_buf_addf(out, "%d %zu", search, more);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pgw_buf told = {0};
        for (rw_type_field first = 0; first < RW_TYPE_END; first += 15) {
            for (rw_type_field k = 0; k < 15; k++)
                question.columns[k] =
                    (rw_type_column){"c", first + k < RW_TYPE_END ? first + k : RW_TYPE_END};
            question.columns[15].field = RW_TYPE_END;
            const rw_known_value values[RW_KNOWN_VALUES] = {
                {slice_of(texts[i]), 0, false},
                {slice_of(further[more].texts[0]), 0, false},
                {slice_of(further[more].texts[1]), 0, false},
            };
            rw_type_columns(&question, &told);
            add_answer(&question, values, &told);
        }
        if (left_out_all)
            printf("%d %zu %s: %.*s\n", search, more, texts[i] != NULL ? texts[i] : "NULL",
                   (int)told.len, told.ptr);
        left_out_letters(&told, out);
        pgw_buf_free(&told);
    }
    pgw_buf_add_byte(out, '\n');
}

static char *all(void)
{
    pgw_buf out = {0};
    for (rw_type_search search = 0; search <= RW_TYPE_NONE; search++)
        for (size_t more = 0; more < sizeof further / sizeof *further; more++)
            add_search(search, more, &out);
    pgw_buf_add_byte(&out, '\0');
    return out.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/plain/type_searches.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
