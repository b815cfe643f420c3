"""An UPDATE that was prepared when it changed no key, of a table that has been made anew, by a pattern, with a key that it
does change: it is refused as PostgreSQL refuses a plan that is not right any more, by which drivers prepare it again. One
that changes no key of the new one goes on."""
import unittest

import harness
import wire
from direct_case import DirectCase, shown
from made_case import Planned

TABLES = (Planned("pat_*", "auto", hash_column="keyspread_hash"),)
OLD = "drop table if exists pat_s; create table pat_s (id bigint primary key, v text, n int)"
NEW = ("drop table pat_s; create table pat_s (v text primary key, id bigint, n int); "
       "insert into pat_s values ('x', 1, 1)")
KEYLESS = "drop table if exists pat_s; create table pat_s (v text, id bigint, n int)"
STATEMENTS = (("update pat_s set v = 'up' where id = $1", "1"), ("update pat_s set v = $2 where id = $1", "1", "up"),
              ("update pat_s set v = 'up' where length(v) = $1", "2"),
              ("with w as (update pat_s set v = 'up' returning id) select id from w",),
              ("merge into pat_s using (select 1) o on true when matched then update set v = 'up'",))
HASHES = "select v, keyspread_hash from pat_s"


@harness.proxied
class StaleUpdates(DirectCase):
    tables = TABLES
    options = {"workers": 1}

    def setUp(self):
        self.direct, self.session, self.other = (self.connect(*at) for at in (*self.routes(), self.route()))

    def both(self, *messages):
        answers = [[shown(reply) for reply in session.ask(*messages)]
                   for session in (self.direct, self.session)]
        self.assertEqual(*answers)

    def all(self, script, by):
        """By the session itself, or by another."""
        for text in script.split("; "):
            for session in (self.direct, self.session if by == "itself" else self.other):
                self.assertIsNone(wire.error_of(session.query(text)), text)

    def is_stale(self, replies):
        error = next(reply.fields() for reply in replies if reply.kind == "E")
        self.assertEqual((error["C"], error["R"]), ("0A000", "RevalidateCachedQuery"))

    def is_right(self):
        rows = self.admins["hashed"].rows(HASHES)
        self.assertEqual(rows, [[v, str(harness.xxh3_signed(v))] for v, _ in rows])

    def check(self, prepare, run, forget, again=False):
        """`run` is as PostgreSQL's until the table is another; whether it is so once it was prepared again."""
        for before in (OLD, KEYLESS):
            for by in ("itself", "another"):
                with self.subTest(by=by, before=before):
                    self.all(before, by)
                    self.both(prepare)
                    self.both(run)
                    self.all("drop table if exists pat_t; create table pat_t (id int primary key)", by)
                    self.both(run)
                    self.all(NEW, by)
                    self.is_stale(self.session.ask(run))
                    self.is_stale(self.session.ask(run))
                    self.both(forget)
                    if again:
                        self.both(prepare)
                        self.both(run)
                        self.is_right()
                        self.both(forget)

    def test_by_name(self):
        for text, *values in STATEMENTS:
            with self.subTest(text):
                self.check(wire.parse("u", text) + wire.sync(),
                           wire.bind("", "u", values) + wire.execute() + wire.sync(),
                           wire.close("S", "u") + wire.sync(), again=text.startswith("update"))

    def test_by_sql(self):
        for text, *values in STATEMENTS:
            with self.subTest(text):
                run = f"execute u ({', '.join(map(repr, values))})" if values else "execute u"
                self.check(wire.query(f"prepare u as {text}"), wire.query(run), wire.query("deallocate u"))

    def test_prepare_that_was_parsed(self):
        """What it keeps is not kept here: another table is enough."""
        self.all(OLD, "itself")
        self.both(wire.parse("", "prepare u as update pat_s set v = 'up'") + wire.bind("", "") + wire.execute() + wire.sync())
        self.both(wire.query("execute u"))
        self.all(NEW, "another")
        self.is_stale(self.session.query("execute u"))
        self.all("deallocate u", "itself")

    def test_unnamed(self):
        self.all(OLD, "itself")
        self.both(wire.parse("", "update pat_s set v = 'up'") + wire.sync())
        run = wire.bind("", "") + wire.execute() + wire.sync()
        self.both(run)
        self.all(NEW, "another")
        self.is_stale(self.session.ask(run))

    def test_what_changes_no_key_goes_on(self):
        self.all(OLD, "itself")
        texts = ("update pat_s set n = n + 1", "update pat_s set v = 'x' where v = 'x' and $1 = 1", "delete from pat_s where n > $1")
        values = ((), ("1",), ("100",))
        for number, text in enumerate(texts):
            self.both(wire.parse(f"u{number}", text) + wire.sync())
        self.both(wire.query("prepare u as update pat_s set n = n + 1"))
        for by in ("itself", "another"):
            self.all(NEW, by)
            for number in range(len(texts)):
                self.both(wire.bind("", f"u{number}", values[number]) + wire.execute() + wire.sync())
            self.both(wire.query("execute u"))
            self.both(wire.query("table pat_s"))
            self.is_right()
        for number in range(len(texts)):
            self.both(wire.close("S", f"u{number}") + wire.sync())
        self.both(wire.query("deallocate u"))

    def test_in_the_same_pipeline(self):
        self.all(OLD, "itself")
        self.both(wire.parse("u", "update pat_s set v = 'up'") + wire.sync())
        script = [wire.parse("", text) + wire.bind("", "") + wire.execute() for text in NEW.split("; ")[:2]]
        run = wire.bind("", "u") + wire.execute() + wire.sync()
        self.is_stale(self.session.ask(*script, run))
        self.direct.query("drop table pat_s")
        self.both(wire.query("begin; select 1"))
        self.both(wire.query("rollback"))

    def test_behind_it_in_one_text(self):
        self.all(OLD, "itself")
        self.both(wire.query("prepare u as update pat_s set v = 'up'"))
        self.is_stale(self.session.query(NEW + "; execute u"))

    def test_the_session_goes_on_in_its_transaction(self):
        self.all(OLD, "itself")
        self.both(wire.parse("u", "update pat_s set v = 'up'") + wire.sync())
        self.all("begin; " + NEW, "itself")
        self.is_stale(self.session.ask(wire.bind("", "u") + wire.execute() + wire.sync()))
        self.assertEqual(wire.tags_of(self.session.query("commit")), ["ROLLBACK"])
        self.direct.query("rollback")


@harness.proxied
class Reloaded(unittest.TestCase):
    """A table gets an entry while a session has an UPDATE of it."""

    def test_it_is_stale(self):
        table = harness.Table("events", ["id bigint", "v text"], ["id"], hash_first=False)
        postgres = harness.Postgres()
        self.addCleanup(postgres.remove)
        postgres.create_database("test")
        other = harness.Table("others", ["id bigint"], ["id"])
        with postgres.admin("test") as admin:
            admin.rows(table.ddl(True, False))
            admin.rows(other.ddl(True, False))
            config = harness.backend_config(postgres, (other,), workers=1)
            keyspread = harness.Keyspread(config)
            self.addCleanup(keyspread.stop)
            with wire.Wire(("127.0.0.1", keyspread.port)) as session:
                session.login(harness.USER, "test")
                runs = []
                for name, text in (("key", "update events set id = 5"), ("none", "update events set v = 'x'")):
                    self.assertIsNone(wire.error_of(session.ask(wire.parse(name, text) + wire.sync())))
                    runs.append(wire.bind("", name) + wire.execute() + wire.sync())
                self.assertEqual([wire.tags_of(session.ask(run)) for run in runs], [["UPDATE 0"], ["UPDATE 0"]])
                self.assertIn("reloaded", keyspread.reload(harness.backend_config(postgres, (other, table), workers=1)))
                error, done = (session.ask(run) for run in runs)
                self.assertEqual(wire.error_of(error), "0A000")
                self.assertEqual(wire.tags_of(done), ["UPDATE 0"])


if __name__ == "__main__":
    unittest.main()
