"""A transaction's snapshot is taken by its client's first query, never by a question of keyspread's: by
then its isolation level may be set, and a lock it waited for shows what was committed meanwhile."""
import itertools
import unittest

import harness
import wire
from direct_case import DirectCase, shown
from harness import Table

# Words of the statements in front of a first query are names of configured tables.
TABLES = tuple(Table(name, ["k int not null", "v text"], ["k"], hash_first=False)
               for name in ("s", "transaction", "work", "events"))
DOUBTS = ("set local role postgres", "set local search_path = public", "set local work_mem = '1MB'",
          "set local events.x = '1'", "savepoint work", "set constraints all deferred", "notify s",
          "set local search_path = events, s, transaction, public")


class Snapshots(DirectCase):
    tables = TABLES

    def test_an_isolation_level_behind_settings(self):
        for table in ("s", "transaction"):
            for doubt in DOUBTS:
                with self.subTest(table=table, doubt=doubt):
                    self.both([wire.query(text) for text in (
                        "begin transaction", doubt,
                        "set transaction isolation level serializable",
                        f"insert into {table} values (1, 'a')", "commit")], ready=5)

    def test_an_isolation_level_by_extended_messages(self):
        for doubt in DOUBTS:
            with self.subTest(doubt=doubt):
                messages = []
                for text in ("begin transaction", doubt,
                             "set transaction isolation level serializable",
                             "insert into s values (1, 'a')", "commit"):
                    messages += [wire.parse("", text), wire.bind("", ""), wire.execute(), wire.sync()]
                self.both(messages, ready=5)

    def test_an_isolation_level_in_the_text_of_the_first_query(self):
        """It is set before keyspread asks what the session has come to."""
        for doubt, level in itertools.product(DOUBTS, (
                "set transaction isolation level serializable", "SET TRANSACTION READ ONLY",
                "set transaction isolation level repeatable read; set transaction read write")):
            with self.subTest(doubt=doubt, level=level):
                self.both([wire.query(text) for text in (
                    "begin", doubt, f"{level}; insert into s values (1, 'a'); show transaction_isolation",
                    "insert into s values (2, 'b')", "commit")], ready=5)

    def locked(self, database, port, doubt):
        """What is read behind a lock that was waited for; somebody commits a row meanwhile."""
        other = self.admins[database]
        with wire.Wire(("127.0.0.1", port)) as session:
            session.login(harness.USER, database)
            replies = session.query("begin isolation level serializable") + session.query(doubt)
            other.rows("begin; lock table events in exclusive mode")
            session.send(wire.query("lock table events in share mode"))
            with self.postgres.admin("postgres") as watch:
                harness.eventually("the lock is waited for", lambda: watch.rows(
                    "select from pg_locks where not granted"))
            added = ", 5" if database == "hashed" else ""
            other.rows(f"insert into events values (1, 'x'{added}); commit")
            replies += session.read_ready() + session.query("select k, v from events")
            replies += session.query("rollback")
        other.rows("truncate events")
        return [shown(reply) for reply in replies]

    def test_a_lock_that_was_waited_for(self):
        for doubt in DOUBTS:
            with self.subTest(doubt=doubt):
                self.assertEqual(self.locked("direct", self.postgres.port, doubt),
                                 self.locked(*self.route(), doubt))


if __name__ == "__main__":
    unittest.main()
