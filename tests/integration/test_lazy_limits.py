"""transactions: lazy: which transactions are kept, and what becomes of those that cannot be."""
import unittest

import harness
import metrics
import test_lazy
import wire
from test_lazy import INSERT, OTHER, insert_group


@harness.proxied
class Modes(test_lazy.LazyCase):
    """Kept are READ COMMITTED, READ WRITE transactions, whoever says what theirs is."""

    def check(self, kept, *first, **params):
        self.admin("truncate events")
        session = self.session(**params)
        for text in first:
            self.assertIsNone(wire.error_of(session.query(text)), text)
        session.query("begin")
        [[isolation]] = session.rows("show transaction_isolation")
        session.query("commit")
        self.before = metrics.Scrape(self.keyspread)
        session.query("begin")
        replies = session.query(INSERT.format(1))
        self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT" if wire.tags_of(replies) else "ROLLBACK"])
        self.assertEqual((self.kinds().get("lazy", 0), isolation), (kept, "read committed" if kept else isolation))
        return isolation, wire.error_of(replies)

    def test_of_the_session(self):
        for text in ("set default_transaction_isolation = 'repeatable read'", "set default_transaction_isolation to serializable",
                     "set session characteristics as transaction isolation level repeatable read",
                     "select set_config('default_transaction_isolation', 'serializable', false)"):
            with self.subTest(text=text):
                self.assertNotEqual(self.check(0, text)[0], "read committed")
        self.assertEqual(self.check(0, "set default_transaction_read_only = on")[1], "25006")
        self.check(0, options="-c default_transaction_isolation=serializable")
        self.check(1, "set default_transaction_isolation = 'read committed'", "reset default_transaction_isolation")

    def test_of_role_and_database(self):
        for of in ("role app", f"database {self.database}", f"role app in database {self.database}"):
            with self.subTest(of=of):
                self.admin(f"alter {of} set default_transaction_isolation = 'repeatable read'")
                self.addCleanup(self.admin, f"alter {of} reset default_transaction_isolation")
                self.assertEqual(self.check(0)[0], "repeatable read")
                self.admin(f"alter {of} reset default_transaction_isolation")
        self.check(1)

    def test_that_its_role_may_not_ask_for(self):
        self.admin("""create role plain login; grant all on events to plain; revoke select on pg_db_role_setting from public;
                   alter role plain set default_transaction_isolation = 'repeatable read'""")
        self.addCleanup(self.admin, "grant select on pg_db_role_setting to public; drop owned by plain; drop role plain")
        self.assertEqual(self.check(0, user="plain"), ("repeatable read", None))

    def test_of_the_transaction(self):
        for text, isolation in (("set transaction isolation level serializable", "serializable"),
                                ("set local transaction_isolation = 'repeatable read'", "repeatable read")):
            session = self.session()
            session.query("begin")
            self.assertEqual(wire.tags_of(session.query(text)), ["SET"])
            session.query(INSERT.format(1))
            self.assertEqual(session.rows("show transaction_isolation"), [[isolation]])
            session.query("rollback")
            self.assertEqual(self.kinds(), {})
        session = self.session()
        session.query("begin")
        session.query(INSERT.format(1))
        self.assertEqual(wire.error_of(session.query("set transaction isolation level serializable")), "25001")
        session.query("rollback")


@harness.proxied
class Ordinary(test_lazy.LazyCase):
    def test_what_only_the_server_knows(self):
        for text in ("insert into events (userid, ts, event) values (2, clock_timestamp(), 'x')",
                     "insert into events (userid, ts, event) values (2, statement_timestamp(), 'x')",
                     "insert into events (userid, ts, event) values (2, now(), pg_current_xact_id()::text)",
                     "insert into events (userid, ts, event) values (2, now(), txid_current()::text)",
                     "insert into others (id) values (1) on conflict (id) do update set note = clock_timestamp()::text",
                     "set constraints all deferred", "select pg_advisory_xact_lock(1)", "explain (proxy) " + INSERT.format(2)):
            with self.subTest(text=text):
                session = self.session()
                session.query("begin")
                session.query(INSERT.format(1))
                self.assertIsNone(wire.error_of(session.query(text)))
                told = session.query("commit")
                self.assertEqual(wire.tags_of(told), ["COMMIT"])
                self.assertEqual(self.kinds(), {"made_ordinary": 1})
                self.admin("truncate events")

    def test_two_phases(self):
        session = self.session()
        session.query("begin")
        session.query(INSERT.format(1))
        replies = session.query("prepare transaction 'two'")
        self.assertEqual(wire.error_of(replies), "55000")  # max_prepared_transactions is 0, as the server says
        self.assertEqual(replies[-1].body, b"I")
        self.assertEqual(self.rows(), [])
        self.assertEqual(self.kinds(), {"made_ordinary": 1})

    def test_an_execute_with_a_limit_of_rows(self):
        text = "insert into others (id) values (1), (2) returning id"
        session = self.session()
        session.ask(wire.parse("", text), wire.sync())
        session.query("begin")
        session.ask(*insert_group(5))
        replies = session.ask(wire.parse("", text), wire.bind("", ""), wire.execute("", 1), wire.sync())
        self.assertEqual(wire.kinds(replies), "12DsZ")
        session.query("commit")
        self.assertEqual(self.kinds(), {"made_ordinary": 1})

    def test_rollback_to_leads_out_of_an_error(self):
        session = self.session()
        for bad, sqlstate in (("insert into events (userid, ts) values ('nine', now())", "22P02"), ("insert into events values (", "42601"),
                              ("insert into nowhere values (1)", "42P01")):
            self.admin("truncate events")
            session.query("begin")
            session.query(INSERT.format(1))
            session.query("savepoint s")
            session.query(INSERT.format(2))
            replies = session.query(bad)
            self.assertEqual((wire.error_of(replies), replies[-1].body), (sqlstate, b"E"))
            self.assertEqual(wire.error_of(session.query(INSERT.format(3))), "25P02")
            self.assertEqual(wire.tags_of(session.query("rollback to s")), ["ROLLBACK"])
            session.query(INSERT.format(4))
            self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
            self.assertEqual(self.rows(), [1, 4])

    def test_much_is_kept_for_all_clients(self):
        """Behind half of `queue_bytes` those that are older become ordinary, whatever their clients do, and there is room again."""
        keyspread = harness.Keyspread(harness.backend_config(self.postgres, self.tables, admin={}, limits={"queue_bytes": "1MiB"}))
        self.addCleanup(keyspread.stop)

        def made(kind, **labels):
            return metrics.Scrape(keyspread).get("transactions_total", kind=kind, **labels)

        def session():
            one = wire.Wire(("127.0.0.1", keyspread.port))
            self.addCleanup(one.close)
            one.login(harness.USER, self.database)
            for text in ("begin", INSERT.format(999), "select 1", "rollback", "begin"):
                one.query(text)
            return one
        sessions = [session(), session()]
        before = made("made_ordinary", reason="size")
        replies = sessions[0].query(INSERT.format(1).replace("'x'", f"'{'x' * 700_000}'"))
        self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"])
        harness.eventually("it is ordinary", lambda: made("made_ordinary", reason="size") == before + 1)
        harness.eventually("there is room", lambda: metrics.Scrape(keyspread).get("queue_bytes") == 0)
        sessions[1].query(INSERT.format(2))
        for one in sessions[::-1]:
            self.assertEqual(wire.tags_of(one.query("commit")), ["COMMIT"])
        self.assertEqual((self.rows(), made("lazy")), ([1, 2], 1))

    def test_no_more_become_ordinary_than_it_takes(self):
        """Each tick sends some, and those that the server has stored make room for the others."""
        count, keyspread = 16, harness.Keyspread(harness.backend_config(self.postgres, self.tables, admin={}, limits={"queue_bytes": "32MiB"}))
        self.addCleanup(keyspread.stop)
        sessions = []
        for number in range(count):
            sessions.append(wire.Wire(("127.0.0.1", keyspread.port)))
            self.addCleanup(sessions[-1].close)
            sessions[-1].login(harness.USER, self.database)
            for text in ("begin", INSERT.format(999), "select 1", "rollback", "begin"):
                sessions[-1].query(text)
        for number, session in enumerate(sessions):
            session.query(INSERT.format(number).replace("'x'", f"'{'x' * 1_100_000}'"))
        harness.eventually("there is room", lambda: metrics.Scrape(keyspread).get("queue_bytes") < 16 << 20)
        for session in sessions:
            self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
        self.assertEqual(self.rows(), list(range(count)))
        self.assertGreater(metrics.Scrape(keyspread).get("transactions_total", kind="lazy"), 0)

    def test_no_link_is_free(self):
        """One that is kept has its link, which nobody takes from it; without one there is none that is kept."""
        keyspread = harness.Keyspread(harness.backend_config(self.postgres, self.tables, backend={
            "links": "on_demand", "max_links": 4, "batch_links": 1, "link_wait_ms": 100}))
        self.addCleanup(keyspread.stop)

        def session():
            one = wire.Wire(("127.0.0.1", keyspread.port))
            self.addCleanup(one.close)
            one.login(harness.USER, self.database)
            return one
        kept, other = session(), session()
        for text in ("begin", INSERT.format(999), "rollback", "begin", INSERT.format(1)):
            self.assertIsNone(wire.error_of(kept.query(text)))
        holders = []
        while not holders or not wire.error_of(replies):
            holders.append(session())
            replies = holders[-1].query("begin; select 1")
        self.assertEqual(wire.error_of(replies), "53300")
        replies = other.query("begin")
        self.assertEqual((wire.error_of(replies), replies[-1].body), ("53300", b"I"))
        self.assertEqual(kept.rows("select userid from events"), [["1"]])
        self.assertEqual(wire.tags_of(kept.query("commit")), ["COMMIT"])


@harness.proxied
class Questions(test_lazy.LazyCase):
    """What is parsed and described by a name, and not run, leaves the INSERTs kept."""

    def kept(self, grouped, number=1):
        session = self.session()
        session.query("begin")
        self.keep(session, grouped, number)
        return session

    def keep(self, session, grouped, number):
        replies = session.ask(*insert_group(number)) if grouped else session.query(INSERT.format(number))
        self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"])

    def commit(self, session, tag, rows):
        replies = session.query("commit")
        self.assertEqual((wire.tags_of(replies), replies[-1].body, self.rows()), ([tag], b"I", rows))
        self.admin("truncate events")

    def test_they_are_answered(self):
        for grouped in (False, True):
            session = self.kept(grouped)
            for name in "ab":
                replies = session.ask(wire.parse(name, "select 1"), wire.describe("S", name), wire.sync())
                self.assertEqual((wire.kinds(replies), replies[-1].body), ("1tTZ", b"T"))
            self.keep(session, grouped, 2)
            self.commit(session, "COMMIT", [1, 2])
            self.assertEqual(self.kinds(), {"lazy": 1})
            self.assertEqual(wire.tags_of(session.ask(wire.bind("", "a"), wire.execute(), wire.sync())), ["SELECT 1"])

    def test_they_fail(self):
        for grouped in (False, True):
            session = self.kept(grouped)
            replies = session.ask(wire.parse("n", "select nothing"), wire.describe("S", "n"), wire.sync())
            self.assertEqual((wire.kinds(replies), wire.error_of(replies), replies[-1].body), ("EZ", "42703", b"E"))
            self.commit(session, "ROLLBACK", [])
            session = self.kept(grouped)
            session.query("savepoint s")
            session.ask(wire.parse("n", "select nothing"), wire.sync())
            self.assertEqual(wire.tags_of(session.query("rollback to s")), ["ROLLBACK"])
            self.commit(session, "COMMIT", [1])

    def test_they_are_run_after_all(self):
        count = wire.parse("n", "select userid from events")
        for grouped in (False, True):
            for between in ((), (wire.sync(),)):
                session = self.kept(grouped)
                replies = session.ask(count, *between, wire.bind("", "n"), wire.execute(), wire.sync(), ready=1 + len(between))
                self.assertEqual((wire.tags_of(replies), replies[-1].body), (["SELECT 1"], b"T"))
                self.commit(session, "COMMIT", [1])
                self.assertEqual(self.kinds(), {"made_ordinary": 1})

    def test_beside_others(self):
        for other in (wire.describe("S", "known"), wire.parse("new", test_lazy.BOUND), wire.parse("", "select 2"), wire.close("S", "known")):
            session = self.session()
            session.ask(wire.parse("known", test_lazy.BOUND), wire.sync())
            session.query("begin")
            self.keep(session, True, 1)
            self.assertIsNone(wire.error_of(session.ask(wire.parse("n", "select 1"), other, wire.sync())))
            self.commit(session, "COMMIT", [1])

    def test_the_unnamed_statement_stays(self):
        """The server's transaction that they were asked in ends unseen, and the client's statement is still there."""
        for word in ("COMMIT", "ROLLBACK"):
            session = self.session()
            session.ask(*(wire.parse(name, text) for name, text in (("b", "BEGIN"), ("e", word), ("i", test_lazy.BOUND), ("", "select 5"))),
                        wire.sync())
            for name, values in (("b", ()), ("i", [1, test_lazy.MOMENT])):
                session.ask(wire.bind("", name, values), wire.execute(), wire.sync())
            self.assertEqual(wire.kinds(session.ask(wire.parse("n", "select 1"), wire.describe("S", "n"), wire.sync())), "1tTZ")
            replies = session.ask(wire.bind("", "e"), wire.execute(), wire.sync())
            self.assertEqual((wire.tags_of(replies), replies[-1].body), ([word], b"I"))
            replies = session.ask(wire.bind("", ""), wire.execute(), wire.sync())
            self.assertEqual(wire.tags_of(replies), ["SELECT 1"])
            self.assertEqual(self.kinds(), {"lazy": 1} if word == "COMMIT" else {})

    def test_they_come_in_pieces(self):
        session = self.session()
        whole = wire.parse("n", "select 1") + wire.describe("S", "n") + wire.sync()
        for cut in range(1, len(whole)):
            session.query("begin")
            self.keep(session, True, 1)
            session.send(whole[:cut])
            self.assertEqual(len(self.admin("select")), 1)  # Time goes by.
            session.send(whole[cut:])
            self.assertEqual(wire.kinds(session.read_ready()), "1tTZ")
            session.ask(wire.close("S", "n"), wire.sync())
            self.commit(session, "COMMIT", [1])


@harness.proxied
class Commits(test_lazy.LazyCase):
    """What may happen before the COMMIT of what was kept, and during it."""

    def kept(self, **params):
        session = self.session(**params)
        session.query("begin")
        self.assertEqual(wire.tags_of(session.query(OTHER.format(1, "a"))), ["INSERT 0 1"])
        return session

    def test_the_table_is_altered(self):
        for change, back in (("alter id type numeric", "alter id type bigint"), ("rename note to other", "rename other to note")):
            session = self.kept()
            self.admin(f"alter table others {change}")
            replies = session.query("commit")
            self.admin(f"alter table others {back}")
            self.assertEqual((wire.error_of(replies), replies[-1].body), ("40001", b"I"))
            self.assertEqual(self.rows(test_lazy.OTHERS), [])

    def test_statement_timeout_counts_for_all_of_it(self):
        """What it waits on the session's own link is shorter by what it has waited in a batch."""
        session = self.kept(options="-c statement_timeout=700")
        mark = self.postgres.mark()
        with self.postgres.admin(self.database) as admin:
            admin.rows("begin; lock table others in access exclusive mode")
            replies = session.query("commit")
            admin.rows("rollback")
        self.assertEqual((wire.error_of(replies), replies[-1].body), ("57014", b"I"))
        self.assertEqual(self.rows(test_lazy.OTHERS), [])
        self.assertEqual(len(self.postgres.statements(mark, self.database, "set_config(s.name")), 1)
        self.assertEqual(session.rows("show statement_timeout"), [["700ms"]])

    def test_notifications_come_behind_it(self):
        session = self.session()
        session.query("listen heard")
        session.query("begin")
        session.query(INSERT.format(1))
        self.admin("notify heard, 'x'")
        harness.eventually("the server knows of it", lambda: self.admin(
            "select count(*) from pg_stat_activity where state like 'idle in transaction%'") == [["1"]])
        self.assertEqual([message.kind for message in session.query(INSERT.format(2))], ["C", "Z"])
        heard = [message.kind for message in session.query("commit") + session.query("select 1")]
        self.assertEqual(heard.count("A"), 1)


@harness.proxied
class Timeouts(test_lazy.LazyCase):
    """Whoever waits too long with what is kept loses it with the session, as in PostgreSQL."""

    def check(self, option, sqlstate):
        for setting in ("lazy", "eager"):
            self.session()
            session = self.wire(options=f"-c {option}=600 -c keyspread.transactions={setting}")
            session.send(wire.query("begin"), wire.query(INSERT.format(1)))
            replies = session.read_to_end()
            self.assertEqual((wire.tags_of(replies), wire.error_of(replies)), (["BEGIN", "INSERT 0 1"], sqlstate))
            self.assertEqual(self.rows(), [])

    def test_idle_in_transaction(self):
        self.check("idle_in_transaction_session_timeout", "25P03")


@harness.proxied
class TimeoutsOf17(Timeouts):
    version = 17

    def test_transaction(self):
        self.check("transaction_timeout", "25P04")


PARENTS = harness.Table("parents", ["id bigint not null unique"], ["id"], transactions="lazy")
CHILDREN = harness.Table("children", ["id bigint not null", "parent bigint references parents (id)"], ["id"], transactions="lazy")


@harness.proxied
class References(harness.StackCase):
    tables, partitioned = (PARENTS, CHILDREN), False
    options = {"admin": {}}

    def test_children_after_their_parents(self):
        """Statements keep their order, over tables, and whoever else is in the batch."""
        before, sessions = metrics.Scrape(self.keyspread), [self.wire() for _ in range(4)]

        def work(number):
            for turn in range(20):
                key = 4 * turn + number
                for text in ("begin", f"insert into parents (id) values ({key})", f"insert into children (id, parent) values ({key}, {key})"):
                    self.assertIsNone(wire.error_of(sessions[number].query(text)))
                self.assertEqual(wire.tags_of(sessions[number].query("commit")), ["COMMIT"])
        harness.in_threads(4, work)
        for text in ("begin", "insert into children (id, parent) values (100, 100)", "insert into parents (id) values (100)"):
            sessions[0].query(text)
        self.assertEqual(wire.error_of(sessions[0].query("commit")), "23503")
        self.check_stored(PARENTS, 80)
        self.check_stored(CHILDREN, 80)
        self.assertGreater(metrics.Scrape(self.keyspread).since(before).get("transactions_total", kind="lazy"), 40)


if __name__ == "__main__":
    unittest.main()
