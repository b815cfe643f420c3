"""What tools ask PostgreSQL's catalog is taken for no longer a statement through keyspread: PostgreSQL has what it costs above
jit_above_cost compiled, for seconds. With one spread table and with a hundred, by EXPLAIN of the same, past keyspread, in the same database."""
import json
import os
import re
import subprocess
import unittest

import harness
import wire
from catalog_queries import QUERIES
from harness import Table
from test_catalog_clients import MODULES, PROGRAMS

JIT_ABOVE_COST = 100000  # the default
COLUMNS = ["userid bigint not null", "ts timestamptz not null", "event text default 'e'", "amount numeric(8,2)"]
MORE = """create index {0}_event on {0} (event, lower(event)) where amount > 0; comment on table {0} is 'events';
    alter table {0} add check (amount >= 0); alter table {0} add foreign key (amount) references other;"""
COMMANDS = (("psql", "-XqAc", r"\d ev"), ("psql", "-XqAc", r"\d+ ev"), ("psql", "-XqAc", r"\d"), ("psql", "-XqAc", r"\dt+"),
            ("psql", "-XqAc", r"\di+"), ("psql", "-XqAc", r"\d ev_pkey"), ("psql", "-XqAc", r"\dp"), ("pg_dump", "-s"))
INTEGERS = "select count(pg_get_indexdef(i.indexrelid, k + 1, true)) from pg_index i, generate_subscripts(i.indkey, 1) k"
PARAMETER = re.compile(r"\$(\d+) = ('(?:[^']|'')*'|NULL)")


def tables(count):
    return [Table(f"ev{number or ''}", COLUMNS, ["userid", "ts"], hash_first=False) for number in range(count)]


def with_values(statement):
    """The text, with what was bound in the place of parameters."""
    values = dict(PARAMETER.findall(statement.parameters))
    return re.sub(r"\$(\d+)", lambda found: values.get(found[1], found[0]), statement.text)


@harness.proxied
class CatalogCosts(unittest.TestCase):
    partitioned = False
    counts = (1, 100)

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        cls.ports = {}
        cls.make("plain", tables(1), False)
        for count in cls.counts:
            cls.make(f"spread{count}", tables(count), True)
            keyspread = harness.Keyspread(harness.backend_config(cls.postgres, tables(count)))
            cls.addClassCleanup(keyspread.stop)
            cls.ports[count] = (cls.postgres.port, keyspread.port)

    @classmethod
    def make(cls, database, made, hashed):
        cls.postgres.create_database(database)
        with cls.postgres.admin(database) as admin:
            admin.rows("create table other (id numeric(8,2) primary key); create view seen as select id from other")
            for table in made:
                admin.rows(table.ddl(hashed, cls.partitioned) + MORE.format(table.name))
            admin.rows("vacuum analyze")

    @classmethod
    def asked(cls):
        """What programs ask, each text once."""
        env = {**os.environ, "PGHOST": "127.0.0.1", "PGPORT": str(cls.postgres.port), "PGUSER": harness.USER,
               "PGDATABASE": "plain", "NODE_PATH": MODULES}
        mark = cls.postgres.mark()
        for command in (*COMMANDS, *(program.command for program in PROGRAMS if not program.missing())):
            subprocess.run(command, env=env, capture_output=True, check=True, timeout=6 * harness.PATIENCE)
        found = dict.fromkeys(with_values(statement) for statement in cls.postgres.statements(mark, "plain"))
        return [text for text in found if re.match(r"\s*(select|with)\b", text, re.I) and re.search("pg_|information_schema", text, re.I)]

    @staticmethod
    def types():
        """What asyncpg asks for a type that it does not know."""
        try:
            from asyncpg.introspection import INTRO_LOOKUP_TYPES
        except ImportError:
            harness.missing("asyncpg")
        return INTRO_LOOKUP_TYPES.replace("$1", "'{1009,3904}'")

    @staticmethod
    def cost(session, text):
        """None: it is not to be explained."""
        replies = session.query("explain (format json) " + text)
        if wire.error_of(replies):
            return None
        return json.loads(b"".join(reply.body[6:] for reply in replies if reply.kind == "D"))[0]["Plan"]["Total Cost"]

    def check(self, count, texts):
        sessions = []
        for port in self.ports[count]:
            session = wire.Wire(("127.0.0.1", port))
            self.addCleanup(session.close)
            session.login(harness.USER, f"spread{count}")
            sessions.append(session)
        explained = 0
        for text in texts:
            direct, through = (self.cost(session, text) for session in sessions)
            with self.subTest(text=text):
                self.assertEqual(direct is None, through is None)
                explained += direct is not None
                if direct is not None:
                    self.assertLessEqual(through, max(JIT_ABOVE_COST, 1.5 * direct), f"direct {direct}")
        self.assertGreater(explained, 0.9 * len(texts))

    def test_tools(self):
        with open(os.path.join(harness.HERE, "catalog_tools.sql"), encoding="utf-8") as file:
            texts = [line.rstrip(";\n") for line in file if not line.startswith("--")]
        texts += [text for text in QUERIES if re.match("select |table |with ", text)]
        for count in self.counts:
            self.check(count, [self.types(), INTEGERS, *texts])

    def test_programs(self):
        texts = self.asked()
        self.assertGreater(len(texts), 100)
        for count in self.counts:
            self.check(count, texts)


class PartitionedCosts(CatalogCosts):
    partitioned = True
    counts = (1, 10)  # of 16 partitions each
    test_programs = None


if __name__ == "__main__":
    unittest.main()
