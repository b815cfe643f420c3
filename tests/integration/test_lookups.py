"""Reads, UPDATEs and DELETEs by the whole hash key are looked for in one partition, and find what they find without
keyspread: the same random statements, and those that others stumbled over, direct and through it."""
import os
import random
import re
import struct
import unittest

import harness
import wire
from direct_case import DirectCase, rows_first, shown
from harness import Table

QUERIES = int(os.environ.get("KEYSPREAD_QUERIES", 400))
EV = Table("ev", ["userid bigint not null", "ts timestamptz not null", "event text"], ["userid", "ts"],
           hash_first=False)
TX = Table("tx", ["a varchar(5) not null", "b int not null", "v numeric"], ["a", "b"], hash_key=["b", "a"],
           hash_first=False)
NU = Table("nu", ["n numeric not null", "d date not null", "v text"], ["n"], hash_first=False)
KIN = Table("kin", ["name varchar(5)", "uid bigint not null", "n int not null"], ["uid", "n"], hash_key=["uid"],
            hash_column="kinhash", hash_first=False)
ROWS = ("insert into ev (userid, ts, event) values " + ", ".join(
            f"({user}, '2026-01-0{day} 00:00:00+00', 'e{user % 3}')" for user in range(-3, 12) for day in (1, 2)),
        "insert into tx (a, b, v) values " + ", ".join(
            f"('{a}', {b}, {b}.50)" for a in ("", "a", "b", "é", "a''b") for b in range(-2, 6)),
        "insert into nu (n, d, v) values " + ", ".join(
            f"('{n}', '2026-01-01', 'v{n}')" for n in ("0", "1.5", "2", "-7.25", "1e3", "NaN")),
        "insert into kin (name, uid, n) values " + ", ".join(f"('k{uid}', {uid}, {uid % 3})" for uid in range(-2, 14)))
LOOSE = ("create table loose (userid int, b int, x text); insert into loose "
         "select i, i % 4, 'x' || i from generate_series(-2, 8) i;"
         "create schema other; create table other.ev (userid int, ts int, event text);")


class Generator:
    """One statement a call, of a seed: text with a mark for each constant, and the constants."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.constants = []

    def pick(self, *choices):
        return self.random.choice(choices)

    def constant(self, *values):
        """As SQL writes it, and as Bind sends it."""
        self.constants.append(self.pick(*values))
        return f"<{len(self.constants) - 1}>"

    def integer(self):
        value = self.random.randint(-4, 13)
        return self.constant((str(value), str(value)), (f"'{value}'", str(value)), (f"{value}::bigint", str(value)),
                             (f"'{value}'::int8", str(value)), (f"cast({value} as int)", str(value)))

    def name(self):
        value = self.pick("", "a", "b", "é", "a'b", "zz")
        quoted = value.replace("'", "''")
        return self.constant((f"'{quoted}'", value), (f"'{quoted}'::text", value), (f"e'{quoted}'", value),
                             (f"'{quoted}'::varchar", value))

    def number(self):
        value = self.pick("0", "1.5", "1.50", "2", "2.0", "-7.25", "1000", "3")
        return self.constant((value, value), (f"'{value}'", value), (f"{value}::numeric", value))

    def array(self, values, *types):
        """Elements that need no quotes stand with and without them."""
        elements = ",".join(self.pick(f'"{value}"', f' "{value}" ', value or '""')
                            for value in self.random.choices(values, k=self.random.randint(0, 4)))
        quoted = elements.replace("'", "''")
        return self.constant((f"'{{{quoted}}}'", f"{{{elements}}}"),
                             *((f"'{{{quoted}}}'::{kind}[]", f"{{{elements}}}") for kind in types))

    def integers(self):
        return self.array([str(value) for value in range(-4, 14)], "bigint", "int", "int2")

    def names(self):
        return self.array(["", "a", "b", "é", "a'b", "zz"], "text", "varchar")

    def numbers(self):
        return self.array(["0", "1.5", "1.50", "2", "2.0", "-7.25", "1000", "NaN"], "numeric")

    def equal(self, column, value):
        array = {self.integer: self.integers, self.name: self.names, self.number: self.numbers}[value]
        return self.pick(f"{column} = {value()}", f"{column} = any ({array()})", f"{value()} = {column}", f"{column} in ({value()})",
                         f"{column} in ({value()}, {value()}, {value()})",
                         f"{column} = any (array[{value()}, {value()}])", f"({column}) = ({value()})")

    def key(self, table, q):
        if table == "ev":
            return self.pick(lambda: self.equal(q + "userid", self.integer),
                             lambda: f"({q}userid, {q}event) = ({self.integer()}, 'e1')",
                             lambda: f"({q}event, {q}userid) in (('e1', {self.integer()}), ('e2', {self.integer()}))")()
        if table == "nu":
            return self.equal(q + "n", self.number)
        return self.pick(lambda: f"{self.equal(q + 'a', self.name)} and {self.equal(q + 'b', self.integer)}",
                         lambda: f"({q}b, {q}a) in (({self.integer()}, {self.name()}), ({self.integer()}, 'a'))",
                         lambda: f"({q}a, {q}b) = ({self.name()}, {self.integer()})",
                         lambda: self.equal(q + "b", self.integer))()

    def noise(self, table, q):
        column = {"ev": "event", "tx": "v", "nu": "v"}[table]
        return self.pick("true", f"{q}{column} is not null", f"{q}{column}::text like '%1%'",
                         f"exists (select from loose l where l.b = length({q}{column}::text))")

    def where(self, table, q):
        parts = [self.key(table, q), self.noise(table, q)]
        self.random.shuffle(parts)
        both = self.pick(" and ", " and ", " and ", " or ").join(parts)
        arms = [self.pick(key, f"({key})", f"{key} and {self.noise(table, q)}") for key in (self.key(table, q), self.key(table, q))]
        return self.pick(both, both, f"({both})", f"not ({both})", f"(({parts[0]})) and {parts[1]}", " or ".join(arms),
                         f"{parts[1]} and ({' or '.join(arms)})", f"({' or '.join(arms)}) and {parts[0]}")

    def joined(self, p, q, table):
        """What makes the keys of both equal, written in one of many ways."""
        pairs = {"ev": [("userid", "userid")], "tx": [("a", "a"), ("b", "b")], "nu": [("n", "n")],
                 "kin": [("userid", "uid")]}[table]
        parts = [self.pick(f"{p}.{one} = {q}.{two}", f"{q}.{two} = ({p}.{one})") for one, two in pairs]
        if self.pick(True, False):
            parts.append(self.key("ev" if table == "kin" else table, p + "."))
        self.random.shuffle(parts)
        return self.pick(" and ", " and ", " and ", " or ").join(parts)

    def join(self, table, one, two):
        other = self.pick(table, "kin") if table == "ev" else table
        both = self.joined("p", "q", other)
        kind = self.pick("join", "inner join", "left join", "right join", "full join")
        where = f"where {self.where(table, 'p.')}"
        keys = {"ev": "userid", "tx": "a, b", "nu": "n"}[table]
        merged = f"{table} p {self.pick('join', 'join', kind)} {table} q using ({keys})"
        asked = self.key(table, self.pick("", "p.", "q."))
        third = f"{other} q {self.pick('join', 'left join')} loose l on l.b = 1 and {self.joined('p', 'q', other)}"
        return f"select p.{one}::text, p.{two}::text, q::text " + self.pick(
            f"from {table} p {kind} {other} q on {both} {where}", f"from {table} p, {other} q {where} and {both}",
            f"from {table} p {kind} {other} q on ({both})", f"from {table} p join {other} q on {both} {kind} loose l on l.b = 2",
            f"from loose l {kind} ({table} p join {other} q on {both}) on l.b = 1 {where}",
            f"from {table} p join lateral (select q.* from {third} offset 0) q on true",
            f"from {merged} where {asked}", f"from {merged} join {table} r using ({keys}) where {asked}",
            f"from {table} p natural {self.pick('join', 'left join')} {table} q where {asked}",
            f"from {merged} join loose l on l.b = 1 where {asked}", f"from loose l left join ({merged}) on {asked}")

    def renamed(self, table, text):
        """With other names for the columns of q, or those of others among them."""
        columns = {"ev": ["userid", "ts", "event"], "tx": ["a", "b", "v"], "nu": ["n", "d", "v"]}[table]
        names = self.random.sample([*columns, "x", "y"], self.random.randint(1, len(columns)))
        called = dict(zip(columns, names))
        text = re.sub(r'(\bq"?)\.(\w+)', lambda found: f"{found[1]}.{called.get(found[2], found[2])}", text)
        return text.replace(" as q ", f" as q({', '.join(names)}) ", 1)

    def select(self, depth=0):
        table = self.pick("ev", "ev", "tx", "nu")
        one, two = {"ev": ("userid", "event"), "tx": ("a", "b"), "nu": ("n", "v")}[table]
        shape = self.random.randrange(9 if depth == 0 else 3)
        if shape == 0:
            return f"select {one}::text, {two}::text from {table} where {self.where(table, '')}"
        if shape == 1:
            text = f'select q.{one}::text, "q".{two}::text from public.{table} as q where {self.where(table, "q.")}'
            return self.renamed(table, text) if self.pick(True, False, False) else text
        if shape == 2:
            return (f"select {table}.{one}::text, l.x from {table} {self.pick('join', 'left join', 'full join')} "
                    f"loose l on l.b = length({table}.{two}::text) where {self.where(table, table + '.')}")
        if shape == 3 and self.pick(True, True, False):
            return self.join(table, one, two)
        if shape == 3:
            return (f"select p.{one}::text, q.{two}::text from {table} p, {table} q "
                    f"where {self.where(table, 'p.')} and {self.where(table, 'q.')}")
        if shape == 4:
            return (f"select ev.userid::text, x from ev {self.pick('', 'left ', 'right ', 'full ')}join loose "
                    f"using (userid) where {self.where('ev', self.pick('', 'ev.')).replace('(userid,', '(ev.userid,')}")
        if shape == 5:
            return (f"with c as ({self.select(1)}) select o.one, o.two from (select * from c) o(one, two) "
                    f"where exists ({self.select(1)})")
        if shape == 6:
            return f"{self.select(1)} {self.pick('union', 'union all', 'except')} {self.select(1)}"
        if shape == 7:
            return (f"select (select count(*) from {table} q where {self.where(table, 'q.')})::text, l.x from loose l "
                    f"where l.userid in (select userid from ev where {self.where('ev', '')})")
        return (f"select t.{one}::text, count(*)::text from {table} t where {self.where(table, 't.')} "
                f"group by 1 having count(*) < 9")

    def statement(self):
        self.constants = []
        kind = self.random.randrange(10)
        if kind == 8:
            table = self.pick("ev", "tx", "nu")
            column = {"ev": "event", "tx": "v", "nu": "v"}[table]
            return f"update {table} u set {column} = {column} where {self.where(table, 'u.')} returning u.{column}::text"
        if kind == 9:
            table = self.pick("ev", "tx", "nu")
            return f"delete from {table} where {self.where(table, '')} returning {table}::text is null"
        return self.select()


class LookupCase(DirectCase):
    """Tables with rows in them; the same statements direct and through keyspread."""
    tables = (EV, TX, NU, KIN)
    setup_sql = LOOSE
    partitioned = True
    rows_sql = ROWS

    def same(self, sessions, messages, ready=1):
        answers = []
        for session in sessions:
            replies = [shown(reply) for reply in session.ask(*messages, ready=ready)]
            answers.append(rows_first(replies))
        self.assertEqual(*answers)
        return answers[1]

    @staticmethod
    def with_constants(text, constants):
        return re.sub("<([0-9]+)>", lambda mark: constants[int(mark[1])][0], text)

    @staticmethod
    def parameters(text, constants):
        """A parameter for each constant; its cast stays."""
        def parameter(mark):
            written = constants[int(mark[1])][0]
            cast = re.search(r"(::[a-z0-9]+(\[\])?)$", written)
            return f"${int(mark[1]) + 1}{cast[1] if cast else ''}"
        return re.sub("<([0-9]+)>", parameter, text)

    @classmethod
    def prepared(cls, text, constants):
        return [wire.parse("", cls.parameters(text, constants)), wire.describe("S", ""),
                wire.bind("", "", [constant[1] for constant in constants]), wire.describe("P", ""), wire.execute(),
                wire.sync()]


class Lookups(LookupCase):
    def play_random(self, seeds, prepared):
        sessions = self.connect_both()
        for seed in seeds:
            generator = Generator(seed)
            text = generator.statement()
            whole = self.with_constants(text, generator.constants)
            with self.subTest(seed=seed, text=whole):
                messages = self.prepared(text, generator.constants) if prepared else [wire.query(whole)]
                if text.startswith("delete"):
                    messages = [wire.query("begin"), *messages, wire.query("rollback")]
                self.same(sessions, messages, ready=3 if text.startswith("delete") else 1)

    def test_random_texts(self):
        self.play_random(range(QUERIES // 2), prepared=False)

    def test_random_prepared(self):
        self.play_random(range(QUERIES // 2, QUERIES), prepared=True)

    @staticmethod
    def binary_array(oid, code, values, dimensions=1):
        """As array_recv reads it; with two dimensions, one value a row."""
        sizes = [(len(values), 1), (1, 1)][:dimensions]
        return (struct.pack("!iiI", dimensions, int(None in values), oid)
                + b"".join(struct.pack("!ii", *size) for size in sizes)
                + b"".join(struct.pack("!i", -1) if value is None else
                           struct.pack("!i" + code, struct.calcsize("!" + code), value) for value in values))

    def test_arrays(self):
        """As texts and in binary, of any declared type, and what PostgreSQL refuses."""
        sessions = self.connect_both()
        bigint, integer, text, varchar, number, real = 1016, 1007, 1009, 1015, 1231, 1022
        of_bigint, of_integer = (lambda values, **more: self.binary_array(20, "q", values, **more),
                                 lambda values, **more: self.binary_array(23, "i", values, **more))
        ev, tx = "select userid, event from ev where userid = any ($1)", "select v from tx where a = any ($1) and b = $2"
        for query, oids, values, formats in (
                (ev, [], ["{1,2,99}"], []), (ev, [], [of_bigint([1, 2, 99])], [1]), (ev, [], ["{}"], []),
                (ev, [bigint], [of_bigint([])], [1]), (ev, [], [struct.pack("!iiI", 0, 0, 20)], [1]),
                (ev, [integer], [of_integer([1, 2])], [1]), (ev, [integer], [of_bigint([1, 2])], [1]),
                (ev, [number], ["{1,2.0}"], []), (ev, [text], ["{1,2}"], []), (ev, [real], ["{1,2}"], []),
                (ev, [], [None], []), (ev, [bigint], [of_bigint([1, None, 2])], [1]), (ev, [], ["{1,NULL}"], []),
                (ev, [], [of_bigint([1, 2], dimensions=2)], [1]), (ev, [], ["{{1},{2}}"], []),
                (ev, [], ["[5:6]={1,2}"], []), (ev, [], ["{1,x}"], []), (ev, [], ["{1"], []), (ev, [], ["1"], []),
                (ev, [bigint], [of_bigint([1, 2])[:-1]], [1]), (ev, [20], ["1"], []),
                (ev, [], ["{" + ",".join(map(str, range(5000))) + "}"], []),
                (ev + " or event = any ($1::text[])", [], ["{1}"], []),
                (tx, [], ["{a,b}", 1], []), (tx, [], ["{a, \"a'b\" ,é,\"\"}", struct.pack("!i", 2)], [0, 1]),
                (tx, [varchar, 20], ["{a,b}", 1], []), (tx, [text, 21], ["{a,NULL,\"NULL\"}", 1], []),
                (tx.replace("$2", "any ($2)"), [], ["{a,b}", "{1,2}"], []),
                (tx.replace("$2", "1 or v = any ($2)"), [], ["{a,b}", "{1,2}"], [])):
            with self.subTest(query=query, oids=oids, values=str(values)[:80]):
                self.same(sessions, [wire.parse("", query, oids), wire.describe("S", ""),
                                     wire.bind("", "", values, formats, [1]), wire.execute(), wire.sync()])

    # ---- one partition ----

    def partitions(self, *messages):
        """Those that the plan has, of an EXPLAIN that is sent like this."""
        with self.log_in(*self.route()) as session:
            replies = session.ask(*messages)
        self.assertEqual(wire.error_of(replies), None)
        plan = "".join(str(reply.body) for reply in replies if reply.kind == "D")
        return set(re.findall(r"on ((?:ev|tx|nu|kin)_p[0-9]+)", plan))

    @harness.proxied
    def test_one_partition(self):
        where = ("userid = 5", "ev.userid = 5 and event = 'x'", "(userid, ts) = (5, '2026-01-01 00:00:00+00')",
                 "userid in (5)", "5 = userid and exists (select from loose)", "((userid = '5'))",
                 "userid = bigint '5'", "userid = cast('5' as int8)", "userid = any (array[5])",
                 "userid = any (array['5']::int[])", "userid = any ('{5}')", "userid = some ('{5, 5}'::bigint[])")
        statements = ["select event from ev where {}", "update ev set event = 'x' where {}", "delete from ev where {}",
                      "select count(*) from ev join loose l on l.b = 1 where {}",
                      "with c as (select ts from ev where {}) select * from c",
                      "select 1 where exists (select from ev where {})",
                      "select 1 from (select ts from ev where {} limit 5) s"]
        for text in [one.format(condition) for one in statements for condition in where
                     if "join" not in one or condition.startswith("ev.")]:
            with self.subTest(text=text):
                self.assertEqual(len(self.partitions(wire.query("explain (costs off) " + text))), 1)

    @harness.proxied
    def test_one_partition_of_each_table_in_a_join(self):
        for text in ("select from ev join kin on userid = uid and userid = 5",
                     "select from ev e join loose l on e.userid = 5 join kin k on k.uid = e.userid where l.b = 1",
                     "select from ev, kin where kin.uid = ev.userid and ev.userid = 5 and name > ''",
                     "select from loose l left join (ev join kin on uid = 5 and ev.userid = kin.uid) on l.userid = uid",
                     "delete from ev using kin where kin.uid = ev.userid and uid = 5"):
            with self.subTest(text=text):
                found = self.partitions(wire.query("explain (costs off) " + text))
                self.assertEqual(sorted(name[:2] for name in found), ["ev", "ki"])

    @harness.proxied
    def test_an_index_finds_the_rows_of_a_join(self):
        """Whose key only the other table tells."""
        with self.log_in(*self.route()) as session:
            session.query("set enable_hashjoin = off; set enable_mergejoin = off; set enable_seqscan = off")
            plan = "".join(row[0] for row in session.rows(
                "explain (costs off) select from kin join ev on ev.userid = kin.uid where name = 'k5'"))
        by_hash, by_key = r"\(userid_hash = [a-z_0-9.]*kinhash\)", r"\(userid = [a-z_0-9.]*uid\)"
        both = (by_key, by_hash) if harness.KEY_ORDER == "hash_last" else (by_hash, by_key)
        self.assertRegex(plan, r"Index Cond: \({} AND {}\)".format(*both))

    @harness.proxied
    def test_one_partition_by_parameters(self):
        for text, values in (("select event from ev where userid = $1", ["5"]),
                             ("select event from ev where userid = $1::bigint and event = $2", ["5", "x"]),
                             ("select v from tx where a = $1 and b in ($2)", ["a", "1"]),
                             ("update tx set v = $3 where (b, a) = ($2, $1)", ["a", "1", "2"]),
                             ("select v from tx where a = any ($1) and b = $2", ["{a,a}", "1"]),
                             ("select event from ev where userid = any ($1::int[])", ["{5}"]),
                             ("delete from nu where n = any ($1)", ["{1.50,1.5}"]),
                             ("delete from nu where n = $1", ["1.50"])):
            with self.subTest(text=text):
                self.assertEqual(len(self.partitions(
                    wire.parse("", "explain (costs off) " + text), wire.bind("", "", values), wire.execute(),
                    wire.sync())), 1)

    @harness.proxied
    def test_many_keys(self):
        """As many partitions as there are keys, at most."""
        self.assertLessEqual(
            len(self.partitions(wire.query("explain (costs off) select from ev where userid in (1, 2, 3)"))), 3)

    # ---- rows that might be lost ----

    @harness.proxied
    def test_tables_that_are_looked_through(self):
        """Where a hash may be another than that of the key, all partitions are."""
        postgres = self.postgres
        tables = [Table(name, ["id int not null", "v text"], ["id"], hash_first=False)
                  for name in ("triggered", "wrong", "granted", "plain")]
        tables.append(Table("switched", ["id int not null", "v text"], ["id"], hash_first=False, lookups=False))
        harness.create_tables(postgres, "doubted", tables, hashed=True)
        with postgres.admin("doubted") as admin:
            admin.rows("create function other() returns trigger language plpgsql as "
                       "$$ begin new.id = new.id + 1; return new; end $$;"
                       "create trigger other before insert on triggered for each row execute function other();"
                       "insert into wrong (id, v, id_hash) values (5, 'wrong', 1);"
                       "create role somebody login; grant select (id, v) on granted to somebody")
        keyspread = harness.Keyspread(harness.backend_config(postgres, tables))
        self.addCleanup(keyspread.stop)
        with wire.Wire(("127.0.0.1", keyspread.port)) as session:
            session.login(harness.USER, "doubted")
            for name in ("triggered", "granted", "plain", "switched"):
                session.rows(f"insert into {name} (id, v) values (5, '{name}')")
            self.assertEqual(session.rows("select v from triggered where id = 6"), [["triggered"]])
            self.assertEqual(session.rows("select v from wrong where id = 5"), [["wrong"]])
            for name, partitions in (("triggered", 16), ("wrong", 16), ("granted", 16), ("switched", 16), ("plain", 1)):
                plan = str(session.rows(f"explain (costs off) select v from {name} where id = 5"))
                self.assertEqual(len(set(re.findall(f"on {name}_p[0-9]+", plan))), partitions, name)
        with wire.Wire(("127.0.0.1", keyspread.port)) as session:
            session.login("somebody", "doubted")
            self.assertEqual(session.rows("select v from granted where id = 5"), [["granted"]])

    @harness.proxied
    def test_an_equality_of_somebodys_own(self):
        own = Table("own", ["a varchar(9) not null", "v text"], ["a"], hash_first=False)
        harness.create_tables(self.postgres, "equal", [own], hashed=True)
        with self.postgres.admin("equal") as admin:
            admin.rows("create function folded(varchar, varchar) returns bool immutable language sql as "
                       "$$ select lower($1) operator(pg_catalog.=) lower($2) $$;"
                       "create operator public.= (leftarg = varchar, rightarg = varchar, function = folded)")
        keyspread = harness.Keyspread(harness.backend_config(self.postgres, [own]))
        self.addCleanup(keyspread.stop)
        with wire.Wire(("127.0.0.1", keyspread.port)) as session:
            session.login(harness.USER, "equal")
            session.rows("insert into own (a, v) values ('Key', 'found')")
            self.assertEqual(session.rows("select v from own where a = 'kEY'"), [["found"]])

    # ---- what a client sees ----

    def test_errors_point_where_the_client_wrote(self):
        sessions = self.connect_both()
        for text in ("select nothing, event from ev where userid = 5",
                     "select event from ev where userid = 5 and nothing = 1",
                     "select 'é', event from ev where userid = 5 and event = 1",
                     "select 1; select event from ev where userid = 5 order by nothing",
                     "select event from ev where userid = 5 and nothing in (select 1 from ev where userid = 6)",
                     "select 1 from ev where userid = 7 and 1 = (select x from loose where userid = 5)"):
            with self.subTest(text=text):
                self.same(sessions, [wire.query(text)])
                self.same(sessions, [wire.parse("", text), wire.sync()])

    def test_parameters_are_the_clients(self):
        sessions = self.connect_both()
        text = "select event from ev where userid = $1 and ts > $2 order by ts"
        self.same(sessions, [wire.parse("s", text), wire.describe("S", "s"), wire.sync()])
        for values in (["5", "2026-01-01"], [None, "2026-01-01"], ["5"], ["5", "2026-01-01", "6"], [],
                       ["five", "2026-01-01"], ["5", "soon"], ["99999999999999999999", "2026-01-01"], [" 5 ", "today"]):
            with self.subTest(values=values):
                self.same(sessions, [wire.bind("", "s", values), wire.execute(), wire.sync()])
        five = (5).to_bytes(8, "big")
        self.same(sessions, [wire.bind("p", "s", [five, "2026-01-01"], [1, 0]), wire.describe("P", "p"),
                             wire.execute("p", 1), wire.execute("p"), wire.sync()])
        self.same(sessions, [wire.bind("", "s", [five[4:], "2026-01-01"], [1, 0]), wire.execute(), wire.sync()])
        for types in ([23, 1184], [21], [20, 0], [1700], [25], [701], [0, 1082]):
            with self.subTest(types=types):
                self.same(sessions, [wire.parse("", text, types), wire.describe("S", ""), wire.sync()])
                self.same(sessions, [wire.parse("", text, types), wire.bind("", "", ["5", "2026-01-01"]),
                                     wire.execute(), wire.sync()])

    def test_nothing_is_asked_between_two_of_a_prepared_one(self):
        """What the database stores changes no setting here, so a read leaves nothing to ask about."""
        session = self.connect_both()[1]
        [[pid]] = session.rows("select pg_backend_pid()")
        session.ask(wire.parse("s", "select event from ev where userid = $1"), wire.sync())
        session.ask(wire.bind("", "s", ["5"]), wire.execute(), wire.sync())
        mark = self.postgres.mark()
        for user in range(3):
            session.ask(wire.bind("", "s", [str(user)]), wire.execute(), wire.sync())
        # That the catalog is looked at again, on a link of its own, is a matter of time.
        said = [statement.text for statement in self.postgres.statements(mark, self.route()[0])
                if statement.pid == int(pid)]
        self.assertEqual(said.count(said[0]), 3, said)
        self.assertEqual(len(said), 3, said)

    def test_the_unnamed_statement_behind_an_error(self):
        """A Parse that the server skips leaves the one before it."""
        for first, second in (("select event from ev where userid = $1", "select x from loose where userid = $1"),
                              ("select x from loose where userid = $1", "select event from ev where userid = $1")):
            with self.subTest(first=first):
                sessions = self.connect_both()
                self.same(sessions, [wire.parse("", first), wire.sync()])
                self.same(sessions, [wire.parse("x", "select nothing"), wire.parse("", second), wire.sync()])
                self.same(sessions, [wire.bind("", "", ["5"]), wire.execute(), wire.sync()])
                self.same(sessions, [wire.describe("S", ""), wire.sync()])

    def test_sql_execute(self):
        sessions = self.connect_both()
        self.same(sessions, [wire.parse("s", "select event from ev where userid = $1 order by ts"), wire.sync()])
        self.same(sessions, [wire.query("execute s(5)")])
        self.same(sessions, [wire.bind("", "s", ["5"]), wire.execute(), wire.sync()])
        self.same(sessions, [wire.query("deallocate s")])
        self.same(sessions, [wire.bind("", "s", ["5"]), wire.execute(), wire.sync()])

    def test_another_table_of_the_name(self):
        """Prepared for the configured one, and then another table of its name is in front."""
        sessions = self.connect_both()
        text = "select event from ev where userid = $1 order by ts"
        self.same(sessions, [wire.parse("s", text), wire.bind("", "s", ["5"]), wire.execute(), wire.sync()])
        for make in ("create temp table ev (userid int, ts int, event text)", "drop table pg_temp.ev",
                     "set search_path = other, public", "set search_path = public, other"):
            with self.subTest(make=make):
                self.same(sessions, [wire.query(make)])
                self.same(sessions, [wire.bind("", "s", ["5"]), wire.execute(), wire.sync()])
                self.same(sessions, [wire.query(text.replace("$1", "5"))])
                self.same(sessions, [wire.parse("", text), wire.bind("", "", ["5"]), wire.execute(), wire.sync()])

    def test_time_zones(self):
        """A key that TimeZone decides is another one behind SET."""
        sessions = self.connect_both(TimeZone="UTC")
        text = "select v from nu where n = $1 and d = $2"
        self.same(sessions, [wire.parse("s", text), wire.sync()])
        for zone in ("Europe/Berlin", "UTC", "+03"):
            self.same(sessions, [wire.query(f"set timezone = '{zone}'")])
            self.same(sessions, [wire.bind("", "s", ["1.5", "2026-01-01"]), wire.execute(), wire.sync()])

    def test_cursors(self):
        sessions = self.connect_both()
        self.same(sessions, [wire.query("begin"), wire.query("declare c cursor for select event from ev where userid = 5 "
                                                             "order by ts"),
                             wire.query("fetch 1 from c"), wire.query("fetch all from c"),
                             wire.query("update ev set event = event where userid = 5 and ts = '2026-01-01'"),
                             wire.query("rollback")], ready=6)

    def test_backslashes(self):
        sessions = self.connect_both(options="-c standard_conforming_strings=off")
        self.same(sessions, [wire.query(r"select v from tx where a = 'a\'b' and b = 1 -- '")])
        self.same(sessions, [wire.query("select event from ev where userid = 5")])


if __name__ == "__main__":
    unittest.main()
