/* A client's text as the statements that are run one by one. */
#include "ydb/endpoint/cutter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const words[] = {
    [PGW_COMMAND_READ] = "read",         [PGW_COMMAND_WRITE] = "write",
    [PGW_COMMAND_ALONE] = "alone",       [PGW_COMMAND_BEGIN] = "begin",
    [PGW_COMMAND_START] = "start",       [PGW_COMMAND_COMMIT] = "commit",
    [PGW_COMMAND_ROLLBACK] = "rollback", [PGW_COMMAND_SAVEPOINT] = "savepoint",
    [PGW_COMMAND_RELEASE] = "release",   [PGW_COMMAND_ROLLBACK_TO] = "rollback to",
    [PGW_COMMAND_SESSION] = "session",   [PGW_COMMAND_PREPARE] = "prepare",
    [PGW_COMMAND_EXECUTE] = "execute",   [PGW_COMMAND_DEALLOCATE] = "deallocate",
    [PGW_COMMAND_DECLARE] = "declare",   [PGW_COMMAND_FETCH] = "fetch",
    [PGW_COMMAND_MOVE] = "move",         [PGW_COMMAND_CLOSE] = "close",
    [PGW_COMMAND_DISCARD] = "discard",   [PGW_COMMAND_EMPTY] = "empty",
};

/* "command: text | …", or "!SQLSTATE message". */
static void cut(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_script script;
    pgw_error error;
    bool fine = px_ydb_cut(NULL, text, &arena, &script, &error);
    for (size_t i = 0; fine && i < script.count; i++) {
        const pgw_piece *piece = &script.pieces[i];
        pgw_buf_addf(out, "%s%s%s: %.*s", i > 0 ? " | " : "", words[piece->command],
                     piece->chain ? " chain" : "", (int)piece->text.len, piece->text.ptr);
        assert_true(pgw_command_has_order(piece->command) == (piece->order != NULL));
    }
    if (!fine)
        pgw_buf_addf(out, "!%s %s", error.sqlstate, error.message);
    pgw_arena_free(&arena);
}

static void check(const char *text, const char *pieces)
{
    pgw_buf got = {0};
    cut(pgw_slice_str(text), &got);
    pgw_buf_add_byte(&got, '\0');
    assert_string_equal(got.ptr, pieces);
    pgw_buf_free(&got);
}

static void texts_are_cut(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"", ""},
        {" ;; /* ; */ -- x\n;", ""},
        {"select 1", "read: select 1"},
        {" select 1 ; ; /* a */ insert into t values (';') ; ",
         "read: select 1 | write: insert into t values (';')"},
        {"update t set a = 1; delete from t", "write: update t set a = 1 | write: delete from t"},
        {"create table t (a int)", "alone: create table t (a int)"},
        {"create table t (a int); drop table u; select 1",
         "alone: create table t (a int) | alone: drop table u | read: select 1"},
        {"begin; select 1; commit", "begin: BEGIN | read: select 1 | commit: COMMIT"},
        {"START transaction; end", "start: BEGIN | commit: COMMIT"},
        {"begin work; abort; rollback and chain",
         "begin: BEGIN | rollback: ROLLBACK | rollback chain: ROLLBACK"},
        {"savepoint a; rollback to a; release a",
         "savepoint: savepoint a | rollback to: rollback to a | release: release a"},
        {"set a.b = 1; show a.b; reset a.b",
         "session: set a.b = 1 | session: show a.b | session: reset a.b"},
        {"select set_config('a.b', 'c', false)", "session: select set_config('a.b', 'c', false)"},
        {"prepare p as select 1; execute p; deallocate p; discard all",
         "prepare: prepare p as select 1 | execute: execute p | deallocate: deallocate p | "
         "discard: discard all"},
        {"declare c cursor for select 1; fetch c; move c; close c",
         "declare: declare c cursor for select 1 | fetch: fetch c | move: move c | close: close c"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check(table[i][0], table[i][1]);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const char mixed[] =
        "!0A000 a text that changes tables and rows cannot be one transaction on YDB";
    static const char *const table[][2] = {
        {"prepare transaction 'a'", "!0A000 YDB has no prepared transactions"},
        {"select 1; commit prepared 'a'", "!0A000 YDB has no prepared transactions"},
        {"create table t (a int); insert into t values (1)", mixed},
        {"insert into t values (1); drop table t", mixed},
        {"begin; create table t (a int)", mixed},
        {"drop table t; commit", mixed},
        {"select 1; selec 2", "!42601 syntax error at or near \"selec\""},
        {"selec 1; create table t (a int)", "!42601 syntax error at or near \"selec\""},
        {"select 1; insert into t values (", "!42601 syntax error at end of input"},
        {"select 1; insert into t values ('a' 'b'", "!42601 syntax error at or near \"'b'\""},
        {"insert into t values (E'\\x80'); select 1",
         "!22021 invalid byte sequence for encoding \"UTF8\": 0x80"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check(table[i][0], table[i][1]);
}

static void statements_are_bounded(void **state)
{
    (void)state;
    enum { MOST = 100000 };
    pgw_buf text = {0}, got = {0};
    for (size_t i = 0; i < MOST; i++)
        pgw_buf_add_str(&text, "end;");
    cut(pgw_slice_buf(&text), &got);
    assert_int_equal(got.len, MOST * strlen("commit: COMMIT | ") - strlen(" | "));
    pgw_buf_add_str(&text, "end");
    pgw_buf_clear(&got);
    cut(pgw_slice_buf(&text), &got);
    assert_true(
        pgw_slice_eq_str(pgw_slice_buf(&got), "!54000 a text of more than 100000 statements"));
    pgw_buf_free(&text);
    pgw_buf_free(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_cut),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(statements_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
