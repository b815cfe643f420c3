"""What a connection says first, and how a login ends: to PostgreSQL and to keyspread, whose answers
must be the same."""
import json
import os
import shutil
import socket
import struct
import subprocess
import unittest

import harness
import wire

VERSION_3 = 3 << 16
BASE = f"user\0{harness.USER}\0database\0app\0".encode()
REQUESTS = {"ssl": 1234 << 16 | 5679, "cancel": 1234 << 16 | 5678}


def packet(code, body=b"", size=None):
    return struct.pack("!II", len(body) + 8 if size is None else size, code) + body


def login(*pairs, user=harness.USER, database="app"):
    body = "".join(f"{name}\0{value}\0"
                   for name, value in (("user", user), ("database", database)) + pairs)
    return packet(VERSION_3, body.encode() + b"\0")


def options(text):
    return login(("options", text))


OLD = b"app".ljust(64, b"\0") + harness.USER.encode().ljust(228, b"\0")
FIRST = {
    "nothing": b"",
    "a byte": b"\0",
    "half": login()[:20],
    "a goodbye": wire.terminate(),
    "length 0": struct.pack("!I", 0) + bytes(20),
    "length 4": struct.pack("!I", 4) + bytes(20),
    "length 7": struct.pack("!I", 7) + bytes(20),
    "no more than a version": packet(VERSION_3),
    "length 10004": packet(VERSION_3, BASE + bytes(10004 - 8 - len(BASE))),
    "length 10005": struct.pack("!I", 10005),
    "length -1": struct.pack("!i", -1) + bytes(20),
    "HTTP": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
    "SSH": b"SSH-2.0-OpenSSH_9.2\r\n",
    "no terminator": packet(VERSION_3, BASE),
    "a name alone": packet(VERSION_3, BASE + b"application_name\0"),
    "a name cut": packet(VERSION_3, BASE + b"application_name"),
    "more behind": packet(VERSION_3, BASE + b"\0xyz"),
    "two terminators": packet(VERSION_3, BASE + b"\0\0"),
    "no user": packet(VERSION_3, b"database\0app\0\0"),
    "an empty user": packet(VERSION_3, b"user\0\0\0"),
    "protocol 0": packet(0),
    "protocol 1": packet(1 << 16, OLD),
    "protocol 2": packet(2 << 16, OLD),
    "protocol 3.99": packet(VERSION_3 + 99, BASE + b"_pq_.x\0y\0\0"),
    "protocol 4": packet(4 << 16, BASE + b"\0"),
    "request 5681": packet(1234 << 16 | 5681),
    "SSLRequest with a body": packet(REQUESTS["ssl"], b"abc"),
    "SSLRequest and more": packet(REQUESTS["ssl"]) + login(),
    "SSLRequest and a byte": packet(REQUESTS["ssl"]) + b"x",
    "SSLRequest twice": 2 * packet(REQUESTS["ssl"]),
    "CancelRequest, short": packet(REQUESTS["cancel"], b"abc"),
    "CancelRequest, long": packet(REQUESTS["cancel"], b"abcdefghijkl"),
    "500 parameters": packet(VERSION_3, BASE + 470 * b"search_path\0public\0" + b"\0"),
    "no such database": login(database="nothing"),
    "no such role": login(user="nobody"),
    "a role's limit": login(user="limited"),
    "a database's limit": login(user="plain", database="crammed"),
    "NOLOGIN": login(user="nologin"),
    "no right to connect": login(user="plain", database="private"),
    "a value that is none": login(("DateStyle", "xx")),
    "an encoding that is none": login(("client_encoding", "xx")),
    "a name that is none": login(("foo", "bar")),
    "a name of somebody's": login(("foo.bar", "baz")),
    "not after the start": login(("max_connections", "5")),
    "replication maybe": login(("replication", "maybe")),
    "a warning": login(user="warned"),
    "an application beyond ASCII": login(("application_name", "\x01ä\n€~")),
    "an application by options": options("-c application_name=ä"),
}
OPTIONS = ["-c foo=bar", "-c foo", "-c", "-z", "-W", "bare", "-", "--", "-- -e", "-e --", "-e",
           "-S 128", "-S128", "-B 128", "--search_path=public", "-c statement-timeout=5s",
           "-c search_path=a\\", "-c search_path=a\\ b", "-c search_path=\\\\", "\\", "-c \\"]


def answer(port, data, half):
    """All that comes until the session is ready, or the connection ends, or nothing more does."""
    with socket.create_connection(("127.0.0.1", port), harness.PATIENCE) as connection:
        connection.sendall(data)
        if half:
            connection.shutdown(socket.SHUT_WR)
        said = b""
        try:
            while not said.endswith(b"Z\0\0\0\5I"):
                part = connection.recv(1 << 16)
                if not part:
                    return said, "the end"
                said += part
        except ConnectionError:
            return said, "the end"
        return said, "ready"


def messages(said):
    """What may differ is left out: keys, addresses in the source."""
    shown = []
    while said:
        if said[:1] in b"NS" and said[1:2] != b"\0":
            shown.append(said[:1])
            said = said[1:]
            continue
        size = struct.unpack("!I", said[1:5])[0] + 1 if len(said) > 4 else 0
        if not 5 <= size <= len(said):
            return shown + [said]
        message = wire.Message(chr(said[0]), said[5:size])
        said = said[size:]
        if message.kind in "EN":
            shown.append((message.kind, sorted(item for item in message.fields().items()
                                               if item[0] not in "FLR")))
        elif message.kind != "K":
            shown.append((message.kind, message.body))
    return shown


def of_today(said):
    """Servers before 18 speak protocol 3.0 alone; keyspread answers as 18 does, whatever it stands before."""
    said = said.replace(b"server supports 3.0 to 3.0", b"server supports 3.0 to 3.2")
    negotiated = said[:1] == b"v" and said[5:9] == bytes([0, 3, 0, 0])
    return said[:5] + bytes([0, 3, 0, 2]) + said[9:] if negotiated else said


class Startup(harness.StackCase):
    maxDiff = None
    setup_sql = """
        create role limited login connection limit 0;
        create role nologin nologin;
        create role plain login;
        create role warned login;
        alter role warned set work_mem = '1MB';
        update pg_db_role_setting set setconfig = '{work_mem=none}'
            where setrole = 'warned'::regrole"""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.postgres.admin("postgres") as admin:
            admin.rows("create database crammed connection limit 0")
            admin.rows("create database private")
            admin.rows("revoke connect on database private from public")

    def compare(self, name, data, half):
        if not half and name in ("nothing", "a byte", "half", "SSLRequest with a body"):
            return  # both wait for more
        with self.subTest(name, half=half):
            said, end = answer(self.postgres.port, data, half)
            said = of_today(said)
            ours, our_end = answer(self.keyspread.port, data, half)
            said, ours = messages(said), messages(ours)
            settings = [message for message in said if message[0] == "S"]
            self.assertEqual([m for m in ours if m not in settings],
                             [m for m in said if m not in settings])
            self.assertEqual(sorted(m for m in ours if m in settings), sorted(settings))
            self.assertEqual(our_end, end)

    def test_first_packets(self):
        for name, data in FIRST.items():
            self.compare(name, data, half=False)
            if name != "a warning":  # a greeting that is kept has none
                self.compare(name, data, half=True)

    def test_options(self):
        for text in OPTIONS:
            self.compare(text, options(text), half=False)
            self.compare(text + " …", login(("options", text), ("TimeZone", "Europe/Paris")),
                         half=False)

    def test_a_long_application_name(self):
        """PostgreSQL cuts it, with a notice."""
        for name in ("x" * 62 + "yz", "x" * 62 + "ä", "ä" * 40):
            with self.subTest(name):
                told = [{message for message in messages(answer(port, login(("application_name", name)), half=False)[0])
                         if message[0] == "S"} for port in (self.postgres.port, self.keyspread.port)]
                self.assertEqual(*told)

    def shown(self, port, name, *pairs):
        session = wire.Wire(("127.0.0.1", port))
        self.addCleanup(session.close)
        session.send(login(*pairs))
        session.read_until("Z")
        return session.rows(f"show {name}")

    def test_what_options_and_parameters_come_to(self):
        for text in ("-c search_path=a\\", '-c search_path="a\\ b\\\\"', "--", "-e --",
                     "-c search_path=c --"):
            for more in ((), (("TimeZone", "Europe/Paris"), ("search_path", '"d e\\"'))):
                pairs = (("options", text), *more)
                for name in ("search_path", "TimeZone"):
                    with self.subTest(text, more=more, name=name):
                        self.assertEqual(self.shown(self.keyspread.port, name, *pairs),
                                         self.shown(self.postgres.port, name, *pairs))

    def test_batches_have_their_settings_behind_any_options(self):
        for userid, text in enumerate(("--", "-c geqo=off\\", "-e --")):
            session = wire.Wire(self.keyspread.address())
            self.addCleanup(session.close)
            session.send(options(text))
            session.read_until("Z")
            insert = f"insert into events values ({userid}, '2026-01-01 00:00:00+00', 'x')"
            self.assertEqual(wire.tags_of(session.query(insert)), ["INSERT 0 1"])
        self.check_stored(count=3)

    def test_parameters_that_cannot_be_passed_on(self):
        pairs = [(f"a.p{number}", "value") for number in range(700)]
        self.assertIn(b"C54000\0", answer(self.keyspread.port, login(*pairs), half=False)[0])

    def test_node_postgres_ends_what_it_has_not_begun(self):
        folder = os.path.join(harness.HERE, "node")
        node = shutil.which("node") or harness.missing("node")
        if not os.path.isdir(os.path.join(folder, "node_modules", "pg")):
            harness.missing("node-postgres (npm install in tests/integration/node)")
        for port in (self.postgres.port, self.keyspread.port):
            result = subprocess.run([node, os.path.join(folder, "hasty.js")], text=True,
                                    input=json.dumps({"host": "127.0.0.1", "port": port,
                                                      "user": harness.USER, "database": "app"}),
                                    capture_output=True, timeout=harness.PATIENCE, check=False)
            self.assertEqual((result.returncode, result.stdout), (0, "ended\n"), result.stderr)


class Unreachable(unittest.TestCase):
    def test_clients_are_told_no_address(self):
        port = harness.free_port()
        keyspread = harness.Keyspread(
            {"auth": {"mode": "trust"}, "tables": [harness.EVENTS.config()],
             "backend": {"dsn": f"host=127.0.0.1 port={port}", "dialect": "postgres"}})
        self.addCleanup(keyspread.stop)
        said, end = answer(keyspread.port, login(), half=False)
        self.assertEqual(end, "the end")
        self.assertIn(b"C08006\0", said)
        self.assertNotIn(b"127.0.0.1", said)
        self.assertNotIn(str(port).encode(), said)
        self.assertIn("127.0.0.1", keyspread.lines.wait_for("event=backend_unreachable"))


if __name__ == "__main__":
    unittest.main()
