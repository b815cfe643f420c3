#!/usr/bin/python3
"""What a keyed read by prepared statement costs keyspread more than one of an unconfigured table.

  KEYSPREAD=build-release/keyspread bench/keyed_reads.py [READS [TURNS]]

Both read the same row of the same partitioned table by bigint and timestamptz, once with a hash that
the client computes, in a table that keyspread does not know. What is counted is the processor time of
keyspread's threads for READS of them that one session sends at once, in alternating turns: in the program
itself, and with the kernel's part, which depends on how often they wait for PostgreSQL (medians).
"""
import glob
import os
import statistics
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "integration"))

import harness  # noqa: E402
import wire  # noqa: E402

PLAIN = harness.Table("plain", harness.EVENTS.columns, harness.EVENTS.key, hash_column="userhash")
MOMENT = "2026-01-01 00:00:00+00"
TEXT = "select event from {} where userid = $1 and ts = $2"
READS = {"plain": (TEXT.format("plain") + " and userhash = $3",
                   ["1", MOMENT, str(harness.xxh3_signed(1))]),
         "events": (TEXT.format("events"), ["1", MOMENT])}


def _own_time(pid):
    """Nanoseconds in the program, in ticks of the kernel."""
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[11]) * 1e9 / os.sysconf("SC_CLK_TCK")


def _processor_time(pid):
    """Nanoseconds."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path) as stat:
            total += int(stat.read().split()[0])
    return total


class _Reader:
    def __init__(self, port, text, values):
        self.session = wire.Wire(("127.0.0.1", port))
        self.session.login(harness.USER, "app")
        self.bind = wire.bind("", "s", values) + wire.execute() + wire.sync()
        self.session.send(wire.parse("s", text) + self.bind)
        self.took, self.own = [], 0
        self.answer = self._answer_size()

    def _answer_size(self):
        self.session.read_ready()
        self.session.send(self.bind)
        return sum(5 + len(message.body) for message in self.session.read_ready())

    def turn(self, pid, reads):
        stream, left = self.session.socket, self.answer * reads
        begin, own = _processor_time(pid), _own_time(pid)
        sender = threading.Thread(target=stream.sendall, args=(self.bind * reads,))
        sender.start()
        while left:
            left -= len(stream.recv(min(left, 1 << 20)))
        sender.join()
        self.took.append((_processor_time(pid) - begin) / reads)
        self.own += _own_time(pid) - own


def main(reads=20000, turns=20):
    postgres = harness.Postgres(log_statement="none")
    try:
        harness.create_tables(postgres, "app", [harness.EVENTS, PLAIN], hashed=True)
        keyspread = harness.Keyspread(harness.backend_config(postgres, workers=1))
        with wire.Wire(("127.0.0.1", keyspread.port)) as session:
            session.login(harness.USER, "app")
            session.query(f"insert into events values (1, '{MOMENT}', 'x')")
        with postgres.admin("app") as admin:
            admin.rows("insert into plain select * from events; analyze")
        readers = {name: _Reader(keyspread.port, *READS[name]) for name in READS}
        for turn in range(turns):
            for name in sorted(readers, reverse=turn % 2 == 1):
                readers[name].turn(keyspread.process.pid, reads)
        keyspread.stop()
    finally:
        postgres.remove()
    own = {name: reader.own / turns / reads for name, reader in readers.items()}
    whole = {name: statistics.median(reader.took) for name, reader in readers.items()}
    for name in readers:
        print(f"{name:8}{own[name]:7.0f} ns a read, {whole[name]:7.0f} with the kernel's part")
    print(f"more    {own['events'] - own['plain']:7.0f} ns, {whole['events'] - whole['plain']:7.0f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
