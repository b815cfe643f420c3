/* What of a startup packet's options makes an identity, and what is a deadline. */
#include "proxy/backend/base/timeouts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *options, *shared;
    uint64_t timeout;
    bool found;
} cases[] = {
    {NULL, "", 0, false},
    {"", "", 0, false},
    {"  \t", "", 0, false},
    {"-c timezone=UTC", "-c timezone=UTC", 0, false},
    {"-c statement_timeout=5", "", 5, true},
    {"-cstatement_timeout=5s -c a=b", "-c a=b", 5000, true},
    {"--statement-timeout=2min", "", 120000, true},
    {"--Statement_Timeout=1h --x=1", "--x=1", 3600000, true},
    {"-c statement_timeout=1.5\\ s", "", 1500, true},
    {"-c statement_timeout=500us", "", 1, true},
    {"-c statement_timeout=1d", "", 86400000, true},
    {"-c statement_timeout=5 -c statement_timeout=0", "", 0, true},
    {"-c statement_timeout=-1", "", 0, true},
    {"-c statement_timeout=soon", "", 0, true},
    {"-c statement_timeout=99999999999", "", 0, true},
    {"-c lock_timeout=1 -c idle_session_timeout=2 --idle-in-transaction-session-timeout=3", "", 0,
     false},
    {"-c lock_timeout_x=1", "-c lock_timeout_x=1", 0, false},
    {"-c my.statement_timeout=1", "-c my.statement_timeout=1", 0, false},
    {"-c a=x\\ -c\\ statement_timeout=7", "-c a=x\\ -c\\ statement_timeout=7", 0, false},
    {"-c a=b\\", "-c a=b\\", 0, false},
    {"-c", "-c", 0, false},
    {"--", "--", 0, false},
    {"-e -B 100 -c lock_timeout=1", "-e -B 100", 0, false},
};

static void test_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf out = {0};
        px_timeouts_cut(cases[i].options, &out);
        pgw_buf_add_byte(&out, '\0');
        assert_string_equal(out.ptr, cases[i].shared);
        pgw_buf_free(&out);
        uint64_t ms = 7;
        bool found = px_timeouts_statement(cases[i].options, &ms);
        assert_int_equal(found ? ms : 0, cases[i].timeout);
        assert_int_equal(found, cases[i].found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
