"""Cancel requests find their session, on whatever worker it lives, and nobody else's."""
import random
import unittest

import harness
import wire


@harness.proxied
class AcrossWorkers(harness.StackCase):
    options = {"workers": 4}

    def running(self):
        with self.postgres.admin(self.database) as admin:
            return int(admin.rows("select count(*) from pg_stat_activity "
                                  "where wait_event = 'PgSleep'")[0][0])

    def cancel(self, pid, key):
        with wire.Wire(self.keyspread.address()) as other:
            other.send(wire.cancel_request(pid, key))
            self.assertEqual(other.socket.recv(1), b"")  # right or wrong: no word

    def test_each_its_own(self):
        sessions = [self.wire() for _ in range(8)]
        self.assertGreater(len({session.pid >> 22 for session in sessions}), 1, "one worker only")
        for session in sessions:
            session.send(wire.query("select pg_sleep(600)"))
        harness.eventually("all sleep", lambda: self.running() == 8)
        random.Random(1).shuffle(sessions)
        for left, session in enumerate(sessions):
            self.cancel(session.pid, session.key ^ 1)
            self.cancel(session.pid ^ 1 << 22, session.key)
            self.assertEqual(self.running(), 8 - left)
            self.cancel(session.pid, session.key)
            self.assertEqual(wire.error_of(session.read_ready()), "57014")
            self.assertEqual(session.rows("select 1"), [["1"]])


if __name__ == "__main__":
    unittest.main()
