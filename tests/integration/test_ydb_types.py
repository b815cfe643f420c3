"""What drivers ask of pg_type about types that they do not know, before the fake of YDB's endpoint, which
could not answer: in the drivers' own words, and of every type that PostgreSQL has, the answers are
PostgreSQL's.
"""
import inspect
import re
import unittest

import harness
import wire
from ydb_case import DATABASE, YdbCase

THINGS = harness.Table("things", ["id bigint not null", "word text"], ["id"])

SCHEMAS = """(n.nspname = $2 OR $3 AND n.nspname = ANY (current_schemas(true)))"""
# As pgjdbc 42.5 has them, whose classes do not show them in one piece.
PATH = """
  FROM pg_catalog.pg_type
  LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r
          from pg_namespace as ns
          join ( select s.r, (current_schemas(false))[s.r] as nspname
                   from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r
         using ( nspname )
       ) as sp
    ON sp.nspoid = typnamespace
 WHERE """
IS_ARRAY = "SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid "
BY_OID = {
    "asyncpg: an oid": "SELECT\n    t.oid,\n    t.typelem     AS elemtype,\n    t.typtype     AS kind\n"
                       "FROM\n    pg_catalog.pg_type AS t\nWHERE\n    t.oid = $1\n",
    "pgjdbc: a kind": IS_ARRAY + PATH + "pg_type.oid = $1  ORDER BY sp.r, pg_type.oid DESC",
    "pgjdbc: a name": "SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname "
                      "FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = "
                      "n.oid WHERE t.oid = $1",
    "pgjdbc: a delimiter": "SELECT e.typdelim FROM pg_catalog.pg_type t, pg_catalog.pg_type e WHERE "
                           "t.oid = $1 and t.typelem = e.oid",
    "pgjdbc: an element": "SELECT e.oid, n.nspname = ANY(current_schemas(true)), n.nspname, e.typname"
                          " FROM pg_catalog.pg_type t JOIN pg_catalog.pg_type e ON t.typelem = e.oid "
                          "JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = $1",
}
BY_NAME = {
    "asyncpg: a name": "SELECT t.oid, t.typelem AS elemtype, t.typtype AS kind FROM "
                       "pg_catalog.pg_type AS t INNER JOIN pg_catalog.pg_namespace ns ON (ns.oid = "
                       "t.typnamespace) WHERE t.typname = $1 AND ns.nspname = $2",
    "pgjdbc: a kind": IS_ARRAY + PATH + "typname = $1 ORDER BY sp.r, pg_type.oid DESC",
    "pgjdbc: an oid": "SELECT pg_type.oid, typname " + PATH + "typname = $1 ORDER BY sp.r, "
                      "pg_type.oid DESC LIMIT 1",
    "pgjdbc: an oid by schema": "SELECT t.oid, t.typname   FROM pg_catalog.pg_type t  JOIN "
                                "pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.typname "
                                f"= $1 AND {SCHEMAS} ORDER BY t.oid DESC LIMIT 1",
    "pgjdbc: an array by schema": "SELECT t.typarray, arr.typname   FROM pg_catalog.pg_type t  JOIN "
                                  "pg_catalog.pg_namespace n ON t.typnamespace = n.oid  JOIN "
                                  "pg_catalog.pg_type arr ON arr.oid = t.typarray WHERE t.typname = "
                                  f"$1 AND {SCHEMAS} ORDER BY t.oid DESC LIMIT 1",
}
# Without the types of tables' rows, which are not YDB's.
TYPES = """select t.oid, t.typname, t.oid::regtype from pg_type t left join pg_type e on e.oid = t.typelem
           where t.typnamespace = 'pg_catalog'::regnamespace and t.typrelid = 0
             and coalesce(e.typrelid, 0) = 0 order by t.oid"""


def trees():
    """asyncpg's question in all of its versions; one is for servers without multiranges."""
    introspection = __import__("asyncpg.introspection").introspection
    return [text for name, text in inspect.getmembers(introspection) if
            name.startswith("INTRO_LOOKUP_TYPES")]


def fetches():
    """psycopg 3's, and how later ones write it."""
    info = __import__("psycopg.types").types.TypeInfo
    text = inspect.getsource(info._get_info_query)
    asked = re.search(r'"""\\\n(SELECT.*?)"""', text, re.S)[1]
    return asked.replace("%(name)s", "$1"), re.sub(r"%\(name\)s::regtype", "to_regtype($1)", asked)


class Types(YdbCase):
    tables = (THINGS,)

    def setUp(self):
        super().setUp()
        self.links = [wire.Wire(("127.0.0.1", port)) for port in self.sides.values()]
        for link in self.links:
            self.addCleanup(link.close)
            link.login(harness.USER, DATABASE)
        with self.postgres.admin(DATABASE) as admin:
            self.types = admin.rows(TYPES)

    def told(self, link, sql, values, binary=False):
        """What is said of a statement with these parameters; wrong ones are met at Bind, or later."""
        results = [1] if binary else []
        link.send(wire.parse("", sql), wire.describe("S", ""), wire.bind("", "", values, results=results),
                  wire.execute(""), wire.sync())
        return [self.line(message) for message in link.read_ready() if message.kind != "2"]

    @staticmethod
    def line(message):
        if message.kind == "T":
            return "T", [(one[0], *one[3:]) for one in message.columns()]
        if message.kind == "E":
            fields = message.fields()
            return "E", fields["S"], fields["C"], fields["M"]
        return message.kind, message.row() if message.kind == "D" else message.body

    def compare(self, sql, *values):
        for binary in (False, True):
            expected, got = (self.told(link, sql, values, binary) for link in self.links)
            self.assertEqual(expected, got, (sql, values))

    def test_of_an_oid(self):
        for name, sql in BY_OID.items():
            with self.subTest(name):
                for oid, *_ in self.types + [["0"], ["4711"]]:
                    self.compare(sql, oid)
                self.compare(sql, None)

    def test_of_a_name(self):
        for name, sql in BY_NAME.items():
            more = ("$3" in sql) + ("$2" in sql)
            with self.subTest(name):
                for _, typname, _ in self.types + [[0, "", 0], [0, "_", 0], [0, "nothing", 0]]:
                    self.compare(sql, typname, *["pg_catalog", "f"][:more])
                self.compare(sql, "int8", *["", "t"][:more])
                self.compare(sql, "int8", *["public", "f"][:more])
                self.compare(sql, "int8", *[None, None][:more])

    def test_in_one_text(self):
        """As they are asked in the simple protocol."""
        for value in ("20", "'1016'", "('1016'::int4)", "(('1016')::oid)", "null", "NULL::oid"):
            for sql in BY_OID.values():
                expected, got = ([self.line(one) for one in link.query(sql.replace("$1", value))]
                                 for link in self.links)
                self.assertEqual(expected, got, (sql, value))

    def test_with_what_it_is_made_of(self):
        """Those of one depth come in any order."""
        for sql in trees():
            known = [oid for oid, name, _ in self.types
                     if "multirange_t" in sql or "multirange" not in name]
            for oids in ("{" + ",".join(known) + "}", "{16,16,1020,4711,0}", None):
                expected, got = (self.told(link, sql, [oids]) for link in self.links)
                self.assertEqual(sorted(expected, key=str), sorted(got, key=str), oids)
                depths = [row[10] for kind, row in got if kind == "D"]
                self.assertEqual(depths, sorted(depths, reverse=True))

    def test_as_it_is_written(self):
        for sql in fetches():
            for _, typname, shown in self.types:
                self.compare(sql, shown)
                if typname.isalnum() and typname not in ("char", "any", "bit", "interval"):
                    self.compare(sql, typname + "[]" if not typname.startswith(("any", "_"))
                                 and "to_regtype" in sql else typname)
            for written in ("hstore", "varchar", "pg_catalog.int8", " int8 ", None):
                self.compare(sql, written)
        self.compare(fetches()[0], "20")

    def test_other_questions_are_ydb_s(self):
        """Which knows what pg_type is, too."""
        for sql in ("select count(*) > 0 from pg_type", "select oid from pg_type where oid = 20",
                    BY_OID["pgjdbc: a name"].replace("$1", "20 or false")):
            expected, got = ([self.line(one) for one in link.query(sql)] for link in self.links)
            self.assertEqual(expected, got, sql)


if __name__ == "__main__":
    unittest.main()
