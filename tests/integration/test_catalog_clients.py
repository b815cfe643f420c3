"""What drivers and ORMs find out about tables is the same through keyspread as of plain tables: what they print of
them, of an ordinary and of a partitioned table."""
import os
import re
import subprocess
import sys
import unittest

import harness
from direct_case import DirectCase
from test_catalog_hidden import EV, SETUP, UNIQUE

sys.path.insert(0, os.path.join(os.path.dirname(harness.HERE), "programs"))

from programs import HERE, JDBC, MODULES, PYTHON, Program  # noqa: E402

FOLDER = os.path.join(HERE, "introspection", "")
PROGRAMS = (
    Program("sqlalchemy", "/usr/bin/python3", FOLDER + "sqlalchemy_inspect.py", python3_sqlalchemy=PYTHON + "sqlalchemy"),
    Program("django", "/usr/bin/python3", FOLDER + "django_inspect.py", python3_django=PYTHON + "django"),
    Program("active_record", "/usr/bin/ruby", FOLDER + "active_record_inspect.rb",
            ruby_activerecord="/usr/share/rubygems-integration/*/specifications/activerecord-*"),
    Program("sequel", "/usr/bin/ruby", FOLDER + "sequel_inspect.rb", ruby_sequel="/usr/lib/ruby/vendor_ruby/sequel"),
    Program("node", "node", FOLDER + "node_inspect.js", typeorm=MODULES + "typeorm", sequelize=MODULES + "sequelize",
            knex=MODULES + "knex"),
    Program("pgjdbc", "java", "-XX:TieredStopAtLevel=1", "-cp", JDBC, FOLDER + "JdbcInspect.java", libpostgresql_jdbc_java=JDBC,
            openjdk_17_jdk_headless="/usr/lib/jvm/*/bin/javac"),
)
# Oids, databases, sizes; comments of columns of a partitioned table, which Sequelize reads with the table's statistics.
DIFFERS = re.compile(r"\"comment\":(\"what\"|null),\"special\"|[1-9][0-9]{4}(?![0-9])|hashed|direct|PAGES=[0-9]+")


class CatalogClients(DirectCase):
    tables = (EV,)
    setup_sql = SETUP + UNIQUE

    def check(self, program):
        if program.missing():
            harness.missing(program.missing())
        outputs = []
        for database, port in self.routes():
            env = {**os.environ, "PGHOST": "127.0.0.1", "PGPORT": str(port), "PGUSER": harness.USER,
                   "PGDATABASE": database, "NODE_PATH": MODULES}
            done = subprocess.run(program.command, env=env, capture_output=True, text=True, timeout=6 * harness.PATIENCE)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
            outputs.append(DIFFERS.sub("", done.stdout).splitlines())
        self.assertEqual(*outputs)
        self.assertGreater(len(outputs[0]), 5)


class PartitionedCatalogClients(CatalogClients):
    setup_sql = SETUP
    partitioned = True


for one in PROGRAMS:
    setattr(CatalogClients, f"test_{one.name}", lambda self, program=one: self.check(program))


if __name__ == "__main__":
    unittest.main()
