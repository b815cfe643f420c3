"""ydb_compare: transcripts of PostgreSQL and of keyspread before YDB's endpoint, made equal where they
may differ.

Allowed differences, all of them:
- an error's words and fields: of it the severity and the SQLSTATE count, of a notice too;
- which table and column of it a result's column is: YDB tells neither;
- what is wrong with a text or a value, met when it is executed, not when it is parsed or bound: YDB is
  not asked before, and nothing happens between; so a statement with a wrong constant is prepared, which
  direct is not there (26000), and says again what is wrong with it; prepared once more by its name it is
  there already (42P05);
- a refusal (0A000) that ydb.txt names with its reason stands where direct a statement was put that
  fails: see driver; in a transaction that has failed it stands for 25P02;
- 25006 stands for whatever else is wrong with a write in a read-only transaction: YDB is not asked;
- 21000, for which the keys are enough, stands for a value that only evaluating it shows to be wrong;
- of several wrong values another may be told of first, as docs/ydb.md says: one that cannot be read
  (class 22) before one of another type (42804), for the keys of ON CONFLICT are asked for in the order of
  the key; a parameter that is executed before a constant that PostgreSQL meets when it parses;
- process ids and keys; the version of the server, and whether somebody is a superuser;
- search_path is told at login, which PostgreSQL does since 18.

Who meets 40001 in a transaction is by chance on either side: such a sequence is not compared.
"""
import os
import re

import driver
import wire

REASONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ydb.txt")
EARLY = ("Parse", "Bind", "Describe")
ENDS = ("Sync", "Query")
TRANSACTION_TAGS = ("BEGIN", "START TRANSACTION", "COMMIT", "ROLLBACK")
OWN = ("server_version", "is_superuser")  # settings that are the endpoint's
ALONE = ("search_path",)  # settings that it tells, and PostgreSQL 15 does not


def is_refusal(reply):
    fields = reply.fields()
    return fields["S"] == "ERROR" and fields["C"] == "0A000" and "F" not in fields


def reasons():
    """[(pattern of a refusal's words, why)]"""
    with open(REASONS, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(" | ") for line in file
                 if line.strip() and not line.startswith("#")]
    return [(re.compile(pattern), why) for pattern, why in lines]


KNOWN = reasons()


def without_reason(refused):
    """What was refused and is not in the list."""
    found = []
    for message, error in refused:
        fields = error.fields()
        words = "\n".join(fields.get(code, "") for code in "MD")
        if not any(pattern.search(words) for pattern, _ in KNOWN):
            found.append(f"refused without a reason: {message}: {words}")
    return found


def conflicts(*transcripts):
    return any(reply.kind == "E" and reply.sqlstate == "40001" for transcript in transcripts
               for entries in transcript for _, _, replies in entries for reply in replies)


def _cycles(entries):
    """Places of messages that one Sync or Query ends."""
    cycle = []
    for place, (session, message, _) in enumerate(entries):
        if cycle and entries[cycle[0]][0] != session:
            yield cycle
            cycle = []
        cycle.append(place)
        if message[0] in ENDS:
            yield cycle
            cycle = []
    if cycle:
        yield cycle


def _failed(entries, cycle):
    """(place, SQLSTATE) of a group's error."""
    for place in cycle:
        _, message, replies = entries[place]
        for reply in replies:
            if reply.kind == "E" and message[0] != "Query":
                return place, reply
    return None, None


def _settle(direct, through):
    """An error that is met early direct and later through keyspread is taken for met early."""
    for cycle in _cycles(direct):
        early, error = _failed(direct, cycle)
        late, other = _failed(through, cycle)
        if early is None or late is None or early >= late or direct[early][1][0] not in EARLY:
            continue
        between = [reply for place in range(early, late) for reply in through[place][2]]
        if any(one.kind == "C" and one.tag() in TRANSACTION_TAGS for one in between):
            continue
        values = error.sqlstate[:2] in ("22", "26") and other.sqlstate.startswith("22")
        if error.sqlstate == other.sqlstate or values or is_refusal(other):
            for place in range(early, late + 1):
                direct[place][2][:] = []
                through[place][2][:] = []


def _errors(replies):
    return [place for place, reply in enumerate(replies) if reply.kind == "E"]


def _stands_for(other, error):
    """Whether keyspread's `other` error may be told instead."""
    return (is_refusal(other) and error.sqlstate == "25P02"
            or other.sqlstate in ("25006", "21000") and error.fields()["S"] == "ERROR"
            or other.sqlstate.startswith("22") and error.sqlstate == "42804"
            or other.sqlstate == "42P05" and error.sqlstate.startswith("22"))


def _replace(direct, through):
    for (_, _, there), (_, _, here) in zip(direct, through):
        errors, others = _errors(there), _errors(here)
        if len(errors) == len(others) == 1 and _stands_for(here[others[0]], there[errors[0]]):
            there[errors[0]] = here[others[0]]


def _one(message):
    if message.kind in "EN":
        fields = message.fields()
        if is_refusal(message) or driver.stands_in(fields):
            return f"{message.name} refused"
        return f"{message.name} {fields['S']} {fields['C']}"
    if message.kind == "T":
        return f"{message.name} {[(column[0], *column[3:]) for column in message.columns()]}"
    if message.kind == "K" or message.kind == "S" and message.body.split(b"\0")[0].decode() in OWN:
        return message.name
    return repr(wire.Message(message.kind, message.body))


def _is_told(message):
    return not (message.kind == "S" and message.body.split(b"\0")[0].decode() in ALONE)


def _lines(transcript):
    told = []
    for number, entries in enumerate(transcript):
        notices = []
        for session, message, replies in entries:
            told.append(f"step {number}, session {session}: {message}")
            heard = [f"    {_one(reply)}" for reply in replies if reply.kind != "N" and _is_told(reply)]
            notices += [f"    {session}: {_one(reply)}" for reply in replies if reply.kind == "N"]
            told += sorted(heard) if message == ["login"] else heard
        told += notices
    return told


def told(direct, through):
    """Lines of both, to be compared. The messages are shown as keyspread was sent them."""
    for there, here in zip(direct, through):
        _settle(there, here)
        _replace(there, here)
        there[:] = [(session, message, replies)
                    for (session, _, replies), (_, message, _) in zip(there, here)]
    return _lines(direct), _lines(through)
