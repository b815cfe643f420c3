#!/usr/bin/python3
"""How long an application's schema takes to be made, direct and through keyspread with a pattern over all of its tables.

    KEYSPREAD=… bench/schemas.py [--except TABLE,…] [ROUNDS] FILE.sql …

`psql -f FILE` into an empty database each time. Medians of alternating rounds, in s; and how often keyspread asked whether
tables have changed, and read them, in the last round.
"""
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/integration"))

import harness
import metrics


def took(port, database, file):
    begin = time.perf_counter()
    subprocess.run(["psql", "-Xq", "-h", "127.0.0.1", "-p", str(port), "-U", harness.USER, "-d", database, "-f", file],
                   capture_output=True, check=True)
    return time.perf_counter() - begin


def measure(postgres, keyspread, file, rounds):
    name = os.path.splitext(os.path.basename(file))[0]
    ports, times = (postgres.port, keyspread.port), ([], [])
    for number in range(rounds):
        before = metrics.Scrape(keyspread)
        for side in (number % 2, 1 - number % 2):
            database = f"{name}_{number}_{side}"
            postgres.create_database(database)
            times[side].append(took(ports[side], database, file))
    read = metrics.Scrape(keyspread).since(before)
    direct, through = map(statistics.median, times)
    print(f"{name:12} direct {direct:6.2f}   keyspread {through:6.2f} s   ratio {through / direct:5.2f}   asked"
          f" {read.get('catalog_checks_total'):.0f}, read {read.get('catalog_loads_total', result='ok'):.0f} times", flush=True)


def main(arguments):
    pattern = {"name": "public.*", "primary_key": "auto", "hash_function": "xxh3", "partitions": {"buckets": 16}}
    if arguments[:1] == ["--except"]:
        pattern["except"] = arguments[1].split(",")
        arguments = arguments[2:]
    rounds = int(arguments.pop(0)) if arguments[:1] and arguments[0].isdigit() else 5
    postgres = harness.Postgres()
    try:
        keyspread = harness.Keyspread({**harness.backend_config(postgres, (), admin={}), "tables": [pattern]})
        for file in arguments:
            measure(postgres, keyspread, file, rounds)
        keyspread.stop()
    finally:
        postgres.remove()


if __name__ == "__main__":
    main(sys.argv[1:])
