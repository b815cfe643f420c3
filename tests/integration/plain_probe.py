"""plain_probe: asks tests/plain_probe, which stands beside the program under test, and PostgreSQL."""
import os
import subprocess

import psycopg
from psycopg import pq

import harness


class Probe:
    def __init__(self):
        path = os.path.join(os.path.dirname(harness.program()), "tests", "plain_probe")
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, *fields):
        """The answer's bytes, or (SQLSTATE, message)."""
        self.process.stdin.write("\t".join(fields).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode()
        assert line, "plain_probe died"
        words = line.rstrip("\n").split("\t")
        return tuple(words[1:]) if words[0] == "error" else bytes.fromhex(words[0])

    def inline(self, statement, params):
        """`params`: (type, format, bytes or None) each."""
        return self.ask("inline", statement.encode().hex(),
                        *(f"{oid}:{'n' if data is None else 'tb'[binary]}:{(data or b'').hex()}"
                          for oid, binary, data in params))

    def send(self, oid, text):
        return self.ask("send", str(oid), text.hex())

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(harness.PATIENCE)


class Server:
    """A session of PostgreSQL's; rows come back as tuples of bytes, errors as their SQLSTATE."""

    def __init__(self, postgres):
        self.connection = psycopg.connect(f"host=127.0.0.1 port={postgres.port} user=postgres"
                                          " dbname=postgres", autocommit=True)
        self.link = self.connection.pgconn
        self.run(b"set client_min_messages = error")

    def run(self, sql, params=(), binary=1):
        """`params` as Probe.inline() has them."""
        result = self.link.exec_params(
            sql, [data for _, _, data in params], param_types=[oid for oid, _, _ in params],
            param_formats=[int(binary) for _, binary, _ in params], result_format=binary)
        if result.status == pq.ExecStatus.FATAL_ERROR:
            return result.error_field(pq.DiagnosticField.SQLSTATE).decode()
        return [tuple(result.get_value(row, column) for column in range(result.nfields))
                for row in range(result.ntuples)]

    def parameter_types(self, sql, declared=()):
        """As PostgreSQL infers them, or the SQLSTATE."""
        result = self.link.prepare(b"", sql, declared or None)
        if result.status == pq.ExecStatus.FATAL_ERROR:
            return result.error_field(pq.DiagnosticField.SQLSTATE).decode()
        described = self.link.describe_prepared(b"")
        return [described.param_type(i) for i in range(described.nparams)]

    def columns(self, sql, declared=()):
        """Name and type of each column of its result, or the SQLSTATE."""
        result = self.link.prepare(b"", sql, declared or None)
        if result.status == pq.ExecStatus.FATAL_ERROR:
            return result.error_field(pq.DiagnosticField.SQLSTATE).decode()
        described = self.link.describe_prepared(b"")
        return [(described.fname(i), described.ftype(i)) for i in range(described.nfields)]

    def close(self):
        self.connection.close()
