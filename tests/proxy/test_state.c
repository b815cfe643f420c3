/* The question what a session has on its own link, and the reading of its answer. */
#include "proxy/backend/state/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A DataRow's body; NULL is NULL. */
static pgw_buf row(const char *const *cells, size_t count)
{
    pgw_buf body = {0};
    pgw_buf_add_byte(&body, (char)(count >> 8));
    pgw_buf_add_byte(&body, (char)count);
    for (size_t i = 0; i < count; i++) {
        pgw_buf_add_i32(&body, cells[i] != NULL ? (int32_t)strlen(cells[i]) : -1);
        if (cells[i] != NULL)
            pgw_buf_add_str(&body, cells[i]);
    }
    return body;
}

static const char *const cells[] = {"app",
                                    "none",
                                    "UTF8",
                                    "ISO, MDY",
                                    "postgres",
                                    "UTC",
                                    "on",
                                    "on",
                                    "0",
                                    "0",
                                    "\"$user\", public",
                                    "hex 1 base64",
                                    "Lazy,partition,never,a,b",
                                    "th",
                                    "f",
                                    "h",
                                    "work_mem,search_path,my.own,"};
enum { CELLS = sizeof cells / sizeof *cells };

static void an_answer_is_read(void **state)
{
    (void)state;
    pgw_buf body = row(cells, CELLS);
    px_answer answer, copy;
    assert_true(px_answer_read(pgw_slice_buf(&body), 3, 0, true, &answer));
    px_answer_copy(&answer, &copy);
    px_answer_free(&answer);
    assert_string_equal(copy.user, "app");
    assert_string_equal(copy.role, "none");
    assert_string_equal(copy.values[RW_SEARCH_PATH], "\"$user\", public");
    assert_string_equal(copy.output, "hex 1 base64");
    assert_string_equal(copy.here, "a,b");
    assert_int_equal(copy.says[RW_OWN_TRANSACTIONS], RW_SAYS_LAZY);
    assert_int_equal(copy.says[RW_OWN_COPY], RW_SAYS_PARTITION);
    assert_int_equal(copy.says[RW_OWN_COPY_ON_CONFLICT], RW_SAYS_WRONG);
    assert_int_equal(copy.count, 3);
    assert_int_equal(copy.names[0], RW_MEANS_OURS);
    assert_int_equal(copy.names[1], RW_MEANS_OTHERS); /* another relation */
    assert_int_equal(copy.names[2], RW_MEANS_OTHERS); /* none at all */
    assert_int_equal(copy.made[0], RW_MEANS_OURS);
    assert_int_equal(copy.made[1], RW_MEANS_OTHERS);
    assert_int_equal(copy.made[2], RW_MEANS_OURS);
    px_answer_free(&copy);
    pgw_buf_free(&body);
}

static void what_is_no_answer_is_not_read(void **state)
{
    (void)state;
    px_answer answer;
    for (size_t count = 0; count < CELLS; count++) {
        pgw_buf body = row(cells, count);
        assert_false(px_answer_read(pgw_slice_buf(&body), 3, 0, true, &answer));
        pgw_buf_free(&body);
    }
    pgw_buf body = row(cells, CELLS);
    for (size_t len = 0; len < body.len; len++)
        assert_false(px_answer_read((pgw_slice){body.ptr, len}, 3, 0, true, &answer));
    assert_false(px_answer_read(pgw_slice_buf(&body), 4, 0, true, &answer));
    pgw_buf_free(&body);
}

/* Tables that have an oid share a cell, however many they are. */
static void a_letter_stands_for_a_table(void **state)
{
    (void)state;
    const char *with[CELLS + 1], *none[CELLS + 1];
    memcpy(with, cells, sizeof cells);
    with[CELLS] = cells[CELLS - 1];
    with[CELLS - 1] = "tft";
    memcpy(none, with, sizeof with);
    none[CELLS - 1] = NULL;
    pgw_buf body = row(with, CELLS + 1), nothing = row(none, CELLS + 1), sql = {0};
    px_answer answer;
    assert_true(px_answer_read(pgw_slice_buf(&body), 3, 4, true, &answer));
    assert_int_equal(answer.count, 7);
    static const rw_meaning expected[] = {RW_MEANS_OURS, RW_MEANS_OTHERS, RW_MEANS_OURS,
                                          RW_MEANS_OTHERS}; /* there is no letter of the last */
    assert_memory_equal(answer.names + 3, expected, sizeof expected);
    assert_string_equal(answer.changed, cells[CELLS - 1]);
    px_answer_free(&answer);
    assert_true(px_answer_read(pgw_slice_buf(&nothing), 3, 1, true, &answer));
    assert_int_equal(answer.names[3], RW_MEANS_OTHERS);
    px_answer_free(&answer);
    assert_false(px_answer_read(pgw_slice_buf(&body), 3, 0, true, &answer));
    const uint32_t oids[] = {7, 4294967295};
    const rw_catalog catalog = {0};
    px_state_question(&(px_asked){&catalog, oids, 2, false}, false, &sql);
    pgw_buf_add_byte(&sql, '\0');
    assert_non_null(strstr(sql.ptr, "unnest('{7,4294967295}'::pg_catalog.oid[])"));
    assert_null(strstr(sql.ptr, "pg_get_object_address"));
    pgw_buf_clear(&sql);
    px_state_question(&(px_asked){&catalog, oids, 2, true}, true, &sql);
    pgw_buf_add_byte(&sql, '\0');
    assert_non_null(strstr(sql.ptr, " where pg_catalog.pg_get_object_address("));
    pgw_buf_free(&sql);
    pgw_buf_free(&body);
    pgw_buf_free(&nothing);
}

/* Tables beyond the first thousand share a cell, for a SELECT has not so many. */
static void there_are_cells_for_all_tables(void **state)
{
    (void)state;
    enum { NAMED = 1004, ALL = 11 + 1 + 1 + 1000 + 1 + 1 };
    const char *many[ALL];
    for (size_t i = 0; i < ALL; i++)
        many[i] = i < 13 ? cells[i] : "th";
    many[ALL - 2] = "t,,th,h";
    many[ALL - 1] = "work_mem,";
    pgw_buf body = row(many, ALL), sql = {0};
    px_answer answer;
    assert_true(px_answer_read(pgw_slice_buf(&body), NAMED, 0, true, &answer));
    static const rw_meaning names[] = {RW_MEANS_OURS, RW_MEANS_OURS, RW_MEANS_OTHERS, RW_MEANS_OURS,
                                       RW_MEANS_OTHERS};
    static const rw_meaning made[] = {RW_MEANS_OURS, RW_MEANS_OTHERS, RW_MEANS_OTHERS,
                                      RW_MEANS_OURS, RW_MEANS_OURS};
    assert_memory_equal(answer.names + 999, names, sizeof names);
    assert_memory_equal(answer.made + 999, made, sizeof made);
    assert_string_equal(answer.changed, "work_mem,");
    px_answer_free(&answer);
    rw_table table = {.schema = (char *)"s", .name = (char *)"t"};
    const rw_table *tables[NAMED];
    for (size_t i = 0; i < NAMED; i++)
        tables[i] = &table;
    const rw_catalog catalog = {.tables = tables, .count = NAMED};
    px_state_question(&(px_asked){&catalog, NULL, 0, false}, true, &sql);
    assert_int_equal(px_state_cells(pgw_slice_buf(&sql)), ALL);
    pgw_buf_free(&sql);
    pgw_buf_free(&body);
}

static void only_what_cannot_be_followed_is_odd(void **state)
{
    (void)state;
    static const struct {
        const char *changed, *odd;
    } cases[] = {
        {"", ""},
        {"work_mem,", ""},
        {"search_path,TimeZone,DateStyle,statement_timeout,", ""},
        {"bytea_output,extra_float_digits,application_name,", ""},
        {"enable_seqscan,log_statement,jit,geqo_effort,", ""},
        {"work_mem,row_security,jit,", "row_security"},
        {"session_replication_role,", "session_replication_role"},
        {"log_my.own,", "log_my.own"},
        {"something_new,", "something_new"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_answer answer = {.changed = (char *)cases[i].changed};
        pgw_slice odd = px_answer_odd(&answer);
        assert_true(pgw_slice_eq_str(odd, cases[i].odd));
    }
    px_answer answer = {.changed = (char *)"work_mem,TimeZone,"}, none = {0};
    assert_true(px_answer_has_changed(&answer, "timezone"));
    assert_false(px_answer_has_changed(&answer, "time"));
    assert_false(px_answer_has_changed(&none, "timezone"));
}

/* Characters of all lengths, and bytes that are none. */
static void names_are_spelt_in_ascii(void **state)
{
    (void)state;
    static const struct {
        const char *name, *spelt;
    } cases[] = {{"\x7f", "\x7f"},
                 {"\xc2\x80", "\\U00000080"},
                 {"\xdf\xbf", "\\U000007FF"},
                 {"\xe0\xa0\x80", "\\U00000800"},
                 {"\xef\xbf\xbf", "\\U0000FFFF"},
                 {"\xf0\x90\x80\x80", "\\U00010000"},
                 {"\xf4\x8f\xbf\xbf", "\\U0010FFFF"},
                 {"\x80", "\\U00000080"},
                 {"\xbfz", "\\U000000BFz"},
                 {"\xc3z", "\\U000000C3z"},
                 {"\xe0\xa0z", "\\U000000E0\\U000000A0z"},
                 {"\xf0\x90\x80", "\\U000000F0\\U00000090\\U00000080"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[128];
        const rw_table table = {.schema = (char *)"s", .name = (char *)cases[i].name};
        const rw_table *pointer = &table;
        rw_catalog catalog = {.tables = &pointer, .count = 1};
        pgw_buf sql = {0};
        px_state_question(&(px_asked){.names = &catalog}, false, &sql);
        pgw_buf_add_byte(&sql, '\0');
        snprintf(expected, sizeof expected, "to_regclass(E'\"%s\"')", cases[i].spelt);
        if (strstr(sql.ptr, expected) == NULL)
            fail_msg("case %zu: %s", i, sql.ptr);
        pgw_buf_free(&sql);
    }
}

/* Nothing can break out of it, in whatever encoding it is read. */
static void names_are_constants(void **state)
{
    (void)state;
    rw_table tables[] = {{.schema = (char *)"public", .name = (char *)"up"},
                         {.schema = (char *)"it's", .name = (char *)"a\"b\\c\xC3\xA9\xFF"}};
    const rw_table *pointers[] = {&tables[0], &tables[1]};
    rw_catalog catalog = {.tables = pointers, .count = 2};
    pgw_buf sql = {0};
    px_state_question(&(px_asked){.names = &catalog}, false, &sql);
    pgw_buf_add_byte(&sql, '\0');
    assert_non_null(strstr(sql.ptr, "to_regclass(E'\"up\"')"));
    assert_non_null(strstr(sql.ptr, "to_regclass(E'\"a\"\"b\\\\c\\U000000E9\\U000000FF\"')"));
    assert_non_null(strstr(sql.ptr, "operator(pg_catalog.=) pg_catalog.quote_ident(E'it\\'s')"));
    assert_null(strstr(sql.ptr, "pg_settings"));
    pgw_buf_clear(&sql);
    px_state_question(&(px_asked){.names = &catalog}, true, &sql);
    pgw_buf_add_byte(&sql, '\0');
    assert_non_null(strstr(sql.ptr, "pg_settings"));
    pgw_buf_free(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_read),
        cmocka_unit_test(what_is_no_answer_is_not_read),
        cmocka_unit_test(there_are_cells_for_all_tables),
        cmocka_unit_test(a_letter_stands_for_a_table),
        cmocka_unit_test(only_what_cannot_be_followed_is_odd),
        cmocka_unit_test(names_are_spelt_in_ascii),
        cmocka_unit_test(names_are_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
