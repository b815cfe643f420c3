"""The same value has the same hash however it is written: spellings from tests/vectors/literals.txt
(and more of our own) go through keyspread into PostgreSQL, and what is stored is hashed again."""
import collections
import contextlib
import os
import unittest

import harness
import wire

FILE = os.path.join(harness.VECTORS, "literals.txt")
NUMERIC_6_2, VARCHAR_3, BPCHAR_5 = 393222, 7, 9
TYPES = {
    ("int2", -1): "smallint", ("int4", -1): "integer", ("int8", -1): "bigint",
    ("text", -1): "text", ("varchar", VARCHAR_3): "varchar(3)", ("bpchar", BPCHAR_5): "char(5)",
    ("bytea", -1): "bytea", ("uuid", -1): "uuid", ("bool", -1): "boolean", ("date", -1): "date",
    ("timestamp", -1): "timestamp", ("timestamptz", -1): "timestamptz",
    ("numeric", -1): "numeric", ("numeric", NUMERIC_6_2): "numeric(6,2)",
    ("float8", -1): "double precision",
}
MORE = {
    "smallint": ["1", "-1", "'1'", "1.5", "-32768", "32768", "'32768'", "1::int8", "'x'", "''"],
    "integer": ["1", "'  1'", "1.49", "2147483647", "2147483648", "1e9", "1e10", "'1e3'",
                "5::numeric(6,2)", "'5'::numeric", "true", "$$7$$", "E'\\x37'", "U&'\\0037'"],
    "bigint": ["9223372036854775807", "9223372036854775808", "-9223372036854775808", "0x10",
               "1_000", "'-0'", "- 5", "+5", "(5)", "((-5))", "cast(5 as int2)", "int8 '5'",
               "'5'::int4::int8", "5.5", "-5.5", "6.5", "1e18", "1e19", "NULL", "null::int8",
               "'NaN'", "B'101'", "X'1F'", "5::text", "5::text::int8", "'5' '6'", "'5'\n'6'"],
    "text": ["''", "'a'", "5", "005", "2.50", "true", "'a' ", "E'a\\n'", "'a''b'", "$x$a$x$",
             "N'a'", "'äöü'", "'\\'", "U&'d\\0061ta'", "B'1'", "'a'::varchar(1)", "'ab'::char(1)",
             "'ab '::char(5)", "'2026-01-01'::date", "'a'::name", "1e3", "-5", "null"],
    "varchar(3)": ["'abc'", "'abcd'", "'abc  '", "'abcd'::varchar(3)", "'äöü'", "'äöüß'", "1234",
                   "123", "true", "'ab'::text", "'abc '::text"],
    "char(5)": ["'abc'", "'abc  '", "'abcdef'", "'abcde '", "''", "'     '", "'ä'", "'abc '::text"],
    "bytea": ["'\\x00ff'", "'\\xAB'", "'abc'", "E'\\\\000'", "'\\x0'", "'\\xzz'", "X'00'",
              "'a\\\\b'"],
    "uuid": ["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "'{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}'",
             "'a0eebc999c0b4ef8bb6d6bb9bd380a11'", "'a0eebc99'", "''", "1"],
    "boolean": ["true", "'t'", "'yes'", "'on'", "'1'", "1::bool", "1", "'maybe'", "' off '", "'of'",
                "'o'", "false", "FALSE", "'n'"],
    "date": ["'2026-01-02'", "'20260102'", "'2026-1-2'", "'2026-02-30'", "'infinity'", "'today'",
             "'now'", "'2026-01-02 23:59:59'", "'02.01.2026'", "'Jan 2, 2026'", "'4713-01-01 BC'",
             "date '2026-01-02'", "'2026-01-02'::timestamp", "'2026-01-02'::timestamptz", "5",
             "'5874897-12-31'", "'5874898-01-01'", "'0000-01-01'", "'epoch'"],
    "timestamp": ["'2026-01-02 03:04:05'", "'2026-01-02T03:04:05.1234567'", "'2026-01-02'",
                  "'2026-01-02 03:04:05+03'", "'2026-01-02 24:00:00'", "'2026-01-02 24:00:01'",
                  "'2026-01-02 03:04:60'", "'infinity'", "'-infinity'", "now()", "'now'",
                  "timestamp '2026-01-02 03:04:05'", "'2026-01-02 03:04:05.9999999'",
                  "'294276-12-31 23:59:59.999999'", "'294277-01-01'", "'epoch'",
                  "'2026-01-02'::date", "'2026-01-02 03:04'::timestamptz"],
    "timestamptz": ["'2026-01-02 03:04:05+00'", "'2026-01-02 04:04:05+01'",
                    "'2026-01-02 03:04:05Z'", "'2026-01-02T03:04:05.5-05:30'",
                    "'2026-01-02 03:04:05'", "'2026-01-02'", "'2026-01-02 03:04:05 Europe/Berlin'",
                    "'2026-01-02 03:04:05 PST'", "'tomorrow'", "'infinity'",
                    "'2026-01-02'::timestamp", "'2026-01-02 03:04:05+15:59:59'",
                    "'2026-01-02 03:04:05+16'", "timestamptz '2026-01-02 03:04:05+00'"],
    "numeric": ["1", "1.0", "1.00", "'1.50'", "1e3", "1e-3", "-0.0", "'NaN'", "'Infinity'",
                "'-inf'", "00123.4500", "0.1", ".5", "5.", "1.5::float8", "1e400", "'1e5'", "'x'"],
    "numeric(6,2)": ["1.005", "-1.005", "9999.994", "9999.995", "1e3", "'1.234'", "5", "'NaN'",
                     "'Infinity'", "1.005::numeric(10,3)"],
    "double precision": ["1", "1.5", "'1.5'", "0.1", "-0.0", "'-0'", "'NaN'", "'Infinity'",
                         "'-Infinity'", "1e308", "1e309", "'1e309'", "1e-400", "'1e-320'", "'inf'",
                         "1.5::numeric", "1::int2", "0.30000000000000004", "'0x1p3'", "'x'"],
}
# What PostgreSQL stores for these depends on the moment.
MOVING = {"now()", "'now'", "'today'", "'tomorrow'"}


def spellings():
    """Types and the expressions that are written into columns of them."""
    found = collections.OrderedDict((name, []) for name in TYPES.values())
    with open(FILE, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or line.count("|") < 7:
                continue
            parts = line.rstrip("\n").split("|")
            expression, key = "|".join(parts[7:]), (parts[0], int(parts[1]))
            if parts[6] != "?":
                found[TYPES[key]].append(expression)
    for name, expressions in MORE.items():
        found[name] += [one for one in expressions if one not in found[name]]
    return found


# The stored key as Python values that harness.canonical() takes; infinite times have no such value.
READ = {
    "char(5)": "rtrim({}::text)", "date": "({} - date '1970-01-01')",
    # (extract(epoch from a time) rounds the latest ones.)
    "timestamp": "case when isfinite({0}) then 946684800 + extract(epoch from {0} - "
                 "timestamp '2000-01-01') else {0}::text::numeric end",
    "timestamptz": "case when isfinite({0}) then 946684800 + extract(epoch from {0} - "
                   "timestamptz '2000-01-01 00:00:00+00') else {0}::text::numeric end",
    "numeric": "{}::text", "numeric(6,2)": "{}::text", "bytea": "encode({}, 'hex')",
    "uuid": "replace({}::text, '-', '')", "double precision": "{}",
}


def canonical(name, value):
    import decimal
    import struct
    if name in ("timestamp", "timestamptz"):
        if not value.is_finite():
            return struct.pack("<q", 2**63 - 1 if value > 0 else -2**63)
        # PostgreSQL counts from 2000 and reaches 30 years further than 64 bits from 1970 do.
        return struct.pack("<Q", int(value * 1_000_000) % 2**64)
    if name == "date":
        return struct.pack("<i", value)
    if name in ("bytea", "uuid"):
        return bytes.fromhex(value)
    if name in ("numeric", "numeric(6,2)"):
        number = decimal.Decimal(value)
        return harness.canonical(number) if number.is_finite() else value.encode()
    return harness.canonical(value)


class Spellings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        cls.tables = {}
        for number, name in enumerate(TYPES.values()):
            cls.tables[name] = harness.Table(f"t{number}", [f"k {name} not null", "note text"],
                                             ["k"], partitions=4)
        for database, hashed in (("direct", False), ("hashed", True)):
            harness.create_tables(cls.postgres, database, cls.tables.values(), hashed,
                                  partitioned=False)
        cls.port = cls.postgres.port
        if not harness.DIRECT:
            cls.keyspread = harness.Keyspread(
                harness.backend_config(cls.postgres, cls.tables.values()))
            cls.addClassCleanup(cls.keyspread.stop)
            cls.port = cls.keyspread.port

    def session(self, port, database):
        session = wire.Wire(("127.0.0.1", port))
        self.addCleanup(session.close)
        session.login(harness.USER, database)
        return session

    def outcome(self, session, statement, extended):
        """SQLSTATE, or None when a row was stored."""
        messages = ((wire.parse("", statement), wire.bind("", ""), wire.execute(), wire.sync())
                    if extended else (wire.query(statement),))
        return wire.error_of(session.ask(*messages))

    def stored(self, name, database):
        read = READ.get(name, "{}").format("k")
        # Infinite dates have no distance; their stored form is that of the type's ends.
        if name == "date":
            read = ("case k when 'infinity' then 2147483647 when '-infinity' then -2147483648 "
                    f"else {read} end")
        column = self.tables[name].hash_column if database == "hashed" else "0"
        with contextlib.closing(harness.connect_admin(self.postgres, database)) as connection:
            with connection.cursor() as cursor:
                cursor.execute(f"select {column}, k::text, {read} from {self.tables[name].name}")
                rows = cursor.fetchall()
                cursor.execute(f"truncate {self.tables[name].name}")
            connection.commit()
        return rows

    def check(self, name, extended):
        table = self.tables[name].name
        through = self.session(self.port, "direct" if harness.DIRECT else "hashed")
        direct = self.session(self.postgres.port, "direct")
        for expression in spellings()[name]:
            with self.subTest(type=name, expression=expression, extended=extended):
                statement = f"insert into {table} (k, note) values ({expression}, 'x')"
                direct.query(f"truncate {table}")
                expected = self.outcome(direct, statement, extended)
                if harness.DIRECT:
                    direct.query(f"truncate {table}")
                got = self.outcome(through, statement, extended)
                if got == "0A000" and expected != "0A000":
                    self.uncomputable.append(expression)
                    continue
                self.assertEqual(got, expected, "SQLSTATE")
                if harness.DIRECT or expected:
                    continue
                rows, originals = self.stored(name, "hashed"), self.stored(name, "direct")
                self.assertEqual(len(rows), 1)
                if expression not in MOVING:
                    self.assertEqual(rows[0][1], originals[0][1], "the stored value")
                right = harness.xxh3(canonical(name, rows[0][2]))
                self.assertEqual(rows[0][0] % 2**64, right, f"the hash of {rows[0][1]!r}")

    def check_all(self, name):
        """Uncomputable is an honest answer, but not to what the rules call exact."""
        self.uncomputable = []
        for extended in (False, True):
            self.check(name, extended)
        count = len(spellings()[name]) * 2
        self.assertLess(len(self.uncomputable), count / 2, self.uncomputable)
        if os.environ.get("KEYSPREAD_VERBOSE"):
            print(f"{name}: uncomputable {sorted(set(self.uncomputable))}")


def _add_tests():
    for name in TYPES.values():
        slug = "".join(letter if letter.isalnum() else "_" for letter in name).rstrip("_")

        def test(self, name=name):
            self.check_all(name)
        setattr(Spellings, f"test_{slug}", test)


_add_tests()

if __name__ == "__main__":
    unittest.main()
