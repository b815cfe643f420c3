"""With `hide: strict` who names the hash column hears what PostgreSQL says of a plain table, which has none: the same
SQLSTATE, message and position; and where another table has a column of that name, that one is meant. Direct and through
keyspread."""
import unittest

import wire
from direct_case import DirectCase, rows_first, shown
from harness import Table

EV = Table("ev", ["userid bigint not null", "ts timestamptz not null", "event text"], ["userid", "ts"],
           hash_first=False, hide="strict")
TX = Table("tx", ["a varchar(5) not null", "b int not null", "v numeric"], ["a", "b"], hash_column="userid_hash",
           hash_first=False, hide="strict")
ROWS = ("insert into ev (userid, ts, event) values " + ", ".join(
            f"({user}, '2026-01-0{day} 00:00:00+00', 'e{user % 3}')" for user in range(-1, 4) for day in (1, 2)),
        "insert into tx (a, b, v) values ('a', 1, 1.50), ('b', 2, 2.50)")
OTHERS = ("create table other (userid_hash int, b int); insert into other select i, i % 3 from generate_series(0, 4) i;"
          "create table none (b int, x text); insert into none values (1, 'x')")
VALUES = "(userid, ts, event) values (9, '2026-01-01 00:00:00+00', 'x')"

PRIVILEGES = (
    "select has_column_privilege('ev', 'userid', 'select')", "select has_column_privilege('ev', 'userid_hash', 'select')",
    "select has_column_privilege('public.ev'::regclass::oid, 'userid_hash'::text, 'select')",
    "select has_column_privilege('app', 'ev', 'userid_hash', 'select')", "select has_column_privilege('nothing', 'userid_hash', 'select')",
    "select has_column_privilege(c.oid, attname, 'select') from pg_class c, pg_attribute n where attrelid = c.oid and relname = 'ev'",
    "select has_column_privilege('other', 'userid_hash', 'select')",
)
TEXTS = (
    # there is no such column
    "select userid_hash from ev", "select 'é', userid_hash from ev", "select *, userid_hash from ev",
    "select e.userid_hash from ev e", "select ev.userid_hash from ev", "select \"userid_hash\" from ev",
    "select Userid_HASH from ev where userid = 1", "select public.ev.userid_hash from ev",
    "select * from ev where userid_hash = 1", "select * from ev where userid = 1 and userid_hash is not null",
    "select * from ev order by userid_hash", "select count(*) from ev group by userid_hash",
    "select 1 from ev having max(userid_hash) > 1", "select sum(userid_hash) over () from ev",
    "select (e).userid_hash from ev e", "select userid_hash(e) from ev e", "select userid_hash(ev) from ev where userid = 1",
    "select ctid, userid_hash from ev", "select tableoid from ev e where e.userid_hash = 1",
    "select * from ev join tx using (userid_hash)", "select * from ev join none on b = ev.userid_hash",
    "select * from ev, none where userid_hash = b", "select * from none n where exists (select 1 from ev where userid_hash = n.b)",
    "select * from (select userid_hash from ev) s", "with c as (select userid_hash from ev) select * from c",
    "with c as (select * from ev) select userid_hash from c", "select * from ev union all select userid_hash, ts, event from ev",
    "select * from ev for update of userid_hash", "(select userid_hash from ev)", "values ((select max(userid_hash) from ev))",
    "select lateral_.* from none, lateral (select userid_hash from ev) lateral_", "explain select userid_hash from ev",
    "declare c cursor for select userid_hash from ev", "copy (select userid_hash from ev) to stdout",
    "create view made as select userid_hash from ev", "create table made as select userid_hash from ev",
    "prepare p as select userid_hash from ev where userid = $1",
    "update ev set event = 'y' where userid_hash = 1", "update ev set userid_hash = 1 where userid = 1",
    "update ev e set event = 'y' where e.userid_hash = 1", "update ev set event = userid_hash::text",
    "update ev set event = 'y' where userid = 1 returning userid_hash", "update ev set event = 'y' returning ev.userid_hash, *",
    "update ev set (event, userid_hash) = ('y', 1)", "update ev set event = x from none where b = userid and ev.userid_hash = 1",
    "update ev set event = (select max(e.userid_hash)::text from ev e)",
    "delete from ev where userid_hash = 1", "delete from ev e where e.userid_hash = 1 and userid = 1",
    "delete from ev where userid = 1 returning userid_hash", "delete from ev using none where b = userid returning ev.userid_hash",
    "delete from ev e returning (e).userid_hash", "delete from ev returning userid_hash(ev)",
    "with d as (delete from ev returning userid_hash) select * from d",
    "insert into ev (userid, ts, userid_hash) values (9, '2026-01-01 00:00:00+00', 1)",
    "insert into ev (userid_hash) values (1)", "insert into ev (userid, ts, userid_hash) select 1, now(), 1",
    f"insert into ev {VALUES} returning userid_hash", f"insert into ev {VALUES} returning *, ev.userid_hash",
    f"insert into ev as e {VALUES} returning e.userid_hash", f"insert into ev {VALUES} returning (select userid_hash)",
    f"insert into ev {VALUES} on conflict (userid_hash, userid, ts) do nothing",
    f"insert into ev {VALUES} on conflict (userid, ts) do update set userid_hash = 1",
    f"insert into ev {VALUES} on conflict (userid, ts) do update set event = excluded.userid_hash",
    f"insert into ev {VALUES} on conflict (userid, ts) do update set event = 'y' where ev.userid_hash = 1",
    "insert into ev (userid, ts) select userid_hash, now() from ev", "insert into none select 1, userid_hash from ev",
    f"with c as (select 1 a) insert into ev {VALUES} returning userid_hash",
    "copy ev (userid, userid_hash) to stdout", "copy ev (userid) to stdout",
    # another is meant
    "select userid_hash from ev, other where b = userid order by 1, ts", "select o.userid_hash, ev.* from ev join other o on o.b = ev.userid",
    "select * from ev natural join other", "select max(userid_hash) from ev e join other on b = e.userid where e.userid = 1",
    "select * from other where exists (select 1 from ev where userid_hash = userid)",
    "select (select max(event) from ev where userid_hash = userid) from other",
    "select userid userid_hash, event from ev order by userid_hash, ts", "select * from (select 1 userid_hash) s, ev where userid_hash = userid",
    "select userid_hash from ev e(userid_hash, t) where userid_hash = 1", "select 'userid_hash' from ev -- userid_hash",
    "with ev as (select 5 userid_hash) select userid_hash from ev", "select * from other join ev on userid_hash = userid and b = 1",
    "update ev set event = userid_hash::text from other where b = userid and userid_hash = 1 returning userid_hash, ev.*",
    "update other set b = 7 from ev where userid_hash = userid returning userid_hash, event",
    "delete from ev using other where userid_hash = userid and userid = 2 returning userid_hash, ts",
    "delete from ev where userid in (select userid_hash from other where userid_hash = 1) returning *",
    f"insert into ev {VALUES} returning (select max(userid_hash) from other), userid",
    f"insert into ev {VALUES} on conflict (userid, ts) do update set event = (select max(userid_hash) from other)",
    "insert into ev (userid, ts) select userid_hash + 50, '2026-01-01' from other returning *",
    "insert into other (userid_hash) values (1) returning userid_hash", "insert into other select userid, 1 from ev returning userid_hash",
    "select a, userid_hash from tx, other where other.b = tx.b order by 1, 2",
    # in one table's place, and with more than one that does not exist
    "select e.* from only (ev) e", "select count(*) from only ev", "select ts from only(public.ev)where userid = 2",
    "update only (ev) set event = 'y' where userid = 1 returning *", "delete from only ev returning *",
    "select other.userid_hash, ev.userid_hash from ev, other", "select userid_hash from ev, other o, none n where n.b = ev.userid",
    "select userid_hash from ev, (select 1) s", "select count(userid_hash) from ev", "select userid_hash(ev, 1) from ev",
    "select * from ev where exists (select 1 from tx where userid_hash = 1)", "select pg_catalog.userid_hash(ev) from ev",
    "select (e).userid from ev e where userid = 1", "select (e).nothing from ev e", "copy public.ev (event, userid) to stdout",
    "copy ev (\"userid_hash\") to stdout", "select a.userid_hash from ev e", "select e.userid_hash from ev e(userid_hash)",
    "select max(userid_hash) from ev e(a, b, c) join other on true", "SELECT * FROM EV WHERE USERID_HASH = 1 AND USERID_HASH = 2",
    "select c.userid_hash from ev c join tx c2 on true where c2.userid_hash = 1",
    "select e.ts, e.userid_hash from ev e where e.userid_hash = 1 order by e.userid_hash",
    "delete from ev where ev.userid_hash = 1 returning ev.userid_hash",
    "merge into ev using other on b = userid when matched then update set event = userid_hash::text",
    "merge into ev using other on b = userid when matched and userid_hash = 1 then delete",
    "update ev set (userid_hash, event) = (select 1, 'y')", "update ev e set userid_hash = 1", "delete from ev where userid_hash in (1, 2)",
)

# The message is another; SQLSTATE and position are the same.
ALIKE = {"select * from ev for update of userid_hash"}


def _brief(replies):
    return [f"E {reply.sqlstate} {reply.fields().get('P')}" if reply.kind == "E" else shown(reply) for reply in replies]


class Strict(DirectCase):
    tables = (EV, TX)
    setup_sql = OTHERS
    rows_sql = ROWS
    partitioned = True

    def check(self, text, messages):
        answers = []
        for database, port in self.routes():
            with self.log_in(database, port) as session:
                replies = session.ask(wire.query("begin"), *messages, wire.query("rollback"), ready=3)
            tell = _brief if text in ALIKE else lambda them: [shown(reply) for reply in them]
            answers.append(rows_first(tell(replies), "Dd"))
        self.assertEqual(*answers)

    def test_texts(self):
        for text in TEXTS:
            with self.subTest(text=text):
                self.check(text, [wire.query(text)])

    def test_privileges(self):
        """Of a name that there is not; the message names another relation, and may come before the row is described."""
        for text in PRIVILEGES:
            answers = []
            for database, port in self.routes():
                with self.log_in(database, port) as session:
                    answers.append([(reply.kind, reply.sqlstate if reply.kind == "E" else reply.body)
                                    for reply in session.query(text) if reply.kind in "DE"])
            with self.subTest(text=text):
                self.assertEqual(*answers)
                self.assertGreater(len(answers[0]), 0)

    def test_privileges_by_parameters(self):
        """What a function says when it runs is no change of the statement's columns."""
        for name in "userid_hash", "userid", "nothing":
            answers = []
            for database, port in self.routes():
                with self.log_in(database, port) as session:
                    session.ask(wire.parse("p", "select has_column_privilege($1, $2, $3)"), wire.sync())
                    answers.append([(reply.kind, reply.sqlstate if reply.kind == "E" else reply.body) for reply in
                                    session.ask(wire.bind("", "p", ["ev", name, "select"]), wire.execute(), wire.sync())])
            with self.subTest(name):
                self.assertEqual(*answers)

    def test_prepared(self):
        for text in TEXTS:
            if text.startswith(("copy", "prepare", "declare", "create", "explain")):
                continue  # PostgreSQL looks at them when they are executed
            with self.subTest(text=text):
                self.check(text, [wire.parse("", text), wire.describe("S", ""), wire.bind("", "", []),
                                  wire.describe("P", ""), wire.execute(), wire.sync()])


if __name__ == "__main__":
    unittest.main()
