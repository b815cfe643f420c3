"""certificates: an authority of its own, for the length of a test."""
import os
import shutil
import ssl
import subprocess
import tempfile
import unittest

import harness

Pair = harness.collections.namedtuple("Pair", "cert key")


class Authority:
    """Signs certificates; everything lies in a folder that remove() takes away."""

    def __init__(self, name="keyspread test authority"):
        self.openssl = shutil.which("openssl") or harness.missing("openssl")
        self.folder = tempfile.mkdtemp(prefix="keyspread-ca-")
        os.chmod(self.folder, 0o755)
        self.cert = os.path.join(self.folder, "ca.crt")
        self.key = os.path.join(self.folder, "ca.key")
        self._run("req", "-x509", "-new", *self._new_key(self.key), "-days", "2", "-subj",
                  f"/CN={name}", "-out", self.cert)

    def _run(self, *arguments):
        subprocess.run([self.openssl, *arguments], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=harness.PATIENCE)

    @staticmethod
    def _new_key(path):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-keyout", path]

    def issue(self, name, alternatives="", owner=None):
        """A certificate for the common name; `alternatives` as in "DNS:localhost,IP:127.0.0.1"."""
        path = tempfile.mktemp(prefix="", dir=self.folder)
        pair = Pair(path + ".crt", path + ".key")
        self._run("req", "-x509", "-new", *self._new_key(pair.key), "-CA", self.cert, "-CAkey",
                  self.key, "-days", "2", "-subj", f"/CN={name}", "-addext",
                  "basicConstraints=critical,CA:FALSE",
                  *(["-addext", f"subjectAltName={alternatives}"] if alternatives else []),
                  "-out", pair.cert)
        os.chmod(pair.key, 0o600)
        if owner and os.geteuid() == 0:
            shutil.chown(pair.key, owner)
        return pair

    def server(self, owner=None):
        """For a server on this machine, reached by address."""
        return self.issue("localhost", "DNS:localhost,IP:127.0.0.1", owner)

    def self_signed(self, name, kind):
        """One with another key or signature: openssl's words for it."""
        path = tempfile.mktemp(prefix="", dir=self.folder)
        pair = Pair(path + ".crt", path + ".key")
        self._run("req", "-x509", "-new", "-newkey", *kind, "-nodes", "-keyout", pair.key, "-days",
                  "2", "-subj", f"/CN={name}", "-out", pair.cert)
        os.chmod(pair.key, 0o600)
        return pair

    def trusting(self, certificate=None):
        """A client's side of TLS that knows this authority, and shows the certificate."""
        context = ssl.create_default_context(cafile=self.cert)
        if certificate:
            context.load_cert_chain(certificate.cert, certificate.key)
        return context

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class AuthorityCase(unittest.TestCase):
    """Tests of what is in between: an authority, and a certificate of keyspread's."""

    @classmethod
    def setUpClass(cls):
        if harness.DIRECT:
            raise unittest.SkipTest("only with keyspread in between")
        cls.authority = Authority()
        cls.addClassCleanup(cls.authority.remove)
        cls.pair = cls.authority.server()
