"""What a program does with a database in its first days is through keyspread what it is on PostgreSQL: it makes its tables, changes
them by migrations forth and back, and looks at them; it makes rows, reads them by their keys, finds, counts and pages through them,
joins, locks, changes and deletes them, in transactions with savepoints. All tables that have a primary key are spread, the program's
own book of its migrations among them, and what it prints is the same. So it is where its transactions are kept until COMMIT."""
import contextlib
import os
import re
import unittest

import harness
import metrics
from both_ways import BothWays
from harness import Table
from programs import HERE, JDBC, MODULES, PYTHON, Program
from made_case import Planned

FOLDER = os.path.join(HERE, "everyday", "")
PROGRAMS = (
    Program("django", "/usr/bin/python3", FOLDER + "django_everyday.py", python3_django=PYTHON + "django",
            python3_psycopg2=PYTHON + "psycopg2"),
    Program("sqlalchemy", "/usr/bin/python3", "-Wignore", FOLDER + "sqlalchemy_everyday.py", python3_sqlalchemy=PYTHON + "sqlalchemy",
            alembic=PYTHON + "alembic", python3_psycopg2=PYTHON + "psycopg2"),
    Program("active_record", "/usr/bin/ruby", FOLDER + "active_record_everyday.rb",
            ruby_activerecord="/usr/share/rubygems-integration/*/specifications/activerecord-*"),
    Program("sequel", "/usr/bin/ruby", FOLDER + "sequel_everyday.rb", ruby_sequel="/usr/lib/ruby/vendor_ruby/sequel"),
    Program("knex", "node", FOLDER + "knex_everyday.js", knex=MODULES + "knex", pg=MODULES + "pg"),
    Program("pg", "node", FOLDER + "pg_everyday.js", pg=MODULES + "pg"),
    Program("sequelize", "node", FOLDER + "sequelize_everyday.js", sequelize=MODULES + "sequelize"),
    Program("typeorm", "node", FOLDER + "typeorm_everyday.js", typeorm=MODULES + "typeorm"),
    Program("mikro", "node", FOLDER + "mikro_everyday.js", mikro_orm=MODULES + "@mikro-orm/postgresql"),
    Program("prisma", "node", FOLDER + "prisma_everyday.mjs", schema_engine=MODULES + "@prisma/schema-engine-wasm",
            adapter=MODULES + "@prisma/adapter-pg"),
    Program("pgjdbc", "java", "-XX:TieredStopAtLevel=1", "-cp", JDBC, FOLDER + "JdbcEveryday.java", libpostgresql_jdbc_java=JDBC,
            openjdk_17_jdk_headless="/usr/lib/jvm/*/bin/javac"),
    Program("pdo", "/usr/bin/php", FOLDER + "pdo_everyday.php", php_cli="/usr/bin/php", php_pgsql="/usr/lib/php/*/pdo_pgsql.so"),
    Program("ogr2ogr", "bash", FOLDER + "ogr2ogr_everyday.sh", gdal_bin="/usr/bin/ogr2ogr"),
    Program("pgbench", "bash", FOLDER + "pgbench_everyday.sh", postgresql="/usr/lib/postgresql/*/bin/pgbench"),
    Program("psycopg", "/usr/bin/python3", FOLDER + "psycopg_everyday.py", python3_psycopg2=PYTHON + "psycopg2",
            python3_psycopg=PYTHON + "psycopg"),
    Program("zabbix", "/usr/bin/python3", FOLDER + "zabbix_everyday.py", python3_psycopg2=PYTHON + "psycopg2"),
    Program("powerdns", "/usr/bin/python3", FOLDER + "powerdns_everyday.py", python3_psycopg=PYTHON + "psycopg"),
    Program("osm2pgsql", "bash", FOLDER + "osm2pgsql_everyday.sh", osm2pgsql="/usr/bin/osm2pgsql"),
    Program("daemons", "/usr/bin/python3", FOLDER + "daemons_everyday.py", rsyslog="/usr/local/sbin/rsyslogd",
            rsyslog_pgsql="/usr/local/lib/rsyslog/ompgsql.so", syslog_ng_mod_sql="/usr/lib/syslog-ng/*/libafsql.so",
            libdbd_pgsql="/usr/lib/*/dbd/libdbdpgsql.so", python3_psycopg2=PYTHON + "psycopg2"),
)
NAMES = [f"{letter}*" for letter in "acdehiklmprst_"] + ['"S"*']
LAZY = ("django", "sqlalchemy", "active_record", "sequel", "knex", "pg", "typeorm", "pgjdbc", "pdo", "pgbench", "psycopg",
        "zabbix", "powerdns")
NUMBER = re.compile(r"\d\d+")
ORDINARY = {"knex": {"copies"}}  # LIKE a table of another pattern
KEYS = ("select format('%I', c.relname), format('%I', a.attname) from pg_class c join pg_index i on i.indrelid = c.oid and i.indisprimary"
        " join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[{}] where c.relkind in ('r', 'p')"
        " and c.relnamespace = 'public'::regnamespace order by 1")


class Case(BothWays):
    def check(self, program):
        database = self.play(program)
        with self.postgres.admin(database) as admin:
            plain = {table for table, column in admin.rows(KEYS.format("i.indnkeyatts - 1")) if column != "keyspread_hash"}
            spread = [found for found in admin.rows(KEYS.format(0)) if found[0] not in plain]
            spread += admin.rows("select 'logs', 'userid' where to_regclass('logs') is not null")
        self.assertEqual(plain, ORDINARY.get(program.name, set()))
        self.assertGreater(len(spread), 0)
        with contextlib.closing(harness.connect_admin(self.postgres, database)) as connection:
            self.assertGreater(sum(harness.verify_hashes(self, connection, Table(table, [], [key], hash_column="keyspread_hash"))
                                   for table, key in spread), 0)


def tables(**options):
    return [*(Planned(name, "auto", hash_column="keyspread_hash", **options) for name in NAMES),
            Planned("logs", ["userid", "ts"], hash_column="keyspread_hash", **options)]  # syslog-ng makes it without a key


class Everyday(Case):
    tables = tables()


class Lazy(Case):
    """Transactions of their own, nested ones and savepoints among them. What may differ: numbers, of which some are drawn ahead; an
    error that comes with COMMIT says of which statement it is, and what the program printed in front of its COMMIT is there."""
    tables = tables(transactions="lazy", sequences={"block": 32})
    options = {"admin": {}}

    def check(self, program):
        before = metrics.Scrape(self.keyspread)
        super().check(program)
        counted = metrics.Scrape(self.keyspread).since(before).by("transactions_total", "kind")
        if program.name in ("django", "active_record", "psycopg", "zabbix"):  # The others leave all keys to the database: slow programs draw each by itself.
            self.assertGreater(counted.get("lazy", 0), 0, counted)

    def compare(self, direct, through):
        direct = [NUMBER.sub("#", line) for line in direct]
        through = [NUMBER.sub("#", line) for line in through if not re.match(r"CONTEXT:  kept statement \d+ of the transaction$", line)]
        for at, line in enumerate(direct):  # The first word is what the program calls what it does.
            word = line.split(" ")[0]
            if through[at:at + 2] and through[at] != line and through[at].startswith(word + " ") and through[at + 1:at + 2] == [line]:
                self.assertRegex(line, r"Error|Violation|NotUnique", "told in front of COMMIT")
                del through[at]
        self.assertEqual(direct, through)


for one in PROGRAMS:
    setattr(Everyday, f"test_{one.name}", lambda self, program=one: self.check(program))
for one in PROGRAMS:
    if one.name in LAZY:
        setattr(Lazy, f"test_{one.name}", lambda self, program=one: self.check(program))


if __name__ == "__main__":
    unittest.main()
