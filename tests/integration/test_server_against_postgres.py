#!/usr/bin/python3
"""The server's half of the protocol against PostgreSQL: the same messages by chance, valid and not,
are sent to a PostgreSQL directly and to ydb/server, which has another database of the same
PostgreSQL run one text at a time for it. What is replied, and what is stored, must be the same.

  test_server_against_postgres.py [SERVER_PROBE [SEQUENCES [SEED]]]

Without an argument server_probe is looked for in tests/ beside the program that KEYSPREAD names.
"""
import contextlib
import os
import random
import struct
import subprocess
import sys
import unittest

import harness
import wire

SEQUENCES, SEED = 400, 1
CLEANUP = "skipping cleanup for portal"  # what PostgreSQL says about itself
SETUP = """create table t (a int primary key, b text);
create table r (a int, b text); insert into r values (1, 'one'), (2, null), (3, 'three');
create table z (a int); insert into z values (0)"""
RESET = "truncate t; insert into t values (1, 'x'), (2, 'y'); drop table if exists made"

# Text, and what its parameters may be.
GOOD = ["1", "2", "7", None, b"\0\0\0\5"]
READS = [("select a, b from r order by a", []), ("select a from r where a = $1", [GOOD]),
         ("select $1::int4 as x, $2 as y", [GOOD, ["text", None, ""]]),
         ("select g from generate_series(1, 6) g", []), ("select from r", []),
         ("values (1, 'a'), (2, null)", []), ("show server_encoding", []),
         ("explain (costs off) select 1", []), ("select 1 / a from z", []),
         ("select a, b as long_name, true as c from r where a < $1 order by a", [GOOD])]
WRITES = [("insert into t values ($1, $2)", [GOOD, ["new", None]]),
          ("insert into t values (3, 'three')", []), ("insert into t values (1, 'again')", []),
          ("insert into t select a + 3, b from r where a > 1 returning a, b", []),
          ("insert into t values ($1, 'r') returning a", [GOOD]),
          ("update t set b = 'z' where a = $1", [GOOD]),
          ("update t set b = 'w' returning a", []), ("delete from t where a < $1", [GOOD]),
          ("delete from t", []), ("create table made as select a from r", []),
          ("create table made (a int)", []), ("drop table made", [])]
CONTROLS = ["begin", "begin", "begin", "commit", "commit", "rollback", "start transaction", "end",
            "abort", "commit and chain", "rollback and chain", "savepoint s", "release s"]
WRONG = ["selekt 1", "select * from nowhere", "select $2 as x", "select nothing from r",
         "insert into t values (1, 2, 3)", "  select  a, oops  from r", "select 1; select 2",
         "update t set a = 'text'"]
EMPTY = ["", " ; "]
# Errors of what EXECUTE and FETCH run come before any row there, and a cursor sees what was there
# when it was declared: so they read what neither fails nor changes.
ORDERS = ["prepare x as select a, b from r where a = $1", "prepare x (int) as select $1 + 1 as n",
          "prepare y (int, text) as insert into t values ($1, $2) returning a",
          "prepare y (int4, text) as insert into t values ($1 , $2)",
          "prepare x as select a from nowhere", "prepare s as select nothing from r",
          "prepare x as select $1", "prepare x (int, int) as select 1",
          "prepare y as update t set b = $1 where a = $2",
          "execute x(1)", "execute x (1 + 1)", "execute x", "execute x(1, 2)", "execute x(null)",
          "execute y(7, 'x''y')", "execute y(8, null)", "execute y('text', 2)", "execute y(1, (2))",
          "execute y(9, upper('b') || ',(')", "execute never(1)", "execute x(a)",
          "execute x((select 1))", "deallocate x", "deallocate prepare y", "deallocate all",
          "deallocate s", "declare c cursor for select a, b from r order by a",
          "declare c no scroll cursor without hold for select g from generate_series(1, 6) g",
          "declare d cursor for values (1, 'a')", "declare c cursor for select from nowhere",
          "fetch c", "fetch 2 from c", "fetch forward 3 in c", "fetch all c", "fetch next from d",
          "move c", "move forward all in c", "move 2 from c", "close c", "close d", "close all",
          "discard plans", "discard sequences", "discard temp"]
LONE = ["discard all", "show server_encoding"]
DECLARED = ["declare c cursor for select a, b from r where a > $1 order by a",
            "declare c cursor for select g from generate_series($1::int4, 6) g"]
SEE = "select a, b from t order by a"  # a portal sees t as it is when bound: run at once
NAMES = ["", "", "s", "u"]
OIDS = {"insert into t values ($1, $2)": (23, 25), "select $1::int4 as x, $2 as y": (0, 1043)}


class Writer:
    """Makes one sequence; knows roughly what is there, so that most of it makes sense."""

    def __init__(self, rng):
        self.rng = rng
        self.orders = rng.choice([0, 0.1, 0.6])  # how often a text is one
        self.statements = {}
        self.portals = {}

    def text(self):
        if self.rng.random() < self.orders:
            return self.rng.choice(ORDERS), []
        kind = self.rng.random()
        if kind < 0.4:
            return self.rng.choice(READS)
        if kind < 0.7:
            return self.rng.choice(WRITES)
        if kind < 0.85:
            return self.rng.choice(CONTROLS), []
        return self.rng.choice(WRONG if kind < 0.95 else EMPTY), []

    def query(self):
        count = self.rng.choice([1, 1, 1, 2, 3])
        if self.rng.random() < self.orders / 20:
            return [wire.query(self.rng.choice(LONE)), wire.close("P", "")]
        texts = []
        while len(texts) < count:
            text, parameters = self.text()
            if not parameters and (count == 1 or text not in WRONG[:1] + EMPTY):
                texts.append(text)
        # One that fails while it runs leaves an unnamed portal, one that fails before does not;
        # which of them it was, nobody behind can tell.
        return [wire.query(self.rng.choice(["; ", ";", " ;\n"]).join(texts)),
                wire.close("P", "")]

    def parse(self):
        name = self.rng.choice(NAMES)
        text, parameters = self.text()
        oids = OIDS.get(text, ()) if self.rng.random() < 0.5 else ()
        if self.rng.random() < 0.03:
            oids = (0, 23)
        self.statements[name] = parameters
        close = [wire.close("S", name)] if name and self.rng.random() < 0.7 else []
        return close + [wire.parse(name, text, oids)]

    def values(self, parameters):
        values = [self.rng.choice(choices) for choices in parameters]
        formats = [int(isinstance(value, bytes)) for value in values]
        if self.rng.random() < 0.05:
            values = self.rng.choice([[], ["1"], ["x", "y"], ["1", "2", "3"]])
            formats = self.rng.choice([[], [0], [1], [0, 0], [2], [0, 1, 2]])
        return values, formats

    def results(self):
        if self.rng.random() < 0.7:
            return ()
        return self.rng.choice([(0,), (1,), (0, 1), (1, 1), (0, 0, 1), (7,), (0, 1, 1)])

    def bind(self):
        name = self.rng.choice(list(self.statements) or NAMES)
        if self.rng.random() < 0.05:
            name = self.rng.choice(["", "u", "never"])
        portal = self.rng.choice(["", "", "p", "q"])
        values, formats = self.values(self.statements.get(name, []))
        self.portals[portal] = True
        close = [wire.close("P", portal)] if portal and self.rng.random() < 0.7 else []
        return close + [wire.bind(portal, name, values, formats, self.results())]

    def portal(self):
        if self.rng.random() < 0.05:
            return self.rng.choice(["p", "never"])
        return self.rng.choice(list(self.portals) or [""])

    def execute(self):
        return [wire.execute(self.portal(), self.rng.choice([0, 0, 0, 1, 2, 3, 6, 2**32 - 1]))]

    def describe(self):
        if self.rng.random() < 0.5:
            return [wire.describe("S", self.rng.choice(list(self.statements) or NAMES))]
        return [wire.describe("P", self.portal())]

    def close(self):
        return [wire.close(*self.rng.choice([("S", ""), ("S", "s"), ("P", ""), ("P", "p")]))]

    def whole(self):
        portal = self.rng.choice(["", "p"])
        close = [wire.close("P", portal)] if portal else []
        described = [wire.describe("P", portal)] if self.rng.random() < 0.5 else []
        return (self.parse_unnamed() + close + self.bind_unnamed(portal) + described
                + [wire.execute(portal)])

    def parse_unnamed(self):
        text, parameters = self.text()
        self.statements[""] = parameters
        return [wire.parse("", text)]

    def bind_unnamed(self, portal):
        self.portals[portal] = True
        values, formats = self.values(self.statements[""])
        return [wire.bind(portal, "", values, formats, self.results())]

    def fetch(self):
        """A portal run in pieces, with something in between."""
        text, parameters = self.rng.choice(READS[:6] + WRITES[3:5])
        portal = self.rng.choice(["", "q"])
        values, formats = self.values(parameters)
        pieces = [[wire.execute(portal, self.rng.randint(1, 3))]
                  + self.rng.choice([[], [], [wire.flush()], self.see(), [wire.sync()],
                                     [wire.close("S", "")], self.close()])
                  for _ in range(self.rng.randint(1, 4))]
        return [wire.close("P", portal), wire.parse("", text),
                wire.bind(portal, "", values, formats)] + sum(pieces, [])

    def prepared(self):
        """Statements of the one protocol in the other."""
        text, parameters = self.rng.choice(READS[:6] + WRITES[:5])
        arguments = ", ".join(self.rng.choice(["1", "2", "'7'", "null", "3 + 4"])
                              for _ in parameters)
        execute = f"execute x({arguments})" if parameters else "execute x"
        if self.rng.random() < 0.5:
            made = [wire.close("S", "x"), wire.parse("x", text)]
        else:
            made = [wire.sync(), wire.query("deallocate all"), wire.query(f"prepare x as {text}")]
        run = self.rng.choice([
            lambda: [wire.sync(), wire.query(execute), wire.close("P", "")],
            lambda: [wire.parse("", execute), wire.bind("", "", (), (), self.results()),
                     wire.describe("P", ""), wire.execute("", self.rng.choice([0, 1, 2])),
                     wire.execute("")],
            lambda: [wire.parse("", execute), wire.describe("S", ""), wire.bind("", "")]
            + self.close() + [wire.execute("")]])
        return made + run() + run()

    def cursor(self):
        """A cursor that messages have declared."""
        fetch = self.rng.choice(["fetch 4 c", "fetch all c", "fetch c", "move 2 c", "move all c"])
        steps = [[wire.execute("c", self.rng.randint(0, 3))], [wire.describe("P", "c")],
                 [wire.parse("", fetch), wire.bind("", ""), wire.execute("")],
                 [wire.parse("", fetch), wire.describe("S", ""), wire.bind("", ""),
                  wire.describe("P", ""), wire.execute("", 2), wire.execute("", 2),
                  wire.execute("")] if "fetch" in fetch else [],
                 [wire.sync(), wire.query(fetch), wire.close("P", "")], [wire.close("P", "c")],
                 self.see()]
        declare = [wire.parse("", self.rng.choice(DECLARED)), wire.describe("S", ""),
                   wire.bind("", "", ["1"], [0]), wire.describe("P", ""), wire.execute("")]
        begin = [wire.sync(), wire.query("begin"), wire.close("P", "c")]
        return ((begin if self.rng.random() < 0.8 else []) + declare
                + sum(self.rng.choices(steps, k=self.rng.randint(1, 6)), []))

    def see(self):
        return [wire.parse("", SEE), wire.bind("", ""), wire.execute(""), wire.close("S", ""),
                wire.close("P", "")]

    def sync(self):
        return [wire.sync()]

    def flush(self):
        return [wire.flush()]

    def stray(self):
        return [self.rng.choice([wire.copy_data("x"), wire.copy_done(), wire.copy_fail("no")])]

    def malformed(self):
        whole = self.rng.choice([self.query, self.parse, self.bind, self.execute, self.describe,
                                 self.close, self.flush, self.sync])()[0]
        kind, body = chr(whole[0]), whole[5:]
        cut = self.rng.randrange(len(body) + 1)
        change = self.rng.choice([lambda: body[:cut], lambda: body + b"\0x", lambda: b"",
                                  lambda: body[:cut] + b"\xff" + body[cut + 1:]])
        return [wire.frame(kind, change())]

    STEPS = [("query", 6), ("parse", 10), ("bind", 12), ("execute", 14), ("describe", 5),
             ("close", 3), ("whole", 10), ("see", 3), ("fetch", 6), ("prepared", 3), ("cursor", 3),
             ("sync", 12), ("flush", 3), ("stray", 1)]

    def sequence(self):
        names, weights = zip(*self.STEPS, ("malformed", self.rng.choice([0, 0, 0, 2])))
        messages = []
        for _ in range(self.rng.randint(1, 40)):
            messages += getattr(self, self.rng.choices(names, weights)[0])()
        messages.append(wire.sync())
        if self.rng.random() < 0.05:
            messages.append(wire.frame("~"))
        return messages + [wire.query("rollback; " + SEE), wire.terminate()]


class Failed(Exception):
    """The backend's ErrorResponse."""


class Backend:
    """What runs one text at a time for the probe."""

    def __init__(self, session):
        self.session = session
        self.runs = {}  # the answers that a portal's run has left

    def ask(self, *messages):
        replies = self.session.ask(*messages)
        for reply in replies:
            if reply.kind == "E":
                raise Failed(reply, replies)
        return {reply.kind: reply.body for reply in replies}, replies

    def analyze(self, text, types):
        found, _ = self.ask(wire.parse("", text, types), wire.describe("S", ""), wire.sync())
        oids = struct.unpack(f"!{len(found['t']) // 4}I", found["t"][2:])
        return ["analyzed", ",".join(map(str, oids)), found.get("T", b"").hex() or "-"]

    @staticmethod
    def bind_of(action, results):
        names = b"\0\0" + struct.pack("!H", action.format_count) + action.formats
        return wire.frame("B", names + struct.pack("!H", action.value_count) + action.values
                          + results)

    def bind(self, action):
        self.ask(wire.parse("", action.text, action.types), self.bind_of(action, b"\0\0"),
                 wire.sync())
        return ["done"]

    def run(self, action):
        """The answers, to be given one by one."""
        messages = [wire.parse("", action.text, action.types),
                    self.bind_of(action, action.results or b"\0\0"), wire.execute(""), wire.sync()]
        try:
            _, replies = self.ask(*([wire.query(action.text)] if action.queried else messages))
            error = None
        except Failed as failed:
            error, replies = failed.args
        answers = []
        for reply in replies:
            if reply.kind == "T":
                answers.append(["columns", reply.body.hex()])
            elif reply.kind == "D":
                answers.append(["row", reply.body.hex()])
            elif reply.kind == "C":
                answers.append(["completed", reply.tag()])
        return answers + ([self.failure(error)] if error else [])

    @staticmethod
    def failure(error):
        fields = error.fields()
        return ["failed", fields["C"], fields.get("P", "0"), fields["M"].replace("\n", " ")]

    def control(self, text):
        self.ask(wire.query(text))
        return ["done"]


class Action:
    """A line of the probe."""

    def __init__(self, line):
        fields = line.rstrip("\n").split("\t")
        self.replies = self.unhex(fields[0])
        self.running, self.kind, self.portal = fields[1] == "1", fields[2], fields[3]
        self.text = self.unhex(fields[5]).decode()
        if self.kind == "analyze" or self.portal:
            self.types = [int(oid) for oid in fields[6].split(",") if oid]
        if self.portal:
            self.formats, self.values, self.results = map(self.unhex, fields[7:10])
            self.format_count, self.value_count = int(fields[10]), int(fields[11])
            self.queried = fields[12] == "1"

    def is_same_run(self, other):
        return self.running and (self.kind, self.portal) == (other.kind, other.portal)

    @staticmethod
    def unhex(field):
        return b"" if field == "-" else bytes.fromhex(field)


class Half:
    """The probe, led from action to action."""

    def __init__(self, path, backend):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.backend = backend
        self.replies = b""
        self.asked = {}

    def say(self, *fields):
        self.process.stdin.write("\t".join(fields) + "\n")
        self.process.stdin.flush()
        action = Action(self.process.stdout.readline())
        self.replies += action.replies
        return action

    def answer(self, action):
        try:
            if action.kind == "analyze":
                return self.say(*self.backend.analyze(action.text, action.types))
            if action.kind == "bind":
                return self.say(*self.backend.bind(action))
            if action.kind in ("begin", "commit", "rollback"):
                return self.say(*self.backend.control(action.text or action.kind))
        except Failed as failed:
            return self.say(*self.backend.failure(failed.args[0]))
        if action.kind in ("end", "settle", "modes"):
            self.backend.runs.pop(action.portal, None)
            return self.say("done")
        return self.run(action)

    def run(self, action):
        """Answers until no more are wanted, and keeps the rest."""
        if action.kind == "run":
            self.backend.runs[action.portal] = self.backend.run(action)
        answers = self.backend.runs[action.portal]
        following, given = action, ["row"]
        while given[0] in ("row", "columns") and following.is_same_run(action):
            given = answers.pop(0)
            following = self.say(*given)
        return following

    def play(self, messages):
        """The replies to all messages, or to those up to the end of the connection."""
        self.replies, self.asked = b"", {}
        self.say("new")
        for message in messages:
            action = self.say("message", chr(message[0]), message[5:].hex() or "-")
            while action.kind not in ("message", "close"):
                self.asked[action.kind] = self.asked.get(action.kind, 0) + 1
                action = self.answer(action)
            if action.kind == "close":
                break
        return cut(self.replies)

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(timeout=harness.PATIENCE)


def cut(stream):
    """Messages out of bytes."""
    messages, at = [], 0
    while at < len(stream):
        size = struct.unpack_from("!I", stream, at + 1)[0]
        messages.append(wire.Message(chr(stream[at]), stream[at + 5:at + size + 1]))
        at += size + 1
    return messages


def shown(reply):
    """A reply without what may differ: oids of tables, and the words for what no grammar has."""
    if reply.kind in "EN":
        fields = reply.fields()
        wordless = fields["C"] in ("42601", "08P01", "22021")
        # One in an argument of EXECUTE has no place in the text that is run.
        place = fields.get("P") if fields["C"] != "22P02" else None
        return " ".join([reply.kind, fields["S"], fields["C"],
                         "" if wordless else f"{fields['M']} @{place}"])
    if reply.kind == "T":
        return f"T {[(column[0], *column[3:]) for column in reply.columns()]}"
    return f"{reply.kind} {reply.body!r}"


def direct(address, messages):
    with contextlib.closing(wire.Wire(address)) as session:
        session.login(harness.USER, "direct")
        session.send(*messages)
        return session.read_to_end()


class ServerAgainstPostgres(unittest.TestCase):
    maxDiff = None
    probe, sequences, seed = None, SEQUENCES, SEED

    def setUp(self):
        self.postgres = harness.Postgres()
        self.addCleanup(self.postgres.remove)
        for database in ("direct", "behind"):
            self.postgres.create_database(database)
            with self.postgres.admin(database) as admin:
                admin.rows(SETUP)
        self.address = ("127.0.0.1", self.postgres.port)
        self.admins = [self.postgres.admin(name) for name in ("direct", "behind")]
        for admin in self.admins:
            self.addCleanup(admin.close)
        self.figures = {"messages": 0, "replies": 0, "errors": 0}

    def compare(self, half, messages, seed):
        for admin in self.admins:
            admin.rows(RESET)
        expected = [shown(reply) for reply in direct(self.address, messages)]
        expected = [reply for reply in expected if CLEANUP not in reply]
        with wire.Wire(self.address) as session:
            session.login(harness.USER, "behind")
            half.backend = Backend(session)
            got = [shown(reply) for reply in half.play(messages)]
        if expected != got:
            self.fail(f"seed {seed}:\n" + "\n".join(map(repr, messages)) + "\n--- PostgreSQL\n"
                      + "\n".join(expected) + "\n--- server\n" + "\n".join(got))
        stored = [admin.rows(SEE) for admin in self.admins]
        self.assertEqual(*stored, f"seed {seed}: what is stored")
        self.count(messages, expected, half.asked)

    def count(self, messages, replies, asked):
        self.figures["messages"] += len(messages)
        self.figures["replies"] += len(replies)
        self.figures["errors"] += sum(reply.startswith("E") for reply in replies)
        for kind, times in asked.items():
            self.figures[kind] = self.figures.get(kind, 0) + times

    def test_the_same_is_replied(self):
        path = self.probe or os.path.join(os.path.dirname(harness.program()), "tests/server_probe")
        half = Half(path, None)
        try:
            for seed in range(self.seed, self.seed + self.sequences):
                self.compare(half, Writer(random.Random(seed)).sequence(), seed)
        finally:
            status = half.stop()
        self.assertEqual(status, 0)
        print(f"{self.sequences} sequences: "
              + ", ".join(f"{count} {what}" for what, count in self.figures.items()))


if __name__ == "__main__":
    given = sys.argv[1:]
    if given:
        ServerAgainstPostgres.probe = given[0]
    if given[1:]:
        ServerAgainstPostgres.sequences = int(given[1])
    if given[2:]:
        ServerAgainstPostgres.seed = int(given[2])
    unittest.main(argv=sys.argv[:1])
