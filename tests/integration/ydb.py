"""ydb: the fake of YDB's endpoint (tests/ydb_endpoint) before a harness's PostgreSQL."""
import json
import os
import subprocess
import unittest
import urllib.parse
import urllib.request

import wire
from harness import PATIENCE, Lines, Postgres, free_ports, program, with_us

DATABASE = "/local"


class Endpoint:
    """A running fake; ready when the constructor returns. Options: --conflicts is `conflicts`;
    a list is said once for each of its values.
    Without a `port` it takes one that is free."""

    def __init__(self, postgres, database="app", port=None, **options):
        path = os.path.join(os.path.dirname(program()), "ydb_endpoint")
        store = f"host=127.0.0.1 port={postgres.port} user=postgres dbname={database}"
        for attempt in range(5):
            free, self.monitoring = free_ports(2)
            self.port = port or free
            command = with_us() + [path, "--listen", f"127.0.0.1:{self.port}", "--store", store,
                                   "--monitoring", f"127.0.0.1:{self.monitoring}"]
            for name, value in options.items():
                for one in value if isinstance(value, list) else [value]:
                    command += ["--" + name.replace("_", "-"), str(one)]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.lines = Lines(self.process.stderr)
            if self.lines.wait_for("^ready$"):
                return
            self.process.wait(PATIENCE)
            if "in use" not in self.lines.text() or attempt == 4:
                raise AssertionError(f"the endpoint does not start:\n{self.lines.text()}")

    def stop(self):
        """Ends it; nothing that a sanitizer says may have been overheard."""
        self.process.kill()
        self.process.wait(PATIENCE)
        self.lines.thread.join(PATIENCE)
        self.process.stderr.close()
        text = self.lines.text()
        if "Sanitizer" in text or "runtime error" in text:
            raise AssertionError(text[-6000:])

    def http(self, method, path, /, **parameters):
        """What the monitoring port answers, from JSON."""
        query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        request = urllib.request.Request(f"http://127.0.0.1:{self.monitoring}{path}{query}",
                                         method=method, data=b"" if method == "POST" else None)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def order(self, fault, **parameters):
        """Something goes wrong: see tests/ydb_endpoint/control.h."""
        self.http("POST", "/faults", fault=fault, **parameters)

    def counters(self):
        return self.http("GET", "/counters")

    def link(self):
        """A raw connection, nothing said yet."""
        return wire.Wire(("127.0.0.1", self.port))


class EndpointCase(unittest.TestCase):
    """A PostgreSQL for the class, a fake before it for as many as are asked for."""

    options = {}

    @classmethod
    def setUpClass(cls):
        cls.postgres = Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        cls.postgres.create_database("app")
        cls.endpoint = cls.start_class(**cls.options)

    @classmethod
    def start_class(cls, **options):
        endpoint = Endpoint(cls.postgres, **options)
        cls.addClassCleanup(endpoint.stop)
        return endpoint

    def start(self, **options):
        """One more, for this test alone."""
        endpoint = Endpoint(self.postgres, **options)
        self.addCleanup(endpoint.stop)
        return endpoint

    def setUp(self):
        with self.postgres.admin("app") as admin:
            admin.rows("drop schema public cascade; create schema public")

    def raw(self, endpoint=None):
        link = (endpoint or self.endpoint).link()
        self.addCleanup(link.close)
        return link

    def session(self, endpoint=None, **parameters):
        link = self.raw(endpoint)
        link.login("app", DATABASE, **parameters)
        return link

    def stored(self, sql):
        """Seen past the endpoint."""
        with self.postgres.admin("app") as admin:
            return admin.rows(sql)


def outline(messages):
    """Replies at a glance: types, with tags, statuses and the first line of errors."""
    parts = []
    for message in messages:
        if message.kind == "C":
            parts.append(message.tag())
        elif message.kind == "Z":
            parts.append(message.body.decode())
        elif message.kind == "E":
            parts.append(message.fields()["M"].split("\n")[0])
        elif message.kind == "N":
            parts.append("N:" + message.fields()["M"])
        else:
            parts.append(message.kind)
    return parts


def failure(messages):
    """The message of the first error; None if there is none."""
    return next((one.fields()["M"] for one in messages if one.kind == "E"), None)
