"""Keys that are expressions of parameters: the database computes them when they are bound. Direct and
through keyspread the parameters have the same types, and rows, answers and errors are the same."""
import struct
import unittest

import wire
from direct_case import DirectCase
from harness import Table


def table(name, key, *more, **options):
    return Table(name, [key, "v text", *more], [key.split()[0]], hash_first=False, **options)


ITEMS = table("items", "id bigserial")
WORDS = table("words", "k varchar(8)", "n int")
ALWAYS = table("always", "id bigint generated always as identity")
REALS = table("reals", "id float8")
PAIRS = Table("pairs", ["a text", "b timestamptz", "v text"], ["a", "b"], hash_key=["a", "b"],
              hash_first=False)

# A text, and values that it is bound with, one line after another.
BOUND = (
    ("insert into items (id, v) values ($1 + 1, 'x') returning id", ["5"], ["-7"], [None]),
    ("insert into items (id, v) values ($1 + 1, $2), ($1 * 2, $3)", ["5", "a", "b"]),
    ("insert into items (id, v) values (abs($1::bigint), $1)", ["-5"]),
    ("insert into items (id, v) values ($1 + 1, $1)", ["5"]),
    ("insert into items (v, id) values ($1, length($1)) returning *", ["äbc"]),
    ("insert into items (id, v) values ((select $1::int -- five\n + count(*) from pairs), $2)",
     ["5", "x"]),
    ("insert into items (id, v) values (nextval('items_id_seq') + $1, 'x') returning id", ["100"],
     ["100"]),
    ("insert into items (id, v) values (case when $1 then $2 else 7 end, 'x') returning id",
     ["t", "5"], ["f", "5"]),
    ("insert into items (v) values ($1 || 'x'), ($2) returning id, v", ["a", "b"]),
    ("insert into items (id, v) values (default, $1), ($2 + 100, $1), (default, 'z') returning id, v",
     ["a", "5"]),
    ("insert into items (id, v) values ($1 + 1, 'x') on conflict (id) do update set v = $2 || items.v"
     " returning v", ["5", "a"], ["5", "b"]),
    ("insert into words (k, v) values (coalesce($1, ''), 'x') returning k", ["a"], [None]),
    ("insert into words (k, v, n) values (lower($1), $2, $3)", ["ÄB", "x", "7"]),
    ("insert into words (k, v) values ($1 || 'b', $1 || 'c')", ["a"]),
    ("insert into words (v, k) values ($2, left($1, $3)) returning v, k", ["abcdef", "x", "3"]),
    ("insert into words values ('a' || $1, $2, $3 + 1) returning *", ["b", "x", "5"]),
    ("insert into words (k) values (upper($1)), (upper($2)), (upper($3))", ["a", "b", "c"]),
    ("insert into reals (id) values ($1 / 3.0) returning id", ["1"]),
    ("insert into reals (id) values (sqrt($1)) returning id", ["2"]),
    ("insert into pairs (a, b, v) values ($1 || 'x', to_timestamp($2), $3)", ["a", "1e9", "v"]),
    ("insert into pairs (a, b) values (lower($1), $2::timestamptz + $3)",
     ["A", "2026-01-31 12:00+01", "1 day"]),
    ("insert into always (id, v) overriding user value values ($1, $2) returning id", ["700", "x"]),
    ("insert into always (id, v) overriding user value values ($1 + 1, $2) returning id", ["7", "x"]),
    ("insert into always (id, v) overriding system value values ($1 + 1, $2) returning id", ["7", "x"]),
    ("insert into items (id, v) values (($1), $2)", ["5", "x"]),
)
BAD = (
    ("insert into items (id, v) values ($1 + 1, 'x')", ["nosuch"]),
    ("insert into items (id, v) values (10 / $1, 'x')", ["0"]),
    ("insert into items (id, v) values ($1 + 1, 'x')", ["2147483647"]),
    ("insert into items (id, v) values (nosuch($1), 'x')", ["1"]),
    ("insert into items (v, id) values ($1, $1 + 1)", ["1"]),
    ("insert into items (id, v) values (upper($1)::json, 'x')", ["1"]),
    ("insert into items (id, v) values (n + $1, 'x')", ["1"]),
    ("insert into items (id, v) values (count($1::int), 'x')", ["1"]),
    ("insert into words (k) values ($1 || 'much too long')", ["a"]),
    ("insert into items (id, v) values ($1 + 1, 'x')", ["1", "2"]),
    ("insert into items (id, v) values ($1 + $3, 'x')", ["1", "2", "3"]),
    ("insert into items (id, v) values ($1 + 1, 'x'), ($1 + 1, 'y')", ["1"]),
)


def run(text, values, name="", formats=(), types=()):
    return [wire.parse(name, text, types), wire.bind("", name, values, formats), wire.describe("P", ""),
            wire.execute()]


class Bound(DirectCase):
    tables = (ITEMS, WORDS, ALWAYS, REALS, PAIRS)

    def setUp(self):
        for admin in self.admins.values():
            admin.rows("truncate items, words, always, reals, pairs restart identity")

    def test_as_drivers_do(self):
        for text, *lines in BOUND:
            with self.subTest(text):
                self.setUp()
                self.both([message for values in lines for message in (*run(text, values), wire.sync())],
                          ready=len(lines), verify=True)

    def test_described_first(self):
        for text, *lines in BOUND:
            with self.subTest(text):
                self.setUp()
                messages = [wire.parse("s", text), wire.describe("S", "s"), wire.sync()]
                for values in lines * 2:
                    messages += [wire.bind("", "s", values), wire.execute(), wire.sync()]
                self.both(messages, ready=1 + 2 * len(lines), verify=True)

    def test_in_one_group(self):
        messages = []
        for text, *lines in BOUND[:10]:
            messages += [message for values in lines for message in run(text, values)]
        self.both([*messages, wire.sync()], verify=True)
        self.both([wire.query("begin"), *messages, wire.sync(), wire.query("commit")], ready=3,
                  verify=True)
        self.both([wire.query("begin"), *messages, wire.sync(), wire.query("rollback")], ready=3,
                  verify=True)

    def test_in_binary(self):
        four, eight, text = struct.pack("!i", 5), struct.pack("!q", 5), b"abc"
        for statement, values, formats, types in (
                ("insert into items (id, v) values ($1 + 1, $2)", [four, b"x"], (1, 0), ()),
                ("insert into items (id, v) values ($1 + 1, $2)", [eight, b"x"], (1, 1), (20, 25)),
                ("insert into items (id, v) values ($1 + 1, $2)", [eight, b"x"], (1,), (20,)),
                ("insert into items (v, id) values ($2, $1 + 1)", [eight, b"x"], (1,), (20, 0)),
                ("insert into words (n, k) values ($1, coalesce($2, ''))", [four, text], (1, 1), ())):
            with self.subTest(statement, formats=formats, types=types):
                self.both([*run(statement, values, "s", formats, types), wire.sync(),
                           wire.describe("S", "s"), wire.sync()], ready=2, verify=True)

    def test_some_types_declared(self):
        """Another parameter has no type, but from where it stands."""
        for text, values, types in (
                ("insert into items (id, v) values ($1 + 1, upper($2)) returning *", ["5", "x"], (21, 0)),
                ("insert into items (id, v) values ($1 + 1, upper($2)) returning *", ["5", "x"], (23,)),
                ("insert into items (id, v) values (abs($2), $1::text || 'y') returning *", ["x", "-5"], (0, 23)),
                ("insert into items (id, v) values ($1 + $2, $3), ($2 + 9, left($3, $4))", ["5", "6", "xy", "1"], (20, 20)),
                ("insert into items (id, v) values (nextval('items_id_seq'), lower($1)) returning $2 || 'z'", ["X", "y"], (0, 25)),
                ("insert into items (id, v) values ($1 + 1, 'x')", ["5", "6", None], (23, 25, 23))):
            with self.subTest(text):
                self.setUp()
                self.both([*run(text, values, types=types), wire.sync()], verify=True)

    def test_what_is_wrong(self):
        """Also when: of a type that cannot be assigned Bind tells, not Parse. Where is told less exactly."""
        for text, values in BAD:
            with self.subTest(text):
                told = []
                for database, port in self.routes():
                    replies = self.play([*run(text, values), wire.sync(),
                                         wire.query("begin"), wire.query("insert into items values (1, 'a')"),
                                         *run(text, values), wire.sync(), wire.query("commit")],
                                        5, database, port, {})
                    told.append([(one.kind, one.sqlstate if one.kind == "E" else None,
                                  one.fields().get("M") if one.kind == "E" else None)
                                 for one in replies if one.kind != "1"])
                    self.contents(database)
                self.assertEqual(*told)

    def test_volatile(self):
        """Its value is what is stored."""
        text = "insert into words (k) values (left(random()::text || $1, 8)) returning k"
        database, port = self.route()
        self.play([*run(text, ["x"]), wire.sync()] * 3, 3, database, port, {})
        self.assertEqual(len(self.contents(database, verify=True)[1]), 3)


if __name__ == "__main__":
    unittest.main()
