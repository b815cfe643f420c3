#!/usr/bin/python3
"""What a hash in the key costs reads by the key's order, and where it stands in it: the same rows in plain tables, in those
that `keyspread ddl` makes, and in those with `key_order: hash_first`. Prints medians in ms as a table.

  KEYSPREAD=build-release/keyspread bench/order.py [ROWS]     1,000,000 by default, in 16 partitions

`t` has the key `id`. `events` has as many rows and the key `(userid, ts)`, 1,000 rows of each user; its hash is of `userid`.
Last come one-row INSERTs of 128 clients into `t` with the hash last and first: rows a second.
"""
import itertools
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import psycopg2

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "integration"))
import harness

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
USERS = ROWS // 1000
TURNS = 9
KINDS = ("plain", "spread", "first")
TABLES = {"t": ("id bigint not null, v text", ["id"]),
          "events": ("userid bigint not null, ts timestamptz not null, v text", ["userid", "ts"])}

STATEMENTS = (
    "select * from {t} order by id desc limit 10",
    "select max(id) from {t}",
    f"select * from {{t}} where id between {ROWS // 2} and {ROWS // 2 + 100}",
    f"select * from {{t}} where id > {ROWS // 3} order by id limit 50",
    f"select * from {{t}} where id < {ROWS // 3} order by id desc limit 50",
    "select * from {t} where id in (5, 6, 7)",
    f"select * from {{t}} where id = {ROWS // 2}",
    "delete from {t} where id < 10",
    "select count(*) from {t}",
    f"select * from {{events}} where userid = {USERS // 2} order by ts desc limit 50",
    f"select * from {{events}} where userid = {USERS // 2} and ts < '2026-01-01 00:08:00+00' order by ts desc limit 50",
    "select * from {events} order by ts desc limit 50",
    f"select * from {{t}} a join {{events}} b on b.userid = a.id where a.id = {USERS // 3} order by ts limit 50",
    f"select * from {{events}} b join {{t}} a on a.id = b.userid where b.userid = {USERS // 3} and ts > '2026-01-01 00:15:00+00'",
)


def configured():
    """The tables that are spread."""
    return [{"name": f"{name}_{kind}", "primary_key": key, "hash_function": "xxh3", "partitions": {"uniform": 16},
             **({"key_order": "hash_first"} if kind == "first" else {})}
            for name, (_, key) in TABLES.items() for kind in KINDS[1:]]


def line(name, number):
    """The row with this number as COPY reads it."""
    if name == "t":
        return f"{number}\tvalue {number}\n"
    minutes, seconds = divmod(number // USERS, 60)
    return f"{number % USERS}\t2026-01-01 00:{minutes:02}:{seconds:02}+00\tvalue {number}\n"


class Lines:
    """A file of all rows of a table that is made while it is read."""

    def __init__(self, name):
        self.lines = (line(name, number) for number in range(ROWS))

    def read(self, _):
        return "".join(itertools.islice(self.lines, 1000))


def load(cursor, name, table):
    """By COPY, which gives each row its hash; prints the rows a second."""
    began = time.monotonic()
    cursor.copy_expert(f"copy {table} from stdin", Lines(name))
    print(f"loaded {table}: {ROWS / (time.monotonic() - began):,.0f} rows/s", file=sys.stderr)
    cursor.execute(f"vacuum analyze {table}")


def names(kind):
    """The tables' names of this kind, for STATEMENTS."""
    return {name: f"{name}_{kind}" for name in TABLES}


def measure(cursor, statement):
    """Milliseconds; what it writes is undone."""
    cursor.execute("begin")
    began = time.perf_counter()
    cursor.execute(statement)
    if cursor.description:
        cursor.fetchall()
    took = (time.perf_counter() - began) * 1000
    cursor.execute("rollback")
    return took


def inserts(port, table):
    """Rows a second that 128 clients of pgbench insert in five seconds, each row by itself."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(f"\\set id random({ROWS}, 9000000000000000)\ninsert into {table} (id, v) values (:id, 'a value');\n")
        script.flush()
        done = subprocess.run(["/usr/lib/postgresql/15/bin/pgbench", "-n", "-h", "127.0.0.1", "-p", str(port), "-U", harness.USER,
                               "-c", "128", "-j", "2", "-T", "5", "-f", script.name, "app"],
                              capture_output=True, text=True, check=True)
    return float(re.search(r"tps = ([\d.]+)", done.stdout).group(1))


def main():
    postgres = harness.Postgres(shared_buffers="2GB", max_wal_size="8GB", log_statement="none", jit="on",
                                max_connections="200")
    try:
        postgres.create_database("app")
        keyspread = harness.Keyspread({**harness.backend_config(postgres, ()), "tables": configured()})
        cursors = {}
        for kind in KINDS:
            port = postgres.port if kind == "plain" else keyspread.port
            connection = psycopg2.connect(f"host=127.0.0.1 dbname=app user={harness.USER} port={port}")
            connection.autocommit = True
            cursors[kind] = connection.cursor()
            for name, (columns, key) in TABLES.items():
                table = names(kind)[name]
                cursors[kind].execute(f"create table {table} ({columns}, primary key ({', '.join(key)}))")
                load(cursors[kind], name, table)
        print("| statement | plain table | spread | spread, `hash_first` |\n| --- | --- | --- | --- |")
        for statement in STATEMENTS:
            took = {kind: [] for kind in KINDS}
            for _ in range(TURNS):
                for kind in KINDS:
                    took[kind].append(measure(cursors[kind], statement.format(**names(kind))))
            print(f"| `{statement.format(t='t', events='events')}` | "
                  + " | ".join(f"{statistics.median(took[kind]):.1f}" for kind in KINDS) + " |", flush=True)
        took = {kind: [] for kind in KINDS[1:]}
        for _ in range(TURNS):
            for kind in KINDS[1:]:
                took[kind].append(inserts(keyspread.port, names(kind)["t"]))
        print("one-row INSERTs of 128 clients, rows a second: "
              + ", ".join(f"{kind} {statistics.median(took[kind]):,.0f}" for kind in took))
        keyspread.stop()
    finally:
        postgres.remove()


if __name__ == "__main__":
    main()
