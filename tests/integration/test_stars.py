"""What a statement shows of a configured table, by `*`, as a row, by TABLE, RETURNING or COPY, is what it shows of a
plain table: rows, names and types, in simple and in prepared statements, as text and in binary, and by cursors. Random statements, and those that others stumbled over, direct and through keyspread."""
import os
import random
import re
import unittest

import harness
import wire
from direct_case import DirectCase, rows_first, shown
from harness import Table

QUERIES = int(os.environ.get("KEYSPREAD_QUERIES", 150))
EV = Table("ev", ["userid bigint not null", "ts timestamptz not null", "event text"], ["userid", "ts"],
           hash_first=False)
TX = Table("tx", ["a varchar(5) not null", "b int not null", "v numeric"], ["a", "b"], hash_key=["b", "a"],
           hash_first=False)
ROWS = ("insert into ev (userid, ts, event) values " + ", ".join(
            f"({user}, '2026-01-0{day} 00:00:00+00', 'e{user % 3}')" for user in range(-1, 4) for day in (1, 2)),
        "insert into tx (a, b, v) values " + ", ".join(
            f"('{a}', {b}, {b}.50)" for a in ("", "a", "é") for b in range(-1, 4)))
PLAIN = ("create table plain (userid bigint, b int, x text); insert into plain "
         "select i, i % 4, 'x' || i from generate_series(-1, 3) i; create schema archive; create table archive.ev"
         " (userid bigint, ts timestamptz, note text); insert into archive.ev values (1, '2026-01-01', 'one'), (2, '2026-01-02', 'two');"
         "create table archive.plain (b int); insert into archive.plain values (1);"
         "grant usage on schema archive to public; grant select on archive.ev, archive.plain to public;")

SELECTS = (
    "select * from ev", "select*from ev", "select * from public.ev where userid = 1 order by ts", "table ev",
    "select ev.*, 1 one from ev", "select public.ev.* from public.ev",
    "select * from ev e join tx t on t.b = e.userid", "select * from tx, plain, ev", "select t.*, x from tx t, plain",
    "select * from ev left join plain on plain.b = ev.userid cross join (select 1 as one) s",
    "select * from ev natural join plain", "select * from plain natural left join ev", "select b from tx natural join plain",
    "select * from ev join plain using (userid)", "select * from plain full join ev using (userid) where userid = 2",
    "select * from ev a natural join ev b", "select * from ev a join ev b using (userid, ts)",
    "select ev.*, plain.* from ev join plain using (userid)", "select * from (ev join plain on plain.b = userid + 1) as j(a)",
    "select * from ev as e(a, b)", "select a, c from ev e(a, b, c)", "select * from tx as e(one)",
    "select * from ev *",
    "select * from ev tablesample system (100)", "select * from tx t tablesample bernoulli (100) repeatable (1), plain",
    "select * from plain natural join ev e tablesample system (100)", "select * from generate_series(1, 2), ev",
    "select row_to_json(e) from ev e", "select row_to_json(e)::text from ev e natural join plain where e.userid = 1",
    "select count(e), count(e.*), count(*) from plain left join ev e on e.userid = plain.b",
    "select e is null, e is not null from plain left join ev e on e.userid = plain.b + 2", "select (e).*, (e).event from ev e",
    "select e::text, e.*::text, (e.*)::text from ev e where userid = 2", "select row(e.*), row(e.*, 1) from ev e",
    "select (select to_json(e)) from ev e", "select json_agg(e order by e.ts, e.userid) from ev e", "select ev::text from ev, plain",
    "select to_jsonb(e) - 'ts' from ev e where e.userid in (1, 2)", "select event from ev event", "select coalesce(e.*, null)::text from ev e",
    "select distinct * from tx", "select distinct on (a) * from tx order by a, b", "select * from ev order by 2, 1 limit 3",
    "select * from ev for update", "select * from ev e, plain for update of e", "select * from ev e natural join plain for share of e",
    "select * from ev union all table ev", "(select * from ev) except select * from ev where userid = 1",
    "select * from (select * from ev) s", "select * from (table ev) s where userid = 1", "select s.* from (select e.* from ev e) s, plain",
    "with c as (select * from ev) select * from c", "with ev as (select * from ev) select * from ev",
    "with recursive r as (select * from ev where userid = 1 union select ev.* from ev, r where ev.userid = r.userid + 1) select * from r",
    "select * from plain where exists (select * from ev where userid = b)", "select * from plain p, lateral (select * from ev where userid = p.b) s",
    "select x, (select array_agg(e::text order by ts) from ev e where e.userid = plain.b) from plain",
    "select * from plain where (userid, x) in (select userid, x from ev natural join plain)",
    "values ((select count(*) from ev))", "select ev.userid, count(*) from ev, tx group by ev.userid having count(ev.*) > 1",
    "select e.ctid is null, * from ev e", "select tableoid is null, e.* from ev e where e.userid = 3", "select nothing, * from ev",
    "select *, nothing from ev", "select * from ev where nothing = 1", "select nothing.* from ev", "select * from ev, ev",
    "select * from ev group by userid", "select e.* from ev", "table nothing", "select * from ev e(a, b, c, d)",
    "select 'é', *, nothing from ev", "select e.nothing, e from ev e", "select * from ev natural join nothing",
    "update ev set event = 'y' where userid = 1 returning (ev).*", "delete from ev e where userid = 1 returning (e).*, ((e)).*, (e).event",
    "update ev set event = 'y' where userid = 1 returning *", "update ev e set event = x from plain where b = e.userid returning *",
    "update ev set event = 'y' returning ev::text, ev.*, row_to_json(ev), (ev).event", "update plain set x = event from ev e where e.userid = b and ts = '2026-01-02' returning *, e::text",
    "delete from ev where userid = 1 returning *", "delete from ev using tx where b = userid and a = 'é' returning *", "delete from plain using ev e where b = e.userid and ts = '2026-01-02' returning e.*, to_json(e)",
    "with d as (delete from ev returning *) select * from d", "with u as (update tx set v = 1 returning tx) select count(u.*) from u",
    "insert into ev (userid, ts, event) values (9, '2026-01-01 00:00:00+00', 'new') returning *",
    "insert into ev (userid, ts, event) select userid + 100, ts, event from (select * from ev) s returning *",
    "insert into ev (userid, ts, event) select e.* from ev e natural join plain where e.userid > 100 returning *",
    "insert into ev (userid, ts, event) select userid + 50, ts, to_json(e)::text from ev e natural join plain",
    "insert into tx (a, b, v) table tx on conflict do nothing returning *", "insert into tx select * from tx where false",
    "with c as (select * from tx) insert into tx select a || 'z', b, v from c returning *, tx::text",
    "insert into plain select userid, 1, event from (select * from ev) s returning *",
    # Rows of a table's type, by a function.
    "select * from jsonb_populate_recordset(null::ev, '[{\"userid\":5,\"event\":\"j\"},{}]')",
    "select r.*, e.* from ev e, json_populate_record(cast(null as public.ev), to_json(e)) r where e.userid = 1",
    "select json_populate_record.*, 1 from pg_catalog.json_populate_record(null::ev, '{}')",
    "select r.userid, count(*) from ev e, jsonb_populate_record(null::ev, to_jsonb(e)) r group by r.userid, r.ts",
    "select jsonb_populate_recordset.nothing from jsonb_populate_recordset(null::ev, '[]')",
    "with ev as (select 1 as one) select * from ev, jsonb_populate_record(null::public.ev, '{}') r",
    "insert into ev select * from jsonb_populate_recordset(null::ev, '[{\"userid\":5,\"ts\":\"2026-01-01\"}]') r returning *",
    "insert into ev select r.* from jsonb_populate_recordset(null::ev, '[{\"userid\":1,\"ts\":\"2026-01-01 00:00:00+00\"},"
    "{\"userid\":6,\"ts\":\"2026-01-01\"}]') r on conflict (userid, ts) do update set event = 'again' returning *",
    "update ev set event = r.event from jsonb_populate_record(null::ev, '{\"userid\":1,\"event\":\"j\"}') r"
    " where ev.userid = r.userid returning *",
    "delete from ev using jsonb_populate_record(null::ev, '{\"userid\":1}') where ev.userid = jsonb_populate_record.userid returning *",
    # Two tables of one name, and names with their schemas.
    "select * from ev, archive.ev where public.ev.userid = archive.ev.userid", "select * from archive.ev, plain, ev",
    "select public.ev.*, archive.ev.* from ev join archive.ev on archive.ev.ts = public.ev.ts", "select ev.* from ev, archive.ev",
    "select * from ev, ev e, archive.ev where e.userid = 1", "select archive.ev.* from ev, archive.ev where public.ev.userid = 2",
    "select * from (select * from public.ev, archive.ev) s(a, b, c, d, e, f) where a = d", "select * from ev, archive.ev e where ev.userid = e.userid",
    "update ev set event = archive.ev.note from archive.ev where public.ev.userid = archive.ev.userid returning *",
    "select archive.ev.userid, count(*) from public.ev, archive.ev group by archive.ev.userid, archive.ev.ts",
    "select public.ev.event, count(*) from public.ev, archive.ev group by public.ev.userid, public.ev.ts",
    "select event, public.ev.ts from ev where public.ev.userid = 1", "select ev::text from ev where public.ev.userid = 1",
    "select to_json(public.ev.*), public.ev.event from ev natural join plain where public.ev.userid = 2",
    "select * from public.ev natural join plain where public.ev.userid = 1 and (select public.ev.ts) is not null",
    "select * from tx, ev, archive.ev", "select * from ev, plain, archive.plain", "select * from ev e, plain, archive.plain where e.userid = 1",
    "select * from ev where archive.ev.userid = 1", "select public.e.userid from ev e", "select public.ev.nothing, ev from ev",
    "delete from public.ev where public.ev.userid = 1 returning public.ev.*, to_json(public.ev.*), public.ev.event",
    "select row_to_json(public.ev.*) from ev, plain where public.ev.userid = plain.userid for update of ev",
)

COLUMNS = {"ev": ("userid", "ts", "event"), "tx": ("a", "b", "v"), "plain": ("userid", "b", "x")}


class Generator:
    """One statement a call, of a seed: text with a mark for each constant, and the constants."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.constants = []
        self.aliases = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def constant(self, value):
        self.constants.append(str(value))
        return f"<{len(self.constants) - 1}>"

    def item(self):
        """What stands in a FROM, what it is called, and its table."""
        table = self.pick("ev", "ev", "ev", "tx", "tx", "plain")
        self.aliases += 1
        name = f"{self.pick('q', 'Q')}{self.aliases}"
        called = f'"{name}"' if name.isupper() else name
        text = self.pick(f"{table} {called}", f"{table} as {called}", f"public.{table} {called}",
                         f"{table} {called} tablesample system (100)",
                         f"(select * from {table}) {called}", f"(table {table}) as {called}",
                         f"lateral (select i.* from {table} i where {self.where('i', table)}) {called}")
        return text, called, table

    def source(self):
        """A FROM, and what its items are called."""
        text, called, table = self.item()
        items = [(called, table)]
        for _ in range(self.pick(0, 0, 0, 1, 1, 2)):
            more, called, other = self.item()
            common = [column for column in COLUMNS[other]
                      if sum(column in COLUMNS[one] for _, one in items) == 1]
            joins = [f"{text}, {more}", f"{text} cross join {more}",
                     f"{text} {self.pick('join', 'left join', 'full join')} {more} on "
                     f"{items[0][0]}.{COLUMNS[items[0][1]][0]}::text = {called}.{COLUMNS[other][0]}::text"]
            if common:
                joins += [f"{text} {self.pick('', 'left')} join {more} using ({self.pick(*common)})"] * 2
            if len(items) == 1:
                joins += [f"{text} natural {self.pick('', 'left', 'full')} join {more}"] * 2
            if "lateral" in more:
                joins = joins[:2]
            text = self.random.choice(joins)
            items.append((called, other))
        return text, items

    def where(self, called, table):
        first, second, third = COLUMNS[table]
        key = {"ev": lambda: self.pick(f"{called}.userid = {self.constant(self.random.randint(-2, 4))}",
                                       f"{called}.userid in ({self.constant(1)}, {self.constant(3)})"),
               "tx": lambda: f"{called}.a = {self.constant('a')} and {called}.b = {self.constant(2)}",
               "plain": lambda: f"{called}.b < 2"}[table]()
        return self.pick("true", "true", key, key, f"{key} and {called}.{third} is not null",
                         f"{called} is not null", f"{called}.{third}::text like '%1%'",
                         f"exists (select * from ev z where z.userid::text = {called}.{first}::text)",
                         f"({called}.{first}, {called}.{second}) in (select i.{first}, {second} from {table} i)")

    def target(self, called, table):
        column = self.pick(*COLUMNS[table])
        return self.pick("*", "*", "*", f"{called}.*", f"{called}.*", f"{called}.{column} as one", "count(*) over ()",
                         f"row_to_json({called})", f"{called}::text", f"({called}).{column}", f"({called}).*",
                         f"row({called}.*)::text", f"coalesce({called}.*, null)::text", f"to_jsonb({called}.*) - 'v'",
                         f"(select to_json({called}))", f"num_nulls({called})", f"{called} is null",
                         f"(select count({called}.*) from plain)")

    def targets(self, items):
        return ", ".join(self.target(*self.pick(*items)) for _ in range(self.pick(1, 1, 2, 3)))

    def select(self, depth=0):
        text, items = self.source()
        query = f"select {self.targets(items)} from {text} where {self.where(*self.pick(*items))}"
        if depth > 0:
            return query
        return self.pick(lambda: query, lambda: query, lambda: f"select * from ({query}) s",
                         lambda: f"with s as ({query}) select * from s", lambda: f"{query} union all {query}"
                         if "json" not in query else query, lambda: f"with ev as ({query}) table ev",
                         lambda: f"select s.* from plain p, lateral ({self.select(1)}) s where p.b = 1",
                         lambda: f"select * from plain p where exists ({self.select(1)})",
                         lambda: "table " + self.pick("ev", "tx", "public.ev order by 1, 2"))()

    def write(self):
        table = self.pick("ev", "tx")
        third = COLUMNS[table][2]
        called, alias = self.pick((table, ""), ("w", " w"), ("w", " as w"))
        returning = self.pick("*", f"{called}.*", f"*, {called}.*", f"row_to_json({called}), {third}",
                              f"{called}::text, *", f"({called}).{third}", f"to_json({called}.*)")
        rows = f"where {self.where(called, table)} returning {returning}"
        return self.pick(f"update {table}{alias} set {third} = {third} {rows}", f"delete from {table}{alias} {rows}",
                         f"with d as (delete from {table}{alias} {rows}) select * from d",
                         f"delete from {table}{alias} using plain p where {called}.{COLUMNS[table][1]} is null "
                         f"returning *")

    def statement(self):
        """Text, and whether it is a query."""
        query = self.random.random() < 0.8
        return (self.select() if query else self.write()), query


class StarsCase(DirectCase):
    def same(self, sessions, *messages, ready=1):
        """All that is answered, rows in any order, is the same; undone."""
        answers = []
        for session in sessions:
            replies = [shown(reply) for reply in session.ask(wire.query("begin"), *messages, wire.query("rollback"),
                                                             ready=ready + 2)]
            answers.append(rows_first(replies, "Dd"))
        self.assertEqual(*answers)
        return answers[1]

    def in_every_way(self, sessions, whole, parameters, values, query):
        """As a text, and with parameters and results in binary; what is a query by a cursor and by COPY, too."""
        self.same(sessions, wire.query(whole))
        self.same(sessions, wire.parse("", parameters), wire.describe("S", ""), wire.bind("", "", values, results=[1]),
                  wire.describe("P", ""), wire.execute("", 3), wire.execute(), wire.sync())
        if query:
            self.same(sessions, wire.query(f"declare c scroll cursor for {whole}"), wire.describe("P", "c"), wire.sync(),
                      wire.query("fetch 2 from c; fetch all in c; move backward all in c; close c"), ready=3)
            self.same(sessions, wire.query(f"copy ({whole}) to stdout"))


class Stars(StarsCase):
    tables = (EV, TX)
    setup_sql = PLAIN
    rows_sql = ROWS
    partitioned = True

    def each(self, texts, messages):
        sessions = self.connect_both()
        for text in texts:
            with self.subTest(text=text):
                self.same(sessions, *messages(text))

    def test_texts(self):
        self.each(SELECTS, lambda text: [wire.query(text)])

    def test_prepared(self):
        self.each(SELECTS, lambda text: [wire.parse("", text), wire.describe("S", ""), wire.bind("", "", []),
                                         wire.describe("P", ""), wire.execute(), wire.sync()])

    def test_random(self):
        sessions = self.connect_both()
        for seed in range(QUERIES):
            generator = Generator(seed)
            text, query = generator.statement()
            mark = re.compile("<([0-9]+)>")
            whole = mark.sub(lambda it: f"'{generator.constants[int(it[1])]}'", text)
            parameters = mark.sub(lambda it: f"${int(it[1]) + 1}", text)
            with self.subTest(seed=seed, text=whole):
                self.in_every_way(sessions, whole, parameters, generator.constants, query)

    # ---- what else shows rows ----

    def test_copy(self):
        self.each(("copy ev to stdout", "copy public.ev (event, userid) to stdout with (format csv, header)",
                   'copy "tx" (v) to stdout (delimiter \'|\')',
                   "copy (table ev) to stdout"), lambda text: [wire.query(text)])

    def test_what_is_made_of_them(self):
        for text in ("create view made as select * from ev", "create table made as table ev",
                     "create materialized view made as select e.*, b from ev e natural join plain",
                     "select * into made from tx", "create temp table made as select tx::text from tx",
                     "create view made as select row_to_json(e) from ev e"):
            with self.subTest(text=text):
                self.same(self.connect_both(), wire.query(text), wire.query(
                    "select attname, attnum + 0 from pg_attribute where attrelid = 'made'::regclass and attnum > 0"),
                    wire.query("select count(*), min(made::text) from made"), ready=3)

    def test_prepared_by_sql_by_message(self):
        """The parameters of what PREPARE prepares are none of its own."""
        self.same(self.connect_both(),
                  wire.parse("", "prepare p(bigint) as select * from ev where userid = $1"),
                  wire.bind("", "", []), wire.execute(), wire.sync(), wire.query("execute p(1)"),
                  ready=2)

    def test_prepared_by_sql(self):
        self.same(self.connect_both(), wire.query("prepare p(bigint) as select * from ev where userid = $1"),
                  wire.query("execute p(1)"), wire.query("create temp table made as execute p(2)"),
                  wire.query("select * from made"), wire.query("explain (verbose, costs off) execute p(1)")
                  if harness.DIRECT else wire.query("deallocate p"), ready=5)

    @harness.proxied
    def test_who_names_it(self):
        with self.log_in(*self.route()) as session:
            self.assertEqual(len(session.rows("select *, userid_hash from ev")[0]), 5)
            self.assertEqual(len(session.rows('select * from ev where "userid_hash" is not null')[0]), 4)
            self.assertEqual(len(session.rows("select * from ev")[0]), 3)

    @harness.proxied
    def test_one_partition(self):
        """A subquery in the place of a table is looked for by its hash, too."""
        with self.log_in(*self.route()) as session:
            for text in ("select row_to_json(e) from ev e where userid = 1", "select * from ev where userid = 1",
                         "select * from ev e natural join plain where e.userid = 1",
                         "select * from ev e join plain p using (userid) where e.userid = 1",
                         "delete from ev where userid = 1 returning *, ev", "select * from ev where public.ev.userid = 1",
                         "select * from public.ev natural join plain where public.ev.userid = 1"):
                with self.subTest(text=text):
                    plan = str(session.rows(f"explain (costs off) {text}"))
                    self.assertEqual(len(set(re.findall("on ev_p[0-9]+", plan))), 1, plan)

    @harness.proxied
    def test_a_table_that_shows_it(self):
        table = Table("shown", ["id int not null", "v text"], ["id"], hash_first=False, hide=False)
        harness.create_tables(self.postgres, "shown", [table], hashed=True)
        keyspread = harness.Keyspread(harness.backend_config(self.postgres, [table]))
        self.addCleanup(keyspread.stop)
        with wire.Wire(("127.0.0.1", keyspread.port)) as session:
            session.login(harness.USER, "shown")
            session.rows("insert into shown (id, v) values (1, 'x')")
            self.assertEqual(len(session.rows("select * from shown")[0]), 3)


if __name__ == "__main__":
    unittest.main()
