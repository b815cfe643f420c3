/* Which texts begin or end a transaction, or are about a savepoint in it, and nothing else. */
#include "rewrite/statement/words/transaction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact.h"

static void assert_all(const char *const *texts, rw_transaction_word word, bool primary)
{
    for (; *texts != NULL; texts++) {
        rw_transaction said = rw_transaction_of(exact(*texts), true);
        if (said.word != word || (word != RW_TRANSACTION_NONE && said.primary != primary))
            fail_msg("%s: %d %d", *texts, said.word, said.primary);
    }
}

static void they_begin(void **state)
{
    (void)state;
    static const char *const begins[] = {
        "begin",
        "BEGIN;",
        "Begin Work ; ;",
        "begin transaction",
        "begin -- now\n",
        "begin /* a /* b */ */ ;",
        "begin read only",
        "begin isolation level read committed",
        "begin isolation level read uncommitted",
        "begin transaction isolation level repeatable read, read only, not deferrable",
        "begin deferrable",
        NULL};
    static const char *const on_primaries[] = {
        "begin read write", "begin isolation level serializable",
        "begin isolation level serializable read only deferrable",
        "begin read write, isolation level read committed", NULL};
    static const char *const starts[] = {"start transaction", "START TRANSACTION READ ONLY;", NULL};
    assert_all(begins, RW_TRANSACTION_BEGIN, false);
    assert_all(on_primaries, RW_TRANSACTION_BEGIN, true);
    assert_all(starts, RW_TRANSACTION_START, false);
}

/* Others are more than READ COMMITTED and READ WRITE. */
static void some_are_ordinary(void **state)
{
    (void)state;
    static const char *const ordinary[] = {
        "begin", "begin read write, isolation level read committed",
        "begin isolation level read uncommitted", "start transaction deferrable", NULL};
    static const char *const others[] = {
        "begin read only", "begin isolation level repeatable read",
        "start transaction read write, isolation level serializable", NULL};
    for (size_t i = 0; ordinary[i] != NULL; i++)
        assert_true(rw_transaction_of(exact(ordinary[i]), true).ordinary);
    for (size_t i = 0; others[i] != NULL; i++)
        assert_false(rw_transaction_of(exact(others[i]), true).ordinary);
}

static void they_end(void **state)
{
    (void)state;
    static const char *const commits[] = {"commit", "COMMIT;",          "commit work",
                                          "end",    "end transaction;", NULL};
    static const char *const rollbacks[] = {"rollback", "Rollback Transaction", "abort",
                                            "abort work;", NULL};
    assert_all(commits, RW_TRANSACTION_COMMIT, false);
    assert_all(rollbacks, RW_TRANSACTION_ROLLBACK, false);
}

static void they_are_about_a_savepoint(void **state)
{
    (void)state;
    static const struct {
        const char *text, *savepoint;
        rw_transaction_word word;
    } all[] = {
        {"savepoint s", "s", RW_TRANSACTION_SAVEPOINT},
        {"SAVEPOINT Sa_Savepoint_1;", "sa_savepoint_1", RW_TRANSACTION_SAVEPOINT},
        {"savepoint \"S a\"", "S a", RW_TRANSACTION_SAVEPOINT},
        {"savepoint \"select\"", "select", RW_TRANSACTION_SAVEPOINT},
        {"savepoint selects", "selects", RW_TRANSACTION_SAVEPOINT},
        {"savepoint a23456789012345678901234567890123456789012345678901234567890123 -- 63",
         "a23456789012345678901234567890123456789012345678901234567890123",
         RW_TRANSACTION_SAVEPOINT},
        {"release s", "s", RW_TRANSACTION_RELEASE},
        {"RELEASE SAVEPOINT \"s140_x1\"", "s140_x1", RW_TRANSACTION_RELEASE},
        {"rollback to s", "s", RW_TRANSACTION_ROLLBACK_TO},
        {"ROLLBACK TO SAVEPOINT active_record_1 ;", "active_record_1", RW_TRANSACTION_ROLLBACK_TO},
        {"rollback work to s", "s", RW_TRANSACTION_ROLLBACK_TO},
        {"rollback transaction to savepoint s", "s", RW_TRANSACTION_ROLLBACK_TO},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        rw_transaction said = rw_transaction_of(exact(all[i].text), true);
        assert_int_equal(said.word, all[i].word);
        assert_string_equal(said.savepoint, all[i].savepoint);
    }
}

static void others_are_none(void **state)
{
    (void)state;
    static const char *const others[] = {"",
                                         ";",
                                         ";begin",
                                         "\"begin\"",
                                         "begins",
                                         "begin; select 1",
                                         "begin; begin",
                                         "begin transaction work",
                                         "begin read",
                                         "begin not",
                                         "begin not read only",
                                         "begin isolation",
                                         "begin isolation level",
                                         "begin isolation level repeatable",
                                         "begin isolation level read",
                                         "begin isolation level read only",
                                         "begin isolation level snapshot",
                                         "begin, read only",
                                         "begin read only,",
                                         "begin read only, ;",
                                         "begin read only,, deferrable",
                                         "begin read only read only",
                                         "begin read only, read write",
                                         "begin deferrable not deferrable",
                                         "begin 'x'",
                                         "begin /* a",
                                         "start",
                                         "start work",
                                         "start replication",
                                         "commit and chain",
                                         "commit and no chain",
                                         "commit prepared 'x'",
                                         "end work work",
                                         "rollback and chain",
                                         "abort; select 1",
                                         "rollback to",
                                         "rollback to a.b",
                                         "abort to s",
                                         "savepoint",
                                         "savepoint a b",
                                         "savepoint 'a'",
                                         "savepoint 1",
                                         "savepoint select",
                                         "savepoint USER",
                                         "savepoint \"\"",
                                         "savepoint \"a\"\"b\"",
                                         "savepoint U&\"a\"",
                                         "savepoint \303\244",
                                         "savepoint a; insert into t values (1)",
                                         "savepoint a234567890123456789012345678901234567890"
                                         "12345678901234567890123x",
                                         "release",
                                         "release savepoint",
                                         "insert into t values (1)",
                                         NULL};
    assert_all(others, RW_TRANSACTION_NONE, false);
}

static void they_have_tags(void **state)
{
    (void)state;
    assert_string_equal(rw_transaction_tag(RW_TRANSACTION_BEGIN), "BEGIN");
    assert_string_equal(rw_transaction_tag(RW_TRANSACTION_START), "START TRANSACTION");
    assert_string_equal(rw_transaction_tag(RW_TRANSACTION_COMMIT), "COMMIT");
    assert_string_equal(rw_transaction_tag(RW_TRANSACTION_ROLLBACK), "ROLLBACK");
    assert_string_equal(rw_transaction_tag(RW_TRANSACTION_SAVEPOINT), "SAVEPOINT");
    assert_string_equal(rw_transaction_tag(RW_TRANSACTION_ROLLBACK_TO), "ROLLBACK");
    assert_string_equal(rw_transaction_tag(RW_TRANSACTION_RELEASE), "RELEASE");
    assert_null(rw_transaction_tag(RW_TRANSACTION_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_begin),     cmocka_unit_test(some_are_ordinary),
        cmocka_unit_test(they_end),       cmocka_unit_test(others_are_none),
        cmocka_unit_test(they_have_tags), cmocka_unit_test(they_are_about_a_savepoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
