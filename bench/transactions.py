#!/usr/bin/python3
"""What transactions: lazy gives to programs that say BEGIN; INSERT; COMMIT: pgbench's transactions a second direct, through PgBouncer,
and through keyspread eager and lazy, in alternating turns, each of them first in its turn. Prints medians, their ratios, the
processors' time for a transaction (of all programs but pgbench), and how many transactions of clients one of the server's was.

  KEYSPREAD=build-release/keyspread bench/transactions.py [--delay MS] [--clients N …] [--protocols P …] [SECONDS [TURNS]]     5 seconds, 5 turns
  KEYSPREAD=build-release/keyspread bench/transactions.py --ydb [TIMES]

`--delay`: each byte to the server waits so long, there and back together: as if the server stood elsewhere.
`--ydb`: before the tests' fake of YDB's endpoint (build-release/ydb_endpoint), where a request holds its partition for 2 ms and 20 µs a
row, or TIMES as long; with `batch_links: 16`.
"""
import argparse
import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "integration"))
import harness
import ydb
import ydb_case

arguments = argparse.ArgumentParser()
arguments.add_argument("--delay", type=float, default=0)
arguments.add_argument("--ydb", type=int, nargs="?", const=1, metavar="TIMES")
arguments.add_argument("--clients", type=int, nargs="+", default=(16, 32, 64))
arguments.add_argument("--protocols", nargs="+", default=("simple", "extended", "prepared"))
arguments.add_argument("seconds", nargs="?", type=int, default=5)
arguments.add_argument("turns", nargs="?", type=int, default=5)
ASKED = arguments.parse_args()
TABLE = ["id bigint not null", "note text"]
EAGER = harness.Table("eager", TABLE, ["id"], hash_first=False)
LAZY = harness.Table("lazy", TABLE, ["id"], hash_first=False, transactions="lazy")
SCRIPT = """\\set id random(1, 9000000000000000)
begin;
insert into {} (id, note) values (:id, 'a note');
commit;
"""
WAYS = ("eager", "lazy") if ASKED.ydb else ("direct", "PgBouncer", "eager", "lazy")
BOUNCER = """[databases]
app = host=127.0.0.1 port={} user=app dbname=app
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {}
unix_socket_dir =
auth_type = any
pool_mode = session
default_pool_size = 100
max_client_conn = 200
log_connections = 0
log_disconnections = 0
"""


class Delay:
    """A relay before the server."""

    def __init__(self, target, seconds):
        self.target, self.seconds = target, seconds
        self.ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True).start()
        self.ready.wait()

    async def _serve(self):
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=256)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await server.serve_forever()

    async def _accept(self, reader, writer):
        to, back = await asyncio.open_connection("127.0.0.1", self.target)
        await asyncio.gather(self._pass(reader, back), self._pass(to, writer))

    async def _pass(self, reader, writer):
        loop = asyncio.get_running_loop()
        while data := await reader.read(1 << 16):
            loop.call_later(self.seconds, writer.write, data)
        loop.call_later(self.seconds, writer.close)


class Bouncer:
    """PgBouncer, which refuses to run as root, before the server."""

    def __init__(self, postgres, port):
        self.port = harness.free_port()
        path = os.path.join(postgres.folder, "pgbouncer.ini")
        with open(path, "w", encoding="ascii") as file:
            file.write(BOUNCER.format(port, self.port))
        self.process = subprocess.Popen([*postgres.as_user, "/usr/sbin/pgbouncer", "-q", path], stderr=subprocess.PIPE)
        harness.Lines(self.process.stderr)
        time.sleep(1)

    def stop(self):
        self.process.kill()
        self.process.wait()


def spent(processes):
    """Seconds of the processors that these have taken, with their children that are there and that have ended."""
    ticks = 0
    for folder in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{folder}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # It has ended.
        if int(folder) in processes or int(fields[1]) in processes:
            ticks += sum(map(int, fields[11:15] if int(folder) in processes else fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def pgbench(port, table, clients, mode, seconds=ASKED.seconds):
    """Transactions a second, and how many. pgbench's time begins before its clients log in: where it ends before they have, it is
    longer."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(SCRIPT.format(table))
        script.flush()
        run = subprocess.run(["/usr/lib/postgresql/15/bin/pgbench", "-n", "-h", "127.0.0.1", "-p", str(port), "-U", "app", "-M", mode,
                              "-c", str(clients), "-j", "2", "-T", str(seconds), "-f", script.name,
                              ydb_case.DATABASE if ASKED.ydb else "app"], capture_output=True, text=True, check=True)
    found = re.search(r"processed: (\d+)(?:.|\n)*tps = ([\d.]+)", run.stdout)
    if not found and "processed: 0" in run.stdout and seconds < 60:
        return pgbench(port, table, clients, mode, 4 * seconds)
    if not found:
        raise SystemExit(run.stdout + run.stderr)
    return float(found.group(2)), int(found.group(1))


def measure(ways, clients, mode, admin, processes):
    """`ways`: the port of each, and its table. Prints one line."""
    taken = {way: [] for way in ways}
    names = list(ways)
    for turn in range(ASKED.turns):
        for way in names[turn % len(names):] + names[:turn % len(names)]:
            before = spent(processes), int(admin.rows("select pg_current_xact_id()")[0][0])
            tps, count = pgbench(*ways[way], clients, mode)
            after = spent(processes), int(admin.rows("select pg_current_xact_id()")[0][0])
            taken[way].append((tps, 1e6 * (after[0] - before[0]) / count, count / (after[1] - before[1] - 1)))
    median = {way: [statistics.median(column) for column in zip(*turns)] for way, turns in taken.items()}
    print(f"| {mode} | {clients} | " + " | ".join(f"{median[way][0]:,.0f}; {median[way][1]:,.0f} µs" for way in ways) + " | "
          + " | ".join(f"{median['eager'][0] / median[way][0]:.2f}, {median['lazy'][0] / median[way][0]:.2f}"
                       for way in ways if way != "lazy") + f" | {median['lazy'][2]:.1f} |", flush=True)


def main():
    durable = {} if ASKED.ydb else {"fsync": "on", "synchronous_commit": "on"}  # The fake charges for its store.
    postgres = harness.Postgres(log_statement="none", max_connections="300", autovacuum="off", shared_buffers="256MB", **durable)
    children = []
    try:
        postgres.create_database("app")
        admin = postgres.admin("app")
        for table in (EAGER, LAZY):
            admin.rows(table.ddl(partitioned=not ASKED.ydb))
        admin.rows("create table direct (id bigint primary key, note text)")
        if ASKED.ydb:
            cut = [f"{table.name},column={table.hash_column},position=2,uniform=16" for table in (EAGER, LAZY)]
            children.append(ydb.Endpoint(postgres, table=cut, request_us=2000 * ASKED.ydb, row_us=20 * ASKED.ydb))
            config = ydb_case.config(children[0], (EAGER, LAZY), backend={"batch_links": 16, "max_links": 150})
        else:
            port = Delay(postgres.port, ASKED.delay / 2000).port if ASKED.delay else postgres.port
            config = harness.backend_config(postgres, (EAGER, LAZY), port=port, backend={"max_links": 150})
            children.append(Bouncer(postgres, port))
        children.append(harness.Keyspread(config))
        ports = {"direct": 0 if ASKED.ydb else port, "PgBouncer": children[0].port}
        ways = {way: (ports.get(way, children[1].port), way if way in ("eager", "lazy") else "direct") for way in WAYS}
        print("| protocol | clients | " + " | ".join(WAYS) + " | " + " | ".join(f"eager, lazy ÷ {way}" for way in WAYS if way != "lazy")
              + " | clients' transactions for one of the server (lazy) |\n|" + " --- |" * (2 * len(WAYS) + 2))
        for mode in ASKED.protocols:
            for clients in ASKED.clients:
                measure(ways, clients, mode, admin, {postgres.process.pid, *(child.process.pid for child in children)})
        admin.close()
    finally:
        for child in reversed(children):
            child.stop()
        postgres.remove()


main()
