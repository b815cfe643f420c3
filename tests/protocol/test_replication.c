/* Which values of `replication` make a walsender, and which texts are its commands. */
#include "protocol/replication.h"
#include "tests/protocol/wire_vectors.h"

static void check(const char *value, const char *expected)
{
    pgw_buf packet = {0};
    pgw_buf_add_str(&packet, "replication");
    pgw_buf_add_byte(&packet, '\0');
    pgw_buf_add_str(&packet, value);
    pgw_buf_add_byte(&packet, '\0');
    pgw_startup startup = {.parameters = pgw_slice_buf(&packet)};
    const char *is = pgw_replication_of(&startup);
    if (expected == NULL)
        assert_null(is);
    else
        assert_string_equal(is, expected);
    pgw_buf_free(&packet);
}

static void test_values(void **state)
{
    (void)state;
    static const char *const off[] = {"false", "FALSE", "f", "fals", "no", "N", "off", "of", "0"};
    static const char *const on[] = {"true", "T", "tr", "yes", "y", "on", "ON", "1"};
    static const char *const none[] = {"", "o", "maybe", "Database", "00", " true", "false ", "2"};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        check(off[i], NULL);
    for (size_t i = 0; i < sizeof on / sizeof *on; i++)
        check(on[i], "true");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        check(none[i], none[i]);
    check("database", "database");
    assert_null(pgw_replication_of(&(pgw_startup){0}));
}

static void test_sql(void **state)
{
    (void)state;
    assert_true(pgw_replication_takes_sql(NULL));
    assert_true(pgw_replication_takes_sql("database"));
    assert_false(pgw_replication_takes_sql("true"));
    assert_false(pgw_replication_takes_sql("maybe"));
}

static void test_commands(void **state)
{
    (void)state;
    static const char *const commands[] = {
        "IDENTIFY_SYSTEM",  " \nidentify_system;",    "START_REPLICATION SLOT events LOGICAL 0/0",
        "show search_path", "BASE_BACKUP(LABEL 'x')",
    };
    static const char *const others[] = {
        "",
        ";",
        "select 1",
        "/* */ IDENTIFY_SYSTEM",
        "IDENTIFY_SYSTEM2",
        "IDENTIFY",
        "showing",
        "update events set userid = 1",
        "\"SHOW\"",
        "SHOW\xc3\xa9",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        assert_true(pgw_replication_is_command(pgw_slice_str(commands[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(pgw_replication_is_command(pgw_slice_str(others[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_sql),
        cmocka_unit_test(test_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
