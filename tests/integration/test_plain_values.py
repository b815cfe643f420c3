#!/usr/bin/python3
"""Values as constants in a text, and results in binary, against what PostgreSQL itself makes of them.

A random value, in text or in binary, is selected once as a parameter and once as the constant that
ydb/plain makes of it, under random settings of how values are read: both must come back as the
same bytes. And what PostgreSQL sends as text must become what it sends as binary.
ROUNDS and SEED in the environment say how many, and which; the same ones each time if they do not.
"""
import collections
import os
import random
import struct
import unittest

import harness
import plain_probe

BOOL, BYTEA, NAME, INT8, INT2, INT4, TEXT, OID = 16, 17, 19, 20, 21, 23, 25, 26
JSON, FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR = 114, 700, 701, 705, 1042, 1043
DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL = 1082, 1083, 1114, 1184, 1186
NUMERIC, UUID, JSONB = 1700, 2950, 3802
ARRAYS = {BOOL: 1000, BYTEA: 1001, INT8: 1016, INT2: 1005, INT4: 1007, TEXT: 1009, JSON: 199,
          FLOAT4: 1021, FLOAT8: 1022, BPCHAR: 1014, VARCHAR: 1015, DATE: 1182, TIME: 1183,
          TIMESTAMP: 1115, TIMESTAMPTZ: 1185, INTERVAL: 1187, NUMERIC: 1231, UUID: 2951,
          JSONB: 3807}
SCALARS = [*ARRAYS, NAME, OID]
RESULTS = [BOOL, BYTEA, NAME, INT8, INT2, INT4, TEXT, OID, JSON, FLOAT4, FLOAT8, BPCHAR, VARCHAR,
           DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL, NUMERIC, UUID, JSONB]
# The first and the last moment that PostgreSQL knows, in microseconds since 2000.
EARLIEST, LATEST = -211813488000000000, 9223371331200000000
SETTINGS = {
    "DateStyle": ["ISO, MDY", "ISO, YMD", "German, DMY", "SQL, DMY", "Postgres, MDY"],
    "TimeZone": ["UTC", "America/New_York", "Asia/Kathmandu", "Europe/Berlin"],
    "IntervalStyle": ["postgres", "sql_standard", "iso_8601", "postgres_verbose"],
    "bytea_output": ["hex", "escape"], "extra_float_digits": ["1", "-15"]}
rng = random.Random()


def word():
    letters = ["a", "b", "'", "''", "\\", "\\'", '"', "{", "}", ",", " ", "\n", "\t", "$1", "--",
               "/*", ";", "é", "語", "😀", "E'", "::int8", "NULL", "%", "\x7f"]
    return "".join(rng.choice(letters) for _ in range(rng.randint(0, 12)))


def numeric():
    groups = [rng.choice([0, 1, 9, 9999, 1000, rng.randint(0, 9999)])
              for _ in range(rng.choice([0, 0, 1, 2, 3, rng.randint(0, 12), rng.randint(0, 700)]))]
    scale = rng.choice([0, 2, 5, 20, rng.randint(0, 40), rng.randint(0, 16383)])
    weight = rng.choice([0, 1, 3, -1, -2, rng.randint(-9, 9), rng.randint(-99, 32767)])
    sign = rng.choice([0, 0, 0, 0x4000, 0x4000, 0x4000, 0xC000, 0xD000, 0xF000])
    if sign & 0x8000:
        groups, weight, scale = [], 0, 0
    return struct.pack(">HhHH", len(groups), weight, sign, scale) + b"".join(
        struct.pack(">H", group) for group in groups)


def integer(bits):
    edge = 1 << bits - 1
    return rng.choice([0, 1, -1, edge - 1, -edge, rng.randint(-edge, edge - 1),
                       rng.randint(-999, 999)])


def moment():
    return rng.choice([rng.randint(-10**17, 10**18), rng.randint(EARLIEST, LATEST - 1), EARLIEST,
                       EARLIEST - 1, LATEST - 1, LATEST, -1, 0, (1 << 63) - 1, -1 << 63,
                       rng.randint(-10**12, 10**12) * 10**6])


def real(width):
    data = rng.randbytes(width)
    value = struct.unpack(">f" if width == 4 else ">d", data)[0]
    if value != value:  # what kind of NaN it is does not come back
        return struct.pack(">f" if width == 4 else ">d", float("nan"))
    return rng.choice([data, data, struct.pack(">f" if width == 4 else ">d", rng.choice(
        [0.0, -0.0, 1.5, 0.1, 1e15, 123456789.0, float("inf"), -float("inf")]))])


def json_text():
    return rng.choice(["1", "null", "[]", '{"a": [1, 2.50, "it\'s"], "b" : {}}', '"\\\\ \\" é"',
                       " [1 ,2] ", "1e5", '{"a":1,"a":2}', "{", "'x'"])


def binary(oid):
    if oid in (TEXT, VARCHAR, BPCHAR):
        return word().encode() + rng.choice([b"", b"", b" ", b"\xff", b"\xed\xa0\x80"])
    if oid == NAME:
        return word().encode() + b"x" * rng.choice([0, 0, 40, 64])
    data = {
        BOOL: lambda: bytes([rng.choice([0, 1, 2])]), BYTEA: lambda: rng.randbytes(rng.randint(0, 20)),
        INT2: lambda: struct.pack(">h", integer(16)), INT4: lambda: struct.pack(">i", integer(32)),
        INT8: lambda: struct.pack(">q", integer(64)), OID: lambda: rng.randbytes(4),
        FLOAT4: lambda: real(4), FLOAT8: lambda: real(8), NUMERIC: numeric,
        UUID: lambda: rng.randbytes(16),
        DATE: lambda: struct.pack(">i", rng.choice(
            [integer(32), rng.randint(-2451546, 10**6), -2451545, 2145031948, 2145031949])),
        TIME: lambda: struct.pack(">q", rng.choice([0, 86400000000, rng.randint(0, 86400000001)])),
        TIMESTAMP: lambda: struct.pack(">q", moment()),
        TIMESTAMPTZ: lambda: struct.pack(">q", moment()),
        INTERVAL: lambda: struct.pack(">qii", rng.choice(
            [integer(64), rng.randint(-10**12, 10**12), 0]), integer(32), rng.choice(
                [integer(32), rng.randint(-999, 999)])),
        JSON: lambda: json_text().encode(), JSONB: lambda: b"\1" + json_text().encode()}[oid]()
    return rng.choice([data] * 12 + [data + b"\0", data[:-1]])


def array_of(oid):
    """In binary, of up to three dimensions."""
    lengths = [rng.randint(1, 3) for _ in range(rng.choice([0, 1, 1, 1, 2, 3]))]
    count = 1 if lengths else 0
    for length in lengths:
        count *= length
    elements = [None if rng.random() < 0.1 else binary(oid) for _ in range(count)]
    out = struct.pack(">iii", len(lengths), int(None in elements), oid)
    for length in lengths:
        out += struct.pack(">ii", length, rng.choice([1, 1, 1, 0, -5, 7]))
    for element in elements:
        out += struct.pack(">i", -1) if element is None else (
            struct.pack(">i", len(element)) + element)
    return out


class PlainValues(unittest.TestCase):
    rounds = int(os.environ.get("ROUNDS", "100"))

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres(log_statement="none", log_min_messages="fatal")
        cls.addClassCleanup(cls.postgres.remove)
        seed = int(os.environ.get("SEED", "1"))
        rng.seed(seed)
        print("seed", seed)

    def setUp(self):
        self.server = plain_probe.Server(self.postgres)
        self.addCleanup(self.server.close)
        self.probe = plain_probe.Probe()
        self.addCleanup(lambda: self.assertEqual(self.probe.close(), 0))
        self.names = {int(oid): name.decode() for oid, name in self.server.run(
            b"select oid::int8, oid::regtype::text from pg_type", binary=0)}

    def set_all(self):
        for name, values in SETTINGS.items():
            self.server.run(f"set {name} = '{rng.choice(values)}'".encode())

    def written(self, oid, data):
        """What PostgreSQL writes of a value in binary, under other settings; None: it is none."""
        self.set_all()
        rows = self.server.run(b"select $1::text", [(oid, 1, data)], 0)
        return rows[0][0] if isinstance(rows, list) else None

    def check(self, oid, form, data):
        self.set_all()
        param = (oid, form, data)
        inlined = self.probe.inline("select $1", [param])
        stored = self.server.run(b"select $1", [param])
        where = f"{self.names[oid]} {'text' if not form else 'binary'} {data!r}: {inlined!r}"
        if isinstance(stored, str):
            if isinstance(inlined, bytes):
                self.assertIsInstance(self.server.run(inlined), str, where)
                return "refused there"
            if oid not in ARRAYS.values():  # of which another element may be wrong, too
                self.assertEqual(inlined[0], stored, where)
            return "refused here"
        self.assertIsInstance(inlined, bytes, where)
        self.assertEqual(self.server.run(inlined), stored, where)
        self.assertEqual(self.server.run(inlined, (), 0), self.server.run(b"select $1", [param], 0))
        return "same"

    def test_constants_are_what_was_bound(self):
        counts = collections.Counter()
        for _ in range(self.rounds):
            for oid in SCALARS:
                data = None if rng.random() < 0.02 else binary(oid)
                counts[oid, self.check(oid, 1, data)] += 1
                text = self.written(oid, data)
                if text is not None:
                    counts[oid, self.check(oid, 0, text)] += 1
            for oid, array in ARRAYS.items():
                data = array_of(oid)
                counts[array, self.check(array, 1, data)] += 1
                text = self.written(array, data)
                if text is not None:
                    counts[array, self.check(array, 0, text)] += 1
        for oid in {oid for oid, _ in counts}:
            self.assertGreater(counts[oid, "same"], self.rounds // 3, self.names[oid])
        print("constants:", sum(counts.values()), {kind: sum(
            count for (_, other), count in counts.items() if other == kind)
            for kind in ("same", "refused here", "refused there")})

    def test_results_in_binary_are_postgres_own(self):
        checked = 0
        for _ in range(self.rounds):
            for name in ("DateStyle", "IntervalStyle", "bytea_output", "extra_float_digits"):
                self.server.run(f"set {name} = '{SETTINGS[name][0]}'".encode())
            self.server.run(f"set TimeZone = '{rng.choice(SETTINGS['TimeZone'])}'".encode())
            for oid in RESULTS + [ARRAYS[oid] for oid in RESULTS if oid in ARRAYS]:
                element = next((one for one in ARRAYS if ARRAYS[one] == oid), None)
                param = (oid, 1, array_of(element) if element else binary(oid))
                text = self.server.run(b"select $1", [param], 0)
                if isinstance(text, str):
                    continue
                ours = self.probe.send(oid, text[0][0])
                theirs = self.server.run(b"select $1", [param])[0][0]
                self.assertEqual(ours, theirs, f"{self.names[oid]} {text[0][0]!r}")
                checked += 1
        self.assertGreater(checked, self.rounds * len(RESULTS) // 2)
        print("results:", checked)

    def test_all_parameters_at_once(self):
        """Among strings, comments and each other."""
        for _ in range(self.rounds):
            params = [(oid, 1, data) for oid in rng.sample(SCALARS, 5) for data in [binary(oid)]
                      if isinstance(self.server.run(b"select $1", [(oid, 1, data)]), list)]
            places = [rng.choice(["$%d", "($%d)", "'$1' /* $1 */, $%d", "array[$%d]", "-- $2\n$%d",
                                  "$%d is null", "$%d"]) % (i + 1) for i in range(len(params))]
            statement = "select " + ", ".join(places + ['$$$1$$', 'E\'\\\'$1\' "$1"'])
            inlined = self.probe.inline(statement, params)
            self.assertEqual(self.server.run(inlined), self.server.run(statement.encode(), params),
                             inlined)

    def test_names_of_types(self):
        """Each that is known here means the same to PostgreSQL."""
        for oid, _ in self.names.items():
            inlined = self.probe.inline("select pg_typeof($1)::oid::int8", [(oid, 0, None)])
            if inlined != b"select pg_typeof(NULL)::oid::int8":
                self.assertEqual(int(self.server.run(inlined, (), 0)[0][0]), oid, inlined)


if __name__ == "__main__":
    unittest.main()
