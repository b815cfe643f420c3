#!/usr/bin/env python3
"""scripts/ydb-probe against the fake of YDB's endpoint: what it finds is how the fake is told to
be, and keyspread takes what it prints."""
import os
import re
import runpy
import subprocess
import sys
import tempfile
import unittest

import yaml

import harness
from ydb import EndpointCase

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROBE = os.path.join(TREE, "scripts", "ydb-probe")


class Probe(EndpointCase):

    def probe(self, endpoint=None, dsn=None, code=0):
        """Its output; `code` is what it ends with."""
        port = (endpoint or self.endpoint).port
        result = subprocess.run(
            [sys.executable, PROBE, dsn or f"host=127.0.0.1 port={port} user=app dbname=/local"],
            capture_output=True, text=True, timeout=harness.PATIENCE * 5)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout if code == 0 else result.stderr

    def found(self, **options):
        """Verdict and value of each row."""
        text = self.probe(self.start(**options))
        values = yaml.load(text, Loader=yaml.BaseLoader)["backend"]["capabilities"]
        verdicts = dict(re.findall(r"^# (\w+): (confirmed|contradicted|unknown)", text, re.M))
        return {name: (verdict, values.get(name)) for name, verdict in verdicts.items()}

    def test_its_table_is_keyspreads(self):
        """The same rows, in the same order, with the same defaults."""
        defaults = runpy.run_path(PROBE)["DEFAULTS"]
        with open(os.path.join(TREE, "config", "capabilities.c"), encoding="utf-8") as file:
            rows = re.findall(r'\[CFG_CAN_\w+\] =\s*\{\s*"(\w+)",\s*(true|false)', file.read())
        self.assertEqual([(name, word == "true") for name, word in rows],
                         list(defaults.items())[:-1])
        self.assertEqual(list(runpy.run_path(PROBE)["CHECKS"]), list(defaults))

    def test_as_it_is_taken_for(self):
        found = self.found()
        self.assertEqual(len(found), 17)
        for name, value in (("returning", "yes"), ("start_transaction", "no"),
                            ("savepoints", "yes"), ("ddl_in_transaction", "no"),
                            ("describe", "yes"), ("varchar_keys", "no"), ("uuid_keys", "no"),
                            ("max_message", "1536KiB")):
            self.assertEqual(found[name], ("confirmed", value), name)
        for name in ("native_writes", "column_tables", "pgint8_boundaries"):
            self.assertEqual(found[name], ("unknown", None), name)
        self.assertEqual(self.stored("select tablename from pg_tables where schemaname = 'public'"),
                         [])

    def test_either_way(self):
        """Each switch of the fake that a row is about, one way and the other."""
        for name, option, values in (("for_update", "for_update", ("ignored", "refused")),
                                     ("uuid_keys", "uuid_keys", ("allowed", "refused")),
                                     ("typmods", "typmods", ("kept", "dropped")),
                                     ("hash_functions", "hash_functions",
                                      ("callable", "unknown"))):
            for value, answer in zip(values, ("yes", "no")):
                with self.subTest(name=name, value=value):
                    found = self.found(**{option: value})
                    self.assertEqual(found[name][1], answer)

    def test_ddl_in_a_transaction(self):
        """It is never part of it, whether the transaction lives on or not."""
        for value in ("keeps", "ends"):
            self.assertEqual(self.found(ddl_in_transaction=value)["ddl_in_transaction"],
                             ("confirmed", "no"))

    def test_native_tables(self):
        """Which somebody has to make in YQL."""
        self.stored("create table keyspread_probe_native (h numeric(20), k int8, "
                    "primary key (h, k))")
        table = "keyspread_probe_native,column=h,position=1,unsigned"
        for value, answer in (("allowed", "yes"), ("refused", "no")):
            self.assertEqual(self.found(table=table, native_writes=value)["native_writes"][1],
                             answer)

    def test_short_texts(self):
        value = self.found(max_text=10240)["max_message"]
        self.assertEqual(value, ("contradicted", "10KiB"))

    def test_keyspread_takes_it(self):
        text = self.probe(self.start(for_update="refused", max_text=20000))
        section = text[text.index("backend:\n"):].removeprefix("backend:\n")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("backend:\n  dialect: ydb\n  dsn: host=127.0.0.1 dbname=local\n" + section)
            file.flush()
            result = subprocess.run([harness.program(), "check", file.name], capture_output=True,
                                    text=True, timeout=harness.PATIENCE)
        self.assertEqual((result.returncode, "apabilit" in result.stderr), (0, False),
                         result.stderr)

    def test_passwords(self):
        endpoint = self.start(user="root", password="1 2'3")
        dsn = f"host=127.0.0.1 port={endpoint.port} user=root dbname=local"
        self.assertIn("savepoints: confirmed", self.probe(dsn=dsn + r" password='1 2\'3'"))
        self.assertIn("savepoints: confirmed",
                      self.probe(dsn=f"postgresql://root:1%202%273@127.0.0.1:{endpoint.port}"
                                     "/local?sslmode=disable"))
        self.assertIn("ydb-probe: ", self.probe(dsn=dsn + " password=wrong", code=1))

    def test_tls(self):
        """A password that may not go in the clear goes over TLS; a certificate is looked at only
        if that is asked for."""
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = f"{folder}/tls.key", f"{folder}/tls.crt"
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
                            key, "-out", certificate, "-subj", "/CN=localhost", "-days", "2"],
                           check=True, capture_output=True)
            endpoint = self.start(certificate=certificate, key=key, user="root", password="1")
            dsn = f"host=127.0.0.1 port={endpoint.port} user=root password=1 dbname=local"
            for mode in ("prefer", "require", "disable"):
                self.assertIn("savepoints: confirmed", self.probe(dsn=f"{dsn} sslmode={mode}"))
            self.assertIn("CERTIFICATE", self.probe(dsn=f"{dsn} sslmode=verify-full", code=1))
        plain = f"host=127.0.0.1 port={self.endpoint.port} user=app dbname=local sslmode=require"
        self.assertIn("no TLS", self.probe(dsn=plain, code=1))

    def test_nobody_there(self):
        port = harness.free_port()
        self.assertIn("ydb-probe: ", self.probe(dsn=f"host=127.0.0.1 port={port}", code=1))
        self.assertIn("usage:", self.probe(dsn="nonsense", code=2))


if __name__ == "__main__":
    unittest.main()
