/* What YDB's endpoint says of a failure, as PostgreSQL's error and its fate. */
#include "ydb/endpoint/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct reading {
    px_ydb_fate fate;
    pgw_error error;
    bool drops;
} reading;

/* Of an ErrorResponse as the endpoint writes it: E, M, and C where there is one. */
static reading read_error(const char *sqlstate, pgw_slice text)
{
    reading got;
    pgw_buf body = {0};
    pgw_buf_add(&body, "EERROR", 7);
    pgw_buf_add_byte(&body, 'M');
    pgw_buf_add_slice(&body, text);
    pgw_buf_add_byte(&body, '\0');
    if (sqlstate != NULL)
        pgw_buf_addf(&body, "C%s", sqlstate);
    if (sqlstate != NULL)
        pgw_buf_add_byte(&body, '\0');
    pgw_buf_add_byte(&body, '\0');
    got.fate = px_ydb_status_read(pgw_slice_buf(&body), &got.error, &got.drops);
    pgw_buf_free(&body);
    return got;
}

static reading read_status(const char *status, const char *issue)
{
    pgw_buf text = {0};
    pgw_buf_addf(&text, "Status: %s\nIssues:\n<main>:1:2: Error: %s, code: 2012\n", status, issue);
    reading got = read_error(NULL, pgw_slice_buf(&text));
    pgw_buf_free(&text);
    return got;
}

static void every_status_has_its_fate(void **state)
{
    (void)state;
    static const struct {
        const char *status, *sqlstate;
        px_ydb_fate fate;
    } table[] = {
        {"ABORTED", "40001", PX_YDB_AGAIN},
        {"UNAVAILABLE", "57P03", PX_YDB_AGAIN},
        {"OVERLOADED", "53000", PX_YDB_SLOWLY},
        {"BAD_SESSION", "08006", PX_YDB_ELSEWHERE},
        {"SESSION_EXPIRED", "08006", PX_YDB_UNDETERMINED},
        {"SESSION_BUSY", "08006", PX_YDB_ELSEWHERE},
        {"UNDETERMINED", "08007", PX_YDB_UNDETERMINED},
        {"TIMEOUT", "57014", PX_YDB_UNDETERMINED},
        {"CANCELLED", "57014", PX_YDB_UNDETERMINED},
        {"INTERNAL_ERROR", "XX000", PX_YDB_UNDETERMINED},
        {"UNAUTHORIZED", "42501", PX_YDB_REFUSED},
        {"SCHEME_ERROR", "42P01", PX_YDB_REFUSED},
        {"ALREADY_EXISTS", "42P07", PX_YDB_REFUSED},
        {"NOT_FOUND", "42704", PX_YDB_REFUSED},
        {"PRECONDITION_FAILED", "22000", PX_YDB_REFUSED},
        {"BAD_REQUEST", "22000", PX_YDB_REFUSED},
        {"UNSUPPORTED", "0A000", PX_YDB_REFUSED},
        {"GENERIC_ERROR", "42000", PX_YDB_REFUSED},
        /* one that nobody knows yet may be of something that was done */
        {"EXTERNAL_ERROR", "XX000", PX_YDB_UNDETERMINED},
        {"ABORTED_BY_MOON", "XX000", PX_YDB_UNDETERMINED},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        reading got = read_status(table[i].status, "it rains");
        char detail[128];
        snprintf(detail, sizeof detail,
                 "Status: %s\nIssues:\n<main>:1:2: Error: it rains, code: 2012\n", table[i].status);
        assert_string_equal(got.error.sqlstate, table[i].sqlstate);
        assert_int_equal(got.fate, table[i].fate);
        assert_string_equal(got.error.message, "it rains");
        assert_string_equal(got.error.detail, detail);
        assert_true(got.drops == (strcmp(table[i].status, "SESSION_EXPIRED") == 0));
    }
}

/* What the issues say is better, but only of what was refused: of what may have been done, and of
 * what can be tried again, the status is all. */
static void issues_say_why_it_was_refused(void **state)
{
    (void)state;
    static const struct {
        const char *status, *issue, *sqlstate;
    } table[] = {
        {"PRECONDITION_FAILED", "Conflict with existing key.", "23505"},
        {"PRECONDITION_FAILED", "Duplicate key found", "23505"},
        {"PRECONDITION_FAILED", "LIMIT must not be negative", "2201W"},
        {"PRECONDITION_FAILED", "OFFSET must not be negative", "2201X"},
        {"PRECONDITION_FAILED", "numeric field overflow", "22003"},
        {"PRECONDITION_FAILED", "invalid hexadecimal data: odd number of digits", "22023"},
        {"PRECONDITION_FAILED", "invalid hexadecimal digit: \"g\"", "22023"},
        {"PRECONDITION_FAILED", "unsupported Unicode escape sequence", "22P05"},
        {"GENERIC_ERROR", "invalid Unicode escape", "42601"},
        {"GENERIC_ERROR", "invalid Unicode surrogate pair", "42601"},
        {"GENERIC_ERROR", "table name \"a\" specified more than once", "42712"},
        {"GENERIC_ERROR", "WITH query name \"a\" specified more than once", "42712"},
        {"GENERIC_ERROR", "SELECT * with no tables specified is not valid", "42601"},
        {"GENERIC_ERROR", "subquery in FROM must have an alias", "42601"},
        {"GENERIC_ERROR", "window functions are not allowed in WHERE", "42P20"},
        {"GENERIC_ERROR", "window function lag requires an OVER clause", "42809"},
        {"GENERIC_ERROR", "argument of LIMIT must not contain variables", "42P10"},
        {"GENERIC_ERROR", "op ANY/ALL (array) requires array on right side", "42809"},
        {"GENERIC_ERROR", "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
         "42P10"},
        {"GENERIC_ERROR", "lastval is not yet defined in this session", "55000"},
        {"GENERIC_ERROR", "Only a single PK is allowed per table", "42P16"},
        {"GENERIC_ERROR", "PK column does not belong to table", "42703"},
        {"GENERIC_ERROR", "Primary key is required for ydb tables.", "0A000"},
        {"SCHEME_ERROR", "Column a has wrong key type pgvarchar", "0A000"},
        {"GENERIC_ERROR", "Unknown cluster: other", "42P01"},
        {"GENERIC_ERROR", "FOR UPDATE is not allowed with aggregate functions", "0A000"},
        {"GENERIC_ERROR", "requested length too large", "54000"},
        {"PRECONDITION_FAILED", "date field value out of range: 2024-13-01", "22008"},
        {"PRECONDITION_FAILED", "time zone displacement out of range: \"x\"", "22009"},
        {"PRECONDITION_FAILED", "invalid value \"x\" for \"YYYY\"", "22007"},
        {"PRECONDITION_FAILED", "\"2\" is not a valid binary digit", "22P02"},
        {"PRECONDITION_FAILED", "step size cannot equal zero", "22023"},
        {"PRECONDITION_FAILED", "too few arguments for format()", "22023"},
        {"PRECONDITION_FAILED", "cannot cast jsonb string to type integer", "22023"},
        {"PRECONDITION_FAILED", "argument of ntile must be greater than zero", "22014"},
        {"PRECONDITION_FAILED", "invalid XML content", "2200N"},
        {"PRECONDITION_FAILED", "invalid regular expression: brackets [] not balanced", "2201B"},
        {"PRECONDITION_FAILED", "cannot take logarithm of zero", "2201E"},
        {"PRECONDITION_FAILED", "cannot take square root of a negative number", "2201F"},
        {"PRECONDITION_FAILED", "zero raised to a negative power is undefined", "2201F"},
        {"PRECONDITION_FAILED", "negative substring length not allowed", "22011"},
        {"PRECONDITION_FAILED", "LIKE pattern must not end with escape character", "22025"},
        {"GENERIC_ERROR", "Usupported SQLValueFunction: 12", "0A000"},
        {"GENERIC_ERROR", "null character not permitted", "54000"},
        {"GENERIC_ERROR", "more than one row returned by a subquery used as an expression",
         "21000"},
        {"GENERIC_ERROR", "aggregate functions are not allowed in WHERE", "42803"},
        {"GENERIC_ERROR", "missing FROM-clause entry for table \"x\"", "42P01"},
        {"GENERIC_ERROR", "INSERT has more expressions than target columns", "42601"},
        {"GENERIC_ERROR", "VALUES lists must all be the same length", "42601"},
        {"GENERIC_ERROR", "multiple assignments to same column \"v\"", "42601"},
        {"GENERIC_ERROR", "there is no parameter $1", "42P02"},
        {"GENERIC_ERROR", "CASE types integer and text cannot be matched", "42804"},
        {"GENERIC_ERROR", "argument of WHERE must be type boolean, not type integer", "42804"},
        {"GENERIC_ERROR", "cannot cast type boolean to date", "42846"},
        {"GENERIC_ERROR", "function f(unknown) is not unique", "42725"},
        {"PRECONDITION_FAILED", "Constraint violated. Table: t", "23505"},
        {"BAD_REQUEST", "null value in column \"a\" violates not-null constraint", "23502"},
        {"BAD_REQUEST", "violates check constraint \"c\"", "23514"},
        {"BAD_REQUEST", "violates foreign key constraint \"c\"", "23503"},
        {"SCHEME_ERROR", "Cannot find table 'db.[/local/t]'", "42P01"},
        {"SCHEME_ERROR", "Check failed: path: '/local/t', error: path exist", "42P07"},
        {"GENERIC_ERROR", "column \"a\" specified more than once", "42701"},
        {"GENERIC_ERROR", "ERROR:  syntax error at or near \"selec\"", "42601"},
        {"GENERIC_ERROR", "unterminated quoted string", "42601"},
        {"GENERIC_ERROR", "invalid input syntax for type timestamp: \"x\"", "22007"},
        {"GENERIC_ERROR", "invalid input syntax for type interval: \"x\"", "22007"},
        {"GENERIC_ERROR", "invalid input syntax for type integer: \"x\"", "22P02"},
        {"GENERIC_ERROR", "invalid input syntax for type integer: \"duplicate key\"", "22P02"},
        {"GENERIC_ERROR", "invalid input syntax for type integer: \"a\"syntax error\"", "22P02"},
        {"GENERIC_ERROR", "column \"duplicate key\" does not exist", "42703"},
        {"GENERIC_ERROR", "relation \"column\" does not exist", "42P01"},
        {"GENERIC_ERROR", "malformed array literal: \"x\"", "22P02"},
        {"GENERIC_ERROR", "malformed range literal: \"x\"", "22P02"},
        {"GENERIC_ERROR", "date/time field value out of range: \"x\"", "22008"},
        {"GENERIC_ERROR", "interval out of range", "22008"},
        {"GENERIC_ERROR", "time zone \"x\" not recognized", "22023"},
        {"GENERIC_ERROR", "value overflows numeric format", "22003"},
        {"GENERIC_ERROR", "interval field value out of range: \"x\"", "22015"},
        {"GENERIC_ERROR", "value \"9\" is out of range for type integer", "22003"},
        {"GENERIC_ERROR", "Division By Zero", "22012"},
        {"GENERIC_ERROR", "value too long for type character varying(3)", "22001"},
        {"GENERIC_ERROR", "invalid byte sequence for encoding \"UTF8\"", "22021"},
        {"GENERIC_ERROR", "column must appear in the GROUP BY clause", "42803"},
        {"GENERIC_ERROR", "column reference \"a\" is ambiguous", "42702"},
        {"GENERIC_ERROR", "No such column: a", "42703"},
        {"GENERIC_ERROR", "column \"a\" does not exist", "42703"},
        {"GENERIC_ERROR", "relation \"a\" does not exist", "42P01"},
        {"GENERIC_ERROR", "function a() does not exist", "42883"},
        {"GENERIC_ERROR", "operator does not exist: a + b", "42883"},
        {"GENERIC_ERROR", "type \"a\" does not exist", "42704"},
        {"GENERIC_ERROR", "No such proc: a", "42883"},
        {"GENERIC_ERROR", "column \"a\" is of type int8", "42804"},
        {"UNAUTHORIZED", "Access denied", "42501"},
        {"BAD_REQUEST", "Current transaction is aborted", "25P02"},
        {"GENERIC_ERROR", "alternative is not implemented yet", "0A000"},
        {"GENERIC_ERROR", "InsertStmt: not supported onConflictClause", "0A000"},
        {"GENERIC_ERROR", "Too deep recursion", "54001"},
        {"BAD_REQUEST", "Row cell size exceeds limit", "54000"},
        {"ABORTED", "Conflict with existing key.", "40001"},
        {"UNDETERMINED", "Conflict with existing key.", "08007"},
        {"INTERNAL_ERROR", "syntax error", "XX000"},
        {"TIMEOUT", "duplicate key", "57014"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        reading got = read_status(table[i].status, table[i].issue);
        if (strcmp(got.error.sqlstate, table[i].sqlstate) != 0)
            fail_msg("%s: %s", table[i].issue, got.error.sqlstate);
        bool twice = strcmp(table[i].sqlstate, "23505") == 0;
        assert_string_equal(got.error.message,
                            twice ? "duplicate key value violates a unique constraint"
                                  : table[i].issue);
        assert_non_null(strstr(got.error.detail, table[i].issue));
    }
}

/* The endpoint gives a SQLSTATE in four cases; behind two of them it closes the connection. */
static void a_sqlstate_is_given_in_four_cases(void **state)
{
    (void)state;
    static const struct {
        const char *sqlstate, *text, *is;
        px_ydb_fate fate;
        bool drops;
    } table[] = {
        {"42P01", "Status: SCHEME_ERROR\nIssues:\n<main>: Error: Cannot find table 't'\n", "42P01",
         PX_YDB_REFUSED, false},
        {"XX000", "Status: INTERNAL_ERROR\nIssues:\n<main>: Error: x\n", "XX000",
         PX_YDB_UNDETERMINED, true},
        {"08006", "Status: BAD_SESSION\nIssues:\n<main>: Error: x\n", "08006", PX_YDB_ELSEWHERE,
         true},
        {"42P01", "Status: GENERIC_ERROR\nIssues:\n<main>: Error: x\n", "42P01", PX_YDB_REFUSED,
         false},
        {"08006", "Status: INTERNAL_ERROR\nIssues:\n<main>: Error: x\n", "XX000",
         PX_YDB_UNDETERMINED, true},
        {"57014", "Status: CANCELLED\nIssues:\n<main>: Error: x\n", "57014", PX_YDB_UNDETERMINED,
         false},
        /* it was cancelled, whatever is told of it */
        {"57014", "canceling statement due to user request", "57014", PX_YDB_UNDETERMINED, false},
        {"57014", "Status: GENERIC_ERROR\nIssues:\n<main>: Error: x\n", "57014",
         PX_YDB_UNDETERMINED, false},
        {"XX000", "no database", "XX000", PX_YDB_REFUSED, true},
        {"4200", "Status: GENERIC_ERROR\nIssues:\n<main>: Error: x\n", "42000", PX_YDB_REFUSED,
         false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        reading got = read_error(table[i].sqlstate, pgw_slice_str(table[i].text));
        assert_string_equal(got.error.sqlstate, table[i].is);
        assert_int_equal(got.fate, table[i].fate);
        assert_int_equal(got.drops, table[i].drops);
    }
}

static void texts_may_have_any_form(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sqlstate, *message, *detail;
    } table[] = {
        {"", "XX000", "", ""},
        {"Database not found", "XX000", "Database not found", ""},
        {"a portal is not there\nsecond line", "XX000", "a portal is not there", ""},
        {"syntax error: x", "42601", "syntax error: x", ""},
        {"a syntax error", "42601", "a syntax error", ""},
        {"Status: ", "XX000", "Status: ", ""},
        {"Status:ABORTED", "XX000", "Status:ABORTED", ""},
        {"x Status: ABORTED", "XX000", "x Status: ABORTED", ""},
        {"Status: ABORTED", "40001", "Status: ABORTED", "Status: ABORTED"},
        {"Status: ABORTED\nError: ", "40001", "Status: ABORTED", "Status: ABORTED\nError: "},
        {"Status: ABORTED\nError: first\nError: second", "40001", "first",
         "Status: ABORTED\nError: first\nError: second"},
        {"Status: ABORTED\nError: a, code: b, code: 1", "40001", "a",
         "Status: ABORTED\nError: a, code: b, code: 1"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        reading got = read_error(NULL, pgw_slice_str(table[i].text));
        assert_string_equal(got.error.sqlstate, table[i].sqlstate);
        assert_string_equal(got.error.message, table[i].message);
        assert_string_equal(got.error.detail, table[i].detail);
    }
}

static void bodies_without_a_text_are_errors_too(void **state)
{
    (void)state;
    static const pgw_slice bodies[] = {{NULL, 0}, {"", 1}, {"M", 1}, {"Mx", 2}, {"C57014", 7}};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        reading got;
        got.fate = px_ydb_status_read(bodies[i], &got.error, &got.drops);
        assert_string_equal(got.error.sqlstate, i < 4 ? "XX000" : "57014");
        assert_int_equal(got.fate, i < 4 ? PX_YDB_REFUSED : PX_YDB_UNDETERMINED);
    }
}

static void long_texts_are_cut(void **state)
{
    (void)state;
    pgw_buf text = {0};
    pgw_buf_add_str(&text, "Status: GENERIC_ERROR\nIssues:\n<main>: Error: ");
    while (text.len < 100000)
        pgw_buf_add_str(&text, "\xc3\xa4");
    reading got = read_error(NULL, pgw_slice_buf(&text));
    assert_string_equal(got.error.sqlstate, "42000");
    assert_in_range(strlen(got.error.message), 500, sizeof got.error.message - 1);
    assert_in_range(strlen(got.error.detail), 500, sizeof got.error.detail - 1);
    assert_int_equal(strlen(got.error.message) % 2, 0);
    pgw_buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_fate),
        cmocka_unit_test(issues_say_why_it_was_refused),
        cmocka_unit_test(a_sqlstate_is_given_in_four_cases),
        cmocka_unit_test(texts_may_have_any_form),
        cmocka_unit_test(bodies_without_a_text_are_errors_too),
        cmocka_unit_test(long_texts_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
