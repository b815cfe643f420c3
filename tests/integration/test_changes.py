"""What changes under a session (TimeZone, the schema, its link) must not change where its rows are put;
and messages that come in pieces, or behind an error, must neither hang nor hurt."""
import os
import signal
import struct
import subprocess
import unittest

import harness
import wire
from harness import Table

NOON = "'2026-01-01 12:00'"  # in whatever TimeZone is


class ChangesCase(harness.StackCase):
    tables = (Table("moments", ["ts timestamptz not null", "v text"], ["ts"]),
              Table("pairs", ["k bigint not null", "v text"], ["k"]),
              Table("swapped", ["k bigint not null", "a int", "b text"], ["k"]))
    partitioned = False

    def right(self, table, rows):
        account = {**os.environ, "PGUSER": harness.USER, "PGDATABASE": self.database}
        done = subprocess.run([harness.program(), "verify", self.keyspread.config_path, table],
                              capture_output=True, text=True, timeout=60, env=account)
        self.assertEqual(done.stdout.split("\n")[:2], [f"rows: {rows}", "wrong: 0"], done.stderr)

    def admin(self, sql):
        with self.postgres.admin(self.database) as admin:
            return admin.rows(sql)


@harness.proxied
class LinksOnDemand(ChangesCase):
    """An idle session outlives the backend, for it knows of none."""
    options = {"backend": {"links": "on_demand"}}

    def test_a_schema_that_could_not_be_read(self):
        """It stays one that must be read again, not one that was."""
        session = self.wire()
        self.assertIsNone(wire.error_of(session.query("insert into pairs values (1, 'x')")))
        self.assertIsNone(wire.error_of(self.wire().query("alter table pairs add column w int")))
        self.addCleanup(self.admin, "alter table pairs drop column w")
        self.postgres.stop()
        harness.eventually("both links are known to be gone", lambda: self.keyspread.lines.text()
                           .count("event=link_lost") >= 2)  # nothing is asked there any more
        self.assertEqual(wire.error_of(session.query("insert into pairs values (2, 'x', 3)")),
                         "08006")
        self.postgres.start()
        self.assertIsNone(wire.error_of(session.query("insert into pairs values (2, 'x', 3)")))
        self.right("pairs", 2)


@harness.proxied
class RarelyRead(ChangesCase):
    """What is wrong is noticed by its errors."""
    options = {"backend": {"catalog_s": 3600}}

    def test_a_table_that_was_away(self):
        session, stored = self.wire(), 0
        for protocol in range(2):
            def insert(k):
                text = f"insert into pairs (k, v) values ({protocol * 10 + k}, 'x')"
                messages = [wire.parse("", text), wire.bind("", ""), wire.execute(), wire.sync()]
                return wire.error_of(session.ask(*(messages if protocol else [wire.query(text)])))
            self.assertIsNone(insert(1))
            self.admin("alter table pairs rename to away")
            self.assertEqual([insert(2), insert(3)], ["42P01"] * 2)
            self.admin("alter table away rename to pairs")
            first = insert(4)
            self.assertIn(first, (None, "23502"))
            self.assertEqual([insert(5), insert(6)], [None] * 2)
            stored += 3 + (first is None)
        self.right("pairs", stored)


@harness.proxied
class Changes(ChangesCase):
    def test_a_time_zone_set_in_the_same_query(self):
        session = self.wire()
        replies = session.query(f"set timezone = 'Asia/Tokyo'; insert into moments values ({NOON})")
        self.assertEqual(wire.error_of(replies), "0A000", replies)
        replies = session.query("set timezone = 'Asia/Tokyo';"
                                "insert into moments values ('2026-01-01 12:00+09')")
        self.assertEqual(wire.tags_of(replies), ["SET", "INSERT 0 1"])
        self.right("moments", 1)

    def test_a_time_zone_moved_by_code_in_the_same_query(self):
        """By a trigger, by a view, by what was prepared or declared before."""
        call = "select set_config('timezone', 'Asia/Tokyo', false)"
        make = (f"create view zones as {call}; create table fires (k int);"
                "create function moves() returns trigger language plpgsql as "
                f"$$ begin {call.replace('select', 'perform')}; return new; end $$;"
                "create trigger t before insert on fires for each row execute function moves()")
        self.assertIsNone(wire.error_of(self.wire().query(make)))  # which keyspread sees
        self.addCleanup(self.admin, "drop view zones; drop table fires; drop function moves()")
        for move in ("insert into fires values (1)", "select * from zones", "execute p", "fetch c"):
            session = self.wire()
            session.query(f"insert into moments values ('2026-01-01 03:00Z', 'x'); prepare p as {call};"
                          f"begin; declare c cursor for {call}")
            replies = session.query(f"{move}; select v from moments where ts = {NOON};"
                                    f"delete from moments where ts = {NOON}")
            self.assertEqual(wire.tags_of(replies)[1:], ["SELECT 1", "DELETE 1"], move)
            session.query("rollback; set timezone = 'UTC'; delete from moments")
            replies = session.query(f"{move}; insert into moments values ({NOON}, 'y')")
            self.assertIn(wire.error_of(replies), ("0A000", "34000"), move)
            self.right("moments", 0)

    def test_a_time_zone_set_just_before(self):
        session = self.wire()
        session.query("select 1")
        insert = f"insert into moments values ({NOON}) returning v"
        replies = session.ask(wire.query("set timezone = 'Asia/Tokyo'"), wire.query(insert), ready=2)
        self.assertIn(wire.error_of(replies), (None, "0A000"))
        session.query("set timezone = 'UTC'")
        self.assertIsNone(wire.error_of(session.query(insert)))
        self.right("moments", 1 + (wire.error_of(replies) is None))

    def test_a_role_s_time_zone(self):
        self.wire().query("select 1")  # its greeting is kept
        self.admin(f"alter role {harness.USER} set timezone = 'Asia/Tokyo'")
        self.addCleanup(self.admin, f"alter role {harness.USER} reset timezone")
        session = self.wire()
        session.query("begin")
        session.query(f"insert into moments values ({NOON})")
        session.query("commit")
        session.query(f"insert into moments values ({NOON.replace('12', '13')})")
        self.right("moments", len(self.admin("select from moments")))

    def test_a_key_column_that_is_gone(self):
        """A migration under a prepared statement: errors, no more."""
        sessions = [self.wire(), self.wire()]
        text = "insert into pairs (k, v) values ($1, $2), ($3, $4)"
        for session in sessions:
            self.assertEqual(wire.kinds(session.ask(wire.parse("s", text), wire.sync())), "1Z")
        self.admin("alter table pairs rename k to other")
        self.addCleanup(lambda: self.wire().query("alter table pairs rename other to k"))
        for session in sessions:
            replies = session.ask(wire.bind("", "s", [1, "x", 7, "y"]), wire.execute(), wire.sync())
            self.assertIn(wire.error_of(replies), ("42703", "55000"))
            self.assertEqual(session.rows("select 1"), [["1"]])

    def test_more_declared_types_than_parameters(self):
        session = self.wire()
        text = "insert into pairs (k, v) values ($1, $2)"
        for name in ("a", "b"):
            session.ask(wire.parse(name, text, [20, 25] + [23] * 30000), wire.sync())
        session.query("set timezone = 'Asia/Tokyo'")  # the plan is made anew
        replies = session.ask(wire.bind("", "b", [1, "x"] + [None] * 30000), wire.execute(),
                              wire.sync())
        self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"])
        self.right("pairs", 1)

    def test_the_type_of_a_prepared_key(self):
        prepared, other = self.wire(), self.wire()
        prepared.ask(wire.parse("s", "insert into pairs values ($1, $2)"), wire.sync())
        self.addCleanup(self.admin, "truncate pairs; alter table pairs alter k type bigint"
                                    " using k::bigint")
        other.query("alter table pairs alter k type text")
        prepared.ask(wire.bind("", "s", ["5", "v"]), wire.execute(), wire.sync())
        self.right("pairs", len(self.admin("select from pairs")))

    def test_columns_that_swap_their_names(self):
        """A value may be wrong only for the column that its place was of."""
        swap = "".join(f"alter table swapped rename {before} to {after};"
                       for before, after in (("a", "c"), ("b", "a"), ("c", "b")))
        self.addCleanup(self.admin, f"truncate swapped; {swap}")
        values = ("1, 'x'", "2, 'y'", "'z', 'z'")
        sessions = [self.wire() for _ in values]
        for number, session in enumerate(sessions):
            self.assertIsNone(wire.error_of(session.query(
                f"insert into swapped values ({number}, 1, 'x')")))
        self.admin(swap)
        answers = [wire.error_of(session.query(f"insert into swapped values ({number}, {value})"))
                   for number, (session, value) in enumerate(zip(sessions, values), 10)]
        self.assertEqual(answers, [None, None, "22P02"])
        self.right("swapped", 5)

    def test_inferred_types_stay(self):
        """What a client sends stays what it was when it was prepared."""
        prepared, other = self.wire(), self.wire()
        text = "insert into pairs values ($1, $2::int8 % 100)"
        prepared.ask(wire.parse("s", text), wire.sync())
        self.addCleanup(self.admin, "truncate pairs; alter table pairs alter k type bigint")
        for number in (1, 2):
            values = [struct.pack("!q", number), struct.pack("!q", 7)]
            answer = prepared.ask(wire.bind("", "s", values, formats=[1]), wire.execute(),
                                  wire.sync())
            self.assertEqual(wire.tags_of(answer), ["INSERT 0 1"])
            other.query("alter table pairs alter k type numeric(20, 2)")
        self.assertEqual(self.admin("select k from pairs order by k"), [["1.00"], ["2.00"]])

    def test_inferred_types_stay_that_could_not_be_asked(self):
        """The question was skipped with the rest of its group."""
        session = self.wire()
        session.send(wire.parse("", "insert into pairs values (1, 'x')"), wire.bind("", ""),
                     wire.parse("s", "insert into swapped (k, a, b) values ($1, $2, $3)"),
                     wire.flush())
        self.assertEqual(wire.kinds(session.read() for _ in range(3)), "121")
        swap = "".join(f"alter table swapped rename {before} to {after};"
                       for before, after in (("a", "c"), ("b", "a"), ("c", "b")))
        self.addCleanup(self.admin, swap)
        self.assertIsNone(wire.error_of(session.query(swap)))
        replies = session.ask(wire.parse("", "copy pairs from '/x'"),
                              wire.bind("", "s", ["1", "1", "1"]), wire.sync())
        self.assertEqual(wire.error_of(replies), "0A000")
        replies = session.ask(wire.bind("", "s", ["1", "1", "1"]), wire.execute(), wire.sync())
        self.assertEqual(wire.error_of(replies), "42804")  # $3 is a text

    def test_a_column_is_renamed_behind_a_statement_without_a_list(self):
        """Its types could not be asked for any more, by the names that it has there."""
        session = self.wire()
        session.ask(wire.parse("s", "insert into pairs values ($1, $2) returning k"), wire.sync())
        session.query("alter table pairs rename v to w")
        self.addCleanup(self.admin, "alter table pairs rename w to v")
        replies = session.ask(wire.bind("", "s", ["1", "x"]), wire.execute(), wire.sync())
        self.assertIsNone(wire.error_of(replies))
        self.assertEqual(self.admin("select k, w from pairs"), [["1", "x"]])

    def test_what_is_returned_stays(self):
        """Its client reads the answers as they were described: PostgreSQL's own error."""
        prepared, other = self.wire(), self.wire()
        for number, (columns, change, back) in enumerate((
                ("*", "add column w int", "drop column w"),
                ("k, upper(v) as u", "alter k type int", "alter k type bigint"),
                ("pairs.*, 1", "rename column v to w", "rename column w to v"))):
            prepared.ask(wire.parse(f"s{number}", "insert into pairs (k) values ($1)"
                                    f" returning {columns}"), wire.sync())
            other.query(f"alter table pairs {change}")
            replies = prepared.ask(wire.bind("", f"s{number}", [5]), wire.execute(), wire.sync())
            self.assertEqual(wire.error_of(replies), "0A000", replies)
            self.assertIn("cached plan must not change result type", repr(replies))
            other.query(f"alter table pairs {back}")
        self.assertEqual(self.admin("select from pairs"), [])

    def test_what_a_star_shows_stays(self):
        """Drivers prepare anew when they read this."""
        for change in (self.admin, self.wire().query):
            prepared = self.wire()
            parse = wire.parse("s", "select * from pairs where k = $1")
            harness.eventually("what was changed past keyspread before is known", lambda: wire.error_of(
                prepared.ask(parse, wire.sync())) is None)
            change("alter table pairs rename column v to w")
            replies = prepared.ask(wire.bind("", "s", [5]), wire.execute(), wire.sync())
            self.assertEqual(wire.error_of(replies), "0A000", replies)
            self.assertIn("cached plan must not change result type", repr(replies))
            change("alter table pairs rename column w to v")

    def test_a_prepared_statement_behind_a_failed_transaction(self):
        parse = wire.parse("s", "insert into pairs values ($1, $2)")
        run = (wire.bind("", "s", ["1", "a"]), wire.execute(), wire.sync())
        self.wire().ask(parse, wire.sync())
        session = self.wire()  # to this one the plan is known: it is recorded, and nowhere prepared
        session.ask(parse, wire.sync())
        session.query("begin")
        session.query("select 1/0")
        self.assertEqual(wire.error_of(session.ask(*run)), "25P02")
        session.query("rollback")
        session.query("begin")
        self.assertEqual(wire.tags_of(session.ask(*run)), ["INSERT 0 1"])
        session.query("commit")
        self.right("pairs", 1)

    def test_copy_data_out_of_place_and_in_pieces(self):
        self.wire().query("select 1")
        session = self.wire()  # has no link yet
        message = wire.copy_data("x" * 200000)
        for start in range(0, len(message), 50000):
            session.send(message[start:start + 50000])
        self.assertEqual(wire.tags_of(session.query("select 1")), ["SELECT 1"])

    def test_a_large_message_behind_an_error(self):
        session = self.wire()
        session.query("begin")
        session.query("select 1/0")
        replies = session.ask(wire.parse("", "select $1::bytea", [17]),
                              wire.bind("", "", [b"x" * 3000000]), wire.execute(), wire.sync())
        self.assertEqual((wire.kinds(replies), wire.error_of(replies)), ("EZ", "25P02"))

    def look_within(self, before, after):
        """What `after` is answered when the session itself has looked at its changed tables since
        `before`."""
        session = self.wire()
        session.query("begin")
        session.ask(*before, wire.sync())
        session.ask(wire.parse("alter", "alter table pairs add column w int"),
                    wire.bind("alter", "alter"), wire.execute("alter"), wire.sync())
        mark = self.postgres.mark()
        self.assertIsNone(wire.error_of(session.ask(
            wire.parse("late", "insert into pairs (k) values ($1)"), wire.sync())))
        harness.eventually("it has looked", lambda: self.postgres.statements(
            mark, self.database, "with recursive"))
        return wire.tags_of(session.ask(*after, wire.sync()))

    def test_a_look_leaves_the_unnamed_statement(self):
        self.assertEqual(self.look_within([wire.parse("", "select 42")],
                                          [wire.bind("", ""), wire.execute()]), ["SELECT 1"])

    def test_a_look_leaves_the_unnamed_portal(self):
        self.assertEqual(self.look_within(
            [wire.parse("s", "select 42"), wire.bind("", "s")], [wire.execute()]), ["SELECT 1"])

    def test_a_look_leaves_the_unnamed_statement_of_ours(self):
        self.assertEqual(self.look_within(
            [wire.parse("", "insert into swapped values (1, $1, $2)")],
            [wire.bind("", "", ["2", "x"]), wire.execute()]), ["INSERT 0 1"])

    def test_the_tag_of_a_key_twice_in_a_transaction(self):
        session = self.wire()
        session.query("begin")
        replies = session.query("upsert into pairs (k, v) values (2, 'a'), (2, 'b')")
        self.assertEqual(wire.tags_of(replies), ["INSERT 0 2"])
        session.query("commit")
        self.assertEqual(self.admin("select k, v from pairs"), [["2", "b"]])

    def test_an_end_while_a_statement_runs(self):
        session = self.wire()
        with self.postgres.admin(self.database) as admin:
            admin.rows("select pg_advisory_lock(1)")
            session.send(wire.query("select pg_advisory_lock(1)"))
            harness.eventually("the statement runs", lambda: admin.rows(
                "select from pg_stat_activity where wait_event = 'advisory'"))
            self.keyspread.process.send_signal(signal.SIGTERM)
            self.keyspread.lines.wait_for("event=stopping")
        self.assertEqual(wire.tags_of(session.read_ready()), ["SELECT 1"])
        self.keyspread.finish()
        self.start_keyspread()


if __name__ == "__main__":
    unittest.main()
