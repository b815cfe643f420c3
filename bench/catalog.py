#!/usr/bin/python3
"""What programs ask PostgreSQL's catalog, direct and through keyspread, with 1 and 100 spread tables.

    KEYSPREAD=… bench/catalog.py [ROUNDS]

PostgreSQL is as it is by default (jit), the direct tables are plain ones. Medians of alternating rounds, in ms: of questions
by a session that stays, of programs from their start to their end.
"""
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/integration"))

import harness
import wire
from test_catalog_clients import MODULES, PROGRAMS
from test_catalog_costs import INTEGERS, MORE, CatalogCosts, tables

QUESTIONS = {
    "asyncpg, types": CatalogCosts.types(),
    "pg_get_indexdef() of all": INTEGERS,
    "all columns": "select attrelid::regclass, attname, attnum from pg_attribute where attnum > 0 and not attisdropped",
    "columns of a table": "select attname, format_type(atttypid, atttypmod) from pg_attribute where attrelid = 'ev'::regclass"
                          " and attnum > 0 and not attisdropped order by attnum",
    "information_schema.columns": "select * from information_schema.columns where table_name = 'ev'",
    "pg_stat_user_tables, _indexes": "select * from pg_stat_user_tables join pg_stat_user_indexes using (relid)",
}
COMMANDS = {r"psql \d ev": ("psql", "-Xc", r"\d ev"), r"psql \dt": ("psql", "-Xc", r"\dt"), "pg_dump -s": ("pg_dump", "-s")}
COMMANDS.update({program.name: program.command for program in PROGRAMS if not program.missing()})


def make(postgres, count):
    """Two databases and a keyspread, and where to ask."""
    routes = []
    for kind in ("direct", "spread"):
        database = f"{kind}{count}"
        postgres.create_database(database)
        with postgres.admin(database) as admin:
            admin.rows("create table other (id numeric(8,2) primary key)")
            for table in tables(count):
                admin.rows(table.ddl(kind == "spread", False) + MORE.format(table.name))
            admin.rows("vacuum analyze")
        routes.append([database, postgres.port])
    keyspread = harness.Keyspread(harness.backend_config(postgres, tables(count)))
    routes[1][1] = keyspread.port
    return routes, keyspread


def took(work):
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def by_turns(works, rounds):
    times = [[], []]
    for number in range(rounds):
        for side in (number % 2, 1 - number % 2):
            times[side].append(took(works[side]))
    return [statistics.median(side) for side in times]


def run(route, command):
    env = {**os.environ, "PGHOST": "127.0.0.1", "PGPORT": str(route[1]), "PGUSER": harness.USER, "PGDATABASE": route[0],
           "NODE_PATH": MODULES}
    subprocess.run(command, env=env, capture_output=True, check=True)


def show(count, name, direct, through):
    print(f"{count:4} tables  {name:32} direct {direct:9.2f}   keyspread {through:9.2f} ms   ratio {through / direct:6.2f}", flush=True)


def measure(count, routes, rounds):
    sessions = []
    for database, port in routes:
        sessions.append(wire.Wire(("127.0.0.1", port)))
        sessions[-1].login(harness.USER, database)
    for name, text in QUESTIONS.items():
        works = [lambda session=session: session.rows(text) for session in sessions]
        show(count, name, *by_turns(works, rounds))
    for session in sessions:
        session.close()
    for name, command in COMMANDS.items():
        works = [lambda route=route: run(route, command) for route in routes]
        show(count, name, *by_turns(works, max(rounds // 5, 2)))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    postgres = harness.Postgres(jit=None, log_statement="none", shared_buffers="128MB")
    try:
        for count in (1, 100):
            routes, keyspread = make(postgres, count)
            try:
                measure(count, routes, rounds)
            finally:
                keyspread.stop()
    finally:
        postgres.remove()


if __name__ == "__main__":
    main()
