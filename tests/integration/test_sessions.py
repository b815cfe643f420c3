"""How sessions begin, what belongs to them, and how many links they may hold."""
import contextlib
import os
import select
import shutil
import socket
import subprocess
import tempfile
import unittest

import harness
import wire
from harness import EVENTS

TS = "2026-01-02 03:04:05+00"


@harness.proxied
class SessionCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres(max_wal_senders=8, wal_level="logical")
        cls.addClassCleanup(cls.postgres.remove)
        harness.create_tables(cls.postgres, "app", (EVENTS,), hashed=True)
        cls.postgres.create_database("second db")

    def setUp(self):
        with self.postgres.admin("app") as admin:
            admin.rows("truncate events")

    def start(self, environment=None, **config):
        keyspread = harness.Keyspread(harness.backend_config(self.postgres, **config), environment)
        self.addCleanup(keyspread.stop)
        return keyspread

    def session(self, keyspread, database="app", user=harness.USER, address=None, **params):
        session = wire.Wire(address or keyspread.address())
        self.addCleanup(session.close)
        session.login(user, database, **params)
        return session


class Beginnings(SessionCase):
    def test_a_unix_socket(self):
        folder = tempfile.mkdtemp(prefix="keyspread-socket-")
        self.addCleanup(shutil.rmtree, folder, True)
        path = os.path.join(folder, ".s.PGSQL.6432")
        port = harness.free_port()
        keyspread = self.start(listen=[path, f"127.0.0.1:{port}"])
        for address in (path, ("127.0.0.1", port)):
            session = self.session(keyspread, address=address)
            self.assertEqual(wire.tags_of(session.query("select 1")), ["SELECT 1"])
        self.assertEqual(os.stat(path).st_mode & 0o077, 0, "others may connect")
        keyspread.stop()
        self.assertFalse(os.path.exists(path), "the socket is left behind")

    def test_a_stale_unix_socket(self):
        folder = tempfile.mkdtemp(prefix="keyspread-socket-")
        self.addCleanup(shutil.rmtree, folder, True)
        path = os.path.join(folder, ".s.PGSQL.6432")
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(path)
        keyspread = self.start(listen=[path])
        self.assertEqual(self.session(keyspread, address=path).rows("select 1"), [["1"]])

    def test_user_and_database_are_the_client_s(self):
        keyspread = self.start()
        session = self.session(keyspread, "second db", "postgres")
        self.assertEqual(session.rows("select current_user, current_database()"),
                         [["postgres", "second db"]])

    def test_user_and_database_of_the_dsn(self):
        keyspread = self.start(backend={
            "dsn": f"host=127.0.0.1 port={self.postgres.port} user=app dbname=app sslmode=disable"})
        session = self.session(keyspread, "whatever", "whoever")
        self.assertEqual(session.rows("select current_user, current_database()"), [["app", "app"]])
        self.assertEqual(wire.tags_of(session.query(f"insert into events values (1, '{TS}', 'x')")),
                         ["INSERT 0 1"])

    def test_no_database_is_the_user_s(self):
        keyspread = self.start()
        session = wire.Wire(keyspread.address())
        self.addCleanup(session.close)
        body = wire.struct.pack("!I", 196608) + b"user\0app\0\0"
        session.send(wire.struct.pack("!I", len(body) + 4) + body)
        self.assertEqual(session.read_ready()[-1].kind, "Z")
        self.assertEqual(session.rows("select current_database()"), [["app"]])

    def test_startup_parameters(self):
        keyspread = self.start()
        odd = "a b\\c 'd' -c x=y"
        session = self.session(keyspread, application_name=odd, DateStyle="SQL, DMY",
                               search_path="pg_catalog, public",
                               options="-c geqo=off --work-mem=7MB")
        self.assertEqual(session.rows(
            "select current_setting('application_name'), current_setting('datestyle'), "
            "current_setting('search_path'), current_setting('geqo'), "
            "current_setting('work_mem')"),
            [[odd, "SQL, DMY", "pg_catalog, public", "off", "7MB"]])
        bad = wire.Wire(keyspread.address())
        self.addCleanup(bad.drop)
        with self.assertRaises(wire.Closed) as context:
            bad.login(harness.USER, "app", datestyle="nonsense")
        error = context.exception.messages[-1].fields()
        self.assertEqual((error["S"], error["C"]), ("FATAL", "22023"), error)

    def test_the_environment_does_not_leak(self):
        keyspread = self.start(environment={
            "PGOPTIONS": "-c geqo=off", "PGAPPNAME": "leak", "PGDATABASE": "second db",
            "PGUSER": "postgres", "PGTZ": "Asia/Tokyo", "PGDATESTYLE": "German",
            "PGCLIENTENCODING": "LATIN1", "PGPORT": "1", "PGHOST": "nowhere.invalid"})
        session = self.session(keyspread)
        self.assertEqual(session.rows(
            "select current_setting('geqo'), current_setting('application_name'), "
            "current_database(), current_user, current_setting('timezone'), "
            "current_setting('datestyle'), current_setting('client_encoding')"),
            [["on", "", "app", "app", "UTC", "ISO, MDY", "UTF8"]])

    def test_replication(self):
        keyspread = self.start()
        session = self.session(keyspread, replication="database")
        replies = session.query("IDENTIFY_SYSTEM")
        self.assertEqual(wire.kinds(replies), "TDCZ", replies)

    def stores_its_hash(self, keyspread, *before, **params):
        """A row, and what an UPDATE of its key makes of it, have their hashes."""
        session = self.session(keyspread, **params)
        for text in before:
            self.assertEqual(wire.error_of(session.query(text)), None, text)
        for text in (f"insert into events (userid, ts) values (1, '{TS}')",
                     f"update events set userid = 2 where userid = 1 and ts = '{TS}'"):
            self.assertEqual(wire.error_of(session.query(text)), None, (params, text))
        self.assertEqual(session.rows("select userid from events where userid = 2 and ts = "
                                      f"'{TS}'"), [["2"]])
        self.assertEqual(session.rows("select * from events"), [["2", TS, None]])
        with contextlib.closing(harness.connect_admin(self.postgres, "app")) as admin:
            harness.verify_hashes(self, admin, EVENTS, 1)
        self.setUp()

    def test_replication_that_is_none(self):
        """Only true values make a walsender; the rest are ordinary sessions, or are refused."""
        keyspread = self.start()
        for value in ("false", "off", "0", "no", "F", "fal", "OF", "n"):
            self.stores_its_hash(keyspread, replication=value)
        session = self.session(keyspread, replication="off")
        replies = session.ask(wire.parse("", "select $1::int"), wire.bind("", "", ["7"]),
                              wire.execute(), wire.sync())
        self.assertEqual(wire.kinds(replies), "12DCZ")

    def test_replication_true(self):
        keyspread = self.start()
        session = self.session(keyspread, replication="yes")
        self.assertEqual(wire.kinds(session.query("IDENTIFY_SYSTEM")), "TDCZ")
        self.assertIsNotNone(wire.error_of(session.query("select 1")))

    def test_sql_of_a_walsender(self):
        """What a connection of replication=database says in SQL is looked at as any other's."""
        keyspread = self.start()
        self.stores_its_hash(keyspread, replication="database")
        self.stores_its_hash(keyspread, "IDENTIFY_SYSTEM", "set search_path = public",
                             replication="database")
        self.stores_its_hash(keyspread, "begin", "set local search_path = public", "commit",
                             "discard all", replication="database")
        session = self.session(keyspread, replication="database")
        replies = session.query("create table made (a int); insert into made values (1);"
                                f"insert into events (userid, ts) values (1, '{TS}');"
                                "drop table made")
        self.assertEqual(wire.tags_of(replies),
                         ["CREATE TABLE", "INSERT 0 1", "INSERT 0 1", "DROP TABLE"])
        for text in ("begin", f"insert into events (userid, ts) values (2, '{TS}')",
                     "insert into events (userid, ts) values (now(), now())", "commit"):
            replies = session.query(text)
        self.assertEqual(wire.tags_of(replies), ["ROLLBACK"])
        replies = session.query("CREATE_REPLICATION_SLOT events TEMPORARY LOGICAL test_decoding")
        self.assertEqual(wire.kinds(replies)[-1], "Z")
        self.assertEqual(session.rows("select userid from events"), [["1"]])
        session.query("set search_path = pg_catalog")
        self.assertEqual(wire.error_of(session.query(f"insert into events values (3, '{TS}')")),
                         "42P01")

    def test_two_instances_on_one_port(self):
        keyspread = self.start()
        result = subprocess.run([harness.program(), "run", keyspread.config_path],
                                capture_output=True, text=True, check=False,
                                timeout=harness.PATIENCE)
        self.assertEqual(result.returncode, 1)
        self.assertIn("in use", result.stderr)

    def test_sessions_are_apart(self):
        keyspread = self.start(workers=4)
        sessions = [self.session(keyspread) for _ in range(8)]
        for number, session in enumerate(sessions):
            session.query(f"set application_name = 'number {number}'")
            session.query(f"create temporary table mine as select {number} as n")
            session.query(f"prepare p as select {number}")
        for number, session in enumerate(sessions):
            self.assertEqual(session.rows("show application_name"), [[f"number {number}"]])
            self.assertEqual(session.rows("select n from mine"), [[str(number)]])
            self.assertEqual(session.rows("execute p"), [[str(number)]])


class Texts(SessionCase):
    INSERT = f"insert into events (userid, ts) values (1, '{TS}')"

    def test_an_encoding_that_cannot_be_lexed(self):
        """In SJIS a character may hold the byte of a backslash: such a text is not taken apart."""
        session = self.session(self.start())
        session.query("set client_encoding to 'SJIS'")
        text = self.INSERT.replace("(1,", "(length('表'),").encode("cp932")
        self.assertEqual(wire.error_of(session.query(text)), "0A000")
        replies = session.ask(wire.parse("", text), wire.bind("", "", []), wire.execute(),
                              wire.sync())
        self.assertEqual((wire.kinds(replies), wire.error_of(replies)), ("EZ", "0A000"))
        session.query("set client_encoding to 'UTF8'")
        self.assertEqual(wire.tags_of(session.query(self.INSERT)), ["INSERT 0 1"])

    def test_a_search_path_from_the_start(self):
        session = self.session(self.start(), search_path="pg_catalog")
        self.assertEqual(wire.error_of(session.query(self.INSERT)), "42P01")
        self.assertEqual(wire.tags_of(session.query(self.INSERT.replace("into ", "into public."))),
                         ["INSERT 0 1"])


class Links(SessionCase):
    def backends(self):
        with self.postgres.admin("app") as admin:
            return int(admin.rows("select count(*) from pg_stat_activity where usename = 'app'")
                       [0][0])

    def test_they_go_with_their_sessions(self):
        keyspread = self.start()
        for _ in range(3):
            sessions = [self.session(keyspread) for _ in range(10)]
            for session in sessions:
                session.query("begin")
                session.drop()
        harness.eventually("links are closed", lambda: self.backends() <= 4)

    def test_an_open_transaction_ends_with_its_session(self):
        keyspread = self.start()
        session = self.session(keyspread)
        session.query("begin")
        session.query(f"insert into events values (1, '{TS}', 'x')")
        session.drop()
        other = self.session(keyspread)
        self.assertEqual(wire.tags_of(other.query(f"insert into events values (1, '{TS}', 'y')")),
                         ["INSERT 0 1"])

    def test_inserts_alone_need_few_links(self):
        """A session that only writes rows that are batched needs no link of its own."""
        keyspread = self.start(backend={"batch_links": 4, "links": "on_demand"})
        sessions = [self.session(keyspread) for _ in range(40)]
        for number, session in enumerate(sessions):
            self.assertEqual(wire.tags_of(session.query(
                f"insert into events values ({number}, '{TS}', 'x')")), ["INSERT 0 1"])
        self.assertLess(self.backends(), 15)

    def test_no_link_is_free(self):
        keyspread = self.start(workers=1, backend={"max_links": 6, "batch_links": 1,
                                                   "link_wait_ms": 500})
        holders = []
        refused = None
        for _ in range(8):
            session = self.session(keyspread)
            replies = session.query("begin")
            if wire.error_of(replies):
                refused = wire.error_of(replies)
                break
            holders.append(session)
        self.assertEqual(refused, "53300")
        self.assertGreaterEqual(len(holders), 3)
        self.assertEqual(wire.tags_of(holders[0].query("select 1")), ["SELECT 1"])
        writer = self.session(keyspread)
        replies = writer.query(f"insert into events values (1, '{TS}', 'x')")
        self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"], replies)

    def test_whoever_waits_gets_the_freed_link(self):
        keyspread = self.start(workers=1, backend={"max_links": 6, "batch_links": 1})
        holders = [self.session(keyspread) for _ in range(4)]
        for session in holders:
            session.query("begin")
        waiters = [self.session(keyspread) for _ in range(8)]
        for session in waiters:
            session.send(wire.query("begin"))
        for session in holders:
            session.close()
        while waiters:  # in whichever order they are served
            answered, _, _ = select.select([session.socket for session in waiters], [], [], harness.PATIENCE)
            session = next(one for one in waiters if one.socket in answered)
            self.assertEqual(wire.tags_of(session.read_ready()), ["BEGIN"])
            session.close()
            waiters.remove(session)

    def test_large_rows_are_refused_if_the_file_says_so(self):
        keyspread = self.start(limits={"row_bytes": "1KiB", "key_bytes": 100, "enforce": True})
        session = self.session(keyspread)
        replies = session.query(f"insert into events values (1, '{TS}', '{'x' * 2000}')")
        self.assertEqual(wire.error_of(replies), "54000")
        replies = session.ask(wire.parse("", "insert into events values ($1, $2, $3)"),
                              wire.bind("", "", [1, TS, "x" * 2000]), wire.execute(), wire.sync())
        self.assertEqual(wire.error_of(replies), "54000")
        self.assertEqual(wire.tags_of(session.query(f"insert into events values (1, '{TS}', 'x')")),
                         ["INSERT 0 1"])


if __name__ == "__main__":
    unittest.main()
