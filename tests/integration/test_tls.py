"""TLS to clients: who is let in how, as PostgreSQL would; direct TLS; certificates; much data."""
import contextlib
import hashlib
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import unittest

import certificates
import harness
import scram
import wire

PASSWORD = "a secret"
SSL_REQUEST = struct.pack("!II", 8, 80877103)
SSLMODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
BINDINGS = ("disable", "prefer", "require")
HBA = """local all all trust
host all postgres 127.0.0.1/32 trust
host prefer all 127.0.0.1/32 scram-sha-256
hostssl require all 127.0.0.1/32 scram-sha-256
hostnossl disable all 127.0.0.1/32 scram-sha-256
"""


def users_file(folder):
    return harness.write_secret(folder, "users.txt", f'"{harness.USER}" "{PASSWORD}"\n')


class TlsCase(certificates.AuthorityCase):
    """A PostgreSQL that trusts, an authority, and as many keyspreads as a test wants."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        harness.create_tables(cls.postgres, "app", (harness.EVENTS,))

    @classmethod
    def start(cls, cleanup, mode="prefer", scram=False, **tls):
        """A keyspread; `tls` are more keys of client_tls."""
        if mode != "disable":
            tls = {"cert": cls.pair.cert, "key": cls.pair.key, **tls}
        auth = {"mode": "trust"}
        if scram:
            auth = {"mode": "scram", "users_file": users_file(cls.authority.folder)}
        keyspread = harness.Keyspread(harness.backend_config(
            cls.postgres, client_tls={"mode": mode, **tls}, auth=auth))
        cleanup(keyspread.stop)
        return keyspread

    def asked(self, keyspread, context=None):
        """A raw session that asks for TLS first; not logged in yet."""
        session = wire.Wire(keyspread.address())
        self.addCleanup(session.drop)
        session.socket.sendall(SSL_REQUEST)
        self.assertEqual(session.socket.recv(1), b"S")
        context = context or self.authority.trusting()
        session.socket = context.wrap_socket(session.socket, server_hostname="127.0.0.1")
        return session

    def direct(self, keyspread, protocols):
        context = self.authority.trusting()
        if protocols:
            context.set_alpn_protocols(protocols)
        session = wire.Wire(keyspread.address())
        self.addCleanup(session.drop)
        session.socket = context.wrap_socket(session.socket, server_hostname="127.0.0.1")
        return session

    def refusal(self, session, **params):
        """The SQLSTATE that a login ends with."""
        with self.assertRaises(wire.Closed) as caught:
            session.login(harness.USER, "app", **params)
        return wire.error_of(caught.exception.messages)


class Combinations(TlsCase):
    """Every sslmode and channel_binding of libpq against every mode here, and against PostgreSQL
    that is set up to want the same."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.psql = shutil.which("psql") or harness.missing("psql")
        pair = cls.authority.server(owner="postgres")
        cls.oracles = {"on": harness.Postgres(ssl="on", ssl_cert_file=pair.cert,
                                              ssl_key_file=pair.key), "off": harness.Postgres()}
        for oracle in cls.oracles.values():
            cls.addClassCleanup(oracle.remove)
            for mode in ("disable", "prefer", "require"):
                oracle.create_database(mode)
            with oracle.admin("postgres") as admin:
                admin.rows(f"alter role {harness.USER} password '{PASSWORD}'")
            with open(os.path.join(oracle.data, "pg_hba.conf"), "w", encoding="ascii") as file:
                file.write(HBA)
            with oracle.admin("postgres") as admin:
                admin.rows("select pg_reload_conf()")

    def outcome(self, port, database, sslmode, binding):
        """tls, plain, or who refused: the client (before it sent anything of worth) or the server."""
        dsn = (f"host=127.0.0.1 port={port} dbname={database} user={harness.USER} "
               f"password='{PASSWORD}' sslmode={sslmode} channel_binding={binding} "
               f"sslrootcert={self.authority.cert} gssencmode=disable")
        result = subprocess.run([self.psql, "-X", "-At", dsn, "-c", "\\conninfo", "-c", "select 41+1"],
                                capture_output=True, text=True, check=False,
                                timeout=harness.PATIENCE, env={**os.environ, "LC_ALL": "C"})
        if result.returncode != 0:
            return "refused by the server" if "FATAL" in result.stderr else "refused by the client"
        self.assertIn("42", result.stdout.split())
        return "tls" if "SSL connection" in result.stdout else "plain"

    def table(self, port, database):
        return {(sslmode, binding): self.outcome(port, database, sslmode, binding)
                for sslmode in SSLMODES for binding in BINDINGS}

    def compare(self, mode):
        oracle = self.oracles["off" if mode == "disable" else "on"]
        keyspread = self.start(self.addCleanup, mode, scram=True)
        for database in ("app", mode):
            with contextlib.suppress(AssertionError):
                self.postgres.create_database(database)
        ours, postgresqls = self.table(keyspread.port, "app"), self.table(oracle.port, mode)
        self.assertEqual(ours, postgresqls)
        return ours

    def test_disable(self):
        table = self.compare("disable")
        self.assertEqual(table["prefer", "prefer"], "plain")
        self.assertEqual(table["require", "prefer"], "refused by the client")

    def test_prefer(self):
        table = self.compare("prefer")
        self.assertEqual(table["disable", "prefer"], "plain")
        self.assertEqual(table["verify-full", "require"], "tls")
        self.assertEqual(table["disable", "require"], "refused by the client")

    def test_require(self):
        table = self.compare("require")
        self.assertEqual(table["disable", "prefer"], "refused by the server")
        self.assertEqual(table["verify-full", "require"], "tls")


class Negotiation(TlsCase):
    def test_what_follows_the_request_too_early_is_not_taken(self):
        keyspread = self.start(self.addCleanup)
        session = wire.Wire(keyspread.address())
        self.addCleanup(session.drop)
        session.send(SSL_REQUEST + wire.startup(harness.USER, "app"))
        self.assertEqual(session.socket.recv(1), b"S")
        session.socket = self.authority.trusting().wrap_socket(session.socket, server_hostname="127.0.0.1")
        self.assertEqual(self.refusal(session), "08P01")

    def test_one_encryption_is_enough(self):
        session = self.asked(self.start(self.addCleanup))
        session.send(SSL_REQUEST)
        self.assertEqual(wire.error_of(session.read_to_end()), "0A000")

    def test_a_cleartext_startup_where_tls_is_required(self):
        keyspread = self.start(self.addCleanup, "require")
        session = wire.Wire(keyspread.address())
        self.addCleanup(session.drop)
        self.assertEqual(self.refusal(session), "28000")
        self.asked(keyspread).login(harness.USER, "app")

    def test_a_cleartext_cancel_where_tls_is_required(self):
        keyspread = self.start(self.addCleanup, "require")
        session = self.asked(keyspread)
        session.login(harness.USER, "app")
        session.send(wire.query("select pg_sleep(600)"))
        with self.postgres.admin("app") as admin:
            harness.eventually("the statement runs", lambda: admin.rows(
                "select 1 from pg_stat_activity where wait_event = 'PgSleep'"))
        cancel = wire.Wire(keyspread.address())
        self.addCleanup(cancel.drop)
        cancel.send(wire.cancel_request(session.pid, session.key))
        self.assertEqual(wire.error_of(session.read_ready()), "57014")

    def test_direct(self):
        session = self.direct(self.start(self.addCleanup, "require"), ["postgresql"])
        self.assertEqual(session.socket.selected_alpn_protocol(), "postgresql")
        session.login(harness.USER, "app")
        self.assertEqual(session.rows("select 1"), [["1"]])

    def test_direct_without_a_protocol(self):
        session = self.direct(self.start(self.addCleanup), [])
        self.assertEqual(self.refusal(session), "08P01")

    def test_direct_for_another_protocol(self):
        with self.assertRaises(ssl.SSLError):
            self.direct(self.start(self.addCleanup), ["http/1.1"])

    def test_direct_where_there_is_none(self):
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.direct(self.start(self.addCleanup, "disable"), ["postgresql"])

    def test_an_old_tls_is_refused(self):
        context = self.authority.trusting()
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.assertRaises(ssl.SSLError):
            self.asked(self.start(self.addCleanup), context)

    def test_a_handshake_that_stalls_ends(self):
        keyspread = harness.Keyspread(harness.backend_config(
            self.postgres, client_tls={"cert": self.pair.cert, "key": self.pair.key},
            limits={"startup_ms": 300}))
        self.addCleanup(keyspread.stop)
        session = wire.Wire(keyspread.address())
        self.addCleanup(session.drop)
        session.socket.sendall(SSL_REQUEST)
        self.assertEqual(session.socket.recv(1), b"S")
        session.socket.sendall(b"\x16\x03\x01")
        self.assertEqual(session.socket.recv(1), b"")

    def test_nonsense_instead_of_a_handshake(self):
        keyspread = self.start(self.addCleanup)
        session = wire.Wire(keyspread.address())
        self.addCleanup(session.drop)
        session.socket.sendall(SSL_REQUEST)
        self.assertEqual(session.socket.recv(1), b"S")
        session.socket.sendall(wire.startup(harness.USER, "app") * 3)
        with contextlib.suppress(ConnectionError):
            while session.socket.recv(1000):
                pass
        self.assertIn("event=tls_failed", keyspread.lines.wait_for("event=tls_failed"))

    def test_unix_sockets_have_none(self):
        """As PostgreSQL's: what requires TLS means the network."""
        path = os.path.join(self.authority.folder, ".s.PGSQL.6432")
        keyspread = self.start(self.addCleanup)
        keyspread.stop()
        config = harness.backend_config(self.postgres, client_tls={
            "mode": "require", "cert": self.pair.cert, "key": self.pair.key})
        config["listen"] = [path]
        keyspread = harness.Keyspread(config)
        self.addCleanup(keyspread.stop)
        session = wire.Wire(path)
        self.addCleanup(session.drop)
        session.socket.sendall(SSL_REQUEST)
        self.assertEqual(session.socket.recv(1), b"N")
        session.login(harness.USER, "app")


class Certificates(TlsCase):
    def test_a_new_certificate_after_a_reload(self):
        keyspread = self.start(self.addCleanup)
        old = self.asked(keyspread)
        old.login(harness.USER, "app")
        fresh = self.authority.server()
        tls = {"mode": "prefer", "cert": fresh.cert, "key": fresh.key}
        keyspread.write_config({**keyspread.config, "client_tls": tls})
        keyspread.process.send_signal(signal.SIGHUP)
        keyspread.lines.wait_for("event=reloaded")
        with open(fresh.cert, encoding="ascii") as file:
            expected = ssl.PEM_cert_to_DER_cert(file.read())
        harness.eventually("new clients see the new certificate", lambda: self.asked(
            keyspread).socket.getpeercert(binary_form=True) == expected)
        self.assertEqual(old.rows("select 1"), [["1"]])

    def test_a_bad_reload_keeps_the_old_one(self):
        keyspread = self.start(self.addCleanup)
        other = self.authority.server()
        tls = {"mode": "prefer", "cert": self.pair.cert, "key": other.key}
        keyspread.write_config({**keyspread.config, "client_tls": tls})
        keyspread.process.send_signal(signal.SIGHUP)
        self.assertIn("kept=old", keyspread.lines.wait_for("event=reload_failed"))
        self.assertRegex(keyspread.lines.text(), r"keyspread\.yaml:\d+: client_tls\.key: .* cannot "
                         "be used: it is not the key of client_tls.cert")
        self.asked(keyspread).login(harness.USER, "app")

    def test_optional_client_certificates(self):
        keyspread = self.start(self.addCleanup, ca=self.authority.cert)
        self.asked(keyspread).login(harness.USER, "app")
        good = self.authority.trusting(self.authority.issue("anybody"))
        self.asked(keyspread, good).login(harness.USER, "app")
        stranger = certificates.Authority("stranger")
        self.addCleanup(stranger.remove)
        with self.assertRaises((ssl.SSLError, ConnectionError, wire.Closed)):
            bad = self.authority.trusting(stranger.issue(harness.USER))
            self.asked(keyspread, bad).login(harness.USER, "app")

    def test_required_client_certificates(self):
        keyspread = self.start(self.addCleanup, "require", ca=self.authority.cert,
                               verify="verify-ca")
        self.assertEqual(self.refusal(self.asked(keyspread)), "28000")
        good = self.authority.trusting(self.authority.issue("anybody"))
        self.asked(keyspread, good).login(harness.USER, "app")
        plain = wire.Wire(keyspread.address())
        self.addCleanup(plain.drop)
        self.assertEqual(self.refusal(plain), "28000")

    def test_certificates_of_the_user(self):
        keyspread = self.start(self.addCleanup, "require", ca=self.authority.cert,
                               verify="verify-full")
        other = self.authority.trusting(self.authority.issue("somebody else"))
        self.assertEqual(self.refusal(self.asked(keyspread, other)), "28000")
        own = self.authority.trusting(self.authority.issue(harness.USER))
        self.asked(keyspread, own).login(harness.USER, "app")


class Reloads(TlsCase):
    """A login is led by the rules it began with."""

    def setUp(self):
        self.keyspread = self.start(self.addCleanup, scram=True)

    def reload(self, **tls):
        """New connections find the new rules when this returns."""
        since = len(self.keyspread.lines.lines)
        self.keyspread.write_config({**self.keyspread.config, "client_tls": tls})
        self.keyspread.process.send_signal(signal.SIGHUP)
        self.assertTrue(self.keyspread.lines.wait_for("event=reloaded", since))

    def offered(self):
        with wire.Wire(self.keyspread.address()) as session:
            session.socket.sendall(SSL_REQUEST)
            return session.socket.recv(1)

    def plus(self, session):
        """A login that is bound to the certificate which the session was shown."""
        binding = hashlib.sha256(session.socket.getpeercert(binary_form=True)).digest()
        scram.login(session, harness.USER, "app", PASSWORD, scram.Exchange(
            PASSWORD, "p=tls-server-end-point,,", "SCRAM-SHA-256-PLUS", binding))

    def test_no_tls_any_more(self):
        secure = self.asked(self.keyspread)
        begun = wire.Wire(self.keyspread.address())
        self.addCleanup(begun.drop)
        begun.socket.sendall(SSL_REQUEST[:5])
        harness.eventually("the first bytes were seen", lambda: self.offered() == b"S")
        self.reload(mode="disable")
        harness.eventually("none is offered", lambda: self.offered() == b"N")
        self.plus(secure)
        begun.socket.sendall(SSL_REQUEST[5:])
        self.assertEqual(begun.socket.recv(1), b"S")

    def test_another_certificate(self):
        session = self.asked(self.keyspread)
        fresh = self.authority.server()
        self.reload(mode="require", cert=fresh.cert, key=fresh.key)
        with open(fresh.cert, encoding="ascii") as file:
            expected = ssl.PEM_cert_to_DER_cert(file.read())
        harness.eventually("new clients see the new certificate", lambda: self.asked(
            self.keyspread).socket.getpeercert(binary_form=True) == expected)
        self.plus(session)


class Signatures(TlsCase):
    """psql logs in by channel binding, or without it where a certificate's signature has no hash."""

    def login(self, kind, binding):
        psql = shutil.which("psql") or harness.missing("psql")
        pair = self.authority.self_signed("localhost", kind)
        tls = {"mode": "prefer", "cert": pair.cert, "key": pair.key}
        keyspread = harness.Keyspread(harness.backend_config(
            self.postgres, client_tls=tls, auth={
                "mode": "scram", "users_file": users_file(self.authority.folder)}))
        self.addCleanup(keyspread.stop)
        dsn = (f"host=127.0.0.1 port={keyspread.port} dbname=app user={harness.USER} "
               f"password='{PASSWORD}' sslmode=require channel_binding={binding}")
        return subprocess.run([psql, "-X", "-At", dsn, "-c", "select 41+1"], text=True, check=False,
                              capture_output=True, timeout=harness.PATIENCE).stdout

    def test_rsa(self):
        self.assertEqual(self.login(["rsa:2048", "-sha384"], "require"), "42\n")

    def test_without_a_hash(self):
        self.assertEqual(self.login(["ed25519"], "prefer"), "42\n")

    def test_rsa_pss(self):
        self.assertEqual(self.login(["rsa:2048", "-sha512", "-sigopt", "rsa_padding_mode:pss"],
                                    "prefer"), "42\n")


class MuchData(TlsCase):
    """Records are cut, sockets fill up, readers pause: not a byte is lost or twice."""

    def setUp(self):
        self.session = self.asked(self.start(self.addCleanup))
        self.session.login(harness.USER, "app")

    def test_a_large_answer_to_a_slow_reader(self):
        self.session.send(wire.query(
            "select i, repeat(md5(i::text), 300) from generate_series(1, 4000) i"))
        rows = [message.row() for message in self.session.read_until("Z") if message.kind == "D"]
        self.assertEqual([int(row[0]) for row in rows], list(range(1, 4001)))
        self.assertEqual({len(row[1]) for row in rows}, {9600})

    def test_a_large_copy(self):
        self.session.rows("create temporary table t (i int, s text)")
        self.session.send(wire.query("copy t from stdin"))
        self.session.read_until("G")
        for number in range(400):
            self.session.send(wire.copy_data("".join(
                f"{number * 100 + i}\t{'x' * (i * 7 % 900)}\n" for i in range(100))))
        self.session.send(wire.copy_done())
        self.assertEqual(wire.tags_of(self.session.read_ready()), ["COPY 40000"])
        self.assertEqual(self.session.rows("select count(*), sum(i), sum(length(s)) from t"), [[
            "40000", str(sum(range(40000))), str(400 * sum(i * 7 % 900 for i in range(100)))]])

    def test_many_statements_at_once(self):
        """More than one record, and more than one read's worth, before the first answer."""
        count = 3000
        self.session.send(*[wire.query(f"select {number}") for number in range(count)])
        replies = self.session.read_ready(count)
        self.assertEqual([int(m.row()[0]) for m in replies if m.kind == "D"], list(range(count)))


class Backend(TlsCase):
    """Links to the backend through TLS, their certificate verified."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        pair = cls.authority.server(owner="postgres")
        cls.secure = harness.Postgres(ssl="on", ssl_cert_file=pair.cert, ssl_key_file=pair.key)
        cls.addClassCleanup(cls.secure.remove)
        harness.create_tables(cls.secure, "app", (harness.EVENTS,))

    def through(self, **dsn):
        options = {"host": "127.0.0.1", "port": self.secure.port, "sslmode": "verify-full",
                   "sslrootcert": self.authority.cert, **dsn}
        config = harness.backend_config(self.secure)
        config["backend"]["dsn"] = " ".join(f"{k}={v}" for k, v in options.items())
        keyspread = harness.Keyspread(config)
        self.addCleanup(keyspread.stop)
        session = wire.Wire(keyspread.address())
        self.addCleanup(session.drop)
        return session

    def test_links_are_encrypted(self):
        session = self.through()
        session.login(harness.USER, "app")
        self.assertEqual(session.rows("select ssl from pg_stat_ssl where pid = pg_backend_pid()"),
                         [["t"]])
        tags = wire.tags_of(session.query(
            "insert into events (userid, ts, event) values (1, '2026-01-01', 'x')"))
        self.assertEqual(tags, ["INSERT 0 1"])  # by a batch link
        session.send(wire.query("select repeat('x', 1000000) from generate_series(1, 30)"))
        replies = session.read_ready()
        self.assertEqual([len(m.row()[0]) for m in replies if m.kind == "D"], [1000000] * 30)
        large = "y" * 20_000_000
        self.assertEqual(session.rows(f"select length('{large}')"), [[str(len(large))]])

    def test_another_authority(self):
        stranger = certificates.Authority("stranger")
        self.addCleanup(stranger.remove)
        self.assertEqual(self.refusal(self.through(sslrootcert=stranger.cert)), "08006")

    def test_another_name(self):
        self.assertEqual(self.refusal(self.through(host="some.other.name",
                                                   hostaddr="127.0.0.1")), "08006")


if __name__ == "__main__":
    unittest.main()
