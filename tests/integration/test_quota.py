"""Links for batches are the process's: nobody's settings take them away from others."""
import threading
import unittest

import harness
import wire

INSERT = "insert into events (userid, ts, event) values ({}, '2026-01-01', 'x')"


@harness.proxied
class ManySettings(harness.StackCase):
    options = {"backend": {"links": "on_demand", "max_links": 100}}

    def count(self, what="usename = 'app'"):
        with self.postgres.admin(self.database) as admin:
            return int(admin.rows(f"select count(*) from pg_stat_activity where {what}")[0][0])

    def while_another_inserts(self, work):
        """The errors that `work` met, and another client meanwhile."""
        other, errors, done, rows = self.wire(), [], threading.Event(), [0]

        def insert():
            while not done.is_set():
                error = wire.error_of(other.query(INSERT.format(10**9 + rows[0])))
                errors.extend([error] if error else [])
                rows[0] += 1
        thread = threading.Thread(target=insert)
        thread.start()
        try:
            errors += [error for error in work() if error]
        finally:
            done.set()
            thread.join(harness.PATIENCE)
        self.assertGreater(rows[0], 0)
        self.check_stored(count=None)
        return errors

    def test_a_timeout_each(self):
        """They are the session's own, and share what they always shared."""
        names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout",
                 "idle_session_timeout")

        def one(number):
            name, value = names[number % 4], 600000 + number
            if number % 3 == 0:
                session = self.wire(options=f"-c {name}={value}")
            else:
                session = self.wire()
                session.rows(f"set {name} = {value}")
            errors = [wire.error_of(session.query(INSERT.format(number * 10 + i)))
                      for i in range(3)]
            shown = session.rows(f"select setting from pg_settings where name = '{name}'")
            self.assertEqual(shown, [[str(value)]])
            return errors

        errors = self.while_another_inserts(
            lambda: sum(harness.in_threads(88, one), []))
        self.assertEqual(errors, [])

    def test_a_time_zone_after_the_other(self):
        session = self.wire()

        def work():
            errors = []
            for number in range(100):
                zone = f"<+{number % 14:02d}>-{number % 14:02d}:{number % 60:02d}"
                session.rows(f"set timezone = '{zone}'")
                errors.append(wire.error_of(session.query(INSERT.format(number))))
            return errors

        self.assertEqual(self.while_another_inserts(work), [])
        self.assertLessEqual(self.count("query ilike 'insert%'"), 9)
        self.assertEqual(len(self.stored(columns="1")) >= 101, True)

    def test_a_time_zone_each(self):
        """More identities at once than links."""
        def one(number):
            session = self.wire(timezone=f"<+01>-01:{number:02d}")
            return [wire.error_of(session.query(INSERT.format(number * 10 + i)))
                    for i in range(5)]

        errors = self.while_another_inserts(lambda: sum(harness.in_threads(40, one), []))
        self.assertEqual(errors, [])


@harness.proxied
class Timeouts(harness.StackCase):
    tables = (harness.Table("events", harness.EVENTS.columns, harness.EVENTS.key,
                            hash_column="userhash", batch={"lock_wait_ms": 50}),)

    def refused_behind_a_lock(self, sql=None, **params):
        session = self.wire(**params)
        if sql:
            session.rows(sql)
        with self.postgres.admin(self.database) as holder:
            holder.rows("begin; lock table events")
            error = wire.error_of(session.query(INSERT.format(1)))
            holder.rows("rollback")
        self.assertEqual(session.rows("select count(*) from events"), [["0"]])
        return error

    def test_each_timeout_works(self):
        for name, sqlstate in (("lock_timeout", "55P03"), ("statement_timeout", "57014")):
            for value in ("300", "'0.3 s'", "'300ms'"):
                with self.subTest(name=name, value=value):
                    self.assertEqual(
                        self.refused_behind_a_lock(f"set {name} = {value}"), sqlstate)
            for option in (f"-c {name}=300", f"--{name.replace('_', '-')}=300ms"):
                with self.subTest(option=option):
                    self.assertEqual(self.refused_behind_a_lock(options=option), sqlstate)

    def test_idle_in_transaction(self):
        session = self.wire()
        session.rows("set idle_in_transaction_session_timeout = 10")
        session.query(INSERT.format(1))
        session.query("begin")
        self.assertEqual([one.sqlstate for one in session.read_to_end() if one.kind == "E"],
                         ["25P03"])

    def test_not_idle_while_it_writes(self):
        """Batched rows leave by other links; the own link does not think that nobody is there."""
        session = self.wire()
        session.rows("set idle_session_timeout = '2500ms'")
        with self.postgres.admin(self.database) as admin:
            start = admin.rows("select clock_timestamp()")[0][0]
            over = f"select clock_timestamp() > '{start}'::timestamptz + interval '4 s'"
            rows = 0
            while admin.rows(over) != [["t"]]:
                rows += 1
                self.assertIsNone(wire.error_of(session.query(INSERT.format(rows))))
        self.assertEqual(session.rows("select count(*) from events"), [[str(rows)]])


if __name__ == "__main__":
    unittest.main()
