"""driver: plays a sequence against one side and keeps, for each message, what came back for it."""
import collections
import copy

import sequences
import wire

PATIENCE = 12.0
# What ends the reply to a message; a Query and a Sync end with ReadyForQuery alone. Others have none.
ENDS = {"Parse": "1", "Bind": "2", "Describe": "Tn", "Execute": "CIs", "Close": "3",
        "Query": "Z", "Sync": "Z"}
REFUSED = "select refused"
STAND_INS = {"42703": "refused", "26000": "no such statement", "34000": "no such portal"}


class Hangs(Exception):
    """No reply. Its text says to what."""


def encode(message):
    if message[0] == "Query":
        return wire.query("; ".join(message[1]))
    values = [bytes.fromhex(one["hex"]) if isinstance(one, dict) and message[0] != "Bind" else one
              for one in message[1:]]
    return sequences.encode(message[0], values)


class Talk:
    """One session. `heard` belongs to the messages, in their order."""

    def __init__(self, address):
        self.wire = wire.Wire(address, timeout=PATIENCE)
        self.owed = collections.deque()  # [word, replies] of messages that are not answered
        self.skipping = False            # after an error, up to the next Sync
        self.over = False

    def send(self, messages, goodbye=b""):
        """Returns a list of replies for each message; they fill while others are read."""
        heard = [[] for _ in messages]
        data = b""
        for message, replies in zip(messages, heard):
            data += encode(message)
            if message[0] == "Sync":
                self.skipping = False
            if message[0] in ENDS and not self.skipping:
                self.owed.append((message[0], replies))
        if not self.over:
            try:
                self.wire.send(data + goodbye)
            except OSError:
                pass
        return heard

    def read(self, messages):
        """All that these messages must be answered with now."""
        if not messages or messages[-1][0] not in ("Sync", "Query", "Flush"):
            return
        while self.owed and not self.over:
            try:
                self._take(self.wire.read())
            except (wire.Closed, ConnectionError):
                self.over = True
            except TimeoutError:
                raise Hangs(f"no reply to {self.owed[0][0]}") from None

    def read_to_end(self):
        last = []
        while not self.over:
            try:
                if self.owed:
                    self._take(self.wire.read())
                else:
                    last.append(self.wire.read())
            except (wire.Closed, ConnectionError):
                self.over = True
            except TimeoutError:
                raise Hangs("the connection does not end") from None
        return last

    def _take(self, message):
        word, replies = self.owed[0]
        replies.append(message)
        if message.kind in ENDS[word]:
            self.owed.popleft()
        elif message.kind == "E" and word not in ("Query", "Sync"):
            self.skipping = True
            while self.owed and self.owed[0][0] != "Sync":
                self.owed.popleft()
            if self.owed:
                self.skipping = False

    def close(self):
        """Returns when the server has let go. What it still says belongs to no message."""
        self.owed.clear()
        try:
            if not self.over:
                self.wire.send(wire.terminate())
                self.read_to_end()
        except (OSError, Hangs):
            pass
        self.wire.drop()


class Side:
    """Where a sequence is played: an address, a database, names of roles."""

    def __init__(self, address, admin, database, roles, settle=None):
        """`admin`: a session past keyspread; `settle`: waits until what was done past it is known."""
        self.address, self.admin, self.database = address, admin, database
        self.roles, self.settle = roles, settle
        self.talks = {}

    def fill(self, thing):
        """The names of this worker and side, wherever they stand."""
        if isinstance(thing, str):
            return thing if "@" not in thing else (
                thing.replace("@role@", self.roles[0]).replace("@low@", self.roles[1])
                .replace("@db@", self.database))
        if isinstance(thing, list):
            return [self.fill(one) for one in thing]
        if isinstance(thing, dict):
            return {name: self.fill(one) for name, one in thing.items()}
        return thing

    def play(self, steps):
        """A transcript: for each step a list of (session, message, replies)."""
        try:
            return [self._step(self.fill(step)) for step in steps]
        finally:
            for talk in self.talks.values():
                talk.close()
            self.talks.clear()

    def _step(self, step):
        if "login" in step:
            return self._login(step["login"], step["params"])
        if "past" in step:
            replies = self.admin.query(step["past"])
            if step["wait"] and self.settle:
                self.settle()
            return [(None, ["past"], [one for one in replies if one.kind == "E"])]
        if "end" in step:
            return self._end(step)
        said = [(session, messages, self.talks[session].send(messages))
                for session, messages in step["say"] if session in self.talks]
        for session, messages, _ in said:
            self.talks[session].read(messages)
        return [(session, message, replies) for session, messages, heard in said
                for message, replies in zip(messages, heard)]

    def _login(self, session, params):
        talk = self.talks[session] = Talk(self.address)
        try:
            replies = talk.wire.login(self.roles[0], self.database, **params)
        except wire.Closed as closed:
            replies, talk.over = closed.messages, True
        return [(session, ["login"], replies)]

    def _end(self, step):
        session, messages = step["end"], step["messages"]
        if session not in self.talks:
            return []
        talk = self.talks[session]
        heard = talk.send(messages, wire.terminate() if step["how"] == "terminate" else b"")
        if step["how"] == "shutdown" and not talk.over:
            try:
                talk.wire.socket.shutdown(1)
            except OSError:
                pass
        last = talk.read_to_end()
        return [(session, message, replies) for message, replies in
                list(zip(messages, heard)) + [(["the end"], last)]]


def named(thing, one, other):
    """A message to one side as the other is told it."""
    if isinstance(thing, str):
        return thing.replace(one.database, other.database)
    return [named(part, one, other) for part in thing] if isinstance(thing, list) else thing


def refusals(transcript, is_one=None):
    """Where keyspread refused, by is_refusal() or another one: {(step, place): which statement of a
    Query}, and its errors."""
    found, errors = {}, []
    for at, entries in enumerate(transcript):
        for place, (_, message, replies) in enumerate(entries):
            for reply in replies:
                if reply.kind == "E" and (is_one or is_refusal)(reply):
                    found[at, place] = _statement(message, replies, reply)
                    errors.append((message, reply))
    return found, errors


def is_refusal(reply):
    """keyspread's own error, which names no file of the source, and none that PostgreSQL gives, too.
    A NULL is refused where a BEFORE trigger might fill it in: PostgreSQL's 23502 names the table."""
    fields = reply.fields()
    if "F" in fields or fields["S"] != "ERROR":
        return False
    return (fields["C"] == "0A000" and "cached plan" not in fields["M"]
            or fields["C"] == "23502" and "t" not in fields)


def _statement(message, replies, error):
    """By the error's position, else by how many were answered before."""
    if message[0] != "Query":
        return 0
    position = error.fields().get("P")
    if position is None:
        answered = [number for number, text in enumerate(message[1]) if text]
        return answered[min(sum(one.kind == "C" for one in replies), len(answered) - 1)]
    end = 0
    for number, text in enumerate(message[1]):
        end += len(text) + 2
        if int(position) <= end:
            return number
    return len(message[1]) - 1


def _failing(message, number):
    """A message that PostgreSQL refuses in the place where keyspread refused this one."""
    if message[0] == "Query":
        parts = list(message[1])
        parts[number] = REFUSED
        return ["Query", parts]
    return {"Parse": ["Parse", message[1], REFUSED, []],
            "Bind": ["Bind", "", "no such statement", []],
            "Describe": ["Describe", "P", "no such portal"],
            "Execute": ["Execute", "no such portal", 0]}.get(message[0], message)


def stands_in(fields):
    """The error of what was put there."""
    word = STAND_INS.get(fields.get("C"))
    return word is not None and word in fields["M"]


def with_refusals(steps, found):
    """The same steps, with statements that fail where keyspread refused: what PostgreSQL does with
    the rest is then right for both."""
    steps = copy.deepcopy(steps) if found else steps
    for (at, place), number in found.items():
        step, offset = steps[at], 0
        lists = [step["messages"]] if "end" in step else [said[1] for said in step["say"]]
        for messages in lists:
            if place - offset < len(messages):
                messages[place - offset] = _failing(messages[place - offset], number)
                break
            offset += len(messages)
    return steps
