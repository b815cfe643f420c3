"""ydb_clients: real clients that all play the same steps and tell what they saw, a line a thing.

A step is a text with $1 … and values, each a pair of a type's name and a text (or None). A client is
opened with a port; `step` tells: what was done, columns, rows, or how it failed; `close` ends it.
"""
import asyncio
import datetime
import decimal
import json
import os
import re
import shutil
import subprocess
import uuid

import harness
from ydb_case import DATABASE

JAR = "/usr/share/java/postgresql.jar"
FIELDS = ("severity", "sqlstate", "message", "detail", "hint", "position", "table", "column",
          "constraint")
_PYTHON = {
    "bool": lambda text: text == "true", "float4": float, "float8": float,
    "int2": int, "int4": int, "int8": int, "numeric": decimal.Decimal,
    "bytea": bytes.fromhex, "uuid": uuid.UUID, "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat, "timestamp": datetime.datetime.fromisoformat,
    "timestamptz": datetime.datetime.fromisoformat,
    "interval": lambda text: datetime.timedelta(seconds=float(text)),
    "int4[]": json.loads, "int8[]": json.loads, "text[]": json.loads,
    "uuid[]": lambda text: [uuid.UUID(one) for one in json.loads(text)],
}


def in_python(value):
    kind, text = value
    return None if text is None else _PYTHON.get(kind, str)(text)


def numbered(sql, values, mark):
    """$1 … as `mark`, and the values in the order of their marks."""
    order = [int(number) - 1 for number in re.findall(r"\$(\d+)", sql)]
    return re.sub(r"\$\d+", mark, sql), [values[at] for at in order]


def failure(**fields):
    return ["failed " + " ".join(f"{name}={fields[name]!r}" for name in FIELDS if fields.get(name))]


def _imported(name):
    try:
        return __import__(name)
    except ImportError:
        return harness.missing(name)


class Psycopg2:
    """Texts with everything in them; transactions as the application says them."""

    autocommit = True

    def __init__(self, port):
        self.driver = _imported("psycopg2")
        __import__("psycopg2.extras").extras.register_uuid()
        self.connection = self.driver.connect(host="127.0.0.1", port=port, user=harness.USER,
                                              dbname=DATABASE, sslmode="disable")
        self.connection.autocommit = self.autocommit

    def step(self, sql, values):
        text, ordered = numbered(sql, values, "%s")
        cursor = self.connection.cursor()
        try:
            cursor.execute(text, [in_python(value) for value in ordered] or None)
            return self._told(cursor)
        except self.driver.Error as error:
            diag = error.diag
            return self._notices() + failure(
                severity=diag.severity, sqlstate=error.pgcode, message=diag.message_primary,
                detail=diag.message_detail, hint=diag.message_hint,
                position=diag.statement_position, table=diag.table_name, column=diag.column_name,
                constraint=diag.constraint_name)
        finally:
            cursor.close()

    def _notices(self):
        notices, self.connection.notices = self.connection.notices, []
        return [f"notice {notice!r}" for notice in notices]

    def _told(self, cursor):
        lines = self._notices() + [f"{cursor.statusmessage} ({cursor.rowcount})"]
        if cursor.description is not None:
            lines.append(f"columns {[tuple(column) for column in cursor.description]}")
            lines += [f"row {tuple(map(_plain, row))}" for row in cursor.fetchall()]
        return lines + [f"transaction {self.connection.info.transaction_status}"]

    def close(self):
        self.connection.close()


def _plain(value):
    return bytes(value) if isinstance(value, memoryview) else value


class Psycopg3:
    """Parameters as text, columns as text; the unnamed statement, and a name from the sixth on."""

    options = {}
    binary = False

    def __init__(self, port):
        self.driver = _imported("psycopg")
        self.connection = self.connect(port)
        self.notices = []
        self.connection.add_notice_handler(
            lambda diag: self.notices.append(f"notice {diag.severity} {diag.sqlstate} "
                                             f"{diag.message_primary}"))

    def connect(self, port):
        return self.driver.connect(host="127.0.0.1", port=port, user=harness.USER, dbname=DATABASE,
                                   sslmode="disable", autocommit=True, **self.options)

    def adapted(self, value):
        """JSON has no Python type of its own."""
        if value[0] in ("json", "jsonb") and value[1] is not None:
            types = __import__("psycopg.types.json").types.json
            return (types.Json if value[0] == "json" else types.Jsonb)(json.loads(value[1]))
        return in_python(value)

    def step(self, sql, values):
        text, ordered = numbered(sql, values, "%b" if self.binary else "%s")
        cursor = self.connection.cursor(binary=self.binary)
        self.notices.clear()
        try:
            cursor.execute(text, [self.adapted(value) for value in ordered] or None)
            return self._told(cursor)
        except self.driver.Error as error:
            diag = error.diag
            return self.notices + failure(
                severity=diag.severity, sqlstate=diag.sqlstate, message=diag.message_primary,
                detail=diag.message_detail, hint=diag.message_hint,
                position=diag.statement_position, table=diag.table_name, column=diag.column_name,
                constraint=diag.constraint_name)

    def _told(self, cursor):
        lines = self.notices + [f"{cursor.statusmessage} ({cursor.rowcount})"]
        if cursor.description is not None:
            lines.append("columns " + str([
                (column.name, column.type_code, column.display_size, column.precision,
                 column.scale) for column in cursor.description]))
            lines += [f"row {row}" for row in cursor.fetchall()]
        return lines + [f"transaction {self.connection.info.transaction_status.name}"]

    def close(self):
        self.connection.close()


class Psycopg3Binary(Psycopg3):
    """Everything in binary, each statement prepared at once."""

    options = {"prepare_threshold": 0}
    binary = True


class Asyncpg:
    """Describes every statement, and sends and takes binary values only."""

    def __init__(self, port):
        self.driver = _imported("asyncpg")
        self.loop = asyncio.new_event_loop()
        self.notices = []
        self.connection = self.run(self.driver.connect(
            host="127.0.0.1", port=port, user=harness.USER, database=DATABASE, ssl=False))
        self.connection.add_log_listener(lambda _, notice: self.notices.append(
            f"notice {notice.severity} {notice.sqlstate} {notice.message}"))

    def run(self, work):
        return self.loop.run_until_complete(asyncio.wait_for(work, harness.PATIENCE))

    def step(self, sql, values):
        self.notices.clear()
        try:
            return self.run(self._step(sql, [in_python(value) for value in values]))
        except self.driver.PostgresError as error:
            return self.notices + failure(
                severity=error.severity, sqlstate=error.sqlstate, message=error.message,
                detail=error.detail, hint=error.hint, position=error.position,
                table=error.table_name, column=error.column_name, constraint=error.constraint_name)
        except self.driver.InterfaceError as error:
            return [f"refused by the client: {error}"]

    async def _step(self, sql, values):
        statement = await self.connection.prepare(sql)
        kinds = [one.name for one in statement.get_parameters()]
        columns = [(one.name, one.type.oid) for one in statement.get_attributes()]
        rows = await statement.fetch(*values)
        return self.notices + [f"parameters {kinds}", f"columns {columns}",
                               str(statement.get_statusmsg())] + [
            f"row {tuple(row.items())}" for row in rows] + [
            f"in a transaction: {self.connection.is_in_transaction()}"]

    def close(self):
        self.run(self.connection.close())
        self.loop.close()


class Psql:
    """What a person at the terminal sees."""

    def __init__(self, port):
        path = shutil.which("psql") or harness.missing("psql")
        self.command = [path, "-X", "-v", "VERBOSITY=verbose", "-P", "null=(null)",
                        f"host=127.0.0.1 port={port} user={harness.USER} dbname={DATABASE} "
                        "sslmode=disable"]
        self.steps = []

    @staticmethod
    def literal(value):
        kind, text = value
        if text is None:
            return "NULL"
        if kind.endswith("[]"):
            text = "{" + ",".join("NULL" if one is None else json.dumps(one, ensure_ascii=False)
                                  for one in json.loads(text)) + "}"
        if kind == "interval":
            text += " seconds"
        return "'" + ("\\x" if kind == "bytea" else "") + text.replace("'", "''") + "'"

    def step(self, sql, values):
        """Only a whole script is played: what it tells is asked for at its end."""
        self.steps.append(re.sub(r"\$(\d+)", lambda mark: self.literal(values[int(mark[1]) - 1]),
                                 sql))
        return []

    def close(self):
        script = "".join(f"\\echo -- {number}\n\\warn -- {number}\n{sql};\n"
                         for number, sql in enumerate(self.steps))
        result = subprocess.run(self.command, input=script, capture_output=True, text=True,
                                check=False, timeout=harness.PATIENCE)
        parts = [re.split(r"^-- \d+$", text, flags=re.M)
                 for text in (result.stdout, result.stderr)]
        return [self.told(out, err) for out, err in zip(*(part[1:] for part in parts))]

    @staticmethod
    def told(out, err):
        """Where in its source PostgreSQL met an error is nobody's business."""
        lines = [line for line in err.splitlines() if line and not line.startswith("LOCATION")]
        return out.strip("\n").splitlines() + ["! " + line for line in lines]


class Program:
    """A client in another language: a line in for a step, a line of JSON out."""

    def __init__(self, command, port):
        self.process = subprocess.Popen(
            harness.with_us() + command + ["127.0.0.1", str(port), harness.USER, DATABASE],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def step(self, sql, values):
        """Fields apart by tabs: the text, then type and value of each; NULL is \\N."""
        fields = [sql] + [part for kind, text in values
                          for part in (kind, "\\N" if text is None else text)]
        self.process.stdin.write("\t".join(one.replace("\n", " ") for one in fields) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the client ended at {sql}")
        return [one.replace("\\n", "\n") for one in line.rstrip("\n").split("\t")]

    def close(self):
        """It goes on with the next case."""

    def end(self):
        self.process.stdin.close()
        self.process.wait(harness.PATIENCE)
        self.process.stdout.close()


class NodePostgres(Program):
    mode = "unnamed"

    def __init__(self, port):
        folder = os.path.join(harness.HERE, "node")
        node = shutil.which("node") or harness.missing("node")
        if not os.path.isdir(os.path.join(folder, "node_modules", "pg")):
            harness.missing("node-postgres (npm install in tests/integration/node)")
        super().__init__([node, os.path.join(folder, "play.js"), self.mode], port)


class NodePostgresNamed(NodePostgres):
    mode = "named"


class Pgjdbc(Program):
    """The unnamed statement, and one with a name from the fifth time on."""

    options = "prepareThreshold=5"

    def __init__(self, port):
        java = shutil.which("java") or harness.missing("java")
        if not os.path.exists(JAR):
            harness.missing("pgjdbc (libpostgresql-jdbc-java)")
        super().__init__([java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", JAR,
                          os.path.join(harness.HERE, "java", "Play.java"), self.options], port)


class PgjdbcBinary(Pgjdbc):
    """Named at once, and what it can in binary; results a few rows at a time."""

    options = "prepareThreshold=-1&binaryTransfer=true&defaultRowFetchSize=2"


class PgjdbcSimple(Pgjdbc):
    """It cannot write bytea so that anybody could read it, so they are texts."""

    options = "preferQueryMode=simple"

    def step(self, sql, values):
        return super().step(sql, [("text", "\\x" + text) if kind == "bytea" and text is not None
                                  else (kind, text) for kind, text in values])
