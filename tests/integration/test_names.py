"""What an unqualified name means is asked, not guessed: search_path, temporary objects, roles and settings,
set in all the ways there are, must lead no row to another table, nor past its hash."""
import unittest

import harness
import wire
from harness import Table

UP = Table("up", ["id bigint not null", "v int"], ["id"], hash_column="h")
TENANTS = Table("tenants", ["id bigint not null", "v int default 0",
                            "name text default current_setting('my.own', true)"], ["id"])
LISTS = Table("lists", ["id bigint not null", "a int[]"], ["id"])
HIDE = """create role quiet_one login; grant all on all tables in schema public to quiet_one;
    create schema other; create table other.up (id bigint, v int); create schema app;
    create function hide() returns text language sql as
        $$select set_config('role', 'quiet_one', false)$$;
    create function move() returns text language sql as
        $$select set_config('search_path', 'other', false)$$;
    create function move_trigger() returns trigger language plpgsql as
        $$begin perform set_config('search_path', 'other', false); return new; end$$;
    create table moving (a int); create trigger t before insert on moving
        for each row execute function move_trigger();
    create view moves as select set_config('search_path', 'other', false) as x;
    create table harmless (a int)"""


class SearchPaths:
    def test_from_the_start(self):
        self.both(self.is_ours, options="-c search_path=public")
        self.both(self.is_ours, search_path="public, other")
        self.both(self.is_others, search_path="other, public")
        self.both(self.is_others, options="-c search_path=other")

    def test_set(self):
        self.both(self.is_ours, "set search_path = public")
        self.both(self.is_ours, "set search_path to other", "set search_path to public, other")
        self.both(self.is_ours, "set search_path to other", "reset search_path")
        self.both(self.is_others, "set search_path = other, public")
        self.both(self.is_others, "set schema 'other'")
        self.both(self.is_others, "select set_config('search_path', 'other', false)")
        self.both(self.is_others, "set search_path = other", "begin", "set search_path = public",
                  "rollback")

    def test_names_that_the_server_quotes(self):
        self.both(self.is_ours, "set quote_all_identifiers = on", "set search_path = public")
        self.both(self.is_others, "set quote_all_identifiers = on", "set search_path = other")

    def test_set_at_once(self):
        """Several in one text; one in a group that has no Sync yet."""
        self.both(self.is_others, "set timezone = 'UTC'; set search_path = other")
        self.admin("truncate other.up")
        session = self.wire()
        replies = session.ask(wire.parse("", "set search_path = other"), wire.bind("", ""),
                              wire.execute(), wire.parse("", "insert into up values (1, 1)"),
                              wire.bind("", ""), wire.execute(), wire.sync())
        self.assertEqual(wire.tags_of(replies), ["SET", "INSERT 0 1"])
        self.assertEqual(self.admin("select id from other.up"), [["1"]])

    def test_pipelined(self):
        session = self.wire()
        replies = session.ask(wire.query("set search_path = other"),
                              wire.query("insert into up values (1, 1)"),
                              wire.query("set search_path = public"),
                              wire.query("insert into up values (2, 1)"), ready=4)
        self.assertEqual(wire.tags_of(replies), ["SET", "INSERT 0 1", "SET", "INSERT 0 1"])
        self.assertEqual(self.admin("select id from other.up"), [["1"]])
        self.check_stored(UP, count=1)

    def test_local(self):
        session = self.wire()
        self.fine(session, "begin", "set local search_path = other")
        self.is_others(session)
        self.fine(session, "commit")
        self.is_ours(session)
        self.fine(session, "begin", "savepoint a", "set search_path = other")
        self.is_others(session)
        self.fine(session, "rollback to a")
        self.assertEqual(wire.tags_of(self.insert(session)), ["INSERT 0 1"])
        self.fine(session, "commit")
        self.is_ours(session, extended=True)
        self.check_stored(UP, count=3)

    def test_a_group_that_fails_takes_it_back(self):
        session = self.wire()
        session.ask(wire.parse("", "set search_path = other"), wire.bind("", ""), wire.execute(),
                    wire.parse("", "insert into up values (1, 1)"), wire.bind("", ""),
                    wire.execute(), wire.parse("", "select 1/0"), wire.bind("", ""),
                    wire.execute(), wire.sync())
        self.is_ours(session)
        self.check_stored(UP, count=1)

    def test_in_one_text(self):
        session = self.wire()
        self.assertEqual(wire.tags_of(session.query("set search_path = other; insert into up values (7, 1)")), ["SET", "INSERT 0 1"])
        self.assertEqual(self.admin("select id from other.up where id = 7"), [["7"]])
        self.assertEqual(wire.tags_of(session.query("set search_path = public; insert into up values (8, 1)")), ["SET", "INSERT 0 1"])
        self.assertEqual(wire.tags_of(session.query(
            "set search_path = other; insert into public.up values (1, 1)")), ["SET", "INSERT 0 1"])
        self.assertEqual(wire.tags_of(session.query(
            "create temp table staging (a int); insert into public.up values (2, 1)"))[1:],
            ["INSERT 0 1"])
        self.check_stored(UP, count=3)

    def test_of_a_role_and_a_database(self):
        for sql in (f"role {harness.USER}", f"database {self.database}"):
            self.admin(f"alter {sql} set search_path = other")
            try:
                self.both(self.is_others, options=f"-c work_mem={1000 + len(sql)}kB")
            finally:
                self.admin(f"alter {sql} reset search_path")
        self.both(self.is_ours, options="-c work_mem=3000kB")

    def test_the_user_s_own_schema(self):
        self.both(self.is_ours)
        self.admin("create schema app_user authorization app; alter schema app rename to app_old;"
                   " alter schema app_user rename to app; create table app.up (id bigint, v int)")
        self.addCleanup(self.admin, "drop schema app cascade")
        session = self.wire(options="-c work_mem=4000kB")
        self.assertEqual(wire.tags_of(self.insert(session)), ["INSERT 0 1"])
        self.assertEqual(self.admin("select id from app.up"), [[str(self.number)]])

    def test_a_schema_that_comes_later(self):
        """What others make is found by a session that has asked already."""
        session = self.wire()
        self.assertEqual(wire.tags_of(self.insert(session)), ["INSERT 0 1"])
        other = self.wire()
        self.fine(other, "create table app.up (id bigint, v int)")
        self.addCleanup(self.admin, "drop table app.up")
        self.assertEqual(wire.tags_of(self.insert(session)), ["INSERT 0 1"])
        self.assertEqual(self.admin("select id from app.up"), [[str(self.number)]])

    def test_no_table_in_sight(self):
        session = self.wire(search_path="pg_catalog")
        self.assertEqual(wire.error_of(self.insert(session)), "42P01")
        self.assertEqual(wire.tags_of(self.insert(session, table="public.up")), ["INSERT 0 1"])

    def test_it_is_followed(self):
        """A session with another search_path is batched all the same."""
        session = self.wire()
        self.fine(session, "set search_path = public", "set work_mem = '5MB'")
        mark = self.postgres.mark()
        self.insert(session)
        own = int(session.rows("select pg_backend_pid()")[0][0])
        pids = [s.pid for s in self.postgres.statements(mark, self.database, "insert into up")]
        self.assertEqual(len(pids), 1)
        self.assertNotEqual(pids[0], own)


class TemporaryObjects:
    def test_another_name(self):
        self.both(self.is_ours, "create temp table staging (a int)")
        self.both(self.is_ours, "create temp sequence staging")
        self.both(self.is_ours, "select 1 as a into temp staging")

    def test_none_at_all(self):
        self.both(self.is_ours, "explain create temp table up as select 1")
        self.both(self.is_ours, "begin", "create temp table up (id bigint, v int)", "rollback")
        self.both(self.is_ours, "create temp table up (id bigint, v int)", "drop table up")
        self.both(self.is_ours, "create temp table up (id bigint, v int)", "discard temp")
        self.both(self.is_ours, "create function pg_temp.up() returns int language sql as 'select 1'",
                  "select pg_temp.up()")

    def test_the_same_name(self):
        session = self.wire()
        self.fine(session, "create temp table up (id bigint, v int)",
                  "insert into up values (1, 1)", "update up set id = 2")
        self.assertEqual(session.rows("select * from up"), [["2", "1"]])
        self.assertEqual(wire.tags_of(self.insert(session, table="public.up")), ["INSERT 0 1"])
        self.fine(session, "drop table up")
        self.is_ours(session)
        self.check_stored(UP, count=2)

    def test_on_commit_drop(self):
        session = self.wire()
        self.fine(session, "begin", "create temp table up (id bigint, v int) on commit drop",
                  "insert into up values (1, 1)")
        self.assertEqual(session.rows("select * from up"), [["1", "1"]])
        self.fine(session, "commit")
        self.is_ours(session)
        self.check_stored(UP, count=1)


class Prepared:
    def run_it(self, session, name, number):
        return session.ask(wire.bind("", name, [str(number), "1"]), wire.execute(), wire.sync())

    def test_ours_becomes_another_s(self):
        session = self.wire()
        session.ask(wire.parse("s", "insert into up values ($1, $2)"), wire.sync())
        self.assertEqual(wire.tags_of(self.run_it(session, "s", 1)), ["INSERT 0 1"])
        self.fine(session, "set search_path = other")
        self.assertEqual(wire.error_of(self.run_it(session, "s", 2)), "0A000")
        self.fine(session, "set search_path = public")
        self.assertEqual(wire.tags_of(self.run_it(session, "s", 3)), ["INSERT 0 1"])
        self.check_stored(UP, count=2)

    def test_another_s_becomes_ours(self):
        session = self.wire()
        self.fine(session, "set search_path = other")
        session.ask(wire.parse("s", "insert into up values ($1, $2)"), wire.sync())
        self.fine(session, "prepare t as insert into up values (5, 1)")
        self.assertEqual(wire.tags_of(self.run_it(session, "s", 1)), ["INSERT 0 1"])
        self.fine(session, "execute t", "set search_path = public")
        self.assertEqual(wire.error_of(self.run_it(session, "s", 2)), "0A000")
        self.assertEqual(wire.error_of(session.query("execute t")), "0A000")
        self.assertEqual(self.admin("select id from other.up order by id"), [["1"], ["5"]])
        self.check_stored(UP, count=0)

    def test_a_function_that_is_run_again(self):
        session = self.wire()
        session.ask(wire.parse("m", "select public.move()"), wire.sync())
        self.fine(session, "prepare n as select public.move()")
        self.is_ours(session)
        session.ask(wire.bind("", "m"), wire.execute(), wire.sync())
        self.is_others(session)
        self.fine(session, "reset search_path")
        self.is_ours(session)
        self.fine(session, "execute n")
        self.is_others(session)
        self.check_stored(UP, count=2)

    def test_executed_by_any_spelling(self):
        """What Parse has made of an INSERT takes its hash from no EXECUTE, and from no Bind that calls it by a name
        which is as long as counts, and longer."""
        session, long = self.wire(), "n" * 70
        for name in ("s", long):
            session.ask(wire.parse(name, "insert into up (id, v) values ($1, $2)", [20, 23]), wire.sync())
        session.ask(wire.parse("u" * 70, "update up set id = $1 where id = $2", [20, 20]), wire.sync())
        for name in ("s", 'U&"!0073" uescape \'!\'', long, long[:63], f'"{long}x"'):
            told = session.query(f"execute {name} (1, 1, 777)")
            self.assertEqual(wire.error_of(told), "0A000", name)
        self.assertEqual(wire.error_of(session.query(f"execute {'u' * 65} (2, 3)")), "0A000")
        for number, name in enumerate((long, long[:63], long + "x"), 1):
            for values, error in (([str(number), "1", "777"], "08P01"), ([str(number), "1"], None)):
                told = session.ask(wire.bind("", name, values), wire.execute(), wire.sync())
                self.assertEqual(wire.error_of(told), error, name)
        self.assertEqual(self.admin("select id from up order by id"), [["1"], ["2"], ["3"]])
        told = session.ask(wire.close("S", long + "y"), wire.bind("", long, ["4", "1"]), wire.execute(), wire.sync())
        self.assertEqual(wire.error_of(told), "26000")


class Hidden:
    """What text does not show."""

    def stored_by(self, session):
        """Who writes: None if a batch link does."""
        mark = self.postgres.mark()
        own = int(session.rows("select pg_backend_pid()")[0][0])
        self.assertEqual(wire.tags_of(self.insert(session)), ["INSERT 0 1"])
        pids = {s.pid for s in self.postgres.statements(mark, self.database, "insert into up")}
        return "own" if own in pids else "batch"

    def test_a_role_set_in_a_function(self):
        session = self.wire()
        self.assertEqual(self.stored_by(session), "batch")
        session.query("select hide()")
        self.assertEqual(self.stored_by(session), "own")
        session.query("reset role")
        self.assertEqual(self.stored_by(session), "batch")
        session.query("select hide()")
        session.query("discard all")
        self.assertEqual(self.stored_by(session), "batch")

    def test_settings_that_come_and_go(self):
        session = self.wire()
        for text, where in (("set my.own = '1'", "batch"),
                            ("set session_replication_role = replica", "own"),
                            ("set session_replication_role = origin", "batch"),
                            ("begin; set local row_security = off; commit", "batch"),
                            ("set role quiet_one", "own"), ("set role none", "batch"),
                            ("do $$begin perform 1; end$$", "batch"),
                            ("set enable_seqscan = off; set work_mem = '7MB'", "batch"),
                            ("set session characteristics as transaction isolation level"
                             " read committed", "batch")):
            self.assertIsNone(wire.error_of(session.query(text)), text)
            self.assertEqual(self.stored_by(session), where, text)

    def test_a_default_that_reads_a_setting(self):
        for text in ("set my.own = 'x'", "select set_config('my.own', 'x', false)",
                     "do $$begin perform set_config('my.own', 'x', false); end$$"):
            session = self.wire()
            self.fine(session, text, "insert into tenants (id) values (1)")
            self.assertEqual(self.admin("delete from tenants returning name"), [["x"]], text)

    def test_functions_triggers_and_views(self):
        for text in ("select public.move()", "insert into moving values (1)", "select * from moves",
                     "with m as (select public.move()) insert into harmless select 1 from m",
                     "do $$begin perform public.move(); end$$", "explain analyze select public.move()",
                     "copy (select public.move()) to stdout", "begin; declare c cursor for select public.move();"
                     "fetch c; commit", "begin; declare c cursor with hold for select public.move(); commit",
                     "call_it"):
            session = self.wire()
            if text == "call_it":
                session.ask(wire.parse("", "select public.move()"), wire.bind("", ""), wire.execute(),
                            wire.sync())
            else:
                self.fine(session, text)
            with self.subTest(text):
                self.is_others(session)
                self.is_others(session, extended=True)

    def test_what_a_list_of_columns_asks_for(self):
        """It is asked for by the session's own link, and may move names there."""
        session = self.wire()
        self.fine(session, "insert into lists (id, a[(select length(x) from public.moves)]) values (1, 1)")
        self.is_others(session)

    def test_in_the_transaction_of_the_write(self):
        session = self.wire()
        self.fine(session, "begin")
        self.assertEqual(wire.tags_of(self.insert(session)), ["INSERT 0 1"])
        self.fine(session, "insert into moving values (1)")
        self.is_others(session)
        self.fine(session, "rollback")
        self.is_ours(session)
        self.check_stored(UP, count=1)


class Asking:
    """The question is not seen."""

    def test_the_unnamed_statement_and_portal_stay(self):
        session = self.wire()
        replies = session.ask(wire.query("begin"), wire.query("set local search_path = public"),
                              wire.parse("", "select generate_series(1, 3)"), wire.bind("", ""),
                              wire.execute("", 1), wire.parse("i", "insert into up values (1, 1)"),
                              wire.bind("p", "i"), wire.execute("p"), wire.execute("", 1),
                              wire.sync(), wire.query("commit"), ready=4)
        self.assertIsNone(wire.error_of(replies), replies)
        self.assertEqual([m.row() for m in replies if m.kind == "D"], [[b"1"], [b"2"]])
        self.check_stored(UP, count=1)
        self.assertEqual(session.rows("select name from pg_prepared_statements"), [["i"]])

    def test_an_aborted_transaction(self):
        session = self.wire()
        self.fine(session, "begin", "set local search_path = other")
        session.query("select 1/0")
        self.assertEqual(wire.error_of(self.insert(session)), "25P02")
        self.assertEqual(wire.error_of(self.insert(session, extended=True)), "25P02")
        self.fine(session, "rollback")
        self.is_ours(session)
        self.check_stored(UP, count=1)

    def test_rollback_and_a_write_in_one_text(self):
        session = self.wire()
        self.fine(session, "begin", "set local search_path = other")
        replies = session.query("rollback; insert into up values (1, 1)")
        self.assertEqual(wire.tags_of(replies), ["ROLLBACK", "INSERT 0 1"])
        self.check_stored(UP, count=1)
        self.fine(session, "begin", "set timezone = 'UTC'", "rollback; insert into up values (2, 1)")
        self.fine(session, "begin", "set timezone = 'UTC'", "rollback; insert into public.up values (3, 1)")
        self.check_stored(UP, count=3)

    def test_an_error_before_it(self):
        session = self.wire()
        self.fine(session, "set search_path = public")
        replies = session.ask(wire.execute("nowhere"), wire.parse("", "insert into up values (1, 1)"),
                              wire.bind("", ""), wire.execute(), wire.sync())
        self.assertEqual((wire.kinds(replies), wire.error_of(replies)), ("EZ", "34000"))
        self.is_ours(session)

    def test_a_question_that_fails(self):
        """The error is the client's, and the session goes on."""
        for extended in (False, True):
            session = self.wire()
            self.fine(session, "select public.move()", "set statement_timeout = '1ms'")
            outcomes = {wire.error_of(self.insert(session, extended=extended)) for _ in range(20)}
            self.assertLessEqual(outcomes, {None, "57014"})
            session.query("set statement_timeout = 0")
            self.assertEqual(session.rows("select 1"), [["1"]])

    def test_nobody_pays_who_does_not_write_and_shows_no_row_of_ours(self):
        session = self.wire()
        mark = self.postgres.mark()
        self.fine(session, "set search_path = other", "select public.move()", "select count(*) from up",
                  "begin", "create temp table x (a int)", "commit")
        self.assertEqual(self.postgres.statements(mark, self.database, "select session_user, "), [])


class Greetings:
    def test_two_settings_that_differ_from_the_greeting(self):
        options = "-c work_mem=9000kB"
        self.wire(options=options).query("select 1")
        self.admin(f"alter role {harness.USER} set datestyle = 'SQL, DMY';"
                   f"alter role {harness.USER} set timezone = 'Asia/Tokyo';"
                   f"alter role {harness.USER} set intervalstyle = 'iso_8601'")
        self.addCleanup(self.admin, f"alter role {harness.USER} reset all")
        session = self.wire(options=options)
        told = dict(session.parameters)
        for message in session.query("select 1"):
            if message.kind == "S":
                name, value = message.body.split(b"\0")[:2]
                told[name.decode()] = value.decode()
        self.assertEqual((told["DateStyle"], told["TimeZone"], told["IntervalStyle"]),
                         ("SQL, DMY", "Asia/Tokyo", "iso_8601"))


@harness.proxied
class Names(SearchPaths, TemporaryObjects, Prepared, Hidden, Asking, Greetings, harness.StackCase):
    tables = (UP, TENANTS, LISTS)
    partitioned = False
    setup_sql = HIDE

    def setUp(self):
        super().setUp()
        self.admin("truncate other.up, moving, harmless")
        self.number = 0

    def tearDown(self):
        self.check_stored(UP)
        super().tearDown()

    def admin(self, sql):
        with self.postgres.admin(self.database) as admin:
            return admin.rows(sql)

    def insert(self, session, extended=False, table="up"):
        """A positional INSERT, which lands in the wrong columns if it passes raw."""
        self.number += 1
        if not extended:
            return session.query(f"insert into {table} values ({self.number}, 1)")
        return session.ask(wire.parse("", f"insert into {table} values ($1, $2)", [20, 23]),
                           wire.bind("", "", [str(self.number), "1"]), wire.execute(), wire.sync())

    def is_ours(self, session, **how):
        self.assertEqual(wire.tags_of(self.insert(session, **how)), ["INSERT 0 1"])
        self.assertEqual(wire.error_of(session.query("update up set h = 77")), "0A000")

    def is_others(self, session, **how):
        self.assertEqual(wire.tags_of(self.insert(session, **how)), ["INSERT 0 1"])
        self.assertEqual(session.rows(f"select id, v from other.up where id = {self.number}"),
                         [[str(self.number), "1"]])

    def fine(self, session, *texts):
        for text in texts:
            self.assertIsNone(wire.error_of(session.query(text)), text)

    def both(self, check, *texts, **params):
        """In the simple and the extended protocol, in a transaction and out of one."""
        for extended in (False, True):
            for block in (False, True):
                with self.subTest(extended=extended, block=block):
                    session = self.wire(**params)
                    self.fine(session, *texts)
                    if block:
                        session.query("begin")
                    check(session, extended=extended)
                    if block:
                        session.query("rollback" if check == self.is_ours else "commit")


@harness.proxied
class Links(harness.StackCase):
    """A link whose process id nobody was told is replaced in silence, but for what is lost with it: 57P01."""
    tables = (UP, TENANTS)
    partitioned = False
    options = {"backend": {"links": "on_demand"}}
    setup_sql = HIDE + """; create sequence s; grant usage on sequence s to public;
        create function lock_it() returns void language sql as 'select pg_advisory_lock(7)';
        create function draw() returns bigint language sql as $$select nextval('s')$$;
        create view drawn as select nextval('s');
        create function hear() returns void language plpgsql as $$begin execute 'listen x'; end$$;
        create function make() returns void language plpgsql as
            $$begin create temp table made (a int); end$$"""

    def lose_link(self, number, texts):
        session = self.wire(application_name=f"link {number}")
        for text in texts.split("; "):
            self.assertIsNone(wire.error_of(session.query(text)), text)
        seen = len(self.keyspread.lines.lines)
        with self.postgres.admin(self.database) as admin:
            self.assertEqual(admin.rows("select pg_terminate_backend(pid) from pg_stat_activity"
                                        f" where application_name = 'link {number}'"), [["t"]])
        self.keyspread.lines.wait_for("event=link_lost", since=seen)
        return session

    def test_state_is_not_lost_in_silence(self):
        for number, texts in enumerate((
                "select hide()", "set bytea_output = 'escape'", "select nextval('s')",
                "select draw()", "select * from drawn", "with a as (select draw()) select * from a",
                "explain analyze select draw()", "copy (select draw()) to stdout",
                "select lock_it()", "select pg_advisory_lock(3)", "do $$begin perform lock_it();end$$",
                "listen x", "select hear()", "create temp table x (a int)", "select make()",
                "insert into moving values (1)", "set my.own = '1'", "set role quiet_one",
                "select set_config('work_mem', '9MB', false)", "prepare p as select 1",
                "begin; declare c cursor with hold for select 1; commit", "load 'plpgsql'",
                "select setseed(0.5)")):
            with self.subTest(texts):
                replies = self.lose_link(number, texts).read_to_end()
                self.assertEqual(wire.error_of(replies), "57P01")

    def test_without_state_it_goes_on(self):
        for number, texts in enumerate(("select 1", "begin; select 1; commit", "discard all",
                                        "set timezone = 'Asia/Tokyo'", "select hide(); discard all")):
            with self.subTest(texts):
                session = self.lose_link(100 + number, texts)
                self.assertEqual(session.rows("select 2"), [["2"]])


if __name__ == "__main__":
    unittest.main()
