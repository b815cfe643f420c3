"""generator: sequences by chance, the same for a seed, as steps that JSON can hold.

A step is one of
  {"login": session, "params": {…}}
  {"say": [[session, [message, …]], …]}         sent to all of them, then read from each
  {"past": "sql", "wait": true}                 past keyspread; wait until its catalog may know it
  {"end": session, "how": "terminate" | "shutdown", "messages": […]}
and a message what tests/integration/sequences.py knows, a Query with a list of statements. @role@,
@low@ and @db@ are the names of the worker's roles and of the side's database.
"""
import random

from copies import Copies
from kinds import KINDS
from settings import Settings
from statements import BAD, HARMLESS, Statements
from tables import TABLES, TWINS

NAMES = ("", "", "", "a", "b")


class Generator(Settings, Copies):
    known, favoured = TABLES, TWINS + ("by_set",)  # favoured: whose statements differ the most

    @staticmethod
    def kinds_made():
        return KINDS

    def __init__(self, seed, kinds):
        self.dice, self.kinds = random.Random(seed), kinds
        self.again = random.Random(-seed)
        dice = self.dice
        self.tables = dice.sample(sorted(self.known), dice.choice((1, 1, 1, 2)))
        if dice.random() < 0.3:
            self.tables[0] = dice.choice(self.favoured)
        self.sql = Statements(dice, self.tables, kinds)
        self.steps, self.cleanup, self.renew = [], [], False
        self.loud = dice.random() < 0.1  # see tables.LOUD
        self.sessions, self.open, self.ended = [], set(), set()
        self.prepared = {}
        self.wanted = self._sessions_wanted()

    def _sessions_wanted(self):
        few = "seq" in self.tables or any(kind == "bool" for table in self.tables
                                          for kind in TABLES[table].key.values())
        if "sessions" not in self.kinds or few or self.dice.random() < 0.6:
            return 1
        return self.dice.choice((2, 2, 3))

    def sequence(self):
        self._login(0)
        for _ in range(self.dice.randint(2, 11)):
            if len(self.sessions) < self.wanted and not self.open and self.dice.random() < 0.7:
                self._login(len(self.sessions))
                continue
            self._step()
        if "goodbye" in self.kinds and self.dice.random() < 0.25:
            self._goodbye()
        return {"tables": self.tables, "steps": self.steps, "cleanup": self.cleanup,
                "renew": self.renew, "loud": self.loud}

    def _login(self, session):
        self.sessions.append(session)
        params = self.startup_params() if "startup" in self.kinds else {}
        self.steps.append({"login": session, "params": params})

    def _step(self):
        dice = self.dice
        session = dice.choice(self.sessions)
        self._limit(session)
        if "together" in self.kinds and self.wanted > 1 and len(self.sessions) > 1 and not self.open \
                and dice.random() < 0.3:
            return self._together()
        makers = [self._query] * 4 + [self._multi] * 2 + [self._group] * 5
        if not self.open:
            makers += [self.special] * 4
        if "copy" in self.kinds:
            makers.append(self.copy)
        return dice.choice(makers)(session)

    def _limit(self, session):
        """While another has a transaction open nobody may wait for its rows."""
        count = len(self.sessions)
        self.sql.plain = bool(self.open) or count > 1 and self.dice.random() < 0.5
        alone = not self.open - {session} and not self.open
        self.sql.numbers = range(6) if alone or count == 1 else [
            number for number in range(6) if number % count == session]
        if count > 1 and self.open:
            self.sql.plain = True

    def say(self, session, messages):
        self.steps.append({"say": [[session, messages]]})

    def statements(self, session, *texts):
        self.say(session, [["Query", [text]] for text in texts])

    def _query(self, session):
        dice = self.dice
        if dice.random() < 0.15:
            return self._transaction_word(session)
        count = dice.choice((1, 1, 1, 2, 4))  # several: pipelined
        return self.statements(session, *(self._several(count) if count > 1 else [self.sql.one()]))

    def _transaction_word(self, session):
        if session in self.open:
            word = self.dice.choice(("commit", "rollback", "savepoint s", "rollback to s",
                                     "release s", "commit and chain", "end", "abort"))
            if word in ("commit", "rollback", "end", "abort"):
                self.open.discard(session)
        else:
            word = self.dice.choice(("begin", "begin", "begin isolation level serializable",
                                     "start transaction", "commit", "begin read only"))
            if word != "commit":
                self._open(session)
        return self.statements(session, word)

    def _open(self, session):
        self.open.add(session)
        self._limit(session)

    def _multi(self, session):
        """Several statements in one Query, sometimes with a bad one or a transaction inside."""
        dice = self.dice
        parts = self._several(dice.randint(1, 4))
        if "bad" in self.kinds and dice.random() < 0.3:
            parts.insert(dice.randint(0, len(parts)), dice.choice(BAD))
        if "inner_transactions" in self.kinds and dice.random() < 0.3:
            word = dice.choice(("begin", "commit", "rollback", "savepoint s", "release s"))
            parts.insert(dice.randint(0, len(parts)), word)
            if dice.random() < 0.5:
                parts.insert(dice.randint(0, len(parts)), dice.choice(("commit", "begin")))
            if "begin" in parts and len(self.sessions) > 1:
                parts.append("rollback")
        self.say(session, [["Query", parts]])
        if "begin" in parts and parts[-1] != "rollback":
            self._open(session)

    def _several(self, count):
        """Statements for one text."""
        before, late = self.sql.plain, "late_errors" in self.kinds
        self.sql.plain, self.sql.refusable = before or not late, late
        parts = [self.sql.one() for _ in range(count)]
        self.sql.plain, self.sql.refusable = before, True
        return parts

    def _text(self):
        """(a text to prepare, oids, slots)."""
        dice = self.dice
        if dice.random() < 0.7:
            return self.sql.prepared(dice.random() < 0.7)
        before = self.sql.plain
        self.sql.plain = before or "parse_errors" not in self.kinds
        text = dice.choice((self.sql.one(), self.sql.one(), dice.choice(HARMLESS),
                            "select $1::text", dice.choice(BAD + ["commit", "begin", "rollback"])))
        self.sql.plain = before
        if text in ("begin", "commit", "rollback") and len(self.sessions) > 1:
            text = "select 1"
        return text, [], ["text"] if text == "select $1::text" else []

    def _group(self, session):
        messages, dice = [], self.dice
        for _ in range(dice.choice((1, 1, 1, 2, 3))):
            self._entries(session, messages)
            messages.append(["Sync"])
        flushed = "flush" in self.kinds and dice.random() < 0.2
        if flushed:
            messages[-1] = ["Flush"]
        if not flushed and self.again.random() < 0.2:  # what was new is not any more
            messages = messages * 3
        self.say(session, messages)
        if flushed:
            more = []
            if dice.random() < 0.5:
                self._entries(session, more)
            self.say(session, more + [["Sync"]])
        self.note_begin(session, messages)

    def note_begin(self, session, messages):
        if "begin" in str(messages):
            self._open(session)

    def _name(self, known):
        """Of the statement to use: one that surely is what it was, unless names may be given anew."""
        if "wrong_parameters" in self.kinds:
            return self.dice.choice(NAMES)
        named = [name for name in known if name]
        return self.dice.choice(named + [""] * 3 + [f"s{len(known)}"] * 2)

    def _entries(self, session, messages):
        dice = self.dice
        self.prepared.setdefault(session, {}).pop("", None)
        for _ in range(dice.choice((1, 1, 2, 3, 5))):
            known, portal = self.prepared[session], dice.choice(("", "", "", "p"))
            name = self._name(known)
            again = dice.random() < 0.4 and (not name or "wrong_parameters" in self.kinds)
            if name not in known or again:
                if name in known and name:
                    messages.append(["Close", "S", name])
                text, oids, slots = self._text()
                known[name] = slots, oids
                messages.append(["Parse", name, text, oids])
                if dice.random() < 0.3:
                    messages.append(["Describe", "S", name])
            self._bind(known[name], messages, portal, name)

    def _bind(self, known, messages, portal, name):
        dice, (slots, oids) = self.dice, known
        given, formats = self.sql.bound(slots, oids)
        if dice.random() < 0.02 and "parameter_counts" in self.kinds:
            given = given[:-1]
        results = dice.choice(([], [], [], [1], [0]))
        messages.append(["Bind", portal, name,
                         [None if one is None else {"hex": one.hex()} for one in given],
                         formats if any(formats) else [], results])
        if dice.random() < 0.3:
            messages.append(["Describe", "P", portal])
        if "bind_only" not in self.kinds or dice.random() < 0.9:
            messages.append(["Execute", portal, dice.choice((0, 0, 0, 0, 1, 2))])
        if dice.random() < 0.1:
            messages.append(["Execute", portal, dice.choice((0, 1))])
        if portal or dice.random() < 0.1:
            messages.append(["Close", "P", portal])

    def _together(self):
        """Really at once: autocommitted inserts of keys that nobody shares."""
        said, count = [], len(self.sessions)
        for session in self.sessions:
            self.sql.plain = True
            self.sql.numbers = [number for number in range(6) if number % count == session]
            said.append([session, [["Query", [self.sql.insert()]]
                                   for _ in range(self.dice.randint(1, 5))]])
        self.steps.append({"say": said})

    def _goodbye(self):
        session = self.sessions[-1]
        self._limit(session)
        messages = []
        for _ in range(self.dice.randint(1, 6)):
            if self.dice.random() < 0.6:
                messages.append(["Query", [self.sql.one()]])
            else:
                self._entries(session, messages)
                messages.append(["Sync"])
        self.steps.append({"end": session, "messages": messages,
                           "how": self.dice.choice(("terminate", "shutdown"))})
