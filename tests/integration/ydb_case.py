"""ydb_case: one application's world twice: a PostgreSQL of its own, and keyspread before the fake of
YDB's endpoint, whose tables have the hash column. Both are called `local`, so that nobody can tell
them apart by that.
"""
import re
import unittest

import harness
import wire
from ydb import Endpoint

DATABASE = "local"
STORE = "app"  # what the fake keeps


def columns_of(table):
    """As the configuration wants them, of declarations such as `id bigint not null`."""
    declared = [(table.hash_column, "smallint" if getattr(table, "buckets", None) else "bigint", True)]
    for column in table.columns:
        name, kind = re.match(r"(\w+) (.*?)(?= not null| references|$)", column).groups()
        declared.append((name, kind.replace("bigserial", "bigint"), " not null" in column))
    return [{"name": name, "type": kind, "not_null": filled} for name, kind, filled in declared]


def config(endpoint, tables, **more):
    backend = {"dsn": f"host=127.0.0.1 port={endpoint.port} sslmode=disable dbname={DATABASE}",
               "dialect": "ydb", **more.pop("backend", {})}
    return {"auth": {"mode": "trust"}, "backend": backend, "workers": 2,
            "tables": [{**table.config(), "columns": columns_of(table)} for table in tables],
            **more}


class YdbCase(unittest.TestCase):
    """A world for the class; `sides` are ports: PostgreSQL's own, and keyspread's."""

    maxDiff = None
    tables = ()
    plain_sql = ""  # tables that keyspread is told nothing of
    endpoint_options = {}
    options = {}

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        cls.admins = {}
        for database, hashed in ((DATABASE, False), (STORE, True)):
            cls.postgres.create_database(database)
            cls.admins[hashed] = cls.postgres.admin(database)
            cls.addClassCleanup(cls.admins[hashed].close)
            for table in cls.tables:
                cls.admins[hashed].rows(table.ddl(hashed, partitioned=False))
            if cls.plain_sql:
                cls.admins[hashed].rows(cls.plain_sql)
        cls.endpoint = Endpoint(cls.postgres, **cls.endpoint_options)
        cls.addClassCleanup(cls.endpoint.stop)
        cls.start_keyspread()

    @classmethod
    def start_keyspread(cls):
        cls.keyspread = harness.Keyspread(config(cls.endpoint, cls.tables, **cls.options))
        cls.addClassCleanup(cls.keyspread.stop)
        cls.sides = {"PostgreSQL": cls.postgres.port, "keyspread": cls.keyspread.port}

    def setUp(self):
        if self.keyspread.gone:
            self.start_keyspread()
        self.empty()

    def tearDown(self):
        self.keyspread.check_alive()

    def empty(self):
        """All tables, on both sides."""
        for admin in self.admins.values():
            names = [name for (name,) in admin.rows("select tablename from pg_tables where schemaname = 'public'")]
            if names:
                harness.empty(admin, names, restart=True)

    def link(self, port):
        """A session until the test ends."""
        link = wire.Wire(("127.0.0.1", port))
        self.addCleanup(link.close)
        link.login(harness.USER, DATABASE)
        return link


class LinksCase(YdbCase):
    """`links`: a session on either side."""

    def setUp(self):
        super().setUp()
        self.links = [self.link(port) for port in self.sides.values()]

    @staticmethod
    def line(message):
        """What both must be told alike."""
        if message.kind == "T":
            return "T", [(one[0], *one[3:]) for one in message.columns()]
        if message.kind == "E":
            return "E", message.fields()["C"]
        return message.kind, message.row() if message.kind == "D" else message.body

    def same(self, sql):
        expected, got = ([self.line(one) for one in link.query(sql)] for link in self.links)
        self.assertEqual(expected, got, sql)
