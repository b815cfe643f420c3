"""A key's time without its zone means the TimeZone that its session was last told of, also where that of
the server is another by now (ALTER SYSTEM, a prepared constant that is read anew): a row has the hash of
the moment that is stored. So it is with other settings by which constants are read."""
import unittest

import harness
import wire
from harness import Table

NOON = "2026-01-01 12:00"
ZONES = ("<+09>-09", "UTC")  # the server's, one after the other
SETTLED = "insert into moments values ('2020-01-01 00:00:00+00', 'first')"
PARAMETERS = "insert into moments values ($1, $2)"
WORDS = Table("words", ["k text not null", "v text"], ["k"])


@harness.proxied
class ZonesCase(harness.StackCase):
    tables = (Table("moments", ["ts timestamptz not null", "v text"], ["ts"]),
              Table("local", ["ts timestamp not null", "v text"], ["ts"]),
              Table("pairs", ["k bigint not null", "ts timestamptz not null", "v text", "o timestamptz"], ["k", "ts"],
                    hash_key=["k", "ts"]))
    partitioned = False
    last = None  # session
    settings = {"timezone": None}  # as ALTER SYSTEM says

    def setUp(self):
        super().setUp()
        self.reload("UTC")

    def reload(self, zone):
        """… until the postmaster has told all that are connected."""
        with self.postgres.admin(self.database) as admin:
            admin.rows(f"alter system set timezone = '{zone}'")
            admin.rows("select pg_reload_conf()")

        def is_set():
            with self.postgres.admin(self.database) as admin:
                return admin.rows("show timezone") == [[zone]]
        harness.eventually(f"new connections are in {zone}", is_set)

    def block(self, *first):
        """A session in a transaction on its own link, that was told of UTC."""
        if self.last is not None:
            self.last.close()
        self.reload("UTC")
        session = self.last = self.wire()
        empty = "; ".join(f"delete from {table.name}" for table in self.tables)
        for text in (empty, "begin", SETTLED, *first):
            self.done(session, [wire.query(text)])
        self.assertEqual(session.rows("show timezone"), [["UTC"]])
        return session

    def system(self, name, value):
        with self.postgres.admin(self.database) as admin:
            admin.rows(f"alter system set {name} = '{value}'")
            admin.rows("select pg_reload_conf()")

        def is_told():
            session = self.wire()
            try:
                return session.parameters.get(name) == value or session.rows(f"show {name}") == [[value]]
            finally:
                session.close()
        harness.eventually("new sessions are told", is_told)

    def right(self, count, *tables):
        for table in tables or self.tables[:1]:
            self.check_stored(table, count)

    def bound(self, name, *values, formats=()):
        return [wire.bind("", name, list(values), formats), wire.execute(), wire.sync()]

    def done(self, session, messages, ready=1):
        replies = session.ask(*messages, ready=ready)
        self.assertIsNone(wire.error_of(replies), replies)


class Reloaded(ZonesCase):
    """The server's TimeZone is another from one statement to the next."""

    def test_constants(self):
        for cell in (f"'{NOON}'", f"timestamptz '{NOON}'", f"'{NOON}'::timestamptz", f"E'{NOON}'",
                     f"'{NOON}'::timestamp", f"'{NOON}'::timestamptz(0)", "'2026-01-01'", f"('{NOON}')",
                     f"'{NOON}'::text::timestamptz", "'2026-01-01'::date", f"$${NOON}$$"):
            with self.subTest(cell):
                session = self.block()
                self.reload(ZONES[0])
                self.assertEqual(wire.tags_of(session.query(f"insert into moments (v, ts) values ('x', {cell})")),
                                 ["INSERT 0 1"])
                session.query("commit")
                self.right(2)
                self.reload("UTC")

    def test_other_columns_of_time(self):
        session = self.block("insert into pairs values (1, '2020-01-01 00:00Z', 'first')",
                             "insert into local values ('2020-01-01 00:00', 'first')")
        self.reload(ZONES[0])
        self.done(session, [wire.query(
            f"insert into local values ('{NOON}'::timestamptz, 'x'), ('2026-01-02', 'y'), ('2026-01-03 00:00+03', 'z');"
            f"insert into pairs values (2, '{NOON}', 'x'), (3, '{NOON}', ')'), (4, '{NOON}+01', 'y'),"
            f" (5, '{NOON}', 'z') returning v")])
        session.query("commit")
        self.right(4, self.tables[1])
        self.right(5, self.tables[2])

    def test_parameters(self):
        """By what they are declared as, and are cast to."""
        for oid, cell in ((0, "$1"), (1184, "$1"), (0, "$1::timestamptz"), (1114, "$1"), (1082, "$1"),
                          (1114, "$1::timestamptz"), (25, "$1::timestamptz")):
            with self.subTest(f"{oid} {cell}"):
                session = self.block()
                text = f"insert into moments values ({cell}, $2)"
                self.done(session, [wire.parse("s", text, [oid]), wire.describe("S", "s"), wire.sync()])
                self.reload(ZONES[0])
                replies = session.ask(*self.bound("s", NOON[:10], "x"))
                self.assertIn(wire.error_of(replies), (None, "40001"), replies)
                self.done(session, [wire.query("rollback" if wire.error_of(replies) else "commit")])
                self.assertEqual(session.rows("show timezone"), [[ZONES[0]]])
                self.done(session, self.bound("s", "2026-01-02 12:00", "y"))
                self.right(1 if wire.error_of(replies) else 3)
                day = self.stored(self.tables[0], "v, ts", "ts")[-1]
                self.assertEqual(day, ["y", f"2026-01-02 {'00' if oid == 1082 else '12'}:00:00+09"])

    def test_reads(self):
        """They ask for no other moment's hash: constants are sent with the zone that was told, or asked for without one."""
        values = f"('{NOON}+00', 'old'), ('{NOON}+09', 'new')"
        for condition, found in ((f"ts = '{NOON}'", "old"), (f"ts in ('{NOON}', '2021-01-01 00:00Z')", "old"),
                                 (f"ts = timestamptz '{NOON}'", "old"), (f"ts = any ('{{{NOON}}}')", "new")):
            with self.subTest(condition):
                session = self.block(f"insert into moments values {values}")
                self.reload(ZONES[0])
                self.assertEqual(session.rows(f"select v from moments where {condition}"), [[found]])
        for text, value in (("ts = $1", NOON), ("ts = any ($1)", f"{{{NOON}}}")):
            with self.subTest(text):
                session = self.block(f"insert into moments values {values}")
                self.done(session, [wire.parse("s", f"select v from moments where {text}"), wire.sync()])
                self.reload(ZONES[0])
                replies = session.ask(*self.bound("s", value))
                self.assertEqual(len([reply for reply in replies if reply.kind == "D"]), 1, replies)


class Set(ZonesCase):
    """A column of the key that is set to what it is, or what it becomes."""
    rows = f"insert into pairs values (1, '{NOON}+00', 'old'), (1, '{NOON}+09', 'new'), (2, '{NOON}+09', 'two')"

    def noted(self, *messages):
        """What became of rows, by their note; a row has the hash of its moment."""
        session = self.block(self.rows)
        self.done(session, [wire.query("savepoint a")])
        self.reload(ZONES[0])
        self.done(session, list(messages))
        self.done(session, [wire.query("commit")])
        self.right(3, self.tables[2])
        return sorted(f"{row[1]} {row[0]}" for row in self.stored(self.tables[2], "v, k, ts", "ts"))

    def test_on_conflict(self):
        """As the row's own cell is read."""
        insert = f"insert into pairs values (1, '{NOON}', 'x') on conflict (k, ts) do update set "
        for sets in (f"ts = '{NOON}', v = 'set'", f"(k, ts, v) = (1, '{NOON}', 'set')", f"v = 'set', ts = (('{NOON}'))"):
            self.assertEqual(self.noted(wire.query(insert + sets)), ["1 new", "1 set", "2 two"])
        prepared = [wire.parse("s", insert + f"k = 1, ts = '{NOON}', v = $1"), wire.sync()]
        session = self.block(self.rows)
        self.done(session, prepared)
        self.reload(ZONES[0])
        self.done(session, [*self.bound("s", "set"), wire.query("commit")], ready=2)
        self.right(3, self.tables[2])

    def test_updates(self):
        """All of a statement is read in one zone."""
        same = f"update pairs set k = 1, ts = '{NOON}', v = 'set' where k = 1 and ts = '{NOON}'"
        self.assertEqual(self.noted(wire.query(same)), ["1 old", "1 set", "2 two"])
        other = f"update pairs set ts = '{NOON}', v = 'set' where k = 2 and ts = '{NOON}'"
        self.assertEqual(self.noted(wire.query(other)), ["1 new", "1 old", "2 set"])
        self.assertEqual(self.noted(wire.query(other.replace("set ts", "set k = 3, ts"))), ["1 new", "1 old", "3 set"])

    def test_updates_by_parameters(self):
        text = "update pairs set k = $1, ts = $2, v = 'set' where k = $3 and ts = $4"
        parse = [wire.parse("s", text), wire.sync()]
        for values, expected in (((1, NOON, 1, NOON), ["1 old", "1 set", "2 two"]),
                                 ((3, NOON, 2, NOON), ["1 new", "1 old", "3 set"]),
                                 ((2, "2026-01-02 12:00", 2, NOON), ["1 new", "1 old", "2 set"])):
            session = self.block(self.rows)
            self.done(session, parse)
            self.reload(ZONES[0])
            self.done(session, [*self.bound("s", *values), wire.query("commit")], ready=2)
            self.right(3, self.tables[2])
            self.assertEqual(sorted(f"{k} {v}" for v, k in self.stored(self.tables[2], "v, k", "k")), expected)


class Prepared(ZonesCase):
    """A constant may be read once, or whenever the server likes."""

    def again(self, *changes):
        for text in (f"insert into moments values ('{NOON}', $1)",
                     f"insert into local values ('{NOON}'::timestamptz, $1)",
                     f"insert into pairs values ($1::bigint, '{NOON}', 'x')"):
            with self.subTest(text):
                session = self.block()
                self.done(session, [wire.parse("s", text), *self.bound("s", "1"), wire.query("commit")], ready=2)
                for change in ("select", *changes):
                    self.done(session, [wire.query(change)])
                    self.done(session, [wire.query("; ".join(f"delete from {table.name}" for table in self.tables))])
                    self.done(session, self.bound("s", "2"))
                    for table in self.tables:
                        self.check_stored(table)

    def test_analyzed(self):
        self.again("set timezone = '<+09>-09'", "analyze moments, local, pairs")

    def test_another_path(self):
        self.again("set timezone = '<+09>-09'; set search_path = public, pg_temp")

    def test_constants_beside_parameters(self):
        """What was read when it was prepared is not read again for the parameter's sake."""
        session = self.block()
        text = f"insert into pairs (k, ts, o) values (1, $1, '{NOON}')"
        self.done(session, [wire.parse("s", text, [1114]), *self.bound("s", "2026-02-01")])
        self.done(session, [wire.query("set local timezone = '<+03>-03'")])
        self.assertEqual(wire.error_of(session.ask(*self.bound("s", "2026-02-02"))), "0A000")
        self.done(session, [wire.query("rollback")])
        self.done(session, self.bound("s", "2026-02-03"))
        self.assertEqual(self.stored(self.tables[2], "o", "ts"), [[f"{NOON}:00+00"]])


class NewSessions(ZonesCase):
    """What one has prepared is read as the next one's settings say, also where these are the server's own."""
    tables = (*ZonesCase.tables, WORDS,
              Table("days", ["k bigint not null", "d date", "i interval", "m money", "a text[]", "z timestamptz"], ["k"]))

    def prepared(self, table, cell, ready=1):
        session = self.wire()
        self.done(session, [wire.parse("s", f"insert into {table} values ({cell}, $1)"), *self.bound("s", "x")])
        session.close()
        return self.stored(self.tables[0], "extract(epoch from ts)::bigint", "ts")

    def test_another_zone(self):
        self.addCleanup(self.system, "TimeZone", "UTC")
        first = self.prepared("moments", f"'{NOON}'")
        self.system("TimeZone", ZONES[0])
        both = self.prepared("moments", f"'{NOON}'")
        self.assertEqual(int(both[1][0]) - int(both[0][0]), 9 * 3600)
        self.assertIn(first[0], both)
        self.right(2)

    def test_backslashes(self):
        self.addCleanup(self.system, "standard_conforming_strings", "on")
        for value in ("on", "off"):
            self.system("standard_conforming_strings", value)
            self.prepared("words", r"'a\b'")
        self.right(2, self.tables[3])
        self.assertEqual(self.stored(self.tables[3], "length(k)", "length(k)"), [["2"], ["3"]])

    def test_other_columns(self):
        """They are read on links for batches."""
        self.addCleanup(self.system, "TimeZone", "UTC")
        for number, zone in ((1, "UTC"), (3, ZONES[0]), (5, "UTC")):
            self.system("TimeZone", zone)
            session = self.wire()
            cells = f"'{NOON}Z', 'x', '{NOON}'"
            self.done(session, [wire.query(f"insert into pairs values ({number}, {cells})")])
            self.done(session, [wire.parse("", f"insert into pairs values ($1, {cells})"), *self.bound("", number + 1)])
            session.close()
        hours = self.stored(self.tables[2], "k, extract(epoch from ts - o)::int / 3600", "k")
        self.assertEqual(hours, [[str(k), "9" if k in (3, 4) else "0"] for k in range(1, 7)])
        self.right(6, self.tables[2])

    def both_ways(self, session, table, key, cells):
        """Keys key and key + 1."""
        self.done(session, [wire.query(f"insert into {table} values ({key}, {cells})")])
        self.done(session, [wire.parse("", f"insert into {table} values ($1, {cells})"), *self.bound("", key + 1)])

    def read_anew(self, name, values, column, cell):
        """What sessions stored that began while the setting was so."""
        self.addCleanup(self.system, name, values[0])
        columns = ["null"] * 5
        columns["dimaz".index(column)] = cell
        for number in range(3 * len(values)):  # each worker has its own plans and links
            self.system(name, values[number % len(values)])
            session = self.wire()
            self.both_ways(session, "days", 2 * number, ", ".join(columns))
            session.close()
        self.right(6 * len(values), self.tables[4])
        shown = [row[0] for row in self.stored(self.tables[4], f"{column}::text", "k")]
        self.assertEqual(len(set(shown)), len(values), shown)
        for number, value in enumerate(shown):
            self.assertEqual(value, shown[2 * (number // 2 % len(values))], f"{number} {shown}")

    def test_dates(self):
        self.read_anew("DateStyle", ("ISO, MDY", "ISO, DMY"), "d", "'02/03/2026'")

    def test_intervals(self):
        self.read_anew("IntervalStyle", ("postgres", "sql_standard"), "i", "'-1 2:03:04'")

    def test_arrays(self):
        """A setting that is not told."""
        self.read_anew("array_nulls", ("on", "off"), "a", "'{NULL}'")

    def test_abbreviations(self):
        self.read_anew("timezone_abbreviations", ("Default", "Australia"), "z", "'2026-01-01 12:00 EST'")

    def test_older_sessions(self):
        """They are in what PostgreSQL has for them, too, and their own constants stay."""
        self.addCleanup(self.system, "DateStyle", "ISO, MDY")
        self.system("DateStyle", "ISO, MDY")
        sessions = [self.wire() for _ in range(4)]
        for number, session in enumerate(sessions):
            self.both_ways(session, "days", 2 * number, "'02/03/2026'")
        self.system("DateStyle", "ISO, DMY")
        for number, session in enumerate(sessions):
            self.done(session, [wire.query(f"insert into days values ({10 + number}, '02/03/2026')")])
            session.close()
        shown = self.stored(self.tables[4], "d", "k")
        self.assertEqual(shown, [["2026-02-03"]] * 8 + [["2026-03-02"]] * 4)


class Backslashes(ZonesCase):
    """A key's string is read as its session was told, and stored so."""
    tables = (WORDS,)
    text = (r"insert into words (v, k) values ('b', 'a\b'), ('b', ('a\\b')), ('b', '\c'::varchar(9)),"
            r" ('b', text 'd\\'), ('b', E'\\e')")

    def moved(self, before, after, keys):
        """The keys of a transaction in which the setting has moved unseen."""
        self.addCleanup(self.system, "standard_conforming_strings", "on")
        for messages in ([wire.query(self.text)], [wire.parse("", self.text), *self.bound("")]):
            self.system("standard_conforming_strings", before)
            session = self.wire()
            for text in ("begin", "insert into words values ('0', 'asks for names')"):
                self.done(session, [wire.query(text)])
            self.system("standard_conforming_strings", after)
            self.done(session, messages)
            self.done(session, [wire.query("commit")])
            session.close()
            self.right(6, WORDS)
            with self.postgres.admin(self.database) as admin:
                self.assertEqual(sorted(row[0] for row in admin.rows("delete from words returning k")), sorted(["0", *keys]))

    def test_off(self):
        self.moved("on", "off", (r"a\b", r"a\\b", r"\c", r"d\\", r"\e"))

    def test_on(self):
        self.moved("off", "on", ("a\b", r"a\b", "c", "d\\", r"\e"))


if __name__ == "__main__":
    unittest.main()
