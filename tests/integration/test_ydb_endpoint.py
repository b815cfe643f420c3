#!/usr/bin/env python3
"""The fake of YDB's endpoint does what is known of YDB's, the quirks included: startup, messages,
errors and the extended protocol.

Each test of the fake cites the fact it is about by the section of the notes on the endpoint that
the fake is written from: 1.1 startup, 1.2 sizes, 1.3 messages, 1.4 extended protocol, 1.5 simple
protocol, 1.6 tags, 1.7 errors, 2 SQL, 3 partitions.
"""
import struct
import subprocess
import unittest

import wire
from harness import USER, eventually
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


if __name__ == "__main__":
    unittest.main()
