"""Tables of every form, tables that change under keyspread, and its own verbs."""
import unittest

import harness
import wire
from harness import EVENTS

TS = "2026-01-02 03:04:05+00"


class TableCase(harness.StackCase):
    def good(self, replies, *tags):
        self.assertIsNone(wire.error_of(replies), replies)
        self.assertEqual(wire.tags_of(replies), list(tags))

    def parameters(self, session, sql, *values):
        return session.ask(wire.parse("", sql), wire.describe("S", ""), wire.bind("", "", values),
                           wire.execute(), wire.sync())


@harness.proxied
class Forms(TableCase):
    SCHEMA = harness.Table("other.things", ["k text not null", "v text"], ["k"])
    PAIR = harness.Table("pair", ["a int not null", "b text not null", "c date not null", "v text"],
                         ["a", "b", "c"], hash_key=["b", "a"], hash_column="h", hash_first=False)
    LAST = harness.Table("wide", ["x text", "k uuid not null", "dropped int", "y text"], ["k"],
                         hash_first=False, hash_column="h")
    tables = (SCHEMA, PAIR, LAST)
    before_sql = "create schema other"
    setup_sql = ('alter table wide drop column dropped;'
                 'create table things (k text, v text);'
                 'create table other.pair (a int, b text);'
                 'create table "Mixed ""Case""" ("Hash Of User" bigint not null,'
                 ' "User Id" bigint not null, "select" text,'
                 ' primary key ("Hash Of User", "User Id"));'
                 'create table large (h numeric(20,0) not null, k bigint not null, primary key (h, k))')

    @classmethod
    def start_keyspread(cls):
        config = harness.backend_config(cls.postgres, cls.tables)
        config["tables"].append({
            "name": '"Mixed ""Case"""', "primary_key": ["User Id"], "hash_column": "Hash Of User",
            "hash_function": "xxh3", "partitions": {"uniform": 4}})
        config["tables"].append({
            "name": "large", "primary_key": ["k"], "hash_column": "h", "hash_type": "uint64",
            "hash_function": "xxh3", "partitions": {"uniform": 4}})
        cls.keyspread = harness.Keyspread(config)
        cls.addClassCleanup(cls.keyspread.stop)

    def test_names_that_must_be_quoted(self):
        session = self.wire()
        self.good(session.query('insert into "Mixed ""Case""" ("User Id", "select") '
                                "values (5, 'x')"), "INSERT 0 1")
        self.good(session.query('insert into public."Mixed ""Case""" values (6, null)'),
                  "INSERT 0 1")
        self.good(self.parameters(session, 'insert into "Mixed ""Case""" values ($1, $2)', 7, "y"),
                  "INSERT 0 1")
        with self.postgres.admin(self.database) as admin:
            rows = admin.rows('select "Hash Of User", "User Id" from "Mixed ""Case""" order by 2')
            admin.rows('truncate "Mixed ""Case"""')
        self.assertEqual(rows, [[str(harness.xxh3_signed(n)), str(n)] for n in (5, 6, 7)])

    def test_an_unsigned_hash(self):
        session = self.wire()
        numbers = range(1, 17)  # about half have the top bit set
        for number in numbers:
            if number % 2:
                self.good(session.query(f"insert into large (k) values ({number})"), "INSERT 0 1")
            else:
                self.good(self.parameters(session, "insert into large (k) values ($1)", number),
                          "INSERT 0 1")
        with self.postgres.admin(self.database) as admin:
            rows = admin.rows("select h, k from large order by 2")
        self.assertEqual(rows, [[str(harness.xxh3_signed(n) % 2**64), str(n)] for n in numbers])

    def test_a_schema_in_the_file(self):
        """Only the written name is ours; the table of that name in public is another."""
        session = self.wire()
        self.good(session.query("insert into other.things values ('a', 'x')"), "INSERT 0 1")
        self.good(session.query("insert into things values ('a', 'x')"), "INSERT 0 1")
        self.good(session.query("insert into other.pair values (1, 'x')"), "INSERT 0 1")
        self.check_stored(self.SCHEMA, count=1)

    def test_a_search_path(self):
        """Names are what it makes of them."""
        session = self.wire()
        session.query("set search_path = other, public")
        self.good(session.query("insert into pair values (1, 'x')"), "INSERT 0 1")
        self.good(session.query("insert into public.pair values (1, 'x', '2026-01-01', 'y')"),
                  "INSERT 0 1")
        self.good(session.query("insert into things (k, v) values ('b', 'x')"), "INSERT 0 1")
        self.good(session.query("insert into other.things values ('c', 'x')"), "INSERT 0 1")
        self.check_stored(self.PAIR, count=1)
        self.check_stored(self.SCHEMA, count=2)

    def test_a_hash_of_several_columns(self):
        session = self.wire()
        self.good(session.query("insert into pair values (1, 'x', '2026-01-01', 'v'), "
                                "(2, 'ä', '2026-01-01', null)"), "INSERT 0 2")
        self.good(session.query("insert into pair (c, b, a) values ('2026-01-02', 'x', 1)"),
                  "INSERT 0 1")
        self.good(self.parameters(session, "insert into pair (v, a, c, b) values ($1, $2, $3, $4)",
                                  "v", 3, "2026-01-01", "z"), "INSERT 0 1")
        self.check_stored(self.PAIR, count=4)

    def test_a_dropped_column_and_no_list(self):
        session = self.wire()
        key = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1{}"
        self.good(session.query(f"insert into wide values ('x', '{key.format(1)}', 'y')"),
                  "INSERT 0 1")
        self.good(session.query(f"insert into wide values ('x', '{key.format(2).upper()}')"),
                  "INSERT 0 1")
        self.good(self.parameters(session, "insert into wide values ($1, $2, $3)", "x",
                                  key.format(3), "y"), "INSERT 0 1")
        self.assertEqual(self.stored(self.LAST, "x, y"), [["x", "y"], ["x", None], ["x", "y"]])
        with self.postgres.admin(self.database) as admin:
            rows = admin.rows("select h, replace(k::text, '-', '') from wide")
        for stored, value in rows:
            self.assertEqual(int(stored) % 2**64, harness.xxh3(bytes.fromhex(value)))


@harness.proxied
class Returning(TableCase):
    """The hash column is not seen, whatever is asked of the row: replies are as from a table that has
    none."""

    setup_sql = "create table plain (userid bigint, ts timestamptz, event text)"
    WHOLE = ("*", "e.*", "e", "e AS x, ts e", "to_jsonb(e), row_to_json(e.*)", "e::text, e.*::text",
             "CAST(e AS text) || 'x'", "e IS NULL, e IS NOT NULL, NOT e IS NULL", "(e).*, (e).ts",
             "(e)", "ROW(e.*), (1, e.*)", "ARRAY[e]", "e = e, e IS DISTINCT FROM e",
             "CASE WHEN e.event IS NULL THEN e END e", "(SELECT count(*) FROM plain e)",
             "coalesce(e, e)", "json_build_object('row', e, 'ts', e.ts)", "pg_typeof(e.ts), e.event e",
             "array_to_json(ARRAY[e, e])", "length(e::text)")

    def replies(self, session, table, what, extended):
        sql = f"insert into {table} as e (userid, ts, event) values (7, '{TS}', 'a \"b') returning "
        if not extended:
            return session.query(sql + what)
        return session.ask(wire.parse("", sql.replace("7", "$1") + what), wire.describe("S", ""),
                           wire.bind("", "", [7]), wire.execute(), wire.sync())

    def test_whole_rows(self):
        session = self.wire()
        for what in self.WHOLE:
            for extended in (False, True):
                with self.subTest(what, extended=extended):
                    self.setUp()
                    ours = self.replies(session, "events", what, extended)
                    plain = self.replies(session, "plain", what, extended)
                    self.assertIsNone(wire.error_of(plain), plain)
                    self.assertEqual(wire.kinds(ours), wire.kinds(plain), ours)
                    for one, other in zip(ours, plain):
                        if one.kind == "D":
                            self.assertEqual(one.row(), other.row())
                        elif one.kind == "T":
                            self.assertEqual([column[0] for column in one.columns()],
                                             [column[0] for column in other.columns()])
                    self.check_stored(count=1)


@harness.proxied
class Changes(TableCase):
    """DDL through keyspread and past it."""

    LATER = harness.Table("later", ["k int not null", "v text"], ["k"])
    tables = (EVENTS,)

    def setUp(self):
        super().setUp()
        with self.postgres.admin(self.database) as admin:
            admin.rows("drop table if exists events cascade; drop table if exists later cascade;"
                       + EVENTS.ddl())
        if self.keyspread:
            self.keyspread.stop()
        self.start_keyspread()

    @classmethod
    def start_keyspread(cls):
        cls.keyspread = harness.Keyspread(harness.backend_config(
            cls.postgres, (EVENTS, cls.LATER)))
        cls.addClassCleanup(cls.keyspread.stop)

    def past(self, sql):
        with self.postgres.admin(self.database) as admin:
            admin.rows(sql)

    def test_a_column_is_added(self):
        for alter in (lambda sql: self.wire().query(sql), self.past):
            for extended in (False, True):
                with self.subTest(past=alter == self.past, extended=extended):
                    self.setUp()
                    session = self.wire()
                    self.good(session.query(f"insert into events values (1, '{TS}', 'x')"),
                              "INSERT 0 1")
                    alter("alter table events add column more text")
                    insert = "insert into events (userid, ts, more) values ({}, '%s', 'm')" % TS
                    if extended:
                        self.good(self.parameters(session, insert.format("$1"), 2), "INSERT 0 1")
                    else:
                        self.good(session.query(insert.format(2)), "INSERT 0 1")
                    self.check_stored(count=2)

    def test_a_column_is_dropped_before_others(self):
        """A list made of a stale catalog gives an error or the right row, never shifted data."""
        for alter in (lambda sql: self.wire().query(sql), self.past):
            with self.subTest(past=alter == self.past):
                self.setUp()
                session = self.wire()
                session.query("alter table events add column a text, add column b text")
                self.good(session.query(f"insert into events values (1, '{TS}', 'x', 'a', 'b')"),
                          "INSERT 0 1")
                alter("alter table events drop column a")
                replies = session.query(f"insert into events values (2, '{TS}', 'x', 'b')")
                self.good(replies, "INSERT 0 1")
                self.assertEqual(self.stored(columns="event, b"), [["x", "b"], ["x", "b"]])

    def test_a_column_is_dropped_before_others_of_a_prepared_statement(self):
        """What was refused because of an old picture of the table is repeated; the client sees the
        row stored where it belongs, and no error."""
        def named(session, number):
            return session.ask(wire.bind("", "s", [number, TS, "x", "b"]), wire.execute(),
                               wire.sync())

        def unnamed(session, number, text="insert into events values ($1, $2, $3, $4)"):
            return session.ask(wire.parse("", text), wire.bind("", "", [number, TS, "x", "b"]),
                               wire.describe("P", ""), wire.execute(), wire.sync())

        def never_seen(session, number):
            return unnamed(session, number, f"insert into events /* {number} */ values "
                                            "($1, $2, $3, $4)")

        def several(session, number):
            more = (wire.bind("", "s", [number + 100, TS, "x", "b"]), wire.execute())
            return session.ask(wire.bind("", "s", [number, TS, "x", "b"]), wire.execute(), *more,
                               wire.sync())

        for run, kinds in ((named, "2CZ"), (unnamed, "12nCZ"), (never_seen, "12nCZ"),
                           (several, "2C2CZ")):
            with self.subTest(run.__name__):
                self.setUp()
                self.past("alter table events add column a text, add column b text")
                session = self.wire()
                session.ask(wire.parse("s", "insert into events values ($1, $2, $3, $4)"),
                            wire.sync())
                self.assertEqual(wire.kinds(run(session, 1)), kinds)
                self.assertIn(["b", None], self.stored(columns="a, b"))
                self.past("alter table events drop column a")
                replies = run(session, 2)
                self.assertEqual(wire.kinds(replies), kinds, replies)
                self.assertIn(["b"], self.stored(columns="b"))
                self.check_stored(count=kinds.count("C") * 2)
                self.assertEqual(wire.kinds(run(session, 3)), kinds)

    def test_a_column_that_is_gone_is_told_once(self):
        session = self.wire()
        self.past("alter table events add column a text")
        text = "insert into events (userid, ts, a) values ($1, $2, $3)"
        self.good(self.parameters(session, text, 1, TS, "a"), "INSERT 0 1")
        self.past("alter table events drop column a")
        for _ in range(2):
            replies = self.parameters(session, text, 2, TS, "a")
            self.assertEqual((wire.kinds(replies), wire.error_of(replies)), ("EZ", "42703"))
        self.check_stored(count=1)

    def test_a_prepared_statement_survives_a_new_column(self):
        session = self.wire()
        text = "insert into events (userid, ts, event) values ($1, $2, $3) returning *"
        for name, sql in (("i", text.replace(" returning *", "")), ("r", text)):
            session.ask(wire.parse(name, sql), wire.sync())
        self.past("alter table events add column more text")
        for number in range(3):
            self.good(session.ask(wire.bind("", "i", [number, TS, "x"]), wire.execute(),
                                  wire.sync()), "INSERT 0 1")
        self.check_stored(count=3)

    def until_stored(self, send):
        """What may leave rows out is prepared again a moment later."""
        harness.eventually("it is no longer the statement of the rule", lambda: wire.tags_of(send()) != ["INSERT 0 0"])

    def test_a_rule_that_was_there_for_a_moment(self):
        """What PostgreSQL prepared to do nothing does nothing for ever: nobody else's rows get lost by it."""
        conflict = " on conflict (userid, ts) do "
        for tail in ("", conflict + "update set event = 'y'", conflict + "nothing", " on conflict do nothing",
                     conflict + "update set event = 'y' where events.event <> 'x'"):
            self.past("truncate events")
            self.lose_no_row("insert into events values ($1, $2, $3)" + tail,
                             "insert into events values ({}, '%s', 'x')" % TS + tail,
                             at_once="nothing" not in tail and "where" not in tail)

    def lose_no_row(self, bound, text, at_once):
        def send(number):
            return lambda: self.parameters(self.wire(), bound, number, TS, "x")
        self.good(send(1)(), "INSERT 0 1")
        self.good(self.wire().query(text.format(2)), "INSERT 0 1")
        self.past("create rule nothing as on insert to events do instead nothing")
        for _ in range(2):
            self.good(send(3)(), "INSERT 0 0")
            self.good(self.wire().query(text.format(3)), "INSERT 0 0")
        self.past("drop rule nothing on events")
        session = self.wire()
        for row in send(4), lambda: session.query(text.format(5)):
            if at_once:
                self.good(row(), "INSERT 0 1")
            else:
                self.until_stored(row)
        self.check_stored(count=4)

    def test_the_type_of_the_key_changes(self):
        """No row may be stored with the hash of the old type."""
        table = harness.Table("events", ["userid int not null", "ts timestamptz not null",
                                         "event text"], ["userid", "ts"], hash_column="userhash")
        session = self.wire()
        self.good(session.query(f"insert into events values (1, '{TS}', 'x')"), "INSERT 0 1")
        self.wire().query("drop table events; " + table.ddl().replace(
            "userid int not null", "userid text not null"))
        self.good(session.query(f"insert into events values ('5', '{TS}', 'x')"), "INSERT 0 1")
        self.good(session.query(f"insert into events values (6, '{TS}', 'x')"), "INSERT 0 1")
        self.check_stored(count=2)

    def test_a_configured_table_is_made_later(self):
        session = self.wire()
        self.assertEqual(wire.error_of(session.query("insert into later values (1, 'x')")), "42P01")
        session.query(self.LATER.ddl())
        self.good(session.query("insert into later values (1, 'x')"), "INSERT 0 1")
        self.check_stored(self.LATER, count=1)

    def test_a_table_without_its_hash_column(self):
        self.past("create table later (k int primary key, v text)")
        session = self.wire()
        error = session.query("insert into later values (1, 'x')")
        self.assertEqual(wire.error_of(error), "55000", error)
        self.good(session.query(f"insert into events values (1, '{TS}', 'x')"), "INSERT 0 1")

    def test_rows_with_wrong_hashes(self):
        """At the first contact some rows are verified: another rule wrote them."""
        self.past(self.LATER.ddl() + "insert into later select n, n from generate_series(1, 200) n")
        session = self.wire()
        replies = session.query("insert into later values (1, 'x')")
        self.assertEqual(wire.error_of(replies), "55000", replies)
        self.assertIn("H", next(m for m in replies if m.kind == "E").fields())

    def test_truncate_drop_and_create_in_a_transaction(self):
        session = self.wire()
        for statement in ("begin", "drop table events", EVENTS.ddl(),
                          f"insert into events values (1, '{TS}', 'x')", "commit"):
            self.assertIsNone(wire.error_of(session.query(statement)), statement)
        self.check_stored(count=1)


@harness.proxied
class Verbs(TableCase):
    """UPSERT and REPLACE, which PostgreSQL does not know."""

    COUNTS = harness.Table("counts", ["a int not null", "b int not null",
                                      "v text default 'nothing'", "w text default 'void'"],
                           ["a", "b"])
    KEYS = harness.Table("keys", ["k text not null"], ["k"])
    SERIAL = harness.Table("draws", ["k int not null", "id bigserial", "v text"], ["k", "id"])
    tables = (COUNTS, KEYS, SERIAL)

    def test_upsert(self):
        session = self.wire()
        for extended in (False, True):
            run = (lambda sql: self.parameters(session, sql)) if extended else session.query
            self.good(run("upsert into counts (a, b, v, w) values (1, 1, 'x', 'y')"), "INSERT 0 1")
            self.good(run("upsert into counts (a, b, v) values (1, 1, 'z'), (1, 2, 'z')"),
                      "INSERT 0 2")
            self.assertEqual(self.stored(self.COUNTS, "a, b, v, w"),
                             [["1", "1", "z", "y"], ["1", "2", "z", "void"]])
            self.setUp()

    def test_replace(self):
        session = self.wire()
        self.good(session.query("REPLACE INTO counts (a, b, v, w) values (1, 1, 'x', 'y')"),
                  "INSERT 0 1")
        self.good(session.query("replace into counts (a, b, v) values (1, 1, 'z')"), "INSERT 0 1")
        self.good(self.parameters(session, "replace into counts (a, b, w) values ($1, $2, $3)",
                                  1, 2, "p"), "INSERT 0 1")
        self.assertEqual(self.stored(self.COUNTS, "a, b, v, w"),
                         [["1", "1", "z", "void"], ["1", "2", "nothing", "p"]])
        self.check_stored(self.COUNTS, count=2)

    def test_keys_alone(self):
        session = self.wire()
        for _ in range(2):
            self.good(session.query("upsert into keys values ('a'), ('b')"), "INSERT 0 2")
        self.check_stored(self.KEYS, count=2)

    def test_a_key_twice(self):
        session = self.wire()
        self.good(session.query("upsert into counts (a, b, v) values (1, 1, 'x'), (1, 1, 'y')"),
                  "INSERT 0 2")
        self.assertEqual(self.stored(self.COUNTS, "v"), [["y"]])

    TWICE = "upsert into counts (a, b, v) values ($1, $2, $3), ($4, $5, $6), ($7, $8, $9)"

    def twice(self, session, *values, inside=False, sql=TWICE):
        if inside:
            session.query("begin")
        self.good(self.parameters(session, sql, *values), "INSERT 0 3")
        if inside:
            session.query("commit")

    def test_a_key_twice_in_parameters(self):
        for inside in (False, True):
            with self.subTest(inside=inside):
                session, mark = self.wire(), self.postgres.mark()
                self.twice(session, 1, 1, "x", "1", 2, "y", 1, 1, "z", inside=inside)
                if not inside:
                    self.assertIn("execute ks_", self.postgres.log(mark), "on a batch link")
                self.twice(session, 2, 1, "x", 2, 1, "y", 2, 1, "z", inside=inside)
                self.twice(session, 3, 1, "x", 3, 2, "y", 3, 3, "z", inside=inside)
                self.twice(session, 1, 1, "n", 9, inside=inside,
                           sql="replace into counts (b, a, w) values (4, $1, 'q'), (4, $2, $3), "
                               "($4, 4, 'r')")
                self.assertEqual(self.stored(self.COUNTS, "a, b, v, w"), [
                    ["1", "1", "z", "void"], ["1", "2", "y", "void"],
                    ["1", "4", "nothing", "n"], ["2", "1", "z", "void"],
                    ["3", "1", "x", "void"], ["3", "2", "y", "void"], ["3", "3", "z", "void"],
                    ["4", "9", "nothing", "r"]])
                self.check_stored(self.COUNTS, count=8)
                self.setUp()

    def test_a_key_twice_in_one_of_several(self):
        """Statements of one group, of which some make a key twice and some do not."""
        for inside in (False, True):
            with self.subTest(inside=inside):
                session = self.wire()
                run = []
                for values in ([1, 1, "x", 1, 1, "y", 1, 2, "z"], [2, 1, "x", 2, 2, "y", 2, 3, "z"],
                               [1, 1, "p", 3, 1, "q", 3, 1, "r"]):
                    run += [wire.bind("", "s", values), wire.execute()]
                if inside:
                    session.query("begin")
                replies = session.ask(wire.parse("s", self.TWICE), *run, wire.sync())
                self.good(replies, *["INSERT 0 3"] * 3)
                self.assertEqual(wire.kinds(replies), "1" + "2C" * 3 + "Z")
                if inside:
                    session.query("commit")
                self.assertEqual(self.stored(self.COUNTS, "a, b, v"), [
                    ["1", "1", "p"], ["1", "2", "z"], ["2", "1", "x"], ["2", "2", "y"],
                    ["2", "3", "z"], ["3", "1", "r"]])
                self.setUp()

    def test_a_key_twice_with_a_parameter_of_unclear_type(self):
        """What only the backend can tell is asked for, though no key is made of it."""
        sql = "upsert into counts (a, b, v) values ($1, 1, $2 || 'ä'), ($3, 1, $4 || 'ö') returning v"
        session = self.wire()
        replies = session.ask(wire.parse("", sql), wire.bind("", "", [1, "x", 1, "y"]),
                              wire.describe("P", ""), wire.execute(), wire.sync())
        self.good(replies, "INSERT 0 2")
        self.assertEqual([message.row() for message in replies if message.kind == "D"],
                         [["yö".encode()]])

    def test_an_error_beside_a_key_twice(self):
        session = self.wire()
        replies = self.parameters(session, self.TWICE, 1, 1, "x", 1, 1, "y\0", 1, 2, "z")
        self.assertEqual(wire.error_of(replies), "22021", replies)
        self.twice(session, 1, 1, "x", 1, 1, "y", 1, 2, "z")

    def test_an_insert_with_a_key_twice(self):
        """PostgreSQL's own ON CONFLICT is what it is."""
        session = self.wire()
        sql = ("insert into counts (a, b) values ($1, 1), ($2, 1) "
               "on conflict (a, b) do update set v = 'x'")
        self.assertEqual(wire.error_of(self.parameters(session, sql, 1, 1)), "21000")

    def test_a_key_column_is_missing(self):
        session = self.wire()
        self.assertEqual(wire.error_of(session.query("upsert into counts (a, v) values (1, 'x')")),
                         "0A000")

    def test_other_tables(self):
        self.assertEqual(wire.error_of(self.wire().query("upsert into pg_class values (1)")),
                         "42601")

    def test_many_clients(self):
        def client(number):
            session = self.wire()
            for row in range(20):
                self.good(session.query(
                    f"upsert into counts (a, b, v) values ({row % 5}, 1, '{number}')"),
                    "INSERT 0 1")
        harness.in_threads(8, client)
        self.check_stored(self.COUNTS, count=5)

    def test_a_sequence_in_the_key(self):
        session = self.wire()
        self.good(session.query("insert into draws (k, v) values (1, 'x'), (2, 'y')"),
                  "INSERT 0 2")
        self.assertEqual(session.rows("insert into draws (k) values (3) returning id"), [["3"]])
        self.check_stored(self.SERIAL, count=3)


if __name__ == "__main__":
    unittest.main()
