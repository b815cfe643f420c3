"""Passwords, message by message: exchanges that go wrong, users that change, links that log in."""
import hashlib
import struct
import unittest

import harness
import login_case
import scram
import wire
from login_case import PASSWORD, USER, insert

STALL_MS = 300


class ScramCase(login_case.LoginCase):
    def begin(self, server, user=USER, tls=False):
        """Up to the offer of mechanisms."""
        session = self.connect(server, tls)
        session.send(wire.startup(user, "app"))
        return session, session.read()

    def challenge(self, server, user=USER, tls=False, exchange=None):
        """Up to the challenge."""
        session, _ = self.begin(server, user, tls)
        session.send((exchange or scram.Exchange(PASSWORD)).first())
        return session, session.read()

    def try_login(self, server, user=USER, password=PASSWORD):
        """A session, or None if the password is wrong."""
        session = self.connect(server)
        try:
            scram.login(session, user, "app", password)
        except wire.Closed as closed:
            self.assertEqual(wire.error_of(closed.messages), "28P01")
            return None
        return session

    def salt(self, server, user):
        session, challenge = self.challenge(server, user)
        session.drop()
        parts = scram.parts(challenge)
        return parts["s"], parts["i"]


class Exchanges(ScramCase):
    """Each is answered as PostgreSQL answers it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.keyspread = cls.start_scram(cls.addClassCleanup, login_case.ROLES)

    def same(self, attempt):
        """The refusal here, and by PostgreSQL."""
        ours, postgresqls = (attempt(server) for server in (self.keyspread, self.postgres))
        self.assertEqual(ours, postgresqls)
        return ours

    def exchange(self, server, exchange, tls=True):
        session, answer = self.challenge(server, tls=tls, exchange=exchange)
        if answer.kind == "E":
            return answer.fields()["C"], answer.fields()["M"], answer.fields().get("D")
        session.send(exchange.final(answer))
        return self.refusal(session)

    def plus(self, session, digest=hashlib.sha256):
        certificate = session.socket.getpeercert(binary_form=True)
        return scram.Exchange(PASSWORD, "p=tls-server-end-point,,", "SCRAM-SHA-256-PLUS",
                              digest(certificate).digest())

    def test_what_is_offered(self):
        for server in (self.keyspread, self.postgres):
            _, offer = self.begin(server, tls=True)
            self.assertEqual(scram.mechanisms(offer), ["SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"])
            _, offer = self.begin(server)
            self.assertEqual(scram.mechanisms(offer), ["SCRAM-SHA-256"])

    def test_the_right_binding(self):
        session = self.connect(self.keyspread, tls=True)
        scram.login(session, USER, "app", PASSWORD, self.plus(session))
        self.assertEqual(session.rows("select 1"), [["1"]])

    def test_a_wrong_binding(self):
        def attempt(server):
            session, _ = self.begin(server, tls=True)
            exchange = self.plus(session, hashlib.sha384)
            session.send(exchange.first())
            session.send(exchange.final(session.read()))
            return self.refusal(session)
        self.assertEqual(self.same(attempt)[0], "28000")

    def test_a_client_that_was_told_of_no_binding(self):
        """Its flag is 'y', but -PLUS was offered: somebody in between took it off the list."""
        refusal = self.same(lambda server: self.exchange(
            server, scram.Exchange(PASSWORD, "y,,")))
        self.assertEqual(refusal[:2], ("28000", "SCRAM channel binding negotiation error"))

    def test_a_client_that_could_bind_where_there_is_no_tls(self):
        session = self.connect(self.keyspread)
        scram.login(session, USER, "app", PASSWORD, scram.Exchange(PASSWORD, "y,,"))
        self.assertEqual(session.rows("select 1"), [["1"]])

    def test_a_binding_where_there_is_no_tls(self):
        refusal = self.same(lambda server: self.exchange(server, scram.Exchange(
            PASSWORD, "p=tls-server-end-point,,", "SCRAM-SHA-256-PLUS"), tls=False))
        self.assertEqual(refusal[0], "08P01")

    def test_another_mechanism(self):
        refusal = self.same(lambda server: self.exchange(
            server, scram.Exchange(PASSWORD, mechanism="PLAIN")))
        self.assertEqual(refusal[0], "08P01")

    def test_another_message(self):
        def attempt(server):
            session, _ = self.begin(server)
            session.send(wire.query("select 1"))
            return self.refusal(session)
        self.assertEqual(self.same(attempt)[0], "08P01")

    def test_another_message_instead_of_the_proof(self):
        def attempt(server):
            session, _ = self.challenge(server)
            session.send(wire.sync())
            return self.refusal(session)
        self.assertEqual(self.same(attempt)[0], "08P01")

    def test_a_long_message(self):
        """Refused by its length, before it has come."""
        session, _ = self.begin(self.keyspread)
        session.send(b"p" + struct.pack("!I", 100_000))
        self.assertEqual(self.refusal(session)[0], "08P01")

    def test_a_first_message_that_comes_by_itself(self):
        """With the choice of the mechanism, or behind it, at once or later."""
        for server in (self.keyspread, self.postgres):
            session, _ = self.begin(server)
            exchange = scram.Exchange(PASSWORD)
            choice = exchange.mechanism.encode() + b"\0" + struct.pack("!i", -1)
            session.send(wire.frame("p", choice) + wire.frame("p", f"n,,{exchange.bare}".encode()))
            session.read()  # the empty challenge
            session.send(exchange.final(session.read()))
            self.assertEqual(session.read_ready()[-1].kind, "Z")

    def test_statements_behind_the_proof(self):
        session, challenge = self.challenge(self.keyspread, exchange=(
            exchange := scram.Exchange(PASSWORD)))
        session.send(exchange.final(challenge) + wire.query("select 1") + wire.query(insert(1)))
        replies = session.read_ready(3)
        self.assertEqual(wire.tags_of(replies), ["SELECT 1", "INSERT 0 1"])

    def test_an_end_in_the_middle(self):
        for _ in range(20):
            session, _ = self.challenge(self.keyspread)
            session.drop()
        self.assertTrue(self.try_login(self.keyspread))

    def test_a_client_that_stalls(self):
        keyspread = self.start_scram(self.addCleanup, login_case.ROLES,
                                     limits={"startup_ms": STALL_MS})
        for session in (self.begin(keyspread)[0], self.challenge(keyspread)[0]):
            self.assertEqual(self.refusal(session)[:2],
                             ("57014", "canceling authentication due to timeout"))
        self.assertTrue(self.try_login(keyspread))


class Unknown(ScramCase):
    """Who does not exist cannot be told from who does by asking."""

    def test_salts(self):
        names = [USER, "bob", "nobody", "nobody else"]
        verifier = self.sql("select rolpassword from pg_authid where rolname = 'bob'")[0][0]
        keyspread = self.start_scram(self.addCleanup, {USER: PASSWORD, "bob": verifier},
                                     dsn="user=postgres")
        salts = [self.salt(keyspread, name) for name in names]
        self.assertEqual(len(set(salts)), len(names))
        self.assertEqual({(len(salt), turns) for salt, turns in salts}, {(24, "4096")})
        self.assertEqual(salts, [self.salt(keyspread, name) for name in names])
        self.assertIn("event=reloaded", keyspread.reload())
        self.assertEqual(salts, [self.salt(keyspread, name) for name in names])


class Reload(ScramCase):
    def setUp(self):
        super().setUp()
        self.keyspread = self.start_scram(self.addCleanup, {USER: PASSWORD, "bob": "another secret"})

    def test_users_come_and_go(self):
        before = self.try_login(self.keyspread, "bob", "another secret")
        self.assertIsNone(self.try_login(self.keyspread, "zoé", "Tür IX"))
        self.write_users(self.keyspread.users_path,
                         login_case.users({USER: PASSWORD, "zoé": "Tür IX"}))
        self.assertIn("event=reloaded", self.keyspread.reload())
        harness.eventually("the new user comes in", lambda: self.try_login(
            self.keyspread, "zoé", "Tür IX"))
        harness.eventually("both workers know", lambda: self.try_login(
            self.keyspread, "bob", "another secret") is None)
        self.assertEqual(before.rows("select session_user"), [["bob"]])
        self.assertEqual(wire.tags_of(before.query(insert(1))), ["INSERT 0 1"])

    def test_a_bad_file_changes_nothing(self):
        for text in ('"zoé" "Tür IX"\n"bob\n', '"bob" "SCRAM-SHA-256$4096:x$y:z"\n',
                     f'"bob" "md5{32 * "0"}"\n'):
            self.write_users(self.keyspread.users_path, text)
            self.assertIn("kept=old", self.keyspread.reload())
            self.assertTrue(self.try_login(self.keyspread))
            self.assertTrue(self.try_login(self.keyspread, "bob", "another secret"))
            self.assertIsNone(self.try_login(self.keyspread, "zoé", "Tür IX"))

    def test_a_login_that_began_before(self):
        """Its own TLS and its own users go on: here there is none any more afterwards."""
        hello = self.connect(self.keyspread)
        hello.send(login_case.SSL_REQUEST[:1])
        encrypted = self.connect(self.keyspread, tls=True)
        asked, _ = self.begin(self.keyspread, tls=True)
        with_tls = self.keyspread.config
        self.assertIn("event=reloaded", self.keyspread.reload(
            {name: value for name, value in with_tls.items() if name != "client_tls"}))
        harness.eventually("both workers know", lambda: self.declines() and self.declines())
        hello.send(login_case.SSL_REQUEST[1:])
        self.assertEqual(hello.socket.recv(1), b"S")
        hello.socket = self.authority.trusting().wrap_socket(hello.socket,
                                                             server_hostname="127.0.0.1")
        for session in (hello, encrypted):
            session.send(wire.startup(USER, "app"))
            self.assertIn("SCRAM-SHA-256-PLUS", scram.mechanisms(session.read()))
        for session in (hello, encrypted, asked):
            exchange = scram.Exchange(
                PASSWORD, "p=tls-server-end-point,,", "SCRAM-SHA-256-PLUS",
                hashlib.sha256(session.socket.getpeercert(binary_form=True)).digest())
            session.send(exchange.first())
            session.send(exchange.final(session.read()))
            self.assertEqual(session.read_ready()[-1].kind, "Z")

    def declines(self):
        session = self.connect(self.keyspread)
        session.send(login_case.SSL_REQUEST)
        return session.socket.recv(1) == b"N"


class Links(ScramCase):
    """What links to the backend log in with."""

    def who(self, keyspread, user, password, number):
        """Who a session is for the backend: on its own link, and in a batch."""
        session = self.try_login(keyspread, user, password)
        self.assertEqual(wire.tags_of(session.query(insert(number))), ["INSERT 0 1"])
        return session.rows("select session_user, count(*) from events group by 1")[0][0]

    def test_each_with_its_own_password(self):
        keyspread = self.start_scram(self.addCleanup, login_case.ROLES)
        for number, (user, password) in enumerate(login_case.ROLES.items()):
            self.assertEqual(self.who(keyspread, user, password, number), user)
        self.assertEqual([who for _, who in self.stored()], list(login_case.ROLES))

    def test_a_password_that_the_backend_does_not_take(self):
        """Good enough here, but not there: the client hears it from there, and is not let in."""
        keyspread = self.start_scram(self.addCleanup, {USER: "a stale one"})
        session, challenge = self.challenge(keyspread, exchange=(
            exchange := scram.Exchange("a stale one")))
        session.send(exchange.final(challenge))
        self.assertEqual(self.refusal(session), (
            "28P01", f'password authentication failed for user "{USER}"', None))

    def verifiers(self):
        rows = self.sql("select rolname, rolpassword from pg_authid where rolpassword is not null")
        return dict(rows)

    def test_verifiers_and_a_user_of_the_dsn(self):
        keyspread = self.start_scram(self.addCleanup, self.verifiers(),
                                     dsn="user=bob password='another secret'")
        for number, (user, password) in enumerate(login_case.ROLES.items()):
            self.assertEqual(self.who(keyspread, user, password, number), "bob")
            self.assertIsNone(self.try_login(keyspread, user, password + "!"))
        self.assertEqual([who for _, who in self.stored()], 3 * ["bob"])

    def test_passwords_and_a_user_of_the_dsn(self):
        """The client's password is none of that user's."""
        keyspread = self.start_scram(self.addCleanup, {USER: "only here"},
                                     dsn="user=bob password='another secret'")
        self.assertEqual(self.who(keyspread, USER, "only here", 1), "bob")

    def test_a_user_of_the_dsn_without_a_password(self):
        """Gets no client's, even if it is the right one."""
        keyspread = self.start_scram(self.addCleanup, {USER: "another secret"}, dsn="user=bob")
        session, challenge = self.challenge(keyspread, exchange=(
            exchange := scram.Exchange("another secret")))
        session.send(exchange.final(challenge))
        self.assertEqual(self.refusal(session)[0], "08006")

    def test_a_password_of_the_dsn(self):
        """For those of whom there is none."""
        for secret, password in ((self.verifiers()["bob"], "another secret"),
                                 ("another secret", "of somebody else")):
            keyspread = self.start_scram(self.addCleanup, {"bob": secret},
                                         dsn=f"password='{password}'")
            self.assertEqual(self.who(keyspread, "bob", "another secret", 1), "bob")
            self.sql("truncate events")


if __name__ == "__main__":
    unittest.main()
