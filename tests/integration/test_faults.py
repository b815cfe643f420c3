"""Backends that die, signals: what was acknowledged is there, exactly once."""
import glob
import os
import re
import signal
import subprocess
import threading
import unittest

import harness
import middleman
import wire
from harness import EVENTS
from load import TEXT, TS, UNDECIDED, FaultCase, Ledger


class BackendDies(FaultCase):
    @staticmethod
    def is_batch(text):
        return b"insert into" in text.lower() and b"events" in text

    def ledger_through(self, point, action):
        self.start()
        ledger = Ledger()
        # Eight clients of 60 rows each write at least 60 batches.
        fired = self.middleman.arm(point, self.is_batch, action, skip=50)
        self.load(ledger, 60)
        self.assertTrue(fired.is_set(), "the middleman met no batch")
        self.postgres.wait()
        ledger.check(self, self.stored())
        self.check_hashes()
        self.assertEqual(ledger.count("ok"), 8 * 60)
        return ledger.outcomes()

    @staticmethod
    def kill(connection):
        """kill -9 of one backend makes PostgreSQL end all and recover."""
        os.kill(connection.pid, signal.SIGKILL)


def _add_deaths():
    for point in middleman.POINTS:
        def cut(self, point=point):
            outcomes = self.ledger_through(point, lambda connection: None)
            if point in (middleman.AFTER, middleman.BEFORE_READY):
                self.assertGreaterEqual(outcomes[UNDECIDED], 1, outcomes)

        def kill(self, point=point):
            outcomes = self.ledger_through(point, self.kill)
            if point in (middleman.AFTER, middleman.BEFORE_READY):
                self.assertGreaterEqual(outcomes[UNDECIDED], 1, outcomes)
        slug = point.replace("-", "_")
        setattr(BackendDies, f"test_link_cut_{slug}", cut)
        setattr(BackendDies, f"test_kill_9_{slug}", kill)


_add_deaths()


class BackendAway(FaultCase):
    def test_it_refuses_at_start_and_comes_back(self):
        self.middleman.refusing = True
        self.start()
        for _ in range(2):
            session = wire.Wire(self.keyspread.address())
            self.addCleanup(session.drop)
            with self.assertRaises(wire.Closed) as context:
                session.login(harness.USER, self.database)
            error = context.exception.messages[-1].fields()
            self.assertEqual((error["S"], error["C"]), ("FATAL", "08006"), error)
        self.middleman.refusing = False
        self.assertEqual(wire.tags_of(self.wire().query(TEXT.format(1, TS, "x"))), ["INSERT 0 1"])

    def test_nobody_listens_at_start(self):
        port = harness.free_port()
        self.start(port=port)
        session = wire.Wire(self.keyspread.address())
        self.addCleanup(session.drop)
        with self.assertRaises(wire.Closed) as context:
            session.login(harness.USER, self.database)
        error = context.exception.messages[-1].fields()
        self.assertEqual((error["S"], error["C"]), ("FATAL", "08006"), error)
        self.assertIn("refused", (error["M"] + error.get("D", "")).lower(), error)

    def test_it_goes_and_comes_back_under_idle_sessions(self):
        self.start(backend={"links": "on_demand"})
        fresh, used = self.wire(), self.wire()
        used.query("select 1")
        self.middleman.refusing = True
        self.middleman.cut_all()
        replies = fresh.query(TEXT.format(1, TS, "x"))
        self.assertEqual(wire.error_of(replies), "08006", replies)
        self.middleman.refusing = False
        if replies[-1].kind == "Z":
            self.assertEqual(wire.tags_of(fresh.query(TEXT.format(2, TS, "x"))), ["INSERT 0 1"])
        self.assertEqual(wire.tags_of(self.wire().query(TEXT.format(3, TS, "x"))), ["INSERT 0 1"])
        self.assertNotIn(1, self.stored())

    def test_an_idle_session_without_state_goes_on(self):
        self.start(backend={"links": "on_demand"})
        session = self.wire()
        session.query("select 1")
        session.ask(wire.parse("s", "select $1::int"), wire.sync())
        session.query("set timezone = 'Asia/Tokyo'")
        self.middleman.cut_all()
        self.assertEqual(session.rows("show timezone"), [["Asia/Tokyo"]])
        replies = session.ask(wire.bind("", "s", [1]), wire.execute(), wire.sync())
        self.assertEqual(wire.kinds(replies), "2DCZ", replies)

    def test_a_session_in_a_transaction_is_told(self):
        self.start()
        session = self.wire()
        session.query("begin")
        session.query(TEXT.format(1, TS, "x"))
        self.middleman.cut_all()
        replies = session.read_to_end()
        error = replies[-1].fields()
        self.assertEqual((error["S"], error["C"]), ("FATAL", "57P01"), replies)
        self.assertEqual(self.stored(), [])

    def test_nothing_is_done_behind_the_last_word(self):
        """The session's backend has ended while a batch was under way: the batch's outcome is told,
        then the end, and what was sent behind it is not done."""
        self.start()
        session = self.wire()
        self.assertEqual(wire.tags_of(session.query(TEXT.format(0, TS, "x"))), ["INSERT 0 1"])
        answered = threading.Event()
        under_way = self.middleman.open_gap("C", 1, answered)
        session.send(*(wire.query(TEXT.format(key, TS, "x")) for key in (1, 2, 3)))
        self.assertTrue(under_way.wait(harness.PATIENCE))
        gone = threading.Event()
        ended = self.middleman.open_gap("E", 0, gone)
        with self.postgres.admin(self.database) as admin:
            admin.rows(f"select pg_terminate_backend({session.pid})")
        self.assertTrue(ended.wait(harness.PATIENCE))
        answered.set()
        replies = session.read_until("E")
        other = self.wire()
        self.assertEqual(wire.tags_of(other.query(TEXT.format(4, TS, "x"))), ["INSERT 0 1"])
        gone.set()
        replies += session.read_to_end()
        self.assertEqual(wire.kinds(replies), "CZE", replies)
        self.assertEqual(sorted(self.stored()), [0, 1, 4])

    def test_a_running_statement_is_told(self):
        self.start()
        session = self.wire()
        session.send(wire.query("select pg_sleep(60)"))
        with self.postgres.admin(self.database) as admin:
            harness.eventually("the statement runs", lambda: admin.rows(
                "select 1 from pg_stat_activity where wait_event = 'PgSleep'"))
        self.middleman.cut_all()
        error = session.read_to_end()[-1].fields()
        self.assertEqual((error["S"], error["C"]), ("FATAL", "08006"), error)

    def lose(self, session, point, marker, *messages):
        """What the client is told if its own link is lost at `point` of the text with `marker`."""
        fired = self.middleman.arm(point, lambda text: marker in text, lambda connection: None)
        session.send(*messages)
        replies = session.read_to_end()
        self.assertTrue(fired.is_set())
        error = replies[-1].fields()
        self.assertEqual(error["S"], "FATAL", replies)
        self.assertEqual("H" in error, error["C"] == UNDECIDED, error)
        return error["C"]

    def test_a_write_on_its_own_link_is_undecided(self):
        text = "insert into events (userid, ts) values (%s, now()) returning userid + 0"
        prepared = (wire.parse("", text % "$1"), wire.bind("", "", [1]), wire.execute(),
                    wire.sync())
        for messages in ((wire.query(text % 1),), prepared,
                         (wire.query(f"select 1; {text % 1}"),),
                         (wire.query(f"begin; {text % 1}; commit"),)):
            for point in (middleman.AFTER, middleman.BEFORE_READY):
                self.start()
                self.assertEqual(self.lose(self.wire(), point, b"returning", *messages), UNDECIDED)

    def test_a_commit_is_undecided(self):
        commits = ((wire.query("commit"),), (wire.query("END"),),
                   (wire.parse("", "commit"), wire.bind("", ""), wire.execute(), wire.sync()))
        for messages in commits:
            self.start()
            session = self.wire()
            session.query("begin")
            session.query(TEXT.format(1, TS, "x"))
            marker = b"END" if messages == commits[1] else b"commit"
            self.assertEqual(self.lose(session, middleman.BEFORE_READY, marker, *messages),
                             UNDECIDED)

    def test_what_commits_nothing_is_decided(self):
        self.start()
        self.assertEqual(self.lose(self.wire(), middleman.BEFORE_READY, b"from events",
                                   wire.query("select count(*) from events")), "08006")
        session = self.wire()
        session.query("begin")
        self.assertEqual(self.lose(session, middleman.BEFORE_READY, b"lost",
                                   wire.query(TEXT.format(1, TS, "lost"))), "08006")
        self.assertEqual(self.stored(), [])

    def test_an_unknown_database_and_user(self):
        self.start()
        for user, database, code in ((harness.USER, "nowhere", "3D000"),
                                     ("nobody", self.database, "28000")):
            session = wire.Wire(self.keyspread.address())
            self.addCleanup(session.drop)
            with self.assertRaises(wire.Closed) as context:
                session.login(user, database)
            error = context.exception.messages[-1].fields()
            self.assertEqual((error["S"], error["C"]), ("FATAL", code), error)


class Signals(FaultCase):
    def test_sigterm_under_load(self):
        """What is in flight is finished and told; then the end is a clean one."""
        self.start()
        ledger, stop = Ledger(), threading.Event()
        loader = threading.Thread(target=self.load, args=(ledger, 10**9),
                                  kwargs={"stop": stop})
        loader.start()
        try:
            harness.eventually("rows are acknowledged", lambda: ledger.count("ok") > 200)
            self.keyspread.process.send_signal(signal.SIGTERM)
            self.keyspread.finish()
        finally:
            stop.set()
            loader.join(harness.PATIENCE)
        ledger.check(self, self.stored(), undecided=())
        self.assertLessEqual(set(ledger.outcomes()), {"ok", "57P01", "cut off"})

    def test_kill_9_of_keyspread_under_load(self):
        self.start()
        ledger, stop = Ledger(), threading.Event()
        loader = threading.Thread(target=self.load, args=(ledger, 10**9),
                                  kwargs={"stop": stop})
        loader.start()
        try:
            harness.eventually("rows are acknowledged", lambda: ledger.count("ok") > 200)
            self.keyspread.kill()
        finally:
            stop.set()
            loader.join(harness.PATIENCE)
        with self.postgres.admin(self.database) as admin:
            harness.eventually("its links are gone", lambda: admin.rows(
                "select count(*) from pg_stat_activity where usename = 'app'") == [["0"]])
        ledger.check(self, self.stored(), undecided=("cut off",))

    def test_sigterm_with_idle_sessions(self):
        self.start()
        session = self.wire()
        session.query("select 1")
        self.keyspread.process.send_signal(signal.SIGTERM)
        error = session.read_to_end()[-1].fields()
        self.assertEqual((error["S"], error["C"]), ("FATAL", "57P01"), error)
        self.keyspread.finish()

    def test_a_second_sigterm_waits_for_nobody(self):
        self.start()
        self.wire().send(wire.query("select pg_sleep(600)"))
        for _ in range(2):
            self.keyspread.process.send_signal(signal.SIGTERM)
            self.keyspread.lines.wait_for("event=stopping")
        self.assertEqual(self.keyspread.process.wait(harness.PATIENCE), -signal.SIGTERM)
        self.keyspread.kill()
        with self.postgres.admin(self.database) as admin:  # the backend would sleep on
            admin.rows("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'")

    def test_no_thread_is_interrupted_by_a_signal(self):
        """… so that none is missed: they are read from a descriptor."""
        self.start()
        watched = sum(1 << number - 1 for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
        for path in glob.glob(f"/proc/{self.keyspread.process.pid}/task/*/status"):
            with open(path, encoding="ascii") as file:
                blocked = int(re.search(r"SigBlk:\s*(\w+)", file.read())[1], 16)
            self.assertEqual(blocked & watched, watched, path)

    def reload(self, config):
        since = len(self.keyspread.lines.lines)
        if isinstance(config, str):
            with open(self.keyspread.config_path, "w", encoding="utf-8") as file:
                file.write(config)
        else:
            self.keyspread.write_config(config)
        self.keyspread.process.send_signal(signal.SIGHUP)
        return self.keyspread.lines.wait_for(r"event=\S*reload", since)

    def test_sighup(self):
        """Swaps the configuration at once or not at all."""
        self.start()
        more = harness.Table("more", ["k text not null"], ["k"])
        with self.postgres.admin(self.database) as admin:
            admin.rows("drop table if exists more cascade; " + more.ddl())
        self.addCleanup(self.drop, "more")
        session = self.wire()
        self.assertEqual(wire.error_of(session.query("insert into more values ('a')")), "22P02")
        good = dict(self.keyspread.config)
        good["tables"] = [EVENTS.config(), more.config()]
        self.reload(good)
        for client in (session, self.wire()):
            key = "a" if client is session else "b"
            self.assertEqual(wire.tags_of(client.query(f"insert into more values ('{key}')")),
                             ["INSERT 0 1"])
        for bad in ("tables: {", {**good, "tables": [{"name": "more"}]}, {**good, "unknown": 1}):
            self.assertRegex(self.reload(bad), "level=(error|warn)")
            self.assertEqual(wire.tags_of(session.query(TEXT.format(1, TS, "x"))), ["INSERT 0 1"])
            self.assertEqual(wire.tags_of(session.query("delete from events")), ["DELETE 1"])

    def drop(self, table):
        with self.postgres.admin(self.database) as admin:
            admin.rows(f"drop table if exists {table} cascade")

    def test_a_changed_hash_rule_of_a_table_with_rows_is_refused(self):
        self.start()
        session = self.wire()
        session.query(TEXT.format(1, TS, "x"))
        config = dict(self.keyspread.config)
        config["tables"] = [{**EVENTS.config(), "hash_function": "cityhash64"}]
        self.assertRegex(self.reload(config), "level=error .*event=reload_failed .*no database")
        config["backend"] = self.named()
        self.assertRegex(self.reload(config), "event=reload_failed .*has rows")
        session.query(TEXT.format(2, TS, "x"))
        self.check_hashes()

    def named(self):
        """The backend with a database, so that it can be asked on nobody's behalf."""
        backend = self.keyspread.config["backend"]
        return {**backend, "dsn": f"{backend['dsn']} dbname={self.database} user={harness.USER}"}

    def verify(self, rows):
        done = subprocess.run([harness.program(), "verify", self.keyspread.config_path, "events"],
                              capture_output=True, text=True, timeout=harness.PATIENCE, check=False)
        self.assertEqual(done.stdout.split("\n")[:2], [f"rows: {rows}", "wrong: 0"], done.stderr)

    def test_a_changed_hash_rule_of_an_empty_table(self):
        self.start()
        session = self.wire()
        session.query(TEXT.format(1, TS, "x"))
        session.query("delete from events")
        config = dict(self.keyspread.config)
        config["tables"] = [{**EVENTS.config(), "hash_function": "cityhash64",
                             "hash_key": ["userid", "ts"]}]
        config["backend"] = self.named()
        self.assertRegex(self.reload(config), "event=reloaded")
        for client in (session, self.wire()):
            replies = client.query(TEXT.format(1 if client is session else 2, TS, "x"))
            self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"], replies)
        self.verify(2)
        config["tables"] = [EVENTS.config()]
        self.assertRegex(self.reload(config), "event=reload_failed .*has rows")

    def test_a_changed_hash_rule_and_nobody_to_ask(self):
        self.start()
        config = dict(self.keyspread.config)
        config["tables"] = [{**EVENTS.config(), "hash_function": "cityhash64"}]
        config["backend"] = self.named()
        self.middleman.refusing = True
        self.assertRegex(self.reload(config), "event=reload_failed .*does not say")
        self.middleman.refusing = False
        self.wire().query(TEXT.format(1, TS, "x"))
        self.check_hashes()


if __name__ == "__main__":
    unittest.main()
