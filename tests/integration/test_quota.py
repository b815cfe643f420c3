"""Links for batches are the process's: nobody's settings take them away from others."""
import contextlib
import threading
import unittest

import harness
import middleman
import wire

# Whoever waits is served, however slow the machine.
PATIENT = {"links": "on_demand", "link_wait_ms": 600000}
INSERT = "insert into events (userid, ts, event) values ({}, '2026-01-01', 'x')"


@harness.proxied
class ManySettings(harness.StackCase):
    options = {"backend": {"links": "on_demand", "max_links": 100}}

    def count(self, what="usename = 'app'"):
        with self.postgres.admin(self.database) as admin:
            return int(admin.rows(f"select count(*) from pg_stat_activity where {what}")[0][0])

    def while_another_inserts(self, work):
        """The errors that `work` met, and another client meanwhile."""
        other, errors, done, rows = self.wire(), [], threading.Event(), [0]

        def insert():
            while not done.is_set():
                error = wire.error_of(other.query(INSERT.format(10**9 + rows[0])))
                errors.extend([error] if error else [])
                rows[0] += 1
        thread = threading.Thread(target=insert)
        thread.start()
        try:
            errors += [error for error in work() if error]
        finally:
            done.set()
            thread.join(harness.PATIENCE)
        self.assertGreater(rows[0], 0)
        self.check_stored(count=None)
        return errors

    def test_a_timeout_each(self):
        """They are the session's own, and share what they always shared."""
        names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout",
                 "idle_session_timeout")

        def one(number):
            name, value = names[number % 4], 600000 + number
            if number % 3 == 0:
                session = self.wire(options=f"-c {name}={value}")
            else:
                session = self.wire()
                session.rows(f"set {name} = {value}")
            errors = [wire.error_of(session.query(INSERT.format(number * 10 + i)))
                      for i in range(3)]
            shown = session.rows(f"select setting from pg_settings where name = '{name}'")
            self.assertEqual(shown, [[str(value)]])
            return errors

        errors = self.while_another_inserts(
            lambda: sum(harness.in_threads(88, one), []))
        self.assertEqual(errors, [])

    def test_a_time_zone_after_the_other(self):
        session = self.wire()

        def work():
            errors = []
            for number in range(100):
                zone = f"<+{number % 14:02d}>-{number % 14:02d}:{number % 60:02d}"
                session.rows(f"set timezone = '{zone}'")
                errors.append(wire.error_of(session.query(INSERT.format(number))))
            return errors

        self.assertEqual(self.while_another_inserts(work), [])
        self.assertLessEqual(self.count("query ilike 'insert%'"), 9)
        self.assertEqual(len(self.stored(columns="1")) >= 101, True)

    def test_a_time_zone_each(self):
        """More identities at once than links."""
        def one(number):
            session = self.wire(timezone=f"<+01>-01:{number:02d}")
            return [wire.error_of(session.query(INSERT.format(number * 10 + i)))
                    for i in range(5)]

        errors = self.while_another_inserts(lambda: sum(harness.in_threads(40, one), []))
        self.assertEqual(errors, [])


@harness.proxied
class Timeouts(harness.StackCase):
    tables = (harness.Table("events", harness.EVENTS.columns, harness.EVENTS.key,
                            hash_column="userhash", batch={"lock_wait_ms": 50}),)

    def refused_behind_a_lock(self, sql=None, **params):
        session = self.wire(**params)
        if sql:
            session.rows(sql)
        with self.postgres.admin(self.database) as holder:
            holder.rows("begin; lock table events")
            error = wire.error_of(session.query(INSERT.format(1)))
            holder.rows("rollback")
        session.rows("set statement_timeout = 0; set lock_timeout = 0")
        self.assertEqual(session.rows("select count(*) from events"), [["0"]])
        return error

    def test_each_timeout_works(self):
        for name, sqlstate in (("lock_timeout", "55P03"), ("statement_timeout", "57014")):
            for value in ("300", "'0.3 s'", "'300ms'"):
                with self.subTest(name=name, value=value):
                    self.assertEqual(
                        self.refused_behind_a_lock(f"set {name} = {value}"), sqlstate)
            for option in (f"-c {name}=300", f"--{name.replace('_', '-')}=300ms"):
                with self.subTest(option=option):
                    self.assertEqual(self.refused_behind_a_lock(options=option), sqlstate)

    def test_idle_in_transaction(self):
        session = self.wire()
        session.rows("set idle_in_transaction_session_timeout = 10")
        session.query(INSERT.format(1))
        session.query("begin")
        self.assertEqual([one.sqlstate for one in session.read_to_end() if one.kind == "E"],
                         ["25P03"])

    def test_not_idle_while_it_writes(self):
        """Batched rows leave by other links; the own link does not think that nobody is there."""
        session = self.wire()
        session.rows("set idle_session_timeout = '2500ms'")
        with self.postgres.admin(self.database) as admin:
            start = admin.rows("select clock_timestamp()")[0][0]
            over = f"select clock_timestamp() > '{start}'::timestamptz + interval '4 s'"
            rows = 0
            while admin.rows(over) != [["t"]]:
                rows += 1
                self.assertIsNone(wire.error_of(session.query(INSERT.format(rows))))
        self.assertEqual(session.rows("select count(*) from events"), [[str(rows)]])


@harness.proxied
class WhatIsLeft(harness.StackCase):
    """A row that has waited in a batch goes on over its session's own link. What is left of its
    timeouts there a CHECK tells."""
    tables = (harness.Table("events", harness.EVENTS.columns, harness.EVENTS.key,
                            hash_column="userhash", batch={"lock_wait_ms": 500}),)
    options = {"backend": {"batch_links": 1}}
    least = 70000 - 500

    def admin(self, sql):
        with self.postgres.admin(self.database) as admin:
            return admin.rows(sql)

    def setUp(self):
        super().setUp()
        self.admin("""
            create or replace function left_of(setting text) returns float8 language sql as $$
                select extract(epoch from current_setting(setting)::interval) * 1000 $$;
            create or replace function tell() returns bool language plpgsql as $$ begin
                raise notice '% %', left_of('lock_timeout'), left_of('statement_timeout');
                return true;
            end $$;
            alter table events drop constraint if exists told, add constraint told check (tell())""")
        for name in ("lock_timeout", "statement_timeout"):
            self.admin(f"alter role {harness.USER} in database {self.database} set {name} = '70s'")

    @contextlib.contextmanager
    def held(self, userid):
        with self.postgres.admin(self.database) as holder:
            holder.rows("begin; insert into events (userid, ts, userhash) values "
                        f"({userid}, '2026-01-01', {harness.xxh3_signed(userid)})")
            yield
            holder.rows("rollback")

    def waits(self, condition, count=1):
        harness.eventually("it waits for the lock", lambda: self.admin(
            f"select count(*) from pg_stat_activity where wait_event_type = 'Lock' and {condition}")
            == [[str(count)]])

    @staticmethod
    def left(session):
        """The SQLSTATE, and what is left of lock_timeout and of statement_timeout, ms."""
        replies = session.read_ready()
        return [wire.error_of(replies)] + [float(value) for reply in replies if reply.kind == "N" for value in reply.fields()["M"].split()]

    def write(self, session, userid, extended):
        bound = "insert into events (userid, ts, event) values ($1, '2026-01-01', 'x')"
        session.send(*([wire.parse("", bound), wire.bind("", "", [str(userid).encode()]), wire.execute(),
                        wire.sync()] if extended else [wire.query(INSERT.format(userid))]))

    def test_what_was_waited_is_taken_off(self):
        settings = {"options": ({"options": "-c statement_timeout=1h"}, "", 3600000),
                    "set": ({}, "set statement_timeout = '2h'", 7200000), "role": ({}, "", 70000)}
        for number, (how, (params, sql, timeout)) in enumerate(settings.items()):
            session = self.wire(**params)
            if sql:
                session.rows(sql)
            for extended in (False, True):
                userid = 2 * number + extended
                with self.subTest(set_by=how, extended=extended):
                    with self.held(userid):
                        self.write(session, userid, extended)
                        self.waits(f"pid = {session.pid}")
                    sqlstate, lock, statement = self.left(session)
                    self.assertEqual((sqlstate, lock), (None, self.least))
                    self.assertLessEqual(statement, timeout - 500)
                    self.assertEqual(session.rows("show lock_timeout"), [["70s"]])
                    self.assertNotEqual(session.rows("show statement_timeout"), [["0"]])
                    session.rows(f"delete from events where userid = {userid}")

    def test_another_s_key(self):
        """Who waits here for the key of a row that waits for a lock has waited for that lock."""
        first, second = self.wire(), self.wire()
        with self.held(1):
            self.write(first, 1, False)
            self.waits(f"pid not in ({first.pid}, {second.pid})")
            self.write(second, 1, False)
            self.waits(f"pid in ({first.pid}, {second.pid})", 2)
        left = [self.left(session) for session in (first, second)]
        self.assertEqual({one[0] for one in left}, {None, "23505"})
        self.assertEqual(left[0][1], self.least)
        self.assertLess(left[1][1], self.least)

    def test_waiting_for_a_link(self):
        """What was waited for the only link counts for statement_timeout, as from the row's arrival; for lock_timeout only locks do."""
        ids = [userid for userid in range(1000) if harness.EVENTS.partition_of(harness.xxh3_signed(userid)) == 3]
        first, second = self.wire(), self.wire()
        with self.held(ids[0]), self.held(ids[1]):
            self.write(first, ids[0], False)
            self.waits(f"pid not in ({first.pid}, {second.pid})")
            self.write(second, ids[1], False)
            self.waits(f"pid in ({first.pid}, {second.pid})", 2)
        self.assertEqual(self.left(first)[:2], [None, self.least])
        sqlstate, lock, statement = self.left(second)
        self.assertEqual((sqlstate, lock), (None, self.least))
        self.assertLess(statement, lock)

    def test_a_cancel_behind_the_wait(self):
        """It ends the statement alone, and the session goes on."""
        session = self.wire()
        with self.held(1):
            self.write(session, 1, False)
            self.waits(f"pid = {session.pid}")
            self.admin(f"select pg_cancel_backend({session.pid})")
            self.assertEqual(wire.error_of(session.read_ready()), "57014")
        self.assertEqual(session.rows("show lock_timeout"), [["70s"]])

    def test_nothing_is_left(self):
        """Whatever runs out of it, the question before the statement or that itself: it is answered."""
        session = self.wire()
        session.rows("set statement_timeout = 2")
        with self.held(1):
            for extended in (False, True) * 4:
                with self.subTest(extended=extended):
                    self.write(session, 1, extended)
                    self.assertEqual(wire.error_of(session.read_ready()), "57014")
        session.rows("set statement_timeout = 0")
        self.assertEqual(session.rows("select count(*) from events"), [["0"]])


@harness.proxied
class RolesTimeout(harness.StackCase):
    tables = (harness.Table("events", harness.EVENTS.columns, harness.EVENTS.key, hash_column="userhash",
                            batch={"lock_wait_ms": 60000, "max_wait_ms": 3600000}),)

    def test_a_row_expires_by_it(self):
        """What a role has set is a row's deadline while that waits here, for the key of one in flight."""
        with self.postgres.admin(self.database) as admin, self.postgres.admin(self.database) as holder:
            admin.rows(f"alter role {harness.USER} in database {self.database} set statement_timeout = '1s'")
            first = self.wire()
            holder.rows("begin; insert into events (userid, ts, userhash) values "
                        f"(1, '2026-01-01', {harness.xxh3_signed(1)})")
            first.send(wire.query(INSERT.format(1)))
            harness.eventually("its batch waits for the lock", lambda: admin.rows(
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock'") == [["1"]])
            second = self.wire()
            self.assertEqual(wire.error_of(second.query(INSERT.format(1))), "57014")
            self.assertEqual(admin.rows("select count(*) from pg_stat_activity where "
                                        f"wait_event_type = 'Lock' and pid <> {first.pid}"), [["1"]])
            holder.rows("rollback")
        self.assertIsNone(wire.error_of(first.read_ready()))


class SlotsCase(harness.StackCase):
    """Roles and databases that may have few connections: what is idle of ours gives way."""

    setup_sql = "grant all on events to public; create role few login; create role other login"

    def setUp(self):
        super().setUp()
        self.limit(-1)

    def past(self, sql):
        with self.postgres.admin(self.database) as admin:
            return admin.rows(sql)

    def limit(self, count, what="role few"):
        self.past(f"alter {what} connection limit {count}")

    def connected(self, where="usename = 'few'"):
        return int(self.past(f"select count(*) from pg_stat_activity where {where}")[0][0])

    def nobody(self):
        """Until nothing of the test before is left there."""
        self.past("select pg_terminate_backend(pid) from pg_stat_activity"
                  " where usename in ('few', 'other', 'app')")
        harness.eventually("all are gone", lambda: self.connected(
            "usename in ('few', 'other', 'app')") == 0)

    def insert(self, session, number):
        self.assertEqual(wire.tags_of(session.query(INSERT.format(number))), ["INSERT 0 1"])


@harness.proxied
class OneSlot(SlotsCase):
    """A role of one connection serves any number of sessions that want it one after the other."""

    options = {"workers": 2, "backend": PATIENT}

    def setUp(self):
        super().setUp()
        self.nobody()
        self.limit(1)

    def test_lone_rows(self):
        for number in range(40):
            session = self.wire(user="few")
            self.insert(session, number)
            session.close()
        self.assertEqual(self.check_stored(), 40)

    def test_sessions_that_stay(self):
        sessions = [self.wire(user="few") for _ in range(6)]
        for number in range(30):
            session = sessions[number % 6]
            self.insert(session, number)
            if number % 4 == 0:
                self.assertEqual(session.rows("select 1"), [["1"]])
            if number % 7 == 0:  # the schema is read anew
                self.past("notify keyspread_ddl")
        self.assertEqual(self.check_stored(), 30)

    def test_at_once(self):
        def one(number):
            session = self.wire(user="few")
            for i in range(10):
                self.insert(session, number * 100 + i)
                self.assertEqual(session.rows("select 1"), [["1"]])
            session.close()
        harness.in_threads(6, one)
        self.assertEqual(self.check_stored(), 60)

    def test_schema_unknown(self):
        session, other = self.wire(user="few"), self.wire(user="few")
        self.assertEqual(session.rows("select 1"), [["1"]])
        self.past("alter table events add more text; alter table events drop more")
        self.assertEqual(self.wire(user="other").rows("discard plans"), [])
        self.insert(other, 1)

    def test_transactions_take_turns(self):
        first, second = self.wire(user="few"), self.wire(user="few")
        first.rows("begin")
        second.send(wire.query("select 2"))
        first.rows("commit")
        self.assertEqual(wire.error_of(second.read_ready()), None)


@harness.proxied
class OneSlotOfOneWorker(OneSlot):
    options = {"workers": 1, "backend": PATIENT}


@harness.proxied
class OneSlotOfFourWorkers(OneSlot):
    options = {"workers": 4, "backend": PATIENT}


@harness.proxied
class Readers(harness.StackCase):
    """A read leaves nothing where nothing that is stored changes sessions; if nobody knows whether
    that is so, for nobody has asked for a configured table there, it is found out when others want
    the link."""

    options = {"backend": {**PATIENT, "max_links": 2, "batch_links": 1}, "workers": 1}
    texts = (("begin; select 'd'", "commit"), ("begin", "select 'd'", "commit"),
             ("select count(*) from pg_am",), ("begin", "table pg_am", "rollback"))

    def setUp(self):
        super().setUp()
        self.assertIn("event=reloaded", self.keyspread.reload())  # nothing is known of the tables

    def idle(self, texts):
        """Sessions that have all the links, and need none."""
        sessions = [self.wire() for _ in range(2)]
        for session in sessions:
            for text in texts:
                self.assertIsNone(wire.error_of(session.query(text)))
        return sessions

    def test_they_give_way(self):
        for texts in self.texts:
            with self.subTest(texts=texts):
                self.setUp()
                sessions = self.idle(texts)
                sessions.append(self.wire())
                self.assertEqual(sessions[-1].rows("select 'a'"), [["a"]])
                for session in sessions:
                    self.assertEqual(session.rows("select 'b'"), [["b"]])
                    session.close()

    def test_while_they_go_on(self):
        """Whatever comes while a session's link is asked, and however it comes, is answered."""
        def one(number):
            session = self.wire()
            for i in range(30):
                text = f"{number}-{i}"
                self.assertEqual(session.rows("begin") + session.rows(f"select '{text}'"), [[text]])
                self.assertIsNone(wire.error_of(session.query("commit")))
                session.send(wire.parse("", "select $1::text") + wire.bind("", "", [text.encode()])
                             + wire.execute("") + wire.sync())
                rows = [one.row() for one in session.read_ready() if one.kind == "D"]
                self.assertEqual(rows, [[text.encode()]])
            session.close()
        harness.in_threads(6, one)


@harness.proxied
class LoudReaders(harness.StackCase):
    """Where a read may have changed its session, the link is that session's own."""

    before_sql = """create function loud() returns int language plpgsql as
        $$ begin perform set_config('application_name', 'loud', false); return 1; end $$;
        create view noise as select loud()"""
    options = {"backend": {"links": "on_demand", "max_links": 2, "batch_links": 1,
                           "link_wait_ms": 500}, "workers": 1}

    def test_they_keep_it(self):
        sessions = [self.wire() for _ in range(4)]
        told = [wire.error_of(session.query("select loud from noise")) for session in sessions]
        self.assertEqual(set(told), {None, "53300"})
        for session, error in zip(sessions, told):
            if error is None:
                self.assertEqual(session.rows("select current_setting('application_name')"),
                                 [["loud"]])


@harness.proxied
class Collision(harness.StackCase):
    """Backends that are being refused count, too: there is room for one of them."""

    @classmethod
    def start_keyspread(cls):
        cls.middleman = middleman.Middleman(cls.postgres.port)
        cls.addClassCleanup(cls.middleman.close)
        cls.keyspread = harness.Keyspread(harness.backend_config(
            cls.postgres, cls.tables, port=cls.middleman.port, workers=1))
        cls.addClassCleanup(cls.keyspread.stop)

    def test_who_refuse_each_other_try_again(self):
        self.wire().rows("select 1")
        self.middleman.refuse_together(3)
        told = harness.in_threads(3, lambda _: self.wire().rows("select 1"))
        self.assertEqual(told, [[["1"]]] * 3)


@harness.proxied
class NoSlot(SlotsCase):
    """Where nothing of ours could give way, the server's refusal is told at once."""

    options = {"backend": {"links": "on_demand", "link_wait_ms": 600000}}

    def cut(self):
        """The session's link is gone, and keyspread knows it."""
        seen = len(self.keyspread.lines.lines)
        self.past("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'few'")
        self.keyspread.lines.wait_for("event=link_lost", since=seen)

    def test_a_role_of_none(self):
        self.limit(0)
        with self.assertRaises(wire.Closed) as caught:
            self.wire(user="few", datestyle="German")  # nobody like it was there before
        self.assertEqual(wire.error_of(caught.exception.messages), "53300")

    def test_while_it_runs(self):
        session = self.wire(user="few")
        self.assertEqual(session.rows("select 1"), [["1"]])
        self.limit(0)
        self.cut()
        self.assertEqual(wire.error_of(session.query("select 1")), "53300")
        self.limit(-1)
        self.assertEqual(session.rows("select 1"), [["1"]])

    def test_strangers_have_them(self):
        session = self.wire(user="few")
        session.rows("select 1")
        self.limit(1)
        self.cut()
        stranger = wire.Wire(("127.0.0.1", self.postgres.port))
        self.addCleanup(stranger.close)
        harness.eventually("it is gone", lambda: self.connected() == 0)
        stranger.login("few", self.database)
        self.assertEqual(wire.error_of(session.query("select 1")), "53300")


@harness.proxied
class Listeners(SlotsCase):
    """Idle links for batches give way to sessions, whoever has no more to give: the role, the
    database, the server or backend.max_links."""

    backend = {"max_links": 6, "batch_links": 5}

    @classmethod
    def start_keyspread(cls):
        cls.options = {"backend": {**PATIENT, **cls.backend}, "workers": 2}
        super().start_keyspread()

    def listeners(self, count, user="few"):
        sessions = [self.wire(user=user) for _ in range(count)]
        for session in sessions:
            session.rows("listen something")
        return sessions

    def batches(self, user, count=3):
        """So many idle links for batches."""
        sessions = [self.wire(user=user) for _ in range(count)]
        where = f"usename = '{user}' and query ilike 'insert%'"

        def write():
            self.written = getattr(self, "written", 0) + 100
            for i in range(20):
                for number, session in enumerate(sessions):
                    session.send(wire.query(INSERT.format(self.written + number * 20 + i)))
                for session in sessions:
                    self.assertIsNone(wire.error_of(session.read_ready()))
            return self.connected(where) >= count
        harness.eventually("links for batches are open", write)
        return sessions

    def serve_another(self, user="few"):
        session = self.wire(user=user)
        session.rows("begin")
        self.insert(session, 10**9)
        session.rows("commit")
        self.check_stored(count=None)

    def test_of_a_role(self):
        self.nobody()
        self.listeners(2)
        self.batches("few", 2)
        self.limit(self.connected())
        self.serve_another()

    def test_of_max_links(self):
        self.nobody()
        self.listeners(3)
        self.batches("few", 3)
        self.serve_another()

    def test_of_a_database(self):
        self.nobody()
        self.listeners(2)
        self.batches("other", 2)
        self.limit(self.connected("datname = 'app'") - 1, f"database {self.database}")
        self.addCleanup(self.limit, -1, f"database {self.database}")
        self.serve_another()

    def test_rows_among_listeners(self):
        """One link stays for batches."""
        self.nobody()
        self.insert(self.wire(user="other"), 10**8)  # it is known what to greet it with
        self.listeners(5)
        writers = [self.wire(user=user) for user in ("few", "other") for _ in range(3)]
        for i in range(10):
            for number, session in enumerate(writers):
                session.send(wire.query(INSERT.format(number * 100 + i)))
            for session in writers:
                self.assertIsNone(wire.error_of(session.read_ready()))

    def test_a_look_among_listeners(self):
        """The link of batches gives way to who asks what the tables, names and types are."""
        self.nobody()
        self.insert(self.wire(user="other"), 10**8)
        self.listeners(4)
        owner, = self.listeners(1, "postgres")
        writers = [self.wire(user=user) for user in ("few", "other")]
        text = "insert into events (userid, ts, event) values ($1, '2026-01-01', 'x{}')"
        for i in range(4):
            for number, session in enumerate(writers):
                self.insert(session, number * 100 + i)
                replies = session.ask(
                    wire.parse("", text.format(i)), wire.describe("S", ""),
                    wire.bind("", "", [str(number * 100 + 50 + i)]), wire.execute(), wire.sync())
                self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"])
            owner.rows("alter table events add more text; alter table events drop more")
        self.assertEqual(self.check_stored(), 17)


@harness.proxied
class CrammedServer(Listeners):
    """max_connections is used up by strangers."""

    settings = {"max_connections": 12, "superuser_reserved_connections": 3}
    backend = {"max_links": 90, "batch_links": 8}

    def test_of_max_links(self):
        self.nobody()
        self.listeners(2)
        self.batches("other", 2)
        strangers = []
        try:
            while True:
                stranger = wire.Wire(("127.0.0.1", self.postgres.port))
                self.addCleanup(stranger.close)
                strangers.append(stranger)
                stranger.login("few", self.database)
        except wire.Closed as closed:
            self.assertEqual(wire.error_of(closed.messages), "53300")
        self.serve_another()

    def test_rows_among_listeners(self):
        self.skipTest("there are fewer connections here")

    test_a_look_among_listeners = test_rows_among_listeners


if __name__ == "__main__":
    unittest.main()
