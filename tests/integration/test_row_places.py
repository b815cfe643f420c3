"""System columns that say where a row is, of a table in partitions that an application takes for an ordinary one."""
import contextlib
import unittest

import wire
from direct_case import SessionCase
from harness import Table

TABLE = Table("ev", ["a bigint not null", "b text"], ["a"], hash_first=False, hash_column="h")
TEXTS = (
    "select tableoid::regclass, * from ev order by a", "select distinct tableoid::regclass from ev", "select ev.tableoid::regclass::text as t, a from ev order by 2",
    "select tableoid::regclass, count(*) from ev group by tableoid", "select e.tableoid::regclass, max(a) from public.ev as e group by 1",
    "select a from ev where tableoid = 'ev'::regclass order by a", "select count(*) from ev where public.ev.tableoid <> 'public.ev'::regclass",
    "select relname, count(*) from ev join pg_class c on c.oid = ev.tableoid group by relname", "select t.tableoid::regclass from (select tableoid from ev limit 1) t",
    "select ev.tableoid::regclass, o.tableoid::regclass, o.x from ev, other o where o.x = ev.a", "select (select tableoid)::regclass from ev limit 1",
    "select tableoid from ev, other", "select o.tableoid::regclass from other o", "select distinct tableoid::regclass from ev order by tableoid::regclass",
    "update ev set b = 'x' where tableoid = 'ev'::regclass and a = 1 returning tableoid::regclass, *", "delete from ev where a = 2 returning ev.tableoid::regclass",
    "select tableoid::regclass, ev::text from ev where a = 3", "with w as (select tableoid::regclass t, a from ev) select * from w order by a",
    "select to_json(tableoid::regclass::text) from ev limit 1", "create view v as select tableoid::regclass from ev limit 1; select * from v",
    "select x, ev.tableoid is null from other left join ev on a = x + 7 order by x", "select x from other left join ev on a = x + 7 where ev.tableoid is null",
    "select x from ev right join other on a = x + 7 where ev.tableoid is null", "select count(*), count(ev.tableoid) from ev full join other on a = x + 7",
    "select o.x, e.tableoid is null from other o left join (ev e join other p on e.a = p.x) on p.x = o.x and o.x = 1 order by 1",
    "select distinct ev.tableoid::regclass from ev left join other on a = x", "select tableoid from jsonb_populate_record(null::ev, '{}')",
    "select a as tableoid from ev order by tableoid desc limit 1", "select -a as tableoid, ev.tableoid::regclass from ev order by tableoid limit 1",
    "select count(ctid) from ev", "select ctid is null from ev", "update other set x = 3 where ctid in (select ctid from other) returning x",
)
BY_CTID = ("delete from ev where ctid in (select ctid from ev order by a limit 2)", "delete from ev where ev.ctid = any (array(select ctid from ev))",
           "update ev set b = 'x' where ctid = '(0,1)'", "update ev e set b = 'x' from (select ctid from ev limit 1) t where e.ctid = t.ctid",
           "delete from ev using (select 1) s where ctid = '(0,1)'", "update ev set b = 'x' from generate_series(1, 2) s where ctid = '(0,1)'",
           "delete from ev where (ev).ctid = '(0,1)'", "delete from ev where ctid(ev) = '(0,1)'",
           "with t as (select ctid from ev limit 2) delete from ev using t where ev.ctid = t.ctid")


class Partitioned(SessionCase):
    tables = (TABLE,)
    setup_sql = "create table other (x bigint); insert into other values (1), (2)"
    rows_sql = ("insert into ev (a, b) values " + ", ".join(f"({number}, 'b')" for number in range(1, 9)),)
    partitioned = True

    @contextlib.contextmanager
    def connected(self):
        with super().connected():
            for session in self.sessions:
                session.query("begin")
            yield

    def shown(self, reply):
        """But for what columns are described as: a system column is one of a table."""
        return reply.columns()[0][0] if reply.kind == "T" else super().shown(reply)

    def test_texts(self):
        for text in TEXTS:
            with self.subTest(text), self.connected():
                self.both(wire.query(text))
                if ";" not in text:
                    self.both(wire.parse("", text), wire.bind("", ""), wire.execute(), wire.sync())

    def test_rows_written_by_ctid(self):
        """In two partitions they may have the same: none is written, rather than others' rows."""
        for text in BY_CTID:
            with self.subTest(text), self.connected():
                for messages in ([wire.query(text)], [wire.parse("", text), wire.sync()]):
                    self.sessions[1].query("savepoint a")
                    self.assertEqual(wire.error_of(self.sessions[1].ask(*messages)), "0A000")
                    self.sessions[1].query("rollback to a")
                self.assertEqual(self.sessions[1].rows("select count(*) from ev"), [["8"]])


class Strict(Partitioned):
    tables = (Table("ev", ["a bigint not null", "b text"], ["a"], hash_first=False, hash_column="h", hide="strict"),)


if __name__ == "__main__":
    unittest.main()
