"""made_case: tables that the configuration knows, and clients make. What they reply while they do so is PostgreSQL's, and
others find the same tables behind it, each row with its hash.
"""
import contextlib

import harness
from direct_case import SessionCase
from harness import Table


class Planned(Table):
    """Of the configuration alone."""

    def __init__(self, name, key, **options):
        self.kind = options.pop("kind", {"buckets": 16})
        super().__init__(name, [], key, partitions=self.kind.get("uniform", 16), **options)

    def config(self):
        return {**super().config(), "partitions": self.kind}

    def ddl(self, *unused):
        return "select"


TABLES = (
    Planned("one", ["id"]), Planned("events", ["userid", "ts"]), Planned("shop.items", ["id"]),
    Planned('"Odd Table"', ["Id of"], hash_column="The hash"),
    Planned("checked", ["id"], hash_function="pg_hash"), Planned("large", ["id"], hash_type="uint64"),
    Planned("cut", ["id"], kind={"uniform": 4}),
)


class MadeCase(SessionCase):
    tables = TABLES
    setup_sql = "create schema shop"

    @contextlib.contextmanager
    def connected(self):
        """What is made in this block is gone behind it."""
        with super().connected():
            try:
                yield
            finally:
                for session in self.sessions:
                    session.drop()
                for admin in self.admins.values():
                    admin.rows("drop table if exists one, events, shop.items, cut, plain cascade")

    def left(self):
        """What others find of it: the same, and each row with its hash."""
        names = ["one", "events", "shop.items", "cut"]
        found = [[admin.rows(f"select to_regclass('{name}')")[0][0] for name in names] for admin in self.admins.values()]
        self.assertEqual(*found)
        with contextlib.closing(harness.connect_admin(self.postgres, "hashed")) as connection:
            for table in self.tables:
                if table.name in found[0]:
                    harness.verify_hashes(self, connection, table)
