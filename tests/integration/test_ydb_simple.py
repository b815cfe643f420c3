#!/usr/bin/env python3
"""The fake of YDB's endpoint: texts of several statements, transactions, tags, conflicts."""
import unittest

import wire
from ydb import EndpointCase, failure, outline


class Simple(EndpointCase):
    """1.5 and 1.6"""

    def setUp(self):
        super().setUp()
        self.stored("create table t (a bigint primary key, b text)")
        self.link = self.session()

    def says(self, sql):
        return outline(self.link.query(sql))

    def test_no_implicit_transaction_and_no_stop_at_an_error(self):
        """Each piece autocommits on its own, and an error does not stop the later pieces."""
        self.assertEqual(
            self.says("insert into t values (1); insert into t values (1); "
                      "insert into t values (2)"),
            ["INSERT", "Status: PRECONDITION_FAILED", "INSERT", "I"])
        self.assertEqual(self.stored("select a from t order by a"), [["1"], ["2"]])

    def test_tags_have_no_numbers_but_for_select(self):
        """1.6: "INSERT", "UPDATE", "DELETE", "CREATE TABLE"; "SELECT n"."""
        self.assertEqual(self.says("insert into t values (1, 'a'), (2, 'b')"), ["INSERT", "I"])
        self.assertEqual(self.says("update t set b = 'c'"), ["UPDATE", "I"])
        self.assertEqual(self.says("select a from t"), ["T", "D", "D", "SELECT 2", "I"])
        self.assertEqual(self.says("delete from t"), ["DELETE", "I"])
        self.assertEqual(self.says("select a from t"), ["T", "SELECT 0", "I"])
        self.assertEqual(self.says("create table u (a int primary key)"), ["CREATE TABLE", "I"])
        self.assertEqual(self.says("drop table u"), ["DROP TABLE", "I"])

    def test_columns_have_no_tables(self):
        """1.4.8: table oid 0, column attr 0."""
        columns = self.link.query("select a, b from t")[0].columns()
        self.assertEqual([column[:3] for column in columns], [("a", 0, 0), ("b", 0, 0)])
        self.assertEqual([column[3] for column in columns], [20, 25])

    def test_transaction(self):
        self.assertEqual(self.says("BEGIN"), ["BEGIN", "T"])
        self.assertEqual(self.says("insert into t values (1)"), ["INSERT", "T"])
        self.assertEqual(self.stored("select a from t"), [])
        self.assertEqual(self.says("commit"), ["COMMIT", "I"])
        self.assertEqual(self.stored("select a from t"), [["1"]])
        self.assertEqual(self.says("begin; delete from t; rollback"),
                         ["BEGIN", "DELETE", "ROLLBACK", "I"])
        self.assertEqual(self.says("begin transaction; insert into t values (2); end"),
                         ["BEGIN", "INSERT", "COMMIT", "I"])
        self.assertEqual(self.stored("select a from t order by a"), [["1"], ["2"]])

    def test_words_are_recognised_by_the_beginning(self):
        """Leading blanks or comments defeat it: no transaction begins."""
        self.assertEqual(self.says(" begin"), ["BEGIN", "I"])
        self.assertEqual(self.says("/* now */ begin"), ["BEGIN", "I"])
        self.assertEqual(self.says("\n\nbegin"), ["BEGIN", "T"])
        self.assertEqual(self.says("ROLLBACKWARDS"), ["ROLLBACK", "I"])

    def test_start_transaction_starts_none(self):
        self.assertEqual(self.says("start transaction"), ["START TRANSACTION", "I"])
        self.says("insert into t values (1)")
        self.assertEqual(self.says("rollback"), ["N:There is no transaction in progress",
                                                 "ROLLBACK", "I"])
        self.assertEqual(self.stored("select a from t"), [["1"]])

    def test_savepoints_are_no_ops_and_rollback_to_is_rollback(self):
        self.assertEqual(self.says("begin; insert into t values (1); savepoint s"),
                         ["BEGIN", "INSERT", "SAVEPOINT", "T"])
        self.assertEqual(self.says("release s"), ["RELEASE", "T"])
        self.assertEqual(self.says("rollback to s"), ["ROLLBACK", "I"])
        self.assertEqual(self.stored("select a from t"), [])

    def test_options_of_begin_are_ignored(self):
        self.assertEqual(self.says("begin isolation level read committed"), ["BEGIN", "T"])
        self.assertEqual(self.link.rows("show transaction_isolation"), [["serializable"]])

    def test_failed_transaction(self):
        """In 'E' every statement gets an error without a status; COMMIT answers COMMIT."""
        self.assertEqual(self.says("begin; insert into t values (1)")[-1], "T")
        self.assertEqual(self.says("select nothing"), ["Status: GENERIC_ERROR", "E"])
        for sql in ("select 1", "begin", "savepoint s"):
            reply = self.link.query(sql)
            self.assertEqual(reply[0].fields(), {
                "E": "ERROR", "M": "Current transaction is aborted, commands ignored until end of "
                                   "transaction block"})
            self.assertEqual(outline(reply)[-1], "E")
        self.assertEqual(self.says("commit"), ["COMMIT", "I"])
        self.assertEqual(self.stored("select a from t"), [])

    def test_failed_autocommit_leaves_idle(self):
        self.assertEqual(self.says("select nothing"), ["Status: GENERIC_ERROR", "I"])

    def test_warnings(self):
        """BEGIN inside T and COMMIT/ROLLBACK in I give NoticeResponse warnings."""
        self.says("begin")
        self.assertEqual(self.says("begin"), ["N:There is already a transaction in progress",
                                              "BEGIN", "T"])
        self.says("commit")
        self.assertEqual(self.says("commit"), ["N:There is no transaction in progress", "COMMIT",
                                               "I"])

    def test_ddl_in_a_transaction_is_outside_of_it(self):
        self.says("begin; insert into t values (1)")
        self.assertEqual(self.says("create table u (a int primary key)"), ["CREATE TABLE", "T"])
        self.says("rollback")
        self.assertEqual(self.link.rows("select count(*) from u"), [["0"]])
        self.assertEqual(self.link.rows("select count(*) from t"), [["0"]])

    def test_ddl_that_is_not_recognised_fails_in_a_transaction(self):
        """By the prefix, too: with a blank in front it is sent with the transaction."""
        self.says("begin")
        self.assertEqual(self.says(" create table u (a int primary key)"),
                         ["Status: PRECONDITION_FAILED", "E"])

    def test_ddl_may_end_the_transaction(self):
        """What the status is after it: uncertain."""
        link = self.session(self.start(ddl_in_transaction="ends"))
        link.query("begin")
        self.assertEqual(outline(link.query("create table u (a int primary key)")),
                         ["CREATE TABLE", "I"])

    def test_empty_queries(self):
        self.assertEqual(self.says("  "), ["I", "I"])
        self.assertEqual(self.says(""), ["I", "I"])
        self.assertEqual(self.says(";"), ["OK", "I"])
        self.assertEqual(self.says("-- nothing"), ["OK", "I"])

    def test_an_empty_query_may_stay_unanswered(self):
        """Read in the code, observed by nobody: uncertain."""
        link = self.session(self.start(empty_query="silent"))
        link.send(wire.query(""))
        self.assertEqual(outline(link.query("select 1")), ["T", "D", "SELECT 1", "I"])

    def test_lines_that_begin_with_colon_or_backslash_are_special(self):
        self.assertEqual(self.says("select 1\n::int"), ["T", "D", "SELECT 1", "I"])
        self.assertEqual(self.says("\\timing\nselect 1"),
                         ["Status: GENERIC_ERROR", "T", "D", "SELECT 1", "I"])

    def test_dollar_quotes_need_a_blank_in_front(self):
        self.assertEqual(self.link.rows("select $a$;$a$"), [[";"]])
        self.assertNotEqual(self.says("select concat($a$;$a$)")[0], "T")

    def test_copy_is_refused_and_its_data_is_skipped(self):
        """`FROM STDIN;` is followed by data until \\. ; COPY is "not implemented", no CopyIn."""
        self.assertIn("not implemented", failure(self.link.query("copy t from stdin")))
        self.assertEqual(self.says("copy t from stdin;\n1\t;\n\\.\nselect 1"),
                         ["Status: GENERIC_ERROR", "T", "D", "SELECT 1", "I"])


class Conflicts(EndpointCase):
    """1.5: always serializable; conflicts are ABORTED at COMMIT or statement end."""

    def conflict(self, link):
        """What the second of two writers of the same row is told, from its UPDATE on."""
        self.stored("create table t (a bigint primary key, b bigint)")
        self.stored("insert into t values (1, 0)")
        other = self.session()
        link.query("begin")
        link.rows("select b from t where a = 1")
        self.assertEqual(outline(other.query("update t set b = b + 1 where a = 1")),
                         ["UPDATE", "I"])
        return (outline(link.query("update t set b = b + 10 where a = 1")),
                outline(link.query("commit")))

    def test_at_the_statement(self):
        link = self.session()
        self.assertEqual(self.conflict(link), (["Status: ABORTED", "E"], ["COMMIT", "I"]))
        self.assertEqual(self.stored("select b from t"), [["1"]])

    def test_at_commit(self):
        """The failed COMMIT leaves 'E', as every failure in a transaction does."""
        link = self.session(self.start(conflicts="commit"))
        self.assertEqual(self.conflict(link), (["UPDATE", "T"], ["Status: ABORTED", "E"]))
        self.assertEqual(outline(link.query("rollback")), ["ROLLBACK", "I"])
        self.assertEqual(self.stored("select b from t"), [["1"]])

    def test_write_skew_is_a_conflict(self):
        """Serializable, not only snapshot: one of two that read what the other writes."""
        self.stored("create table t (a bigint primary key, b bigint)")
        self.stored("insert into t values (1, 0), (2, 0)")
        one, two = self.session(), self.session()
        for link, read, write in ((one, 1, 2), (two, 2, 1)):
            link.query("begin")
            link.rows(f"select b from t where a = {read}")
            link.query(f"update t set b = 1 where a = {write}")
        replies = outline(one.query("commit")) + outline(two.query("commit"))
        self.assertIn("Status: ABORTED", replies)

    def test_text(self):
        link = self.session()
        self.conflict(link)
        link.query("begin")
        link.rows("select b from t where a = 1")
        self.session().query("update t set b = 5 where a = 1")
        self.assertEqual(failure(link.query("update t set b = 6 where a = 1")),
                         "Status: ABORTED\nIssues:\n<main>: Error: Transaction locks invalidated."
                         ", code: 2001\n")


if __name__ == "__main__":
    unittest.main()
