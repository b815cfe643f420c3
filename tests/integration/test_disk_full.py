"""A backend whose disk is truly full: a small tmpfs under a tablespace. Those whose rows do not fit are
told so, the others go on; when there is room again, all do.
"""
import collections
import contextlib
import os
import shutil
import subprocess
import tempfile
import unittest

import harness
import wire

SIZE = "16m"
TEXT = "x" * 4000
SMALL = harness.Table("small", ["userid bigint not null", "event text"], ["userid"],
                      hash_column="userhash", hash_first=False, partitions=4)
LARGE = harness.Table("large", SMALL.columns, SMALL.key, hash_column="userhash", hash_first=False)
CLIENTS = 8
FULL = "53100"


class DiskFull(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if harness.DIRECT:
            raise unittest.SkipTest("only with keyspread in between")
        cls.folder = tempfile.mkdtemp(prefix="keyspread-full-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.mount()
        cls.postgres = harness.Postgres(log_statement="none")
        cls.addClassCleanup(cls.postgres.remove)
        cls.create()
        cls.keyspread = harness.Keyspread(harness.backend_config(cls.postgres, (SMALL, LARGE)))
        cls.addClassCleanup(cls.keyspread.stop)

    @classmethod
    def mount(cls):
        if os.geteuid() != 0:
            cls.cannot("only root may mount a tmpfs")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", cls.folder],
                              capture_output=True, text=True)
        if done.returncode:
            cls.cannot(f"a tmpfs cannot be mounted here: {done.stderr.strip()}")
        cls.addClassCleanup(subprocess.run, ["umount", "-l", cls.folder], check=True)

    @staticmethod
    def cannot(why):
        if harness.CI:
            raise AssertionError(f"{why}, and in CI it must be possible")
        raise unittest.SkipTest(why)

    @classmethod
    def create(cls):
        place = os.path.join(cls.folder, "space")
        os.mkdir(place)
        shutil.chown(place, "postgres")
        os.chmod(cls.folder, 0o755)
        cls.postgres.create_database("app")
        with cls.postgres.admin("app") as admin:
            admin.rows(f"create tablespace space location '{place}'")
            admin.rows(f"set default_tablespace = space; {SMALL.ddl()}"
                       " create table filler (a text); alter table filler alter a set storage plain;"
                       " alter table small alter event set storage plain")
            admin.rows(f"set default_tablespace = ''; {LARGE.ddl()}")
            admin.rows(f"insert into filler select '{TEXT}' from generate_series(1, 2600)")

    def write(self, number, rows, told):
        """A client's rows, by turns in the table that is full and in the other."""
        with contextlib.closing(wire.Wire(self.keyspread.address())) as session:
            session.login(harness.USER, "app")
            for row in range(rows):
                table, key = ("small", "large")[row % 2], number * 100_000 + row
                replies = session.query(f"insert into {table} (userid, event) values"
                                        f" ({key}, '{TEXT}')")
                self.assertEqual(replies[-1].kind, "Z", replies)
                told[key] = table, wire.error_of(replies) or "ok"

    def everybody_writes(self, first, rows, told):
        harness.in_threads(CLIENTS, lambda number: self.write(first + number, rows, told))
        return collections.Counter(told.values())

    def test_disk_full(self):
        told = {}
        count = self.everybody_writes(1, 400, told)
        self.assertGreater(count["small", "ok"], 0, count)
        self.assertGreater(count["small", FULL], 100, count)
        self.assertEqual(count["large", "ok"], CLIENTS * 200, count)
        self.assertEqual(set(count), {("small", "ok"), ("small", FULL), ("large", "ok")})
        with self.postgres.admin("app") as admin:
            admin.rows("drop table filler")  # TRUNCATE would want new files first
            admin.rows("checkpoint")
        later = {}
        count = self.everybody_writes(101, 40, later)
        self.assertEqual(set(count), {("small", "ok"), ("large", "ok")}, count)
        self.check({**told, **later})

    def check(self, told):
        with contextlib.closing(harness.connect_admin(self.postgres, "app")) as connection:
            for table in (SMALL, LARGE):
                with connection.cursor() as cursor:
                    cursor.execute(f"select userid from {table.name}")
                    stored = sorted(row[0] for row in cursor.fetchall())
                good = sorted(key for key, outcome in told.items()
                              if outcome == (table.name, "ok"))
                self.assertEqual(stored, good, table.name)
                harness.verify_hashes(self, connection, table)


if __name__ == "__main__":
    unittest.main()
