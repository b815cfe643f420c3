"""login_clients: real clients log in, run a query and an INSERT, and say what came of it.

Each client takes a list of Login and returns as many Outcome. What names the server's address is cut
from messages, so that those of two servers can be compared.
"""
import asyncio
import collections
import json
import os
import re
import shutil
import ssl
import subprocess

import harness

# `host`: an address or the folder of a Unix socket. `tls`: None or the authority's certificate.
# `binding`: the client insists on a channel binding. `insert`: "" for none.
Login = collections.namedtuple("Login", "host port user password database tls binding insert")
# Of a good login: the query's value and the rows written; of another: what the client says of it.
Outcome = collections.namedtuple("Outcome", "value rows sqlstate message")
QUERY = "select 41 + 1"
JAR = "/usr/share/java/postgresql.jar"


def refused(sqlstate, message):
    message = re.sub(r'connection to server (at|on) .*? failed: ', "", str(message))
    return Outcome(None, None, sqlstate, message.strip())


def run(command, stdin="", **environment):
    return subprocess.run(command, input=stdin, capture_output=True, encoding="utf-8", check=False,
                          timeout=harness.PATIENCE * 3,
                          env={**os.environ, "LC_ALL": "C.UTF-8", **environment})


def libpq_options(login):
    """As libpq's clients name them."""
    return {"host": login.host, "port": str(login.port), "user": login.user,
            "password": login.password, "dbname": login.database, "gssencmode": "disable",
            "sslmode": "verify-ca" if login.tls else "disable", "sslrootcert": login.tls or "",
            "channel_binding": "require" if login.binding else "disable"}


class Psql:
    binds = sockets = True

    @staticmethod
    def attempt(login):
        options = libpq_options(login)
        password = options.pop("password")
        dsn = " ".join(f"{name}='{value}'" for name, value in options.items())
        commands = ["-c", QUERY] + (["-c", login.insert] if login.insert else [])
        psql = shutil.which("psql") or harness.missing("psql")
        result = run([psql, "-X", "-At", "-w", dsn, *commands], PGPASSWORD=password)
        if result.returncode != 0:
            return refused(None, result.stderr.removeprefix("psql: error: "))
        value, *tags = result.stdout.split("\n")
        return Outcome(value, int(tags[0].split()[2]) if login.insert else 0, None, None)

    def attempts(self, logins):
        return [self.attempt(login) for login in logins]


class Psycopg2(Psql):
    @staticmethod
    def driver():
        try:
            import psycopg2
        except ImportError:
            harness.missing("psycopg2")
        return psycopg2

    def attempt(self, login):
        driver = self.driver()
        try:
            connection = driver.connect(**libpq_options(login))
        except driver.OperationalError as error:
            return refused(None, error)
        cursor = connection.cursor()
        cursor.execute(QUERY)
        value, rows = str(cursor.fetchone()[0]), 0
        if login.insert:
            cursor.execute(login.insert)
            rows = cursor.rowcount
            connection.commit()
        connection.close()
        return Outcome(value, rows, None, None)


class Psycopg3(Psycopg2):
    @staticmethod
    def driver():
        try:
            import psycopg
        except ImportError:
            harness.missing("psycopg")
        return psycopg


class Asyncpg:
    binds, sockets = False, True

    @staticmethod
    async def attempt(asyncpg, login):
        context = ssl.create_default_context(cafile=login.tls) if login.tls else False
        try:
            connection = await asyncpg.connect(
                host=login.host, port=login.port, user=login.user, password=login.password,
                database=login.database, ssl=context)
        except asyncpg.PostgresError as error:
            return refused(error.sqlstate, error)
        value, tag = str(await connection.fetchval(QUERY)), "INSERT 0 0"
        if login.insert:
            tag = await connection.execute(login.insert)
        await connection.close()
        return Outcome(value, int(tag.split()[2]), None, None)

    def attempts(self, logins):
        try:
            import asyncpg
        except ImportError:
            harness.missing("asyncpg")

        async def all_of_them():
            return [await self.attempt(asyncpg, login) for login in logins]
        return asyncio.run(asyncio.wait_for(all_of_them(), harness.PATIENCE * 3))


class NodePostgres:
    binds = sockets = True

    @staticmethod
    def attempts(logins):
        folder = os.path.join(harness.HERE, "node")
        node = shutil.which("node") or harness.missing("node")
        if not os.path.isdir(os.path.join(folder, "node_modules", "pg")):
            harness.missing("node-postgres (npm install in tests/integration/node)")
        result = run([node, os.path.join(folder, "login.js")],
                     json.dumps([{**login._asdict(), "ca": login.tls} for login in logins]))
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        return [refused(one.get("sqlstate"), one["message"]) if "message" in one
                else Outcome(str(one["value"]), one["rows"], None, None)
                for one in json.loads(result.stdout)]


class Pgjdbc:
    """Has no Unix sockets, and Debian's no channel binding."""

    binds = sockets = False

    @staticmethod
    def line(login):
        tls = f"sslmode=verify-ca&sslrootcert={login.tls}" if login.tls else "sslmode=disable"
        url = f"jdbc:postgresql://{login.host}:{login.port}/{login.database}?{tls}"
        return "\t".join([url, login.user, login.password, login.insert]) + "\n"

    def attempts(self, logins):
        java = shutil.which("java") or harness.missing("java")
        if not os.path.exists(JAR):
            harness.missing("pgjdbc (libpostgresql-jdbc-java)")
        result = run([java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", JAR,
                      os.path.join(harness.HERE, "java", "Login.java")],
                     "".join(map(self.line, logins)))
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        answers = [line.split("\t") for line in result.stdout.splitlines()]
        return [Outcome(answer[1], int(answer[2]), None, None) if answer[0] == "ok"
                else refused(answer[1], answer[2]) for answer in answers]


CLIENTS = {"psql": Psql, "psycopg2": Psycopg2, "psycopg3": Psycopg3, "asyncpg": Asyncpg,
           "node": NodePostgres, "jdbc": Pgjdbc}
