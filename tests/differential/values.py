"""values: few values of each type, so that keys meet, in many spellings.

spell(kind, number, dice) is SQL for a value; parameter(kind, number, dice) the same as a parameter:
(declared oid, format, bytes).
"""
import datetime
import struct
import uuid

POOLS = {
    "int2": [1, 2, 3, -7, 0, 32767],
    "int4": [1, 2, 3, -7, 0, 2147483647],
    "int8": [1, 2, 3, -7, 0, 9223372036854775807],
    "text": ["a", "bc", "it's", "ä€", "", "5"],
    "varchar": ["a", "bc", "it's", "ä€", "", "5"],
    "bpchar": ["a", "bc", "it's", "ä€", "", "5"],
    "bytea": [b"", b"a", b"\\", b"\0\xff", b"bc", b"'"],
    "uuid": [f"a0eebc99-9c0b-4ef8-bb6d-{number:012x}" for number in range(6)],
    "bool": [True, False],
    "date": ["2026-01-02", "2000-02-29", "1970-01-01", "1969-12-31", "9999-12-31", "2026-03-29"],
    "timestamp": ["2026-01-02 03:04:05", "2000-02-29 00:00:00", "2026-03-29 02:30:00",
                  "1969-12-31 23:59:59.999999", "2026-10-25 02:30:00.5", "1970-01-01 00:00:00"],
    "timestamptz": ["2026-01-02 03:04:05", "2000-02-29 00:00:00", "2026-03-29 02:30:00",
                    "1969-12-31 23:59:59.999999", "2026-10-25 02:30:00.5", "1970-01-01 00:00:00"],
    "numeric": ["1", "1.5", "-2.25", "0", "1000", "0.01"],
    "float8": [1.0, 1.5, -2.25, 0.0, 1e300, 0.1],
}
OIDS = {"bool": 16, "bytea": 17, "int8": 20, "int2": 21, "int4": 23, "text": 25, "float8": 701,
        "bpchar": 1042, "varchar": 1043, "date": 1082, "timestamp": 1114, "timestamptz": 1184,
        "numeric": 1700, "uuid": 2950, "float4": 700}
# What PostgreSQL refuses, or reads in a way of its own.
WRONG = {
    "int2": ["'x'", "40000", "'1.5'", "null", "true", "1e9", "'0x10'", "''"],
    "int4": ["'x'", "2147483648", "'1.5'", "null", "'1 2'", "1e99", "'2147483648'", "date 'today'"],
    "int8": ["'x'", "9223372036854775808", "'1.5'", "null", "99999999999999999999", "'--1'"],
    "text": ["null", "'a' || null"],
    "varchar": ["null", "'abcdef'", "'abcde   '", "123456", "'ä€ä€ä€'", "'abcdef'::varchar(5)"],
    "bpchar": ["null", "'abcde'", "'abcd    '", "12345", "'abcde'::char(4)"],
    "bytea": ["null", "'\\xz'", "'\\'", "'\\x1'", "'\\400'", "5"],
    "uuid": ["null", "'a0eebc99'", "5", "'a0eebc99-9c0b-4ef8-bb6d-00000000000g'"],
    "bool": ["null", "2", "'maybe'", "''", "1.0"],
    "date": ["null", "'2026-02-30'", "'2026-13-01'", "5", "'x'", "'99999999-01-01'"],
    "timestamp": ["null", "'2026-02-30'", "'2026-01-01 25:00'", "5", "'x'"],
    "timestamptz": ["null", "'2026-02-30'", "'2026-01-01 25:00'", "5", "'2026-01-01 Nowhere/X'"],
    "numeric": ["null", "1e7", "'1,5'", "'x'", "'1e'", "true"],
    "float8": ["null", "'1e999'", "'x'", "1e400", "true", "'1,5'"],
}
# Where the lexer already fails.
ODD_STRINGS = ["E'\\x80'", "U&'\\zz'", "'a' 'b'", "'open", "U&'\\00' uescape 'x'", "x'1'"]


def escape_unicode(text):
    return "U&'" + "".join(f"\\{ord(c):04x}" for c in text) + "'"


def escape_bytes(text):
    return "E'" + "".join(f"\\x{byte:02x}" for byte in text.encode()) + "'"


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def strings(text, dice):
    """A string constant in one of its forms."""
    return dice.choice((quote, quote, quote, quote, escape_unicode, escape_bytes,
                        lambda t: f"$${t}$$", lambda t: f"$x${t}$x$", lambda t: f"N{quote(t)}",
                        lambda t: f"({quote(t)})"))(text)


def _integer(number, dice):
    plus = number >= 0
    return dice.choice((
        f"{number}", f"{number}", f"{number}", strings(str(number), dice), f"{number}.4",
        f"{number}.0", f"{number}e0", f"'  {number} '", f"({number})", f"int8 '{number}'",
        f"cast({number} as int8)", f"'{number}'::text::int8", f"{number}::numeric",
        f"- {-number}" if not plus else f"+{number}", f"00{number}" if plus else f"({number}::int8)",
        f"'{number}'::int8", f"({number})::int8", f"{number} + 0", f"'+{number}'" if plus else "-7"))


def _text(text, dice):
    return dice.choice((
        strings(text, dice), strings(text, dice), strings(text, dice), f"{quote(text)}::text",
        f"{quote(text)}::varchar(9)", f"cast({quote(text)} as text)", f"text {quote(text)}",
        f"{quote(text)}::char(3)", f"''\n{quote(text)}", f"{quote(text)} || ''", "5", "true",
        "1.50", f"lower({quote(text)})", "'a '", "5::int8", "'f'::bool"))


def _bytea(data, dice):
    octal = "".join(f"\\{byte:03o}" for byte in data)
    return dice.choice((
        f"'\\x{data.hex()}'", f"'\\x{data.hex().upper()}'", f"'{octal}'", f"'\\x{data.hex()}'::bytea",
        "E'\\\\x" + data.hex() + "'", f"$$\\x{data.hex()}$$", f"decode('{data.hex()}', 'hex')",
        "'a'", "'a'::bytea", "bytea 'bc'"))


def _uuid(text, dice):
    return dice.choice((quote(text), quote(text.upper()), quote("{" + text + "}"),
                        quote(text.replace("-", "")), f"{quote(text)}::uuid", f"uuid {quote(text)}",
                        strings(text, dice), f"{quote(text)}::text::uuid"))


def _bool(value, dice):
    words = ("true", "TRUE", "'t'", "'yes'", "'on'", "'1'", "'tr'", "' true '", "'y'::bool",
             "1::int4::bool", "bool 'on'", "not false")
    others = ("false", "FALSE", "'f'", "'no'", "'off'", "'0'", "'fal'", "' false '", "'n'::bool",
              "0::int4::bool", "bool 'off'", "not true")
    return dice.choice(words if value else others)


def _date(text, dice):
    year, month, day = text.split("-")
    return dice.choice((
        quote(text), quote(text), strings(text, dice), f"date {quote(text)}", f"{quote(text)}::date",
        quote(year + month + day), f"'{month}/{day}/{year}'", f"'{day}.{month}.{year}'",
        f"timestamp '{text} 23:59:59'", f"'{text} 12:00'", f"'{text} 12:00'::timestamptz",
        "'infinity'", "'-infinity'", "'0044-03-15 BC'", "'Jan 2, 2026'", "'today'::date - current_date"
        " + date '2026-01-02'", f"{quote(text)}::timestamp::date"))


def _time(text, dice):
    return dice.choice((
        quote(text), quote(text), quote(text + "Z"), quote(text + "+02"), quote(text + "-03:30"),
        quote(text + " UTC"), quote(text + " Europe/Berlin"), quote(text + " Asia/Tokyo"),
        quote(text.replace(" ", "T")), f"timestamptz {quote(text + '+00')}",
        f"timestamp {quote(text)}", f"{quote(text)}::timestamptz", f"{quote(text)}::timestamp(0)",
        f"date {quote(text[:10])}", quote(text[:10]), quote(text + "6"), "'infinity'",
        "'0044-03-15 01:02:03 BC'", quote(text[5:7] + "/" + text[8:10] + "/" + text[:4] + text[10:]),
        quote(text[:10] + " 02:30"), f"{quote(text)}::timestamp at time zone 'UTC'",
        quote(text + " PST"), quote(text + " EST"), quote(text[:10] + " 12:00 PM")))


def _numeric(text, dice):
    return dice.choice((
        text, text, quote(text), text + ("0" if "." in text else ".000"), text + "e0",
        f"{quote(text)}::numeric", f"{text}::float8", f"numeric {quote(text)}", "1.005", "'1.005'",
        f"' {text} '", "'NaN'", "-0.00", "'-0'", ".5", "5.", "1e2", "'1E+2'", "12345::int2",
        f"{text}::numeric(9,1)", f"0{text}" if text[0] != "-" else text, strings(text, dice)))


def _real(value, dice):
    text = repr(value)
    return dice.choice((
        text, quote(text), f"{text}::float8", f"{text}::float4", f"{quote(text)}::numeric",
        "'NaN'", "'Infinity'", "'-inf'", "'-0'", "-0.0", "5", "'1e-320'", f"float8 {quote(text)}",
        "0.1::float4", "'0.1'::float4", ".1e1", strings(text, dice), "3::int2"))


SPELLERS = {"int2": _integer, "int4": _integer, "int8": _integer, "text": _text, "varchar": _text,
            "bpchar": _text, "bytea": _bytea, "uuid": _uuid, "bool": _bool, "date": _date,
            "timestamp": _time, "timestamptz": _time, "numeric": _numeric, "float8": _real}


def pool(kind, number):
    values = POOLS[kind]
    return values[number % len(values)]


def plain(kind, number):
    """The spelling that nobody misunderstands, for WHERE."""
    value = pool(kind, number)
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'"
    if kind == "timestamptz":
        return quote(value + "+00")
    return str(value).lower() if isinstance(value, (bool, int, float)) else quote(value)


def spell(kind, number, dice):
    if dice.random() < 0.4:
        return plain(kind, number)
    if dice.random() < 0.06:
        return dice.choice(WRONG[kind])
    return SPELLERS[kind](pool(kind, number), dice)


def _text_parameter(kind, value, dice):
    if isinstance(value, bytes):
        return ("\\x" + value.hex()).encode()
    if isinstance(value, bool):
        return dice.choice((b"t", b"true", b"1", b" on ")) if value else dice.choice((b"f", b"no"))
    if kind in ("int2", "int4", "int8"):
        return dice.choice((f"{value}", f" {value} ", f"{value:+d}")).encode()
    if kind == "timestamptz":
        return (value + dice.choice(("+00", "Z", "", "+03"))).encode()
    if kind == "date" and dice.random() < 0.3:
        return f"{value[5:7]}/{value[8:]}/{value[:4]}".encode()
    return str(value).encode()


def _stamp(text):
    moment = datetime.datetime.fromisoformat(text)
    return (moment - datetime.datetime(2000, 1, 1)) // datetime.timedelta(microseconds=1)


def _day(text):
    return (datetime.date.fromisoformat(text) - datetime.date(2000, 1, 1)).days


def binary(kind, value, dice):
    """(oid, bytes), by a type that the column takes."""
    if kind in ("int2", "int4", "int8"):
        wide = dice.choice((("int8", "!q"), ("int4", "!i"), ("int2", "!h"), (kind, None)))
        width = wide[1] or {"int2": "!h", "int4": "!i", "int8": "!q"}[kind]
        size = struct.calcsize(width) * 8
        if not -2**(size - 1) <= value < 2**(size - 1):
            wide, width = (kind, None), {"int2": "!h", "int4": "!i", "int8": "!q"}[kind]
        return OIDS[wide[0]], struct.pack(width, value)
    if kind in ("text", "varchar", "bpchar"):
        return OIDS[dice.choice(("text", "varchar", kind))], value.encode()
    if kind == "date":
        return OIDS[kind], struct.pack("!i", _day(value))
    if kind in ("timestamp", "timestamptz"):
        return OIDS[dice.choice((kind, "timestamp", "timestamptz"))], struct.pack("!q", _stamp(value))
    if kind == "float8":
        return OIDS[kind], struct.pack("!d", value)
    if kind == "bytea":
        return OIDS[kind], value
    if kind == "uuid":
        return OIDS[kind], uuid.UUID(value).bytes
    if kind == "bool":
        return OIDS[kind], bytes([value])
    return OIDS["int4"], struct.pack("!i", 3)  # numeric takes integers


def parameter(kind, number, dice):
    value = pool(kind, number)
    if dice.random() < 0.03:
        return dice.choice(((0, 0, None), (0, 0, b"x"), (OIDS[kind], 1, b"\0\0\0")))
    if dice.random() < 0.45:
        oid, data = binary(kind, value, dice)
        return oid, 1, data
    return dice.choice((0, 0, OIDS[kind])), 0, _text_parameter(kind, value, dice)
