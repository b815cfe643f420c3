"""hashes: every stored hash once more, by other means than keyspread's.

The canonical bytes are made from what PostgreSQL stored, as it prints it; XXH3 is Debian's
python3-xxhash, pg_hash is asked of PostgreSQL, the two short ones are written from their papers.
"""
import decimal
import struct
import uuid

import xxhash

MASK = 2**64 - 1


def _integer(text):
    return struct.pack("<q", int(text))


def _date(text):
    """Days since 1970, as the query gives them."""
    special = {"infinity": 2**31 - 1, "-infinity": -2**31}
    return struct.pack("<i", special[text] if text in special else int(text))


def _time(text):
    special = {"infinity": 2**63 - 1, "-infinity": -2**63}
    return struct.pack("<q", special[text] if text in special else int(text))


def _numeric(text):
    number = decimal.Decimal(text)
    if number.is_nan():
        return b"NaN"
    if number.is_infinite():
        return b"Infinity" if number > 0 else b"-Infinity"
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return b"0" if text in ("-0", "0", "") else text.encode()


def _real(text):
    value = float(text)
    return struct.pack("<Q", 0x7ff8 << 48) if value != value else struct.pack("<d", value + 0.0)


CANONICAL = {
    "int2": _integer, "int4": _integer, "int8": _integer,
    "text": str.encode, "varchar": str.encode,
    "bpchar": lambda text: text.rstrip(" ").encode(),
    "bytea": lambda text: bytes.fromhex(text[2:]),
    "uuid": lambda text: uuid.UUID(text).bytes,
    "bool": lambda text: b"\1" if text == "true" else b"\0",
    "date": _date, "timestamp": _time, "timestamptz": _time,
    "numeric": _numeric, "float8": _real,
}


def expression(column, kind):
    """What of a stored value CANONICAL is given: its text, whatever the settings would be."""
    finite = f"case when isfinite({column}) then %s else {column}::text end"
    if kind == "date":
        return finite % f"({column} - date '1970-01-01')::text"
    if kind in ("timestamp", "timestamptz"):
        return finite % f"(extract(epoch from {column}) * 1000000)::int8::text"
    return f"{column}::text"


def _signed(value):
    return value - 2**64 if value >= 2**63 else value


def _xxh3(data):
    return xxhash.xxh3_64_intdigest(data)


def _wang(data):
    """Thomas Wang's mix of 64 bits in its first form, of 1997."""
    key = struct.unpack("<Q", data)[0]
    for left, right in ((-32, 22), (-13, 8), (3, 15), (-27, 31)):
        shifted = key << abs(left) & MASK
        key = key + (shifted if left > 0 else ~shifted) & MASK
        key ^= key >> right
    return key


def _rotate(value, bits):
    return (value >> bits | value << (64 - bits)) & MASK if bits else value


def _fold(low, high):
    multiplier = 0x9ddfea08eb382d69
    a = (low ^ high) * multiplier & MASK
    a ^= a >> 47
    b = (high ^ a) * multiplier & MASK
    b ^= b >> 47
    return b * multiplier & MASK


def _city(data):
    """CityHash64 1.0 of 4 to 16 bytes: the lengths of the keys here."""
    size = len(data)
    if size > 8:
        a, b = struct.unpack("<Q", data[:8])[0], struct.unpack("<Q", data[-8:])[0]
        return _fold(a, _rotate(b + size & MASK, size)) ^ b
    a, b = struct.unpack("<I", data[:4])[0], struct.unpack("<I", data[-4:])[0]
    return _fold(size + (a << 3), b)


FUNCTIONS = {"xxh3": _xxh3, "numeric_hash": _wang, "cityhash64": _city}


def expected(function, kinds, texts):
    """The hash as an int8 column holds it. Not for pg_hash: ask PostgreSQL."""
    data = b"".join(CANONICAL[kind](text) for kind, text in zip(kinds, texts) if text is not None)
    return _signed(FUNCTIONS[function](data))


