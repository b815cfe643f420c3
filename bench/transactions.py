"""What transactions: lazy gives to programs that say BEGIN; INSERT; COMMIT: pgbench's transactions a second direct, and through
keyspread eager and lazy, in alternating turns. Prints medians, and their ratios to direct, as a table.

  KEYSPREAD=build-release/keyspread bench/transactions.py [--delay MS] [--clients N …] [--protocols P …] [-- SECONDS [TURNS]]     5 seconds, 5 turns

`--delay`: each byte to the server waits so long, there and back together: as if the server stood elsewhere.
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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "integration"))
import harness
import metrics

arguments = argparse.ArgumentParser()
arguments.add_argument("--delay", type=float, default=0)
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
WAYS = ("direct", "eager", "lazy")


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


def pgbench(port, table, clients, mode, seconds=ASKED.seconds):
    """Transactions a second. pgbench's time begins before its clients log in: where it ends before they have, it is longer."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(SCRIPT.format(table))
        script.flush()
        run = subprocess.run(["/usr/lib/postgresql/15/bin/pgbench", "-n", "-h", "127.0.0.1", "-p", str(port), "-U", "app", "-M", mode,
                              "-c", str(clients), "-j", "2", "-T", str(seconds), "-f", script.name, "app"],
                             capture_output=True, text=True, check=True)
    found = re.search(r"tps = ([\d.]+)", run.stdout)
    if not found and "processed: 0" in run.stdout and seconds < 60:
        return pgbench(port, table, clients, mode, 4 * seconds)
    if not found:
        raise SystemExit(run.stdout + run.stderr)
    return float(found.group(1))


def main():
    postgres = harness.Postgres(fsync="on", synchronous_commit="on", log_statement="none", max_connections="200", autovacuum="off")
    keyspread = None
    try:
        postgres.create_database("app")
        with postgres.admin("app") as admin:
            for table in (EAGER, LAZY):
                admin.rows(table.ddl())
            admin.rows("create table direct (id bigint primary key, note text)")
        port = Delay(postgres.port, ASKED.delay / 2000).port if ASKED.delay else postgres.port
        keyspread = harness.Keyspread(harness.backend_config(postgres, (EAGER, LAZY), port=port, admin={},
                                                             backend={"max_links": 150}))
        print("| protocol | clients | direct | eager | lazy | eager/direct | lazy/direct | rows a batch |\n|" + " --- |" * 8)
        for mode in ASKED.protocols:
            for clients in ASKED.clients:
                taken = {way: [] for way in WAYS}
                before = metrics.Scrape(keyspread)
                for _ in range(ASKED.turns):
                    for way in WAYS:
                        taken[way].append(pgbench(port if way == "direct" else keyspread.port, way, clients, mode))
                counted = metrics.Scrape(keyspread).since(before)
                batches = counted.get("batch_rows_count") or 1
                median = {way: statistics.median(taken[way]) for way in WAYS}
                print(f"| {mode} | {clients} | " + " | ".join(f"{median[way]:,.0f}" for way in WAYS)
                      + f" | {median['eager'] / median['direct']:.2f} | {median['lazy'] / median['direct']:.2f}"
                      + f" | {counted.get('batch_rows_sum') / batches:.1f} |", flush=True)
    finally:
        if keyspread:
            keyspread.stop()
        postgres.remove()


main()
