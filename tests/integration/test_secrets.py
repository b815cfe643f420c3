"""No secret, row, statement or other word of a client's or the backend's stands in the log or in the
metrics, whatever goes wrong: all are marked here, and looked for."""
import contextlib
import os
import re
import socket
import subprocess
import unittest

import harness
import login_case
import metrics
import scram
import wire
from harness import Table

MARK = re.compile("zz[a-z]+zz", re.IGNORECASE)
LINKER, LINKER_PASSWORD = "linker", "zzlinkerzz"
ROLES = {"alice": "zzalicezz", "bob": "zzbobzz", LINKER: LINKER_PASSWORD}
NAMES = Table("names", ["name text not null", "short varchar(20)", "n int check (n > 0)"], ["name"],
              atomicity="partition", batch={"lock_wait_ms": 50})
ORDERS = Table("orders", ["id bigint not null", "note text"], ["id"],
               batch={"lock_wait_ms": 600_000})
GARBAGE = (b"zzgarbagezz" * 10, b"\0\0\0\x40\0\3\0\0user\0zznobodyzz\0database\0zznowherezz\0\0",
           b"\0\0\0\x20\0\3\0\0zzoptionzz", b"\x16\x03\x01\0\x20zzrecordzz",
           b"GET /zzpathzz HTTP/1.1\r\n")
STATEMENTS = (
    # duplicates, wrong values, broken constraints
    "insert into names values ('zzkeyzz', 'x', 1), ('zzkeyzz', 'x', 1)",
    "insert into names values ('zzoncezz')",
    "insert into names values ('zzoncezz')",
    "insert into names values ('zzlongzz', 'zztoolongzz and more than twenty', 1)",
    "insert into names values ('zzcheckzz', 'x', -1)",
    "insert into names values ('zznumberzz', 'x', 'zznonumberzz')",
    "insert into names values (null, 'zznullzz')",
    "insert into names values ('zzlargezz', '" + "x" * 2000 + "')",
    "insert into orders values ('zzliteralzz', 'x')",
    "insert into orders values (1, 'x'), (2, 'zzmanyzz', 'zzcolumnzz')",
    "insert into orders values (length('zzfunctionzz'), 'x')",
    "insert into orders (id, zzunknownzz) values (1, 'x')",
    # refused, because the hash would be lost
    "update orders set id = 5 where note = 'zzupdatezz'",
    "insert into orders select 1, 'zzselectzz'",
    "copy orders from '/zzfilezz'",
    "merge into orders using (select 'zzmergezz') s on true when matched then delete",
    "with zzctezz as (insert into orders values (3, 'zzwithzz') returning *) table zzctezz",
    "prepare zzpreparedzz as insert into orders values (1, 'zzbodyzz')",
    "/* zzcommentzz */ insert into orders values (1 -- zzdashzz\n)",
    "insert into orders values (1, 'zzunterminatedzz",
    "insert into \"zztablezz\" values (1)",
    "select 'zzquotezz' from zzrelationzz",
    "zzsyntaxzz", "selec * from orders where note = 'zzwherezz'",
    # what the backend says aloud
    "do $$begin raise notice 'zznoticezz'; raise exception 'zzraisezz' using "
    "detail = 'zzdetailzz', hint = 'zzhintzz', table = 'zzofzz', "
    "constraint = 'zzconstraintzz'; end$$",
    "set application_name = 'zzapplicationzz'", "set timezone = 'zzzonezz'",
    "set search_path = zzschemazz", "listen zzchannelzz", "notify zzchannelzz, 'zzpayloadzz'",
    "select set_config('zz.settingzz', 'zzvaluezz', false)",
    "declare zzcursorzz cursor for select 1", "savepoint zzsavepointzz",
)


class SecretsCase(login_case.LoginCase):
    @classmethod
    def make_roles(cls):
        harness.create_tables(cls.postgres, "app", (NAMES, ORDERS))
        cls.postgres.create_database(login_case.CLEARTEXT)
        for role, password in ROLES.items():
            cls.sql(f"create role {role} login password '{password}';"
                    f"grant all on all tables in schema public to {role};"
                    f"grant create on schema public to {role}")

    def setUp(self):
        self.sql("truncate names, orders")

    def watched(self, auth, dsn="", **more):
        """A keyspread that says all it can; looked through when the test ends."""
        config = {"log": {"level": "debug"}, "admin": {}, "tables": (NAMES, ORDERS),
                  "limits": {"row_bytes": 1024, "key_bytes": 64, "startup_ms": 600_000}, **more}
        return self.start(self.addCleanup, auth, dsn, **config)

    def watched_scram(self, dsn=f"user={LINKER} password={LINKER_PASSWORD}", **more):
        verifier, = [row[0] for row in self.sql(
            "select rolpassword from pg_authid where rolname = 'bob'")]
        self.verifier = verifier
        path = os.path.join(self.authority.folder, "users.txt")
        self.write_users(path, login_case.users({"alice": ROLES["alice"], "bob": verifier}))
        keyspread = self.watched({"mode": "scram", "users_file": path}, dsn, **more)
        keyspread.users_path = path
        return keyspread

    def check(self, keyspread, *events):
        """What happened is there, and nothing of what was said."""
        if keyspread.process.poll() is None:
            self.check_text(metrics.fetch(keyspread, "/metrics").body)
            keyspread.stop()
        text = keyspread.lines.text()
        for event in events:
            self.assertIn(f"event={event} ", text)
        self.check_text(text)

    def check_text(self, text):
        for line in text.splitlines():
            self.assertIsNone(MARK.search(line), line)
            for part in getattr(self, "verifier", "").split("$")[2:]:
                self.assertNotIn(part, line)

    def session(self, keyspread, user="alice"):
        session = self.connect(keyspread, tls=True)
        scram.login(session, user, "app", ROLES[user], application_name="zzprogramzz")
        return session


class Logins(SecretsCase):
    def attempt(self, keyspread, user, database, password, **params):
        session = self.connect(keyspread, tls=True)
        with contextlib.suppress(wire.Closed):
            scram.login(session, user, database, password, **params)
        session.drop()

    def test_scram(self):
        keyspread = self.watched_scram()
        self.attempt(keyspread, "alice", "app", ROLES["alice"])
        self.attempt(keyspread, "bob", "app", ROLES["bob"])
        self.attempt(keyspread, "alice", "app", "zzwrongzz")
        self.attempt(keyspread, "zznobodyzz", "app", "zzwrongzz")
        self.attempt(keyspread, "bob", "zznowherezz", ROLES["bob"])
        self.attempt(keyspread, "alice", "app", ROLES["alice"], options="-c zzoptionzz=zzvaluezz")
        self.attempt(keyspread, "alice", "app", ROLES["alice"], zzparameterzz="zzvaluezz")
        for message in (wire.password("zztypedzz"), wire.query("select 'zzearlyzz'"),
                        b"p\0\0\xff\xffzzlongzz"):
            session = self.connect(keyspread)
            session.send(wire.startup("alice", "app"), message)
            session.socket.shutdown(socket.SHUT_WR)
            session.read_to_end()
        self.check(keyspread, "client_ready", "client_fatal", "link_failed")

    def test_forward(self):
        keyspread = self.watched({"mode": "forward"})
        for user, password in (*ROLES.items(), ("alice", "zzwrongzz"), ("zznobodyzz", "zzwrongzz")):
            session = self.connect(keyspread, tls=True)
            session.send(wire.startup(user, "app"), wire.password(password))
            session.read_until("Z", "E")
        self.connect(keyspread).send(wire.startup("alice", "app"), wire.password("zzinclearzz"))
        self.check(keyspread, "client_ready", "client_fatal", "link_failed")

    def test_a_password_that_is_stale(self):
        keyspread = self.watched_scram(dsn="user=alice password=zzstalezz")
        self.attempt(keyspread, "bob", "app", ROLES["bob"])
        self.check(keyspread, "link_failed")

    def test_garbage(self):
        keyspread = self.watched_scram()
        for bytes_ in GARBAGE:
            for tls in (False, True):
                session = self.connect(keyspread, tls=tls)
                session.send(bytes_)
                with contextlib.suppress(OSError):
                    session.socket.shutdown(socket.SHUT_WR)
                    session.read_to_end()
        session = self.session(keyspread)
        session.send(b"zzframezz" * 20)
        session.read_to_end()
        session = self.session(keyspread)
        session.ask(wire.frame("P", b"zzunendedzz"), wire.sync())
        session.ask(wire.frame("B", b"zzportalzz\0zzstatementzz\0\0"), wire.sync())
        self.check(keyspread, "client_fatal", "client_closed")


class Statements(SecretsCase):
    def test_errors(self):
        keyspread = self.watched_scram()
        for before in ("", "begin"):
            session = self.session(keyspread)
            failed = 0
            for statement in STATEMENTS:
                if before:
                    session.query("rollback; begin")
                failed += wire.error_of(session.query(statement)) is not None
                self.assertEqual(session.ask(wire.sync())[-1].kind, "Z")
            self.assertGreater(failed, len(STATEMENTS) // 2)
        self.check(keyspread, "large_row", "catalog")

    def test_errors_with_parameters(self):
        keyspread = self.watched_scram()
        session = self.session(keyspread)
        insert = "insert into names values ($1, $2, $3) /* zzcommentzz */"
        session.ask(wire.parse("zzstatementzz", insert), wire.sync())
        for values in (("zzkeyzz", "x", 1), ("zzkeyzz", "x", 1), ("zznumberzz", "x", "zznonezz"),
                       ("zzcheckzz", "x", -1), ("zzlongzz", "zztoolongzz and more than twenty", 1),
                       (b"zz\xffutfzz", "x", 1), ("zznulzz\0", "x", 1), (None, "zznullzz", 1)):
            session.ask(wire.bind("zzportalzz", "zzstatementzz", values),
                        wire.execute("zzportalzz"), wire.sync())
        session.ask(wire.bind("", "zzmissingzz", ["zzvaluezz"]), wire.execute(), wire.sync())
        session.ask(wire.parse("", "select 'zzparsezz' from"), wire.sync())
        self.check(keyspread, "catalog")

    def test_guilty_ones_among_others(self):
        keyspread = self.watched_scram()
        sessions = [self.session(keyspread) for _ in range(6)]

        def write(number):
            for row in range(20):
                sessions[number].query(f"insert into names values ('zzsharedzz{row}', 'x', {row})")
        harness.in_threads(len(sessions), write)
        self.check(keyspread, "batches")

    def test_a_row_that_is_locked(self):
        keyspread = self.watched_scram()
        session = self.session(keyspread)
        with self.postgres.admin("app") as admin:
            admin.rows("begin; lock table names in exclusive mode")
            session.query("set lock_timeout = 100")
            replies = session.query("insert into names values ('zzlockedzz')")
        self.assertEqual(wire.error_of(replies), "55P03")
        self.check(keyspread, "catalog")


class Failures(SecretsCase):
    def test_links_that_are_lost(self):
        """In a batch, in a statement, and between."""
        keyspread = self.watched_scram()
        writer, reader, idle = (self.session(keyspread) for _ in range(3))
        idle.query("create temporary table zztemporaryzz ()")
        with self.postgres.admin("app") as admin:
            admin.rows("begin; lock table orders in exclusive mode")
            writer.send(wire.query("insert into orders values (1, 'zzduringzz')"))
            reader.send(wire.query("select 'zzsleepzz', pg_sleep(600)"))
            harness.eventually("both wait", lambda: len(self.sql(
                f"select from pg_stat_activity where usename = '{LINKER}' "
                "and (wait_event_type = 'Lock' or wait_event = 'PgSleep')")) == 2)
            admin.rows("select pg_terminate_backend(pid) from pg_stat_activity "
                       f"where usename = '{LINKER}'")
        self.assertEqual(wire.error_of(writer.read_ready()), "08007")
        reader.read_to_end()
        idle.read_to_end()
        self.check(keyspread, "link_lost", "batch_link_lost")

    def test_a_backend_that_is_gone(self):
        keyspread = self.watched_scram(dsn=f"user={LINKER} password={LINKER_PASSWORD} "
                                           f"port={harness.free_port()}")
        session = self.connect(keyspread)
        with self.assertRaises(wire.Closed):
            scram.login(session, "bob", "app", ROLES["bob"])
        self.check(keyspread, "link_failed")


class Files(SecretsCase):
    """Broken files: said with their line, but not with what stands in it."""

    USERS = ('"alice" "zzunendedzz', '"alice" zzunquotedzz', "alice zzbarezz", '"zzalonezz"',
             '"alice" "zzonezz" zzbehindzz', '"alice" "zzquote"inzz"', '"alice" "zztwicezz"\n' * 2,
             '"alice" "md5' + 32 * "0" + '" zzmdzz', '"alice" "SCRAM-SHA-256$zzverifierzz"',
             '"alice" "zzlongzz' + 1000 * "x" + '"', '"alice" "zznul\0zz"')
    DSNS = ("host=x password=zzfirst zzsecondzz", "password='zzunendedzz",
            "host=x zzpassword zzvaluezz", "password=zzsecret zzoptionzz=1",
            "postgresql://app:zzsecretzz@[::1/app", "postgresql://app:zzsecretzz%zz@127.0.0.1/app",
            "postgresql://app:zzsecretzz@127.0.0.1/app?zzqueryzz",
            "postgresql://app:zzsecretzz@127.0.0.1/app?zzoptionzz=zzvaluezz",
            "postgresql://app:zzsecretzz@[::1]zzbehindzz",
            "postgresql://app:zzsecretzz%00@127.0.0.1")
    YAML = ("backend: 'postgresql://app:zzsecretzz@127.0.0.1/app'",
            "backend: { dsn: [ 'password=zzsecretzz' ] }",
            "backend: { dsn: { password: zzsecretzz } }",
            "backend: { dsn: 'password=zzsecretzz', password: zzotherzz }",
            "backend: { dsn: 'password=zzsecretzz' , dsn: 'password=zzotherzz' }",
            "backend: { dsn: 'password=zzsecretzz }", "backend:\n\tdsn: password=zzsecretzz",
            'backend: { dsn: "password=zzsecretzz\\q" }', "backend: { dsn: *zzaliaszz }",
            "backend:\n  dsn: host=x\n password=zzsecretzz",
            "backend: { dsn: ! 'password=zzsecretzz' ]")

    def check_reload(self, keyspread):
        self.assertIn("event=reload_failed", keyspread.reload())
        result = subprocess.run([harness.program(), "check", keyspread.config_path],
                                capture_output=True, text=True, check=False,
                                timeout=harness.PATIENCE)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"(keyspread\.yaml|users\.txt)(:\d+)?: ")
        self.check_text(result.stdout + result.stderr)

    def test_users(self):
        keyspread = self.watched_scram()
        for text in self.USERS:
            with self.subTest(text=text):
                self.write_users(keyspread.users_path, text)
                self.check_reload(keyspread)
        self.check(keyspread, "reload_failed")

    def test_dsn(self):
        keyspread = self.watched_scram()
        for dsn in self.DSNS:
            with self.subTest(dsn=dsn):
                keyspread.write_config({**keyspread.config, "backend": {"dsn": dsn}})
                self.check_reload(keyspread)
        self.check(keyspread, "reload_failed")

    def test_yaml(self):
        keyspread = self.watched_scram()
        for text in self.YAML:
            with self.subTest(text=text):
                with open(keyspread.config_path, "w", encoding="ascii") as file:
                    file.write(text + "\n")
                self.check_reload(keyspread)
        self.check(keyspread, "reload_failed")


if __name__ == "__main__":
    unittest.main()
