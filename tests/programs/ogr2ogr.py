"""ogr2ogr (GDAL): appends the rows of a CSV file to a table, with INSERT, as it does unless it is told to
COPY."""
import os
import subprocess
import tempfile

from steps import attempt, serve

KEYS = {"items": ("id", "1000000{}"), "documents": ("id", "00000000-0000-4000-8000-000000000{}"),
        "events": ("ts", "2026-01-02 03:04:05+00")}


class Failed(Exception):
    """What ogr2ogr says."""


def append(table, label, first, *options):
    copies = "YES" in options
    columns = [KEYS[table][0]] * copies + ["userid"] * (table == "events") + ["label", "amount"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        with open(path, "w", encoding="utf-8") as file:
            print(",".join(columns), file=file)
            for number in range(first, first + 20):
                print(*[KEYS[table][1].format(number)] * copies, *[number] * (table == "events"), f"\"{label} {number} it's \\ é\"", number,
                      sep=",", file=file)
        done = subprocess.run(["ogr2ogr", "-append", *options, "-f", "PostgreSQL", "PG:", path,
                               "-nln", table], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(done.stderr.strip().split("\n")[0])
        return done.stdout + done.stderr


def step(label, first, *options):
    return lambda: [attempt(table, lambda: append(table, label, first, *options))
                    for table in KEYS]


serve({"create": step("create", 100, "-gt", "1"),
       "bulk": step("bulk", 200, "--config", "PG_USE_COPY", "YES"),
       "transaction": step("transaction", 300)})
