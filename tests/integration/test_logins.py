"""Real clients log in with a password as they would to PostgreSQL, and are refused in its words."""
import collections
import unittest

import login_case
import login_clients
from login_case import PASSWORD, PREPARED, PREPARED_USER, UNPREPARED, USER

Try = collections.namedtuple("Try", "user password right")
TRIES = [Try(USER, PASSWORD, True), Try(USER, PASSWORD + "!", False), Try("nobody", PASSWORD, False),
         Try(PREPARED_USER, PREPARED, True), Try(PREPARED_USER, UNPREPARED, True),
         Try(PREPARED_USER, PREPARED.lower(), False)]


class RealClients(login_case.LoginCase):
    """Every client against keyspread and against PostgreSQL: the same outcome each time."""

    tries = TRIES

    def logins(self, host, port, database, tls, binding, writes):
        ca = self.authority.cert if tls else None
        return [login_clients.Login(host, port, one.user, one.password, database, ca, binding,
                                    login_case.insert(number) if writes else "")
                for number, one in enumerate(self.tries)]

    def compare(self, client, database, host=None, tls=False, binding=False):
        """What came of the tries. `host`: (keyspread's, PostgreSQL's), if not by TCP."""
        ours, postgresqls = host or ("127.0.0.1", "127.0.0.1")
        outcomes = client.attempts(
            self.logins(ours, self.keyspread.port, "app", tls, binding, True))
        expected = client.attempts(
            self.logins(postgresqls, self.postgres.port, database, tls, binding, False))
        self.assertEqual([outcome._replace(rows=None) for outcome in outcomes],
                         [outcome._replace(rows=None) for outcome in expected])
        return outcomes

    def check(self, outcomes):
        """The right passwords are good for a query and a row, the wrong ones for 28P01."""
        for one, outcome in zip(self.tries, outcomes):
            if one.right:
                self.assertEqual((outcome.value, outcome.rows), ("42", 1))
                continue
            self.assertIn(f'password authentication failed for user "{one.user}"', outcome.message)
            self.assertIn(outcome.sqlstate, (None, "28P01"))  # libpq does not tell it
        self.assertEqual(self.stored(), [[str(number), one.user]
                                         for number, one in enumerate(self.tries) if one.right])

    def compare_and_check(self, client, database, **how):
        with self.subTest(**how):
            self.sql("truncate events")
            self.check(self.compare(client, database, **how))


class Scram(RealClients):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.keyspread = cls.start_scram(cls.addClassCleanup, login_case.ROLES)

    def check_client(self, client):
        self.compare_and_check(client, "app")
        self.compare_and_check(client, "app", tls=True)
        if client.binds:
            self.compare_and_check(client, "app", tls=True, binding=True)
        if client.sockets:
            self.compare_and_check(client, "app",
                                   host=(self.keyspread.folder, self.postgres.folder))

    def test_psql(self):
        self.check_client(login_clients.Psql())

    def test_psycopg2(self):
        self.check_client(login_clients.Psycopg2())

    def test_psycopg3(self):
        self.check_client(login_clients.Psycopg3())

    def test_asyncpg(self):
        self.check_client(login_clients.Asyncpg())

    def test_node_postgres(self):
        self.check_client(login_clients.NodePostgres())

    def test_pgjdbc(self):
        self.check_client(login_clients.Pgjdbc())


class Forward(RealClients):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.keyspread = cls.start(cls.addClassCleanup, {"mode": "forward"})

    def check_client(self, client):
        """The password that arrives is prepared on the way to the backend."""
        database = login_case.CLEARTEXT
        self.compare_and_check(client, database, tls=True)
        if client.sockets:
            self.compare_and_check(client, database,
                                   host=(self.keyspread.folder, self.postgres.folder))
        self.check_in_clear(client)

    def check_in_clear(self, client):
        """Nobody who reads along shall see a password: not even the right one is asked for."""
        for outcome in client.attempts(
                self.logins("127.0.0.1", self.keyspread.port, "app", False, False, False)):
            self.assertIn("the password is asked for over TLS or a Unix socket only",
                          outcome.message)
            self.assertIn(outcome.sqlstate, (None, "28000"))

    def check_binding(self, client):
        """Whoever insists on a channel binding does not send its password."""
        for outcome in self.compare(client, login_case.CLEARTEXT, tls=True, binding=True):
            self.assertIn("channel binding required", outcome.message)

    def test_psql(self):
        self.check_client(login_clients.Psql())
        self.check_binding(login_clients.Psql())

    def test_psycopg2(self):
        self.check_client(login_clients.Psycopg2())
        self.check_binding(login_clients.Psycopg2())

    def test_psycopg3(self):
        self.check_client(login_clients.Psycopg3())
        self.check_binding(login_clients.Psycopg3())

    def test_asyncpg(self):
        self.tries = [one for one in TRIES if one.password.isascii()]  # asyncpg 0.27 sends no other
        self.check_client(login_clients.Asyncpg())

    def test_node_postgres(self):
        self.check_client(login_clients.NodePostgres())

    def test_pgjdbc(self):
        self.check_client(login_clients.Pgjdbc())


if __name__ == "__main__":
    unittest.main()
