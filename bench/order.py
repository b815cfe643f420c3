"""What a hash in the key costs reads by the key's order, and where it stands in it: the same rows in a plain table, in one
that `keyspread ddl` makes, and in one with `key_order: hash_first`. Prints medians in ms as a table.

  KEYSPREAD=build-release/keyspread bench/order.py [ROWS]     1,000,000 by default, in 16 partitions
"""
import io
import os
import statistics
import sys
import time

import psycopg2

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "integration"))
import harness

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
TURNS = 9
TABLES = ("plain", "spread", "first")
COLUMNS = "id bigint not null, v text"

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
)


def configured():
    """The two tables that are spread."""
    common = {"primary_key": ["id"], "hash_function": "xxh3", "partitions": {"uniform": 16}}
    return [{"name": "spread", **common}, {"name": "first", "key_order": "hash_first", **common}]


def load(cursor, table):
    """By COPY, which gives each row its hash; the seconds that it took."""
    data = io.StringIO("".join(f"{number}\tvalue {number}\n" for number in range(ROWS)))
    began = time.monotonic()
    cursor.copy_expert(f"copy {table} from stdin", data)
    return time.monotonic() - began


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


def main():
    postgres = harness.Postgres(shared_buffers="1GB", max_wal_size="4GB", log_statement="none", jit="on")
    try:
        postgres.create_database("app")
        keyspread = harness.Keyspread({**harness.backend_config(postgres, ()), "tables": configured()})
        urls = {name: f"host=127.0.0.1 dbname=app user={harness.USER} port={port}"
                for name, port in (("plain", postgres.port), ("spread", keyspread.port), ("first", keyspread.port))}
        cursors = {}
        for name in TABLES:
            connection = psycopg2.connect(urls[name])
            connection.autocommit = True
            cursors[name] = connection.cursor()
            cursors[name].execute(f"create table {name} ({COLUMNS}, primary key (id))")
            print(f"loaded {name}: {ROWS / load(cursors[name], name):,.0f} rows/s", file=sys.stderr)
            cursors[name].execute(f"vacuum analyze {name}")
        print("| statement | plain table | spread | spread, `hash_first` |\n| --- | --- | --- | --- |")
        for statement in STATEMENTS:
            took = {name: [] for name in TABLES}
            for _ in range(TURNS):
                for name in TABLES:
                    took[name].append(measure(cursors[name], statement.format(t=name)))
            print(f"| `{statement.format(t='t')}` | "
                  + " | ".join(f"{statistics.median(took[name]):.1f}" for name in TABLES) + " |", flush=True)
        keyspread.stop()
    finally:
        postgres.remove()


if __name__ == "__main__":
    main()
