"""Whose a tag or an error is, and whether it is true, whatever constraints and triggers do."""
import threading
import unittest

import harness
import wire

RAISE = """
    create function raises(v text) returns bool language plpgsql as $$
      begin
        if v ~ '^[0-9A-Z]{5}$' then raise exception 'raised %', v using errcode = v; end if;
        return true;
      end $$"""


class Crowd(harness.StackCase):
    """Clients that write at the same time; commits take a while, so that rows travel together."""

    settings = {"fsync": "on", "synchronous_commit": "on", "commit_delay": 2000,
                "commit_siblings": 0}
    options = {"workers": 1}
    partitioned = False
    clients = 12

    def crowd(self, work, clients=None):
        """Runs work(number, ask), ask(key, value) being one row in this client's protocol."""
        def client(number):
            return work(number, self.asker(self.wire(), extended=number % 2))
        return harness.in_threads(clients or self.clients, client)

    def asker(self, session, extended):
        raise NotImplementedError


class RaisedErrors(Crowd):
    """A row may raise any SQLSTATE; it stays that row's."""

    CHECKED = harness.Table("checked", ["k int not null", "v text check (raises(v))"], ["k"],
                            partitions=1)
    tables = (CHECKED,)
    before_sql = RAISE
    CODES = ("53100", "53300", "57P01", "57P03", "57014", "08006", "08007", "54000", "28000",
             "40001", "55P03", "XX000", "26000", "42703", "42P01")

    def asker(self, session, extended):
        if extended:
            session.ask(wire.parse("s", "insert into checked values ($1, $2)"), wire.sync())
            return lambda k, v: session.ask(wire.bind("", "s", [k, v]), wire.execute(), wire.sync())
        return lambda k, v: session.query(f"insert into checked values ({k}, '{v}')")

    def test_whatever_a_row_raises_is_its_own(self):
        def work(number, ask):
            for insert in range(24):
                code = self.CODES[insert % len(self.CODES)] if number in (0, 1) else "good"
                replies = ask(number * 1000 + insert, code)
                expected = code if code != "good" else None
                self.assertEqual(wire.error_of(replies), expected, replies)
                self.assertEqual(wire.tags_of(replies), [] if expected else ["INSERT 0 1"])
        self.crowd(work)
        self.check_stored(self.CHECKED, count=(self.clients - 2) * 24)

SKIP = """
    create function skip() returns trigger language plpgsql as
      $$ begin if new.v = 'skip' then return null; end if; return new; end $$"""


class TrueTags(Crowd):
    """A tag counts the rows that are stored, also where a trigger keeps some of them out."""

    UPDATED = harness.Table("updated", ["k int not null", "v text"], ["k"], partitions=1)
    LATE = harness.Table("late", ["k int not null", "v text"], ["k"], partitions=1)
    COUNTED = harness.Table("counted", ["k int not null", "v text"], ["k"], partitions=1)
    tables = (UPDATED, LATE, COUNTED)
    before_sql = SKIP + """;
        create table statements (n int);
        create function note() returns trigger language plpgsql as
          $$ begin insert into statements values (1); return null; end $$"""
    setup_sql = """
        create trigger skip before update on updated for each row execute function skip();
        create trigger note after update on counted execute function note()"""

    def asker(self, session, extended):
        texts = {table: f"insert into {table} (k, v) values (%s, %s) on conflict (k_hash, k) "
                        "do update set v = excluded.v" for table in ("updated", "counted")}
        texts["late"] = "insert into late (k, v) values (%s, %s)"
        if harness.DIRECT:
            texts = {table: text.replace("k_hash, ", "") for table, text in texts.items()}
        for table, text in texts.items() if extended else ():
            session.ask(wire.parse(table, text % ("$1", "$2")), wire.sync())

        def ask(table, k, v):
            if extended:
                replies = session.ask(wire.bind("", table, [k, v]), wire.execute(), wire.sync())
            else:
                replies = session.query(texts[table] % (k, f"'{v}'"))
            self.assertIsNone(wire.error_of(replies), replies)
            return wire.tags_of(replies)
        return ask

    def keys(self, number):
        return range(number * 1000, number * 1000 + 20)

    def skipped(self, key):
        return key % 3 == 0

    def test_an_update_trigger_keeps_rows_out(self):
        self.crowd(lambda number, ask: [ask("updated", key, "old") for key in self.keys(number)])

        def work(number, ask):
            for key in self.keys(number):
                skipped = self.skipped(key)
                self.assertEqual(ask("updated", key, "skip" if skipped else "new"),
                                 [f"INSERT 0 {0 if skipped else 1}"])
        self.crowd(work)
        stored = dict(self.stored(self.UPDATED, "k, v"))
        for number in range(self.clients):
            for key in self.keys(number):
                self.assertEqual(stored[str(key)], "old" if self.skipped(key) else "new")

    def test_a_trigger_that_was_made_a_moment_ago(self):
        self.crowd(lambda number, ask: [ask("late", -1 - key, "x") for key in self.keys(number)])
        with self.postgres.admin(self.database) as admin:
            admin.rows("create trigger skip before insert on late for each row"
                       " execute function skip()")
            self.addCleanup(self.drop_trigger)

        def work(number, ask):
            for key in self.keys(number):
                skipped = self.skipped(key)
                self.assertEqual(ask("late", key, "skip" if skipped else "x"),
                                 [f"INSERT 0 {0 if skipped else 1}"])
        self.crowd(work)
        stored = {int(row[0]) for row in self.stored(self.LATE, "k") if int(row[0]) >= 0}
        self.assertEqual(stored, {key for number in range(self.clients)
                                  for key in self.keys(number) if not self.skipped(key)})

    def drop_trigger(self):
        with self.postgres.admin(self.database) as admin:
            admin.rows("drop trigger skip on late")

    def test_a_trigger_for_each_statement(self):
        """It fires once for each statement of a client, whoever else writes at the time."""
        self.crowd(lambda number, ask: [ask("counted", key, "x") for key in self.keys(number)])
        with self.postgres.admin(self.database) as admin:
            self.assertEqual(admin.rows("select count(*) from statements"),
                             [[str(self.clients * len(self.keys(0)))]])


class ShownIsStored(harness.StackCase):
    """Settings of how values are shown decide what is stored, where a value is made of one."""

    SHOWN = harness.Table("shown", ["k int not null", "v text"], ["k"])
    NAMED = harness.Table("named", ["k int not null", "v text",
                                    "who text default current_setting('application_name')"], ["k"])
    tables = (SHOWN, NAMED)

    def insert(self, session, key, value, extended, table="shown"):
        text = f"insert into {table} (k, v) values ({key}, {value})"
        replies = (session.ask(wire.parse("", text), wire.bind("", ""), wire.execute(), wire.sync())
                   if extended else session.query(text))
        self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"], replies)

    def test_settings(self):
        cases = (("bytea_output", "escape", r"'\xff'::bytea::text", r"\377"),
                 ("extra_float_digits", "-15", "0.1::float8::text", "0.1"),
                 ("extra_float_digits", "0", "(0.1::float8 + 0.2)::text", "0.3"),
                 ("extra_float_digits", "0", "'1.2345678901234567'::float8::text",
                  "1.23456789012346"),
                 ("IntervalStyle", "iso_8601", "'1 day 2 hours'::interval::text", "P1DT2H"),
                 ("xmlbinary", "hex", "xmlelement(name a, '\\xff'::bytea)::text", "<a>FF</a>"))
        key = 0
        for setting, value, expression, shown in cases:
            for how in ("set", "set_config", "startup", "options", "local"):
                for extended in (False, True):
                    with self.subTest(setting=setting, how=how, extended=extended):
                        key += 1
                        self.one(key, how, (setting, value), expression, extended)
                        stored = dict(self.stored(self.SHOWN, "k, v"))[str(key)]
                        self.assertEqual(stored, shown)

    def one(self, key, how, setting, expression, extended):
        name, value = setting
        params = {"startup": {name: value}, "options": {"options": f"-c {name}={value}"}}
        session = self.wire(**params.get(how, {}))
        if how == "local":
            session.query("begin")
        if how == "set_config":
            session.query(f"select set_config('{name}', '{value}', false)")
        elif how in ("set", "local"):
            session.query(f"set {how if how == 'local' else ''} {name} = '{value}'")
        self.insert(session, key, expression, extended)
        if how == "local":
            session.query("commit")
        session.close()

    def test_parameters(self):
        session = self.wire()
        session.query("set bytea_output = 'escape'")
        for key, text, types in ((1, "insert into shown values ($1, $2::bytea::text)", ()),
                                 (2, "insert into shown values ($1, $2)", (23, 17))):
            replies = session.ask(wire.parse("", text, types), wire.bind("", "", [key, r"\xff"]),
                                  wire.execute(), wire.sync())
            self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"], replies)
        self.assertEqual([row[0] for row in self.stored(self.SHOWN, "v", "k")], [r"\377"] * 2)

    def test_application_name(self):
        for key, name in enumerate(("one", "two", "", "one"), 1):
            session = self.wire(**({"application_name": name} if name else {}))
            self.insert(session, key, "'x'", key % 2, "named")
        session.query("set application_name = 'three'")
        self.insert(session, 5, "'x'", False, "named")
        self.insert(session, 6, "current_setting('application_name')", False, "named")
        self.assertEqual([row[0] for row in self.stored(self.NAMED, "coalesce(who, '')", "k")],
                         ["one", "two", "", "one", "three", "three"])


@harness.proxied
class SlowRows(Crowd):
    """A row that takes its time does not hold its partition."""

    WAITING = harness.Table("waiting", ["k int not null", "v text check (waits(v))"], ["k"],
                            partitions=1)
    tables = (WAITING,)
    before_sql = """
        create table done (n int);
        create function waits(v text) returns bool language plpgsql as $$
          begin
            while v = 'slow' and not exists (select from done) loop perform pg_sleep(0.01);
            end loop;
            return true;
          end $$"""

    def slow_row(self, session, key, meanwhile):
        """Sends it, does something while it runs, and lets it end."""
        session.send(wire.query(self.INSERT.format(key, "slow")))
        with self.postgres.admin(self.database) as admin:
            harness.eventually("the slow row runs", lambda: admin.rows(
                "select 1 from pg_stat_activity where wait_event = 'PgSleep'"))
            meanwhile()
            admin.rows("insert into done values (1)")
            self.assertEqual(wire.tags_of(session.read_ready()), ["INSERT 0 1"])
            admin.rows("delete from done")

    INSERT = "insert into waiting values ({}, '{}')"

    def test_others_pass(self):
        quick, slow = self.wire(), self.wire()

        def write(keys):
            for key in keys:
                replies = quick.query(self.INSERT.format(key, "quick"))
                self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"], replies)
        write(range(5))
        for number in range(10, 40, 10): # in a batch, alone, on its own link
            self.slow_row(slow, number, lambda: write(range(number + 1, number + 10)))
        self.check_stored(self.WAITING, count=5 + 3 * 10)


@harness.proxied
class MovedColumns(Crowd):
    """Values of an INSERT without a list go to the columns that the table has at the time: nobody
    tells keyspread when they are changed past it."""

    MOVED = harness.Table("moved", ["k int not null", "a text", "b text"], ["k"], partitions=1)
    PARTED = harness.Table("parted", ["k int not null", "a text", "b text"], ["k"],
                           atomicity="partition")
    tables = (MOVED, PARTED)
    options = {**Crowd.options, "backend": {"catalog_s": 3600}}

    def move(self, table="moved"):
        """keyspread has met the columns a, b; now they are b, a."""
        with self.postgres.admin(self.database) as admin:
            admin.rows(f"alter table {table} drop a, drop b, add a text, add b text")
            session = self.wire()
            session.query(f"insert into {table} values (-1, 'a', 'b')")
            session.query(f"insert into {table} values (-2, 'a', 'b')")
            self.assertEqual(admin.rows(f"select a, b from {table} where k = -2"), [["a", "b"]])
            admin.rows(f"truncate {table}; alter table {table} drop a, add a text")

    def check(self, replies, table=MOVED, told=None):
        """The client's b, a are stored so; or it was told that they are not, and nothing is."""
        self.assertEqual(wire.error_of(replies), told, replies)
        rows = self.stored(table, "distinct a, b", "1")
        self.assertEqual(rows, [] if told else [["a", "b"]])
        self.check_stored(table)

    def extended(self, session, text, *values):
        return session.ask(wire.parse("", text), wire.bind("", "", values), wire.execute(),
                           wire.sync())

    def test_alone(self):
        for write in (lambda s: s.query("insert into moved values (1, 'b', 'a')"),
                      lambda s: s.query("insert into moved values (1, 'b', 'a'), (2, 'b', 'a');"
                                        "insert into moved values (3, 'b', 'a')"),
                      lambda s: self.extended(s, "insert into moved values (1, 'b', 'a')"),
                      lambda s: self.extended(s, "insert into moved values ($1, $2, $3)",
                                              1, "b", "a")):
            session = self.wire()
            self.move()
            self.check(write(session))

    def test_prepared_before(self):
        session = self.wire()
        session.ask(wire.parse("s", "insert into moved values ($1, $2, $3)"), wire.sync())
        self.move()
        self.check(session.ask(wire.bind("", "s", [1, "b", "a"]), wire.execute(), wire.sync()))

    def test_on_its_own_link(self):
        """The session may be in a transaction, which has failed then: it is to be done again."""
        for write in (
                lambda s: s.query("insert into moved values (1, 'b', 'a') returning k + 0"),
                lambda s: s.query("insert into moved values (1, 'b', 'a'), (2, 'b', 'a'); "
                                  "select 1"),
                lambda s: self.extended(s, "insert into moved values ($1, $2, $3) returning k + 0",
                                        1, "b", "a"),
                lambda s: s.query("begin; insert into moved values (1, 'b', 'a'); commit")):
            session = self.wire()
            self.move()
            self.check(write(session), told="40001")
            session.query("rollback")
            replies = write(session)
            self.check(replies)

    def test_in_parts(self):
        self.move("parted")
        self.check(self.wire().query("insert into parted values " + ", ".join(
            f"({key}, 'b', 'a')" for key in range(40))), self.PARTED)

    def asker(self, session, extended):
        if extended:
            session.ask(wire.parse("s", "insert into moved values ($1, $2, $3)"), wire.sync())
            return lambda k: session.ask(wire.bind("", "s", [k, "b", "a"]), wire.execute(),
                                         wire.sync())
        return lambda k: session.query(f"insert into moved values ({k}, 'b', 'a')")

    def test_together(self):
        self.move()
        ready = threading.Barrier(self.clients)

        def work(number, ask):
            ready.wait(harness.PATIENCE)
            for insert in range(10):
                replies = ask(number * 1000 + insert)
                self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"], replies)
        self.crowd(work)
        self.assertEqual(self.stored(self.MOVED, "distinct a, b", "1"), [["a", "b"]])
        self.check_stored(self.MOVED, count=self.clients * 10)


del Crowd

if __name__ == "__main__":
    unittest.main()
