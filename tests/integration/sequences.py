"""sequences: message sequences as text, played on a connection, and their replies made comparable.

A file holds several: `== name` begins one, then one message or instruction a line, # comments.
Names are bare words or "…"; texts and lists are JSON ("" is the unnamed statement or portal).

  Query "sql"                           Parse name "sql" [oids]
  Bind portal statement [values] [formats] [result formats]     a value: text, number, null,
                                        {"hex": "00ff"}
  Describe S|P name                     Close S|P name          Execute portal limit
  Sync    Flush    Terminate            FunctionCall oid [arguments]
  CopyData "text" | {"hex": "…"}        CopyDone                CopyFail "reason"
  Frame type "body" (latin-1)           Raw "bytes" (latin-1: sent without a frame)

  startup name=value …                  before everything: startup parameters
  read [n]                              up to the n'th ReadyForQuery
  read-until Name …                     up to one of these messages
  read-end                              up to the end of the connection
  read-fatal SQLSTATE                   the connection ends, by this error or (PostgreSQL does that
                                        for broken frames) without a word; what comes before in the
                                        same read does not count
  elsewhere "sql"                       on another connection, past keyspread
  loose                                 errors made by keyspread: only severity and SQLSTATE count

Messages go out together when something is read. At the end the connection must still be in step:
a last Query is sent and everything up to its reply belongs to the replies, unless they were read
to the end.
"""
import json

import wire

LAST = "select 'the last word'"


class Sequence:
    def __init__(self, file, line, name):
        self.file, self.line, self.name = file, line, name
        self.steps = []
        self.params = {}
        self.loose = False

    def add(self, number, text):
        words = split(text)
        if words[0] == "startup":
            self.params.update(word.split("=", 1) for word in words[1:])
        elif words[0] == "loose":
            self.loose = True
        else:
            self.steps.append((number, words[0], words[1:]))


def split(text):
    """Words, JSON strings, lists and objects, in their order."""
    decoder, words, at = json.JSONDecoder(), [], 0
    while at < len(text):
        if text[at] in " \t":
            at += 1
        elif text[at] in '"[{':
            value, at = decoder.raw_decode(text, at)
            words.append(value)
        else:
            end = at
            while end < len(text) and text[end] not in " \t":
                end += 1
            words.append(text[at:end])
            at = end
    return words


def load(path):
    sequences = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if line.startswith("== "):
                sequences.append(Sequence(path, number, line[3:]))
            elif line and not line.startswith("#"):
                sequences[-1].add(number, line)
    return sequences


def _value(value):
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value


def _bytes(value):
    return _value(value) if isinstance(value, dict) else value.encode()


def encode(word, arguments):
    """One message of the text as bytes."""
    if word == "Bind":
        portal, statement, values, formats, results = (arguments + [[], [], []])[:5]
        return wire.bind(portal, statement, [_value(value) for value in values], formats, results)
    if word in ("CopyData",):
        return wire.copy_data(_bytes(arguments[0]))
    if word == "Frame":
        return wire.frame(arguments[0], arguments[1].encode("latin-1"))
    if word == "Raw":
        return arguments[0].encode("latin-1")
    if word == "Execute":
        return wire.execute(arguments[0], int(arguments[1]) if len(arguments) > 1 else 0)
    if word == "FunctionCall":
        return wire.function_call(int(arguments[0]), arguments[1])
    builders = {"Query": wire.query, "Parse": wire.parse, "Describe": wire.describe,
                "Close": wire.close, "Sync": wire.sync, "Flush": wire.flush,
                "Terminate": wire.terminate, "CopyDone": wire.copy_done,
                "CopyFail": wire.copy_fail}
    return builders[word](*arguments)


CODES = {name: kind for kind, name in wire.NAMES.items()}


class Player:
    """Plays one sequence. `piecewise` sends every message in a write of its own."""

    def __init__(self, sequence, session, elsewhere, piecewise=False):
        self.sequence, self.session, self.elsewhere = sequence, session, elsewhere
        self.piecewise = piecewise
        self.pending, self.replies = [], []
        self.ended = False

    def play(self):
        number, word = self.sequence.line, "the last word"
        try:
            for number, word, arguments in self.sequence.steps:
                self._step(word, arguments)
                if self.ended:
                    break
            if not self.ended:
                self._finish()
        except TimeoutError:
            raise AssertionError(
                f"{self.sequence.file}:{number}: no reply at `{word}`; so far:\n"
                + "\n".join(map(repr, self.replies))) from None
        return self.replies

    def _send(self):
        messages, self.pending = self.pending, []
        for part in messages if self.piecewise else [b"".join(messages)]:
            self.session.send(part)

    def _collect(self, read, *arguments):
        try:
            self.replies += read(*arguments)
        except wire.Closed as closed:
            self.replies += closed.messages
            self.ended = True

    def _step(self, word, arguments):
        if word == "read":
            self._send()
            for _ in range(int(arguments[0]) if arguments else 1):
                self._collect(self.session.read_until, "Z")
        elif word == "read-until":
            self._send()
            self._collect(self.session.read_until, *(CODES[name] for name in arguments))
        elif word == "read-end":
            self._send()
            self._collect(self.session.read_to_end)
            self.ended = True
        elif word == "read-fatal":
            self._read_fatal(arguments[0])
        elif word == "elsewhere":
            self._send()
            self.elsewhere(arguments[0])
        else:
            self.pending.append(encode(word, arguments))

    def _read_fatal(self, sqlstate):
        try:
            self._send()
        except ConnectionError:
            pass
        messages = self.session.read_to_end()
        if messages and messages[-1].kind == "E":
            fields = messages.pop().fields()
            assert (fields["S"], fields["C"]) == ("FATAL", sqlstate), fields
        self.ended = True

    def _finish(self):
        self.pending.append(wire.query(LAST))
        self._send()
        while not self.ended:
            self._collect(self.session.read_until, "Z")
            if any(message.kind == "D" and b"the last word" in message.body
                   for message in self.replies[-4:]):
                break


def _error_text(message, keep):
    fields = message.fields()
    return f"{message.name} " + " ".join(
        f"{code}={fields[code]!r}" for code in fields if code in keep)


def _met_at_bind(pair):
    """A statement may be prepared there only when it is bound: in a transaction that has failed the
    server then refuses the Parse, where it would refuse the Bind, in the same words."""
    return all(one.kind == "E" and one.fields()["C"] == "25P02" for one in pair) and {
        one.fields().get("R") for one in pair} == {"exec_parse_message", "exec_bind_message"}


def normalise(messages, others, loose):
    """Replies as text, less what must differ: process ids, keys, the oids of tables. `others` are
    the replies of the other run: an error that keyspread made itself names no source file, and its
    partner is compared without it as well."""
    lines = []
    for index, message in enumerate(messages):
        if message.kind == "K":
            lines.append(message.name)
        elif message.kind == "A":
            lines.append(f"{message.name} {message.body[4:]!r}")
        elif message.kind == "T":
            lines.append(f"{message.name} " + str([
                (column[0], "table" if column[1] else 0, *column[2:])
                for column in message.columns()]))
        elif message.kind in "EN":
            pair = [message] + ([others[index]] if index < len(others) else [])
            own = any(one.kind in "EN" and "F" not in one.fields() for one in pair)
            keep = "SVC" if own and loose else "SVCMP" if own else "SVCMDHPpqWstcdnFLR"
            if _met_at_bind(pair):
                keep = "SVCMDHPpqWstcdnF"
            lines.append(_error_text(message, keep))
        else:
            lines.append(f"{message.name} {message.body!r}")
    return lines


def normalise_startup(messages):
    """The replies to a startup: the settings may come in any order."""
    return sorted(f"{message.name} {message.body if message.kind != 'K' else ''!r}"
                  for message in messages)
