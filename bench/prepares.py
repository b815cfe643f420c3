#!/usr/bin/python3
"""How long a session takes to prepare many different INSERTs, direct and through keyspread: medians.

  KEYSPREAD=build-release/keyspread bench/prepares.py [STATEMENTS [TURNS [WINDOW]]]

Parse, Describe and Sync of each; with WINDOW the client waits for the answers to so many before it
sends more, without it one thread sends while another reads.
"""
import os
import statistics
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "integration"))

import harness  # noqa: E402
import wire  # noqa: E402

TEXT = "insert into events (userid, ts, event) values ($1, $2, 'x{}')"
ANSWER = len("1....") + len("t......uuuutttt") + len("n....") + len("Z....I")


def _frames(first, count):
    return b"".join(wire.parse(f"s{i}", TEXT.format(i)) + wire.describe("S", f"s{i}") + wire.sync()
                    for i in range(first, first + count))


def _read(stream, size):
    while size:
        data = stream.recv(min(size, 1 << 20))
        if not data or b"ERROR" in data:
            sys.exit(f"not prepared: {data[:300]}")
        size -= len(data)


def _take(port, count, window):
    """Seconds."""
    session = wire.Wire(("127.0.0.1", port))
    session.login(harness.USER, "app")
    stream, step = session.socket, window or 1000
    parts = [_frames(first, step) for first in range(0, count, step)]
    begin = time.monotonic()
    if window:
        for part in parts:
            stream.sendall(part)
            _read(stream, ANSWER * step)
    else:
        threading.Thread(target=lambda: [stream.sendall(part) for part in parts]).start()
        _read(stream, ANSWER * step * len(parts))
    took = time.monotonic() - begin
    session.close()
    return took


def main(count=20000, turns=5, window=0):
    postgres = harness.Postgres(log_statement="none")
    try:
        harness.create_tables(postgres, "app", [harness.EVENTS], hashed=True)
        keyspread = harness.Keyspread(harness.backend_config(postgres, workers=1))
        ports = {"direct": postgres.port, "through": keyspread.port}
        took = {name: [] for name in ports}
        for turn in range(turns):
            for name in sorted(ports, reverse=turn % 2 == 1):
                took[name].append(_take(ports[name], count, window))
        keyspread.stop()
    finally:
        postgres.remove()
    medians = {name: statistics.median(times) for name, times in took.items()}
    for name, median in medians.items():
        print(f"{name:8}{median:7.2f} s {median / count * 1e6:7.1f} us a statement")
    print(f"ratio   {medians['through'] / medians['direct']:7.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
