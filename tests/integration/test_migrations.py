"""What ORMs' migrations make through keyspread is what they make of plain tables, and the hash column stays: what they print
as they change their tables, create them, add, alter, rename and remove columns, keys and indexes."""
import contextlib
import os
import unittest

import harness
from both_ways import BothWays
from harness import Table
from programs import HERE, MODULES, PYTHON, Program

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


class Migrations(BothWays):
    tables = (ITEMS, DOCUMENTS)

    def check(self, program):
        spread = self.play(program)
        with self.postgres.admin(spread) as admin:
            self.assertEqual([key for table, key in admin.rows(KEYS)], ["PRIMARY KEY (userid, userid_hash)", "PRIMARY KEY (id, id_hash)"])
        with contextlib.closing(harness.connect_admin(self.postgres, spread)) as connection:
            self.assertGreater(harness.verify_hashes(self, connection, ITEMS), 0)


for one in PROGRAMS:
    setattr(Migrations, f"test_{one.name}", lambda self, program=one: self.check(program))


if __name__ == "__main__":
    unittest.main()
