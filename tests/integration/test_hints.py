"""What keyspread advises leads somewhere: each hint is tried as its reader would."""
import unittest

import harness
import wire
from harness import Table

PAIRS = Table("pairs", ["k bigint not null", "v text"], ["k"], hash_first=False)
MOMENTS = Table("moments", ["at timestamptz not null", "v text"], ["at"], hash_first=False)
DAYS = Table("days", ["day date not null", "v text"], ["day"], hash_first=False)
NAMES = Table("names", ["name text not null"], ["name"], hash_first=False)
RANGED = Table("ranged", ["k bigint not null", "v text"], ["k"], hash_first=False)

# What is refused, a part of the hint, and what its reader does then.
ADVICE = (
    ("insert into pairs select '2', v.* from (values ('x')) v", "Write the columns instead of *",
     "insert into pairs select '2', v.v from (values ('x')) v(v)"),
    ("insert into pairs (k_hash, k) select 1, 1", "Leave the column out", "insert into pairs (k) select 1"),
    ("upsert into moments values ('today', 'x')", "with its offset from UTC for \"at\"",
     "insert into moments values ('2026-01-31 12:00:00+00')"),
    ("replace into days values ('yesterday', 'x')", "in ISO form for \"day\"",
     "insert into days values ('2026-01-31')"),
    ("set client_encoding to 'LATIN1'; insert into names values ('ä')",
     "SET client_encoding TO 'UTF8'",
     "set client_encoding to 'UTF8'; insert into names values ('ä')"),
    ("insert into pairs (k, v, k_hash) values (1, 'x', 5)", "for this key it is ",
     "insert into pairs (k, v, k_hash) values (1, 'x', HINTED)"),
    ("insert into pairs (k, v, k_hash) values (1, 'x', 5)", "write DEFAULT for it",
     "insert into pairs (k, v, k_hash) values (1, 'x', default)"),
    ("with a as (update pairs set k = 2 returning k) select k from a", "Delete the row and insert it with its new key",
     "insert into pairs values (1, 'x'); begin; delete from pairs where k = 1;"
     " insert into pairs values (2, 'x'); commit"),
    ("insert into pairs values (1, 'x') on conflict (k) do update set (k, v) = (2, 'x')", "",
     "insert into pairs values (1, 'x') on conflict (k) do update set v = 'y'"),
    ("copy pairs (k, v) from '/a'", "Send them by COPY … FROM STDIN", "insert into pairs values (1, 'x'), (2, 'y')"),
    ("copy pairs (v) from stdin (null '1')", "strings that are not made of digits", "insert into pairs values (1, 'x'), (2, 'y')"),
    ("prepare p as insert into pairs values (1, 'x')", "Send the INSERT itself",
     "insert into pairs values (1, 'x')"),
    ("explain analyze insert into pairs values (1, 'x')", "EXPLAIN without ANALYZE",
     "explain insert into pairs values (1, 'x')"),
    ("merge into pairs p using (select 1) s on false when not matched then insert values (1, 'x')",
     "INSERT … VALUES … ON CONFLICT DO UPDATE",
     "insert into pairs values (1, 'x') on conflict (k) do update set v = 'x'"),
    ("with a as (insert into pairs values (1, 'x') returning k) select k from a",
     "as a statement of its own", "insert into pairs values (1, 'x') returning k"),
    ("with a as (insert into names values ('a')) insert into pairs values (1, 'x')", "",
     "insert into names values ('a'); insert into pairs values (1, 'x')"),
    ("upsert into pairs (v) values ('x')", "Write a value for \"k\"",
     "upsert into pairs (k, v) values (1, 'x')"),
)

# A row that comes past keyspread, and what brings it.
PAST = (
    ("insert into pairs_seen values (1, 'x')", "pairs"),
    ("select write_pair(2)", "pairs"),
    ("insert into other values (3)", "pairs"),
    ("insert into ranged_seen values (4, 'x')", "ranged"),
)


@harness.proxied
class Hints(harness.StackCase):
    tables = (PAIRS, MOMENTS, DAYS, NAMES)
    partitioned = False

    def test_each_is_tried(self):
        for refused, hint, then in ADVICE:
            with self.subTest(refused):
                session = self.wire()
                *before, last = refused.split("; ")
                for text in before:
                    session.query(text)
                coded = last.encode("latin-1" if before else "utf-8")
                error = next(one.fields() for one in session.ask(wire.query(coded))
                             if one.kind == "E")
                self.assertIn(hint, error["H"])
                then = then.replace("HINTED", error["H"].rstrip(".").split(" ")[-1])
                for text in then.split("; "):
                    self.assertIsNone(wire.error_of(session.query(text)), (error, then))
                session.query("truncate pairs, moments, days, names")


@harness.proxied
class Guard(harness.StackCase):
    """What the table itself rejects, because it came without a hash."""
    tables = (PAIRS, RANGED)
    setup_sql = """
        create view pairs_seen as select k, v from pairs;
        create view ranged_seen as select k, v from ranged;
        create table other (a int);
        create function write_pair(int) returns void language sql as
          $$ insert into pairs (k, v) values ($1, 'x') $$;
        create function copy_row() returns trigger language plpgsql as
          $$ begin insert into pairs (k, v) values (new.a, 'x'); return new; end $$;
        create trigger copy after insert on other for each row execute function copy_row();
        """

    @classmethod
    def setUpClass(cls):
        cls.partitioned = True
        super().setUpClass()
        with cls.postgres.admin(cls.database) as admin:
            admin.rows("drop table pairs cascade;" + PAIRS.ddl(partitioned=False) +
                       "create view pairs_seen as select k, v from pairs")

    def test_a_hint_says_what_happened(self):
        for text, table in PAST:
            for messages in ([wire.query(text)],
                             [wire.parse("", text), wire.bind("", ""), wire.execute(),
                              wire.sync()]):
                with self.subTest(text):
                    session = self.wire()
                    error = next(one for one in session.ask(*messages) if one.kind == "E")
                    self.assertIn(error.sqlstate, ("23502", "23514"))
                    self.assertIn(f'INSERT … VALUES into "{table}" itself', error.fields()["H"])
                    self.assertIsNone(wire.error_of(session.query(
                        f"insert into {table} values (1, 'x'); delete from {table}")))

    def test_rights_by_column(self):
        session = self.wire()
        session.query("create role clerk; grant insert (k, v), select (k, v) on pairs to clerk;"
                      "create table pairs_of_others (); create schema pairs")
        session.query("set role clerk")
        insert = "insert into pairs values (1, 'x') on conflict (k) do update set v = 'y'"
        error = next(one for one in session.query(insert) if one.kind == "E")
        self.assertEqual(error.sqlstate, "42501")
        self.assertIn(f'"{PAIRS.hash_column}" of "pairs"', error.fields()["H"])
        for text in ("table pairs_of_others", "create table pairs.pairs ()", "drop schema pairs"):
            error = next(one for one in session.query(text) if one.kind == "E")
            self.assertEqual((error.sqlstate, error.fields().get("H")), ("42501", None))
        session.query("reset role; grant insert (k_hash), select (k_hash), update (v) on pairs"
                      " to clerk")
        session.query("set role clerk")
        self.assertIsNone(wire.error_of(session.query(insert)))
        session.query("reset role; delete from pairs; drop owned by clerk; drop role clerk;"
                      " drop table pairs_of_others; drop schema pairs")

    def test_other_errors_are_as_they_were(self):
        session = self.wire()
        for text in ("insert into pairs values (null, 'x')", "insert into ranged values (null, 'x')",
                     "select 1/0"):
            error = next(one for one in session.query(text) if one.kind == "E")
            self.assertNotIn("H", error.fields())


@harness.proxied
class Encodings(harness.StackCase):
    tables = (NAMES,)
    partitioned = False

    def test_utf8_by_any_name(self):
        for name in ("UTF8", "UNICODE", "unicode", "utf-8", "Utf_8", "'utf8'"):
            for number, params in enumerate(({"client_encoding": name},
                                             {"options": f"-c client_encoding={name}"})):
                with self.subTest(name, params=params):
                    session = self.wire(**params)
                    tag = session.query(f"insert into names values ('{name[1:-1]} ä {number}')")
                    self.assertEqual(wire.tags_of(tag), ["INSERT 0 1"])
        self.check_stored(NAMES, count=12)


if __name__ == "__main__":
    unittest.main()
