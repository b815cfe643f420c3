"""What a service manager is told: ready, reloading, stopping, alive."""
import os
import signal
import socket
import tempfile
import time
import unittest

import harness

NOWHERE = {"backend": {"dsn": "host=127.0.0.1 port=1 sslmode=disable"}}


class Manager:
    """Stands in for systemd: the datagram socket that NOTIFY_SOCKET names."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.settimeout(harness.PATIENCE)

    def next(self):
        """The assignments of the next message."""
        text = self.socket.recv(4096).decode()
        return dict(line.split("=", 1) for line in text.splitlines())


@harness.proxied
class Notify(unittest.TestCase):
    def start(self, address, **environment):
        """A keyspread under a manager who listens at `address`."""
        self.manager = Manager(address)
        self.addCleanup(self.manager.socket.close)
        name = address.replace("\0", "@")  # an abstract one is written so
        keyspread = harness.Keyspread(NOWHERE, {"NOTIFY_SOCKET": name, **environment})
        self.addCleanup(keyspread.stop)
        return keyspread

    def path(self):
        folder = tempfile.TemporaryDirectory(prefix="keyspread-notify-")
        self.addCleanup(folder.cleanup)
        return os.path.join(folder.name, "notify")

    def check_life(self, keyspread):
        ready = self.manager.next()
        self.assertEqual(ready["READY"], "1")
        self.assertIn("clients are served", ready["STATUS"])

        keyspread.process.send_signal(signal.SIGHUP)
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        reloading = self.manager.next()
        self.assertEqual(reloading["RELOADING"], "1")
        self.assertNotIn("READY", reloading)
        self.assertLess(abs(int(reloading["MONOTONIC_USEC"]) - before), harness.PATIENCE * 10**6)
        self.assertEqual(self.manager.next(), ready)

        keyspread.write_config({**keyspread.config, "nonsense": True})
        keyspread.process.send_signal(signal.SIGHUP)
        self.assertEqual(self.manager.next()["RELOADING"], "1")
        failed = self.manager.next()
        self.assertEqual(failed["READY"], "1")
        self.assertIn("failed", failed["STATUS"])

        keyspread.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.manager.next()["STOPPING"], "1")
        keyspread.finish()

    def test_a_socket_with_a_path(self):
        self.check_life(self.start(self.path()))

    def test_an_abstract_socket(self):
        self.check_life(self.start(f"\0keyspread-{os.getpid()}-{id(self)}"))

    def test_ready_means_that_clients_are_accepted(self):
        keyspread = self.start(self.path())
        self.assertEqual(self.manager.next()["READY"], "1")
        socket.create_connection(keyspread.address(), harness.PATIENCE).close()

    def test_the_watchdog(self):
        keyspread = self.start(self.path(), WATCHDOG_USEC="200000")
        self.assertEqual(self.manager.next()["READY"], "1")
        for _ in range(5):
            self.assertEqual(self.manager.next(), {"WATCHDOG": "1"})
        keyspread.process.send_signal(signal.SIGTERM)
        message = {"WATCHDOG": "1"}
        while message == {"WATCHDOG": "1"}:
            message = self.manager.next()
        self.assertEqual(message["STOPPING"], "1")
        keyspread.finish()

    def test_nobody_listens(self):
        keyspread = harness.Keyspread(NOWHERE, {"NOTIFY_SOCKET": self.path(),
                                                "WATCHDOG_USEC": "200000"})
        keyspread.process.send_signal(signal.SIGHUP)
        self.assertTrue(keyspread.lines.wait_for(r"\bevent=reloaded\b"))
        keyspread.stop()


if __name__ == "__main__":
    unittest.main()
