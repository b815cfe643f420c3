"""Constants that are written as calls (NULLIF('a', ''), 'a' || 'b', to_timestamp(5) AT TIME ZONE 'UTC') are batched, store what
they store directly, and the error of one is its row's alone. KEYSPREAD_SERVERS: versions of npm's that the list is held against."""
import os
import re
import unittest

import harness
import wire
from test_setting_kinds import HERE, servers

LIST = os.path.join(HERE, "..", "..", "rewrite", "insert", "merged_call.c")
CALC = harness.Table("calc", ["id bigint not null", "a text", "b timestamptz", "c numeric", "d timestamp"], ["id"],
                     hash_first=False)

# What depends on the time zone, on how dates are shown, or on the time of the transaction: all rows of a batch share these.
OF_TIME = "'{timestamptz,timestamp,date,time,timetz,interval}'::regtype[]"
# Of these names and kinds all that PostgreSQL has is to be there for the list to be true; stable ones are to be of time.
WRONG = ("select p.oid::regprocedure from pg_proc p where p.pronamespace = 'pg_catalog'::regnamespace and p.proname = any(%s)"
         " and (p.proretset or p.prokind <> 'f' or p.provolatile = 'v' or (p.provolatile = 's' and not"
         f" (p.prorettype = any({OF_TIME}) or p.proargtypes::oid[]::regtype[] && {OF_TIME} or p.proname = 'to_char')))")
BUILT_IN = "select distinct proname from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname = any(%s)"
OPERATORS = ("select o.oid::regoperator from pg_operator o join pg_proc p on p.oid = o.oprcode where o.oid < 16384 and o.oprname = any(%s)"
             f" and (p.provolatile = 'v' or (p.provolatile = 's' and not (o.oprleft = any({OF_TIME}) or o.oprright = any({OF_TIME})"
             " or 0 = any(p.proargtypes::oid[]) or 'anynonarray'::regtype = any(p.proargtypes::oid[]))))")

ROWS = (
    "NULLIF('a', ''), to_timestamp(5), 1 + 1, to_timestamp(5) AT TIME ZONE 'UTC'",
    "nullif('', ''), now() - now() + '2026-01-01 00:00:00+00'::timestamptz, (1+1)::text::numeric, '2026-01-01'::date + 1",
    "COALESCE(NULL, 'a'), to_timestamp('2026-02-03', 'YYYY-MM-DD'), abs(-3) * 2, make_timestamp(2026, 1, 2, 3, 4, 5)",
    "'a' || 'b' || 1, timestamptz '2026-01-01 00:00:00+00' + interval '1 day', 7 % 4, date_trunc('day', timestamp '2026-01-02 03:04:05')",
    "upper('a' || lower('B')), null, round(1.234567, 2), null",
    "pg_catalog.upper('é'), null, extract(epoch from timestamptz '2026-01-01 00:00:00+00'), null",
    "md5('x'), null, greatest(1, 2, least(3, 4)), null",
    "replace(left('abcdef', 3), 'b', 'x'), null, -1 - -2, null",
    "to_char(timestamp '2026-01-02', 'YYYY'), null, (1 + 2) * 3, null",
)


def listed(name):
    with open(LIST, encoding="utf-8") as file:
        return re.findall(r'"([^"]+)"', re.search(name + r"\[\] = \{(.*?)NULL\}", file.read(), re.S)[1])


class Lists(unittest.TestCase):
    def test_all_that_is_called_so(self):
        functions, operators = ("'{%s}'::text[]" % ",".join(listed(name)) for name in ("functions", "operators"))
        for version in servers():
            with self.subTest(version):
                postgres = harness.Postgres(version)
                self.addCleanup(postgres.remove)
                with postgres.admin("postgres") as admin:
                    self.assertEqual(admin.rows(WRONG % functions), [])
                    there = {name for name, in admin.rows(BUILT_IN % functions)}
                    self.assertEqual(there, set(listed("functions")))
                    self.assertEqual(admin.rows(OPERATORS % operators), [])


@harness.proxied
class Rows(harness.StackCase):
    tables = (CALC,)

    def is_batched(self, session, *messages):
        own = int(session.rows("select pg_backend_pid()")[0][0])
        mark = self.postgres.mark()
        replies = session.ask(*messages)
        self.assertIsNone(wire.error_of(replies), replies)
        pids = {one.pid for one in self.postgres.statements(mark, self.database, "insert into")}
        self.assertTrue(pids)
        return own not in pids

    def test_what_is_stored(self):
        session = self.wire()
        with self.postgres.admin(self.database) as admin:
            for number, values in enumerate(ROWS):
                text = f"insert into calc values ({number}, {values})"
                self.assertTrue(self.is_batched(session, wire.query(text)), text)
                text = f"insert into calc (id, a, b, c, d) values (1{number}, {values})"
                self.assertTrue(self.is_batched(session, wire.parse("", text), wire.bind("", ""), wire.execute(), wire.sync()), text)
                # What PostgreSQL makes of it in a row of its own.
                admin.rows(f"create temp table alone (a text, b timestamptz, c numeric, d timestamp); insert into alone values ({values})")
                right = admin.rows("select * from alone; drop table alone")
                for key in (number, f"1{number}"):
                    self.assertEqual(admin.rows(f"select a, b, c, d from calc where id = {key}"), right, values)
        self.check_stored(CALC, 2 * len(ROWS))

    def test_of_parameters(self):
        session = self.wire()
        text = "insert into calc (id, a, c) values ($1, nullif($2, '') || upper($3::text), $4::int + 1)"
        session.ask(wire.parse("s", text), wire.sync())
        for number in range(2):
            self.assertTrue(self.is_batched(session, wire.bind("", "s", [number, "a", "b", 1]), wire.execute(), wire.sync()))
        self.assertEqual(self.stored(CALC, "a, c"), [["aB", "2"]] * 2)

    def test_on_conflict(self):
        session = self.wire()
        text = ("insert into calc (id, b) values (1, to_timestamp(5)) on conflict (id) do update set b = to_timestamp(7), "
                "c = extract(epoch from excluded.b), a = coalesce(calc.a, '') || upper('x')")
        for _ in range(2):
            self.assertTrue(self.is_batched(session, wire.query(text)))
        self.assertEqual(self.stored(CALC, "a, c::int"), [["X", "5"]])

    def test_errors_are_of_their_row(self):
        def work(number):
            session = self.wire()
            for row in range(40):
                value = "1 / 0" if row % 8 == 3 else "1 + 1"
                error = wire.error_of(session.query(f"insert into calc (id, c) values ({number * 100 + row}, {value})"))
                self.assertEqual(error, "22012" if row % 8 == 3 else None)
        harness.in_threads(6, work)
        self.check_stored(CALC, 6 * 35)

    def test_what_is_not(self):
        session = self.wire()
        for values in ("random()::text", "current_setting('my.a', true)", "(select 1)::text", "'a' like 'b'", "version()", "concat('a', 'b')",
                       "upper(current_user)", "case when true then 'a' end"):
            text = f"insert into calc (id, a) values (1, {values}) on conflict do nothing"
            self.assertFalse(self.is_batched(session, wire.query(text)), text)

    def test_in_the_key(self):
        """The key is told by the server, as before."""
        session = self.wire()
        session.rows("insert into calc (id) values (1 + 1)")
        self.check_stored(CALC, 1)


@harness.proxied
class OwnNames(harness.StackCase):
    """A function or an operator of the database's own may be meant."""
    tables = (CALC,)
    setup_sql = ("create schema own; create function own.upper(text) returns text language sql as $$select current_setting('my.a', true)$$")

    def test_own_function(self):
        session = self.wire()
        own = int(session.rows("select pg_backend_pid()")[0][0])
        session.rows("set search_path = own, pg_catalog, public; set my.a = 'mine'")
        mark = self.postgres.mark()
        session.rows("insert into calc (id, a) values (1, upper('a'))")
        self.assertEqual({one.pid for one in self.postgres.statements(mark, self.database, "insert into")}, {own})
        self.assertEqual(self.stored(CALC, "a"), [["mine"]])


if __name__ == "__main__":
    unittest.main()
