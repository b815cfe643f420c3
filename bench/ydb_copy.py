#!/usr/bin/python3
"""Rows a second of COPY before the fake of YDB's endpoint, beside the same rows as single INSERTs.

  KEYSPREAD=build-release/keyspread bench/ydb_copy.py [ROWS [SINGLES [TURNS]]]

The rows are `userid,ts,event` in csv, of 40 bytes, into 16 partitions. The single INSERTs come from one session, each
when the one before is answered, and there are SINGLES of them; the two alternate. What is printed are medians. A
statement takes the fake 2 ms, and 20 µs for each row.
"""
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "integration"))

import harness  # noqa: E402
import wire  # noqa: E402
import ydb_case  # noqa: E402
from ydb import Endpoint  # noqa: E402

EVENTS = harness.Table("events", ["userid bigint not null", "ts timestamp not null", "event text"], ["userid", "ts"])


def _rows(first, count):
    return [(number, "2026-01-31 12:00:00", f"event {number % 1000:03}") for number in range(first, first + count)]


def _copy(session, rows):
    data = "".join(",".join(map(str, row)) + "\n" for row in rows).encode()
    pieces = [wire.copy_data(data[at:at + 65536]) for at in range(0, len(data), 65536)]
    begun = time.perf_counter()
    replies = session.ask(wire.query("copy events from stdin csv"), *pieces, wire.copy_done())
    took = time.perf_counter() - begun
    assert wire.tags_of(replies) == [f"COPY {len(rows)}"], replies
    return len(rows) / took


def _inserts(session, rows):
    begun = time.perf_counter()
    for userid, ts, event in rows:
        replies = session.query(f"insert into events values ({userid}, '{ts}', '{event}')")
        assert wire.tags_of(replies) == ["INSERT 0 1"], replies
    return len(rows) / (time.perf_counter() - begun)


def main(rows=200_000, singles=2_000, turns=3):
    postgres = harness.Postgres()
    endpoint = keyspread = None
    try:
        postgres.create_database(ydb_case.STORE)
        with postgres.admin(ydb_case.STORE) as admin:
            admin.rows(EVENTS.ddl(True, partitioned=False))
        endpoint = Endpoint(postgres, table="events,uniform=16", request_us=2000, row_us=20)
        keyspread = harness.Keyspread(ydb_case.config(endpoint, [EVENTS]))
        session = wire.Wire(("127.0.0.1", keyspread.port))
        session.login(harness.USER, ydb_case.DATABASE)
        first, copied, single = 0, [], []
        for _ in range(turns):
            copied.append(_copy(session, _rows(first, rows)))
            single.append(_inserts(session, _rows(first + rows, singles)))
            first += rows + singles
        session.close()
        fast, slow = statistics.median(copied), statistics.median(single)
        print(f"COPY {fast:,.0f} rows/s, single INSERTs {slow:,.0f} rows/s: {fast / slow:.1f} times")
    finally:
        if keyspread is not None:
            keyspread.stop()
        if endpoint is not None:
            endpoint.stop()
        postgres.remove()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
