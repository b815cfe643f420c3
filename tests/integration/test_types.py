"""Columns that come to be of another type past keyspread: what is prepared before and behind that is
described, read and stored as PostgreSQL does it, and every row has the hash of its key."""
import contextlib
import struct
import unittest

import direct_case
import harness
import wire
from harness import Table

INT4, INT8, FLOAT8 = "!i", "!q", "!d"
INSERT = "insert into w (id, v) values ($1, $2)"
TABLE = "create table w (id int not null, v double precision{hash}, primary key ({key}id))"
TO_BIGINT = "alter table w drop v, add v bigint"


def bound(name, *values, portal=""):
    """Bind, Execute and Sync: pairs of a format and a value are binary, all else is text."""
    binary = [isinstance(value, tuple) for value in values]
    packed = [struct.pack(*value) if isinstance(value, tuple) else value for value in values]
    return (wire.bind(portal, name, packed, [int(b) for b in binary]), wire.execute(portal),
            wire.sync())


def described(name, text=INSERT, oids=()):
    return wire.parse(name, text, oids), wire.describe("S", name), wire.sync()


class TypesCase(direct_case.DirectCase):
    tables = (Table("w", ["id int not null", "v double precision"], ["id"], hash_first=False),)
    options = {"workers": 2, "backend": {"catalog_s": 60}}

    def change(self, sql):
        """Past keyspread. {hash} and {key} stand for what only the hashed table has."""
        for database, admin in self.admins.items():
            hashed = database == "hashed"
            admin.rows(sql.replace("{hash}", ", id_hash bigint not null" if hashed else "")
                       .replace("{key}", "id_hash, " if hashed else ""))

    def setUp(self):
        self.change("drop table if exists w, other; create table other (a int);" + TABLE)
        self.look()

    def look(self):
        """Makes keyspread look at the table."""
        replies = self.play([wire.query("alter table other add more int; alter table other drop more")], 1, *self.route(), {})
        self.assertIsNone(wire.error_of(replies))

    @contextlib.contextmanager
    def session(self, **params):
        """One on either road, to be told the same; what they answer is the same."""
        with contextlib.ExitStack() as stack:
            pair = [stack.enter_context(self.log_in(*route, **params)) for route in self.routes()]

            def ask(*messages, ready=1):
                direct, through = (one.ask(*messages, ready=ready) for one in pair)
                self.assertEqual([direct_case.shown(reply) for reply in direct],
                                 [direct_case.shown(reply) for reply in through])
                return through
            yield ask

    def stored(self, admin, table):
        return admin.rows("select id, v from w order by id")

    def tearDown(self):
        super().tearDown()
        rows = [admin.rows("select id, v from w order by 1, 2") for admin in self.admins.values()]
        self.assertEqual(*rows)
        harness.verify_hashes(self, self.reader(), self.tables[0])

    def batched(self, *sessions):
        """Each worker, and some link for batches, has the statement."""
        for number, ask in enumerate(sessions):
            ask(*described("warm"))
            ask(*bound("warm", (INT4, 1000 + number), (FLOAT8, 0.5)))


@harness.proxied
class Inferred(TypesCase):
    def warm(self):
        with self.session() as one, self.session() as two, self.session() as three:
            self.batched(one, two, three)

    def test_described_behind_the_change(self):
        self.warm()
        self.change(TO_BIGINT)
        with self.session() as ask:
            ask(*described("s"))
            ask(*bound("s", (INT4, 2), (INT8, 5)))

    def test_not_described(self):
        """Its client knows the table."""
        self.warm()
        self.change(TO_BIGINT)
        with self.session() as ask:
            ask(wire.parse("s", INSERT), wire.sync())
            ask(*bound("s", (INT4, 2), (INT8, 5)))

    def test_in_one_group(self):
        self.warm()
        self.change(TO_BIGINT)
        with self.session() as ask:
            ask(wire.parse("", INSERT), *bound("", (INT4, 2), (INT8, 5)))
            ask(wire.parse("", INSERT), wire.describe("S", ""), *bound("", (INT4, 3), (INT8, 5)))

    def test_flushed(self):
        self.warm()
        self.change(TO_BIGINT)
        with self.session() as ask:
            ask(wire.parse("s", INSERT), wire.describe("S", "s"), wire.flush(),
                *bound("s", (INT4, 2), (INT8, 5)))

    def test_changed_between_flush_and_bind(self):
        self.warm()
        with self.session() as one, self.session() as two:
            for ask, name in ((one, "s"), (two, "")):
                ask(wire.parse(name, INSERT), wire.describe("S", name), wire.sync())
            self.change(TO_BIGINT)
            two(*bound("", (INT4, 3), (FLOAT8, 7.6)))
            one(*bound("s", (INT4, 2), (FLOAT8, 5.4)))

    def test_text(self):
        self.warm()
        self.change(TO_BIGINT)
        with self.session() as ask:
            ask(wire.parse("", INSERT), *bound("", 2, "1.5"))
            ask(wire.parse("s", INSERT), wire.sync())
            ask(*bound("s", 3, "1.5"))
            ask(*bound("s", 4, "15"))

    def test_prepared_before_and_executed_behind(self):
        """What is sent is of the types of before, on whichever link; PostgreSQL casts it."""
        with self.session() as one, self.session() as two, self.session() as three:
            self.batched(one, two)
            three(wire.parse("warm", INSERT), wire.sync())
            self.change(TO_BIGINT)
            for number, ask in enumerate((one, two, three)):
                ask(*bound("warm", (INT4, number), (FLOAT8, 7.6)))
                ask(*bound("warm", (INT4, 10 + number), (FLOAT8, 1e300)))
                ask(*bound("warm", 20 + number, "2.5"))
                ask(*described("again"))
                ask(*bound("again", (INT4, 30 + number), (INT8, 7)))
                ask(*bound("warm", (INT4, 40 + number), (FLOAT8, 7.6)))

    def test_a_type_that_cannot_be_cast(self):
        with self.session() as one, self.session() as two:
            self.batched(one)
            self.change("alter table w drop v, add v date")
            for ask in (one, two):
                ask(wire.parse("s", INSERT), wire.sync())
                ask(*bound("s", 2, "2.5"))
            one(*bound("warm", (INT4, 3), (FLOAT8, 7.6)))

    def test_there_and_back(self):
        self.warm()
        with self.session() as one, self.session() as two:
            self.change(TO_BIGINT)
            one(*described("s"))
            self.change("alter table w drop v, add v double precision")
            two(*described("s"))
            one(*bound("s", (INT4, 1), (INT8, 5)))
            two(*bound("s", (INT4, 2), (FLOAT8, 5.5)))

    def test_in_a_transaction(self):
        """The own link's server infers by itself, whatever was known."""
        self.warm()
        self.change(TO_BIGINT)
        with self.session() as ask:
            ask(wire.query("begin"))
            ask(*described("s"))
            ask(*bound("s", (INT4, 2), (INT8, 5)))
            ask(wire.query("commit"))
            ask(wire.query("alter table other add more int"))  # it is looked at
            ask(*bound("s", (INT4, 3), (INT8, 6)))

    def test_returning(self):
        text = INSERT + " returning v + 0"
        with self.session() as one, self.session() as ask:
            one(*described("s", text))
            self.change(TO_BIGINT)
            ask(*described("s", text))
            ask(*bound("s", (INT4, 2), (INT8, 5)))

    def test_many_sessions_without_links(self):
        self.warm()
        self.change(TO_BIGINT)
        self.change("alter table w add more text")
        for number in range(8):
            with self.session() as ask:
                ask(*described("s"))
                ask(*bound("s", (INT4, number), (INT8, 5)))


@harness.proxied
class OnDemand(Inferred):
    """A session has no link of its own to ask."""
    options = {"workers": 2, "backend": {"catalog_s": 60, "links": "on_demand"}}



KEYS = {  # what the key was, what it is; a value as text
    "to text": ("int", "text", "7"),
    "to numeric": ("int", "numeric(10,2)", "7.126"),
    "numeric": ("numeric(10,2)", "numeric(10,3)", "7.126"),
    "a scale less": ("numeric(10,3)", "numeric(10,1)", "7.126"),
    "numeric with a scale": ("numeric", "numeric(10,1)", "7.126"),
    "varchar longer": ("varchar(3)", "varchar(6)", "ab    "),
    "varchar shorter": ("varchar(6)", "varchar(3)", "ab    "),
    "varchar too long": ("varchar(3)", "varchar(6)", "abcdef"),
    "varchar too short": ("varchar(6)", "varchar(3)", "abcdef"),
    "to varchar": ("text", "varchar(3)", "ab    "),
    "timestamp": ("timestamp(3)", "timestamp", "2026-01-01 12:00:00.123456"),
    "timestamp with less": ("timestamp", "timestamp(3)", "2026-01-01 12:00:00.123456"),
    "timestamptz": ("timestamp", "timestamptz", "2026-01-01 12:00:00.123456+00"),
}


@harness.proxied
class Keys(TypesCase):
    """The hash is that of the value as it is stored."""

    def made(self, kind):
        self.change("drop table if exists w;" + TABLE.replace("id int", f"id {kind}"))

    def known(self, kind):
        self.made(kind)
        self.look()
        with self.session() as ask, self.session() as other:
            for one in (ask, other):
                one(*described("s"))
        return self.session()

    def check(self, roads):
        for name, (before, behind, value) in KEYS.items():
            for change in ("alter", "made anew"):
                for number, road in enumerate(roads):
                    with self.subTest(name, change=change, road=number):
                        with self.known(before) as ask:
                            road(self, ask, value, lambda: self.made(behind) if change != "alter"
                                 else self.change(f"alter table w alter id type {behind}"))
                        self.tearDown()

    def text(self, ask, value, change):
        change()
        ask(wire.query(f"insert into w (id, v) values ('{value}', 1)"))
        ask(wire.query(f"insert into w (id, v) values ('{value}', 2)"))

    def texts(self, ask, value, change):
        change()
        ask(wire.query(f"insert into w (id, v) values ('{value}', 1), ('1', 2) on conflict do "
                       f"nothing; insert into w (v, id) values (1, '{value}')"))

    def group(self, ask, value, change):
        change()
        ask(wire.parse("", INSERT), *bound("", value, "1"))

    def prepared(self, ask, value, change):
        ask(wire.parse("before", INSERT), wire.sync())
        change()
        ask(wire.parse("behind", INSERT), wire.sync())
        ask(*bound("behind", value, "1"))
        ask(*bound("before", value, "1"))

    def test_text(self):
        self.check([Keys.text, Keys.texts])

    def test_parameters(self):
        self.check([Keys.group, Keys.prepared])

    def test_in_a_transaction(self):
        """What was known may be an error; where it is none, it is to be sent again."""
        for name, (before, behind, value) in KEYS.items():
            with self.subTest(name), self.known(before):
                self.change(f"alter table w alter id type {behind}")
                with self.log_in(*self.route()) as session:
                    session.query("begin isolation level repeatable read")
                    replies = session.query(f"insert into w (id, v) values ('{value}', 1)")
                    self.assertIn(wire.error_of(replies), (None, "40001", "22001"))
                    session.query("commit")
                with contextlib.closing(harness.connect_admin(self.postgres, "hashed")) as admin:
                    harness.verify_hashes(self, admin, self.tables[0])
                self.change("truncate w")


MADE_ANEW = {  # what a type was, what another of its name is, a value as text
    "a domain": ("create domain other_type as numeric(10,0)", "create domain other_type as numeric(10,1)", "1.26"),
    "another domain": ("create domain other_type as varchar(2)", "create domain other_type as text", "ab   "),
    "an enum": ("create type other_type as enum ('a')", "create type other_type as enum ('b', 'a')", "a"),
    "a row": ("create type other_type as (a int)", "create type other_type as (a text)", "(1)"),
    "a table's row": ("create table other_type (a int)", "create table other_type (a int, b int)", "(1,)"),
}
DROPPED = {"create domain": "drop domain", "create type": "drop type", "create table": "drop table"}


@harness.proxied
class OwnTypes(TypesCase):
    """What a cast names is made anew, and the table stays what it is."""
    tables = (Table("w", ["id text not null", "v text"], ["id"], hash_first=False),)
    options = {"workers": 1, "backend": {"catalog_s": 60}}
    texts = ("insert into w (id, v) values ($1, $2::other_type)", "insert into w (v, id) values ($1, $2::other_type)")

    def setUp(self):
        self.kinds = dict(MADE_ANEW)
        self.change("drop table if exists w, other; create table other (a int);"
                    + TABLE.replace("id int", "id text").replace("v double precision", "v text"))
        self.look()

    def rows(self, value, number, key=True):
        with self.session() as ask:
            for text in self.texts[:1 + key]:
                for i in range(2):
                    ask(wire.parse("", text), *bound("", str(number), value))
                    ask(wire.query("delete from w"))

    def check(self, change):
        for name, (before, behind, value) in self.kinds.items():
            kind = " ".join(before.split()[:2])
            with self.subTest(name):
                self.change(before)
                self.look()
                for number in range(3):
                    self.rows(value, number, "table" not in name)
                change(kind, behind)
                for number in range(3):
                    self.rows(value, number, "table" not in name)
                    super().tearDown()
            for one in ("other_type", "kept"):
                for admin in self.admins.values():
                    for what in ("table", "domain", "type"):
                        with contextlib.suppress(AssertionError):
                            admin.rows(f"drop {what} {one}")

    def test_dropped(self):
        def change(kind, behind):
            with self.session() as ask:
                for text in (f"{DROPPED[kind]} other_type", behind):
                    ask(wire.query(text))
        self.check(change)

    def test_renamed(self):
        """What it was described with is there, and may be cast to the other; rows of tables are told apart by no look."""
        del self.kinds["a table's row"]
        def change(kind, behind):
            with self.session() as ask:
                ask(wire.query(f"alter {kind.split()[1]} other_type rename to kept"))
                ask(wire.query(behind))
        self.check(change)

    def test_past_keyspread(self):
        def change(kind, behind):
            self.change(f"{DROPPED[kind]} other_type; {behind}")
            self.look()
        self.check(change)


if __name__ == "__main__":
    unittest.main()
