#!/usr/bin/env python3
"""The fake of YDB's endpoint does what is known of YDB's, the quirks included.

Each test cites the fact it is about by the section of the notes on the endpoint that the fake is
written from: 1.1 startup, 1.2 sizes, 1.3 messages, 1.4 extended protocol, 1.5 simple protocol,
1.6 tags, 1.7 errors, 2 SQL.
"""
import base64
import struct
import subprocess
import time
import unittest
import urllib.error

import wire
from harness import USER, eventually, in_threads
from ydb import DATABASE, EndpointCase, failure, outline

NODE = 0x55aa55aa


class Startup(EndpointCase):
    """1.1"""

    def greeting(self, endpoint=None, database=DATABASE, **parameters):
        link = self.raw(endpoint)
        link.send(wire.startup(USER, database, **parameters))
        return link.read_ready()

    def refused(self, *sent, endpoint=None):
        """What is said before the connection closes."""
        link = self.raw(endpoint)
        link.send(*sent)
        return link.read_to_end()

    def test_ssl_is_declined_and_the_startup_follows(self):
        """SSLRequest -> 'N' without a certificate, then a new startup packet."""
        link = self.raw()
        link.send(struct.pack("!II", 8, 80877103))
        self.assertEqual(link.socket.recv(1), b"N")
        link.login(USER, DATABASE)
        self.assertEqual(link.rows("select 1"), [["1"]])

    def test_gss_is_not_answered(self):
        """GSSENCRequest: the connection is closed without any reply."""
        self.assertEqual(self.refused(struct.pack("!II", 8, 80877104)), [])

    def test_other_protocols_are_not_answered(self):
        """Any protocol number other than 3.0 is closed, no NegotiateProtocolVersion."""
        for version in (0x30002, 0x30001, 0x20000, 0x40000):
            packet = struct.pack("!I", version) + b"user\0app\0database\0/local\0\0"
            self.assertEqual(self.refused(struct.pack("!I", len(packet) + 4) + packet), [])

    def test_order_of_the_greeting(self):
        """After AuthOk: BackendKeyData, then ParameterStatus, then ReadyForQuery."""
        kinds = "".join(message.kind for message in self.greeting())
        self.assertRegex(kinds, "^RKS+Z$")

    def test_parameters(self):
        """The list, with those missing that PostgreSQL sends."""
        link = self.session()
        self.assertEqual(link.parameters, {
            "client_encoding": "UTF8", "server_encoding": "UTF8", "DateStyle": "ISO",
            "IntervalStyle": "postgres", "integer_datetimes": "on",
            "server_version": "14.5 (ydb stable-23-4)"})

    def test_options_are_echoed(self):
        """`-c name=value` of `options` comes back as ParameterStatus, and has no effect."""
        link = self.session(options="-c geqo=off -c DateStyle=German")
        self.assertEqual(link.parameters["geqo"], "off")
        self.assertEqual(link.parameters["DateStyle"], "German")
        self.assertEqual(link.rows("select date '2026-01-02'"), [["2026-01-02"]])

    def test_database_is_canonicalised(self):
        """"local" is "/local"."""
        self.assertEqual(self.greeting(database="local")[0].kind, "R")

    def test_database_is_required(self):
        """Database "/postgres", and none, are refused: BAD_REQUEST."""
        for database in ("/postgres", "postgres", "app"):
            reply = self.greeting(database=database)
            self.assertEqual([message.kind for message in reply], ["E"])
            self.assertIn("BAD_REQUEST", reply[0].fields()["M"])
        packet = struct.pack("!I", 196608) + b"user\0app\0\0"
        reply = self.refused(struct.pack("!I", len(packet) + 4) + packet)
        self.assertIn("BAD_REQUEST", reply[0].fields()["M"])

    def test_password_in_clear(self):
        """First without; then AuthenticationCleartextPassword, and no other way."""
        endpoint = self.start(user=USER, password="geheim")
        link = self.raw(endpoint)
        link.send(wire.startup(USER, DATABASE))
        self.assertEqual(link.read().body, struct.pack("!I", 3))
        link.send(wire.password("geheim"))
        self.assertRegex("".join(message.kind for message in link.read_ready()), "^RKS+Z$")

    def test_api_key(self):
        """User __ydb_apikey: the password is a key."""
        endpoint = self.start(user=USER, password="geheim")
        link = self.raw(endpoint)
        link.send(wire.startup("__ydb_apikey", DATABASE))
        link.read()
        link.send(wire.password("geheim"))
        self.assertEqual(link.read_ready()[-1].kind, "Z")

    def test_wrong_password(self):
        """FATAL without a code, R=auth_failed; closed."""
        endpoint = self.start(user=USER, password="geheim")
        reply = self.refused(wire.startup(USER, DATABASE), wire.password("falsch"),
                             endpoint=endpoint)
        self.assertEqual([message.kind for message in reply], ["R", "E"])
        fields = reply[1].fields()
        self.assertEqual({name: fields.get(name) for name in "SVRC"},
                         {"S": "FATAL", "V": "FATAL", "R": "auth_failed", "C": None})

    def test_tls(self):
        """'S' if the listener has a certificate."""
        folder = self.postgres.folder
        key, certificate = f"{folder}/tls.key", f"{folder}/tls.crt"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key,
                        "-out", certificate, "-subj", "/CN=localhost", "-days", "2"],
                       check=True, capture_output=True)
        endpoint = self.start(certificate=certificate, key=key)
        answer = subprocess.run(
            ["psql", "-XAtc", "select 'through ' || 'tls'",
             f"host=127.0.0.1 port={endpoint.port} user=app dbname=/local sslmode=require"],
            capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(answer.stdout.strip(), "through tls")

    def test_key_data(self):
        """pid = node id ^ 0x55aa55aa, key = connection number ^ 0x55aa55aa."""
        endpoint = self.start(node=7)
        links = [self.session(endpoint) for _ in range(2)]
        self.assertEqual([(link.pid ^ NODE, link.key ^ NODE) for link in links], [(7, 1), (7, 2)])

    def test_cancel(self):
        """The cancelled statement gets S, V, C=57014, M; nobody checks who cancels."""
        link = self.session()
        link.send(wire.query("select pg_sleep(60)"))
        eventually("the statement runs", lambda: self.stored(
            "select 1 from pg_stat_activity where state = 'active' and query like '%pg_sleep(60)%'"
            " and pid <> pg_backend_pid()"))
        self.assertEqual(self.refused(wire.cancel_request(0, link.key)), [])
        reply = link.read_ready()
        self.assertEqual(reply[0].fields(), {
            "S": "ERROR", "V": "ERROR", "C": "57014",
            "M": "Cancelling statement due to user request"})
        self.assertEqual(link.rows("select 1"), [["1"]])

    def test_cancel_takes_the_transaction_along(self):
        """… unseen: the client learns of it from the next statement."""
        link = self.session()
        link.query("begin")
        link.send(wire.query("select pg_sleep(61)"))
        eventually("the statement runs", lambda: self.stored(
            "select 1 from pg_stat_activity where state = 'active' and query like '%pg_sleep(61)%'"
            " and pid <> pg_backend_pid()"))
        self.refused(wire.cancel_request(link.pid, link.key))
        self.assertEqual(outline(link.read_ready()),
                         ["Cancelling statement due to user request", "T"])
        self.assertEqual(outline(link.query("select 1")), ["Status: NOT_FOUND", "E"])
        self.assertEqual(outline(link.query("rollback")), ["ROLLBACK", "I"])
        self.assertEqual(link.rows("select 1"), [["1"]])

    def test_idle_links_are_closed(self):
        """Inactivity: closed without a word."""
        endpoint = self.start(idle_ms=100)
        self.assertEqual(self.session(endpoint).read_to_end(), [])


class Messages(EndpointCase):
    """1.2 and 1.3"""

    def test_two_mebibytes(self):
        """What fits 2 MiB is served; more closes the connection with no error."""
        link = self.session()
        room = 2 * 1024 * 1024 - 6 - len("select length('')")
        self.assertEqual(link.rows("select length('%s')" % ("x" * room)), [[str(room)]])
        link.send(wire.query("select length('%s')" % ("x" * (room + 1))))
        self.assertEqual(link.read_to_end(), [])

    def test_pipelined_messages_may_be_more(self):
        """Only what is not yet whole counts."""
        link = self.session()
        text = wire.query("select length('%s')" % ("x" * 1_000_000))
        link.send(text * 5)
        self.assertEqual([message.row() for message in link.read_ready(5) if message.kind == "D"],
                         [[b"1000000"]] * 5)

    def test_unknown_messages_close(self):
        """CopyData, CopyDone, CopyFail, FunctionCall, anything else: closed, no error sent."""
        for message in (wire.copy_data("x"), wire.copy_done(), wire.copy_fail("x"),
                        wire.function_call(1, []), wire.frame("y"), wire.password("late")):
            link = self.session()
            link.send(message)
            self.assertEqual(link.read_to_end(), [], message)

    def test_flush_is_accepted(self):
        link = self.session()
        self.assertEqual(outline(link.ask(wire.flush(), wire.sync())), ["I"])

    def test_terminate(self):
        link = self.session()
        link.send(wire.terminate())
        self.assertEqual(link.read_to_end(), [])


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
            self.says("insert into t values (1); insert into t values (1); insert into t values (2)"),
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


class Extended(EndpointCase):
    """1.3 and 1.4"""

    def setUp(self):
        super().setUp()
        self.stored("create table t (a bigint primary key, b text)")
        self.stored("insert into t values (1, 'x')")
        self.link = self.session()

    def ask(self, *messages):
        return self.link.ask(*messages, wire.sync())

    def test_the_whole_way(self):
        """S: ParameterDescription, then RowDescription; P: RowDescription."""
        reply = self.ask(wire.parse("s", "select b from t where a = $1"), wire.describe("S", "s"),
                         wire.bind("p", "s", [1]), wire.describe("P", "p"), wire.execute("p"),
                         wire.close("P", "p"), wire.close("S", "s"))
        self.assertEqual(outline(reply), ["1", "t", "T", "2", "T", "D", "SELECT 1", "3", "3", "I"])
        self.assertEqual(reply[5].row(), [b"x"])

    def test_no_parameters_are_not_described(self):
        """ParameterDescription only if >0 params; NoData where there are no rows."""
        self.assertEqual(outline(self.ask(wire.parse("", "select 1"), wire.describe("S", ""))),
                         ["1", "T", "I"])
        self.assertEqual(outline(self.ask(wire.parse("", "delete from t where a = $1"),
                                          wire.describe("S", ""))), ["1", "t", "n", "I"])

    def test_types_of_parse_are_ignored(self):
        """Parameter types are unknown (705), whatever Parse says."""
        reply = self.ask(wire.parse("", "select b from t where a = $1", [23]),
                         wire.describe("S", ""))
        self.assertEqual(reply[1].body, struct.pack("!HI", 1, 705))
        link = self.session(self.start(parameters="inferred"))
        reply = link.ask(wire.parse("", "select b from t where a = $1"), wire.describe("S", ""),
                         wire.sync())
        self.assertEqual(reply[1].body, struct.pack("!HI", 1, 20))

    def test_replies_need_no_sync(self):
        """Responses are flushed as produced; ReadyForQuery only on Sync."""
        self.link.send(wire.parse("", "select 1"))
        self.assertEqual(self.link.read().kind, "1")

    def test_no_skip_until_sync(self):
        """Each of what follows a failed Parse has its own error."""
        reply = self.ask(wire.parse("s", "selec"), wire.bind("p", "s"), wire.describe("P", "p"),
                         wire.execute("p"))
        self.assertEqual(outline(reply), [
            "Status: GENERIC_ERROR", 'Parsed statement "s" not found', 'Portal "p" not found',
            'Portal "p" not found', "I"])
        self.assertEqual([sorted(message.fields()) for message in reply[1:4]], [["E", "M"]] * 3)

    def test_an_older_statement_stays(self):
        """After a failed Parse, Bind and Execute run the previous query."""
        self.ask(wire.parse("", "select 'old'"))
        reply = self.ask(wire.parse("", "selec"), wire.bind("", ""), wire.execute())
        self.assertEqual(outline(reply), ["Status: GENERIC_ERROR", "2", "D", "SELECT 1", "I"])
        self.assertEqual(reply[2].row(), [b"old"])

    def test_transaction_words_may_not_be_stored(self):
        """COMMIT when idle: ParseComplete, and Execute runs what was there before."""
        self.ask(wire.parse("", "select 'old'"))
        reply = self.ask(wire.parse("", "commit"), wire.bind("", ""), wire.execute())
        self.assertEqual(outline(reply), ["1", "2", "D", "SELECT 1", "I"])
        reply = self.ask(wire.parse("", "begin"), wire.bind("", ""), wire.execute())
        self.assertEqual(outline(reply), ["1", "2", "BEGIN", "T"])
        reply = self.ask(wire.parse("", "commit"), wire.bind("", ""), wire.execute())
        self.assertEqual(outline(reply), ["1", "2", "COMMIT", "I"])

    def test_parse_of_rollback_ends_a_failed_transaction(self):
        """… and ReadyForQuery does not know it yet."""
        self.link.query("begin")
        self.assertEqual(outline(self.link.query("select nothing"))[-1], "E")
        self.assertEqual(outline(self.ask(wire.parse("", "select 1")))[1], "E")
        self.assertEqual(outline(self.ask(wire.parse("", "rollback"))), ["1", "E"])
        self.assertEqual(outline(self.link.query("select 1"))[-1], "I")

    def test_a_failed_parse_leaves_the_transaction_alone(self):
        self.link.query("begin")
        self.assertEqual(outline(self.ask(wire.parse("", "select nothing"))),
                         ["Status: GENERIC_ERROR", "T"])
        self.assertEqual(outline(self.link.query("select 1"))[-1], "T")

    def test_null_swallows_the_rest(self):
        """A length of -1: all that follows is the value, and the next ones are empty."""
        reply = self.ask(wire.parse("", "select $1::text, $2::text"),
                         wire.bind("", "", [None, "abc"], results=[0]), wire.execute())
        self.assertEqual(outline(reply)[:3], ["1", "2", "Status: BAD_REQUEST"])  # bytes of 0
        reply = self.ask(wire.parse("", "select $1::text is null"),
                         wire.frame("B", b"\0\0" + struct.pack("!HHi", 0, 1, -1)), wire.execute())
        self.assertEqual(reply[2].row(), [b"f"])

    def test_one_format_is_that_of_the_first(self):
        """format[0] applies only to $1, the rest become text: where types are known."""
        link = self.session(self.start(parameters="inferred"))
        reply = link.ask(wire.parse("", "select $1::int4, $2::int4"), wire.bind(
            "", "", [struct.pack("!i", 7), "8"], formats=[1]), wire.execute(), wire.sync())
        self.assertEqual(reply[2].row(), [b"7", b"8"])

    def test_binary_parameters_fail(self):
        """… for an unknown type, as text with a 0 byte."""
        reply = self.ask(wire.parse("", "select $1::int4"), wire.bind(
            "", "", [struct.pack("!i", 7)], formats=[1]), wire.execute())
        self.assertIn('invalid byte sequence for encoding "UTF8": 0x00', failure(reply))

    def test_empty_and_surplus_values(self):
        """Extra Bind values beyond the known parameters are silently dropped."""
        reply = self.ask(wire.parse("", "select $1::text"), wire.bind("", "", ["", "more"]),
                         wire.execute())
        self.assertEqual(outline(reply), ["1", "2", "D", "SELECT 1", "I"])
        self.assertEqual(reply[2].row(), [b""])
        reply = self.ask(wire.parse("", "select $1::text"), wire.bind("", ""), wire.execute())
        self.assertIn("Missing value for parameter", failure(reply))

    def test_result_formats(self):
        """0 codes = text, 1 code = all columns, N codes = each; RowDescription says text."""
        sql, seven = "select 7::int4 as x, 8::int4 as y", struct.pack("!i", 7)
        for formats, row in (((), [b"7", b"8"]), ((1,), [seven, struct.pack("!i", 8)]),
                             ((1, 0), [seven, b"8"])):
            reply = self.ask(wire.parse("", sql), wire.bind("", "", results=formats),
                             wire.describe("P", ""), wire.execute())
            self.assertEqual([column[6] for column in reply[2].columns()], [0, 0])
            self.assertEqual(reply[3].row(), row)

    def test_max_rows_is_ignored(self):
        """Never PortalSuspended."""
        reply = self.ask(wire.parse("", "select generate_series from generate_series(1, 5)"),
                         wire.bind("", ""), wire.execute("", 2))
        self.assertEqual(outline(reply), ["1", "2"] + ["D"] * 5 + ["SELECT 5", "I"])

    def test_execution_goes_on_after_an_error(self):
        """1.4.9"""
        self.ask(wire.parse("s", "insert into t values ($1)"))
        reply = self.ask(wire.bind("", "s", [1]), wire.execute(), wire.bind("", "s", [2]),
                         wire.execute())
        self.assertEqual(outline(reply), ["2", "Status: PRECONDITION_FAILED", "2", "INSERT", "I"])
        self.assertEqual(self.stored("select a from t order by a"), [["1"], ["2"]])

    def test_statements_answered_without_data(self):
        reply = self.ask(wire.parse("", "show transaction_isolation"), wire.describe("S", ""),
                         wire.bind("", ""), wire.execute(),
                         wire.parse("", "set timezone = 'x'"), wire.bind("", ""), wire.execute(),
                         wire.parse("", " "), wire.bind("", ""), wire.execute())
        self.assertEqual(outline(reply), ["1", "T", "2", "D", "SHOW", "1", "2", "SET", "1", "2",
                                          "I", "I"])
        self.assertEqual(reply[3].row(), [b"serializable"])

    def test_portals_keep_their_statement(self):
        """A portal is a copy: Close of its statement does not touch it."""
        reply = self.ask(wire.parse("s", "select 1"), wire.bind("p", "s"), wire.close("S", "s"),
                         wire.execute("p"), wire.describe("S", "s"))
        self.assertEqual(outline(reply), ["1", "2", "3", "D", "SELECT 1",
                                          'Parsed statement "s" not found', "I"])


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


class Errors(EndpointCase):
    """1.7"""

    def setUp(self):
        super().setUp()
        self.stored("create table t (a bigint primary key, b text not null)")
        self.link = self.session()

    def fields(self, sql):
        return next(message for message in self.link.query(sql) if message.kind == "E").fields()

    def test_fields(self):
        """E=ERROR and M; neither S nor V nor, for a duplicate, C."""
        self.link.query("insert into t values (1, 'a')")
        self.assertEqual(self.fields("insert into t values (1, 'b')"), {
            "E": "ERROR", "M": "Status: PRECONDITION_FAILED\nIssues:\n"
                               "<main>: Error: Conflict with existing key., code: 2012\n"})

    def test_duplicate_in_other_words(self):
        """The wording is uncertain; the status and the code are not."""
        link = self.session(self.start(duplicate="constraint"))
        link.query("insert into t values (1, 'a')")
        self.assertEqual(failure(link.query("insert into t values (1, 'a')")),
                         "Status: PRECONDITION_FAILED\nIssues:\n"
                         "<main>: Error: Constraint violated., code: 2012\n")

    def test_duplicate_fails_the_whole_statement(self):
        self.link.query("insert into t values (1, 'a')")
        self.fields("insert into t values (2, 'b'), (1, 'c')")
        self.assertEqual(self.stored("select a from t"), [["1"]])

    def test_missing_table_has_a_code(self):
        fields = self.fields("select * from nowhere")
        self.assertEqual(fields["C"], "42P01")
        self.assertIn("Error: Cannot find table 'nowhere'", fields["M"])

    def test_statuses(self):
        for sql, status in (("selec 1", "GENERIC_ERROR"), ("select x from t", "GENERIC_ERROR"),
                            ("select 1 / 0", "PRECONDITION_FAILED"),
                            ("select 'x'::int8", "PRECONDITION_FAILED"),
                            ("insert into t values (1)", "BAD_REQUEST"),
                            ("create table t (a int primary key)", "SCHEME_ERROR")):
            fields = self.fields(sql)
            self.assertEqual((fields["M"].split("\n")[:2], fields.get("C")),
                             ([f"Status: {status}", "Issues:"], None), sql)


class Sql(EndpointCase):
    """2"""

    def setUp(self):
        super().setUp()
        self.stored("create table t (a bigint primary key, b text)")
        self.link = self.session()

    def refusal(self, sql):
        return failure(self.link.query(sql)) or "taken"

    def check_refused(self, cases):
        for sql, text in cases.items():
            self.assertIn(text, self.refusal(sql), sql)

    def check_taken(self, *cases):
        for sql in cases:
            self.assertEqual(self.refusal(sql), "taken", sql)

    def test_no_yql(self):
        """UPSERT, REPLACE: syntax errors; --!syntax_pg is harmless, others either way."""
        self.check_refused({"upsert into t (a) values (1)": "syntax error",
                            "replace into t (a) values (1)": "syntax error"})
        self.check_taken("--!syntax_pg\nselect 1", "--!syntax_v1\nselect 1")
        strict = self.session(self.start(syntax_hint="refused"))
        self.assertIn("Explicit syntax version is not allowed",
                      failure(strict.query("--!syntax_v1\nselect 1")))
        self.assertIsNone(failure(strict.query("--!syntax_pg\nselect 1")))

    def test_insert(self):
        self.check_taken("insert into t values (1)", "insert into t (b, a) values ('x', 2), (null, 3)",
                         "insert into t select 4, 'y'")
        self.check_refused({
            "insert into t values (1) on conflict do nothing":
                "InsertStmt: not supported onConflictClause",
            "insert into t values (1) on conflict (a) do update set b = 'x'":
                "InsertStmt: not supported onConflictClause",
            "with x as (select 9) insert into t select * from x":
                "InsertStmt: not supported withClause",
            "insert into t as u values (1)": "alias is not supported",
            "insert into t values (default)": "not implemented"})

    def test_returning(self):
        """Plain column refs only."""
        self.assertEqual(self.link.rows("insert into t values (1, 'x') returning b, a"),
                         [["x", "1"]])
        self.assertEqual(self.link.rows("insert into t values (2, 'y') returning *"), [["2", "y"]])
        self.assertEqual(self.link.rows("update t set b = 'z' where a = 1 returning b"), [["z"]])
        self.assertEqual(self.link.rows("delete from t where a = 1 returning a"), [["1"]])
        self.check_refused({"insert into t values (3) returning a + 1": "not implemented",
                            "delete from t returning upper(b)": "not implemented"})

    def test_update_and_delete(self):
        self.check_taken("update t set b = 'x' where a = 1", "delete from t where a = 1",
                         "update t set b = u.b from t u where t.a = u.a",
                         "with x as (select 1 as a) update t set b = 'x' from x where t.a = x.a")
        self.check_refused({"update t as u set b = 'x'": "alias is not supported",
                            "delete from t as u": "alias is not supported",
                            "delete from t using t u where t.a = u.a": "using is not supported",
                            "with x as (select 1) delete from t": "with is not supported",
                            "update t set (a, b) = (1, 'x')": "not implemented"})

    def test_select(self):
        self.check_taken(
            "select a, count(*) from t group by a having count(*) > 0 order by a desc limit 1",
            "select * from t x join t y on x.a = y.a", "select * from t left join t z using (a)",
            "select case when a > 1 then 'x' else 'y' end, coalesce(b, 'z'), a::text from t",
            "with x as (select 1 as a) select * from x union all select 2",
            "select row_number() over (partition by b order by a) from t",
            "select a from t where a in (1, 2) and b like 'x%' or b is null and a between 1 and 2",
            "select a from t where a in (select a from t) and exists (select 1)",
            "select distinct b from t", "select distinct on (b) a from t",
            "select * from (select 1) x", "select array[1, 2], current_date", "values (1), (2)",
            "select * from generate_series(1, 3) g", "select relname from pg_catalog.pg_class limit 1")
        self.check_refused({
            "select a into u from t": "not supported intoClause",
            "select greatest(1, 2)": "not implemented",
            "select (1, 2)": "not implemented",
            "select a is distinct from 1 from t": "A_Expr_Kind unsupported value",
            "select b collate \"C\" from t": "not implemented",
            "select (array[1])[1]": "not implemented",
            "select * from t natural join t u": "unsupported isNatural",
            "select * from t, lateral (select 1) x": "unsupported lateral",
            "select * from t tablesample system (1)": "not implemented",
            "select string_agg(b, ',' order by b) from t": "unsupported agg_order",
            "select count(*) filter (where a > 1) from t": "unsupported agg_filter",
            "with x as (delete from t returning a) select * from x": "Expected Select statement",
            "select * from t order by a fetch first row with ties": "LimitOption unsupported value",
            "select localtimestamp": "SQLValueFunction",
            "select public.now()": "expected pg_catalog"})

    def test_for_update_either_way(self):
        """Uncertain."""
        self.check_taken("select * from t for update")
        strict = self.session(self.start(for_update="refused"))
        self.assertIn("lockingClause", failure(strict.query("select * from t for update")))

    def test_hash_functions_either_way(self):
        """Callable by name: uncertain."""
        self.check_taken("select hashint8extended(1, 0), hashtextextended('x', 0)")
        strict = self.session(self.start(hash_functions="unknown"))
        self.assertIn("No such proc", failure(strict.query("select hashint8extended(1, 0)")))
        self.assertIsNone(failure(strict.query("select md5('x')")))

    def test_what_is_not_there_at_all(self):
        for sql in ("truncate t", "explain select 1", "prepare p as select 1", "execute p",
                    "deallocate p", "listen x", "lock t", "create schema s", "copy t to stdout",
                    "create function f() returns int as 'select 1' language sql", "vacuum t",
                    "create table u as select 1", "create view v as select 1", "do 'begin end'",
                    "declare c cursor for select 1", "fetch c", "close c", "discard all",
                    "grant select on t to public", "merge into t using t u on true when matched "
                    "then delete", "call f()", "comment on table t is 'x'", "analyze t",
                    "create type x as enum ('a')", "alter table t add column c int",
                    "alter table t drop column b", "alter table t rename to u",
                    "create rule r as on insert to t do nothing", "reindex table t", "checkpoint"):
            self.assertIn("not implemented", self.refusal(sql), sql)

    def test_set(self):
        for name in ("extra_float_digits", "application_name", "statement_timeout", "lock_timeout",
                     "idle_in_transaction_session_timeout", "client_encoding",
                     "standard_conforming_strings", "check_function_bodies", "xmloption",
                     "client_min_messages", "row_security", "escape_string_warning", "bytea_output",
                     "datestyle", "timezone", "DateStyle"):
            self.assertEqual(outline(self.link.query(f"set {name} = '0'")), ["SET", "I"], name)
        self.assertEqual(self.link.rows("select date '2026-01-02'"), [["2026-01-02"]])
        self.check_refused({
            "set default_transaction_isolation = 'serializable'":
                "VariableSetStmt, not supported name: default_transaction_isolation",
            "set session characteristics as transaction isolation level serializable":
                "VariableSetStmt, not supported kind",
            "reset all": "VariableSetStmt, not supported kind",
            "set timezone to default": "VariableSetStmt, not supported kind",
            "set search_path = 'elsewhere'": "search path supports only",
            "set search_path = 'public', 'pg_catalog'": "expected 1 unique scheme"})

    def test_show(self):
        self.assertEqual(outline(self.link.query("show transaction_isolation")),
                         ["T", "D", "SHOW", "I"])
        self.assertEqual(
            [self.link.rows(f"show {name}") for name in
             ("server_version_num", "standard_conforming_strings", "search_path",
              "default_transaction_read_only", "transaction_isolation")],
            [[["140005"]], [["on"]], [["public"]], [["off"]], [["serializable"]]])
        self.link.query("set search_path = 'pg_catalog'")
        self.assertEqual(self.link.rows("show search_path"), [["pg_catalog"]])
        self.check_refused({"show timezone": "unrecognized configuration parameter",
                            "show all": "unrecognized configuration parameter"})

    def test_create_table(self):
        self.check_taken(
            "create table u (a int8, b text not null default 'x', c int unique, primary key (a, b))",
            "create table if not exists u (a int primary key)",
            "create table v (a bigserial primary key, b varchar(20))",
            "create temp table w (a int primary key)", "create index i on u (c) include (b)",
            "alter table u alter column b drop default",
            "create sequence s", "alter table u alter column c set default nextval('s')",
            "drop index i", "drop table if exists u, nowhere", "drop table v")
        self.check_refused({
            "create table x (a int)": "Primary key is required",
            "create table x (a int primary key) with (fillfactor = 50)":
                "table options not supported",
            "create table x (a int primary key) partition by hash (a)":
                "PARTITION BY clause not supported",
            "create table x (a int primary key) inherits (t)": "table inheritance not supported",
            "create table x (a int primary key) using heap": "USING not supported",
            "create table x (a int primary key) tablespace y": "TABLESPACE not supported",
            "create unlogged table x (a int primary key)": "UNLOGGED tables not supported",
            "create table x (a int primary key check (a > 0))": "column constraint not supported",
            "create table x (a int primary key references t)": "column constraint not supported",
            "create table x (a int primary key, check (a > 0))": "constraint not supported",
            "create table x (a int primary key, like t)": "not implemented",
            "create unique index i on t (b)": "unique index creation is not supported yet",
            "create index i on t (b) where a > 1": "partial index is not supported yet",
            "create index i on t (lower(b))": "index expression is not supported yet",
            "drop table t cascade": "CASCADE is not implemented",
            "drop schema public": "Not supported object type for DROP"})

    def test_typmods_either_way(self):
        """varchar(20): not stored in CREATE (effect uncertain)."""
        long = "insert into k values (1, 'abcdef', 1.25)"
        create = "create table k (a int8 primary key, b varchar(3), c numeric(9, 1))"
        self.check_taken(create)
        self.assertNotEqual(self.refusal(long), "taken")
        self.link.query("drop table k")
        loose = self.session(self.start(typmods="dropped"))
        self.assertIsNone(failure(loose.query(create)))
        self.assertEqual(outline(loose.query(long)), ["INSERT", "I"])
        self.assertEqual(loose.rows("select b, c from k"), [["abcdef", "1.25"]])

    def test_types_of_keys(self):
        """varchar and uuid keys were not supported; newer may allow uuid (uncertain)."""
        taken = ("bool", '"char"', "int2", "int4", "int8", "float4", "float8", "text", "name",
                 "bpchar", "numeric", "date", "time", "timetz", "timestamp", "timestamptz",
                 "interval", "bytea")
        for number, name in enumerate(taken):
            self.check_taken(f"create table k{number} (a {name} primary key)")
        for name in ("varchar", "uuid", "money", "bit", "inet", "jsonb", "int[]"):
            self.assertIn("wrong key type", self.refusal(f"create table k (a {name} primary key)"))
        newer = self.session(self.start(uuid_keys="allowed"))
        self.assertIsNone(failure(newer.query("create table k (a uuid primary key)")))

    def test_schemas(self):
        """Other schema names are looked up as clusters; three parts are rejected."""
        self.check_taken("select * from public.t", "select * from pg_catalog.pg_class limit 1",
                         "select * from information_schema.tables limit 1",
                         'create table "dir/t" (a int primary key)', 'select * from "dir/t"')
        self.check_refused({"select * from other.t": "Unknown cluster: other",
                            "insert into other.t values (1)": "Unknown cluster: other",
                            "select * from x.public.t": "catalogname is not supported"})


class Faults(EndpointCase):
    """What tests can order to go wrong, and read afterwards."""

    def setUp(self):
        super().setUp()
        self.endpoint.http("DELETE", "/faults")
        self.stored("create table t (a bigint primary key)")
        self.link = self.session()

    def rows(self):
        return [int(row[0]) for row in self.stored("select a from t order by a")]

    def insert(self, number):
        """The first line of the answer; None if the link was dropped."""
        try:
            reply = self.link.query(f"insert into t values ({number})")
        except wire.Closed as closed:
            self.assertEqual(closed.messages, [])
            self.link = self.session()
            return None
        return outline(reply)[0]

    def test_answers(self):
        """Each status, on the n-th statement; two of them drop the connection (1.7)."""
        for status in ("ABORTED", "OVERLOADED", "UNAVAILABLE", "UNDETERMINED", "TIMEOUT",
                       "CANCELLED", "SESSION_EXPIRED", "SESSION_BUSY"):
            self.endpoint.order(status, statement=2)
            self.assertEqual(self.insert(1), "INSERT")
            reply = self.link.query("insert into t values (2)")
            self.assertEqual(outline(reply), [f"Status: {status}", "I"])
            self.assertNotIn("C", reply[0].fields())
            self.assertEqual(self.rows(), [1])
            self.stored("delete from t")
        for status, code in (("BAD_SESSION", "08006"), ("INTERNAL_ERROR", "XX000")):
            self.endpoint.order(status)
            self.link.send(wire.query("select 1"))
            reply = self.link.read_to_end()
            self.assertEqual((outline(reply), reply[0].fields()["C"]), ([f"Status: {status}"], code))
            self.link = self.session()

    def test_how_often(self):
        self.endpoint.order("ABORTED", statement=2, every=3, times=2, begins="insert")
        says = []
        for number in range(10):
            self.link.query("select 1")
            says.append(self.insert(number))
        self.assertEqual([number for number, said in enumerate(says) if said != "INSERT"], [1, 4])
        self.assertEqual(self.endpoint.http("GET", "/faults"),
                         [{"fault": "ABORTED", "seen": 10, "done": 2}])

    def test_an_answer_in_a_transaction_ends_it(self):
        self.link.query("begin; insert into t values (1)")
        self.endpoint.order("ABORTED")
        self.assertEqual(outline(self.link.query("select 1")), ["Status: ABORTED", "E"])
        self.assertEqual(outline(self.link.query("commit")), ["COMMIT", "I"])
        self.link.query("begin; insert into t values (1)")
        self.endpoint.order("ABORTED", begins="commit")
        self.assertEqual(outline(self.link.query("commit")), ["Status: ABORTED", "E"])
        self.link.query("rollback")
        self.assertEqual(self.rows(), [])

    def test_an_answer_after_the_deed(self):
        """UNDETERMINED, though it was done."""
        self.endpoint.order("UNDETERMINED", done=1)
        self.assertEqual(self.insert(1), "Status: UNDETERMINED")
        self.link.query("begin; insert into t values (2)")
        self.endpoint.order("UNDETERMINED", done=1)
        self.assertEqual(outline(self.link.query("commit")), ["Status: UNDETERMINED", "E"])
        self.assertEqual(outline(self.link.query("rollback")), ["ROLLBACK", "I"])
        self.assertEqual(self.rows(), [1, 2])

    def test_dropped_before_the_commit(self):
        self.endpoint.order("drop_before_commit", every=1, times=2)
        self.assertEqual(self.insert(1), None)
        self.link.query("begin; insert into t values (2)")
        self.link.send(wire.query("commit"))
        self.assertEqual(self.link.read_to_end(), [])
        self.assertEqual(self.rows(), [])

    def test_dropped_after_the_commit(self):
        self.endpoint.order("drop_after_commit", every=1, times=2)
        self.assertEqual(self.insert(1), None)
        self.link.query("begin; insert into t values (2)")
        self.link.send(wire.query("commit"))
        self.assertEqual(self.link.read_to_end(), [])
        self.assertEqual(self.rows(), [1, 2])

    def test_committed_late(self):
        """The commit happens a while after the link was dropped; until then the key is taken."""
        self.endpoint.order("commit_late", ms=300)
        self.assertEqual(self.insert(1), None)
        self.assertIn(self.rows(), ([], [1]))  # it may be late itself
        self.assertEqual(self.link.query("insert into t values (1)")[0].kind, "E")
        self.assertEqual(self.rows(), [1])
        self.endpoint.order("commit_late", begins="commit")
        self.link.query("begin; insert into t values (2)")
        self.link.send(wire.query("commit"))
        self.assertEqual(self.link.read_to_end(), [])
        eventually("it is committed", lambda: self.rows() == [1, 2])

    def test_stalls(self):
        """Until a cancel, until the client leaves, or for a while."""
        self.endpoint.order("stall", begins="insert", ms=0)
        self.link.send(wire.query("insert into t values (1)"))
        eventually("it stalls", lambda: self.endpoint.http("GET", "/faults")[0]["done"] == 1)
        with self.endpoint.link() as other:
            other.send(wire.cancel_request(self.link.pid, self.link.key))
            other.read_to_end()
        self.assertEqual(self.link.read_ready()[0].sqlstate, "57014")
        self.endpoint.order("stall", ms=1)
        self.assertEqual(self.insert(2), "INSERT")
        self.assertEqual(self.rows(), [2])

    def test_many_clients(self):
        """What was acknowledged is there, what was refused is not, whatever else happens."""
        for number, fault in enumerate(("ABORTED", "OVERLOADED", "UNAVAILABLE", "BAD_SESSION",
                                        "INTERNAL_ERROR", "drop_before_commit", "drop_after_commit",
                                        "commit_late")):
            self.endpoint.order(fault, statement=number + 5, every=40, ms=10)
        acknowledged, refused = set(), set()

        def work(client):
            link = self.session()
            for number in range(client * 100, client * 100 + 100):
                try:
                    reply = link.query(f"insert into t values ({number})")
                except wire.Closed as closed:
                    reply = closed.messages
                if reply and reply[-1].kind != "Z" or not reply:
                    link = self.session()
                if reply:
                    (refused if failure(reply) else acknowledged).add(number)

        in_threads(16, work)
        eventually("nobody is at work any more", lambda: not self.stored(
            "select 1 from pg_stat_activity where datname = 'app' and state <> 'idle' and "
            "pid <> pg_backend_pid()"))
        rows = set(self.rows())
        self.assertEqual((acknowledged - rows, refused & rows), (set(), set()))
        self.assertTrue(all(order["done"] > 20 for order in self.endpoint.http("GET", "/faults")))
        self.assertGreater(len(acknowledged), 1000)

    def test_latency(self):
        self.endpoint.http("POST", "/latency", us=2000)
        self.addCleanup(self.endpoint.http, "POST", "/latency", us=0)
        begun = time.monotonic()
        for _ in range(10):
            self.link.query("select 1")
        self.assertGreaterEqual(time.monotonic() - begun, 0.02)

    def test_counters(self):
        self.endpoint.http("POST", "/counters")
        self.insert(1)
        self.insert(1)
        self.link.query("begin; insert into t values (2); commit; set timezone = 'x'; select 1")
        self.endpoint.order("drop_after_commit")
        self.insert(3)
        counters = self.endpoint.counters()
        del counters["compiled"]  # depends on what was compiled before
        self.assertEqual(counters, {"statements": 7, "commits": 3, "failures": 1, "severed": 1,
                                    "requests": {"1": 5}})


class Partitions(EndpointCase):
    """3: a table's ranges, what a request touches, and what it costs."""

    def setUp(self):
        super().setUp()
        self.stored("create table t (h bigint, a bigint, b text, primary key (h, a))")
        self.stored("create table u (a bigint primary key, h numeric(20))")
        self.here = self.start(table="t,column=h,position=1,uniform=4")
        self.link = self.session(self.here)

    def touched(self, sql, *values):
        """Requests by the number of partitions that they touched."""
        self.here.http("POST", "/counters")
        if values:
            reply = self.link.ask(wire.parse("", sql), wire.bind("", "", values), wire.execute(),
                                  wire.sync())
        else:
            reply = self.link.query(sql)
        self.assertIsNone(failure(reply))
        return self.here.counters()["requests"]

    def requests(self, table="t"):
        return [one["requests"] for one in self.here.http("GET", "/partitions")[table]]

    def test_inserts(self):
        """4 partitions of equal width from -2^63 on."""
        low, high = -2**63, 2**63 - 1
        for number, values in enumerate((f"'{low}'::int8, 1", "-5000000000000000000, 1",
                                         "-1, 1", "0, 1", f"{high}, 1", "'-1'::int8, 2")):
            self.assertEqual(self.touched(f"insert into t values ({values})"), {"1": 1}, number)
        self.assertEqual(self.requests(), [2, 2, 1, 1])
        self.assertEqual(self.touched("insert into t (b, h, a) values ('x', 1, 3), ('y', -1, 3)"),
                         {"2": 1})
        self.assertEqual(self.touched("insert into t values ($1, $2, 'x')", 2, 4), {"1": 1})
        self.assertEqual(self.touched("insert into t select 5, 5, 'x'"), {"4": 1})
        self.assertEqual(self.requests(), [3, 4, 4, 2])

    def test_lookups(self):
        for where, count in (("h = 1", 1), ("a = 1", 4), ("h = 1 and a = 1", 1), ("true", 4),
                             ("h in (1, 2)", 1), ("h in (1, -1)", 2), ("h = 1 or h = -1", 2),
                             ("h = 1 or a = 1", 4), ("h > 0", 2), ("h <= -1", 2),
                             ("h in (1, 2) and (h = 1 and a = 1 or h = 2 and a = 3)", 1),
                             ("h = 1 + 1", 4), ("h <> 1", 4)):
            for sql in (f"select * from t where {where}", f"delete from t where {where}",
                        f"update t set b = 'x' where {where}"):
                self.assertEqual(self.touched(sql), {str(count): 1}, sql)
        self.assertEqual(self.touched("select * from t where h = $1 and a = $2", 1, 1), {"1": 1})

    def test_other_tables_have_one_partition(self):
        self.assertEqual(self.touched("insert into u values (1)"), {"1": 1})
        self.assertEqual(self.touched("select * from t, u where t.h = 1"), {"5": 1})
        self.assertEqual(self.touched("with x as (select 1 as a) select * from x"), {})
        self.assertEqual(self.touched("select relname from pg_class limit 1"), {})
        self.assertEqual(self.touched("create table v (a int primary key)"), {})

    def test_a_commit_is_a_request_to_all_that_was_written(self):
        self.assertEqual(self.touched("begin; insert into t values (1, 1); insert into t values "
                                      "(-1, 1); select * from t where h = 9; commit"),
                         {"1": 3, "2": 1})
        self.assertEqual(self.touched("begin; delete from t where h = 1; rollback; begin; commit"),
                         {"1": 1})

    def test_unsigned(self):
        here = self.start(table="u,column=h,position=2,unsigned,uniform=2")
        link = self.session(here)
        for number, value in enumerate((0, 2**63 - 1, 2**63, 2**64 - 1)):
            link.query(f"insert into u values ({number}, {value})")
        self.assertEqual([one["requests"] for one in here.http("GET", "/partitions")["u"]], [2, 2])

    def test_native_tables_may_be_read_only(self):
        """INSERT from PG syntax into native-typed columns: uncertain."""
        link = self.session(self.start(table="u,column=h,position=2,unsigned",
                                       native_writes="refused"))
        for sql in ("insert into u values (1, 1)", "update u set h = 1", "delete from u"):
            self.assertIn("Uint64", failure(link.query(sql)))
        self.assertIsNone(failure(link.query("select * from u")))
        self.assertIsNone(failure(link.query("insert into t values (1, 1)")))

    def test_split_and_merge(self):
        self.here.http("POST", "/split", table="t", partition=2, ms=0)
        self.assertEqual(self.requests(), [0] * 5)
        self.touched("insert into t values (1, 1)")
        self.touched("insert into t values (4000000000000000000, 1)")
        self.assertEqual(self.requests(), [0, 0, 1, 1, 0])
        self.here.http("POST", "/merge", table="t", partition=2, ms=0)
        self.touched("insert into t values (1, 2), (4000000000000000000, 2)")
        self.assertEqual(self.requests(), [0, 0, 1, 0])

    def test_partitions_are_away_while_they_split(self):
        for away, status in (("overloaded", "OVERLOADED"), ("unavailable", "UNAVAILABLE")):
            here = self.start(table="t,column=h,position=1,uniform=4", away=away)
            link = self.session(here)
            here.http("POST", "/split", table="t", partition=2, ms=60000)
            self.assertEqual(outline(link.query("insert into t values (1, 1)")),
                             [f"Status: {status}", "I"])
            self.assertEqual(outline(link.query("insert into t values (-1, 1)")), ["INSERT", "I"])
            self.stored("delete from t")

    def test_a_partition_serves_one_request_at_a_time(self):
        """2 ms and 20 µs a row; several partitions: three times as much, of each."""
        here = self.start(table="t,column=h,position=1,uniform=4", request_us=2000, row_us=20)
        links = [self.session(here) for _ in range(4)]

        def seconds(sql):
            begun = time.monotonic()
            in_threads(4, lambda number: [links[number].query(sql.format(i * 4 + number))
                                          for i in range(5)])
            self.stored("delete from t")
            return time.monotonic() - begun

        self.assertGreaterEqual(seconds("insert into t values (1, {})"), 20 * 0.00202)
        self.assertGreaterEqual(seconds("insert into t values (1, {0}), (-1, {0})"),
                                20 * 3 * 0.00204)

    def test_texts_are_compiled_once(self):
        here = self.start(compile_us_per_kb=10)
        link = self.session(here)
        for sql in ("select 1", "select 2", "select 1", "begin", "select 2", "commit"):
            link.query(sql)
        self.assertEqual(here.counters()["compiled"], 2)

    def test_limits(self):
        """1.2: text 10 KB (uncertain); 2: "parameter limit on wide tables"."""
        link = self.session(self.start(max_text=10240))
        self.assertIsNone(failure(link.query("select '%s'" % ("x" * 10000))))
        self.assertIn("size exceeds limit", failure(link.query("select '%s'" % ("x" * 10240))))
        link = self.session(self.start(max_parameters=1000))
        for count, taken in ((1000, True), (1001, False)):
            reply = link.ask(wire.parse("", "select %s" % ", ".join(
                f"${number + 1}::text" for number in range(count))), wire.sync())
            self.assertEqual(failure(reply) is None, taken)


class Describe(EndpointCase):
    """3.1: boundaries, as the viewer's JSON has them."""

    def setUp(self):
        super().setUp()
        self.stored("create table t (a bigint, h bigint, b text, primary key (h, a))")

    def describe(self, path="/local/t", table="t,column=h,position=2,uniform=4", handler="json/",
                 wanted=(), **options):
        here = self.start(table=table, **options)
        return here.http("GET", f"/viewer/{handler}describe", path=path, database="/local",
                         **dict(wanted))

    def test_columns_and_key(self):
        reply = self.describe()
        self.assertEqual((reply["Status"], reply["Path"]), ("StatusSuccess", "/local/t"))
        table = reply["PathDescription"]["Table"]
        self.assertEqual([(one["Name"], one["Type"], one["Id"]) for one in table["Columns"]],
                         [("a", "pgint8", 1), ("h", "pgint8", 2), ("b", "pgtext", 3)])
        self.assertEqual((table["KeyColumnNames"], table["KeyColumnIds"]), (["h", "a"], [2, 1]))
        self.assertNotIn("SplitBoundary", table)  # boundaries are false by default
        self.assertNotIn("TablePartitionStats", reply["PathDescription"])

    def test_boundaries(self):
        """N-1 exclusive ends; in forms of which nobody knows the right one."""
        ends = [-2**62, 0, 2**62]
        forms = {"int64": [{"Int64": str(end)} for end in ends],
                 "text": [{"Text": str(end)} for end in ends],
                 "bytes": [{"Bytes": base64.b64encode(struct.pack("<q", end)).decode()}
                           for end in ends]}
        for form, values in forms.items():
            reply = self.describe(wanted={"boundaries": "true"}, boundary_values=form)
            table = reply["PathDescription"]["Table"]
            self.assertEqual([one["KeyPrefix"]["Tuple"] for one in table["SplitBoundary"]],
                             [[{"Optional": value}] for value in values])
            partitions = reply["PathDescription"]["TablePartitions"]
            self.assertEqual([base64.b64decode(one["EndOfRangeKeyPrefix"]) for one in partitions],
                             [struct.pack("<HIq", 1, 8, end) for end in ends] + [b""])

    def test_unsigned(self):
        """64-bit ints are strings unless ui64=true."""
        self.stored("create table u (h numeric(20) primary key)")
        for wanted, value in (({}, str(2**63)), ({"ui64": "true"}, 2**63)):
            reply = self.describe("/local/u", "u,column=h,position=1,unsigned,uniform=2",
                                  wanted={"boundaries": "true", **wanted})
            table = reply["PathDescription"]["Table"]
            self.assertEqual(table["Columns"][0]["Type"], "Uint64")
            self.assertEqual(table["SplitBoundary"],
                             [{"KeyPrefix": {"Tuple": [{"Optional": {"Uint64": value}}]}}])

    def test_it_follows_splits(self):
        here = self.start(table="t,column=h,position=2,uniform=2")
        ask = {"path": "/local/t", "boundaries": "true", "partition_stats": "true"}
        before = here.http("GET", "/viewer/json/describe", **ask)["PathDescription"]
        here.http("POST", "/split", table="t", partition=1, ms=0)
        after = here.http("GET", "/viewer/json/describe", **ask)["PathDescription"]
        self.assertEqual([len(one["TablePartitionStats"]) for one in (before, after)], [2, 3])
        self.assertEqual([one["KeyPrefix"]["Tuple"][0]["Optional"]["Int64"]
                          for one in after["Table"]["SplitBoundary"]], ["0", str(2**62)])
        tablets = [[one["DatashardId"] for one in reply["TablePartitions"]]
                   for reply in (before, after)]
        self.assertEqual(tablets[0][0], tablets[1][0])
        self.assertNotIn(tablets[0][1], tablets[1])

    def test_either_handler(self):
        """/viewer/json/describe, or newer /viewer/describe: uncertain."""
        self.assertEqual(self.describe(handler="", describe="plain")["Status"], "StatusSuccess")
        for handler, options in (("", {}), ("json/", {"describe": "plain"})):
            with self.assertRaises(urllib.error.HTTPError) as caught:
                self.describe(handler=handler, **options)
            caught.exception.close()

    def test_what_is_not_there(self):
        for path in ("/local/nothing", "/elsewhere/t", "t"):
            self.assertEqual(self.describe(path)["Status"], "StatusPathDoesNotExist")


if __name__ == "__main__":
    unittest.main()
