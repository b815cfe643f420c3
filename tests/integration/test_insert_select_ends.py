"""A large INSERT … SELECT that is ended in the middle, at chosen rows and by all who can: its client is told how it
was, and all of its rows are there or none."""
import contextlib
import os
import signal
import socket
import struct
import threading
import unittest

import harness
import wire
from harness import Table

ROWS = int(os.environ.get("KEYSPREAD_ROWS", 20_000))
OLD = ROWS // 100  # rows that are there before
PROBE = Table("probe", ["k int", "v text"], ["k"], hash_first=False)
GATE = 9
SETUP = f"""
    create table source as select g from generate_series(1, {ROWS}) g;
    create function gate(n int, at int) returns int language plpgsql as $$ begin
      if n = at then perform pg_advisory_xact_lock_shared({GATE}); end if; return n; end $$;
    create function gate() returns trigger language plpgsql as $$ begin
      perform pg_advisory_xact_lock_shared({GATE}); return new; end $$;
    create trigger row before insert on probe for each row when (new.v = 'row') execute function gate();
    create constraint trigger commit after insert on probe deferrable initially deferred
      for each row when (new.v = 'commit') execute function gate();
"""

# Which row it stops at, and where: as it is read, as it is written, or as it is committed.
MOMENTS = {"the first that is read": (1, "read"), "one that is read": (ROWS // 2, "read"),
           "the last that is read": (ROWS, "read"), "one that is written": (ROWS // 2 + 1, "row"),
           "the commit": (ROWS // 3, "commit")}
FORMS = (
    "insert into probe select {k}, {v} from generate_series(1, " + f"{ROWS}) g",
    "insert into probe (v, k) select {v}, {k} from source returning v, k",
    "with x as (select g from source) insert into probe select {k}, {v} from x returning *",
    "insert into probe (k, v) with x as (select g from source) select {k}, {v} from x",
    f"insert into probe select {{k}}, {{v}} from generate_series(1, {ROWS}) g "
    "on conflict (k) do update set v = excluded.v returning k")


def statement(number, at, what):
    """Whose row `at` waits at the gate."""
    key = f"gate(g, {at if what == 'read' else 0})"
    return FORMS[number % len(FORMS)].format(k=key, v=f"case g when {at} then '{what}' else 'new' end")


class Waiting:
    """A session whose INSERT waits at the gate, and what it is told, which is read meanwhile."""

    def __init__(self, case, number, at, what):
        self.text = statement(number, at, what)
        self.old = OLD if "conflict" in self.text else 0
        with case.postgres.admin(case.database) as admin:
            admin.rows("truncate probe")
        self.session = case.wire()
        if self.old:
            self.session.rows(f"insert into probe select g, 'old' from generate_series(1, {OLD}) g")
        self.holder = case.postgres.admin(case.database)
        self.holder.rows(f"select pg_advisory_lock({GATE})")
        if number % 2:
            self.session.send(wire.parse("", self.text), wire.bind("", ""), wire.execute(), wire.sync())
        else:
            self.session.send(wire.query(self.text))
        self.replies = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        harness.eventually("it waits at the gate", self.backend)

    def backend(self):
        """The process that waits."""
        found = self.holder.rows("select pid from pg_locks where locktype = 'advisory' and not granted")
        return int(found[0][0]) if found else None

    def read(self):
        with contextlib.suppress(OSError, wire.Closed):
            while not self.replies or self.replies[-1].kind != "Z":
                reply = self.session.read()
                if reply.kind != "D":
                    self.replies.append(reply)

    def told(self):
        """The first error, or the tag."""
        self.reader.join(harness.PATIENCE)
        return wire.error_of(self.replies) or (wire.tags_of(self.replies) or [None])[-1]

    def go_on(self):
        self.holder.rows(f"select pg_advisory_unlock({GATE})")

    def close(self):
        self.holder.close()
        self.reader.join(harness.PATIENCE)


@harness.proxied
class Ends(harness.StackCase):
    tables = (PROBE,)
    partitioned = False
    setup_sql = SETUP

    def at_each_moment(self, end):
        for number, (name, (at, what)) in enumerate(MOMENTS.items()):
            with self.subTest(name):
                waiting = Waiting(self, number, at, what)
                with contextlib.closing(waiting):
                    end(waiting)

    def quiet(self):
        """Nothing is under way any more."""
        with self.postgres.admin(self.database) as admin:
            harness.eventually("it is over", lambda: not admin.rows(
                "select from pg_stat_activity where query ilike '%insert into probe%' and state <> 'idle' "
                "and pid <> pg_backend_pid()"))

    def check(self, waiting, *expected):
        """How many rows there are: of this statement all or none, and as they were if it is none."""
        self.quiet()
        rows = self.stored(PROBE, "v", "k")
        whole = [["new"]] * (ROWS - 1)
        if len(rows) == ROWS:
            self.assertEqual([row for row in rows if row[0] == "new"], whole)
        else:
            self.assertEqual(rows, [["old"]] * waiting.old)
        self.assertIn(len(rows) == ROWS, expected)

    def goes_on(self, waiting):
        self.assertEqual(waiting.replies[-1].body, b"I")
        self.assertEqual(waiting.session.rows("select 1"), [["1"]])

    def test_nobody(self):
        def end(waiting):
            waiting.go_on()
            self.assertEqual(waiting.told(), f"INSERT 0 {ROWS}")
            self.goes_on(waiting)
            self.check(waiting, True)
        self.at_each_moment(end)
        self.check_stored(PROBE, ROWS)

    def test_a_cancel(self):
        def end(waiting):
            with wire.Wire(("127.0.0.1", self.port())) as other:
                other.send(wire.cancel_request(waiting.session.pid, waiting.session.key))
                other.read_to_end()
            self.assertEqual(waiting.told(), "57014")
            self.goes_on(waiting)
            self.check(waiting, False)
        self.at_each_moment(end)

    def test_its_backend_is_terminated(self):
        def end(waiting):
            waiting.holder.rows(f"select pg_terminate_backend({waiting.backend()})")
            self.assertEqual(waiting.told(), "57P01")
            self.check(waiting, False)
        self.at_each_moment(end)

    def test_a_half_close(self):
        """It is no cancel."""
        def end(waiting):
            waiting.session.socket.shutdown(socket.SHUT_WR)
            waiting.go_on()
            self.assertEqual(waiting.told(), f"INSERT 0 {ROWS}")
            self.check(waiting, True)
        self.at_each_moment(end)

    def test_a_client_that_says_goodbye(self):
        def end(waiting):
            waiting.session.send(wire.terminate())
            waiting.go_on()
            waiting.told()
            self.check(waiting, True)
        self.at_each_moment(end)

    def test_a_client_that_is_gone(self):
        """Without a word. The server does not notice before it has something to say."""
        def end(waiting):
            waiting.session.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            waiting.session.socket.shutdown(socket.SHUT_RD)
            waiting.reader.join(harness.PATIENCE)
            waiting.session.drop()
            waiting.go_on()
            self.check(waiting, True, False)
        self.at_each_moment(end)

    def test_keyspread_is_killed(self):
        def end(waiting):
            self.keyspread.kill()
            self.assertIsNone(waiting.told())
            waiting.go_on()
            self.start_keyspread()
            self.check(waiting, True, False)
        self.at_each_moment(end)

    def test_its_backend_is_killed(self):
        """The server ends all and recovers."""
        def end(waiting):
            os.kill(waiting.backend(), signal.SIGKILL)
            # In the middle of a row there is no room for an error.
            self.assertIn(waiting.told(), ("08007", None) if "returning" in waiting.text else ("08007",))
            waiting.holder.read_to_end()  # all are ended now
            self.postgres.wait()
            self.check(waiting, False)
        self.at_each_moment(end)


if __name__ == "__main__":
    unittest.main(verbosity=2)
