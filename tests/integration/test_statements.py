"""Prepared statements: many of them, their names on a link that comes in place of a lost one, and
names said in SQL."""
import threading
import unittest

import harness
import middleman
import wire

INSERT = "insert into events (userid, ts, event) values ($1, '2026-01-01 00:00:00+00', $2)"


def run(name, *values):
    return [wire.bind("", name, values), wire.execute(), wire.sync()]


class Statements(harness.StackCase):
    options = {"backend": {"links": "on_demand"}}  # whose loss need not be told

    def lose_link(self, session):
        """The session's own link; the session goes on."""
        seen = len(self.keyspread.lines.lines)
        with self.postgres.admin(self.database) as admin:
            admin.rows("select pg_terminate_backend(pid) from pg_stat_activity where query like "
                       "'%the own link%' and pid <> pg_backend_pid()")
        self.keyspread.lines.wait_for("event=link_lost", since=seen)

    def prepared(self, **texts):
        session = self.wire()
        for name, text in texts.items():
            self.assertEqual(wire.kinds(session.ask(wire.parse(name, text), wire.sync())), "1Z")
        session.query("select 'the own link', count(*) from events")  # what runs there is known
        return session

    def test_a_new_link_learns_names_as_they_are_used(self):
        with self.postgres.admin(self.database) as admin:
            admin.rows("create table fleeting (a int)")
        session = self.prepared(gone="select * from fleeting", two="select 2", three="select 3")
        with self.postgres.admin(self.database) as admin:
            admin.rows("drop table fleeting")
        self.lose_link(session)
        self.assertEqual(wire.tags_of(session.ask(*run("two"))), ["SELECT 1"])
        self.assertEqual(wire.error_of(session.ask(*run("gone"))), "42P01")
        self.assertEqual(session.rows("execute three"), [["3"]])
        self.assertEqual(wire.error_of(session.query("execute gone")), "26000")
        answer = session.ask(wire.parse("two", "select 'again'"), wire.sync())
        self.assertEqual(wire.error_of(answer), "42P05")

    def test_names_are_free_again_on_a_new_link(self):
        session = self.prepared(one="select 1", two="select 2")
        self.lose_link(session)
        self.assertEqual(wire.tags_of(session.query("deallocate one")), ["DEALLOCATE"])
        answer = session.ask(wire.parse("one", "select 'again'"), wire.sync(), *run("one"), ready=2)
        self.assertEqual(wire.tags_of(answer), ["SELECT 1"])
        self.assertEqual(wire.kinds(session.ask(wire.close("S", "two"), wire.sync())), "3Z")
        self.assertEqual(wire.error_of(session.ask(*run("two"))), "26000")

    def test_execute_names_what_was_only_recorded(self):
        put = "insert into events (userid, ts, event) values (%d, '2026-01-01 00:00:00+00', $1)"
        self.prepared(put=put % 1)  # from now on its Parse is answered without the backend
        session = self.prepared(put=put % 1)
        self.assertEqual(wire.tags_of(session.query("execute put('x')")), ["INSERT 0 1"])
        session = self.prepared(put=put % 2)
        self.assertEqual(wire.tags_of(session.query("/**/ExecUTE \"put\"('x')")), ["INSERT 0 1"])
        self.prepared(put=put % 3)
        session = self.prepared(put=put % 3)
        answer = session.ask(wire.parse("", "explain (analyze) execute put('x')"), *run(""))
        self.assertEqual(wire.tags_of(answer), ["EXPLAIN"])
        self.check_stored(count=3)

    def test_many(self):
        """Each is another text, all in one pipeline."""
        session, count = self.wire(), 3000
        for number in range(0, count, 500):
            messages = []
            for i in range(number, number + 500):
                messages += [wire.parse(f"s{i}", f"select {i}"), wire.sync(), *run(f"s{i}")]
            answer = session.ask(*messages, ready=1000)
            self.assertEqual([m.row() for m in answer if m.kind == "D"],
                             [[b"%d" % i] for i in range(number, number + 500)])
        self.assertEqual(session.rows("select count(*) from pg_prepared_statements"),
                         [[str(count)]])
        self.assertEqual(wire.tags_of(session.query("deallocate all")), ["DEALLOCATE ALL"])
        self.assertEqual(wire.error_of(session.ask(*run("s0"))), "26000")

    def test_a_group_of_many_names(self):
        session, count = self.prepared(put=INSERT), 2500
        messages = [wire.bind(f"p{i}", "put", (str(i), "x")) for i in range(count)]
        messages += [wire.execute(f"p{i}") for i in range(count)]
        answer = session.ask(*messages, wire.sync())
        self.assertEqual(wire.tags_of(answer), count * ["INSERT 0 1"])
        self.check_stored(count=count)


@harness.proxied
class TextsOfTheirOwn(harness.StackCase):
    """Each is new to the backend, and their client does not wait for answers: no more do we."""

    count = 100

    @staticmethod
    def text(number):
        return INSERT.replace("$1", str(number)).replace("$2", "$1")

    @classmethod
    def start_keyspread(cls):
        cls.middleman = middleman.Middleman(cls.postgres.port)
        cls.addClassCleanup(cls.middleman.close)
        cls.keyspread = harness.Keyspread(harness.backend_config(
            cls.postgres, cls.tables, port=cls.middleman.port))
        cls.addClassCleanup(cls.keyspread.stop)

    def sent(self):
        """How many statements the backend was asked to prepare."""
        return sum(len(link.named) for link in list(self.middleman.connections))

    def ask_held_up(self, *messages):
        """The answers, of which the first comes when all statements are with the backend."""
        session, go_on = self.wire(), threading.Event()
        self.addCleanup(go_on.set)
        session.query(self.text(0).replace("$1", "'known'"))
        self.middleman.arm(middleman.BEFORE, lambda text: False, None)
        before = self.sent()
        gap = self.middleman.open_gap("1", 5, go_on)
        session.send(*messages)
        self.assertTrue(gap.wait(harness.PATIENCE))
        harness.eventually("all are sent", lambda: self.sent() >= before + self.count)
        go_on.set()
        return session.read_ready(self.count)

    def test_are_prepared_without_waiting(self):
        answer = self.ask_held_up(*(
            wire.parse(f"s{i}", self.text(i)) + wire.describe("S", f"s{i}")
            + wire.sync() for i in range(self.count)))
        self.assertEqual(wire.kinds(answer), self.count * "1tnZ")
        self.assertEqual({str(m) for m in answer if m.kind == "t"}, {"ParameterDescription (25,)"})

    def test_are_run_without_waiting(self):
        answer = self.ask_held_up(*(
            wire.parse(f"s{i}", self.text(i)) + wire.bind("", f"s{i}", "x")
            + wire.execute() + wire.sync() for i in range(1000, 1000 + self.count)))
        self.assertEqual(wire.kinds(answer), self.count * "12CZ")
        self.check_stored(count=self.count + 1)


if __name__ == "__main__":
    unittest.main()
