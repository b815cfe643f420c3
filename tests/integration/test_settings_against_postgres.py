#!/usr/bin/python3
"""Statements about settings: what tests/vectors/plain/settings.txt says that the session answers is
what PostgreSQL answers, but for the lines that say that it is not.
"""
import contextlib
import os
import unittest

import harness
import wire

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../vectors/plain/settings.txt")
# What the session begins with where PostgreSQL is configured otherwise.
BEGINNING = ("-c timezone=UTC -c default_transaction_isolation=serializable -c jit=off"
             " -c lc_messages=C")


class Session:
    def __init__(self, address):
        self.wire = wire.Wire(address)
        self.wire.login(harness.USER, "postgres", options=BEGINNING)

    def close(self):
        self.wire.close()

    def answer(self, text):
        replies = self.wire.ask(wire.query(text))
        described = [reply for reply in replies if reply.kind == "T"]
        names = [column[0] for column in described[0].columns()] if described else []
        rows = [reply.row() for reply in replies if reply.kind == "D"]
        said = []
        for reply in replies:
            if reply.kind in "EN":
                fields = reply.fields()
                if fields["C"] == "00000":  # what PostgreSQL logs, where client_min_messages asks for it
                    continue
                said.append(f"!{fields['C']} {fields['M']}" if reply.kind == "E"
                            else f"({fields['C']} {fields['M']})")
            elif reply.kind == "C" and not text.startswith(("begin", "commit", "rollback")):
                said.append(reply.tag())
        if len(rows) == 1:
            said += [f"{name}={self.shown(cell)}" for name, cell in zip(names, rows[0])]
        return " ".join(said + self.reports(replies))

    @staticmethod
    def shown(cell):
        return "null" if cell is None else cell.decode()

    @staticmethod
    def reports(replies):
        told = [reply.body.split(b"\0")[:2] for reply in replies if reply.kind == "S"]
        return [f"{{{name.decode()}={value.decode()}}}" for name, value in told]


class SettingsAgainstPostgres(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.postgres = harness.Postgres()
        self.addCleanup(self.postgres.remove)
        self.address = ("127.0.0.1", self.postgres.port)

    def test_the_same_is_answered(self):
        wrong, asked = [], 0
        with contextlib.ExitStack() as stack:
            session = stack.enter_context(contextlib.closing(Session(self.address)))
            for line in stack.enter_context(open(VECTORS, encoding="utf-8")):
                text, expected = line.rstrip("\n").rsplit("|", 1) if line[0] != "#" else ("#", "")
                if text == "new":
                    session = stack.enter_context(contextlib.closing(Session(self.address)))
                elif text[0] not in "#~":
                    got = session.answer(text)
                    asked += 1
                    if got.strip() != expected.strip():
                        wrong.append(f"{text}\n  PostgreSQL {got}\n  session    {expected}")
        self.assertEqual("\n".join(wrong), "")
        self.assertGreater(asked, 150)


if __name__ == "__main__":
    unittest.main()
