"""UPDATEs that give columns of the key new values: direct and through keyspread clients see the same, and each row's
hash is that of its new key, whoever computes its values."""
import contextlib
import struct
import unittest

import harness
import wire
import direct_case
from harness import Table


def table(name, key, *more, **options):
    names = [column.split()[0] for column in key]
    return Table(name, [*key, *more], names, hash_key=names, hash_first=False, **options)


EVENTS = Table("events", ["userid bigint", "ts timestamptz", "event varchar(5)",
                          "n numeric(6,2) default 7"], ["userid", "ts"], hash_first=False)
BOTH = table("both_keys", ["a int default 7", "b varchar(5)"], "v text", "w int")
BY_PG = table("by_pg", ["k bigint", "t text"], "v text", hash_function="pg_hash")
ITEMS = table("items", ["id bigserial"], "v text")
ALWAYS = table("always", ["id int generated always as identity"], "v text")
TABLES = (EVENTS, BOTH, BY_PG, ITEMS, ALWAYS)

BEFORE = """
    create schema misleading;
    create function misleading.wrong(bigint, bigint) returns bigint language sql as 'select 1::bigint';
    create operator misleading.+ (leftarg = bigint, rightarg = bigint, function = misleading.wrong);
    create domain misleading.text as int; create domain misleading.int8 as text;
    create function misleading.num_nulls(bigint) returns int language sql as 'select 5';
    create table source (i int, t text);
    insert into source select g, 'x' || g from generate_series(1, 9) g;
    create sequence numbers;
"""
ROWS = """
    insert into events (userid, ts, event) select g, timestamptz '2026-01-01 00:00+00' + g * interval '1 h', 'e' || g
      from generate_series(1, 6) g;
    insert into both_keys select g, 'k' || g, 'v' || g, g from generate_series(1, 6) g;
    insert into by_pg select g, 'k' || g, 'v' || g from generate_series(1, 6) g;
    insert into items (v) select 'v' || g from generate_series(1, 6) g;
    insert into always (v) select 'v' || g from generate_series(1, 6) g;
"""
NUMBERS = "select setval('numbers', 100), setval('items_id_seq', 6), setval('always_id_seq', 6)"

# Texts of one statement each, <NL> for a line's end.
STATEMENTS = """
update events set userid = userid + 1000
update events set userid = userid + 1000 where userid = 3
update events set userid = userid + 1000 where userid = 3 and ts > '2026-01-01' returning *
update events set userid = 77 where userid in (3, 99)
update events e set userid = e.userid * 2 + 100, event = 'x' where e.userid > 3 returning e.userid, event
update public.events as "E" set event = event || '!', userid = "E".userid - 50 where event = 'e4' returning "E".*
update only events set userid = '99' where userid = 2
update events set userid = '99' where userid = 2
update events set userid = 'nine' where userid = 2
update events set userid = null where userid = 2
update events set userid = (null) where userid = 2
update events set userid = default where userid = 2
update events set userid = (('98')) where userid = 2
update events set userid = -5.5 where userid = 2
update events set userid = 2.5::float8 where userid = 2
update events set userid = 1e30 where userid = 2
update events set userid = true where userid = 2
update events set userid = '7'::text where userid = 2
update events set userid = case when userid > 3 then userid + 10 else -userid end
update events set userid = 1 / (userid - 3)
update events set userid = nosuch
update events set event = 'ä', /* ö */ userid = nosuch + 1 where userid = 1
update events set event = 'ä', userid = userid + 1, nosuch = 5
update events set event = 'ä', userid = userid + 50 where nosuch = 1
update events set event = 'ä', userid = userid + 50 returning nosuch
update events set userid = userid + 50, event = 'toolong'
update events set userid = count(*)
update events set userid = max(userid)
update events set userid = generate_series(1, 3)
update events set userid = row_number() over ()
update events set userid = userid + (select count(*) from source)
update events set userid = (select max(i) + 100 from source s where s.i > events.userid)
update events set userid = userid + 1 + (select max(userid) from (select * from events) e)
update events set userid = 100 + (select userid from events e where e.userid = 5 and e.ts = events.ts) where userid = 5
update events set userid = nextval('numbers')
update events set userid = nextval('numbers') + random() * 0 where userid > 2 returning userid
update events set userid = s.i + 100, event = s.t from source s where s.i = events.userid
update events set userid = events.userid + i from source join source y using (i) where i = userid and i is distinct from 3
update events set event = 'x', userid = userid + (event is distinct from 'e3')::int + 100 from (select 1) x
with x as (select i from source where i = 3) update events set userid = 100 + x.i from x where x.i = userid returning userid, x.*
with x(n) as (select 5) update events set userid = (select n from x) * 10 where userid = 1
with gone as (delete from source where i = 0 returning i) update events set userid = 1000 where userid = 1
update events set userid = userid + 5 -- behind<NL> where userid = 2 -- and this
update events set (userid) = row(userid + 10)
update events set (userid, event) = (userid + 10, 'x') where userid < 3 returning userid, event
update events set (event, userid) = row('x', userid + 10), n = 5
update events set (userid, event, n) = (userid + 10, default, default)
update events set (userid, event) = (10, 'toolong') where userid = 3
update events set userid = 1 where userid = 2 and ts = '2026-01-01 02:00+00'
update events set userid = 1, ts = ts - interval '1 h' where userid = 2
update events set userid = 9, ts = ts - interval '1 h' where userid = 2
update events set userid = 5 where false
update events set userid = 9 + 1 where userid = 1; update events set userid = 11 where userid = 10 returning userid
update both_keys set a = a + 10
update both_keys set a = a + 10, b = b || 'x'
update both_keys set b = 'toolong' where a = 1
update both_keys set b = 'blank   ' where a = 1 returning b || '|'
update both_keys set b = 'toolong'::text where a = 1
update both_keys set b = 5, v = '5', a = '5', w = '5' where a = 1 returning *
update both_keys set w = 0, b = upper(b), v = b, a = a * 2 where a < 4
update both_keys set b = b, a = a + 1 where a = 6
update both_keys set a = 6, b = 'new' where a = 6
update both_keys set (a, v, b) = (a + 10, b, v)
update both_keys set (b, w) = ('x', a), (v, a) = row('y', w + 20) where a > 3 returning *
update both_keys set w = 1, (b, v) = ('x', null), a = default where a = 3
update both_keys set a = default, b = default where a = 3
update both_keys set a = w + 7, v = 'ä', b = nosuch
update both_keys set a = 'x', v = 'ä', b = 'y'
update both_keys set v = 'ä', a = w + 7, b = true
update both_keys set v = 'ä', a = current_date, b = 'y'
update both_keys set v = 'ä', b = 'y', a = current_date
update both_keys set a = (select max(i) from source) + a, v = (select min(t) from source), b = 'z' || (select count(*) from source)
update both_keys set b = E'a\\'b' where a = 1
update both_keys set b = U&'d!0061t' UESCAPE '!', a = 8 where a = 1
update both_keys set b = 'a'<NL>'b', v = 'c' where a = 1
update both_keys set b = $$a$$ where a = 1
update both_keys set b = 'B' collate "C" where a = 1
update both_keys as keyspread set a = keyspread.a + 10
update both_keys d set a = d.a + 10, b = 'x' || d.a
update both_keys s set a = s.a + 10 from source v where v.i = s.a
update both_keys set a = w + 3000000000
update both_keys set a = array_length(array[a, w], 1) + (array[w, 5])[1] + 10, b = substring(b from 2 for 1)
update by_pg set k = k + 1000
update by_pg set k = k + 1000, t = t || 'x' where k < 4 returning *
update by_pg set t = repeat('ä', 300) where k = 1
update by_pg set k = '5', t = '6' where k = 1
update items set id = id + 100 where id > 3 returning id
update items set id = default where v > 'v3' returning id
update always set id = 5 where id = 6
update events set event = 'x', userid = (select count(*) from source where i = count(*))
update events set event = 'x', userid = (values (count(*)))
update events set userid = cast(date '2026-01-01' as bigint)
update events set userid = userid + 1000 where current of c
update nosuch set userid = userid + 1
update events set userid =
update events set userid = userid + where userid = 1
update events set userid = $1
""".strip().split("\n")

# A constant's error is told to Bind, but to Execute through keyspread.
EARLY = ("= 1e30 ", "= 'toolong'")


def written(text):
    return text.replace("<NL>", "\n")


class KeysCase(direct_case.DirectCase):
    """Each test finds the same rows: the first one fills the tables as a client does, all others with copies of these rows."""
    rows = ""
    numbers = ""  # where sequences are behind them

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.filled = set()

    def setUp(self):
        names = [one.name for one in self.tables]
        for database, port in dict(self.routes()).items():
            admin = self.admins[database]
            harness.empty(admin, names, restart=True)
            if database in self.filled:
                admin.rows("".join(f"insert into {name} overriding system value table kept_{name};" for name in names))
            else:
                self.assertIsNone(wire.error_of(self.play([wire.query(self.rows)], 1, database, port, {})))
                admin.rows("".join(f"create temp table kept_{name} as table {name};" for name in names))
                self.filled.add(database)
            admin.rows(self.numbers)


class Changes(KeysCase):
    tables = TABLES
    before_sql = BEFORE
    rows, numbers = ROWS, NUMBERS

    def contents(self, database, verify=True):
        if database == "hashed":
            self.verify(one for one in TABLES if one is not BY_PG)
            self.assertEqual([], self.admins[database].rows(
                f"select k, t from by_pg where k_hash <> {harness.stored_of('hash_record_extended(row(k, t), 0)')}"))
        return super().contents(database)

    def test_in_texts(self):
        for text in STATEMENTS:
            self.setUp()
            with self.subTest(text):
                self.query(written(text))

    def test_prepared(self):
        for text in STATEMENTS:
            if any(early in text for early in EARLY):
                continue
            self.setUp()
            with self.subTest(text):
                self.both([wire.parse("s", written(text)), wire.describe("S", "s"), wire.sync(),
                           wire.bind("", "s"), wire.describe("P", ""), wire.execute(), wire.sync(),
                           wire.bind("", "s"), wire.execute(), wire.sync()], ready=3)

    def test_in_transactions(self):
        for end in ("commit", "rollback"):
            for text in STATEMENTS[::6]:
                self.setUp()
                with self.subTest(text, end=end):
                    self.both([wire.query(one) for one in (
                        "begin", written(text), "savepoint a", "update items set id = id + 5000",
                        "rollback to a", end)], ready=6)

    def test_in_one_query(self):
        for text in STATEMENTS[::6]:
            self.setUp()
            with self.subTest(text):
                self.query("update items set id = id + 500; " + written(text)
                           + "; update items set v = 'ä', id = id + 50 returning id")

    def test_under_other_settings(self):
        for setting in ("standard_conforming_strings = off", "datestyle = 'German'",
                        "search_path = misleading, pg_catalog, public", "bytea_output = 'escape'",
                        "extra_float_digits = 0", "client_encoding = 'latin1'", "timezone = 'Asia/Tokyo'"):
            for text in STATEMENTS[1::9]:
                if "= off" in setting and "U&" in text:
                    continue
                with self.subTest(setting=setting, text=text):
                    self.setUp()
                    text = written(text).encode("latin1" if "latin1" in setting else "utf8")
                    self.both([wire.query("set " + setting), wire.frame("Q", text + b"\0")], ready=2)

    def test_with_parameters(self):
        for text, types, *values in (
                ("update events set userid = $1 where userid = $2", [20, 20], "70", "2"),
                ("update events set userid = $1 where userid = $2", (), "70", "2"),
                ("update events set userid = $1 where event = $2", [705, 705], "70", "e2"),  # unknown
                ("update events set userid = $1, event = $2 where userid = $3 and ts = '2026-01-01 01:00+00'", (),
                 "70", "x", "1"),
                ("update both_keys set a = $1, b = $2, v = $3 where a = $4 and b = $5 returning *", (),
                 "70", "b", "v", "3", "k3"),
                ("update both_keys set a = $1, b = $2, v = $3 where a = $4 and b = $5", (), "4", "k4", "v", "3", "k3"),
                ("update events set userid = $1 + userid where userid = $2", (), "70", "2"),
                ("update events set userid = $1 where userid > $2", (), "70", "5"),
                ("update events set userid = $1 where userid > $2", [23, 20], "70", "5"),
                ("update events set userid = $1 where userid > $2", [25], "70", "5"),
                ("update events set userid = $1 where userid > $2", (), "seventy", "5"),
                ("update events set userid = $1 where userid > $2", (), None, "5"),
                ("update events set userid = $1 where userid > $1", [20], "4"),
                ("update events set event = $3, ts = $1, userid = $2 where userid = 3 returning *", (),
                 "2027-01-01 00:00:00", "70", "äöü"),
                ("update events set event = $1, n = $2, userid = 5 + $3 where userid = 3", (), "toolong", "1", "70"),
                ("update events e set userid = $1 from source s where s.i = e.userid and s.t = $2", (), "70", "x4"),
                ("update both_keys set a = $1, b = $2, v = $3 where w = $4 returning *", (), "70", "ä", "z", "3"),
                ("update both_keys set b = $2, v = $1 where w = $3", (), "v", "blank   ", "3"),
                ("update both_keys set b = $2, v = $1 where w = $3", [25, 25], "v", "blank   ", "3"),
                ("update both_keys set (b, a) = ($2, $1) where w = $3", (), "70", "x", "3"),
                ("update both_keys set a = coalesce($1, a + 10), b = coalesce($2, b)", (), None, "x"),
                ("update by_pg set t = $1 || $2 where k = $3", (), "ä", "b", "3"),
                ("update by_pg set k = nextval($1) where k > $2", (), "numbers", "3")):
            for name in ("", "s"):
                self.setUp()
                with self.subTest(text, types=types, name=name):
                    self.both([wire.query("set timezone = 'Asia/Tokyo'"),
                               wire.parse(name, text, types), wire.describe("S", name), wire.sync(),
                               wire.bind("", name, values), wire.describe("P", ""), wire.execute(), wire.sync(),
                               wire.bind("", name, [*values, "one more"]), wire.execute(), wire.sync(),
                               wire.bind("p", name, values), wire.execute("p"), wire.sync()], ready=5)

    def test_binary_parameters(self):
        for value in (struct.pack("!q", 70), struct.pack("!i", 70), None):
            self.setUp()
            with self.subTest(value):
                self.both([wire.parse("", "update events set userid = $1, event = $2 where userid > 5"),
                           wire.bind("", "", [value, "x"], formats=[1, 0]), wire.execute(), wire.sync()])


def column(name, declaration, *values):
    return table(name, [f"k {declaration}"], "v int"), values


# Keys of each type, and expressions of the next one.
TYPES = [
    column("smalls", "smallint", "k + 1", "-32768", "'7'", "40000", "2.5", "3.5::float8"),
    column("bigs", "bigint", "k - 10", "9223372036854775807", "-9223372036854775808", "1e18", "'0x1'"),
    column("texts", "text", "k || 'ä'", "repeat('x', 240)", "''", "5", "'a''b'", "now()::date", "E'\\\\'"),
    column("chars", "char(5)", "k || 'x'", "'ab  '", "''", "'äöüßx'", "'toolong'", "'blank    '", "5"),
    column("dates", "date", "k + 1", "'infinity'", "'2026-02-30'", "current_date", "'2026-01-02'::timestamp"),
    column("stamps", "timestamp(2)", "k + interval '1.239 s'", "'2026-01-01 00:00:00.129'", "current_date", "'-infinity'"),
    column("zoned", "timestamptz(3)", "k + interval '1.2399 s'", "'2026-03-29 02:30:00'", "'2026-01-01 00:00:00.1239'",
           "timestamp '2026-07-01 00:00'", "date '2026-01-01'", "'01/02/2026'"),
    column("reals", "float8", "k / 3", "-0.0::float8", "'nan'", "'inf'", "1e-320", "0.1", "1::numeric / 3"),
    column("sums", "numeric(8,2)", "k * 1.005", "'nan'", "1.005", "100.10", "1e9", "'12.345'", "0.5::float8"),
    column("exact", "numeric", "k / 7", "1.50", "0.000", "1e30", "'-inf'", "-5"),
    column("uuids", "uuid", "md5(k::text)::uuid", "'{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}'", "'x'"),
    column("blobs", "bytea", "k || '\\x00'", "'\\xff00'", "'a\\\\b'", "decode('00ff', 'hex')"),
    column("flags", "boolean", "not k", "'t'", "1", "k is distinct from true", "null"),
]
FIRST = {"texts": "'k'", "chars": "'k'", "dates": "'2026-01-01'", "stamps": "'2026-01-01 00:00:00'",
         "zoned": "'2026-01-01 00:00:00+00'", "uuids": "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
         "blobs": "'\\x01'", "flags": "true"}


class Types(direct_case.DirectCase):
    """One row, in partitions: it goes to the one of its new key. Its hash is the one that an INSERT gives it."""
    tables = [one for one, _ in TYPES]
    partitioned = True

    def test_each_type(self):
        for setting in ("datestyle = 'ISO, DMY'", "timezone = 'America/New_York'",
                        "standard_conforming_strings = off"):
            for one, values in TYPES:
                for value in values:
                    with self.subTest(one.name, value=value, setting=setting):
                        self.change(one, value, setting)

    def change(self, one, value, setting):
        fill = f"insert into {one.name} (k, v) values ({FIRST.get(one.name, '1')}, 1)"
        texts = (fill, "set escape_string_warning = off", "set " + setting,
                 f"update {one.name} set v = v + 1, k = {value} where v = 1")
        answers, stored = [], []
        for route in self.routes():
            admin = self.admins[route[0]]
            answers.append([direct_case.shown(reply) for reply in self.play(map(wire.query, texts), 4, *route, {})])
            stored.append(admin.rows(f"select k::text, v from {one.name}"))
            if route[0] == "hashed":
                changed = admin.rows(f"select k_hash from {one.name}")
                [[key, _]] = stored[-1]
                harness.empty(admin, [one.name])
                insert = "insert into %s (k, v) values ('%s', 1)" % (
                    one.name, key.replace("'", "''") if key is not None else "")
                self.assertIsNone(wire.error_of(self.play([wire.query(insert)], 1, *route, {})))
                self.assertEqual(changed, admin.rows(f"select k_hash from {one.name}"))
            harness.empty(admin, [one.name])
        self.assertEqual(*answers)
        self.assertEqual(*stored)


KEPT = table("kept", ["k int"], "v text", "w int")


class Others(unittest.TestCase):
    """What is known of the table changes, or others change rows, between Parse and Bind, or while an UPDATE waits."""

    def setUp(self):
        self.postgres = harness.Postgres()
        self.addCleanup(self.postgres.remove)
        self.postgres.create_database("app")
        self.admin = self.postgres.admin("app")
        self.addCleanup(self.admin.close)

    def start(self, *tables, partitioned=True):
        self.tables = tables
        for one in tables:
            self.admin.rows(one.ddl(True, partitioned))
        self.admin.rows("create schema other; create table other.kept (k int, v text, k_hash bigint); "
                        "insert into other.kept values (1, 'other', 5)")
        self.keyspread = harness.Keyspread(harness.backend_config(self.postgres, tables))
        self.addCleanup(self.keyspread.stop)
        self.session = self.connect()

    def connect(self):
        session = wire.Wire(("127.0.0.1", self.keyspread.port))
        self.addCleanup(session.close)
        session.login(harness.USER, "app")
        return session

    def check(self, one, *keys):
        with contextlib.closing(harness.connect_admin(self.postgres, "app")) as connection:
            harness.verify_hashes(self, connection, one)
        self.assertEqual(sorted(key for [key] in self.admin.rows(f"select {', '.join(one.key)} from {one.name}")),
                         sorted(keys))

    def answer(self, *messages):
        replies = self.session.ask(*messages)
        return wire.error_of(replies) or wire.tags_of(replies)[-1]

    def run_it(self, *values):
        return self.answer(wire.bind("", "s", values), wire.execute(), wire.sync())

    def prepare(self, text="update kept set k = k + $1"):
        self.session.rows("insert into kept (k, v) values (1, 'x'), (2, 'y')")
        self.session.ask(wire.parse("s", text), wire.sync())
        self.assertEqual(self.run_it("10"), "UPDATE 2")

    @harness.proxied
    def test_names_that_mean_others(self):
        self.start(KEPT)
        self.prepare()
        for change in ("set search_path = other", "create temp table kept (k int, k_hash bigint)"):
            self.session.rows(change)
            self.assertEqual(self.run_it("10"), "0A000")
            self.assertEqual(self.answer(wire.query("update kept set k = k + 1")),
                             "UPDATE 1" if "set" in change else "UPDATE 0")
            self.session.rows("discard all")
            self.session.ask(wire.parse("s", "update kept set k = k + $1"), wire.sync())
        replies = self.session.query("set search_path = other; update kept set k = k + 1")
        self.assertEqual(wire.tags_of(replies), ["SET", "UPDATE 1"])
        self.assertEqual(self.admin.rows("select k, k_hash from other.kept"), [["3", "5"]])
        self.check(KEPT, "11", "12")

    @harness.proxied
    def test_names_that_change_in_the_same_group(self):
        self.start(KEPT)
        self.prepare()
        for before in ("set search_path = other", "create table more (k int)"):
            replies = self.session.ask(wire.parse("", before), wire.bind("", ""), wire.execute(),
                                       wire.bind("", "s", ["10"]), wire.execute(), wire.sync())
            self.assertIn(wire.error_of(replies), ("0A000", None))
            replies = self.session.ask(wire.parse("", before), wire.bind("", ""), wire.execute(),
                                       wire.parse("", "update kept set k = k + 1"), wire.bind("", ""),
                                       wire.execute(), wire.sync())
            self.session.rows("discard all")
            self.session.ask(wire.parse("s", "update kept set k = k + $1"), wire.sync())
        self.assertEqual(self.admin.rows("select k_hash from other.kept"), [["5"]])
        self.check(KEPT, *(key for [key] in self.admin.rows("select k from kept")))

    @harness.proxied
    def test_the_session_itself_changes_the_table(self):
        self.start(KEPT)
        self.prepare()
        for text, values, tag, at_once in (
                ("update kept set k = k + $1", ["10"], "UPDATE 2", "UPDATE 2"),
                ("update kept set k = $1, v = 'z' where k = $2", ["21", "11"], "UPDATE 1", "UPDATE 0"),
                ("update kept set k = $1, v = 'z' where k = $2", ["11", "11"], "UPDATE 1", "UPDATE 1")):
            with self.subTest(text, values=values):
                parse = wire.parse("s", text)
                self.session.ask(wire.close("S", "s"), parse, wire.sync())
                self.session.rows("begin")
                self.session.rows("alter table kept add more int")
                self.assertEqual(self.run_it(*values), tag)
                self.assertEqual(self.answer(wire.close("S", "s"), parse, wire.bind("", "s", values),
                                             wire.execute(), wire.sync()), at_once)
                self.session.rows("rollback")
        self.check(KEPT, "11", "12")

    @harness.proxied
    def test_executed_in_sql(self):
        self.start(KEPT)
        self.prepare()
        self.assertEqual(self.answer(wire.query("execute s(5)")), "0A000")
        self.assertEqual(self.answer(wire.query("explain analyze execute s(5)")), "0A000")
        self.assertEqual(self.run_it("10"), "UPDATE 2")
        self.check(KEPT, "21", "22")

    @harness.proxied
    def test_another_hash_function(self):
        self.start(KEPT)
        self.session.ask(wire.parse("s", "update kept set k = k + $1"), wire.sync())
        self.assertEqual(self.run_it("10"), "UPDATE 0")
        other = table("kept", ["k int"], "v text", "w int", hash_function="numeric_hash")
        config = dict(self.keyspread.config)
        config["tables"] = [other.config()]
        config["backend"] = {**config["backend"],
                             "dsn": f"{config['backend']['dsn']} dbname=app user={harness.USER}"}
        self.assertIn("event=reloaded", self.keyspread.reload(config))
        self.connect().rows("insert into kept (k, v) values (1, 'x')")
        self.assertEqual(self.run_it("10"), "0A000")
        self.session.ask(wire.parse("t", "update kept set k = k + $1"), wire.sync())
        self.assertEqual(self.answer(wire.bind("", "t", ["10"]), wire.execute(), wire.sync()), "UPDATE 1")
        [changed] = self.admin.rows("select k, k_hash from kept")
        self.admin.rows("truncate kept")
        self.session.rows("insert into kept (k, v) values (11, 'x')")
        self.assertEqual(self.admin.rows("select k, k_hash from kept"), [changed])

    @harness.proxied
    def test_triggers(self):
        self.start(KEPT)
        self.prepare()
        self.session.rows("create function more() returns trigger language plpgsql as "
                          "$$ begin new.k = new.k + 1; return new; end $$")
        for when in ("update", "insert"):
            self.admin.rows(f"create trigger more before {when} on kept for each row execute function more()")
            self.assertIn(self.run_it("10"), ("40001", "0A000"))
            self.assertIn(self.answer(wire.query("update kept set k = 5")), ("40001", "0A000"))
            self.assertIn(self.answer(wire.query("update kept set k = 5 where k = 11")), ("40001", "0A000"))
            self.admin.rows("drop trigger more on kept")
        self.check(KEPT, "11", "12")

    @harness.proxied
    def test_types_that_change(self):
        for kind, value in (("bigint", "5"), ("text", "5"), ("smallint", "5")):
            kept = table(f"kept_{kind}", ["k int"], "v text")
            self.postgres.create_database(kind)
            self.admin.rows("drop schema if exists other cascade")
            self.start(kept, partitioned=False)
            self.session.rows(f"insert into {kept.name} (k, v) values (1, 'x')")
            self.session.ask(wire.parse("s", f"update {kept.name} set k = $1"), wire.sync())
            self.admin.rows(f"alter table {kept.name} alter k type {kind}")
            with self.subTest(kind):
                for run in (lambda: self.run_it(value),
                            lambda: self.answer(wire.query(f"update {kept.name} set k = {value}"))):
                    answer = run()
                    self.assertIn(answer, ("40001", "0A000", "UPDATE 1", "55000"))
                    with contextlib.closing(harness.connect_admin(self.postgres, "app")) as connection:
                        if answer == "UPDATE 1":
                            harness.verify_hashes(self, connection, kept)
            self.keyspread.stop()

    @harness.proxied
    def test_rows_that_others_change_meanwhile(self):
        """An UPDATE that waits for a row goes on with what it has become."""
        both = table("both_keys", ["a int", "b int"], "v text")
        self.start(both, partitioned=False)
        self.session.rows("insert into both_keys (a, b, v) values (1, 1, 'x')")
        other = self.connect()
        other.rows("begin")
        other.rows("update both_keys set b = b + 5")
        self.session.send(wire.query("update both_keys set a = a + 10"))
        harness.eventually("the UPDATE waits", lambda: self.admin.rows(
            "select from pg_stat_activity where wait_event_type = 'Lock' and query like 'update both_keys set%a%'"))
        other.rows("commit")
        self.assertEqual(wire.tags_of(self.session.read_ready()), ["UPDATE 1"])
        with contextlib.closing(harness.connect_admin(self.postgres, "app")) as connection:
            harness.verify_hashes(self, connection, both, 1)
        self.assertEqual(self.admin.rows("select a, b from both_keys"), [["11", "6"]])

    @harness.proxied
    def test_cursors(self):
        self.start(KEPT)
        self.session.rows("insert into kept (k, v) values (1, 'x'), (2, 'y')")
        for text in ("begin", "declare c cursor for select v from kept order by k for update", "fetch 2 from c",
                     "update kept set k = k + 10 where current of c", "commit"):
            self.session.rows(text)
        self.check(KEPT, "1", "12")

    @harness.proxied
    def test_what_is_refused(self):
        city = table("city", ["k int"], "v text", hash_function="cityhash64")
        self.start(city, ALWAYS)
        for text in ("update city set k = 5", "update always set id = default",
                     "update always set (id, v) = (select 1, 'x')", "update always set id = 5, id_hash = 6",
                     "with x as (update always set id = 5 returning 1) table x",
                     "prepare p as update always set id = id + 1", "explain analyze update always set id = id + 1",
                     "copy (update always set id = id + 1 returning 1) to stdout"):
            with self.subTest(text):
                self.assertEqual(self.answer(wire.query(text)), "0A000")
        self.assertEqual(wire.error_of(self.session.ask(
            wire.parse("", "update always set id = $1, v = $1"), wire.sync())), "0A000")

    @harness.proxied
    def test_behind_what_alters_its_table(self):
        self.start(KEPT)
        self.session.rows("insert into kept (k, v) values (1, 'x'), (2, 'y')")
        replies = self.session.query("create table x (i int); alter table kept add u int; update kept set k = k + 5 returning *")
        self.assertEqual(wire.tags_of(replies), ["CREATE TABLE", "ALTER TABLE", "UPDATE 2"])
        self.assertEqual(sorted(reply.row()[0] for reply in replies if reply.kind == "D"), [b"6", b"7"])
        self.check(KEPT, "6", "7")


if __name__ == "__main__":
    unittest.main()
