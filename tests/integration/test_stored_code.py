"""A database that stores code which changes the session's state: nobody is asked for it after reads that
cannot run any; and wherever a SELECT can run some that it does not name, it is asked for."""
import unittest

import harness
import metrics
import wire
from harness import Table

UP = Table("up", ["id bigint not null", "v int"], ["id"], hash_column="h")
MOVE = "begin perform set_config('search_path', 'other', false); return {}; end"
STORED = f"""create schema other; create table other.up (id bigint, v int); create table plain (a int);
    insert into plain values (1);
    create function moved() returns trigger language plpgsql as $${MOVE.format("new")}$$;
    create trigger t before insert on plain for each row execute function moved()"""
FUNCTION = "create function moves({}) returns {} language plpgsql as $$" + MOVE + "$$"
# What is made, by name, and a SELECT that runs it.
UNNAMED = (
    ("view", FUNCTION.format("", "int", 1) + "; create view v as select moves()", "select * from v"),
    ("view of a caller", FUNCTION.format("", "int", 1) + "; create function calls() returns int language sql"
     " as 'select moves()'; create view v as select calls()", "table v"),
    ("operator", FUNCTION.format("int, int", "int", 1) +
     "; create operator <<< (leftarg = int, rightarg = int, function = moves)", "select 1 <<< 2"),
    ("operator of a caller", FUNCTION.format("", "int", 1) + "; create function calls(int, int) returns int"
     " language sql as 'select moves()'; create operator <<< (leftarg = int, rightarg = int, function = calls)",
     "select a <<< 2 from plain"),
    ("cast", FUNCTION.format("int", "point", "'(1,1)'") + "; create cast (int as point) with function moves(int)",
     "select 1::point"),
    ("domain", FUNCTION.format("int", "bool", "true") + "; create domain small as int check (moves(value))",
     "select 1::small"),
    ("attribute", FUNCTION.format("plain", "int", "1"), "select p.moves from plain p"),
    ("any row's attribute", FUNCTION.format("record", "int", "1"), "select p.moves from plain p"),
    ("index", FUNCTION.format("int, int", "int", "case when $1 < $2 then -1 else ($1 > $2)::int end") +
     " immutable; create operator <<< (leftarg = int, rightarg = int, function = int4lt);"
     "create operator >>> (leftarg = int, rightarg = int, function = int4gt);"
     "create operator === (leftarg = int, rightarg = int, function = int4eq);"
     "create operator class moving for type int using btree as operator 1 <<<, operator 3 ===, operator 5 >>>,"
     " function 1 moves(int, int); insert into plain values (2); set search_path = public",
     "select a from plain order by a using <<<"),
)


class StoredCode(harness.StackCase):
    tables = (UP,)
    partitioned = False
    setup_sql = STORED
    number = 0

    def fine(self, session, *texts):
        for text in texts:
            self.assertIsNone(wire.error_of(session.query(text)), text)

    def stores_in(self, session):
        """The schema whose table the next row is stored in."""
        StoredCode.number += 1
        self.fine(session, f"insert into up values ({self.number}, 1)")
        ours = session.rows(f"select id from public.up where id = {self.number}")
        return "public" if ours else "other"

    def said(self, session, *messages):
        """What the server hears when these are sent."""
        mark = self.postgres.mark()
        for message in messages:
            self.assertIsNone(wire.error_of(session.ask(*message)))
        return [statement.text for statement in self.postgres.statements(mark, self.database)
                if "keyspread_check" not in statement.text]

    @harness.proxied
    def test_nothing_is_asked_after_reads(self):
        session = self.wire()
        self.fine(session, "insert into up values (1, 1)", "select v from up where id = 1")
        read = [wire.bind("", "s", ["1"]), wire.execute(), wire.sync()]
        self.fine(session, "select a from plain")
        session.ask(wire.parse("s", "select v from up where id = $1"), wire.sync())
        session.ask(*read)
        said = self.said(session, read, [wire.query("select a + 1 from plain where a = '1'")], read,
                         [wire.query("select v from up where id = 1")], [wire.query("values ('a')")],
                         [wire.query("select v from up where id = 1")])
        self.assertEqual(len(said), 6, said)

    @harness.proxied
    def test_a_trigger_is_asked_about(self):
        session = self.wire()
        self.fine(session, "insert into plain values (1)")
        self.assertEqual(self.stores_in(session), "other")

    def test_what_a_select_runs_unnamed(self):
        for name, make, run in UNNAMED:
            with self.subTest(name):
                session = self.wire()
                self.fine(session, make)
                self.assertEqual(self.stores_in(session), "public")
                self.fine(session, run)
                self.assertEqual(self.stores_in(session), "other")
                self.fine(session, "set search_path = public", "create schema next",
                          "drop schema next", "drop function moves cascade", "drop function if exists calls cascade",
                          "drop operator if exists <<< (int, int) cascade", "drop operator if exists >>> (int, int)",
                          "drop operator if exists === (int, int)")


NOTED = Table("noted", ["id bigint not null", "v text"], ["id"], hash_column="h")
CHANGED = Table("changed", ["id bigint not null", "v text"], ["id"], hash_column="h")
CODE = """create table audit (who text, id bigint);
    create function note() returns trigger language plpgsql as $$ begin
        insert into audit values (current_setting('my.tenant', true), new.id); return null; end $$"""
DEFERRED = """create constraint trigger note after insert on noted deferrable initially deferred
    for each row execute function note();
    create constraint trigger note after update on changed deferrable initially deferred
    for each row execute function note()"""


class Deferred(harness.StackCase):
    """What runs when a row is committed runs in the session whose row it is."""
    tables = (NOTED, CHANGED)
    partitioned = False
    options = {"workers": 1}
    before_sql = CODE
    setup_sql = DEFERRED

    def test_the_session_is_seen(self):
        one, other = self.wire(), self.wire()
        for session, text in ((one, "set my.tenant = 'one'"), (one, "insert into noted values (1)"),
                              (other, "insert into noted values (2)"), (one, "insert into noted values (3)"),
                              (one, "insert into changed values (4)"),
                              (one, "insert into changed values (4) on conflict (id) do update set v = 'again'"),
                              (one, "update changed set id = 5 where id = 4")):
            self.assertIsNone(wire.error_of(session.query(text)), text)
        with self.postgres.admin(self.database) as admin:
            self.assertEqual(admin.rows("select who from audit order by id"), [["one"], [None], ["one"], ["one"], ["one"]])


TIMES = Table("times", ["ts timestamptz not null", "v text check (length(v) < 9)"], ["ts"], hash_column="h")
LOUD = """create function sets(v text) returns bool language plpgsql as $$ begin
        if v like 'set %' then perform set_config(split_part(v, ' ', 2), split_part(v, ' ', 3), false); end if;
        return true; end $$;
    create function calls(v text) returns text language plpgsql immutable as $$ begin
        perform sets(v); return v; end $$;
    create domain setting as text check (sets(value)); create domain settings as setting"""
NOON = "insert into times values ('2020-01-01 12:00', 'x')"


def of_code(name, column, **more):
    return Table(name, ["id bigint not null", column], ["id"], hash_column="h", **more)


class Shared(harness.StackCase):
    """What a row of one client runs changes nothing for another's."""
    tables = (TIMES, of_code("checked", "v text check (sets(v))"),
              of_code("builtin", "v text check (length(set_config(split_part(v, ' ', 2), split_part(v, ' ', 3),"
                      " false)) > 0)"),
              of_code("typed", "v setting"), of_code("typed_array", "v settings[]"),
              of_code("casting", "v text check ((v::setting) is not null)"), of_code("indexed", "v text"),
              of_code("plain", "v text"))
    before_sql = LOUD
    setup_sql = "create index on indexed (calls(v))"
    partitioned = False
    options = {"workers": 1, "admin": {}, "backend": {"catalog_s": 3600}}

    def fine(self, session, text):
        replies = session.query(text)
        self.assertIsNone(wire.error_of(replies), text)
        return [reply.body for reply in replies if reply.kind == "S"]

    def batched(self):
        return metrics.Scrape(self.keyspread).get("units_total", outcome="committed")

    def noon(self, message):
        """Of a client that has set nothing."""
        with self.postgres.admin(self.database) as admin:
            admin.rows("truncate times")
        self.fine(self.wire(), NOON)
        self.check_stored(TIMES, 1)
        self.assertEqual(self.stored(TIMES, "ts at time zone 'UTC'"), [["2020-01-01 12:00:00"]], message)

    def test_settings_are_whose_row_sets_them(self):
        for table in self.tables[1:-1]:
            moved = "{set TimeZone <+03>-03}" if table.name == "typed_array" else "set TimeZone <+03>-03"
            session = self.wire()
            told = self.fine(session, f"insert into {table.name} values (1, '{moved}')")
            self.assertEqual(told, [b"TimeZone\0<+03>-03\0"], table.name)
            self.noon(table.name)
            with self.postgres.admin(self.database) as admin:
                admin.rows("truncate times")
            self.fine(session, NOON)
            self.check_stored(TIMES, 1)
            self.assertEqual(self.stored(TIMES, "ts at time zone 'UTC'"), [["2020-01-01 09:00:00"]], table.name)

    @harness.proxied
    def test_other_checks_stay_batched(self):
        before = self.batched()
        self.noon("times")
        self.assertEqual(self.batched() - before, 1)

    @harness.proxied
    def test_what_nobody_knew_of(self):
        """A link whose settings are others by now is not used again."""
        self.fine(self.wire(), "insert into plain values (1, 'x')")
        with self.postgres.admin(self.database) as admin:
            admin.rows("alter table plain add check (sets(v))")
        before = self.batched()
        self.fine(self.wire(), "insert into plain values (2, 'set TimeZone <+03>-03')")
        self.assertEqual(self.batched() - before, 1, "it was known")
        self.noon("plain")


NAMED = Table("named", ["id bigint not null", "r regclass", "n oid", "a regtype[]"], ["id"], hash_column="h")


class Numbers(harness.StackCase):
    """What a name means is what its own session says, also where a number is made of it."""
    tables = (NAMED,)
    before_sql = "create table other (a int)"
    options = {"workers": 1}
    TEXTS = ("insert into named (id, r) values (1, 'other')",
             "insert into named (id, n) values (2, 'other'::regclass::oid)",
             "insert into named (id, a) values (3, '{other}')", "insert into named (id) values (4)",
             "insert into named (id) values (4) on conflict (id) do update set r = 'other'")

    def test_a_temporary_name(self):
        session = self.wire()
        session.ask(wire.parse("s", "insert into named (id, r) values ($1, $2)"), wire.sync())
        for before, kept in ("select 1", "p"), ("create table pg_temp.other (z int)", "t"):
            for messages in ([wire.query(text)] for text in (before, *self.TEXTS)):
                self.assertIsNone(wire.error_of(session.ask(*messages)), messages)
            self.assertIsNone(wire.error_of(session.ask(wire.bind("", "s", ["5", "other"]), wire.execute(),
                                                        wire.sync())))
            self.assertEqual(session.rows(
                "select c.relpersistence from named join pg_class c on c.oid in (r, n) or c.reltype = a[1] "
                "order by id"), 5 * [[kept]])
            session.query("truncate named")


if __name__ == "__main__":
    unittest.main()
