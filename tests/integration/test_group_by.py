"""GROUP BY a table's key, beside which PostgreSQL shows other columns of the row: as of a table without a hash."""
import unittest

import harness
import wire
from direct_case import DirectCase, shown
from harness import Table

QUERIES = (
    "select id, n, count(*) from one group by id", "select one.id, one.n, m from one group by one.id", "select o.*, count(*) from one o group by o.id",
    "select * from one group by id", "select id, n from one group by id having count(*) > 0", "select n, max(m) from one group by n, id",
    "select id, n from one group by (id)", "select id, n, count(*) from one group by 1", "select n, id, count(*) from one group by 2",
    "select n, id, m from one group by 1, 2", "select n, count(*) from one group by 1", "select id as key, n from one group by key",
    "select n, count(*) as id from one group by n", "select n as id, count(*) from one group by id", "select a.n, b.n from one a join one b on a.n = b.n group by a.id, b.id",
    "select a.id, b.n from one a left join one b on a.n = b.id group by a.id, b.id", "select a.n, b.n from one a full join events b on a.id = b.ts group by a.id, b.id",
    "select id, n from one group by grouping sets ((id), (id, n))", "select id, n from one group by rollup (id)", "select id, n, n from one group by cube (id, n)",
    "select id, n, sum(n) over (order by id) from one group by id", "with x as (select id, n from one group by id) select * from x",
    "select * from (select id, n from one group by id) x", "select id from one where exists (select n from one b group by b.id having b.id = one.id)",
    "select one.id, two.n from one join one two using (id) group by one.id, two.id", "select id, n from one join (select 1 as z) y on true group by id",
    "select id, (select count(*) from one b where b.id <= a.id), n from one a group by id", "select id, n from one group by id union select 9, 9 order by 1",
    "select userid, ts, e from events group by ts, userid", "select userid, ts, e from events group by userid", "select userid, count(*) from events group by userid",
    "select userid, ts, e, count(*) from events where userid = 1 group by 1, 2 having max(e) > ''", "select userid, e from events group by 1, 2",
    'select "events"."userid" /* x */, e from public.events group by public.events.userid, events . ts', "select e from events group by ts, userid, e, ts",
    "select count(*) from events group by (userid, ts)", "select e from events group by (userid, ts)", "select e, n from events, one group by (ts, (id, userid))",
    "select e, ts, userid from events group by (3, 2)", "select e from events group by row(userid, ts)", "select e from events group by ((userid)), ts", "select e from events group by userid + 0, ts",
    "select distinct e from events group by userid, ts", "select v.e from v", "select é, n from one group by id",
    "select id, nothing from one group by id", "select x.n from one group by id",
)
TWICE = ("insert into one select id + 100, n from one group by id", "create table made as select id, n from one group by id order by 1",
         "select * from made", "drop table made", "declare c cursor with hold for select e from events group by ts, userid order by e", "fetch all c", "close c",
         "copy (select userid, e from events group by ts, userid order by 1, 2) to stdout")


@harness.proxied
class GroupBy(DirectCase):
    tables = (Table("one", ["id int", "n int", "m int default 5"], ["id"], hash_first=False),
              Table("events", ["userid int", "ts int", "e text", "id int"], ["userid", "ts"], hash_first=False))
    partitioned = True

    def setUp(self):
        for database, port in self.routes():
            self.admins[database].rows("drop view if exists v; truncate one, events")
            self.play([wire.query(text) for text in (
                "insert into one (id, n) select x, x % 3 from generate_series(1, 9) x", "create view v as select ts, e from events group by userid, ts",
                "insert into events select x % 4, x, (x % 5)::text, x from generate_series(1, 20) x")], 3, database, port, {})

    def rows(self, *messages):
        """Of both, in any order: replies of one session."""
        return [sorted(shown(reply) for reply in self.play(messages, 1, database, port, {}))
                for database, port in self.routes()]

    def test_queries(self):
        for text in QUERIES:
            for messages in ([wire.query(text)], [wire.parse("", text), wire.describe("S", ""), wire.bind("", ""), wire.execute(), wire.sync()]):
                with self.subTest(text, messages=len(messages)):
                    direct, through = self.rows(*messages)
                    self.assertEqual(direct, through)

    def test_statements(self):
        answers = []
        for database, port in self.routes():
            replies = self.play([wire.query(text) for text in TWICE], len(TWICE), database, port, {})
            answers.append([shown(reply) for reply in replies])
        self.assertEqual(*answers)


@harness.proxied
class NullKeys(harness.StackCase):
    """A row whose key is NULL has a hash; what an outer join has in the place of a row has none."""
    tables = (Table("loose", ["k bigint", "v text"], ["k"], null_key="allow"),)
    partitioned = False

    def test_one_group(self):
        with self.postgres.admin(self.database) as admin:
            admin.rows("alter table loose drop constraint loose_pkey; alter table loose alter k drop not null")
        session = self.wire()
        self.assertIsNone(wire.error_of(session.query("insert into loose values (null, 'none'), (1, 'one')")))
        for text in ("group by l.k", "group by 1"):
            self.assertEqual(session.rows("select l.k, count(*) from generate_series(1, 3) g left join loose l"
                                          f" on l.k = g or (l.k is null and g = 2) {text} order by 1"),
                             [["1", "1"], [None, "2"]])


if __name__ == "__main__":
    unittest.main()
