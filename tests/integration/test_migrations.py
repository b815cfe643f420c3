"""What ORMs' migrations make through keyspread is what they make of plain tables, and the hash column stays: what they print
as they change their tables, create them, add, alter, rename and remove columns, keys and indexes."""
import contextlib
import os
import re
import subprocess
import unittest

import harness
from harness import Table
from test_catalog_clients import HERE, MODULES, PYTHON, Program

FOLDER = os.path.join(HERE, "migrations", "")
PROGRAMS = (
    Program("django", "/usr/bin/python3", FOLDER + "django_migrate.py", python3_django=PYTHON + "django"),
    Program("active_record", "/usr/bin/ruby", FOLDER + "active_record_migrate.rb",
            ruby_activerecord="/usr/share/rubygems-integration/*/specifications/activerecord-*"),
    Program("sequel", "/usr/bin/ruby", FOLDER + "sequel_migrate.rb", ruby_sequel="/usr/lib/ruby/vendor_ruby/sequel"),
    Program("node", "node", FOLDER + "node_migrate.js", typeorm=MODULES + "typeorm", sequelize=MODULES + "sequelize",
            knex=MODULES + "knex"),
)
ITEMS, DOCUMENTS = Table("items", [], ["id"]), Table("documents", [], ["userid"])
for one in (ITEMS, DOCUMENTS):
    one.options["partitions"] = {"buckets": 16}
KEYS = ("select conrelid::regclass::text, pg_get_constraintdef(oid) from pg_constraint where contype = 'p'"
        " and conrelid::regclass::text in ('items', 'documents', 'papers') order by 1")
CHANCE = re.compile(r"(?<![0-9])[1-9][0-9]{4}(?![0-9])|2[0-9]{3}-[0-9]{2}-[0-9]{2}[ T][0-9:.]+( UTC)?")  # oids, times


class Migrations(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        cls.keyspread = harness.Keyspread(harness.backend_config(cls.postgres, (ITEMS, DOCUMENTS)))
        cls.addClassCleanup(cls.keyspread.stop)

    def run_on(self, program, database, port):
        self.postgres.create_database(database)
        done = subprocess.run(program.command, capture_output=True, text=True, timeout=6 * harness.PATIENCE, env={
            **os.environ, "PGHOST": "127.0.0.1", "PGPORT": str(port), "PGUSER": harness.USER, "PGDATABASE": database,
            "NODE_PATH": MODULES, "TZ": "UTC"})
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return CHANCE.sub("", done.stdout).splitlines()

    def check(self, program):
        if program.missing():
            harness.missing(program.missing())
        plain, spread = f"{program.name}_direct", f"{program.name}_spread"
        direct = self.run_on(program, plain, self.postgres.port)
        self.assertEqual(direct, self.run_on(program, spread, self.keyspread.port))
        self.assertGreater(len(direct), 30)
        with self.postgres.admin(spread) as admin:
            self.assertEqual([key for table, key in admin.rows(KEYS)], ["PRIMARY KEY (userid_hash, userid)", "PRIMARY KEY (id_hash, id)"])
        with contextlib.closing(harness.connect_admin(self.postgres, spread)) as connection:
            self.assertGreater(harness.verify_hashes(self, connection, ITEMS), 0)
        self.keyspread.check_alive()


for one in PROGRAMS:
    setattr(Migrations, f"test_{one.name}", lambda self, program=one: self.check(program))


if __name__ == "__main__":
    unittest.main()
