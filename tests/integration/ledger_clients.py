"""ledger_clients: clients that write rows and put down what they were told; a process of its own, so
that it can be killed.

  ledger_clients.py PORT DATABASE FIRST CLIENTS ROWS FILE

Each client writes ROWS rows, by turns into the table that has its key and the one that has none. A
line of FILE is "key table sent" before a row is sent and "key table outcome" behind it: "ok", the
SQLSTATE of an ERROR, that of a FATAL with "fatal" before it, or "cut off"; or "counted SQLSTATE n first",
where an error of a COPY in batches says that n of the rows with this "first" are committed.
"""
import os
import re
import sys
import threading
import time

import wire

TABLES = ("kept", "loose")
COLUMNS = "(userid, ts, event)"
TS = "2026-01-02 03:04:05+00"
MODES = ("simple", "prepared", "pipelined", "bursts", "copied", "copied apart")
BURST, COPIED = 5, 20
COUNTED = re.compile(r"(\d+) rows are committed; rows from line (\d+) on may be missing")
USER = "app"


def text_of(key):
    return f"row {key}"


class Client:
    def __init__(self, port, database, number, rows, file):
        self.address, self.database, self.file = ("127.0.0.1", port), database, file
        self.number, self.mode = number, MODES[number % len(MODES)]
        self.keys = [number * 1_000_000 + row for row in range(rows)]
        self.session = None

    def note(self, keys, outcomes):
        """One write, so that lines stay whole whenever the process is killed."""
        os.write(self.file, "".join(f"{key} {self.table(key)} {outcome}\n" for key, outcome
                                    in zip(keys, outcomes)).encode())

    @staticmethod
    def table(key):
        return TABLES[key % 2]

    def run(self):
        copies = self.mode.startswith("copied")
        count = COPIED if copies else BURST if self.mode in ("pipelined", "bursts") else 1
        while self.keys:
            if not self.session and not self.connect():
                time.sleep(0.02)  # whoever does not answer is asked again
                continue
            keys, self.keys = self.keys[:count], self.keys[count:]
            if copies:
                for table in range(len(TABLES)):
                    self.copy([key for key in keys if key % len(TABLES) == table])
            else:
                self.write(keys)
        self.leave()

    def connect(self):
        session = None
        try:
            session = wire.Wire(self.address)
            session.login(USER, self.database)
            for table in TABLES:
                replies = session.ask(wire.parse(
                    table, f"insert into {table} {COLUMNS} values ($1, $2, $3)"), wire.sync())
                if wire.error_of(replies):
                    raise wire.Closed(replies)
            if self.mode == "copied apart":
                session.query("set keyspread.copy = partition")
        except (OSError, wire.Closed):
            if session:
                session.drop()
            return False
        self.session = session
        return True

    def messages(self, key):
        if self.mode in ("simple", "bursts"):
            return wire.query(f"insert into {self.table(key)} {COLUMNS} values"
                              f" ({key}, '{TS}', '{text_of(key)}')")
        return (wire.bind("", self.table(key), [key, TS, text_of(key)]) + wire.execute()
                + wire.sync())

    def write(self, keys):
        self.note(keys, ["sent"] * len(keys))
        outcomes = []
        try:
            self.session.send(*(self.messages(key) for key in keys))
            while len(outcomes) < len(keys):
                outcomes.append(self.outcome(self.session.read_until("Z")))
        except wire.Closed as closed:
            fatal = wire.error_of(closed.messages)
            outcomes += [f"fatal {fatal}"] if fatal else []
        except OSError:
            pass
        if len(outcomes) < len(keys):
            self.leave()
        self.note(keys, outcomes + ["cut off"] * (len(keys) - len(outcomes)))

    def copy(self, keys):
        """One COPY."""
        self.note(keys, ["sent"] * len(keys))
        lines = "".join(f"{key}\t{TS}\t{text_of(key)}\n" for key in keys).encode()
        outcomes = ["cut off"] * len(keys)
        try:
            if not self.session:
                raise OSError
            self.session.send(wire.query(f"copy {self.table(keys[0])} {COLUMNS} from stdin"), wire.copy_data(lines[:100]),
                              wire.copy_data(lines[100:]), wire.copy_done())
            outcomes = self.copied(keys, self.session.read_until("Z"))
        except wire.Closed as closed:
            fatal = wire.error_of(closed.messages)
            counted = fatal and any(COUNTED.search(reply.fields().get("H", "")) for reply in closed.messages if reply.kind == "E")
            outcomes = (self.copied(keys, closed.messages) if counted else
                        [f"fatal {fatal}" if fatal else "cut off"] * len(keys))
            self.leave()
        except OSError:
            self.leave()
        self.note(keys, outcomes)

    def copied(self, keys, replies):
        """What has become of each row."""
        state = self.outcome(replies)
        error = next((reply.fields() for reply in replies if reply.kind == "E"), {})
        found = COUNTED.search(error.get("H", ""))
        if not found:
            return [state] * len(keys)
        committed, missing = int(found[1]), min(int(found[2]), len(keys) + 1)
        rest = keys[missing - 1:]
        return ["ok"] * (missing - 1) + [f"counted {state} {committed - missing + 1} {rest[0] if rest else 0}"] * len(rest)

    @staticmethod
    def outcome(replies):
        return wire.error_of(replies) or "ok"

    def leave(self):
        if self.session:
            self.session.drop()
        self.session = None


def main(port, database, first, clients, rows, path):
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    work = [threading.Thread(target=Client(int(port), database, int(first) + number, int(rows),
                                           file).run) for number in range(int(clients))]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
