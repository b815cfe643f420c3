"""auth.mode forward: the password is good if the backend takes it, and goes nowhere else."""
import struct
import unittest

import harness
import login_case
import wire
from login_case import CLEARTEXT, PASSWORD, USER, insert

STALL_MS = 300
ASKED = struct.pack("!I", 3)  # AuthenticationCleartextPassword


class ForwardCase(login_case.LoginCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.keyspread = cls.start(cls.addClassCleanup, {"mode": "forward"})

    def asked(self, server, user=USER, **how):
        """A session whose password was asked for."""
        session = self.connect(server, **how)
        session.send(wire.startup(user, "app" if server is not self.postgres else CLEARTEXT))
        answer = session.read()
        self.assertEqual((answer.kind, answer.body), ("R", ASKED))
        return session

    def login(self, user=USER, password=PASSWORD, server=None, **how):
        session = self.asked(server or self.keyspread, user, **(how or {"tls": True}))
        session.send(wire.password(password))
        replies = session.read_ready()
        self.assertTrue(wire.is_welcome(replies[0]), replies)
        self.assertEqual(replies[-1].kind, "Z")
        return session

    def put(self, session, number):
        self.assertEqual(wire.tags_of(session.query(insert(number))), ["INSERT 0 1"])


class Passwords(ForwardCase):
    """Each is answered as PostgreSQL answers it where it asks for the password itself."""

    def answer(self, server, user, message, **how):
        session = self.asked(server, user, **how)
        session.send(message)
        return self.refusal(session)

    def same(self, message, user=USER):
        refusals = {self.answer(server, user, message, **how)
                    for server in (self.keyspread, self.postgres)
                    for how in ({"tls": True}, {"unix": True})}
        self.assertEqual(len(refusals), 1, refusals)
        return refusals.pop()

    def test_right(self):
        for how in ({"tls": True}, {"unix": True}):
            session = self.login(**how)
            self.assertEqual(session.rows("select session_user"), [[USER]])

    def test_wrong(self):
        self.assertEqual(self.same(wire.password(PASSWORD + "!")), (
            "28P01", f'password authentication failed for user "{USER}"', None))

    def test_of_nobody(self):
        self.assertEqual(self.same(wire.password(PASSWORD), "nobody"), (
            "28P01", 'password authentication failed for user "nobody"', None))

    def test_empty(self):
        self.assertEqual(self.same(wire.password(""))[0], "28P01")

    def test_malformed(self):
        self.assertEqual(self.same(wire.frame("p", b"two\0strings\0"))[0], "08P01")

    def test_another_message(self):
        self.assertEqual(self.same(wire.query("select 1"))[0], "08P01")

    def test_long(self):
        """Refused by its length, before it has come."""
        self.assertEqual(self.answer(self.keyspread, USER, b"p" + struct.pack("!I", 100_000),
                                     tls=True)[0], "08P01")

    def test_in_clear(self):
        """Not even asked for."""
        session = self.connect(self.keyspread)
        session.send(wire.startup(USER, "app"))
        self.assertEqual(wire.kinds(answers := session.read_to_end()), "E")
        self.assertEqual(answers[0].sqlstate, "28000")

    def test_at_once(self):
        """With the startup packet, and statements behind."""
        session = self.connect(self.keyspread, unix=True)
        session.send(wire.startup(USER, "app"), wire.password(PASSWORD), wire.query(insert(1)))
        self.assertEqual(wire.tags_of(session.read_ready(2)), ["INSERT 0 1"])

    def test_a_client_that_stalls(self):
        keyspread = self.start(self.addCleanup, {"mode": "forward"},
                               limits={"startup_ms": STALL_MS})
        self.assertEqual(self.refusal(self.asked(keyspread, tls=True))[:2],
                         ("57014", "canceling authentication due to timeout"))

    def test_a_backend_that_cannot_be_reached(self):
        keyspread = self.start(self.addCleanup, {"mode": "forward"},
                               dsn=f"port={harness.free_port()}")
        self.assertEqual(self.answer(keyspread, USER, wire.password(PASSWORD), tls=True)[0], "08006")

    def test_a_backend_that_does_not_ask(self):
        """It would let everybody in by any password."""
        self.sql("create role trusted login")
        self.assertEqual(self.answer(self.keyspread, "trusted", wire.password("any"), tls=True)[:2],
                         ("28000", "the backend asked for no password, so nobody knows who this is"))


class Sessions(ForwardCase):
    """Who logs in with one password shares nothing with who logs in with another."""

    def batch_pids(self, mark):
        return {statement.pid
                for statement in self.postgres.statements(mark, "app", "insert into events")}

    def put_in_batch(self, session, number):
        """The backend processes that the row went through: not the session's own."""
        own = int(session.rows("select pg_backend_pid()")[0][0])
        mark = self.postgres.mark()
        self.put(session, number)
        pids = self.batch_pids(mark)
        self.assertTrue(pids)
        self.assertNotIn(own, pids)
        return pids

    def users_of(self, pids):
        return {user for user, in self.sql("select usename from pg_stat_activity where pid in "
                                           f"({', '.join(map(str, pids))})")}

    def test_batches_have_the_right_user(self):
        pids = {}
        for number, (user, password) in enumerate(login_case.ROLES.items()):
            pids[user] = self.put_in_batch(self.login(user, password), number)
            self.assertEqual(self.users_of(pids[user]), {user})
        self.assertEqual(self.stored(), [[str(number), user]
                                         for number, user in enumerate(login_case.ROLES)])

    def test_many_at_once(self):
        roles, each = list(login_case.ROLES.items()), 50
        sessions = [self.login(*roles[number % len(roles)]) for number in range(9)]

        def write(number):
            for row in range(each):
                self.put(sessions[number], number * each + row)
        harness.in_threads(len(sessions), write)
        self.assertEqual(self.stored(), [[str(row), roles[row // each % len(roles)][0]]
                                         for row in range(len(sessions) * each)])

    def change_password(self, role, server=None):
        """A session of before; the password is "new" now."""
        self.sql(f"drop role if exists {role}; create role {role} login password 'old';"
                 f"grant select, insert on events to {role}")
        self.addCleanup(self.sql, f"drop owned by {role}; drop role {role}")
        before = self.login(role, "old", server)
        self.put(before, 0)
        self.sql(f"alter role {role} password 'new'")
        return before

    def failed_logins(self, mark, role):
        return self.postgres.log(mark).count(
            f'password authentication failed for user "{role}"')

    def test_a_new_password(self):
        """Who is in stays in; who comes needs the new one."""
        before = self.change_password("carol")
        for session in [self.asked(self.keyspread, "carol", tls=True) for _ in range(4)]:
            session.send(wire.password("old"))  # of both workers, while both have others
            self.assertEqual(self.refusal(session)[0], "28P01")
        self.put(self.login("carol", "new"), 1)
        self.assertEqual(before.rows("select session_user"), [["carol"]])
        self.assertEqual(self.stored(), [["0", "carol"], ["1", "carol"]])

    def test_no_links_of_another_password(self):
        """Rows of before go the own way where no link of before can take them."""
        before = self.change_password("dave")
        own = {int(before.rows("select pg_backend_pid()")[0][0])}
        after = self.login("dave", "new")
        new = set().union(*(self.put_in_batch(after, number) for number in range(20, 40)))
        mark = self.postgres.mark()
        for number in range(1, 20):  # both workers have some
            self.put(before, number)
        self.assertGreater(self.failed_logins(mark, "dave"), 0)
        self.assertLess(own, self.batch_pids(mark))
        self.assertFalse(new & self.batch_pids(mark))
        self.assertEqual(len(self.stored()), 40)

    def test_the_schema_is_known_on(self):
        """Its reader is gone, and nobody can open another one: the session's own link tells."""
        absent = harness.Table("absent", ["a int"], ["a"])
        keyspread = self.start(self.addCleanup, {"mode": "forward"},
                               tables=[login_case.EVENTS, absent])
        before = self.change_password("erin", keyspread)
        mark, numbers = self.postgres.mark(), iter(range(1, 10**6))
        self.sql("select pg_terminate_backend(pid) from pg_stat_activity"
                 " where application_name = 'keyspread'")

        def refused_twice():
            before.rows(f"begin; {insert(next(numbers))}; commit")  # on its own link
            return self.failed_logins(mark, "erin") >= 2
        harness.eventually("the schema was to be read again", refused_twice)

    def test_nobody_else_is_told(self):
        """Who asks for the schema first is not let in any more: the others ask themselves."""
        for _ in range(5):  # of two that are sent at once
            keyspread = self.start(self.addCleanup, {"mode": "forward"}, workers=1)
            role = "frank"
            self.sql(f"drop role if exists {role}; create role {role} login password 'old';"
                     f"grant select, insert on events to {role}")
            refused, other = self.login(role, "old", keyspread), self.login(
                login_case.USER, login_case.PASSWORD, keyspread)
            self.sql(f"alter role {role} password 'new'")
            refused.send(wire.query(insert(1)))
            other.send(wire.query(insert(2)))
            refused.read_ready()
            self.assertEqual(wire.tags_of(other.read_ready()), ["INSERT 0 1"])
            refused.close()
            self.sql(f"drop owned by {role}; drop role {role}; truncate events")


if __name__ == "__main__":
    unittest.main()
