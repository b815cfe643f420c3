"""both_ways: a program that runs once directly on PostgreSQL and once through keyspread, each time in a database of its own, and
prints what it sees."""
import os
import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

import harness

sys.path.insert(0, os.path.join(os.path.dirname(harness.HERE), "programs"))

from programs import MODULES  # noqa: E402

# What differs between two runs on PostgreSQL as well: oids, times, and keys by chance.
CHANCE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
                    r"|(?<![0-9])[1-9][0-9]{4}(?![0-9])|2[0-9]{3}-[0-9]{2}-[0-9]{2}[ T][0-9:.]+( UTC)?")


class BothWays(unittest.TestCase):
    maxDiff = None
    direct = {}  # What a program prints directly on PostgreSQL, which all classes compare with.
    tables = ()
    options = {}

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        cls.keyspread = harness.Keyspread(harness.backend_config(cls.postgres, cls.tables, **cls.options))
        cls.addClassCleanup(cls.keyspread.stop)

    def run_on(self, program, database, port):
        self.postgres.create_database(database)
        done = subprocess.run(program.command, capture_output=True, text=True, timeout=6 * harness.PATIENCE, env={
            **os.environ, "PGHOST": "127.0.0.1", "PGPORT": str(port), "PGUSER": harness.USER, "PGDATABASE": database,
            "NODE_PATH": MODULES, "TZ": "UTC", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return CHANCE.sub("", done.stdout).splitlines()

    def compare(self, direct, through):
        self.assertEqual(direct, through)

    def play(self, program):
        """Both runs, at the same time if both are needed; what they print is the same. The database behind keyspread."""
        if program.missing():
            harness.missing(program.missing())
        plain, spread = f"{program.name}_direct", f"{program.name}_spread"
        with ThreadPoolExecutor() as pool:
            through = pool.submit(self.run_on, program, spread, self.keyspread.port)
            if program.name not in self.direct:
                self.direct[program.name] = self.run_on(program, plain, self.postgres.port)
            through = through.result()
        self.compare(self.direct[program.name], through)
        self.assertGreater(len(through), 5)
        self.keyspread.check_alive()
        return spread
