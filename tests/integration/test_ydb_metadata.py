#!/usr/bin/env python3
"""What pgjdbc's DatabaseMetaData tells of configured tables before the fake of YDB's endpoint: what it
tells of PostgreSQL's.
"""
import os
import shutil
import subprocess
import unittest

import harness
import ydb_case
from ydb_case import YdbCase
from ydb_clients import JAR

TABLES = (
    harness.Table("items", ["id bigint not null", "word varchar(20)", "n numeric(6,2)", "flag boolean",
                            "at timestamptz not null"], ["id"],
                  ydb={"indexes": [{"name": "by_word", "columns": ["word", "at"]},
                                   {"name": "at_first", "columns": ["at"]}]}),
    harness.Table("parts", ["tenant text not null", "no smallint not null", "word text", "day date",
                            "code char(3)"], ["no", "tenant"], hash_first=False))
DEFAULTS = {"items": {"flag": "true", "n": "null"}}
PREPARE = "alter table items alter flag set default true"
INDEXES = "create index by_word on items (word, at); create index at_first on items (at)"


class Metadata(YdbCase):
    tables = TABLES
    plain_sql = "create table others (id bigint primary key, word text)"

    @classmethod
    def setUpClass(cls):
        columns_of = ydb_case.columns_of

        def with_defaults(table):
            defaults = DEFAULTS.get(table.name, {})
            columns = columns_of(table)
            if not table.hash_first:
                columns.append(columns.pop(0))
            return [{**column, **({"default": defaults[column["name"]]} if column["name"] in defaults else {})}
                    for column in columns]

        cls.java = shutil.which("java") or harness.missing("java")
        if not os.path.exists(JAR):
            harness.missing("pgjdbc (libpostgresql-jdbc-java)")
        ydb_case.columns_of = with_defaults
        cls.addClassCleanup(setattr, ydb_case, "columns_of", columns_of)
        super().setUpClass()
        for admin in cls.admins.values():
            admin.rows(PREPARE)
        cls.admins[False].rows(INDEXES)

    def empty(self):
        """By TRUNCATE: what is deleted leaves its mark in the statistics that drivers are told."""
        for admin in self.admins.values():
            for (name,) in admin.rows("select tablename from pg_tables where schemaname = 'public'"):
                admin.rows(f"truncate {name} restart identity")

    def told(self, port, *tables, options=""):
        command = [self.java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", JAR,
                   os.path.join(harness.HERE, "java", "Metadata.java"), str(port), options, *tables]
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                                check=False, timeout=harness.PATIENCE * 3)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_tables(self):
        for options in ("", "preferQueryMode=simple", "prepareThreshold=-1"):
            expected, got = (self.told(port, "items", "parts", options=options)
                             for port in self.sides.values())
            self.assertEqual(expected.splitlines(), got.splitlines(), options)
            self.assertNotIn("hash", got)
            self.assertNotIn("failed", got)

    def test_other_tables_are_ydb_s(self):
        """Which has no words for most of it."""
        told = self.told(self.keyspread.port, "others")
        self.assertIn("primary keys\n  failed 0A000", told)
        self.assertIn("imported keys\n  pktable_cat", told)


if __name__ == "__main__":
    unittest.main()
