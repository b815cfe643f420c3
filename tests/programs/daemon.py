"""daemon: what rsyslog and syslog-ng have in common here: a daemon takes lines from a socket and writes
them with templates of its own. A step ends when all its rows are there."""
import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time

import psycopg2

from steps import attempt, serve

COUNT, PATIENCE = 20, 60.0
TABLES = ("items", "documents", "events")


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.02)


def send(path, step, first):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        until(lambda: out.connect_ex(path) == 0)
        for number in range(first, first + COUNT):
            out.send(f"<13>Jan  2 03:04:05 app: {step} {number} it's \\ é \"x\"".encode())


def stored(table, step):
    with psycopg2.connect("") as connection, connection.cursor() as cursor:
        cursor.execute(f"select label, amount from {table} where label like %s order by label",
                       (step + "%",))
        return cursor.fetchall()


def wait_for(table, step, log):
    deadline = time.monotonic() + PATIENCE
    while len(rows := stored(table, step)) < COUNT:
        if time.monotonic() > deadline:
            with open(log, encoding="utf-8") as file:
                raise TimeoutError(f"{len(rows)} rows: {file.read()[-300:]}")
        time.sleep(0.05)
    return rows


@contextlib.contextmanager
def running(configure):
    """The daemon, by `configure(folder)`: its command and its configuration. The socket that it reads."""
    with tempfile.TemporaryDirectory() as folder:
        command, text = configure(folder)
        with open(os.path.join(folder, "conf"), "w", encoding="utf-8") as file:
            file.write(text)
        with open(os.path.join(folder, "log"), "wb") as file:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig=TERM", "--", *command], stdin=subprocess.DEVNULL,
                stdout=file, stderr=file, cwd=folder)
        try:
            yield os.path.join(folder, "socket")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def run(configure, steps):
    """`steps`: by number, 100 apart."""
    with running(configure) as path:
        def step(name, first):
            send(path, name, first)
            for table in TABLES:
                attempt(table, lambda: wait_for(table, name, os.path.join(os.path.dirname(path), "log")))

        serve({name: lambda name=name, first=first: step(name, first)
               for name, first in steps.items()})
