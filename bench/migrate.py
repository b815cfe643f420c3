#!/usr/bin/python3
"""What `keyspread migrate` costs those who write meanwhile, and that nothing is lost: five tables with foreign keys, triggers and
sequences are migrated, cut over and, after SECONDS of writes, taken back, while clients insert, change and delete rows at a steady
pace through keyspread. Prints how long a statement took at most in each step, and compares the rows with what the clients were told.

  KEYSPREAD=build-release/keyspread bench/migrate.py [--rate WRITES_A_SECOND] [--writers N] [--rows N] [--changes triggers|decoding] [SECONDS]
                                                                                                          1000, 8, 100000, triggers, 10
"""
import argparse
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "integration"))
import harness
from test_migrate_command import KEYS, TABLES, Writer

arguments = argparse.ArgumentParser()
arguments.add_argument("--rate", type=float, default=1000)
arguments.add_argument("--writers", type=int, default=8)
arguments.add_argument("--rows", type=int, default=100000)
arguments.add_argument("--changes", default="triggers")
arguments.add_argument("seconds", nargs="?", type=float, default=10)
ASKED = arguments.parse_args()
MORE = "insert into orders (customer, amount, label) select 1 + n % 500, n % 100, 'more ' || n from generate_series(1, {}) n"
SPREAD = [{"name": name, "primary_key": key, "hash_key": key[:1], "hash_column": f"{name}_hash", "hash_function": "xxh3",
           "partitions": {"buckets": 16}} for name, key in KEYS.items()]


class Paced(Writer):
    """One statement at each of its turns; one that is late makes up for it."""

    def __init__(self, number, dsn):
        self.turn, self.longest, self.asked = time.monotonic(), 0, 0
        super().__init__(number, dsn)

    def ask(self, cursor, statement, *values):
        time.sleep(max(0, self.turn - time.monotonic()))
        self.turn += ASKED.writers / ASKED.rate
        begun = time.monotonic()
        try:
            return super().ask(cursor, statement, *values)
        finally:
            self.longest = max(self.longest, time.monotonic() - begun)
            self.asked += 1


class Bench:
    def __init__(self):
        self.postgres = harness.Postgres(fsync="on", synchronous_commit="on", log_statement="none", autovacuum="on",
                                         shared_buffers="256MB", max_wal_size="4GB", wal_level="logical" if ASKED.changes == "decoding" else "replica")
        self.postgres.create_database("app")
        self.rows(TABLES + MORE.format(ASKED.rows))
        self.config = harness.backend_config(self.postgres, ())
        self.config["backend"]["dsn"] += f" user={harness.USER} dbname=app"
        self.file = os.path.join(self.postgres.folder, "app.yaml")
        self.keyspread = harness.Keyspread(self.config)
        harness.write_secret(self.postgres.folder, "app.yaml", harness.json.dumps({**self.keyspread.config, "tables": SPREAD}))
        dsn = f"host=127.0.0.1 port={self.keyspread.port} user=app dbname=app sslmode=disable"
        self.writers = [Paced(number, dsn) for number in range(ASKED.writers)]

    def rows(self, sql):
        with self.postgres.admin("app") as admin:
            return admin.rows(sql)

    def step(self, name, work):
        """Does it, and prints how long any statement took at most meanwhile."""
        for writer in self.writers:
            writer.longest, writer.asked = 0, 0
        begun = time.monotonic()
        work()
        taken, asked = time.monotonic() - begun, [writer.asked for writer in self.writers]
        # What is held when the step ends belongs to it.
        harness.eventually("all have an answer", lambda: all(
            writer.failure or writer.asked > count for writer, count in zip(self.writers, asked)))
        print(f"{name:20} {taken:8.1f} s   {sum(asked) / taken:6.0f} writes/s   longest "
              f"{max(writer.longest for writer in self.writers) * 1000:6.0f} ms", flush=True)
        failures = [writer.failure for writer in self.writers if writer.failure]
        if failures:
            raise failures[0]

    def migrate(self, word):
        def run():
            done = subprocess.run([harness.program(), "migrate", self.file, word, f"--changes={ASKED.changes}"], capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(done.stdout + done.stderr)
            print("".join(f"    {line}\n" for line in done.stdout.splitlines() if "have waited" in line), end="")
        self.step(word, run)

    def run(self):
        self.step("ordinary tables", lambda: time.sleep(5))
        self.migrate("--run")
        self.keyspread.reload({**self.keyspread.config, "tables": SPREAD})
        self.step("with their entries", lambda: time.sleep(5))
        self.migrate("--cutover")
        self.step("spread tables", lambda: time.sleep(ASKED.seconds))
        self.migrate("--back")
        self.step("ordinary tables", lambda: time.sleep(5))
        for writer in self.writers:
            writer.stop()
        return self.compare()

    def compare(self):
        """Whether each row is as its client left it."""
        told = {key: order for writer in self.writers for key, order in writer.orders.items()}
        rows = self.rows("select o.id, label, amount, count(l) from orders o left join lines l on l.order_id = o.id"
                         " where label like 'writer%' group by o.id, label, amount")
        stored = {int(key): (label, amount, int(lines)) for key, label, amount, lines in rows}
        others = self.rows("select count(*) from orders where label not like 'writer%'")[0][0]
        wrong = [key for key in told.keys() | stored.keys() if told.get(key) != stored.get(key)]
        again = [failure for writer in self.writers for failure in writer.again]
        print(f"{sum(writer.count for writer in self.writers)} orders written, {len(stored)} left, {len(wrong)} wrong; others: {others} of "
              f"{12000 + ASKED.rows}; {len(again)} statements sent again{': ' + again[0] if again else ''}")
        return not wrong and int(others) == 12000 + ASKED.rows

    def close(self):
        for writer in self.writers:
            writer.stopped.set()
        self.keyspread.stop()
        self.postgres.remove()


def main():
    bench = Bench()
    try:
        return bench.run()
    finally:
        bench.close()


sys.exit(0 if main() else 1)
