"""INSERT … SELECT into configured tables: direct and through keyspread clients see the same, and
each row's hash is right."""
import unittest

import harness
import wire
from direct_case import DirectCase
from harness import Table


def table(name, key, *more, **options):
    names = [column.split()[0] for column in key]
    return Table(name, [*key, *more], names, hash_key=names, hash_first=False, **options)


EVENTS = Table("events", ["userid bigint", "ts timestamptz", "event varchar(5)",
                          "n numeric(6,2) default 7"], ["userid", "ts"], hash_first=False)
ITEMS = table("items", ["id bigserial"], "label text not null default 'none'", "d positive")
ALWAYS = table("always", ["id int generated always as identity"], "v text")
FRONT = Table("front", ["v text", "id serial", "w int default 3"], ["id"], hash_first=False)
TABLES = (EVENTS, ITEMS, ALWAYS, FRONT,
          table("texts", ["k varchar(300)"], "v text"),
          table("small", ["a smallint", "b int"], "v text"), table("days", ["d date"], "v text"),
          table("moments", ["ts timestamp(2)"], "v text"), table("reals", ["r float8"], "v text"),
          table("sums", ["m numeric(8,2)", "l boolean"], "v text"), table("blobs", ["k bytea"], "v text"),
          table("uuids", ["k uuid"], "v text"), table("three", ["a int", "b timestamptz(0)", "c int"], "v text"),
          table("mixed", ["d date", "k text", "i bigint"], "v jsonb", "w int[]", "x interval hour to minute"))

BEFORE = """
    create domain positive as int check (value > 0);
    create schema misleading;
    create function misleading.wrong(bigint, bigint) returns bigint language sql as 'select 1::bigint';
    create operator misleading.+ (leftarg = bigint, rightarg = bigint, function = misleading.wrong);
    create domain misleading.text as int; create domain misleading.int8 as text;
    create table source (i int, t text, ts timestamptz);
    insert into source select g, 'x' || g, timestamptz '2026-01-01 00:00+00' + g * interval '1 h'
      from generate_series(1, 20) g;
"""
AT = "timestamptz '2026-01-01 00:00+00' + g * interval '1 min'"
LITERAL = "'2026-01-02 00:00+00'"

# Texts of one statement each, <NL> for a line's end.
STATEMENTS = f"""
insert into events select 5, {LITERAL}, 'abc'
insert into events (userid, ts) select g, {AT} from generate_series(1, 100) g
insert into events (ts, userid, event) select {AT}, g % 7, NULL from generate_series(1, 50) g returning *
insert into events (userid, ts, event) select '7', ({LITERAL}), 'toolong'
insert into events (userid, ts, event) select '7', {LITERAL}, 'blank   ' returning event || '|'
insert into events (userid, ts, event) select '7'::text, {LITERAL}, 'x'
insert into events (userid, ts, event) select 'seven', {LITERAL}, 'x'
insert into events (userid, ts, event) select 1, 'ä', /* ö */ 'x' from source where i < 3
insert into events (userid, ts) select 1, 'x' where false
insert into events (userid, ts, n) select i, ts, 12345.678 from source
insert into events (userid, ts, n) select i, ts, i / 3.0 from source returning n
insert into events (userid, ts, n) select i, ts, i + 0.005::float8 from source returning n
insert into events (userid, ts) select distinct 5, {LITERAL} from source
insert into events (userid, ts) select distinct 5, ts from source
insert into events (userid, ts, event) select distinct 5, ts, 'x' from source
insert into events (userid, ts, event) select distinct on (1) i % 2, ts, 'x' from source order by 1, 2
insert into events (userid, ts) select 5, {LITERAL} union select 6, {LITERAL}
insert into events (userid, ts, event) select i, ts, 'a' from source union all select i + 100, ts, 'b' from source
insert into events (userid, ts, event) (select i, ts, 'a' from source limit 3) union all (select i + 100, ts, null from source limit 2)
insert into events (userid, ts, event) select i, ts, 'x' from source order by 3, 1 limit 2
insert into events (userid, ts, event) select i, ts, 'x' as e from source order by e, i limit 2
insert into events (userid, ts, event) select i, ts, 'x' e from source group by i, ts, e
insert into events (userid, ts, event) select count(*), max(ts), 'x' from source group by i % 3, 3 order by 1 + 0
insert into events (userid, ts) select i, '2026-01-01' from source order by 2
insert into events (userid, ts, event) select count(*), max(ts), 'x' from source group by rollup(3)
insert into events (userid, ts, n) select count(*), max(ts), 5 from source group by grouping sets ((3), ())
insert into events (userid, ts, event) select count(*), max(ts), 'x' e from source group by (i, e)
insert into events (userid, ts, event) select i, ts, 'x' from source order by (3), (i) limit 2
insert into events (userid, ts, event) select percentile_disc(0.5) within group (order by i), max(ts), 'x' from source
insert into events (userid, ts) values (3, current_date), (2, current_date) order by 1 desc limit 1 returning userid
insert into events (userid, ts) (values (1, timestamptz {LITERAL})) limit 1
insert into events values (3, timestamptz {LITERAL}), (2, {LITERAL}) order by 1 desc limit 1
insert into events values (3, timestamptz {LITERAL}) union select i, ts from source
insert into events table narrow
insert into events select * from narrow
insert into events select n.* from narrow n where userid < 4
insert into events select u.* from (select userid, ts c1, event d1, n c2 from narrow) u
insert into items (label, d) select u.* from (select event d1, userid c1 from narrow) u returning id
insert into events (userid, ts) select i, ts from source where not exists (select from events where userid = i)
insert into events (userid, ts) select 5, {LITERAL} where not exists (select from events where userid = 5)
insert into events (userid, ts) select i, ts from source on conflict do nothing
insert into events (userid, ts, event) select 5, {LITERAL}, t from source where i < 3 on conflict (userid, ts) do nothing
insert into events (userid, ts, event) select 5, {LITERAL}, t from source where i < 3 on conflict (userid, ts) do update set event = excluded.event
insert into events as e (userid, ts, event) select 5, {LITERAL}, t from source s join narrow on userid = i on conflict (userid, ts) do update set event = excluded.event returning e.*
insert into events (userid, ts) select 5, {LITERAL} from source
with x as (select i, ts from source where i > 10) insert into events (userid, ts) select * from x
with recursive x(n) as (select 1 union all select n + 1 from x where n < 5) insert into events (userid, ts, event) select n, {LITERAL}, 'x' from x returning userid
insert into events (userid, ts) with x as (select i, ts from source where i > 10) select i, ts from x order by i desc limit 3
insert into events (userid, ts) (with x (a, b) as (select i, ts from source), y as (select 1) select a, b from x) order by 1 offset 18
with gone as (delete from scratch returning i) insert into events (userid, ts) select i, {LITERAL} from gone
insert into events (userid, ts, event) select userid + 1, ts, event from events
insert into events (userid, ts, event) select i, ts, case when i > 10 then 'a' else 'b' end from source where i is distinct from 5
insert into events (userid, ts) select (i is distinct from 3)::int, ts + i * interval '1 h' from source
insert into events (userid, ts) select s.i as from, s.ts "where" from source s
insert into events (userid, ts, event) select a, b, c from json_to_recordset('[{{"a": 1, "b": "2026-01-01T00:00Z", "c": "x"}}]') as x(a int, b timestamptz, c text)
insert into events (userid, ts) select a, b from unnest('{{1,2}}'::int[], array[timestamptz {LITERAL}, {LITERAL}]) u(a, b)
insert into events (userid, ts) select unnest(array[1, 2, 3]), {LITERAL}
insert into events (userid, ts) values ('a'::text, {LITERAL}) order by 1
insert into events (userid, ts) values (date 'today', {LITERAL}) order by 1 limit 1
insert into events (userid, ts) (values (1, 'b'::text)) union values (2, 'c')
insert into events (userid, ts) table source
insert into events (event, userid, ts) select * from source
insert into events (userid, ts) select 1, {LITERAL}, 3
insert into events (userid, ts, event) select 1, {LITERAL}
insert into events select 1, {LITERAL}, 'x', 4, 5
insert into events (userid, ts) select nosuch, ts from source
insert into events (userid, nosuch) select i, ts from source
insert into events (userid, ts) select i, ts from nosuch
insert into events (userid, ts) select i, ts source
insert into events (userid, ts) select i,, ts from source
insert into events (userid, ts) (select i, ts from source
insert into events (userid, ts) select i, ts from source)
insert into events (userid, ts) select i, ts into x from source
insert into events (userid, ts) select NULL, ts from source
insert into events (userid, ts) select nullif(i, 5), ts from source
insert into events (ts) select ts from source
insert into events (userid, ts) select 1 / (i - 10), ts from source
insert into events (userid, ts) select 3000000000 * 4000000000, ts from source
insert into events (userid, ts) select i, ts from source for update
insert into events (userid, ts) select i, ts from source for share of nosuch
insert into items (label) select t from source order by i desc
insert into items (label) select t from source order by i desc returning id, label
insert into items (label) select t from source order by i limit 3 offset 4 returning *
insert into items select nextval('items_id_seq'), 'x' from source returning id
insert into items (d) select i from source where i < 3 returning *
insert into items (d) select i - 1 from source where i < 3 returning *
insert into items (d, label) select '5', 'x' returning *
insert into items (d, label) select '-5', 'x' returning *
insert into items (label, d) select 'x', 'x' returning *
insert into items (label) select NULL from source
insert into items (label) select 'x' from source where i < 4 on conflict (id) do nothing returning id
insert into items (id) select lastval() from source where i = 1
insert into always (v) select t from source where i < 5 returning id, v
insert into always (id, v) select i, t from source
insert into always (id, v) overriding system value select i + 1000, t from source returning id
insert into always (v) overriding system value select t from source where i < 3 returning id
insert into always (v) overriding user value select t from source where i < 3 returning id
insert into always (id, v) overriding user value select i + 1000, t from source where i < 5 returning id, v
insert into always (id, v) overriding user value select '9', 'x' returning id, v
insert into always (id, v) overriding user value select 'x', 'x' returning id, v
insert into always (v, id) overriding user value select t, null from source where i < 5 returning id, v
insert into front select t from source where i < 4 returning *
insert into front (w) select 1 from source where i < 4 returning *
insert into front select t, i, i from source where i < 4 returning *
insert into texts select repeat('ä', g), g from generate_series(0, 120) g
insert into texts select repeat('x', g), g from generate_series(0, 240) g
insert into texts select NULL, 'x'
insert into texts select E'a\\'b', U&'d\\0061t' UESCAPE '\\' returning *
insert into texts select $$a$$, $x$b$x$ returning *
insert into texts select 'a'<NL>'b', 'c' -- d<NL> returning *
insert into texts select 'x' || i, 'y' from source -- the end
insert into texts select 'x', 'y' /* the end */ ;
insert into texts select 'a', NULL isnull from source where i = 1 returning v
insert into texts select 'a' as from, $$b$$ notnull returning v
insert into texts select n'x', X'1F' returning *
insert into texts (k) select g from generate_series(1, 20) g
insert into small select g, -g from generate_series(-200, 200, 7) g
insert into small select 32767 + i, 1 from source
insert into days select date '2026-01-01' + g * 100, g from generate_series(-5000, 5000, 777) g
insert into days select '2026-01-02', 'x' union all select date '1970-01-01', 'y'
insert into days select ts, i from source where i % 10 = 0 returning d
insert into moments select timestamp '1970-01-01' + g * interval '1.23456789 s', g from generate_series(-20, 20) g
insert into moments select '2026-01-01 00:00:00.129', 'x' returning ts
insert into moments select ts, t from source
insert into reals select unnest(array[0, 1.5, 'nan', 'inf', '-inf', 1e308, 5e-324, 0.1]::float8[])
insert into reals select -0.0::float8
insert into reals select 'infinity'::float8 - 'infinity'
insert into reals select i / 3.0, 'x' from source
insert into sums select g / 7.0, g % 2 = 0 from generate_series(-50, 50) g
insert into sums select '1.005', 't' returning m
insert into sums select 'nan', false union select 100, true union select 0.00, false
insert into sums select 1234567.8, true
insert into blobs select decode(repeat('ff00', g), 'hex') from generate_series(0, 100) g
insert into blobs select 'a\\\\b', 'x' returning k
insert into uuids select md5(g::text)::uuid from generate_series(1, 50) g
insert into uuids select '{{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}}', 'x' returning k
insert into three select g, {AT}, -g from generate_series(1, 30) g
insert into mixed select ts, t, i, '{{"a": 1}}', '{{1,2}}', '5' from source returning *
insert into mixed select ts, t, i, NULL, NULL, interval '1:02:03' from source returning *
insert into mixed (d, k, i, w[2]) select ts, t, i, 7 from source returning w
insert into mixed (d, k, i, v) select ts, t, i, '{{' from source
insert into mixed (d, k, i) select ts, repeat(t, 3 * i), i from source
""".strip().split("\n")

SETUP = """
    create table narrow (userid int, ts timestamptz, event text, n numeric);
    insert into narrow select g, timestamptz '2026-01-01 00:00+00', 'e' || g, g / 3.0 from generate_series(1, 9) g;
    create table scratch as select i from source;
"""



# What verify_hashes() cannot read: their hashes are those that the same rows get from VALUES.
STRANGE = {
    "numbers": ("k bigint", "0", "-1", "9223372036854775807", "-9223372036854775808", "4294967296"),
    "fixed": ("k char(4)", "'a'", "'ab  '", "''", "'    '", "'äöü'"),
    "days": ("k date", "'infinity'", "'-infinity'", "'0044-03-15'", "'5874897-12-31'"),
    "moments": ("k timestamp", "'infinity'", "'-infinity'", "'294276-12-31 23:59:59.999999'"),
    "zoned": ("k timestamptz(3)", "'infinity'", "'-infinity'", "'0001-01-01 00:00+00'"),
    "reals": ("k float8", "'nan'", "0", "-0.0::float8", "'inf'", "'-inf'", "5e-324", "1e308"),
    "sums": ("k numeric", "'nan'", "'inf'", "0.00", "-1.50", "1e30", "123456789012345678901234567890.5"),
}


def written(text):
    return text.replace("<NL>", "\n")


class Queries(DirectCase):
    tables = TABLES
    before_sql = BEFORE
    setup_sql = SETUP

    def setUp(self):
        for admin in self.admins.values():
            harness.empty(admin, [table.name for table in TABLES], restart=True)

    def test_in_texts(self):
        for text in STATEMENTS:
            with self.subTest(text):
                self.query(written(text), verify=True)

    def test_prepared(self):
        for text in STATEMENTS:
            self.setUp()
            with self.subTest(text):
                self.both([wire.parse("s", written(text)), wire.describe("S", "s"), wire.sync(),
                           wire.bind("", "s"), wire.describe("P", ""), wire.execute(), wire.sync(),
                           wire.bind("", "s"), wire.execute(), wire.sync()], ready=3, verify=True)

    def test_in_transactions(self):
        for end in ("commit", "rollback"):
            for text in STATEMENTS[::6]:
                self.setUp()
                with self.subTest(text, end=end):
                    self.both([wire.query(one) for one in (
                        "begin", written(text), "savepoint a",
                        "insert into items (label) select 'behind' returning id", "rollback to a", end)],
                        ready=6, verify=True)

    def test_in_one_query(self):
        for text in STATEMENTS[::6]:
            self.setUp()
            with self.subTest(text):
                self.query("insert into items (label) select 'before'; " + written(text)
                           + "; insert into items (label) select 'behind' returning id", verify=True)

    def test_under_other_settings(self):
        """But for warnings of backslashes, which come once for each time that a text is read."""
        for setting in ("standard_conforming_strings = off", "datestyle = 'German'",
                        "search_path = misleading, pg_catalog, public", "bytea_output = 'escape'",
                        "extra_float_digits = 0", "client_encoding = 'latin1'", "timezone = 'Asia/Tokyo'",
                        "intervalstyle = 'iso_8601'"):
            for text in STATEMENTS[1::12]:
                with self.subTest(setting=setting, text=text):
                    self.setUp()
                    text = written(text).encode("latin1" if "latin1" in setting else "utf8")
                    self.both([wire.query("set escape_string_warning = off"), wire.query("set " + setting),
                               wire.frame("Q", text + b"\0")], ready=3, verify=True)

    def test_with_parameters(self):
        for text, *values in (
                ("insert into events (userid, ts) select $1, $2", "5", "2026-01-01 00:00+00"),
                ("insert into events (userid, ts, event) select $1, $2, $3 returning *", "5",
                 "2026-01-01 00:00+00", "äöü"),
                ("insert into events (userid, ts, event) select $1, $2, $3", "5", "2026-01-01 00:00+00", "toolong"),
                ("insert into events (userid, ts) select $1, $2", "five", "2026-01-01 00:00+00"),
                ("insert into events (userid, ts) select i + $1::int, ts from source where i < $2", "5", "7"),
                ("insert into events (userid, ts) select u, timestamptz '2026-01-01 00:00+00' from unnest($1::int[]) u "
                 "on conflict do nothing returning userid", "{3,1,2}"),
                ("insert into events (userid, ts) select * from unnest($1::int[], $2::timestamptz[])",
                 "{3,1}", "{2026-01-01 00:00+00,2026-01-02 00:00+00}"),
                ("insert into events (userid, ts, event) select a, b, $2 from json_to_recordset($1) "
                 "as x(a int, b timestamptz)", '[{"a": 1, "b": "2026-01-01T00:00Z"}]', "x"),
                ("insert into events (userid, ts) select $1, '2026-01-01 00:00+00' where not exists "
                 "(select from events where userid = $1)", "5"),
                ("insert into texts select $1, $2", "ä" * 20, None),
                ("insert into texts select $1, $1", "x"),
                ("insert into texts values ($1, $2) order by 1", "ä", "b"),
                ("insert into texts select $1 union select $2", "ä", "b"),
                ("insert into items (label, d) select $1, $2::int returning id", "ä", "5"),
                ("insert into items (label, d) select $1, $2::int returning id", "ä", "-5"),
                ("insert into mixed (d, k, i, v) select $1, $2, $3, $4", "2026-01-01", "x", "7", "[1]"),
                ("insert into texts select distinct $1", "x"),
                ("insert into texts select $1 limit $2", "x", "1")):
            for formats in ((), (1,)):
                if formats and not all(value and "ä" in value for value in values):
                    continue
                self.setUp()
                with self.subTest(text, formats=formats):
                    self.both([wire.parse("s", text), wire.describe("S", "s"),
                               wire.bind("", "s", values, formats), wire.describe("P", ""),
                               wire.execute(), wire.sync(),
                               wire.bind("", "s", [*values, "one more"]), wire.execute(), wire.sync(),
                               wire.bind("p", "s", values, formats), wire.execute("p"), wire.sync()],
                              ready=3, verify=True)


class Rules(DirectCase):
    """Hashes that a row of VALUES gets, too, by whichever function."""
    tables = [table(f"{name}_{function}", [column], hash_function=function)
              for function in ("xxh3", "pg_hash", "numeric_hash") for name, (column, *_) in STRANGE.items()
              if function != "numeric_hash" or name == "numbers"]

    @unittest.skipIf(harness.DIRECT, "there is no hash")
    def test_each_value(self):
        admin = self.admins["hashed"]
        with wire.Wire(("127.0.0.1", self.keyspread.port)) as session:
            session.login(harness.USER, "hashed")
            for one in self.tables:
                _, *values = STRANGE[one.name.split("_")[0]]
                for value in values:
                    with self.subTest(one.name, value=value):
                        stored = []
                        for text in (f"values ({value})", f"select {value}"):
                            self.assertEqual(wire.tags_of(session.query(f"insert into {one.name} {text}")),
                                             ["INSERT 0 1"])
                            stored += admin.rows(f"select k_hash, k from {one.name}")
                            admin.rows(f"truncate {one.name}")
                        self.assertEqual(stored[0], stored[1])


PROBE = table("probe", ["k int"], "v text")
NUMBERS = table("numbers", ["id bigserial"], "v text", sequences={"block": 10})


class Sessions(DirectCase):
    """What is under way, what others do, and what code of the database's own sees."""
    tables = (PROBE, NUMBERS)
    setup_sql = """
        create function look() returns trigger language plpgsql as $$ begin
          new.v := new.v || ' of ' || (select count(*) from probe); return new; end $$;
        create function told() returns trigger language plpgsql as $$ begin
          raise notice '% rows', (select count(*) from new_rows); return null; end $$;
        create trigger look before insert on probe for each row execute function look();
        create trigger told after insert on probe referencing new table as new_rows
          for each statement execute function told();
        create function odd(n int) returns int language plpgsql immutable as $$ begin
          raise notice 'odd %', n; if n = 40000 then perform pg_sleep(100); end if; return n; end $$;
        grant usage on sequence numbers_id_seq to public;
    """

    def setUp(self):
        for admin in self.admins.values():
            admin.rows("truncate probe, numbers restart identity")

    def test_the_table_that_it_writes(self):
        self.both([wire.query(text) for text in (
            "insert into probe select g, 'a' from generate_series(1, 5) g",
            "insert into probe select k + 5, v from probe where k > 2 returning *",
            "insert into probe select k, 'b' from probe on conflict (k) do update set v = excluded.v",
            "insert into probe select odd(g), 'c' from generate_series(100, 102) g",
            "insert into probe select 1000 / (g - 3), 'd' from generate_series(1, 5) g")],
            ready=5, verify=True)

    def test_what_the_session_has_drawn(self):
        self.both([wire.query(text) for text in (
            "insert into numbers (v) select g from generate_series(1, 3) g returning id", "select lastval()",
            "insert into numbers (v) select 'x' returning id", "select lastval(), currval('numbers_id_seq')")],
            ready=4, verify=True)

    @unittest.skipIf(harness.DIRECT, "there is no block")
    def test_numbers_that_are_drawn_ahead(self):
        with wire.Wire(("127.0.0.1", self.keyspread.port)) as session:
            session.login(harness.USER, "hashed")
            for text in ("values ('a')", "select 'b'", "values ('c')", "select g from generate_series(1, 3) g"):
                replies = session.query(f"insert into numbers (v) {text} returning id")
                last = [reply.row()[0] for reply in replies if reply.kind == "D"][-1]
                replies = session.query("select lastval(), currval('numbers_id_seq')")
                self.assertEqual([reply.row() for reply in replies if reply.kind == "D"], [[last, last]])
        self.contents("hashed", verify=True)

    def test_a_cancel_in_the_middle(self):
        for database, port in self.routes():
            with self.log_in(database, port) as session:
                session.send(wire.query("insert into probe select odd(g), 'x' from generate_series(39998, 50000) g"))
                while b"odd 40000" not in session.read().body:
                    pass
                with wire.Wire(("127.0.0.1", port)) as other:
                    other.send(wire.cancel_request(session.pid, session.key))
                    other.read_to_end()
                self.assertEqual(wire.error_of(session.read_ready()), "57014")
            self.assertEqual(self.contents(database)[0], [])

    def test_a_client_that_leaves(self):
        for database, port in self.routes():
            session = wire.Wire(("127.0.0.1", port))
            session.login(harness.USER, database)
            session.send(wire.query("insert into probe select g, 'x' from generate_series(1, 1000) g"),
                         wire.terminate())
            session.close()
            admin = self.admins[database]
            harness.eventually("the rows", lambda admin=admin: admin.rows("select count(*) from probe") == [["1000"]])
            self.contents(database, verify=True)

    @unittest.skipIf(harness.DIRECT, "it is keyspread's memory")
    def test_many_rows_take_no_memory(self):
        """Nor do those that are returned while their client does not read."""
        rows = "(v) select repeat('x', 100) from generate_series(1, {}) g"
        for returning in "", " returning *":
            with self.subTest(returning), wire.Wire(("127.0.0.1", self.keyspread.port)) as session:
                session.login(harness.USER, "hashed")
                session.query("insert into numbers " + rows.format(10) + returning)
                before = self.keyspread.memory_peak()
                session.send(wire.query("insert into numbers " + rows.format(100_000) + returning))
                if returning:
                    harness.eventually("the server waits for its client", lambda: self.admins["hashed"].rows(
                        "select from pg_stat_activity where wait_event = 'ClientWrite'"))
                replies = session.read_ready()
                self.assertEqual(wire.tags_of(replies), ["INSERT 0 100000"])
                self.assertEqual(wire.kinds(replies).count("D"), 100_000 if returning else 0)
                if not harness.instrumented():
                    self.assertLess(self.keyspread.memory_peak() - before, 8 << 20)
            self.contents("hashed", verify=not returning)


if __name__ == "__main__":
    unittest.main()
