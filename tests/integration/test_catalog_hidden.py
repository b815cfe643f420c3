"""What programs ask PostgreSQL's catalog of a configured table is answered as of a plain one: the queries of psql,
ORMs and drivers, direct and through keyspread: rows, names and types, less the oids."""
import contextlib
import os
import re
import subprocess
import unittest

import harness
import terminal
import wire
from catalog_queries import QUERIES
from direct_case import SessionCase, shown
from harness import Table

EV = Table("ev", ["userid bigint not null", "ts timestamptz not null", "event text default 'e'", "amount numeric(8,2)"],
           ["userid", "ts"], hash_first=False)
UNIQUE = "alter table ev add unique (userid, ts, event);"  # PostgreSQL has it of the hash column as well, if it is partitioned by that
SETUP = """create index ev_event on ev (event, lower(event)) where amount > 0; alter table ev add check (amount >= 0); alter table ev alter amount set not null; comment on table ev is 'events';
    create table other (id serial primary key, userid bigint, ts timestamptz, ev_hash int, userid_hash bigint not null);
    create unique index other_hash on other (userid_hash, id); create view seen as select userid, ts from ev;
    comment on column ev.event is 'what';"""
OID = re.compile(rb"pg_attver=[0-9]+|[1-9][0-9]{4}(?![0-9])")
ONLY = ("select count(*), min(event) from only ev", "select e from only ev e where userid = 3", "table only public.ev",
        "select count(*) from only (ev)", "update only ev set event = 'new' where userid = 4 returning *",
        "delete from only ev e where userid = 3 returning userid", "select * from only other", "select * from ev")
PSQL = (r"\d ev", r"\d+ ev", r"\d", r"\d+", r"\dt", r"\dt+ ev", r"\di", r"\di+", r"\d ev_event", r"\d ev_pkey", r"\d+ ev_pkey", r"\dti+", r"\dPt", r"\dPi", r"\d other", r"\dp ev", r"\dd",
        r"\d *.ev", r"\d+ other", r"\d seen", r"\dv+", r"\ds", r"\dm", r"\dE", r"\dtS pg_catalog.pg_cl*", r"\df public.*",
        r"\dn+", r"\du", r"\dT public.*", r"\ddp", r"\dRp", r"\dX", r"\dy", r"\dx", r"\sv seen", r"\dC int", r"\dt *.*ev*", r"\di ev*", r"\z")

TABS = ("select * from ", "select * from ev where ", "select * from ev where u", "table e", "insert into ev (", "update ev set ", "alter table ",
        "alter table ev alter ", "alter table ev drop column ", "alter table ev drop constraint ", "alter table ev rename column ",
        "alter table ev detach partition ", "alter table ev attach partition ", "alter table ev disable trigger ", "drop table ev", "drop index ",
        "alter index ", "alter index ev_pkey alter column ", "reindex table ", "cluster ev using ", "copy ", "analyze ev (", "vacuum ", "comment on column ",
        "comment on constraint ev", "create index on ev (", "create trigger t before insert on ", "grant select on ", "lock table ", "truncate ", "merge into ", "\\d ",
        "\\d ev", "\\di ", "\\dt ", "\\dP ", "alter type ", "select userid from ev order by ", "select 'ev'::", "delete from ev using ", "explain select * from public.")

DATABASE = ("select * from db.public.ev", "select db.public.ev.* from db.public.ev", "select ev.*, public.ev.* from db.public.ev", "table db.public.ev",
            "select e.* from db.public.ev e where userid = 1", "select to_json(ev) from db.public.ev", "select to_json(e.*) from only db.public.ev e",
            "select * from other2.public.ev", "table other2.public.ev", "insert into other2.public.ev values (1, '2026-01-01', 'x', 1)",
            "insert into db.public.ev values (1, '2026-01-01 00:00:00+00', 'x', 1) returning *", "select * from db.public.ev natural join other",
            "copy db.public.ev to stdout", "update db.public.ev set amount = 2 where userid = 1 returning ev.*", "explain (costs off) select 1 from db.public.other",
            "update db.public.ev set userid = 2 where userid = 1 and ts = '2026-01-01 00:00:00+00' returning *", "delete from db.public.ev where userid = 2 returning *",
            "select attname from db.pg_catalog.pg_attribute where attrelid = 'ev'::regclass order by attnum",
            "select db.pg_catalog.pg_index.indkey from db.pg_catalog.pg_index where indrelid = 'ev'::regclass order by indexrelid",
            "select db.pg_catalog.pg_index.* from db.pg_catalog.pg_index where indrelid = 'ev'::regclass order by indexrelid",
            "select attname from other2.pg_catalog.pg_attribute", "truncate db.public.ev")


def same_less_oids(reply):
    """Their number of digits is the same; a column is computed where it is the catalog's own."""
    if reply.kind == "T":
        return [(column[0], *column[3:]) for column in reply.columns()]
    return OID.sub(b"oid", reply.body.replace(b"hashed", b"direct")) if reply.kind in "Dd" else shown(reply)


class CatalogHidden(SessionCase):
    tables = (EV,)
    setup_sql = SETUP + UNIQUE
    differs = ()  # as docs/internals/reads.md says

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sessions = []
        for route in cls.routes():
            cls.sessions.append(cls.log_in(*route))
            cls.addClassCleanup(cls.sessions[-1].close)

    def shown(self, reply):
        return same_less_oids(reply)

    def asked(self, texts):
        return [text for text in texts if not any(text == other or f" {other}" in text for other in self.differs)]

    def test_texts(self):
        for text in self.asked(QUERIES):
            with self.subTest(text=text):
                self.both(wire.query(text))

    def test_tools(self):
        with open(os.path.join(harness.HERE, "catalog_tools.sql"), encoding="utf-8") as file:
            texts = [line for line in file.read().splitlines() if not line.startswith("--")]
        self.assertGreater(len(texts), 100)
        for text in texts:
            with self.subTest(text=text):
                self.both(wire.query(text))

    def test_the_database_before_a_name(self):
        for text in self.asked(DATABASE):
            answers = [[same_less_oids(reply) for reply in session.ask(wire.query(text.replace("db.", f"{database}.")))]
                       for database, session in zip(("direct", self.route()[0]), self.sessions)]
            with self.subTest(text=text):
                self.assertEqual(*answers)

    def test_prepared(self):
        for text in self.asked(QUERIES):
            with self.subTest(text=text):
                self.both(wire.parse("", text), wire.describe("S", ""), wire.bind("", "", []), wire.describe("P", ""),
                          wire.execute(), wire.sync())

    def test_found_by_search_path(self):
        """Relations of information_schema by their bare names: where it is searched before all but pg_catalog."""
        asks = ("select table_name, column_name, ordinal_position from columns where table_schema = 'public' order by 1, 3",
                "select table_name from tables where table_schema = 'public' order by 1",
                "select k.table_name, k.column_name from key_column_usage k where table_schema = 'public' order by 1, ordinal_position",
                "select columns.column_name from columns where columns.table_name = 'ev' order by columns.ordinal_position",
                "with tables as (select 1 as n) select * from tables", "select constraint_name from table_constraints where table_name = 'ev' order by 1",
                "select count(*) from columns c join tables t using (table_schema, table_name) where table_schema = 'public'")
        paths = ("information_schema", "information_schema, public", "pg_catalog, information_schema", "public, information_schema", "public")
        for path in paths[:3] + paths[4:]:
            self.both(wire.query(f"set search_path = {path}"), *(wire.query(text) for text in asks), ready=1 + len(asks))
            self.both(wire.query(f"begin; set local search_path = {path}"), *(wire.query(text) for text in asks[:2]), wire.query("rollback"),
                      wire.query(asks[0]), ready=5)
            said = [message for text in asks[:3] for message in (wire.parse("", text), wire.bind("", ""), wire.describe("P", ""), wire.execute(), wire.sync())]
            self.both(wire.query(f"set search_path = {path}"), *said, ready=4)
        for path in paths[3:]:
            self.both(wire.query("create table public.tables (n int)"), wire.query(f"set search_path = {path}"), wire.query("select * from tables"),
                      wire.query("set search_path = public; drop table tables"), ready=4)
        for path in paths:
            self.both(wire.query("create temp table tables (n int)"), wire.query(f"set search_path = {path}"), wire.query("select * from tables"),
                      wire.query("set search_path = public; drop table tables"), ready=4)

    def test_parameters(self):
        """They have the types that they have direct; none is declared."""
        table, key = ([admin.rows(f"select '{name}'::regclass::oid")[0][0] for admin in (self.admins["direct"], self.admins[self.route()[0]])]
                      for name in ("ev", "ev_pkey"))
        for text, *values in (
                ("select pg_get_indexdef($1)", key), ("select pg_get_indexdef($1, $2, true)", key, "1"), ("select pg_get_indexdef($1, $2, $3)", key, "2", "t"),
                ("select pg_get_constraintdef($1, $2)", "0", "t"), ("select pg_index_column_has_property($1, $2, $3)", "ev_pkey", "1", "asc"),
                ("select col_description($1, $2)", table, "3"), ("select pg_describe_object($1, $2, $3)", "1259", table, "4"),
                ("select * from pg_identify_object($1, $2, $3)", "1259", table, "2"), ("select has_column_privilege($1, $2, $3)", "ev", "userid", "select"),
                ("select has_column_privilege($1, $2, $3, $4)", "app", "ev", "ts", "select"), ("select pg_get_partkeydef($1)", table),
                ("select relname, relnatts from pg_class tablesample bernoulli ($2) where relname = $1", "ev", "100"),
                ("select def from pg_constraint c, pg_get_constraintdef(c.oid, $1) def where conname = $2", "t", "ev_pkey"),
                ("select column_name, $2 || data_type from information_schema.columns where table_name = $1 order by 1", "ev", "x")):
            answers = []
            for number, session in enumerate(self.sessions):
                bound = [value[number] if isinstance(value, list) else value for value in values]
                answers.append([same_less_oids(reply) for reply in session.ask(
                    wire.parse("", text), wire.describe("S", ""), wire.bind("", "", bound), wire.execute(), wire.sync())])
            with self.subTest(text=text):
                self.assertEqual(*answers)
                self.assertNotIn("E", [str(reply)[0] for reply in answers[0]])

    def test_quoted_names(self):
        for text in ("set quote_all_identifiers = on", *self.asked(QUERIES), "reset quote_all_identifiers"):
            with self.subTest(text=text):
                self.both(wire.query(text))

    def test_psql(self):
        for command in self.asked(PSQL):
            with self.subTest(command=command):
                self.assertEqual(*(self.run_on(route, "psql", "-XqAc", command)
                                   for route in self.routes()))

    @harness.proxied
    def test_completion(self):
        for text, *offers in zip(TABS, *(terminal.completions(route, TABS) for route in self.routes())):
            with self.subTest(text=text):
                self.assertEqual(*offers)
                self.assertIn(b"end", offers[0])

    def run_on(self, route, *command, **more):
        """What one of PostgreSQL's own programs prints."""
        database, port = route
        done = subprocess.run([*command, "-h", "127.0.0.1", "-p", str(port), "-U", harness.USER, "-d", database],
                              capture_output=True, text=True, timeout=harness.PATIENCE, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    @harness.proxied
    def test_pg_dump(self):
        """The application's view of the tables, whose rows can be put in again through keyspread."""
        routes = self.routes()
        rows = "insert into ev values " + ", ".join(f"({n}, '2026-01-01 00:00:00+00', 'é ''{n}', {n})" for n in range(20))
        for route in routes:
            self.run_on(route, "psql", "-Xqc", rows)
        for options in ((), ("--inserts",), ("-t", "ev"), ("--schema-only", "--no-comments")):
            direct, through = ([line for line in self.run_on(route, "pg_dump", *options).splitlines()
                                if "restrict" not in line] for route in routes)
            self.assertEqual(sorted(direct), sorted(through))  # rows are in the order of the hash
        dumped = self.run_on(self.route(), "pg_dump", "--data-only", "--column-inserts", "-t", "ev")
        self.admins["hashed"].rows("truncate ev")
        self.run_on(self.route(), "psql", "-Xqo", "/dev/null", input=dumped)
        self.assertEqual(*(sorted(self.run_on(route, "psql", "-XAtc", "select * from ev").splitlines()) for route in routes))
        self.contents("direct")
        self.assertEqual(len(self.contents("hashed", verify=True)[0]), 20)

    @harness.proxied
    def test_a_dump_put_in_again(self):
        """Into a database that is empty, where the tables are made through keyspread."""
        table = Table("ev", EV.columns, EV.key, hash_first=False)
        table.options["partitions"] = {"buckets": 16}
        keyspread = harness.Keyspread(harness.backend_config(self.postgres, [table]))
        self.addCleanup(keyspread.stop)
        fresh = f"fresh_{self.partitioned}".lower()
        self.postgres.create_database(fresh)
        rows = "insert into ev values " + ", ".join(f"({n}, '2026-01-01 00:00:00+00', 'é', {n})" for n in range(20))
        self.run_on(self.route(), "psql", "-Xqc", rows)
        dumped = self.run_on(self.route(), "pg_dump", "--inserts")
        self.run_on((fresh, keyspread.port), "psql", "-Xqo", "/dev/null", "-v", "ON_ERROR_STOP=1", input=dumped)
        for command in (r"\d ev", "select * from ev order by userid"):
            self.assertEqual(*(self.run_on(route, "psql", "-Xc", command) for route in (self.route(), (fresh, keyspread.port))))
        self.contents("hashed")
        with contextlib.closing(harness.connect_admin(self.postgres, fresh)) as connection:
            harness.verify_hashes(self, connection, table)

    def test_only(self):
        """A partitioned table is to it what the ordinary one is."""
        rows = "insert into ev (userid, ts) values (3, '2026-01-01'), (4, '2026-01-01'), (5, '2026-01-01')"
        for text in ("begin", rows, *ONLY, "rollback"):
            with self.subTest(text=text):
                self.both(wire.query(text))

    @harness.proxied
    def test_tables_that_show_it(self):
        text = "select attname from pg_attribute where attrelid = 'ev'::regclass and attnum > 0"
        for option, columns in (({}, 4), ({"hide_in_catalog": False}, 5), ({"hide": False}, 5)):
            table = Table("ev", EV.columns, EV.key, hash_first=False, **option)
            keyspread = harness.Keyspread(harness.backend_config(self.postgres, [table]))
            self.addCleanup(keyspread.stop)
            with self.subTest(option=option), wire.Wire(("127.0.0.1", keyspread.port)) as session:
                session.login(harness.USER, "hashed")
                self.assertEqual(len(session.rows(text)), columns)

    @harness.proxied
    def test_a_table_made_again(self):
        """What was prepared before finds it, too."""
        text = "select attname from pg_attribute where attrelid = 'ev'::regclass and attnum > 0"
        execute = [wire.bind("", "p", []), wire.execute(), wire.sync()]
        with self.log_in(*self.route()) as session:
            self.assertEqual(len(session.ask(wire.parse("p", text), *execute)), 8)
            session.rows("begin")
            session.rows("alter table ev rename to ev_old; " + EV.ddl(partitioned=False))
            self.assertEqual(len(session.rows(text)), 4)
            self.assertEqual(len(session.ask(*execute)), 7)
            session.rows("rollback")


if __name__ == "__main__":
    unittest.main()
