"""Tables that are made through keyspread, and cut into partitions on PostgreSQL (`uniform`, `at`): whatever partitioned tables
take is replied as of plain ones, and the catalog shows plain ones; what they do not take is refused, with a hint."""
import contextlib
import subprocess
import unittest

import harness
import wire
from direct_case import SessionCase, shown
from made_case import Planned

MADE = (
    "create table one (id int primary key, n int)", "create table if not exists one (id int primary key, n int) ",
    "select 'é'; create table public.one (id int primary key, n int) /* the end */; select 2",
    "begin; create table one (id int primary key, n int); commit", "create unlogged table one (id int constraint k primary key, n int)",
    "create table one (id int, n int); alter table only public.one add constraint one_pkey primary key (id)",
    "create table one (id int, n int default 5 check (n > 0), primary key (id))", "create table one (id serial primary key, n int)",
    "create table one (id int primary key, n int); create index on one (n); create index on only one (n, id)",
    "create table one (id int primary key, n int); alter table one add x int; alter table only one drop x, alter n set not null",
    "create table one (id int, n int); create table if not exists one (id int primary key); alter table one add primary key (id)",
    "create table one (id int primary key, n int) with (fillfactor = 70)",
    "create unlogged table one (id int primary key, n int)with(fillfactor=70,autovacuum_enabled=off)/* the end */",
)

USED = (
    "insert into one values (1, 1), (2, 2), (3, 3) returning *", "insert into one (id, n) values (4, 4)", "select * from only one order by 1",
    "update only one set n = 7 where id = 1", "delete from only one where id = 2 returning one", "copy one to stdout", "copy (select * from one order by 1) to stdout",
    "insert into one values (1, 8) on conflict (id) do update set n = excluded.n returning n", "insert into one values (1, 8)",
    "update one set id = 10 where id = 3", "select id, n from one order by id", "explain (costs off) select 1", "analyze one", "vacuum one", "lock table only one",
    "begin", "lock table only one", "select * from one order by id for update", "rollback",
    "select relname, relkind::text, relhassubclass::text from pg_class where relnamespace = 2200 and relkind <> 'S' order by 1",
    "select tablename from pg_tables where schemaname = 'public'", "select count(*) from pg_inherits", "select count(*) from pg_partitioned_table",
    "select table_name, table_type from information_schema.tables where table_schema = 'public'", "truncate only one", "select count(*) from one",
    "insert into one values (5, 5)", "truncate only public.one, plain", "insert into one values (5, 5); truncate only (one)", "truncate one", "create index on only one (n)",
    "select bool_and(indisvalid) from pg_index where indrelid = 'one'::regclass",
    "comment on table one is 'x'", "alter table one rename n to m", "select * from one",
)

REFUSED = (
    "create table one (id int primary key, n int unique)", "create table one (id int primary key, n int, constraint k unique (n))",
    "create table one (id int primary key, n int, unique (id))", "create table one (id int primary key, exclude using btree (id with =))",
    "create table one (id int primary key) inherits (parent)",
    "create table one (id int primary key) partition by hash (id)", "create table one (id int primary key, p int references one)",
    "create table one (id int primary key) using heap",
)

LATER = (
    "create unique index on one (n)", "create index concurrently on one (n)", "alter table one add unique (n)", "alter table one add x int unique",
    "create table plain (id int references one)", "create table plain () inherits (one)", "alter table one add exclude using btree (n with =)",
)


@harness.proxied
class MadePartitions(SessionCase):
    tables = (Planned("one", ["id"], kind={"uniform": 16}), Planned("pgbench_accounts", ["aid"], kind={"uniform": 16}),
              Planned("pgbench_branches", ["bid"], kind={"uniform": 4}), Planned("pgbench_tellers", ["tid"], kind={"uniform": 4}))
    setup_sql = "create table parent (p int)"

    def setUp(self):
        self.sessions = self.connect_both()
        self.clean()

    def test_storage_options_are_of_the_partitions(self):
        self.query("create table one (id int primary key, n int) with (fillfactor = 70, toast.autovacuum_enabled = off)")
        self.assertEqual(self.admins["hashed"].rows("select reloptions::text, count(*) from pg_class where relname like 'one_p%'"
                                                    " and relkind = 'r' group by 1"), [["{fillfactor=70}", "16"]])
        self.clean()
        answers = [shown(reply) for reply in self.sessions[1].ask(wire.query("create table one (id int primary key) with (nosuch = 1)"))]
        self.assertTrue(any("C='22023'" in answer for answer in answers), answers)
        self.assertEqual(self.admins["hashed"].rows("select to_regclass('one')"), [[None]])

    def test_pgbench_makes_its_tables(self):
        """`pgbench -i`: CREATE TABLE WITH (fillfactor), COPY WITH (freeze), and then ALTER TABLE ADD PRIMARY KEY."""
        for database, port in self.routes():
            done = subprocess.run(["pgbench", "-i", "-q", "-h", "127.0.0.1", "-p", str(port), "-U", harness.USER, database], capture_output=True,
                                  text=True, timeout=harness.PATIENCE, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.query("select * from pgbench_accounts where aid in (1, 77777, 100000) order by aid")
        self.query("select count(*), sum(aid), sum(abalance) from pgbench_accounts")
        with contextlib.closing(harness.connect_admin(self.postgres, "hashed")) as connection:
            harness.verify_hashes(self, connection, self.tables[1])
        self.query("drop table pgbench_accounts, pgbench_branches, pgbench_tellers, pgbench_history")

    def clean(self):
        for admin in self.admins.values():
            admin.rows("drop table if exists one, plain, one_p2 cascade")
        for session in self.sessions:
            session.query("rollback")

    def both(self, *messages, ready=1):
        answers = [[shown(reply) for reply in session.ask(*messages, ready=ready)] for session in self.sessions]
        if answers[0] and answers[0][0].startswith(("T", "H")):  # the catalog's own columns, another order of rows
            answers = [sorted(reply for reply in answer if reply[0] != "T") for answer in answers]
        self.assertEqual(*answers)
        return answers[0]

    def parts(self):
        return self.admins["hashed"].rows("select count(*), bool_and(c.relpersistence = r.relpersistence) from pg_inherits join pg_class c on"
                                          " c.oid = inhrelid join pg_class r on r.oid = inhparent where r.relname = 'one'")

    def test_tables_that_are_made(self):
        for text in MADE:
            for ask in (self.query, self.prepared):
                if ask == self.prepared and ";" in text:
                    continue
                self.clean()
                with self.subTest(text):
                    replies = ask(text)
                    self.assertFalse(any(reply.startswith("E") for reply in replies), replies)
                    self.assertEqual(self.parts(), [["16", "t"]])
                    for use in USED:
                        with self.subTest(use):
                            self.both(wire.query(use))
                    with contextlib.closing(harness.connect_admin(self.postgres, "hashed")) as connection:
                        harness.verify_hashes(self, connection, self.tables[0])

    def test_again(self):
        """Prepared, and run where the table is there."""
        create = "create table if not exists one (id int primary key, n int)"
        self.both(wire.parse("c", create), wire.parse("d", "drop table one"), wire.sync())
        for name in "ccdcdc":
            self.both(wire.bind("", name), wire.execute(), wire.sync())
            self.both(wire.query("select * from one"))
        self.assertEqual(self.parts(), [["16", "t"]])
        self.both(wire.query("begin; drop table one;" + create + ""))
        self.both(wire.query("rollback"))
        self.both(wire.query(create))
        self.assertEqual(self.parts(), [["16", "t"]])

    def through(self, text):
        replies = self.sessions[1].query(text)
        errors = [reply.fields() for reply in replies if reply.kind == "E"]
        return errors[0] if errors else wire.tags_of(replies)

    def test_what_is_refused(self):
        for text in REFUSED:
            with self.subTest(text):
                error = self.through(text)
                self.assertEqual(error["C"], "0A000")
                self.assertIn("buckets", error["H"])
                self.assertIn("P", error)
        self.through("create table one (id int primary key, n int)")
        for text in LATER:
            with self.subTest(text):
                error = self.through(text)
                self.assertIn(error["C"], ("0A000", "42809"))
                self.assertIn("buckets", error.get("H", ""))
                self.assertNotIn("id_hash", str(error))

    def test_a_partition_that_is_there_already(self):
        """Nothing is made then."""
        self.admins["hashed"].rows("create table one_p2 ()")
        self.assertEqual(self.through("create table one (id int primary key)")["C"], "42P07")
        self.assertEqual(self.admins["hashed"].rows("select to_regclass('one') is null"), [["t"]])
        replies = self.sessions[1].ask(wire.parse("", "create table one (id int primary key)"), wire.bind("", ""), wire.execute(), wire.sync())
        self.assertEqual([reply.kind for reply in replies], ["1", "2", "C", "E", "Z"])
        self.assertEqual(self.admins["hashed"].rows("select to_regclass('one') is null"), [["t"]])
        self.admins["hashed"].rows("drop table one_p2")
        self.assertEqual(self.through("create table one (id int primary key)"), ["CREATE TABLE"])


if __name__ == "__main__":
    unittest.main()
