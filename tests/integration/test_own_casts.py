"""Casts between PostgreSQL's own types that somebody made: what they make of a key is stored, hashed
and found as PostgreSQL does it."""
import unittest

import direct_case
import harness
import wire
from harness import Table

NUMBER = 5000000000
CASTS = """create function marked(bigint) returns text language sql immutable
    as $$select case when $1 < 4000000000 then int8out($1)::text else '#' || int8out($1)::text end$$;
    create cast (bigint as text) with function marked(bigint) as assignment;
    create cast (varchar as uuid) with inout as implicit"""
INDEX = """select n.x from (values (1)) n(x) join pg_index i on i.indrelid = 'counts'::regclass
    and i.indkey = '1'::int2vector and i.indclass[0] is not null"""
UUID = "7d0b7a9c-2f3e-4a86-9d1b-8f1e2a3b4c5d"


class OwnCasts(direct_case.DirectCase):
    tables = (Table("words", ["k text not null", "v text"], ["k"], hash_first=False),
              Table("things", ["k uuid not null", "v text"], ["k"], hash_first=False))
    setup_sql = CASTS

    def test_into_the_key(self):
        for cell in (NUMBER, f"{NUMBER}::bigint", f"{NUMBER}::text", f"'{NUMBER}'", f"'{NUMBER}'::text",
                     f"'{NUMBER}'::bigint::text", "5", "'5'::varchar"):
            self.query(f"insert into words values ({cell}, 'v')", verify=True)

    def test_found_again(self):
        insert = f"insert into words values ('{NUMBER}', 'bare'), ('#{NUMBER}', 'marked')"
        for value in (f"'{NUMBER}'", f"{NUMBER}::text", f"'{NUMBER}'::text", f"'{NUMBER}'::bigint::text"):
            self.both([wire.query(insert), wire.query(f"select v from words where k = {value}"),
                       wire.query(f"delete from words where k in ({value}, 'x')")], ready=3)

    def test_strings_into_the_other_key(self):
        for cell in (f"'{UUID}'", f"'{UUID}'::uuid", f"'{UUID}'::varchar"):
            self.query(f"insert into things values ({cell}, 'v')", verify=True)
        self.both([wire.parse("", "insert into things values ($1, 'v')"), wire.bind("", "", [UUID]),
                   wire.execute(), wire.sync()], verify=True)

    @harness.proxied
    def test_parameters_of_such_a_type_are_refused(self):
        """What a Bind makes of them is not known, and it must not be guessed."""
        for text, oid, value in (("insert into words values ($1, 'v')", 20, str(NUMBER)),
                                 ("insert into things values ($1::uuid, 'v')", 1043, UUID)):
            replies = self.play([wire.parse("", text, [oid]), wire.bind("", "", [value]),
                                 wire.execute(), wire.sync()], 1, *self.route(), {})
            self.assertEqual(wire.error_of(replies), "0A000")


class Everywhere(direct_case.DirectCase):
    """They change nothing of what keyspread itself asks."""
    tables = (Table("counts", ["k bigint not null", "v text default 'd'"], ["k"], hash_first=False), *OwnCasts.tables)
    before_sql = "; ".join(
        f"""create function marked({one}) returns text language sql immutable as $$select '#' || {out}($1)::text$$;
            create cast ({one} as text) with function marked({one}) as implicit"""
        for one, out in (("bigint", "int8out"), ("integer", "int4out"), ("smallint", "int2out"), ("oid", "oidout"),
                         ("xid", "xidout"))) + """;
        create function number(text) returns bigint language sql immutable as 'select 7::bigint';
        create cast (text as bigint) with function number(text)"""

    def test_rows(self):
        for cell in ("5", "'6'", "7::bigint", "8::smallint"):
            self.query(f"insert into counts values ({cell})", verify=True)
        self.both([wire.query("insert into counts values (1, 'a'), (2, 'b')"), wire.query("select * from counts where k = 2"),
                   wire.query("update counts set k = 3 where k = 2"), wire.query("insert into counts select k + 10, v from counts"),
                   wire.query("select * from counts order by k")], ready=5, verify=True)
        self.query(f"insert into things values ('{UUID}', 'v')", verify=True)
        self.query(INDEX)


class InOut(direct_case.DirectCase):
    """Casts into text by the types' own functions make what an assignment makes without them."""
    tables = (*OwnCasts.tables[:1], Table("names", ["k varchar(10) not null", "v text"], ["k"], hash_first=False))
    setup_sql = """create cast (integer as text) with inout as implicit;
        create cast (bigint as varchar) with inout as assignment; create cast (numeric as text) with inout as implicit"""

    def test_parameters(self):
        for table in self.tables:
            for oid, value in ((23, "-7"), (20, "8"), (1700, "1.50"), (25, "x"), (0, "y")):
                self.both([wire.parse("", f"insert into {table.name} values ($1, 'v')", [oid]),
                           wire.bind("", "", [value]), wire.execute(), wire.sync()], verify=True)

    def test_constants(self):
        for cell in ("9", "10::bigint", "11::bigint::varchar", "12.50", "13::text"):
            self.query(f"insert into words values ({cell}, 'v')", verify=True)


class Explicit(direct_case.DirectCase):
    """One that must be asked for takes the assignment away that there is without it, at the server."""
    tables = OwnCasts.tables[:1]
    setup_sql = "create cast (integer as text) with inout"

    def test_parameters(self):
        self.both([wire.parse("", "insert into words values ($1, 'v')", [23]), wire.bind("", "", ["5"]),
                   wire.execute(), wire.sync()], verify=True)
        for cell in 4 * ["5"] + ["5::text"]:
            self.query(f"insert into words values ({cell}, 'v')", verify=True)


NUMBERS = """create function marked(numeric) returns text language sql immutable
    as $$select '#' || textin(numeric_out($1))$$;
    create cast (numeric as text) with function marked(numeric) as assignment;
    create function seven(text) returns bigint language sql immutable as 'select 7::bigint';
    create cast (text as bigint) with function seven(text);
    create function marked(integer) returns varchar language sql immutable
    as $$select ('#' || textin(int4out($1)))::varchar$$;
    create cast (integer as varchar) with function marked(integer) as assignment"""
CONFLICT = "insert into amounts values (1.5, 'w') on conflict (k) do update set k ="


class InHashes(direct_case.DirectCase):
    """They change nothing of how the server hashes, nor of how it fails."""
    tables = (Table("amounts", ["k numeric not null", "v text"], ["k"], hash_first=False), *OwnCasts.tables[:1],
              Table("names", ["k varchar(10) not null", "v text"], ["k"], hash_first=False),
              Table("changed", ["k varchar(10) not null", "v text"], ["k"], hash_first=False))
    before_sql = NUMBERS
    # One worker, which knows the tables as they were: another would ask when it meets them first.
    options = {"workers": 1, "backend": {"catalog_s": 3600}}

    def test_of_rows_that_only_the_server_sees(self):
        self.query("insert into amounts select 1.50, 'v'", verify=True)
        for change in ("update amounts set k = 2.50", f"{CONFLICT} 2.50", f"{CONFLICT} amounts.k * 2"):
            self.both([wire.query("insert into amounts values (1.5, 'v')"), wire.query(change)], ready=2, verify=True)

    def test_of_an_expression(self):
        for cell in ("1 + 1", "length('abc')", "lower('X')"):
            self.query(f"insert into names values ({cell}, 'v')", verify=True)

    @harness.proxied
    def test_a_key_that_is_too_long(self):
        replies = self.play([wire.query("insert into words select repeat('x', 300), 'v'")], 1, *self.route(), {})
        self.assertEqual(wire.error_of(replies), "0A000")
        self.assertEqual(self.contents("hashed"), [[], [], [], []])

    @harness.proxied
    def test_columns_that_were_changed(self):
        """In a transaction nothing is made anew: it must fail."""
        def play(*texts):
            return self.play([wire.query(text) for text in texts], len(texts), *self.route(), {})
        self.assertIsNone(wire.error_of(play("insert into changed values ('a', 'v')")))
        self.admins["hashed"].rows("alter table changed alter k type text")
        self.assertEqual(wire.error_of(play("begin", "insert into changed values ('b', 'v')", "commit")), "40001")
        self.assertEqual(self.contents("hashed", True)[3], [["a", "v"]])


class ExplicitFunction(direct_case.DirectCase):
    """… and so does one that has a function."""
    tables = OwnCasts.tables[:1]
    setup_sql = """create function marked(integer) returns text language sql immutable as $$select '#' || int4out($1)::text$$;
        create cast (integer as text) with function marked(integer)"""

    def test_what_is_made_of_it(self):
        for cell in ("5", "-5", "1 + 1", "length('x')", "(select 5)", "5::text", "(1 + 1)::text", "lower('X')"):
            with self.subTest(cell):
                self.query(f"insert into words values ({cell}, 'v')", verify=True)


SHORT = """create domain public.text as pg_catalog.varchar(3);
    create domain public."varchar" as pg_catalog.varchar(2);
    create domain public.uuid as pg_catalog.text;
    create domain public.timestamptz as pg_catalog.timestamptz(0)"""
FIRST = "set search_path = public, pg_catalog"


class OwnNames(direct_case.DirectCase):
    """Types called like PostgreSQL's own: which a cast means is for search_path to say."""
    tables = (Table("words", ["k pg_catalog.text not null", "v pg_catalog.text"], ["k"], hash_first=False),
              Table("moments", ["k pg_catalog.timestamptz not null", "v pg_catalog.text"], ["k"], hash_first=False))
    setup_sql = SHORT

    def test_constants(self):
        for path in ("select 1", FIRST):
            for cell in ("'abcdef'::text", "text 'abcdef'", "'abcdef'::varchar", "'abcdef'::pg_catalog.text",
                         "'ABCDEF'::uuid", "cast('abcdef' as text)", "'abcdef'::text::pg_catalog.text",
                         "'abcdef'::\"varchar\"", "'abcdef'"):
                self.both([wire.query(path), wire.query(f"insert into words values ({cell}, 'v')"),
                           wire.query(f"select v from words where k = {cell}"),
                           wire.query(f"delete from words where k = {cell}")], ready=4, verify=True)
                self.both([wire.query(path), wire.query(f"insert into words values ({cell}, 'v')"),
                           wire.query(f"delete from words where k <> {cell}")], ready=3, verify=True)

    def test_times(self):
        for cell in ("'2026-01-01 12:00:00.6+00'::timestamptz", "timestamptz '2026-01-01 12:00:00.6+00'"):
            self.both([wire.query(FIRST), wire.query(f"insert into moments values ({cell}, 'v')")], ready=2, verify=True)

    def test_parameters(self):
        for cell in ("$1::text", "$1::\"varchar\"", "$1::uuid"):
            self.both([wire.query(FIRST), wire.parse("", f"insert into words values ({cell}, 'v')"),
                       wire.bind("", "", ["ab "]), wire.execute(), wire.sync(),
                       wire.parse("", f"select v from words where k = {cell}"),
                       wire.bind("", "", ["ab "]), wire.execute(), wire.sync()], ready=3, verify=True)


DOMAIN = "create domain pg_temp.text as pg_catalog.varchar(3)"


class NamesMade(direct_case.DirectCase):
    """… by a session that goes on at once, in the schema that comes first without being asked."""
    tables = (Table("words", ["k text not null", "v text"], ["k"], hash_first=False),)
    insert = "insert into words values ('abcdef'::text, 'v')"
    session_uses = 1  # The schema of temporary objects stays when they are discarded.

    def test_temporary(self):
        for begin, end in (("select 1", "select 2"), ("begin", "commit")):
            self.both([wire.query(begin), wire.query(DOMAIN), wire.query(self.insert), wire.query(end)],
                      ready=4, verify=True)

    def known(self):
        """Where no such type is left, and keyspread knows that."""
        for database in ("direct", "hashed"):
            harness.eventually("others' types are gone", lambda: self.admins[database].rows(
                "select from pg_type where typname = 'text' and typnamespace <> 11") == [])
        self.both([wire.query("alter table words alter v set default 'd'"), wire.query("insert into words values ('x')")],
                  ready=2)

    def once(self, text, *values):
        return [wire.parse("", text), wire.bind("", "", list(values)), wire.execute(), wire.sync()]

    def test_by_a_session_that_has_written(self):
        bound = "insert into words values ($1::text, 'w')"
        for messages, ready in (
                ([wire.query(DOMAIN), wire.query(self.insert)], 2),
                ([wire.query("create temp table text (a int)"), wire.query("insert into words values ('( 5)'::text)")], 2),
                ([wire.query("select 1 as a into temp text"), wire.query("insert into words values ('( 5)'::text)")], 2),
                ([wire.query(DOMAIN), *self.once(bound, "abc")], 2),
                ([wire.parse("s", bound), wire.sync(), wire.query(DOMAIN), wire.bind("", "s", ["abcdef"]),
                  wire.execute(), wire.sync()], 3),
                ([wire.query(DOMAIN), wire.query("insert into words values ('abcdef', 'abcdef'::text)"),
                  wire.query("insert into words values ('abc') on conflict do nothing")], 3)):
            self.known()
            self.both([*self.once("insert into words values ('before')"), *messages], ready=ready + 1, verify=True)

    def test_values_of_other_columns(self):
        """They are read by the session that has the type."""
        self.known()
        self.both([wire.query(DOMAIN), *self.once("insert into words values ($1, $2::text)", "a", "abc"),
                   wire.query("insert into words values ('b', 'abcdef'::text)"),
                   wire.query("insert into words values ('b') on conflict (k) do update set v = 'uvwxyz'::text")], ready=4,
                  verify=True)
        self.known()
        self.both(self.once("insert into words values ($1, $2::text)", "a", "abcdef"), verify=True)

    @harness.proxied
    def test_in_the_same_text(self):
        """What it says by then is asked for when the text goes in parts; else it is not known when it is hashed."""
        insert = "insert into public.words values ('abcdef'::text, 'v')"
        for before in (DOMAIN, "create temp table text (a int)", f"do $$ begin {DOMAIN}; end $$", "select 1 into temp text"):
            self.known()
            replies = self.play([wire.query("insert into words values ('x')"), wire.query(f"{before}; {insert}")], 2,
                                *self.route(), {})
            error = wire.error_of(replies)
            self.assertIn(error, (None, "0A000", "22P02"))
            stored = [["x", "d"]] if error else [["abc", "v"], ["x", "d"]]
            self.assertEqual(self.contents("hashed", True), [stored])
            self.known()
            replies = self.play([wire.parse("", before), wire.bind("", "", []), wire.execute(), *self.once(insert)], 1,
                                *self.route(), {})
            self.assertIn(wire.error_of(replies), ("0A000", "22P02"))
            self.assertEqual(self.contents("hashed", True), [[]])

    def test_rows_of_a_table(self):
        self.both([wire.query("create temp table text (a int)"),
                   wire.query("insert into words values ('( 5)'::text, 'v')")], ready=2, verify=True)


ROWS_OF = {  # a type whose name a table has: what its text is read as where that is meant is a row
    "bool": "t", "bytea": "\\x6162", "date": "2026-01-02", "float8": "-0", "int2": "5", "int8": "5", "numeric": "1.50",
    "text": "abc", "timestamptz": "2026-01-02 03:04:05+00", "uuid": UUID}


class NamesOfRows(direct_case.DirectCase):
    """Tables called like PostgreSQL's own types: where search_path finds their rows' type first, a cast is to that."""
    tables = tuple(Table(f"of_{name}", [f"k {name} not null", "v text"], ["k"], hash_first=False) for name in ROWS_OF)

    def check(self, name, *before):
        for cell in (f"'{ROWS_OF[name]}'::{name}", f"{name} '{ROWS_OF[name]}'", f"'{ROWS_OF[name]}'"):
            row, read = f"insert into of_{name} values ({cell}, 'v')", f"select v from of_{name} where k = {cell}"
            self.both([*map(wire.query, before), wire.query(row), wire.query(row), wire.query(read)],
                      ready=len(before) + 3, verify=True)
        for cell in ("$1",) if name == "text" else (f"$1::{name}", "$1"):  # texts are asked for: without their context
            row = (wire.parse("", f"insert into of_{name} values ({cell}, 'v')"), wire.bind("", "", [ROWS_OF[name]]),
                   wire.execute(), wire.sync())
            self.both([*map(wire.query, before), *row, *row], ready=len(before) + 2, verify=True)

    def test_in_front(self):
        for name in ROWS_OF:
            self.query(f"create table public.{name} (a int)")
            with self.subTest(name):
                self.check(name, "set search_path = public, pg_catalog")
                self.check(name)
            self.query(f"drop table public.{name}")

    def test_temporary(self):
        for name in ROWS_OF:
            with self.subTest(name):
                self.check(name, f"create temp table {name} (a pg_catalog.int4)")

    def test_a_cast_of_such_rows(self):
        """… makes a value of them."""
        self.query("create table public.bytea (a int)")
        self.query("create function bytes(public.bytea) returns pg_catalog.bytea immutable language sql as"
                   " $$select '\\x6666'::pg_catalog.bytea$$")
        self.query("create cast (public.bytea as pg_catalog.bytea) with function bytes(public.bytea) as assignment")
        for cell in ("'(5)'::bytea", "bytea '(5)'", "'(5)'"):
            for path in ("select 1", FIRST):
                self.both([wire.query(path), wire.query(f"insert into of_bytea values ({cell}, 'v')")], ready=2, verify=True)
        self.query("drop table public.bytea cascade")


if __name__ == "__main__":
    unittest.main()
