"""Reads by key that were prepared while the table, or what is known of it, was another than when they are run, and
those whose condition must not be seen or not be put in: no row is lost, and nothing is told that PostgreSQL would not."""
import struct
import unittest

import harness
import wire
from direct_case import DirectCase, shown
from harness import Table


def table(name, *columns, **options):
    return Table(name, [*columns, "v text"], [columns[0].split()[0]], hash_first=False, **options)


def prepared(name, text):
    return [wire.parse(name, text), wire.sync()]


def run(name, *values):
    return [wire.bind("", name, values), wire.execute(), wire.sync()]


def one_group(*texts):
    """Parse, Bind, Execute each, and one Sync; a tuple is a statement's name and its values."""
    group = []
    for text in texts:
        name, values = (text[0], text[1:]) if isinstance(text, tuple) else ("", ())
        group += [wire.parse("", text)] if isinstance(text, str) else []
        group += [wire.bind("", name, values), wire.execute()]
    return [*group, wire.sync()]


class KeptCase(DirectCase):
    tables = (table("ints", "k int not null"), table("times", "k timestamptz not null"))
    setup_sql = ("create schema other; create table other.ints (id int, v text); insert into other.ints values (1, 'o');"
                 "create table plain (k int, v text)")
    partitioned = True

    def setUp(self):
        for session in self.connect_both(TimeZone="UTC"):
            session.rows("insert into ints (k, v) values (5, 'five'), (6, 'six')")
            session.rows("insert into times (k, v) values ('2026-01-01 00:00:00', 'new year')")

    def tearDown(self):
        super().tearDown()
        for admin in self.admins.values():
            harness.empty(admin, ["ints", "times"])

    def play_steps(self, *steps, **params):
        """Texts, or messages up to a Sync; on two sessions, which must be told the same."""
        answers = []
        for session in self.connect_both(**params):
            for step in steps:
                messages = [wire.query(step)] if isinstance(step, str) else step
                answers.append([shown(reply) for reply in session.ask(*messages)])
        half = len(steps)
        for step, direct, through in zip(steps, answers, answers[half:]):
            self.assertEqual(direct, through, step)


class Kept(KeptCase):
    def test_two_tables_of_one_name(self):
        for text in ("select ints.v from public.ints, other.ints where k = 5",
                     "select count(*) from public.ints, other.ints where k = 5",
                     "select count(*) from public.ints, other.ints where ints.k = 5",
                     "update public.ints set v = 'new' from other.ints where k = 5 and id = 1",
                     "delete from public.ints using other.ints where k = 5 and id = 1"):
            self.play_steps(text, "select k, v from public.ints order by k")

    def test_a_query_that_is_kept_has_no_condition(self):
        self.play_steps("create materialized view kept as select v as delete from ints where k = 5",
                        "select pg_get_viewdef('kept')", "drop materialized view kept",
                        "create policy kept on plain for delete using (exists (select from ints where k = 5))",
                        "select pg_get_expr(polqual, polrelid) from pg_policy where polname = 'kept'",
                        "drop policy kept on plain")

    def test_constants_of_another_time_zone(self):
        """The server plans anew, and reads the constant by the TimeZone of then."""
        text = "select v from times where k = '2026-01-01 00:00:00'"
        self.play_steps("set timezone = '+3'", prepared("s", text), run("s"), "set timezone = 'UTC'", run("s"),
                        "discard plans", run("s"), TimeZone="UTC")

    def test_a_trigger_that_changes_keys(self):
        """It stores another key under the hash of the old one; one that assigns others columns alone, and is read, does not."""
        text = "select k, v from ints where k = {} order by v"
        made = ("create function moves() returns trigger language plpgsql as 'begin {} return new; end'",
                "create trigger moves before update on ints for each row execute function moves()")
        for body, finds in (("new.k := new.k + 10;", False), ("new.v = 'x'; new.k := new.k + 10;", False), ("NEW.V = 'changed';", True),
                            ("if true then new.k := new.k + 10; end if;", False)):
            for prepare, find in ((prepared("s", text.format("$1")), run("s", "15")), ("select 1", text.format(15))):
                create = [one.format(body.replace("'", "''")) for one in made]
                self.play_steps(prepare, "begin", *create, "update ints set v = 'y' where k = 5", find, text.format(5), "rollback")
            with self.subTest(body):
                self.admins["hashed"].rows("; ".join(create))
                _, session = self.connect_both()
                session.rows("alter table plain add x int; alter table plain drop x")
                rewritten = session.rows("explain (proxy) " + text.format(5))[1][0]
                self.assertEqual("_hash" in rewritten, finds, rewritten)
                self.admins["hashed"].rows("drop trigger moves on ints; drop function moves")

    def test_sql_execute_by_the_protocol(self):
        text = "select v from ints where k = $1"
        self.play_steps(prepared("s", text), one_group("execute s(5)"), run("s", "6"))
        self.play_steps([wire.parse("s", text), *one_group("execute s(5)", ("s", "6"))], run("s", "5"))

    def test_positions_when_the_server_looks_again(self):
        for text, values in (("select v from ints where k = $1 and v <> 'é'", ["5"]),
                             ("select v from ints where k = 5 and v <> 'é'", [])):
            self.play_steps(prepared("s", text), run("s", *values), "begin", "alter table ints rename v to w",
                            run("s", *values), "rollback", "begin", "alter table ints rename v to w",
                            [wire.describe("S", "s"), wire.sync()], "rollback", run("s", *values))

    def test_parameters_that_are_told(self):
        text = "select 1 / $2::int from ints where k = $1"
        self.play_steps("set log_parameter_max_length_on_error = 100", prepared("s", text), run("s", "5", "0"),
                        [wire.bind("p", "s", ["5", "0"]), wire.execute("p"), wire.sync()], run("s", "five", "0"),
                        "set log_parameter_max_length_on_error = 3", run("s", "5", "0000000"))

    def test_portals_of_one_name(self):
        self.play_steps("set log_parameter_max_length_on_error = 100", prepared("s", "select v from ints where k = $1"),
                        prepared("o", "select $1 || $2, 1 / $3::int"), "begin",
                        [wire.bind("", "s", ["5"]), wire.execute(), *run("o", "a", "b", "0")], "rollback")

    def test_names_that_come_back(self):
        """A table of the same name was in front in the meantime."""
        for text in ("select v from ints where k = $1", "select * from ints where k = $1",
                     "update ints set v = v where k = $1 returning *"):
            self.play_steps([wire.parse("s", text), wire.describe("S", "s"), wire.sync()], run("s", "5"),
                            "create temp table ints (k int, v text)", "drop table pg_temp.ints", run("s", "5"),
                            "set search_path = public, other", run("s", "5"), run("s", "6"))

    def test_copy_takes_no_parameters(self):
        text = "copy (select v from ints where k = $1) to stdout"
        for types in ((), (20,)):
            self.play_steps([wire.parse("s", text, types), wire.describe("S", "s"), wire.sync()],
                            run("s", *["5"] * len(types)), run("s", "5"))

    def test_unique_violations(self):
        self.play_steps(prepared("s", "update ints set k = $2 where k = $1"), "select 1",
                        prepared("u", "update ints set v = $2 where k = $1"), run("u", "5", "x"), run("u", "6"))

    def test_tables_changed_in_the_same_group(self):
        text = "select v from ints where k = $1"
        change = ("alter table ints rename to were", "create table ints (k int, v text)", "insert into plain values (1)")
        back = ("drop table ints", "alter table were rename to ints")
        self.play_steps(one_group(*change[:2], text.replace("$1", "5"), *back),
                        [wire.parse("s", text), *one_group(*change[:2], ("s", "5"), *back)], run("s", "5"))
        self.play_steps(prepared("s", text), "begin", change[0], change[1], one_group(("s", "5"), ("s", "6")),
                        one_group("select 1", text.replace("$1", "5")), "rollback", run("s", "5"))


def run_binary(name, *values):
    return [wire.bind("", name, values, (1,)), wire.execute(), wire.sync()]


class Retyped(KeptCase):
    """The key's type is another than when the statement was prepared: its parameters stay of the types that they had,
    and so must what it shows."""

    def check(self, text, values, binary, kind="bigint", told=False):
        described = [wire.parse("s", text), wire.describe("S", "s"), wire.sync()] if told else prepared("s", text)
        columns = [wire.describe("S", "s"), wire.sync()]
        self.play_steps(described, run("s", *values), f"alter table ints alter k type {kind}", run("s", *values),
                        run_binary("s", *binary), columns, run("s", *values), "begin", run_binary("s", *binary),
                        "rollback", "alter table ints alter k type int using k::int", run_binary("s", *binary),
                        columns, "select k, v from ints order by k")

    TEXTS = ("select v from ints where k = $1", "update ints set v = v || '!' where k = $1 returning v",
             "select max(v) from ints where k in ($1, 6)", "select 1 from ints a join ints b using (k) where a.k = $1",
             "delete from ints where k = $1 returning v")
    SHOWING = ("select * from ints where k = $1", "select k from ints where k = $1", "table ints",
               "update ints set v = v where k = $1 returning *")

    def test_parameters_of_the_old_type(self):
        for text in self.TEXTS:
            for kind in ("bigint", "text"):
                for told in (False, True):
                    self.check(text, ["5"], [struct.pack("!i", 5)], kind, told)
                    self.tearDown()
                    self.setUp()

    def test_others_parameters(self):
        five = struct.pack("!i", 5)
        for told in (False, True):
            self.check("update ints set v = $2 where k = $1", ["5", "x"], [five, b"y"], told=told)
            self.check("select v from ints where k = $1 and length(v) > $2", ["5", "1"], [five, five], told=told)
            self.check("select v from ints where k = $1 and k < $2", ["5", "7"], [five, struct.pack("!i", 7)], told=told)

    def test_what_is_shown(self):
        for text in self.SHOWING:
            values = ["5"] if "$1" in text else []
            self.check(text, values, [struct.pack("!i", 5)] if values else [])

    def test_in_one_group(self):
        for text in self.TEXTS:
            self.play_steps(prepared("s", text), "begin", one_group("alter table ints alter k type bigint", ("s", "5")),
                            "rollback", run("s", "5"))

    def test_in_pipelines(self):
        """What the backend is asked is seen nowhere: in a group, behind its failure, in a failed transaction, nor with
        answers that are asked for by Flush."""
        two = "select v from ints where k = $1 and k < $2"
        values, binary = ("5", "7"), (struct.pack("!i", 5), struct.pack("!i", 7))
        bound = [wire.bind("", "s", binary, (1,)), wire.execute()]
        for kind in ("bigint", "text"):
            change = f"alter table ints alter k type {kind}"
            for group in ([*bound, wire.flush(), *bound, *one_group("select 1")],
                          one_group("select 1", ("s", *values), "select 2", ("s", *values)),
                          one_group(change, ("s", *values), ("s", *values)),
                          one_group(("s", *values), "select 1/0", ("s", *values)),
                          one_group("select 1/0", ("s", *values)), [*bound, *bound, wire.sync()],
                          [wire.parse("r", two), wire.describe("S", "r"), *bound, wire.close("S", "s"), *bound,
                           wire.sync()]):
                self.play_steps(prepared("s", two), run("s", *values), "begin", change, group, "select 1/0", group,
                                "rollback", run("s", *values), run_binary("s", *binary))

    def test_a_table_that_is_made_anew(self):
        """What its client sends in binary must not be read as another type; nor where a temporary table, which has no
        hash, takes the name."""
        def made(kind, table="table"):
            return ("drop table ints", f"create {table} ints (k {kind} primary key, v text)",
                    "insert into ints (k, v) values (5, 'five'), (6, 'six')")
        for text in self.TEXTS:
            described = [wire.parse("s", text), wire.describe("S", "s"), wire.sync()]
            for told in (described, prepared("s", text)):
                self.play_steps(*made("bigint"), told, *made("float8"), run_binary("s", struct.pack("!q", 5)),
                                "select k, v from ints order by k", *made("bigint"), [wire.close("S", "s"), *told],
                                *made("float8", "temp table"), run_binary("s", struct.pack("!q", 5)),
                                "select k, v from ints order by k", *made("int"))

    def test_the_parameter_of_another_table(self):
        """A column that is no part of the key changes its type."""
        self.play_steps(prepared("s", "update ints set v = $2 where k = $1 returning v"),
                        prepared("r", "select * from ints where k = $1"), "begin",
                        "alter table ints alter v type int using length(v)", run("r", "5"), "rollback", "begin",
                        "alter table ints alter v type int using length(v)", run("s", "5", "7"), "rollback",
                        run("s", "5", "seven"), run("r", "5"))


class Changed(unittest.TestCase):
    """The table is changed between Parse and Bind, past this session."""

    def setUp(self):
        self.postgres = harness.Postgres()
        self.addCleanup(self.postgres.remove)
        self.postgres.create_database("app")
        self.admin = self.postgres.admin("app")
        self.addCleanup(self.admin.close)
        self.admin.rows("create table owner (k int primary key); insert into owner select generate_series(1, 9)")

    def start(self, kept=None, **options):
        kept = kept or table("kept", "k int not null", **options)
        self.admin.rows(kept.ddl())
        self.keyspread = harness.Keyspread(harness.backend_config(self.postgres, [kept]))
        self.addCleanup(self.keyspread.stop)
        self.session = self.connect()
        self.session.ask(*prepared("read", "select v from kept where k = $1"),
                         *prepared("change", "update kept set v = v || '!' where k = $1"),
                         *prepared("five", "select v from kept where k = 5"), ready=3)

    def connect(self):
        session = wire.Wire(("127.0.0.1", self.keyspread.port))
        self.addCleanup(session.close)
        session.login(harness.USER, "app")
        return session

    def check_found(self, value="x"):
        self.assertEqual(self.answer("change", "5"), ["UPDATE 1"])
        self.assertEqual(self.answer("read", "5"), [value + "!", "SELECT 1"])
        self.assertEqual(self.answer("five"), [value + "!", "SELECT 1"])
        self.assertEqual(self.session.rows("select v from kept where k = 5"), [[value + "!"]])

    def answer(self, name, *values):
        replies = self.session.ask(*run(name, *values))
        self.assertIsNone(wire.error_of(replies))
        return [r.row()[0].decode() if r.kind == "D" else r.tag() for r in replies if r.kind in "DC"]

    def reload(self, **options):
        tables = [table("kept", "k int not null", **options)]
        since = self.keyspread.log_mark() if hasattr(self.keyspread, "log_mark") else 0
        self.keyspread.reload(harness.backend_config(self.postgres, tables, port=self.keyspread.port))
        return since

    @harness.proxied
    def test_another_hash_function(self):
        self.start()
        self.assertEqual(self.answer("read", "5"), ["SELECT 0"])
        self.reload(hash_function="cityhash64")
        self.connect().rows("insert into kept (k, v) values (5, 'x')")
        self.check_found()

    @harness.proxied
    def test_lookups_are_switched_off(self):
        self.start()
        self.reload(lookups=False)
        self.admin.rows("insert into kept (k, v, k_hash) values (5, 'x', 1)")
        self.check_found()

    @harness.proxied
    def test_a_trigger_that_changes_rows(self):
        self.start()
        self.session.rows("create function more() returns trigger language plpgsql as "
                          "$$ begin new.k = new.k + 1; return new; end $$")
        self.session.rows("create trigger more before insert on kept for each row execute function more()")
        self.session.rows("insert into kept (k, v) values (4, 'x')")
        self.check_found()

    @harness.proxied
    def test_a_key_that_a_cascade_changes(self):
        kept = table("kept", "k int not null references owner on update cascade")
        self.start(kept)
        self.session.rows("insert into kept (k, v) values (1, 'x')")
        self.admin.rows("delete from owner where k = 5; update owner set k = 5 where k = 1")
        self.check_found()

    @harness.proxied
    def test_a_hash_column_that_has_gone(self):
        """The first one is told so, as nobody could know; then it is known."""
        self.start()
        self.admin.rows("drop table kept; create table kept (k int, v text); insert into kept values (5, 'x')")
        self.session.ask(*run("read", "5"))
        self.assertEqual(self.answer("read", "5"), ["x", "SELECT 1"])
        self.assertEqual(self.answer("five"), ["x", "SELECT 1"])


if __name__ == "__main__":
    unittest.main()
