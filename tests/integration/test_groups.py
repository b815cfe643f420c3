"""Sync groups of several statements, of one table and of many, are units: they share batches with others'
rows, commit together or not at all, and are answered as by PostgreSQL."""
import random
import unittest

import direct_case
import harness
import metrics
import middleman
import wire
from harness import Table

BATCH = {"target_ms": 60_000}
ITEMS = Table("items", ["id bigint not null", "name varchar(20)", "n int"], ["id"], hash_first=False,
              batch=BATCH, constraints=["check (n < 100)"])
NOTES = Table("notes", ["code text not null", "item bigint", "n int default 3"], ["code"],
              hash_first=False, batch=BATCH)
MARKS = Table("marks", ["id bigint not null", "n int"], ["id"], hash_first=False, batch=BATCH)

INSERT = "insert into items (id, name, n) values "
NOTE = "insert into notes (code, item) values ($1, $2)"
MARK = "insert into marks (id, n) values ($1, $2)"


def mark(number):
    """Another text for each number."""
    return MARK.replace("(", f"/* {number} */ (", 1)


def rows_of(count):
    """The text of an INSERT of so many rows with parameters."""
    places = (f"(${3 * row + 1}, ${3 * row + 2}, ${3 * row + 3})" for row in range(count))
    return INSERT + ", ".join(places)


def run(text, *values, **more):
    """Parse, Bind and Execute, as a driver does it that names nothing."""
    limit = more.pop("limit", 0)
    return [wire.parse("", text), wire.bind("", "", values, **more), wire.describe("P", ""),
            wire.execute(limit=limit)]


def batch_of(*sizes):
    """Rows with growing ids, in statements of so many."""
    messages, number = [], 0
    for size in sizes:
        values = []
        for _ in range(size):
            number += 1
            values += [number, f"name {number}", number % 7]
        messages += run(rows_of(size), *values)
    return messages + [wire.sync()]


class Batched:
    """What was batched, and what was not."""

    def counts(self):
        scrape = metrics.Scrape(self.keyspread)
        return scrape.get("batched_statements_total"), scrape.get("inserts_not_batched_total")

    def expect_counted(self, before, batched):
        self.assertEqual(self.counts(), (before[0] + batched, before[1]))


@harness.proxied
class Lone(direct_case.DirectCase, Batched):
    """One client's groups: each message of the answer is PostgreSQL's."""
    tables = (ITEMS, NOTES, MARKS)
    options = {"workers": 1, "admin": {}}

    def twice(self, messages, statements, **more):
        """At first its texts are new; then it is batched."""
        self.both(messages, **more)
        before = self.counts()
        replies = self.both(messages, verify=True, **more)
        self.expect_counted(before, statements)
        return replies

    def fails(self, messages, **more):
        """The same twice, with an error."""
        for _ in range(2):
            replies = self.both(messages, **more)
        self.assertIsNotNone(wire.error_of(replies))
        return replies

    def test_rows_in_statements_of_several_sizes(self):
        replies = self.twice(batch_of(64, 32, 4), 3)
        self.assertEqual(wire.tags_of(replies), ["INSERT 0 64", "INSERT 0 32", "INSERT 0 4"])

    def test_rows_for_more_than_half_a_batch(self):
        """They would find no company."""
        self.twice(batch_of(128, 64, 58), 3)
        before = self.counts()
        self.both(batch_of(128, 64, 59))
        self.both(batch_of(128, 64, 59))
        self.assertEqual(self.counts(), (before[0], before[1] + 6))

    def test_one_and_the_same_in_turns(self):
        self.twice(run(rows_of(1), 1, "a", 1) + run(NOTE, "c", 1) + run(rows_of(1), 2, "b", 2)
                   + run(NOTE, "d", 2) + [wire.sync()], 4)

    def test_several_tables(self):
        self.twice(run(MARK, 1, 1) + run(rows_of(2), 1, "a", 1, 2, "b", 2) + run(NOTE, "c", 1)
                   + [wire.sync()], 3)

    def test_one_key_in_several_tables(self):
        self.twice(run(MARK, 7, 1) + run(rows_of(1), 7, "a", 1) + [wire.sync()], 2)

    def test_prepared_before(self):
        names = {"i": rows_of(1), "n": NOTE, "m": MARK}
        messages = [wire.parse(name, text) for name, text in names.items()] + [wire.sync()]
        for number in range(3):
            messages += [wire.bind("", "i", [number, "x", 1]), wire.execute(),
                         wire.bind("p", "n", [f"code {number}", number]), wire.execute("p"),
                         wire.bind("", "m", [number, None]), wire.execute(), wire.sync()]
        self.twice(messages, 9, ready=4)

    def test_rows_that_are_returned(self):
        for results in (), (1,), (1, 0):
            for limit in 0, 1:
                with self.subTest(results=results, limit=limit):
                    self.twice(run(MARK, 1, 1)
                               + run(rows_of(2) + " returning id, name", 1, "a", 1, 2, None, 2,
                                     results=results, limit=limit)
                               + run(NOTE + " returning n as number, code", "c", 1, results=results)
                               + run(MARK, 2, 2) + [wire.sync()], 4)

    def test_a_write_of_a_row_that_was_written_before(self):
        again = " on conflict (id) do update set n = items.n + excluded.n returning n"
        self.twice(run(rows_of(1), 1, "a", 1) + run(rows_of(1) + again, 1, "b", 10)
                   + run(rows_of(1) + " on conflict do nothing", 1, "c", 1) + [wire.sync()], 3)

    def test_texts_of_one_query(self):
        for text in ("insert into items (id) values (1), (2); insert into notes (code) values ('a');"
                     "insert into marks (id) values (1)",
                     "insert into marks (id) values (1) returning n; insert into items (id) values (1)"
                     " returning *"):
            before = self.counts()
            self.query(text, verify=True)
            self.expect_counted(before, text.count("into"))

    def test_failures(self):
        """Wherever it is, what came before has its answer, and nothing is stored."""
        good = [run(MARK, 1, 1), run(rows_of(1), 1, "a", 1), run(NOTE, "c", 1)]
        bad = {"a value": run(rows_of(1), 2, "b", "many"),
               "a key": run(rows_of(1), "two", "b", 1), "no key": run(rows_of(1), None, "b", 1),
               "a check": run(rows_of(2), 2, "b", 1, 3, "c", 100),
               "a key twice": run(rows_of(2), 2, "b", 1, 2, "c", 1),
               "a key again": run("insert into marks (n, id) values ($1, $2)", 1, 1),
               "too few": run(NOTE, "d"), "a format": run(NOTE, "d", 1, formats=[0, 1]),
               "returned": run(NOTE + " returning 1 / $2::int", "d", 0)}
        for what, messages in bad.items():
            for place in range(4):
                with self.subTest(what, place=place):
                    group = good[:place] + [messages] + good[place:]
                    if what == "a key again" and place == 0:
                        continue
                    self.fails(sum(group, []) + [wire.sync()])

    def test_an_error_behind_the_last_statement(self):
        for database in self.admins.values():
            database.rows("create function odd() returns trigger language plpgsql as $$ begin "
                          "if new.n % 2 = 0 then raise 'even: %', new.n using errcode = '23514'; "
                          "end if; return new; end $$; create constraint trigger odd after insert on "
                          "marks deferrable initially deferred for each row execute function odd()")
        try:
            self.both(run(MARK, 1, 1) + run(NOTE, "c", 1) + [wire.sync()])
            self.fails(run(MARK, 1, 2) + run(NOTE, "c", 1) + [wire.sync()])
        finally:
            for database in self.admins.values():
                database.rows("drop trigger odd on marks; drop function odd()")

    def test_notices(self):
        """Each stands before the tag of its statement."""
        for database in self.admins.values():
            database.rows("create function say(n int) returns bool language plpgsql as $$ begin "
                          "raise notice 'it is %', n using errcode = '01234'; return n < 9; end $$;"
                          "alter table marks add constraint said check (say(n));"
                          "alter table items add constraint said check (say(n))")
        try:
            for bad in False, True:
                messages = (run(MARK, 1, 1) + run(NOTE, "c", 1) + run(rows_of(2), 1, "a", 2, 2, "b", 3)
                            + run(MARK, 2, 4) + bad * run(MARK, 3, 9) + [wire.sync()])
                for _ in range(3):
                    before = self.counts()
                    self.both(messages)
                if not bad:
                    self.expect_counted(before, 4)
            text = ("insert into marks (id, n) values (1, 1); insert into notes (code) values ('a');"
                    "insert into items (id, n) values (1, 2); insert into marks (id, n) values (2, {})")
            self.query(text.format(3))
            self.query(text.format(9))
        finally:
            for database in self.admins.values():
                database.rows("alter table marks drop constraint said; alter table items drop "
                              "constraint said; drop function say(int)")

    def test_a_key_that_is_looked_at_behind_the_last_statement(self):
        """The error is of whichever table; none has a hash, as far as its client is told."""
        for table in self.tables[1:]:
            for database, hashed in (("direct", ""), ("hashed", f"{table.hash_column}, ")):
                self.admins[database].rows(
                    f"alter table {table.name} drop constraint {table.name}_pkey, add primary key "
                    f"({hashed}{table.key[0]}) deferrable initially deferred")
        groups = {"marks": run(MARK, 1, 1) + run(MARK, 1, 2) + run(NOTE, "c", 1),
                  "notes": run(NOTE, "c", 1) + run(rows_of(1), 1, "a", 1) + run(NOTE, "c", 2)
                           + run(MARK, 1, 1)}
        for name, messages in groups.items():
            with self.subTest(name):
                replies = self.fails(messages + [wire.sync()])
                self.assertEqual(replies[-2].fields()["t"], name)

        for text in ("insert into marks (id) values (1), (1); insert into notes (code) values ('c')",
                     "insert into marks (id) values (1); insert into notes (code) values ('c'), ('c')"):
            for more in "", "; insert into items (id) values (1)":
                with self.subTest(text + more):
                    self.query(text + more)
        for table in self.tables[1:]:
            for database, hashed in (("direct", ""), ("hashed", f"{table.hash_column}, ")):
                self.admins[database].rows(
                    f"alter table {table.name} drop constraint {table.name}_pkey, add primary key "
                    f"({hashed}{table.key[0]})")

    def test_a_text_that_cannot_be_prepared(self):
        for text in ("insert into notes (code, nothing) values ($1, $2)",
                     "insert into notes (code, item) values ($1, $2, $3)",
                     "insert into notes (code, item) valued ($1, $2)"):
            for place in 0, 1, 2:
                with self.subTest(text, place=place):
                    group = [run(MARK, 1, 1), run(rows_of(1), 1, "a", 1)]
                    group.insert(place, run(text, "c", 1))
                    self.fails(sum(group, []) + [wire.sync()])

    def test_what_is_bound_and_not_executed(self):
        self.both(run(MARK, 1, 1) + run(NOTE, "c", 1)[:2] + [wire.sync()])
        self.both(run(MARK, 1, 1) + [wire.parse("", NOTE), wire.describe("S", ""), wire.sync()])
        self.fails(run(MARK, 1, 1) + [wire.parse("", NOTE), wire.bind("", "", ["c", "x"]),
                                      wire.sync()])

    def test_other_statements_beside(self):
        for other in ("select count(*) from marks", "select 1 / 0", "begin", "commit",
                      "update marks set n = 5 where id = 1", "create temp table x (n int)"):
            for place in 0, 1, 2:
                with self.subTest(other, place=place):
                    group = [run(MARK, 1, 1), run(NOTE, "c", 1)]
                    group.insert(place, run(other))
                    self.both(sum(group, []) + [wire.sync()] + [wire.query("rollback")], ready=2)

    def test_a_portal_that_is_there_still(self):
        """Its name is free only when it is closed, or behind Sync."""
        for text in MARK, MARK + " returning id":
            again = [wire.bind("p", "", [2, 2]), wire.execute("p"), wire.sync()]
            first = [wire.parse("", text), wire.bind("p", "", [1, 1]), wire.execute("p")]
            self.fails(first + again)
            self.fails(first + [wire.parse("", NOTE)] + again)
            self.fails(first[:2] + again)
            for _ in range(2):
                self.both(first + [wire.close("P", "p")] + again)

    def test_flush_in_the_middle(self):
        messages = run(MARK, 1, 1) + [wire.flush()] + run(NOTE, "c", 1) + [wire.sync()]
        for _ in range(2):
            self.both(messages)

    def test_many_statements(self):
        """So many that they are no unit."""
        for count, batched in (64, 64), (65, 0):
            messages = []
            for number in range(count):
                messages += run(mark(number), number, 1)
            self.both(messages + [wire.sync()])
            before = self.counts()
            self.both(messages + [wire.sync()])
            self.assertEqual(self.counts()[0] - before[0], batched)

    def test_more_than_a_link_keeps(self):
        """What a group needs is not closed for the rest of it."""
        with wire.Wire(("127.0.0.1", self.keyspread.port)) as session:
            session.login(harness.USER, "hashed")
            number = 0
            for first in range(0, 600, 40):
                for _ in range(2):
                    messages = []
                    for text in [0, *range(first, first + 40)]:
                        number += 1
                        messages += run(mark(text), number, 1)
                    before = self.counts()
                    self.assertIsNone(wire.error_of(session.ask(*messages, wire.sync())))
                self.expect_counted(before, 41)
        self.assertEqual(len(self.contents("hashed", verify=True)[2]), number)

    def test_texts_that_never_come_again(self):
        """They go on at once, and nobody asks what they are."""
        before = self.counts()
        for number in range(3):
            messages = []
            for row in range(5):
                messages += run(f"insert into marks (id, n) values ({10 * number + row}, 1)")
            self.both(messages + [wire.sync()])
        self.assertEqual(self.counts(), (before[0], before[1] + 15))

    def test_the_table_is_altered(self):
        """What is known of a statement, and on links, is of before."""
        messages = (run(MARK, 1, 1) + run(rows_of(1) + " returning *", 1, "a", 1) + run(NOTE, "c", 1)
                    + [wire.sync()])
        self.twice(messages, 3)
        for change in ("alter table notes alter item type int", "alter table items alter name type text",
                       "alter table items alter n type bigint", "alter table items alter n type int",
                       "alter table notes alter item type bigint"):
            for database, port in (("direct", self.postgres.port), ("hashed", self.keyspread.port)):
                with wire.Wire(("127.0.0.1", port)) as session:
                    session.login("postgres", database)
                    session.rows(change)
            with self.subTest(change):
                self.both(messages)
                self.both(messages)
        self.twice(messages, 3)

    def renamed_under(self, messages, database, port):
        """What is told when a table is not there any more, past keyspread; to a session that is."""
        admin = self.admins[database]
        with self.log_in(database, port) as session:
            for _ in range(2):
                self.assertIsNone(wire.error_of(session.ask(*messages)))
                admin.rows("truncate marks, notes")
            admin.rows("alter table marks rename to others")
            try:
                replies = session.ask(*messages)
            finally:
                admin.rows("alter table others rename to marks")
            again = session.ask(*messages)
        return [direct_case.shown(reply) for reply in replies + again], self.contents(database)

    def test_the_table_is_renamed(self):
        """What was held to be an INSERT of ours is none any more."""
        mark, note = run(MARK, 1, 1), run(NOTE, "c", 1)
        for group in (mark, mark + run(MARK, 2, 2), note + mark, mark + note):
            messages = group + [wire.sync()]
            with self.subTest(len(group)):
                self.assertEqual(self.renamed_under(messages, "direct", self.postgres.port),
                                 self.renamed_under(messages, "hashed", self.keyspread.port))

    def test_the_table_is_altered_under_prepared_statements(self):
        names = {"m": MARK, "i": rows_of(1) + " returning *", "n": NOTE}
        values = {"m": [1, 1], "i": [1, "a", 1], "n": ["c", 1]}
        group = sum(([wire.bind("", name, values[name]), wire.execute()] for name in names), [])
        delete = "delete from marks; delete from items; delete from notes"
        parses = [wire.parse(name, text) for name, text in names.items()]
        for change, back in (("items alter n type bigint", "items alter n type int"),
                             ("notes alter item type int", "notes alter item type bigint"),
                             ("marks rename n to m", "marks rename m to n")):
            with self.subTest(change):
                again = [wire.query(delete)] + group + [wire.sync()]
                messages = parses + [wire.sync()] + again + again + [wire.query(f"alter table {change}")]
                messages += again + again + [wire.query(f"alter table {back}")] + again
                self.both(messages, ready=13)


def pair(**batch):
    """Two tables, and how their rows are batched; none is a slow one, which goes by its own link."""
    batch = {**BATCH, **batch}
    return (Table("counters", ["id bigint not null", "n int"], ["id"], hash_column="idhash", batch=batch,
                  constraints=["check (n > 0)"]),
            Table("tallies", ["id bigint not null", "n int"], ["id"], hash_column="idhash", batch=batch))


ADD = {table: f"insert into {table} (id, n) values ($1, 1) on conflict (id) do update "
              f"set n = {table}.n + 1" for table in ("counters", "tallies")}
PLAIN = {table: f"insert into {table} (id, n) values ($1, $2)" for table in ("counters", "tallies")}


class GroupsCase(harness.StackCase, Batched):
    options = {"workers": 4, "admin": {}, "backend": {"batch_links": 4}}

    def prepared(self, texts):
        """A session with these statements, by the names of their tables."""
        session = self.wire()
        session.ask(*(wire.parse(name, text) for name, text in texts.items()), wire.sync())
        for name in texts:  # they are described
            session.ask(wire.describe("S", name), wire.sync())
        return session

    def group(self, session, *executions):
        messages = []
        for name, *values in executions:
            messages += [wire.bind("", name, values), wire.execute()]
        session.send(*messages, wire.sync())

    def sums(self):
        return {table.name: {int(key): int(n) for key, n in self.stored(table, "id, n")}
                for table in self.tables}


@harness.proxied
class Together(GroupsCase):
    """Groups of many clients."""
    tables = pair()

    def test_keys_in_opposite_orders(self):
        """Nobody waits for one who waits for him, and no row is counted twice or lost."""
        clients, rounds, keys = 12, 40, 5
        before = self.counts()
        deadlocks = self.postgres.mark()

        def client(number):
            chance, session, sent = random.Random(number), self.prepared(ADD), []
            for _ in range(rounds):
                group = [(chance.choice(list(ADD)), chance.randrange(keys)) for _ in range(4)]
                self.group(session, *group)
                replies = session.read_ready()
                self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"] * 4, replies)
                sent += group
            return sent

        sent = sum(harness.in_threads(clients, client), [])
        expected = {table: {} for table in ADD}
        for table, key in sent:
            expected[table][key] = expected[table].get(key, 0) + 1
        self.assertEqual(self.sums(), expected)
        self.expect_counted(before, 4 * clients * rounds)
        self.assertNotIn("deadlock", self.postgres.log(deadlocks))

    def test_a_bad_row_hurts_no_other_group(self):
        clients, rounds = 8, 30

        def client(number):
            session = self.prepared(PLAIN)
            for turn in range(rounds):
                key = 1000 * number + turn
                bad = number % 4 == 0 and turn % 3 == 0
                self.group(session, ("tallies", key, 1), ("counters", key, -1 if bad else 1),
                           ("tallies", -1 - key, 1))
                replies = session.read_ready()
                self.assertEqual(wire.error_of(replies), "23514" if bad else None)
                self.assertEqual(wire.kinds(replies), "2C2EZ" if bad else "2C2C2CZ")

        harness.in_threads(clients, client)
        good = [1000 * number + turn for number in range(clients) for turn in range(rounds)
                if number % 4 or turn % 3]
        self.assertEqual(self.sums(), {"counters": dict.fromkeys(good, 1),
                                       "tallies": dict.fromkeys(good + [-1 - key for key in good], 1)})

    def test_a_group_that_waits_for_a_lock(self):
        """It goes to its own link, whole, and holds up nobody."""
        sessions = [self.prepared(PLAIN) for _ in range(5)]
        with self.postgres.admin(self.database) as holder:
            holder.rows("begin; insert into tallies (idhash, id, n) values "
                        f"({harness.xxh3_signed(0)}, 0, 1)")
            self.group(sessions[0], ("counters", 0, 1), ("tallies", 0, 1), ("counters", -1, 1))
            for number, session in enumerate(sessions[1:], 1):
                self.group(session, ("counters", number, 1), ("tallies", number, 1))
                self.assertEqual(wire.kinds(session.read_ready()), "2C2CZ")
            self.assertEqual(self.sums(), {name: {1: 1, 2: 1, 3: 1, 4: 1} for name in PLAIN})
            holder.rows("commit")
        replies = sessions[0].read_ready()
        self.assertEqual((wire.kinds(replies), wire.error_of(replies)), ("2C2EZ", "23505"))
        self.assertNotIn(0, self.sums()["counters"])
        self.group(sessions[0], ("counters", 0, 1), ("tallies", 5, 1))
        self.assertEqual(wire.kinds(sessions[0].read_ready()), "2C2CZ")

    def test_a_write_behind_a_group_and_a_read(self):
        session, other = self.prepared(ADD), self.prepared(ADD)
        for turn in range(1, 20):
            self.group(session, ("counters", 1), ("tallies", 1))
            self.group(session, ("tallies", 1), ("counters", 1))
            session.send(wire.query("select c.n, t.n from counters c, tallies t "
                                    "where c.id = 1 and t.id = 1"))
            replies = session.read_ready(3)
            self.assertEqual([m.row() for m in replies if m.kind == "D"],
                             [[str(2 * turn).encode()] * 2])
            self.group(other, ("counters", 2), ("tallies", 2))
        other.read_ready(19)


@harness.proxied
class Patient(GroupsCase):
    """However long a lock is waited for."""
    tables = pair(lock_wait_ms=600_000)

    def test_groups_share_batches(self):
        """While a batch is under way the groups that come wait for the next one."""
        sessions = [self.prepared(PLAIN) for _ in range(9)]
        with self.postgres.admin(self.database) as holder, self.postgres.admin(self.database) as admin:
            holder.rows("begin; insert into tallies (idhash, id) values "
                        f"({harness.xxh3_signed(0)}, 0)")
            before = metrics.Scrape(self.keyspread)
            self.group(sessions[0], ("counters", 0, 1), ("tallies", 0, 1))
            harness.eventually("it waits", lambda: admin.rows(  # in a transaction it would see one moment
                "select from pg_stat_activity where wait_event_type = 'Lock'"))
            for number, session in enumerate(sessions[1:], 1):
                self.group(session, ("counters", number, 1), ("tallies", number, 1))
            holder.rows("rollback")
        for session in sessions:
            self.assertEqual(wire.kinds(session.read_ready()), "2C2CZ")
        since = metrics.Scrape(self.keyspread).since(before)
        self.assertEqual(since.get("batched_rows_total"), 18)


@harness.proxied
class Lost(harness.StackCase):
    """The link breaks while a group is on it."""
    tables = pair()

    @classmethod
    def start_keyspread(cls):
        cls.middleman = middleman.Middleman(cls.postgres.port)
        cls.addClassCleanup(cls.middleman.close)
        cls.keyspread = harness.Keyspread(
            harness.backend_config(cls.postgres, cls.tables, port=cls.middleman.port))
        cls.addClassCleanup(cls.keyspread.stop)

    def test_all_of_it_or_nothing(self):
        for point in middleman.POINTS:
            texts = [f"insert into {table} /* {point} */ (id, n) values ($1, $2)" for table in PLAIN]
            group = sum((run(text, key, 1) for key in (1, 2) for text in texts), [])
            with self.subTest(point):
                self.setUp()
                session = self.wire()
                self.assertIsNone(wire.error_of(session.ask(*group, wire.sync())))
                self.setUp()
                fired = self.middleman.arm(point, lambda text: b"into tallies" in text, lambda _: None)
                replies = session.ask(*group, wire.sync())
                self.assertTrue(fired.wait(harness.PATIENCE), replies)
                with self.postgres.admin(self.database) as admin:  # at one moment: it may be under way still
                    stored = admin.rows("select (select count(*) from counters), (select count(*) from tallies)")[0]
                self.assertIn(stored, (["0", "0"], ["2", "2"]))
                if wire.error_of(replies):
                    self.assertEqual((wire.error_of(replies), wire.tags_of(replies)), ("08007", []))
                else:
                    self.assertEqual(stored, ["2", "2"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
