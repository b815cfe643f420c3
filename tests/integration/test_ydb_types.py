"""What drivers ask of pg_type about types that they do not know, before the fake of YDB's endpoint, which
could not answer: in the drivers' own words, and of every type that PostgreSQL has, the answers are
PostgreSQL's.
"""
import inspect
import itertools
import re
import unittest

import harness
import wire
from ydb_case import DATABASE, LinksCase

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

WRITTEN = ("hstore", "varchar", "pg_catalog.int8", " int8 ", None, "INT", "Integer", "int[3]", "int array",
           "varchar(10)", "character varying(3)[]", "pg_catalog.varchar(3)", "char", "char(3)", "NUMERIC(10, 2)[]",
           "dec", "bit", "bit(3)", "bit varying(5)", "double  precision", "timestamp(3) with time zone", "time",
           "interval", "interval day", "national character(2)", '"int4"', "public.int4", "_int4[]")

# pgjdbc's, for getTypeInfo().
EVERY = {
    "names": "SELECT t.typname,t.oid FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON "
             "(t.typnamespace = n.oid)  WHERE n.nspname  != 'pg_toast' AND  (t.typrelid = 0 OR (SELECT "
             "c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid))",
    "kinds": IS_ARRAY + PATH.replace("WHERE", "ORDER BY sp.r, pg_type.oid DESC"),
}


# Npgsql's, as it connects, by its outer form, which is what keyspread knows it by; `multiranges` as since
# version 6, `brackets` as since version 9.
def npgsql(multiranges, brackets):
    ranges = "when 'm' then (select rngtypid from pg_range where rngmultitypid = p.oid)" if multiranges else ""
    return f"""
SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid
FROM (
    -- Arrays are what has their input
    select p.oid, p.typnamespace, p.typname, p.typnotnull, p.kind as typtype, p.elemtypoid, e.typname as elemtypname,
           e.typtype as elemtyptype
    from (select *, case p.kind when 'a' then p.typelem {ranges}
                    when 'r' then (select rngsubtype from pg_range where rngtypid = p.oid) end as elemtypoid
          from (select *, case when typinput = 'array_in'::regproc then 'a' else typtype end as kind
                from pg_type) as p) as p
    left join pg_type as e on e.oid = p.elemtypoid
) AS t
JOIN pg_namespace AS ns ON (ns.oid = typnamespace)
WHERE {"(" if brackets else ""}
    typtype IN ('b', 'r', 'm', 'e', 'd') OR -- Base, range, multirange, enum, domain
    (typtype = 'c' AND false) OR
    (typtype = 'p' AND typname IN ('record', 'void', 'unknown')) OR
    (typtype = 'a' AND (elemtyptype IN ('b', 'r', 'm', 'e', 'd') OR
        (elemtyptype = 'p' AND elemtypname IN ('record', 'void'))))
{")" if brackets else ""}
ORDER BY CASE
       WHEN typtype IN ('b', 'e', 'p') THEN 0
       WHEN typtype = 'r' THEN 2
       WHEN typtype = 'm' THEN 3
       WHEN typtype = 'a' THEN 5
END"""


OF_ONES_OWN = (
    "SELECT typ.oid, att.attname, att.atttypid FROM pg_type AS typ JOIN pg_namespace AS ns ON (ns.oid = "
    "typ.typnamespace) JOIN pg_class AS cls ON (cls.oid = typ.typrelid) JOIN pg_attribute AS att ON (att.attrelid "
    "= typ.typrelid) WHERE (typ.typtype = 'c' AND cls.relkind='c') AND attnum > 0 AND NOT attisdropped ORDER BY "
    "typ.oid, att.attnum",
    "SELECT pg_type.oid, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid=enumtypid ORDER BY oid, enumsortorder")


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


class Types(LinksCase):
    tables = (THINGS,)
    plain_sql = "create table plain (id bigint primary key, word text)"

    def setUp(self):
        super().setUp()
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
        if message.kind == "E":
            fields = message.fields()
            return "E", fields["S"], fields["C"], fields["M"]
        return LinksCase.line(message)

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
                self.same(sql.replace("$1", value))

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
            for written in WRITTEN:
                with self.subTest(written):
                    self.compare(sql, written)
        self.compare(fetches()[0], "20")

    def test_all_that_there_are(self):
        """Those of one kind come in any order. YDB is not asked."""
        self.endpoint.http("POST", "/counters")
        for multiranges, brackets in itertools.product((False, True), repeat=2):
            sql = npgsql(multiranges, brackets)
            expected, got = ([self.line(one) for one in link.query(sql)] for link in self.links)
            expected = [line for line in expected
                        if line[0] not in "DC" or line[1][0] == b"pg_catalog"]
            got = [line for line in got if line[0] != "C"]
            self.assertEqual(sorted(expected, key=str), sorted(got, key=str))
            kinds = [self.passes(lines) for lines in (expected, got)]
            self.assertEqual(*kinds)
        for sql in OF_ONES_OWN:
            self.compare(sql)
        self.assertEqual(self.endpoint.counters()["statements"], 0)

    def test_every_one(self):
        """getTypeInfo() of pgjdbc, but for the types of tables' rows, and those of information_schema."""
        self.endpoint.http("POST", "/counters")
        known = {oid.encode() for oid, *_ in self.types}
        for name, sql in EVERY.items():
            expected, got = ([self.line(one) for one in link.query(sql)] for link in self.links)
            self.assertEqual(expected[0], got[0])
            at = 1 if name == "names" else 3
            expected, got = ([row for kind, row in lines if kind == "D"]
                             for lines in (expected, got))
            expected = [row for row in expected if row[at] in known]
            if name == "names":  # in any order
                expected, got = sorted(expected), sorted(got)
            self.assertEqual(expected, got)
        self.assertEqual(self.endpoint.counters()["statements"], 0)

    @staticmethod
    def passes(lines):
        """When which kinds come."""
        return ["0" if row[3] in (b"b", b"p") else row[3] for kind, row in lines if kind == "D"]

    def test_of_long_lists(self):
        """Of parameters that nobody declared, more than are read as a tree."""
        keys = [str(key) for key in range(20000)]
        for admin in self.admins.values():
            admin.rows("insert into plain values (7, 'x'), (19999, '20000')")
        for table, column in (("things", "id"), ("plain", "id"), ("plain", "word")):
            for count in (3000, 6000, 20000):
                listed = ", ".join(f"${i + 1}" for i in range(count))
                self.compare(f"select count(*) from {table} where {column} in ({listed})", *keys[:count])
                self.compare(f"select count(*) from {table} where {column} not in ({listed}) and id > 8",
                             *keys[:count])

    def test_other_questions_are_ydb_s(self):
        """Which knows what pg_type is, too."""
        for sql in ("select count(*) > 0 from pg_type", "select oid from pg_type where oid = 20",
                    BY_OID["pgjdbc: a name"].replace("$1", "20 or false")):
            self.same(sql)


if __name__ == "__main__":
    unittest.main()
