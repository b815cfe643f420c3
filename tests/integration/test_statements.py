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


class Drafts(harness.StackCase):
    """Statements that their client has described before it runs them, and does not wait."""

    tables = (harness.EVENTS, harness.Table("counts", ["id bigint", "n int", "day date"], ["id"]))
    text = "insert into events (userid, ts, event) values ($1, $2, '%s')"
    ts = "2026-01-01 00:00:00+00"

    @staticmethod
    def prepare(name, text, described=True):
        return wire.parse(name, text) + described * wire.describe("S", name) + wire.sync()

    def prepared(self, *texts, described=True):
        """A session that has s0, s1, …, of these texts, and one more, so that all come at once."""
        session = self.wire()
        session.query(self.text % "known" + " on conflict do nothing")  # the link is there
        messages = [self.prepare(f"s{i}", text, described)
                    for i, text in enumerate([*texts, "select 1"])]
        return session, session.ask(*messages, ready=len(messages))

    def texts_there(self, session):
        return dict(session.rows("select name, statement from pg_prepared_statements"))

    def test_are_there_as_they_were_sent(self):
        texts = [self.text % i for i in range(3)]
        session, answer = self.prepared(*texts)
        self.assertEqual(wire.kinds(answer), 3 * "1tnZ" + "1tTZ")
        self.assertEqual({str(m) for m in answer[:-4] if m.kind == "t"},
                         {"ParameterDescription (20, 1184)"})
        there = self.texts_there(session)
        self.assertEqual([there[f"s{i}"] for i in range(3)], texts)

    def test_are_not_described(self):
        texts = [self.text.replace("$2", f"'{self.ts}'") % i for i in range(3)]
        session, answer = self.prepared(*texts, described=False)
        self.assertEqual(wire.kinds(answer), 4 * "1Z")
        self.assertEqual(self.texts_there(session)["s1"], texts[1])
        session.query("begin")
        answer = session.ask(*run("s0", "1"), wire.describe("S", "s2"), wire.sync(), *run("s2", "2"),
                             wire.query("commit"), ready=4)
        self.assertEqual(wire.kinds(answer), "2CZtnZ2CZCZ")
        self.check_stored(count=2)

    @harness.proxied
    def test_what_is_none(self):
        """More than a hash is put in, or what is read later may be something else."""
        put = self.text % "x"
        texts = [put.replace(" (userid, ts, event)", ""), put.replace("event)", "event, userhash)"),
                 put + " on conflict do nothing", put + " returning *", self.text % "\u00e9",
                 self.text.replace("'%s'", "E'\\\\x'"), self.text.replace("$2", "'2026-01-01 00:00'"),
                 self.text.replace("'%s'", "$3::text"), "/* & */ " + put.replace("'x'", "'&'")]
        texts[1] = texts[1].replace("'x'", "'x', default")
        session, _ = self.prepared(*texts, put)
        there = self.texts_there(session)
        self.assertEqual(there.pop(f"s{len(texts)}"), put)
        self.assertEqual([text for i, text in enumerate(texts) if there.get(f"s{i}", text) == text],
                         [])

    def test_are_run(self):
        session, _ = self.prepared(*(self.text % i for i in range(4)))
        answer = session.ask(*run("s0", "1", self.ts), *run("s1", "2", self.ts), ready=2)
        self.assertEqual(wire.tags_of(answer), 2 * ["INSERT 0 1"])
        answer = session.ask(wire.query("begin"), *run("s0", "3", self.ts),
                             *run("s2", "4", self.ts), *run("s2", "5", self.ts),
                             wire.describe("S", "s2"), wire.describe("S", "s3"), wire.sync(),
                             wire.query("commit"), ready=6)
        self.assertEqual(wire.tags_of(answer), ["BEGIN", *3 * ["INSERT 0 1"], "COMMIT"])
        self.assertEqual({str(m) for m in answer if m.kind == "t"},
                         {"ParameterDescription (20, 1184)"})
        self.check_stored(count=5)
        self.assertEqual([row[0] for row in self.stored(columns="event", order="userid")],
                         list("01022"))

    def test_are_run_at_once(self):
        """Bound before anything is known of them; the last ones are not only described."""
        session = self.wire()
        session.query("begin")
        messages = [self.prepare(f"s{i}", self.text % i) for i in range(50)]
        for i in range(50, 75):
            messages += [self.prepare(f"s{i}", self.text % i)]
            messages += run(f"s{i}", str(i), self.ts)
        for i in range(50):
            messages += run(f"s{i}", str(i), self.ts)
        answer = session.ask(*messages, wire.query("commit"), ready=151)
        self.assertEqual(wire.kinds(answer), 50 * "1tnZ" + 25 * "1tnZ2CZ" + 50 * "2CZ" + "CZ")
        self.check_stored(count=75)

    def test_errors_come_with_parse(self):
        put = "insert into counts (id, n) values ($1, %s)"
        session, answer = self.prepared(
            put % "1", put % "'one'", "insert into counts (id, m) values ($1, 1)", put % "99, 1",
            "insert into counts (id, n, day) values ($1, 1, '2026-02-30')", put % "'2'")
        errors = [(m.sqlstate, m.fields()["P"]) for m in answer if m.kind == "E"]
        self.assertEqual(errors, [("22P02", "40"), ("42703", "25"), ("42601", "44"),
                                  ("22008", "48")])
        self.assertEqual(wire.kinds(answer), "1tnZ" + 4 * "EZ" + "1tnZ" + "1tTZ")
        session, answer = self.prepared(put % "'one'")
        answer = session.ask(self.prepare("s0", put % "1"), *run("s0", "7"), ready=2)
        self.assertEqual(wire.tags_of(answer), ["INSERT 0 1"])

    def test_in_a_transaction_that_has_failed(self):
        session, _ = self.prepared(*(self.text % i for i in range(3)))
        answer = session.ask(
            wire.query("begin"), wire.query("select 1/0"), *run("s0", "1", self.ts),
            wire.parse("s0", self.text % 9), wire.sync(), wire.describe("S", "s0"), wire.sync(), wire.query("rollback"),
            *run("s0", "1", self.ts), wire.describe("S", "s1"), wire.sync(), ready=8)
        self.assertEqual([m.sqlstate for m in answer if m.kind == "E"],
                         ["22012", "25P02", "25P02"])
        self.assertEqual(wire.kinds(answer), "CZEZEZEZtnZCZ2CZtnZ")
        session.ask(wire.query("begin"), wire.query("select 1/0"), ready=2)
        answer = session.ask(wire.bind("", "s1", ("1",)), wire.sync())
        self.assertEqual(wire.error_of(answer), "08P01")
        self.check_stored(count=1)

    def test_behind_an_error_of_their_group(self):
        session, _ = self.prepared(self.text % 0, self.text % 1)
        session.query("begin")
        answer = session.ask(wire.parse("", "select nothing"), *run("s0", "1", self.ts),
                             wire.describe("S", "s0"), wire.sync(), ready=2)
        self.assertEqual(wire.kinds(answer), "EZtnZ")
        session.query("rollback")
        answer = session.ask(*run("s0", "1", self.ts))
        self.assertEqual(wire.tags_of(answer), ["INSERT 0 1"])
        self.check_stored(count=1)

    def test_names_stay_taken(self):
        session, _ = self.prepared(self.text % 0, self.text % 1)
        answer = session.ask(wire.parse("s0", self.text % 2), wire.sync())
        self.assertEqual(wire.error_of(answer), "42P05")
        self.assertEqual(wire.error_of(session.query("prepare s0 as select 1")), "42P05")
        answer = session.ask(wire.close("S", "s0"), wire.sync(), wire.parse("s0", "select 3"),
                             wire.sync(), *run("s0"), ready=3)
        self.assertEqual(wire.tags_of(answer), ["SELECT 1"])
        self.assertEqual(wire.tags_of(session.query("deallocate s1")), ["DEALLOCATE"])
        self.assertEqual(wire.error_of(session.ask(*run("s1", "1", self.ts))), "26000")
        self.assertEqual(wire.error_of(session.query("deallocate s1")), "26000")

    def test_run_by_sql(self):
        session, _ = self.prepared("insert into counts (id, n) values (5, $1)")
        answer = session.ask(wire.query("begin"), wire.query("select 1/0"), wire.query("rollback"),
                             wire.query("execute s0(6)"), ready=4)
        self.assertEqual(wire.tags_of(answer)[-1], "INSERT 0 1")
        self.assertEqual(self.check_stored(self.tables[1], 1), 1)

    def test_of_a_table_that_changes(self):
        put = "insert into counts (id, n) values ($1, '%d')"
        session, _ = self.prepared(*(put % i for i in range(3)))
        self.assertEqual(wire.tags_of(session.ask(*run("s0", "1"))), ["INSERT 0 1"])
        try:
            with self.postgres.admin(self.database) as admin:
                admin.rows("alter table counts alter n type text, add more int")
            for i in range(3):
                answer = session.ask(wire.query("begin"), *run(f"s{i}", str(2 + i)),
                                     wire.query("commit"), ready=3)
                self.assertEqual(wire.tags_of(answer), ["BEGIN", "INSERT 0 1", "COMMIT"])
            with self.postgres.admin(self.database) as admin:
                admin.rows("alter table counts rename n to m")
            self.assertEqual(wire.error_of(session.ask(*run("s1", "9"))), "42703")
        finally:
            with self.postgres.admin(self.database) as admin:
                admin.rows("alter table counts drop if exists more")
                admin.rows("alter table counts rename m to n")
                admin.rows("alter table counts alter n type int using n::int")
        self.check_stored(self.tables[1], 4)

    def test_whose_constants_heed_settings(self):
        """They are read when the statement is parsed, whatever is set later."""
        put = "insert into counts (id, day) values ($1, '01/02/2026')"
        session, _ = self.prepared(put, put)
        session.query("set datestyle = 'sql, dmy'")
        self.assertEqual(wire.tags_of(session.ask(*run("s0", "1"))), ["INSERT 0 1"])
        with self.postgres.admin(self.database) as admin:
            self.assertEqual(admin.rows("select day from counts"), [["2026-01-02"]])


class Constants(harness.StackCase):
    """They are what they were when their statement was parsed, also if it was batched since."""
    tables = (harness.EVENTS, harness.Table("days", ["id bigint not null", "day date"], ["id"], hash_column="h"))
    options = {"workers": 1}
    NOON = "insert into events values (1, '2026-01-01 12:00', $1)"
    TEXTS = {"insert into days values ($1, '01/02/2026') on conflict do nothing": [["2026-01-02"], ["2026-01-02"]],
             "insert into days values ($1, '2026-03-04') on conflict (id) do update set day = '01/02/2026'":
                 [["2026-03-04"], ["2026-01-02"]],
             NOON + " on conflict (userid, ts) do update set event = excluded.event":
                 [["2026-01-01 12:00:00", "2"]]}
    MOVE = {"set": wire.query("set datestyle = 'ISO, DMY'; set timezone = '<+03>-03'"),
            "a function": wire.query("select set_config('datestyle', 'ISO, DMY', false), "
                                     "set_config('timezone', '<+03>-03', false)"),
            "prepared": wire.bind("", "move") + wire.execute() + wire.sync()}

    def stored_by(self, text, move, name):
        """What its runs store, before and behind the move."""
        session = self.wire()
        session.ask(wire.parse("move", "select set_config('datestyle', 'ISO, DMY', false), "
                               "set_config('timezone', '<+03>-03', false)"), wire.sync())
        for messages in ([wire.parse(name, text)] + run(name, "1"), [move]):
            self.assertIsNone(wire.error_of(session.ask(*messages)), text)
        errors = [wire.error_of(session.ask(*run(name, "2"))) for _ in range(2)]
        self.assertIn(errors, ([None] * 2, ["0A000"] * 2), text)
        rows = (self.stored(self.tables[1], "day", order="id") +
                self.stored(harness.EVENTS, "ts at time zone 'UTC', event"))
        self.check_stored(self.tables[1])
        self.check_stored(harness.EVENTS)
        with self.postgres.admin(self.database) as admin:
            admin.rows("truncate days, events")
        return errors[0], rows

    def test_are_not_read_again(self):
        """They are what they were, or it is refused."""
        refused = 0
        for text, expected in self.TEXTS.items():
            for how, move in self.MOVE.items():
                for name in ("s", "s", "") if how == "prepared" else ("s", "s"):
                    with self.subTest(text, how=how, name=name):
                        error, rows = self.stored_by(text, move, name)
                        refused += error is not None
                        if error is None:
                            self.assertEqual(rows, expected)
                        else:
                            self.assertEqual(len(rows), 1)
        self.assertGreater(refused, 0)

    def test_other_settings_and_constants_do_not_matter(self):
        moves = ("timezone = 'Asia/Tokyo'", "datestyle = 'SQL, DMY'")
        others = ("search_path = public, pg_temp", "synchronous_commit = off", "statement_timeout = 5000")
        for text, settings in (
                ("insert into days values ($1, '2026-03-04') on conflict (id) do update set day = null", moves + others),
                ("insert into days values ($1, null)", moves + others), ("insert into days values ($1, '01/02/2026')", others)):
            session = self.wire()
            session.ask(wire.parse("s", text), *run("s", "0"))
            for number, setting in enumerate(settings):
                session.query(f"set {setting}")
                self.assertIsNone(wire.error_of(session.ask(*run("s", str(number + 1)))), (text, setting))
            with self.postgres.admin(self.database) as admin:
                self.assertEqual(admin.rows("select count(*) from days"), [[str(len(settings) + 1)]])
                admin.rows("truncate days")

    def test_a_setting_is_set_though_they_cannot_be_read(self):
        """What they are is nobody's business who sets something: not its group's, not its lock's."""
        session = self.wire()
        text = "insert into days values ($1, '01/02/2026')"
        session.ask(wire.parse("s", text), *run("s", "1"))
        with self.postgres.admin(self.database) as admin:
            admin.rows("begin; lock table days")
            self.assertEqual(session.query("set timezone = 'UTC'")[0].tag(), "SET")
            admin.rows("rollback")
            admin.rows("alter table days rename day to other")
            replies = session.ask(wire.parse("", "insert into events values (5, '2026-01-01 12:00Z', 'x')"),
                                  wire.bind("", ""), wire.execute(),
                                  wire.parse("", "select set_config('datestyle', 'ISO, DMY', false)"),
                                  wire.bind("", ""), wire.execute(), wire.sync())
            admin.rows("alter table days rename other to day")
        self.assertEqual(wire.tags_of(replies), ["INSERT 0 1", "SELECT 1"])


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
