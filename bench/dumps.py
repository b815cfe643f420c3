#!/usr/bin/python3
"""How long it takes to restore a dump, and to fill pgbench's tables, beside the same directly into plain tables; in alternating turns.

  KEYSPREAD=build-release/keyspread bench/dumps.py [--rows N] [--scale S] [--turns T]     500,000 rows, scale 5, 3 turns

The tables behind keyspread have 16 partitions. What is printed are medians, as the commands of docs/migrate.md are run.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "integration"))
import harness  # noqa: E402

arguments = argparse.ArgumentParser()
arguments.add_argument("--rows", type=int, default=500_000)
arguments.add_argument("--scale", type=int, default=5)
arguments.add_argument("--turns", type=int, default=3)
ASKED = arguments.parse_args()
EVENTS = harness.Table("events", ["userid bigint not null", "ts timestamptz not null", "event text"], ["userid", "ts"], hash_first=False)
ORDERS = harness.Table("orders", ["id bigint not null", "customer bigint", "amount numeric(9,2)"], ["id"], hash_first=False)
KEYS = {"pgbench_accounts": "aid", "pgbench_branches": "bid", "pgbench_tellers": "tid"}
FILL = f"""insert into events select i, '2026-01-31 12:34:56+00', 'click' from generate_series(1, {ASKED.rows}) i;
           insert into orders select i, i % 1000, i % 100 from generate_series(1, {ASKED.rows // 2}) i"""
WAYS = {
    "pg_dump | psql": "pg_dump --data-only {source} | psql -qX -v ON_ERROR_STOP=1 {target}",
    "pg_restore -j 2": "pg_restore --data-only --exit-on-error -j 2 -d {target} {dump}",
    "pgbench -i": f"pgbench -i -q -s {ASKED.scale} {{target}}",
}


def seconds(command):
    begun = time.monotonic()
    subprocess.run(["bash", "-o", "pipefail", "-c", command], check=True, capture_output=True)
    return time.monotonic() - begun


def measure(postgres, keyspread, folder):
    places = {"direct": postgres.port, "spread": keyspread.port}
    words = {"dump": os.path.join(folder, "dump"), "source": f"postgresql://app@127.0.0.1:{postgres.port}/source"}
    seconds("pg_dump -Fc --data-only -f {dump} {source}".format(**words))
    print(f"{'command':18} {'direct, s':>10} {'through, s':>10} {'ratio':>6}")
    for way, command in WAYS.items():
        taken = {name: [] for name in places}
        for _ in range(ASKED.turns):
            for name, port in places.items():
                with postgres.admin(name) as admin:
                    admin.rows("truncate events, orders; drop table if exists pgbench_history, " + ", ".join(KEYS))
                taken[name].append(seconds(command.format(target=f"postgresql://app@127.0.0.1:{port}/{name}", **words)))
        direct, through = (statistics.median(taken[name]) for name in places)
        print(f"{way:18} {direct:10.2f} {through:10.2f} {through / direct:6.2f}", flush=True)


def main():
    os.environ["PATH"] += os.pathsep + "/usr/lib/postgresql/15/bin"
    postgres = harness.Postgres(fsync="on", log_statement="none", autovacuum="off")
    keyspread = None
    try:
        for name in ("source", "direct", "spread"):
            harness.create_tables(postgres, name, (EVENTS, ORDERS), hashed=name == "spread")
        with postgres.admin("source") as admin:
            admin.rows(FILL)
        config = harness.backend_config(postgres, (EVENTS, ORDERS))
        config["tables"] += [{"name": name, "primary_key": [key], "hash_function": "xxh3", "partitions": {"uniform": 16}}
                             for name, key in KEYS.items()]
        keyspread = harness.Keyspread(config)
        with tempfile.TemporaryDirectory() as folder:
            measure(postgres, keyspread, folder)
    finally:
        if keyspread:
            keyspread.stop()
        postgres.remove()


if __name__ == "__main__":
    main()
