"""compare: two transcripts, made equal where they may differ.

Allowed differences, all of them:
- process ids, keys, oids of tables; the number of a column where tables are altered (the hash column
  stands in between);
- a partition's name in an error, and that of a partition's index, is the table's;
- files, lines and routines of the sources;
- whether a PL/pgSQL function is told with its schema and in quotes: each backend words that when it first
  calls it, by the search_path and quote_all_identifiers of that moment; and its assignment, which is told
  by the backend that prepares it;
- how many objects cannot be dropped (2BP01): a partitioned table has its partitions' with its own;
- a refusal (keyspread's own 0A000, or 23502 where a BEFORE trigger may fill in the key) stands where
  direct a statement was put that fails: see driver;
- 23503 and 23505 show the key under row security: PostgreSQL looks at that of the partition, which
  has none; and in the form of the link that wrote them, whatever the session's settings of output;
- a hint in keyspread's name;
- of a transaction that has failed, whether a Parse that the lexer refuses is told so, or that it has failed;
- the order of ParameterStatus among themselves;
- where among the replies to a step a notice stands (one that comes at the end of a transaction).
"""
import functools
import re

import driver
import wire

# What an error or notice may tell; F, L and R are the server's own source.
FIELDS = "SVCMDHPpqWstcdn"
PARTITION = re.compile(r"\b([dt]_[a-z0-9]{2}|odd|late|seq|by_set)_p\d(?=_|\b)")
KEYS_SHOWN = ("enable row level security", "bytea_output", "extra_float_digits")
TEMPORARY = re.compile(r"\bpg_temp_\d+")
ASSIGNMENT = re.compile(r'PL/pgSQL assignment ".*"\n')
FUNCTION = re.compile(r'\bfunction (?:"?public"?\.)?"?(\w+)"?\(')


def _error(message, fields_told):
    fields = message.fields()
    if "D" not in fields_told and fields["C"] not in ("23503", "23505"):
        fields_told += "D"
    if driver.is_refusal(message) or driver.stands_in(fields):
        return f"{message.name} refused"
    if "#" in fields_told and _is_behind_rule(fields):
        return f"{message.name} of a parameter, or of what a rule forbids"
    if fields["C"] == "2BP01":
        return f"{message.name} others depend on it"
    if "keyspread" in fields.get("H", ""):
        del fields["H"]
    told = {code: _everybodys(fields[code]) for code in fields_told if code in fields}
    return f"{message.name} " + " ".join(f"{code}={text!r}" for code, text in told.items())


def _everybodys(text):
    return FUNCTION.sub(r"function \1(", PARTITION.sub(r"\1", ASSIGNMENT.sub("", text)))


def _is_behind_rule(fields):
    """Of a Bind behind CREATE RULE: keyspread prepares its statement anew, and so meets what a rule
    forbids before what is wrong with a parameter."""
    return ("cannot be used with table that has INSERT or UPDATE rules" in fields["M"]
            or "cannot perform INSERT RETURNING on relation" in fields["M"]
            or re.search(r"portal.* parameter \$", fields.get("W", "")) is not None)


def _columns(message, exact):
    return f"{message.name} " + str([
        (column[0], "table" if column[1] else 0, column[2] if exact else 0, *column[3:])
        for column in message.columns()])


def _one(message, exact, fields_told):
    if message.kind in "EN":
        return _error(message, fields_told)
    if message.kind == "K":
        return message.name
    if message.kind == "A":
        return f"{message.name} {message.body[4:]!r}"
    if message.kind == "T":
        return _columns(message, exact)
    return _shown(message.kind, message.body)


@functools.lru_cache(10000)
def _shown(kind, body):
    return repr(wire.Message(kind, body))


def lines(transcript, exact, kinds):
    """A line for each message that came, under one for what was sent. `exact`: columns have their
    numbers."""
    without = "" if "positions" in kinds else "Pp"
    without += "" if "contexts" in kinds else "W"
    sent = str([message for entries in transcript for _, message, _ in entries])
    without += "#" if "create rule" in sent else ""
    without += "D" if any(word in sent for word in KEYS_SHOWN) else ""
    fields_told = "".join(code for code in FIELDS if code not in without)
    fields_told += "#" if "#" in without else ""
    told = []
    for number, entries in enumerate(transcript):
        notices = []
        for session, message, replies in entries:
            told.append(f"step {number}, session {session}: {message}")
            heard = [f"    {_one(reply, exact, fields_told)}" for reply in replies
                     if reply.kind != "N"]
            notices += [f"    {session}: {_one(reply, exact, fields_told)}" for reply in replies
                        if reply.kind == "N"]
            if message == ["login"]:
                heard = sorted(heard)
            told += _settings_sorted(heard)
        told += notices
    return told


def _settings_sorted(heard):
    """Neighbouring ParameterStatus messages in the order of their names."""
    parts, run = [], []
    for line in heard:
        if line.startswith("    ParameterStatus"):
            run.append(line)
            continue
        parts += sorted(run) + [line]
        run = []
    return parts + sorted(run)


def without_names(told, side):
    """The databases have different names of one length; each backend's temporary schema has its own."""
    return [TEMPORARY.sub("pg_temp_n", line.replace(side.database, "@db@")) for line in told]
