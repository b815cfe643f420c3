#!/usr/bin/python3
"""What keyspread says a column will hold, against what PostgreSQL stores.

Random spellings of values (literals, casts, parameters in both formats) are inserted straight into
PostgreSQL; value_probe is asked the same. Where keyspread claims to know, the stored value and the
hash must be equal; where it says that PostgreSQL will refuse, SQLSTATE, message, detail and hint
must be. That it does not know is always allowed, but not too often.

  test_values_against_postgres.py [VALUE_PROBE [ROUNDS [SEED]]]

Without an argument value_probe is looked for in tests/ beside the program that KEYSPREAD names.
KEYSPREAD_TEST_DSN names a PostgreSQL 15 to use (only temporary tables are made); without it one is
started for the test, from PG_BIN or /usr/lib/postgresql/15/bin.
"""
import collections
import contextlib
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import psycopg

BOOL, BYTEA, NAME, INT8, INT2, INT4, TEXT = 16, 17, 19, 20, 21, 23, 25
FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR = 700, 701, 705, 1042, 1043
DATE, TIMESTAMP, TIMESTAMPTZ, NUMERIC, UUID = 1082, 1114, 1184, 1700, 2950


def numeric_typmod(precision, scale):
    return ((precision << 16) | (scale & 0x7FF)) + 4


# name, SQL type, oid, typmod
COLUMNS = [
    ("i2", "smallint", INT2, -1), ("i4", "integer", INT4, -1), ("i8", "bigint", INT8, -1),
    ("t", "text", TEXT, -1), ("vc", "varchar", VARCHAR, -1), ("vc3", "varchar(3)", VARCHAR, 7),
    ("vc30", "varchar(30)", VARCHAR, 34),
    ("bp5", "char(5)", BPCHAR, 9), ("bp", "bpchar", BPCHAR, -1), ("by", "bytea", BYTEA, -1),
    ("u", "uuid", UUID, -1), ("b", "boolean", BOOL, -1), ("d", "date", DATE, -1),
    ("ts", "timestamp", TIMESTAMP, -1), ("ts3", "timestamp(3)", TIMESTAMP, 3),
    ("ts0", "timestamp(0)", TIMESTAMP, 0), ("tz", "timestamptz", TIMESTAMPTZ, -1),
    ("tz2", "timestamptz(2)", TIMESTAMPTZ, 2), ("n", "numeric", NUMERIC, -1),
    ("n62", "numeric(6,2)", NUMERIC, numeric_typmod(6, 2)),
    ("n50", "numeric(5)", NUMERIC, numeric_typmod(5, 0)),
    ("n3m2", "numeric(3,-2)", NUMERIC, numeric_typmod(3, -2)),
    ("n25", "numeric(2,5)", NUMERIC, numeric_typmod(2, 5)), ("f8", "double precision", FLOAT8, -1),
]
SENT = {INT2: "int2send", INT4: "int4send", INT8: "int8send", TEXT: "textsend",
        VARCHAR: "varcharsend", BPCHAR: "bpcharsend", BYTEA: "byteasend", UUID: "uuid_send",
        BOOL: "boolsend", DATE: "date_send", TIMESTAMP: "timestamp_send",
        TIMESTAMPTZ: "timestamptz_send", FLOAT8: "float8send"}
CASTS = [("smallint", INT2, -1), ("int", INT4, -1), ("int8", INT8, -1), ("text", TEXT, -1),
         ("varchar(4)", VARCHAR, 8), ("varchar", VARCHAR, -1), ("bpchar", BPCHAR, -1),
         ("char(3)", BPCHAR, 7), ("bytea", BYTEA, -1), ("uuid", UUID, -1), ("bool", BOOL, -1),
         ("date", DATE, -1), ("timestamp", TIMESTAMP, -1), ("timestamp(1)", TIMESTAMP, 1),
         ("timestamptz", TIMESTAMPTZ, -1), ("timestamptz(0)", TIMESTAMPTZ, 0),
         ("numeric", NUMERIC, -1), ("numeric(7,3)", NUMERIC, numeric_typmod(7, 3)),
         ("float8", FLOAT8, -1), ("real", FLOAT4, -1), ("name", NAME, -1)]
ZONES = [("UTC", "0"), ("<+0530>-05:30", "19800"), ("<-08>+08", "-28800"), ("Europe/Berlin", "-")]
DECIMAL = re.compile(r"(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
BLANKS = ["", "", "", "", " ", "  ", "\t", "\n", "\v", " \r\f"]

Cell = collections.namedtuple("Cell", "sql kind data minus casts param value_type wire")
rng = random.Random()


def pick(*choices):
    return rng.choice(choices)


def digits(least, most):
    return "".join(rng.choice("0123456789") for _ in range(rng.randint(least, most)))


def integer_text():
    edge = rng.choice([15, 31, 63, 7, 64])
    number = rng.choice([rng.randint(-10, 10), rng.randint(-40000, 40000),
                         (1 << edge) + rng.randint(-2, 2), -(1 << edge) + rng.randint(-2, 2),
                         rng.randint(-(1 << 66), 1 << 66)])
    text = str(number)
    if rng.random() < 0.2:
        text = text.replace("-", "-" + "0" * rng.randint(1, 3)) if number < 0 else \
            pick("+", "0", "00", "+0") + text
    return text


def decimal_text():
    text = pick("", "-", "+") + pick(digits(1, 6), digits(0, 1), digits(1, 30), "0", "00")
    text += pick("", ".", "." + digits(1, 3), "." + digits(1, 30), ".5", ".005", ".995", ".4999")
    text += pick("", "", "", "e", "E") and pick("e", "E") + pick("", "+", "-") + pick(
        digits(1, 1), digits(1, 2), str(rng.randint(0, 400)), "20000", "131072", "9999999999")
    return text


def date_text():
    year = pick("%04d" % rng.randint(1, 9999), "20%02d" % rng.randint(0, 99),
                str(rng.randint(1, 9)) + digits(3, 6), "0000", "294276", "294277", "5874897",
                "5874898", "1")
    month = pick("%02d" % rng.randint(1, 12), "%02d" % rng.randint(1, 12), str(rng.randint(0, 14)))
    day = pick("%02d" % rng.randint(1, 28), "%02d" % rng.randint(28, 31), str(rng.randint(0, 33)))
    return year + "-" + month + "-" + day


def time_text():
    text = pick("%02d" % rng.randint(0, 23), str(rng.randint(0, 25)), "23", "24") + ":"
    text += pick("%02d" % rng.randint(0, 59), "00", "59", str(rng.randint(0, 61)))
    if rng.random() < 0.85:
        text += ":" + pick("%02d" % rng.randint(0, 59), "00", "60", "59", str(rng.randint(0, 62)))
        text += pick("", "." + digits(1, 6), "." + digits(1, 12), ".999999", ".9999999",
                     ".0000005", ".4999995", ".")
    return text


def zone_text():
    sign = pick("+", "-")
    return pick("", " ") + pick(
        "", "Z", "z", "UTC", sign + "%02d" % rng.randint(0, 15), sign + "%d" % rng.randint(0, 17),
        sign + "%02d:%02d" % (rng.randint(0, 16), rng.randint(0, 61)),
        sign + "%02d%02d" % (rng.randint(0, 16), rng.randint(0, 61)),
        sign + "%02d:%02d:%02d" % (rng.randint(0, 15), rng.randint(0, 59), rng.randint(0, 60)),
        " CET", "EST", " Europe/Paris")


def moment_text():
    special = pick(*["infinity", "-infinity", "Infinity", "-INFINITY", "now", "today", "epoch",
                     "01/02/2020", "Jan 2 2020", "20200102", "2020-01-02 BC", "294276-12-31 23:59:59",
                     "4714-11-24 BC", "294276-12-31 23:59:59.9999999", "0001-01-01 00:00:00+15:59"])
    if rng.random() < 0.1:
        return special
    if rng.random() < 0.25:
        return date_text()
    return date_text() + pick(" ", "T", "t", "  ", " T") + time_text() + zone_text()


def uuid_text():
    plain = "%032x" % rng.getrandbits(128)
    grouped = "-".join([plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:]])
    text = pick(plain, grouped, grouped.upper(), "-".join(plain[i:i + 4] for i in range(0, 32, 4)),
                plain[:4] + "-" + plain[4:], plain[:6] + "-" + plain[6:], plain[:-1], plain + "0",
                grouped[:-1] + "g", grouped + " ", grouped + "-")
    return pick(text, text, text, "{" + text + "}", "{" + text, text + "}")


def bytea_text():
    data = bytes(rng.getrandbits(8) for _ in range(rng.randint(0, 30)))
    hexadecimal = data.hex()
    spaced = " ".join(hexadecimal[i:i + 2] for i in range(0, len(hexadecimal), 2))
    escaped = "".join(chr(b) if 32 <= b < 127 and b != 92 else pick("\\%03o" % b, "\\%03o" % b)
                      for b in data)
    return pick("\\x" + hexadecimal, "\\x" + hexadecimal.upper(), "\\x" + spaced,
                "\\x" + hexadecimal + "a", "\\x" + hexadecimal + "zz", escaped, escaped + "\\\\",
                escaped + "\\", escaped + "\\9", "\\x 1", "\\X00", "é\\000", "\\xé0", "")


def word_text():
    letters = "abcdefghijklmnopqrstuvwxyz ABC'\\0123é漢😀\t"
    return "".join(rng.choice(letters) for _ in range(rng.randint(0, pick(3, 6, 40)))) + pick(
        "", "", " ", "   ")


def bool_text():
    word = pick("true", "false", "yes", "no", "on", "off", "1", "0", "t", "f", "y", "n", "o", "of",
                "tr", "fals", "ye", "", "2", "truee", "TRUE", "False", "oN", "10")
    return word


def float_text():
    return pick(decimal_text(), decimal_text(), integer_text(), "NaN", "nan", "Infinity", "-inf",
                "+Infinity", "infinit", "1e308", "1.8e308", "4.9e-324", "1e-400", "-0", "-0.0",
                "0x10", "1e", repr(struct.unpack("<d", rng.randbytes(8))[0]), "nanx", "1.5 x")


MAKERS = {INT2: integer_text, INT4: integer_text, INT8: integer_text, TEXT: word_text,
          VARCHAR: word_text, BPCHAR: word_text, NAME: word_text, BYTEA: bytea_text,
          UUID: uuid_text, BOOL: bool_text, DATE: moment_text, TIMESTAMP: moment_text,
          TIMESTAMPTZ: moment_text, NUMERIC: float_text, FLOAT8: float_text, FLOAT4: float_text}


def mutate(text):
    at = rng.randint(0, len(text))
    return pick(text[:at] + pick(*" -+.:eExX09aTZ_'\\{}") + text[at:], text[:at] + text[at + 1:])


def spelling(oid):
    text = MAKERS[oid]()
    if rng.random() < 0.1:
        text = MAKERS[rng.choice(list(MAKERS))]()
    if rng.random() < 0.15:
        text = mutate(text)
    if oid not in (TEXT, VARCHAR, BPCHAR) and rng.random() < 0.2:
        text = rng.choice(BLANKS) + text + rng.choice(BLANKS)
    return text


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def constant(oid):
    """SQL text, kind, data, whether it has a sign of its own."""
    roll = rng.random()
    if roll < 0.5:
        text = spelling(oid)
        return quoted(text), "string", text, False
    if roll < 0.72:
        text = integer_text().lstrip("+")
        return text.lstrip("-"), "integer", text.lstrip("-"), text.startswith("-")
    if roll < 0.9:
        text = decimal_text().lstrip("+-")
        if text.isdigit() or not DECIMAL.fullmatch(text):
            text = "2.5"
        return text, "decimal", text, rng.random() < 0.4
    if roll < 0.95:
        text = pick("true", "false")
        return text, "bool", text, False
    return "NULL", "null", "", False


def add_casts(sql, oid, minus):
    """Adds casts; the sign binds to the constant, or to all casts but those behind the brackets."""
    casts, minus_after = [], -1
    count = pick(0, 0, 0, 1, 1, 2, 3)
    sign_at = rng.randint(0, count) if minus else -1
    for i in range(count + 1):
        if i == sign_at:
            sql = "-" + sql if i == count else "(-" + sql + ")"
            minus_after = i
        if i == count:
            break
        spelled, cast_oid, typmod = rng.choice(CASTS)
        if rng.random() < 0.4:
            same = [c for c in CASTS if c[1] == oid]
            spelled, cast_oid, typmod = rng.choice(same or CASTS)
        sql += "::" + spelled
        casts.append("%d:%d" % (cast_oid, typmod))
    return sql, ";".join(casts), minus_after


def literal_cell(oid):
    sql, kind, data, minus = constant(oid)
    sql, casts, minus_after = add_casts(sql, oid, minus)
    return Cell(sql, kind, data.encode(), minus_after, casts, "-", 0, None)


def numeric_wire():
    groups = [rng.randint(0, 9999) for _ in range(rng.randint(0, 6))]
    scale = pick(0, 2, 5, 20, 16384, rng.randint(0, 30))
    weight = pick(0, 1, 3, -1, -2, rng.randint(-6, 6))
    sign = pick(0, 0, 0, 0x4000, 0x4000, 0xC000, 0xD000, 0xF000, 0x1234)
    if rng.random() < 0.05:
        groups.append(10000)
    body = struct.pack(">HhHH", len(groups), weight, sign, scale)
    return body + b"".join(struct.pack(">H", g) for g in groups)


def wire(oid):
    widths = {BOOL: 1, INT2: 2, INT4: 4, DATE: 4, FLOAT4: 4, INT8: 8, FLOAT8: 8, TIMESTAMP: 8,
              TIMESTAMPTZ: 8, UUID: 16}
    if oid in widths:
        data = rng.randbytes(widths[oid])
        if oid in (TIMESTAMP, TIMESTAMPTZ):
            data = struct.pack(">q", pick(rng.randint(-10**17, 10**18), -(1 << 63), (1 << 63) - 1))
        if rng.random() < 0.5 and oid in (INT4, INT8):
            data = rng.randint(-40000, 40000).to_bytes(widths[oid], "big", signed=True)
    elif oid == NUMERIC:
        data = numeric_wire()
    elif oid == BYTEA:
        data = rng.randbytes(rng.randint(0, 20))
    else:
        data = word_text().encode() + pick(b"", b"", b"", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\0")
    return pick(data, data, data, data, data, data + b"\0", data[:-1])


def param_cell(oid):
    declared = oid if rng.random() < 0.8 else rng.choice(CASTS)[1]
    binary = rng.random() < 0.5 and declared != NAME
    data = wire(declared) if binary else spelling(declared).encode()
    if not binary and rng.random() < 0.03:
        data += pick(b"\xff", b"\xe6\xbc")
    if not binary:
        data = data.replace(b"\0", b"")
    null = rng.random() < 0.03
    sql, casts, minus_after = "$1", "", -1
    if rng.random() < 0.4:
        sql, casts, minus_after = add_casts("$1", oid, rng.random() < 0.3)
        if minus_after == 0:
            return param_cell(oid)
    return Cell(sql, "param", data, minus_after, casts,
                "%d:%d:%d" % (declared, binary, null), declared, None if null else data)


class Server:
    """One connection; each cell is a transaction of its own."""

    def __init__(self, dsn):
        self.connection = psycopg.connect(dsn, autocommit=True)
        self.link = self.connection.pgconn
        self.run("SET client_encoding = 'UTF8'")
        self.run("SET client_min_messages = error")
        for name, sql_type, _, _ in COLUMNS:
            self.run("CREATE TEMP TABLE values_%s (x %s)" % (name, sql_type))

    def run(self, sql):
        result = self.link.exec_(sql.encode())
        assert result.error_message == b"", result.error_message

    def store(self, column, cell):
        name, _, oid, _ = column
        stored = "encode(%s(x), 'hex')" % SENT[oid] if oid in SENT else \
            "encode(textsend(x::text), 'hex')"
        sql = ("INSERT INTO values_%s VALUES (%s) RETURNING %s, hash_record_extended(ROW(x), 0)"
               % (name, cell.sql, stored)).encode()
        if cell.kind == "param":
            binary = int(cell.param.split(":")[1])
            result = self.link.exec_params(sql, [cell.wire], param_types=[cell.value_type],
                                           param_formats=[binary])
        else:
            result = self.link.exec_(sql)
        if result.status == psycopg.pq.ExecStatus.TUPLES_OK:
            return [result.get_value(0, 0), int(result.get_value(0, 1))]
        fields = [psycopg.pq.DiagnosticField.SQLSTATE, psycopg.pq.DiagnosticField.MESSAGE_PRIMARY,
                  psycopg.pq.DiagnosticField.MESSAGE_DETAIL,
                  psycopg.pq.DiagnosticField.MESSAGE_HINT]
        return tuple((result.error_field(f) or b"") for f in fields)


class Probe:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, column, cell, zone):
        line = "\t".join([str(column[2]), str(column[3]), cell.kind, cell.data.hex(),
                          str(cell.minus), cell.casts, cell.param, "1", zone])
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().rstrip("\n").split("\t")


def canonical(oid, sent):
    """The bytes that are hashed, from what the type's send function gives (numeric: its text)."""
    if oid in (INT2, INT4, INT8):
        return int.from_bytes(sent, "big", signed=True).to_bytes(8, "little", signed=True)
    if oid in (DATE, TIMESTAMP, TIMESTAMPTZ):
        count, width = int.from_bytes(sent, "big", signed=True), len(sent)
        epoch = 10957 if oid == DATE else 946684800000000
        if abs(count) < (1 << 8 * width - 1) - 1:
            count += epoch
        return (count & (1 << 8 * width) - 1).to_bytes(width, "little")
    if oid == NUMERIC and b"." in sent:
        return sent.rstrip(b"0").rstrip(b".")
    if oid == FLOAT8:
        real = struct.unpack(">d", sent)[0]
        return struct.pack("<d", float("nan") if real != real else real or 0.0)
    return sent


def difference(column, said, stored):
    """None if what keyspread says is right."""
    verdict, sqlstate, message, detail, hint, sent, hashed, pg_hash = said
    if verdict == "unknowable":
        return None
    if verdict == "known":
        if isinstance(stored, tuple):
            return "PostgreSQL refuses"
        if stored[0] is None:
            return None if sent == "null" and stored[1] == int(pg_hash) else "stored NULL"
        want = bytes.fromhex(stored[0].decode())
        if column[2] == BPCHAR:
            want = want.rstrip(b" ")
        if sent == "null" or want != bytes.fromhex(sent):
            return "stored value differs"
        if canonical(column[2], want) != bytes.fromhex(hashed):
            return "canonical bytes differ"
        return None if stored[1] == int(pg_hash) else "hash differs"
    if not isinstance(stored, tuple):
        return "PostgreSQL takes it"
    ours = [sqlstate.encode()] + [bytes.fromhex(h) for h in (message, detail, hint)]
    for mine, theirs in zip(ours, stored):
        if mine != theirs and mine != theirs[:511]:
            return "error differs"
    return None


def report(column, cell, zone, said, stored, reason):
    readable = [said[0], said[1]] + [bytes.fromhex(h).decode(errors="replace") for h in said[2:5]]
    print("%s: %s <- %s %r (%s, zone %s)\n  keyspread:  %s %s hash %s\n  PostgreSQL: %s" % (
        reason, column[1], cell.sql, cell.wire, cell.param, zone, readable, said[5], said[7],
        stored))


def run(program, dsn, rounds):
    server, probe = Server(dsn), Probe(program)
    wrong, known = 0, collections.Counter()
    for round_number in range(rounds):
        zone_name, zone = rng.choice(ZONES)
        server.run("SET TimeZone = '%s'" % zone_name)
        for column in COLUMNS:
            for make in (literal_cell, literal_cell, param_cell):
                cell = make(column[2])
                said = probe.ask(column, cell, zone)
                stored = server.store(column, cell)
                known[column[1], said[0]] += 1
                reason = difference(column, said, stored)
                if reason is not None:
                    wrong += 1
                    report(column, cell, zone_name, said, stored, reason)
        if wrong > 20:
            break
    probe.process.stdin.close()
    probe.process.wait()
    return wrong + (probe.process.returncode != 0), known


def known_often_enough(known):
    """Each type must be known often enough, or the test proves nothing."""
    ok = True
    for _, sql_type, _, _ in COLUMNS:
        counts = [known[sql_type, verdict] for verdict in ("known", "unknowable", "invalid")]
        print("%-18s known %5d  unknowable %5d  invalid %5d" % (sql_type, *counts))
        ok = ok and counts[0] * 12 >= sum(counts)
    return ok


@contextlib.contextmanager
def server_dsn():
    if "KEYSPREAD_TEST_DSN" in os.environ:
        yield os.environ["KEYSPREAD_TEST_DSN"]
        return
    folder = tempfile.mkdtemp(prefix="keyspread-values-")
    binaries = os.environ.get("PG_BIN", "/usr/lib/postgresql/15/bin")
    # PostgreSQL refuses to run as root.
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if user:
        shutil.chown(folder, "postgres")
    data = os.path.join(folder, "data")
    try:
        subprocess.run(user + [binaries + "/initdb", "-D", data, "-A", "trust", "-U", "postgres",
                               "--no-sync", "-E", "UTF8", "--locale=C"],
                       check=True, stdout=subprocess.DEVNULL)
        options = "-c listen_addresses= -c unix_socket_directories=%s -c fsync=off" % folder
        control = user + [binaries + "/pg_ctl", "-D", data, "-w", "-l", folder + "/log"]
        subprocess.run(control + ["-o", options, "start"], check=True, stdout=subprocess.DEVNULL)
        try:
            yield "host=%s user=postgres dbname=postgres" % folder
        finally:
            subprocess.run(control + ["-m", "immediate", "stop"], stdout=subprocess.DEVNULL)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    program = os.path.join(os.path.dirname(os.environ.get("KEYSPREAD", "")), "tests", "value_probe")
    if len(sys.argv) > 1:
        program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng.seed(seed)
    print("seed", seed)
    with server_dsn() as dsn:
        wrong, known = run(program, dsn, rounds)
    enough = known_often_enough(known)
    print("%d cells, %d wrong" % (sum(known.values()), wrong))
    sys.exit(0 if wrong == 0 and enough else 1)


if __name__ == "__main__":
    main()
