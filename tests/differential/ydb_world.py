"""ydb_world: a worker's two databases, the fake of YDB's endpoint before the one that has hashes, and its
keyspread before that; and how one sequence is tried there.
"""
import difflib

import driver
import harness
import tables
import wire
import ydb
import ydb_compare
from world import Waits, World
from ydb_generator import TABLES, YdbGenerator

TEMPLATES = ("ydb_direct", "ydb_hashed")
# What a session of YDB is in, and nothing can change.
DIRECT = {"default_transaction_isolation": "serializable", "timezone": "UTC", "lc_numeric": "C",
          "synchronous_commit": "on"}
DATABASE = "local"


def _columns(table):
    """As the configuration wants them."""
    declared = [(name, kind, True) for name, kind in table.key.items()]
    declared += [("v", "text", False), ("n", "integer", False)]
    declared += [(*text.split(), False) for text in table.more] + [("h", "bigint", True)]
    return [{"name": name, "type": kind, "not_null": filled} for name, kind, filled in declared]


class YdbWorld(World):
    generator, twins = YdbGenerator, ()

    @staticmethod
    def make_templates(postgres):
        for hashed, name in enumerate(TEMPLATES):
            postgres.create_database(name)
            with postgres.admin(name) as admin:
                admin.rows("; ".join([tables.PLAIN] + [
                    TABLES[one].ddl(hashed, partitioned=False) for one in TABLES]))

    @staticmethod
    def order(sequence):
        """One keyspread plays them all."""
        return 0

    def __init__(self, postgres, number, kinds, slowly=False):
        super().__init__(postgres, number, kinds, slowly)
        self.roles = ("postgres", self.roles[1])  # as the endpoint's store is entered

    def build(self):
        self._stop()
        self.leave()
        self.generation += 1
        self.databases = [f"{name}{self.number}x{self.generation}" for name in TEMPLATES]
        self.admins = []
        for template, database in zip(TEMPLATES, self.databases):
            self.postgres.create_database(database, template)
            self.admins.append(self.postgres.admin(database))
        for name, value in DIRECT.items():
            self.admins[0].rows(f"alter database {self.databases[0]} set {name} = '{value}'")
        self.direct = driver.Side(("127.0.0.1", self.postgres.port), self.admins[0],
                                  self.databases[0], self.roles)
        self.endpoint = ydb.Endpoint(self.postgres, self.databases[1])
        self.keyspread = harness.Keyspread(self._config())
        self.hashed = driver.Side(self.keyspread.address(), self.admins[1], DATABASE, self.roles)

    def _config(self):
        backend = {"dsn": f"host=127.0.0.1 port={self.endpoint.port} sslmode=disable"
                          f" dbname={DATABASE}", "dialect": "ydb",
                   "capabilities": {"typmods": "yes"}}
        return {"auth": {"mode": "trust"}, "backend": backend, "workers": (1, 4)[self.number % 2],
                "tables": [{**table.config(), "columns": _columns(table)}
                           for table in TABLES.values()]}

    def serve(self, sequence):
        """It is there from the start."""

    def _stop(self):
        if self.keyspread:
            self.keyspread.stop()
            self.endpoint.stop()
            self.keyspread = None

    def close(self):
        self._stop()
        self.leave()

    def _compare(self, sequence):
        steps = sequence["steps"]
        through = self.hashed.play(steps)
        found, refused = driver.refusals(through, ydb_compare.is_refusal)
        ended = any("end" in step for step in steps)
        stored = [] if ended else self.look(sequence, True)
        direct = self.direct.play(driver.with_refusals(steps, found))
        expected = self.look(sequence, False)
        if ended:
            stored = self.look_until(sequence, expected)
        if ydb_compare.conflicts(direct, through):
            raise Waits
        told = ydb_compare.told(direct, through)
        told = [lines + rows for lines, rows in zip(told, (expected, stored))]
        surprises = ydb_compare.without_reason(refused)
        if told[0] != told[1] or surprises:
            return "\n".join(surprises + list(difflib.unified_diff(
                *told, "PostgreSQL", "keyspread", lineterm="", n=4))), refused
        return None, refused

    def tidy(self, sequence):
        """Leaves the tables empty, past keyspread: it keeps nothing of their rows."""
        for admin in self.admins:
            admin.rows("; ".join(f"truncate {name}" for name in [*sequence["tables"], "plain"])
                       + "; " + tables.PLAIN_ROWS)
