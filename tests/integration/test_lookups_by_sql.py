"""What SQL's PREPARE keeps is looked for in one partition, too, whatever its EXECUTE gives it; and it finds what it
finds without keyspread: the same random statements, direct and through it."""
import re
import struct
import unittest

import harness
import wire
from direct_case import shown
from harness import Table
from test_lookups_kept import KeptCase, one_group, run
from test_lookups import LOOSE, QUERIES, ROWS, Generator, LookupCase

TYPED = {"ev": "bigint, timestamptz", "tx": "int, text", "nu": "numeric, date", "kin": "bigint"}
UUIDS = Table("uuids", ["id uuid not null", "v text"], ["id"], hash_first=False)
PAIRS = Table("pairs", ["a int not null", "b int not null", "v text"], ["a", "b"], hash_first=False)
STAMPS = Table("stamps", ["t timestamp not null", "f float8 not null", "d date not null", "v text"], ["t", "f", "d"],
               hash_first=False)
NUMBERED = Table("numbered", ["n int not null", "v text"], ["n"], hash_function="numeric_hash", hash_first=False)
OWN = Table("own", ["n int not null", "x text not null", "v text"], ["n", "x"], hash_function="pg_hash",
            hash_first=False)
CITY = Table("city", ["n int not null", "v text"], ["n"], hash_function="cityhash64", hash_first=False)
BYTES = Table("bytes", ["k bytea not null", "c char(4) not null", "v text"], ["k", "c"], hash_first=False)
LETTERS = Table("letters", ["c char(4) not null", "v text"], ["c"], hash_first=False)
MORE = ("insert into letters (c, v) values ('x', 'v1'), ('xy', 'v2'), ('y', 'v3')", "insert into uuids (id, v) values " + ", ".join(
            f"('00000000-0000-0000-0000-0000000000{i:02}', 'v{i}')" for i in range(20)),
        "insert into pairs (a, b, v) values " + ", ".join(f"({i}, {i % 3}, 'v{i}')" for i in range(-3, 20)),
        "insert into stamps (t, f, d, v) values " + ", ".join(
            f"('2026-01-{i + 1:02} 12:00:00.5', {i}.25, '2026-02-{i + 1:02}', 'v{i}')" for i in range(20))
        + ", ('infinity', 'nan', '-infinity', 'odd'), ('1999-12-31', '-0', '1969-12-31', 'old')",
        "insert into numbered (n, v) values " + ", ".join(f"({i}, 'v{i}')" for i in range(-3, 20)),
        "insert into own (n, x, v) values " + ", ".join(f"({i}, 'x{i % 4}', 'v{i}')" for i in range(20)),
        "insert into city (n, v) values " + ", ".join(f"({i}, 'v{i}')" for i in range(20)),
        "insert into bytes (k, c, v) values " + ", ".join(
            rf"('\x{i:02x}00', '{'ab ' if i % 2 else 'x'}', 'v{i}')" for i in range(20))
        + ", (decode(repeat('ab', 300), 'hex'), 'long', 'long'), ('', '', 'none')")


class BySql(LookupCase):
    setup_sql = LOOSE + ("create type mood as enum ('glad'); create table other.pairs (a int, b int, v text);"
                         "insert into other.pairs values (1, 1, 'other')")
    tables = (*LookupCase.tables, UUIDS, PAIRS, STAMPS, NUMBERED, OWN, CITY, BYTES, LETTERS)
    rows_sql = (*ROWS, *MORE)

    def execute(self, sessions, prepare, *arguments):
        """Prepared, executed with each, so often that its plan is the generic one, and gone."""
        self.same(sessions, [wire.query(prepare)])
        for given in arguments:
            self.same(sessions, [wire.query(f"execute p{given}")])
        self.same(sessions, [wire.query("deallocate p")])
    def types_of(self, session, text):
        """What the server takes the parameters for; none where it does not know them all."""
        replies = session.ask(wire.parse("", text), wire.describe("S", ""), wire.sync())
        oids = next((struct.unpack(f"!{len(reply.body[2:]) // 4}I", reply.body[2:]) for reply in replies
                     if reply.kind == "t"), ())
        return [session.rows(f"select {oid}::regtype")[0][0] for oid in oids]

    def test_random(self):
        sessions = self.connect_both()
        for seed in range(QUERIES, QUERIES + QUERIES // 2):
            generator = Generator(seed)
            text, pick = generator.statement(), generator.random
            values = [written for written, _ in generator.constants]
            text = self.parameters(text, generator.constants)
            types = self.types_of(sessions[0], text) if values and pick.random() < 0.5 else []
            types = types[:pick.randint(0, len(types))]
            declared = f"({', '.join(types)})" if types else ""
            given = f"({', '.join(values)})" if values else ""
            with self.subTest(seed=seed, text=text, declared=declared, given=given):
                self.same(sessions, [wire.query(f"prepare p{declared} as {text}")])
                for _ in range(pick.choice((1, 1, 1, 7))):
                    self.same(sessions, [wire.query("begin"), wire.query(f"execute p{given}"), wire.query("rollback")],
                              ready=3)
                self.same(sessions, [wire.query("deallocate p")])

    def looked_into(self, prepare, execute, *before):
        """The partitions, of all tables, that a plan has run, and whether there are others."""
        with self.log_in(*self.route()) as session:
            for text in (*before, prepare):
                self.assertEqual(wire.error_of(session.ask(wire.query(text))), None)
            replies = session.ask(wire.query("begin"), wire.query(f"explain (analyze, costs off, timing off) {execute}"),
                                  wire.query("rollback"), ready=3)
        self.assertEqual(wire.error_of(replies), None)
        lines = [reply.body.decode(errors="replace") for reply in replies if reply.kind == "D"]
        return {found[1] for found in (re.search(r" on ([a-z]+_p[0-9]+)", line) for line in lines
                                       if "never executed" not in line and "Subplans" not in line and "Scan" in line)
                if found}

    @harness.proxied
    def test_one_partition(self):
        for prepare, given, count in (
                ("(bigint) as select event from ev where userid = $1", "(5)", 1),
                ("(bigint) as select * from ev where userid = $1 and event = 'x'", "(5)", 1),
                (" as select event from ev where userid = $1", "('5')", 1),
                ("(int, text) as select v from tx where b = $1 and a = $2", "(2, 'a')", 1),
                (" as select v from tx where (a, b) = ($2, $1)", "(2, 'a')", 1),
                ("(int, varchar(5)) as select v from tx where b = $1 and a = $2", "(2, 'a')", 1),
                ("(int) as select v from tx where b = $1 and a = 'b'", "(2)", 1),
                ("(numeric) as select v from nu where n = $1", "(1.50)", 1),
                ("(uuid) as select v from uuids where id = $1", "('00000000-0000-0000-0000-000000000003')", 1),
                ("(int, int) as select v from pairs where a = $1 and b = $2", "(4, 1)", 1),
                ("(timestamp, float8, date) as select v from stamps where t = $1 and f = $2 and d = $3",
                 "('2026-01-03 12:00:00.5', 2.25, '2026-02-03')", 1),
                ("(int) as select v from numbered where n = $1", "(3)", 1),
                ("(int, text) as select v from own where n = $1 and x = $2", "(3, 'x3')", 1),
                (r"(bytea, char(4)) as select v from bytes where k = $1 and c = $2", r"('\x0300', 'ab')", 1),
                ("(bigint) as update ev set event = 'y' where userid = $1", "(5)", 1),
                ("(bigint) as delete from ev where userid = $1", "(5)", 1),
                ("(bigint) as with c as (select ts from ev where userid = $1) select * from c", "(5)", 1),
                ("(bigint) as select event from ev where userid = 5 and ts > $1::text::timestamptz", "(2026)", None),
                ("(text) as select event from ev where userid = 5 and event = $1", "('x')", 1),
                ("(bigint, bigint) as select event from ev where userid in ($1, $2)", "(5, 5)", 1),
                ("(bigint) as select event from ev where userid = $1 or userid = 5", "(5)", 1),
                ("(bigint) as select 1 from ev join kin on userid = uid where uid = $1", "(5)", 2)):
            if count is None:
                continue
            with self.subTest(prepare=prepare):
                self.assertEqual(len(self.looked_into(f"prepare p{prepare}", f"execute p{given}")), count)

    @harness.proxied
    def test_arguments_that_are_no_constants(self):
        for given in ("(2 + 3)", "('5')", "(length('hello'))", "(5::smallint)"):
            with self.subTest(given=given):
                self.assertEqual(len(self.looked_into("prepare p(bigint) as select event from ev where userid = $1",
                                                      f"execute p{given}")), 1)

    @harness.proxied
    def test_what_is_remembered_is_bounded(self):
        """Many long ones: those that cannot be remembered are as their client wrote them, until there is room again."""
        prepare = "prepare p{}(bigint) as select event " + f"/* {'long ' * 10000} */ from ev where userid = $1"
        many = [prepare.format(i) for i in range(90)]
        for which, alone in (("p0", True), ("p89", False)):
            with self.subTest(which):
                self.assertEqual(len(self.looked_into(many[-1], f"execute {which}(5)", *many[:-1])) == 1, alone)
        self.assertEqual(len(self.looked_into(many[0], "execute p0(5)", *many[1:], "deallocate all")), 1)

    def test_casts_to_a_type_that_is_called_so_in_quotes(self):
        """"char" is one letter, char is bpchar."""
        sessions = self.connect_both()
        for text in ("select v from letters where c = 'xy'::{}", "select v from letters where (c, v) = ('x '::{}, 'v1')",
                     "select v from letters where c = any (array['xy', 'z']::{}[])"):
            for kind in ('"char"', 'pg_catalog."char"', "char", "bpchar"):
                with self.subTest(text=text, kind=kind):
                    self.same(sessions, [wire.query(text.format(kind))])
        self.execute(sessions, 'prepare p("char") as select v from letters where c = $1', "('xy')", "('x')")

    def test_as_postgresql(self):
        """With arguments of all kinds, and so often that the plan becomes the generic one."""
        sessions = self.connect_both()
        for prepare, given in (
                ("(bigint) as select * from ev where userid = $1 order by ts", ["(5)", "(2 + 3)", "('6')", "(null)",
                 "(7)", "(-3)", "(8)", "(99)", "(2.6)", "('x')", "()", "(1, 2)", "(null::int)", "((select 5))"]),
                ("(int) as select * from ev where userid = $1 order by ts", ["(5)"] * 8 + ["(9999999999)"]),
                (" as select * from ev where userid = $1 order by ts", ["(5)", "('5')", "(5.4)", "('5.4')"]),
                (" as select event, $1 from ev where userid = $1", ["(5)"]),
                (" as select event from ev where $1 > 4 and userid = $1", ["(5)"]),
                ("(int, text) as select v from tx where b = $1 and a = $2",
                 ["(1, 'a')", "(1, 'a ')", "(1, 'é')", "(2, '')", "(1, repeat('a', 300))", "(1, 'a''b')", "(null, 'a')",
                  "(3, null)", "(3, 'a')"] * 2),
                ("(bigint, varchar) as select v from tx where b = $1 and a = $2", ["(1, 'a')", "(99999999999, 'a')"] * 5),
                ("(int) as select v from tx where b = $1 and a = 'b' or b = 2 and a = ''", ["(1)", "(2)"] * 5),
                ("(int, text) as select v from tx where b in ($1, 3, $1) and a in ($2, 'b')", ["(1, 'a')"] * 9),
                ("(numeric) as select * from nu where n = $1", ["(1.50)", "('NaN')", "(1000)", "(2)", "(0)", "(1.5)"] * 2),
                ("(int) as select * from nu where n = $1", ["(2)", "(3)"] * 5),
                ("(uuid) as select * from uuids where id = $1", ["('00000000-0000-0000-0000-000000000003')"] * 8),
                ("(int, int) as select * from pairs where (a, b) = ($1, $2)", ["(4, 1)", "(-3, 0)", "(4, 2)"] * 3),
                ("(timestamp, float8, date) as select * from stamps where t = $1 and f = $2 and d = $3",
                 ["('2026-01-03 12:00:00.5', 2.25, '2026-02-03')", "('infinity', 'nan', '-infinity')",
                  "('1999-12-31', 0, '1969-12-31')", "('1999-12-31', '-0', '1969-12-31')"] * 3),
                ("(smallint) as select * from numbered where n = $1", ["(3)", "(-3)", "(100)"] * 3),
                ("(bigint) as select * from numbered where n = $1", ["(3)", "(-3)", "(99999999999)"] * 3),
                ("(bigint, text) as select * from own where n = $1 and x = $2", ["(3, 'x3')", "(99999999999, 'x')"] * 5),
                ("(int) as select * from city where n = $1", ["(3)"] * 8),
                (r"(bytea, char(4)) as select * from bytes where k = $1 and c = $2",
                 [r"('\x0300', 'ab')", r"('\x0200', 'x   ')", "(decode(repeat('ab', 300), 'hex'), 'long')", "('', '')",
                  "(null, 'ab')"] * 3),
                (" as select * from bytes where k = $1 and c = $2", [r"('\x0300', 'ab')"] * 7),
                (" as select * from ev where userid = any (array[$1, $2])", ["(5, 6)"]),
                ("(bigint, int) as select * from ev where userid = any (array[$1, $2]) order by 1, 2", ["(5, 6)"] * 7),
                (" as select * from ev where userid = any (array[$1, $2]::int[]) order by 1, 2", ["(5, 6)"] * 7),
                ("(bigint[]) as select * from ev where userid = any ($1) order by 1, 2", ["('{5,6}')"] * 7),
                ("(bigint) as update ev set event = event where userid = $1 returning *", ["(5)", "(6)"] * 4),
                ("(bigint) as delete from ev where userid = $1 and ts = '2027-01-01' returning *", ["(5)", "(6)"] * 4),
                ("(bigint) as select * from ev join kin on uid = userid where uid = $1 order by ts", ["(5)"] * 8),
                ("(bigint) as select j.userid, kin.uid from (ev join kin on userid = uid) j, kin where kin.uid = $1 order by 1",
                 ["(5)", "(6)"]),
                ("(bigint) as select userid from ev join kin on userid = uid where exists (select from kin where uid = $1)"
                 " order by 1", ["(5)", "(99)"]),
                ("(bigint) as select e.ctid is null from ev as e(u, t) where u = $1", ["(5)", "(99)"]),
                ("(bigint) as select e.ctid is null from kin k join ev as e(u, t) on u = uid where uid = $1", ["(5)", "(99)"]),
                (" as select v from numbered where n in (5000000000, $1)", ["(3)", "(6000000000)"]),
                (" as select v from pairs where a in (4::bigint, $1) and b = 1", ["(4)", "(6000000000)"]),
                ("(bigint) as select v from pairs where a in ($1, $2) and b = 1", ["(4, 5)", "(4, 6000000000)"]),
                ("(mood, bigint) as select * from ev where userid = $2", ["('glad', 5)"] * 2)):
            with self.subTest(prepare=prepare):
                self.execute(sessions, "prepare p" + prepare, *given)

    def test_what_is_around_it(self):
        sessions = self.connect_both()
        five = "prepare {}(bigint) as select event, ts from ev where userid = $1 order by ts"
        for texts in ([five.format('"a ""B"""'), 'execute "a ""B"""(5)', 'deallocate "a ""B"""'],
                      [five.format("p"), five.format("p"), "deallocate p", "execute p(5)", "deallocate p"],
                      [five.format("p"), "discard plans", "execute p(5)", "discard all", "execute p(5)"],
                      [five.format("p"), "deallocate all", "execute p(5)", five.format("P"), "execute p(6)"],
                      ["begin", five.format("q"), "rollback", "execute q(5)", "deallocate q"],
                      ["begin", "select nothing", five.format("q"), "rollback", "execute q(5)"],
                      [five.format("q") + ";" + five.format("r") + "; execute q(5); execute r(6)", "execute q(7)",
                       "execute r(8); deallocate q; execute q(5)", "deallocate r"],
                      [five.format("q"), "create temp table made as execute q(5)", "select * from made", "drop table made",
                       "explain (costs off, analyze, timing off, summary off) execute r(5)", "deallocate q"],
                      [five.format("q"), "do $$ declare e text; begin execute 'execute q(5)' into e;"
                       " raise notice '%', e; end $$", "deallocate q"],
                      [five.format("prepare"), "execute prepare(5)", "deallocate prepare"],
                      [five.format("p").replace("5", "$1"), "execute p(5)", "deallocate p"],
                      ["prepare p(bigint) as select * from only ev where userid = $1", "execute p(5)", "deallocate p"],
                      ["prepare p(bigint) as insert into ev values ($1, '2027-01-01', 'new')", "deallocate p"][1:],
                      ["select name, parameter_types, from_sql from pg_prepared_statements"]):
            for text in texts:
                with self.subTest(text=text):
                    self.same(sessions, [wire.query(text)])

    def test_by_both_protocols(self):
        """What SQL prepared is bound, and what Parse prepared is executed, and each is what the other drops."""
        sessions = self.connect_both()
        five = struct.pack("!q", 5)
        self.same(sessions, [wire.query("prepare p(bigint) as select event, ts from ev where userid = $1 order by ts")])
        for _ in range(3):
            self.same(sessions, [wire.describe("S", "p"), wire.bind("", "p", [five], [1]), wire.describe("P", ""),
                                 wire.execute(), wire.sync()])
        self.same(sessions, [wire.bind("", "p", ["x"]), wire.execute(), wire.sync()])
        self.same(sessions, [wire.bind("", "p", ["6"]), wire.execute(), wire.sync()])
        self.same(sessions, [wire.parse("p", "select 1"), wire.sync()])
        self.same(sessions, [wire.close("S", "p"), wire.sync()])
        self.same(sessions, [wire.query("execute p(5)")])
        self.same(sessions, [wire.parse("", "prepare p(bigint) as select event from ev where userid = $1 order by ts"),
                             wire.bind("", ""), wire.execute(), wire.sync()])
        self.same(sessions, [wire.query("execute p(5)")])
        self.same(sessions, [wire.parse("", "execute p(6)"), wire.bind("", ""), wire.execute(), wire.sync()])
        self.same(sessions, [wire.query("deallocate p")])

    def test_another_table_of_the_name(self):
        """Prepared for the configured one, and then another table of its name is in front."""
        for prepare in ("prepare p(int) as select event from ev where userid = $1 order by ts",
                        "prepare p(int) as select event from public.ev where userid = $1 order by ts"):
            sessions = self.connect_both()
            self.same(sessions, [wire.query(prepare)])
            for make in ("create temp table ev (userid int, ts int, event text)",
                         "insert into pg_temp.ev values (5, 1, 'other')", "drop table pg_temp.ev",
                         "set search_path = other, public", "set search_path = public, other"):
                with self.subTest(prepare=prepare, make=make):
                    self.same(sessions, [wire.query(make)])
                    self.same(sessions, [wire.query("execute p(5)")])
                    self.same(sessions, [wire.bind("", "p", ["5"]), wire.execute(), wire.sync()])


    def test_names_that_move_in_the_same_text(self):
        """What it finds is the table that its name means when it is run."""
        prepare = "prepare p(int) as select event from ev where userid = $1 order by ts"
        for text in ("set search_path = other; execute p(5)", "select set_config('search_path', 'other', false); execute p(5)",
                     "begin; set local search_path = other; execute p(5); commit; execute p(5)",
                     "begin; set search_path = other; execute p(5); rollback; execute p(5)",
                     "set search_path = other; execute p(5); set search_path = public; execute p(5)",
                     "set search_path = other; execute p(5); select 1/0", "set search_path = other; explain (costs off) execute p('x')",
                     "set statement_timeout = 0; execute p(5)"):
            for steps in ([prepare, text, "execute p(5)"], [f"{prepare}; {text}", "execute p(5)"]):
                with self.subTest(steps=steps):
                    sessions = self.connect_both()
                    for step in steps:
                        self.same(sessions, [wire.query(step)])

    def test_back_to_the_table(self):
        sessions = self.connect_both()
        for text in ("prepare p(int) as select userid, event from (select * from ev) e where userid = $1", "execute p(5)",
                     "prepare q(int) as select * from pairs where a = $1 and b = 1", "execute q(1)", "set search_path = other",
                     "execute q(1)", "reset search_path", "execute q(1)", "execute p(5)"):
            self.same(sessions, [wire.query(text)])


class Kept(KeptCase):
    """Prepared while the table, or what is known of it, was another than when it is executed: no row is lost."""
    tables = (*KeptCase.tables, Table("typed", ["k int not null", "v text", "w int"], ["k"], hash_first=False))

    def test_a_trigger_that_changes_keys(self):
        create = ["create function moves() returns trigger language plpgsql as 'begin new.k := new.k + 10; return new; end'",
                  "create trigger moves before update on ints for each row execute function moves()"]
        for find in ("execute p(15)", run("p", "15")):
            self.play_steps("prepare p(int) as select k, v from ints where k = $1", "execute p(5)", "begin", *create,
                            "update ints set v = 'y' where k = 5", find, "rollback", "execute p(5)", "execute p(15)")

    def test_another_table_by_then(self):
        made = "create table ints (k int primary key, v text)"
        for between in (["alter table ints alter k type bigint"], ["alter table ints rename v to w"],
                        ["drop table ints", made, "insert into ints values (5, 'again')"],
                        ["alter table ints rename to gone", made, "insert into ints values (5, 'another')"],
                        ["create temp table ints (k int, v text)", "insert into ints values (5, 'temp')"]):
            for prepare in ("prepare p(int) as select v from ints where k = $1",
                            "prepare p(int) as select v, 'é' from public.ints where k = $1"):
                with self.subTest(prepare=prepare, between=between):
                    self.play_steps(prepare, "execute p(5)", "begin", *between, "execute p(5)", "rollback", "execute p(5)",
                                    run("p", "5"))

    def test_behind_ddl_in_one_query(self):
        """What the key is hashed as by then is another than the condition was made for."""
        insert, other = "insert into ints (k, v) values (2, 'b')", "create table ints (k numeric primary key, v text)"
        texts = (["alter table ints alter k type numeric", insert, "execute p(2)"],
                 ["drop table ints", other, insert, "execute p(2)"],
                 ["alter table ints rename to old", other, insert, "execute p(2)"],
                 ["alter table ints rename to old", "create view ints as select 2 as k, 'seen' as v, 0::bigint as k_hash",
                  "execute p(2)"],
                 ["create function adds() returns trigger language plpgsql as 'begin new.k := new.k + 100; return new; end'",
                  "create trigger adds before insert on ints for each row execute function adds()", insert, "execute p(102)"],
                 ["do $$ begin alter table ints alter k type numeric; end $$", "execute p(5)"])
        for name in ("ints", "public.ints"):
            prepare = f"prepare p(int) as select v from {name} where k = $1"
            for steps in texts:
                text = "; ".join(steps)
                with self.subTest(name=name, text=text):
                    self.play_steps(prepare, "execute p(5)", "begin", text, "rollback", "execute p(5)", run("p", "5"))
                    self.play_steps(f"begin; {prepare}; {text}; rollback", "execute p(5)", "deallocate p", "execute p(5)")

    def test_run_by_code_behind_ddl_of_another_session(self):
        """Nobody sees that EXECUTE: the condition itself says that the key has another type, or the name another table."""
        runs = "do $$ declare e text; begin execute 'execute {}' into e; raise notice '%', e; end $$"
        other = "create table typed (k numeric primary key, v text, w int)"
        for change in ("alter table typed alter k type numeric", f"alter table typed rename to gone; {other}"):
            answers = []
            for name in ("typed", "public.typed"):
                answers.append([])
                for session, another in zip(self.connect_both(), self.connect_both()):
                    another.query("drop table if exists typed, gone")
                    another.rows("create table typed (k int primary key, v text, w int)")
                    another.rows("insert into typed values (3, 'three', 1)")
                    session.rows(f"prepare p(int) as select v from {name} where k = $1")
                    session.rows(f"prepare c(int) as select v from {name} where k = 2 and w = $1")
                    session.rows(f"prepare j(int) as select a.v from {name} a join {name} b on a.k = b.k where b.w = $1")
                    another.query(change)
                    another.rows("insert into typed values (2, 'two', 2)")
                    answers.append([shown(reply) for by in ("p(2)", "c(2)", "j(2)")
                                    for reply in session.ask(wire.query(runs.format(by)))])
                with self.subTest(change=change, name=name):
                    self.assertEqual(answers[-2], answers[-1])

    def test_no_statement_any_more(self):
        """The server says what it is that it finds, and the statement is there again when its table is."""
        self.play_steps("prepare p(int) as select k from ints where k = $1", "execute p(5)", "alter table ints rename k to w",
                        "execute p(5)", "execute p(5)", "alter table ints rename w to k", "execute p(5)",
                        "alter table ints rename to gone", "execute p(5)", "alter table gone rename to ints", "execute p(5)",
                        "deallocate p", "execute p(5)")

    def test_in_one_query_and_in_a_pipeline(self):
        prepare = "prepare p(int) as select v from ints where k = $1"
        self.play_steps(f"{prepare}; execute p(5); deallocate p; execute p(5)", f"set search_path = other; {prepare}",
                        "execute p(5)", "set search_path = public", "deallocate p", "execute p(5)", prepare,
                        one_group("execute p(5)", "alter table ints add more int", "execute p(6)"), "execute p(5)",
                        "alter table ints drop more", "execute p(5)")

    def test_time_zones(self):
        prepare = "prepare p as select v from times where k = '2026-01-01 00:00:00' and v <> $1"
        by_parameter = "prepare q(timestamptz) as select v from times where k = $1"
        given = "execute q('2026-01-01 00:00:00')"
        self.play_steps("set timezone = '+3'", prepare, by_parameter, "execute p('')", given, "set timezone = 'UTC'",
                        "execute p('')", given, "discard plans", "execute p('')", given, TimeZone="UTC")


if __name__ == "__main__":
    unittest.main()
