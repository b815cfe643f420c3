"""The process id that a client is told, and what it can do with it: cancel, NOTIFY, terminate, see
who blocks whom. With `backend.links: auto` and few clients all of it is as with PostgreSQL."""
import asyncio
import contextlib
import json
import os
import shutil
import struct
import subprocess
import unittest

import harness
import wire

VIRTUAL = 1 << 22  # no process id is above it


def drivers():
    try:
        import asyncpg
        import psycopg
        import psycopg2
    except ImportError as failure:
        harness.missing(failure.name)
    return psycopg2, psycopg, asyncpg


def backend_pid(session):
    return int(session.rows("select pg_backend_pid()")[0][0])


class PidCase(harness.StackCase):
    def cancel(self, session, key=None):
        with wire.Wire(("127.0.0.1", self.port())) as other:
            other.send(wire.cancel_request(session.pid, key or session.key))
            self.assertEqual(other.socket.recv(1), b"")

    def sleeping(self):
        with self.postgres.admin(self.database) as admin:
            return int(admin.rows("select count(*) from pg_stat_activity "
                                  "where wait_event = 'PgSleep'")[0][0])

    def check_cancel(self, session):
        session.send(wire.query("select pg_sleep(600)"))
        harness.eventually("it sleeps", lambda: self.sleeping() == 1)
        self.cancel(session)
        self.assertEqual(wire.error_of(session.read_ready()), "57014")
        self.assertEqual(session.rows("select 1"), [["1"]])

    def own_notification(self, session):
        """The pid in the notification of a session's own NOTIFY."""
        session.rows("listen n")
        session.send(wire.query("notify n"))
        told = [one for one in session.read_ready() if one.kind == "A"]
        return struct.unpack("!I", told[0].body[:4])[0]

    def ended(self, session):
        """The SQLSTATE that an idle session is ended with."""
        return [one.sqlstate for one in session.read_to_end() if one.kind == "E"]


class FewClients(PidCase):
    """All of it equals direct."""

    def test_pid_is_the_backends(self):
        sessions = [self.wire() for _ in range(6)]
        for session in sessions:
            self.assertEqual(session.pid, backend_pid(session))
            self.assertEqual(self.own_notification(session), session.pid)
            self.check_cancel(session)

    def test_terminated_by_another(self):
        first, second = self.wire(), self.wire()
        first.rows("select 1")
        second.rows(f"select pg_terminate_backend({first.pid})")
        self.assertEqual(self.ended(first), ["57P01"])
        self.assertEqual(second.rows("select 1"), [["1"]])

    def test_terminated_before_its_first_statement(self):
        first, second = self.wire(), self.wire()
        second.rows(f"select pg_terminate_backend({first.pid})")
        self.assertEqual(self.ended(first), ["57P01"])

    def test_terminated_by_itself(self):
        session = self.wire()
        session.send(wire.query(f"select pg_terminate_backend({session.pid})"))
        self.assertEqual(self.ended(session), ["57P01"])

    def test_who_blocks(self):
        first, second, third = self.wire(), self.wire(), self.wire()
        first.rows("begin; lock table events")
        second.send(wire.query("begin; lock table events; rollback"))
        blockers = f"select pg_blocking_pids({second.pid})::text"
        harness.eventually("the second waits",
                           lambda: third.rows(blockers) == [["{%d}" % first.pid]])
        first.rows("rollback")
        self.assertEqual(second.read_ready()[-1].body, b"I")

    def test_after_writes(self):
        """Batched rows leave by other links; what the client was told does not change."""
        session = self.wire()
        session.rows("insert into events values (1, '2026-01-01', 'a')"
                     if harness.DIRECT else
                     "insert into events (userid, ts, event) values (1, '2026-01-01', 'a')")
        self.assertEqual(session.pid, backend_pid(session))

    def test_psycopg2(self):
        psycopg2, _, _ = drivers()
        with contextlib.closing(psycopg2.connect(self.dsn())) as one, \
                contextlib.closing(psycopg2.connect(self.dsn())) as other:
            one.autocommit = other.autocommit = True
            cursor, killer = one.cursor(), other.cursor()
            cursor.execute("select pg_backend_pid()")
            self.assertEqual(cursor.fetchone()[0], one.info.backend_pid)
            cursor.execute("listen n")
            cursor.execute("notify n")
            one.poll()
            self.assertEqual([notify.pid for notify in one.notifies], [one.get_backend_pid()])
            killer.execute("select pg_terminate_backend(%s)", [one.info.backend_pid])
            with self.assertRaises(psycopg2.OperationalError):
                cursor.execute("select 1")
            self.assertTrue(one.closed)

    def test_psycopg3(self):
        _, psycopg, _ = drivers()
        with psycopg.connect(self.dsn(), autocommit=True) as one, \
                psycopg.connect(self.dsn(), autocommit=True) as other:
            self.assertEqual(one.execute("select pg_backend_pid()").fetchone()[0],
                             one.info.backend_pid)
            heard = []
            one.add_notify_handler(lambda notify: heard.append(notify.pid))
            one.execute("listen n")
            one.execute("notify n")
            one.execute("select 1")
            self.assertEqual(heard, [one.info.backend_pid])
            other.execute("select pg_terminate_backend(%s)", [one.info.backend_pid])
            with self.assertRaises(psycopg.OperationalError):
                one.execute("select 1")
            self.assertTrue(one.closed)

    def test_asyncpg(self):
        _, _, asyncpg = drivers()

        async def run():
            where = {"host": "127.0.0.1", "port": self.port(), "user": harness.USER,
                     "database": self.database, "ssl": False}
            one, other = await asyncpg.connect(**where), await asyncpg.connect(**where)
            heard, over = asyncio.Queue(), asyncio.Event()
            one.add_termination_listener(lambda _: over.set())
            self.assertEqual(await one.fetchval("select pg_backend_pid()"), one.get_server_pid())
            await one.add_listener("n", lambda _, pid, *__: heard.put_nowait(pid))
            await one.execute("notify n")
            self.assertEqual(await heard.get(), one.get_server_pid())
            await other.execute(f"select pg_terminate_backend({one.get_server_pid()})")
            await over.wait()
            await other.close()

        asyncio.run(asyncio.wait_for(run(), harness.PATIENCE))

    def test_node_postgres(self):
        folder = os.path.join(harness.HERE, "node")
        node = shutil.which("node") or harness.missing("node")
        if not os.path.isdir(os.path.join(folder, "node_modules", "pg")):
            harness.missing("node-postgres (npm install in tests/integration/node)")
        url = f"postgresql://{harness.USER}@127.0.0.1:{self.port()}/{self.database}"
        done = subprocess.run([node, os.path.join(folder, "pids.js"), url], check=True,
                              capture_output=True, text=True, timeout=harness.PATIENCE)
        self.assertEqual(json.loads(done.stdout),
                         {"same": True, "own": True, "ended": "57P01", "value": 1})


@harness.proxied
class LinkGoneMeanwhile(PidCase):
    """The own link of a session ends while a row of it is on a batch's."""
    row = "insert into events (userid, ts, event) values (7, '2026-01-01', 'x')"
    insert = wire.query(row)

    def end_it_while_it_writes(self, session):
        session.rows(self.row.replace("7", "1", 1))  # nothing is to be asked any more
        with self.postgres.admin(self.database) as holder, \
                self.postgres.admin(self.database) as admin:
            holder.rows("begin; lock table events")
            session.send(self.insert)
            harness.eventually("its row waits", lambda: admin.rows(
                "select 1 from pg_stat_activity where wait_event_type = 'Lock'"
                " and query ilike 'insert%'"))
            admin.rows(f"select pg_terminate_backend({session.pid})")
            harness.eventually("its backend is gone", lambda: not admin.rows(
                f"select 1 from pg_stat_activity where pid = {session.pid}"))
            holder.rows("rollback")
        return session.read_to_end()

    tables = (harness.Table("events", harness.EVENTS.columns, harness.EVENTS.key,
                            hash_column="userhash", batch={"lock_wait_ms": 60000}),)

    def test_the_outcome_comes_first(self):
        replies = self.end_it_while_it_writes(self.wire())
        self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"], replies)
        self.assertEqual([one.sqlstate for one in replies if one.kind == "E"], ["57P01"])
        self.assertEqual(len(self.stored(self.tables[0])), 2)


@harness.proxied
class LinkGoneBefore(LinkGoneMeanwhile):
    """… and the row has to go on there."""
    tables = (harness.Table("events", harness.EVENTS.columns, harness.EVENTS.key,
                            hash_column="userhash", batch={"lock_wait_ms": 1}),)

    def test_the_outcome_comes_first(self):
        session = self.wire()
        replies = self.end_it_while_it_writes(session)
        self.assertEqual(wire.tags_of(replies), [], replies)
        self.assertEqual([one.sqlstate for one in replies if one.kind == "E"], ["57P01"])
        self.assertEqual(len(self.stored(self.tables[0])), 1)


@harness.proxied
class BeyondHalf(PidCase):
    """Four of eight links are taken at logins, at most; later clients are told virtual pids."""
    options = {"backend": {"max_links": 8, "batch_links": 1}, "workers": 3}

    def test_virtual_pids(self):
        sessions = [self.wire() for _ in range(20)]
        pids = [session.pid for session in sessions]
        self.assertEqual(len(set(pids)), 20)
        real = [pid for pid in pids if pid <= VIRTUAL]
        self.assertIn(len(real), range(1, 5))  # links of batches are counted, too
        for session in sessions[:6]:
            self.assertEqual(session.pid == backend_pid(session), session.pid in real)
            self.assertEqual(self.own_notification(session), session.pid)
            self.check_cancel(session)

    def test_wrong_pids_and_keys(self):
        sessions = [self.wire() for _ in range(6)]
        asleep, other = sessions[5], sessions[0]
        self.assertGreater(asleep.pid, VIRTUAL)
        asleep.send(wire.query("select pg_sleep(600)"))
        harness.eventually("it sleeps", lambda: self.sleeping() == 1)
        for pid, key in ((asleep.pid, asleep.key ^ 1), (other.pid, asleep.key), (0, 0),
                         (asleep.pid + 100, asleep.key), (0xffffffff, asleep.key)):
            with wire.Wire(self.keyspread.address()) as cancel:
                cancel.send(wire.cancel_request(pid, key))
                self.assertEqual(cancel.socket.recv(1), b"")
        self.assertEqual(self.sleeping(), 1)
        self.cancel(asleep)
        self.assertEqual(wire.error_of(asleep.read_ready()), "57014")

    def test_room_comes_back(self):
        first = [self.wire() for _ in range(5)]
        self.assertGreater(first[4].pid, VIRTUAL)
        for session in first:
            session.close()

        def told_real():
            with contextlib.closing(self.wire()) as session:
                return session.pid <= VIRTUAL
        harness.eventually("a link at login again", told_real)


@harness.proxied
class OnDemand(PidCase):
    options = {"backend": {"links": "on_demand"}}

    def test_no_link_before_it_is_needed(self):
        first = self.wire()
        mark = self.postgres.mark()
        second = self.wire()
        for session in (first, second):
            self.assertGreater(session.pid, VIRTUAL)
        self.assertEqual(self.postgres.statements(mark, self.database), [])
        self.assertEqual(self.own_notification(second), second.pid)
        self.check_cancel(second)

    def test_another_link_in_silence(self):
        """Nobody was told the pid of an idle session without state: it goes on."""
        session = self.wire()
        session.rows("select 1")
        with self.postgres.admin(self.database) as admin:
            admin.rows("select pg_terminate_backend(pid) from pg_stat_activity"
                       " where query = 'select 1' and pid <> pg_backend_pid()")
        self.keyspread.lines.wait_for("event=link_lost")
        self.assertEqual(session.rows("select 2"), [["2"]])


@harness.proxied
class OnLogin(PidCase):
    options = {"backend": {"links": "on_login", "max_links": 5, "batch_links": 1,
                           "link_wait_ms": 50}}

    def test_none_left(self):
        sessions = [self.wire() for _ in range(4)]
        self.assertLess(max(session.pid for session in sessions), VIRTUAL)
        with self.assertRaises(wire.Closed) as closed:
            self.wire()
        self.assertEqual(wire.error_of(closed.exception.messages), "53300")
        self.check_cancel(sessions[3])


if __name__ == "__main__":
    unittest.main()
