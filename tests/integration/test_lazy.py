"""transactions: lazy: what consists of INSERTs alone waits here for its COMMIT, and goes in one batch with others'."""
import contextlib
import signal
import socket
import threading
import time
import unittest

import harness
import metrics
import wire
from harness import Table

EVENTS = Table("events", ["userid bigint not null", "ts timestamptz not null", "event text"],
               ["userid", "ts"], hash_column="userhash", transactions="lazy", atomicity="partition")
OTHERS = Table("others", ["id bigint not null", "note varchar(5)", "child bigint",
                          "constraint small check (id < 1000)"], ["id"], transactions="lazy")
EAGER = Table("eager", ["id bigint not null", "note text"], ["id"], transactions="eager")
NUMBERED = Table("numbered", ["id serial", "name varchar(9) not null", "part uuid not null", "note text"], ["id", "name", "part"],
                 hash_key=["id"], transactions="lazy", sequences={"block": 32})
UNSAID = Table("unsaid", ["id bigint not null", "note text"], ["id"])

INSERT = "insert into events (userid, ts, event) values ({}, '2026-01-01 00:00:00+00', 'x')"
BOUND = "insert into events (userid, ts, event) values ($1, $2, 'x')"
OTHER = "insert into others (id, note) values ({}, '{}')"
MOMENT = "2026-01-01 00:00:00+00"
GROUP = (wire.bind("", ""), wire.describe("P", ""), wire.execute(), wire.sync())


def insert_group(*numbers):
    return [part for number in numbers for part in
            (wire.parse("", BOUND), wire.bind("", "", [number, MOMENT]), wire.execute())] + [wire.sync()]


@harness.proxied
class LazyCase(harness.StackCase):
    tables = (EVENTS, OTHERS, EAGER, UNSAID, NUMBERED)
    options = {"admin": {}}

    def session(self, **params):
        """One that knows its tables: what its own link has is known, and both INSERTs are described."""
        session = self.wire(**params)
        session.query("begin")
        session.query(INSERT.format(999))
        session.ask(*insert_group(998))
        session.query("select 1")
        session.query("rollback")
        session.ask(*insert_group(998))
        session.query(INSERT.format(999))
        with self.postgres.admin(self.database) as admin:
            admin.rows("truncate events")
        self.before = metrics.Scrape(self.keyspread)
        return session

    def kinds(self):
        counted = metrics.Scrape(self.keyspread).since(self.before).by("transactions_total", "kind")
        return {kind: count for kind, count in counted.items() if count and kind in ("lazy", "made_ordinary")}

    def rows(self, table=EVENTS):
        return [int(row[0]) for row in self.stored(table, columns=table.key[0])]

    def admin(self, sql):
        with self.postgres.admin(self.database) as admin:
            return admin.rows(sql)


class Kept(LazyCase):
    def begin(self, text="begin"):
        session = self.session()
        self.assertEqual(wire.tags_of(session.query(text)), ["BEGIN"])
        return session

    def check_committed(self, replies):
        self.assertEqual((wire.tags_of(replies), replies[-1].body), (["COMMIT"], b"I"), replies)

    def test_queries(self):
        session = self.begin()
        for number in (1, 2):
            replies = session.query(INSERT.format(number))
            self.assertEqual((wire.tags_of(replies), replies[-1].body), (["INSERT 0 1"], b"T"))
        replies = session.query(OTHER.format(3, "a") + ";" + OTHER.format(4, "b") + ", (5, 'c')")
        self.assertEqual((wire.tags_of(replies), replies[-1].body), (["INSERT 0 1", "INSERT 0 2"], b"T"))
        self.assertEqual((self.rows(), self.rows(OTHERS)), ([], []))
        self.check_committed(session.query("commit"))
        self.assertEqual((self.rows(), self.rows(OTHERS)), ([1, 2], [3, 4, 5]))
        self.assertEqual(self.kinds(), {"lazy": 1})
        self.check_stored()

    def test_groups(self):
        session = self.session()
        self.assertEqual(wire.kinds(session.ask(wire.parse("", "BEGIN"), *GROUP)), "12nCZ")
        replies = session.ask(*insert_group(1, 2))
        self.assertEqual((wire.kinds(replies), replies[-1].body), ("12C12CZ", b"T"))
        session.ask(*insert_group(3))
        self.assertEqual(self.rows(), [])
        replies = session.ask(wire.parse("", "COMMIT"), *GROUP)
        self.assertEqual((wire.kinds(replies), replies[-1].body), ("12nCZ", b"I"))
        self.assertEqual(wire.tags_of(replies), ["COMMIT"])
        self.assertEqual(self.rows(), [1, 2, 3])
        self.assertEqual(self.kinds(), {"lazy": 1})
        self.check_stored()

    def test_each_of_many_is_kept(self):
        """However soon it begins behind the one before, whose statements without a name no server has got."""
        session = self.session()
        for number in range(1, 41):
            session.ask(wire.parse("", "begin"), *GROUP)
            session.ask(*insert_group(number))
            session.ask(wire.parse("", "commit"), *GROUP)
        self.assertEqual((self.rows(), self.kinds()), (list(range(1, 41)), {"lazy": 40}))

    def test_a_prepared_statement(self):
        session = self.session()
        session.ask(wire.parse("ours", BOUND), wire.sync())
        for first in (1, 3):
            session.query("begin")
            for number in (first, first + 1):
                replies = session.ask(wire.bind("", "ours", [number, MOMENT]), wire.execute(), wire.sync())
                self.assertEqual(wire.kinds(replies), "2CZ")
            self.check_committed(session.query("commit"))
        self.assertEqual(self.rows(), [1, 2, 3, 4])
        self.assertEqual(self.kinds(), {"lazy": 2})

    def test_it_is_one_transaction_over_partitions(self):
        """atomicity: partition is of no account."""
        session = self.begin()
        session.query("insert into events (userid, ts, event) values "
                      + ", ".join(f"({number}, '{MOMENT}', 'x')" for number in range(50)))
        self.check_committed(session.query("commit"))
        xids = self.admin("select count(distinct xmin::text) from events")
        self.assertEqual(xids, [["1"]])
        session.query("begin")
        session.query("insert into events (userid, ts, event) values "
                      + ", ".join(f"({number}, '{MOMENT}', 'x')" for number in range(40, 90)))
        self.assertEqual(wire.error_of(session.query("commit")), "23505")
        self.assertEqual(self.rows(), list(range(50)))

    def test_an_upsert(self):
        session = self.begin()
        session.query(OTHER.format(1, "a"))
        session.query("commit")
        upsert = "insert into others (id, note) values ({}, '{}') on conflict (id) do update set note = excluded.note"
        session.query("begin")
        for number in (1, 1, 2):
            replies = session.query(upsert.format(number, "b"))
            self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"])
        session.query(upsert.format(1, "c"))
        self.check_committed(session.query("commit"))
        self.assertEqual(self.stored(OTHERS, "id, note"), [["1", "c"], ["2", "b"]])

    def test_texts_like_one_of_before(self):
        """They are not parsed before there is a reason; whatever that is, nothing differs."""
        session = self.session()
        ok, number = ["INSERT 0 1"], iter(range(1, 1000))
        for _ in range(4):
            for text in ("begin", OTHER.format(next(number), "a"), "commit"):
                self.assertIsNone(wire.error_of(session.query(text)))
        one, two, three, four, five, six, seven = (OTHER.format(next(number), "it's").replace("it's", "it''s") for _ in range(7))
        for texts, tags in (((one, two + ";", "-- so it is\n" + three + " -- and so", "commit"), ok * 3 + ["COMMIT"]),
                            ((four, "savepoint s", five, "rollback to s", "commit"), ok + ["SAVEPOINT"] + ok + ["ROLLBACK", "COMMIT"]),
                            ((six, "select 1", "commit"), ok + ["SELECT 1", "COMMIT"]), ((seven, "rollback"), ok + ["ROLLBACK"])):
            session.query("begin")
            self.assertEqual([tag for text in texts for tag in wire.tags_of(session.query(text))], tags)
        self.assertEqual(self.rows(OTHERS), [1, 2, 3, 4, 5, 6, 7, 8, 10])
        self.assertEqual(self.kinds(), {"lazy": 5, "made_ordinary": 2})
        for texts, errors in (((OTHER.format(11, "a"), OTHER.format(1, "a"), "commit"), [None, None, "23505"]),
                              ((OTHER.format(1, "a"), "commit"), [None, "23505"]), ((OTHER.format(1, "a"), "select 1"), [None, "23505"]),
                              ((OTHER.format("'x'", "a"), "commit"), ["22P02", None]), ((OTHER.format(11, "too long"), "commit"), [None, "22001"])):
            session.query("begin")
            replies = [session.query(text) for text in texts]
            self.assertEqual([wire.error_of(one) for one in replies], errors, texts)
            for error in (message.fields() for message in replies[-1] if message.kind == "E"):
                self.assertIn(f"kept statement {len(texts) - 1} of the transaction", error["W"])
                self.assertIn(error.get("D"), (None, "Key (id)=(1) already exists."))
            session.query("rollback")
        session.query("begin")
        session.query(OTHER.format(11, "a"))
        self.admin("alter table others rename note to other")
        self.addCleanup(self.admin, "alter table others rename other to note")
        self.assertEqual(wire.error_of(session.query("commit")), "40001")
        self.check_stored(OTHERS, 9)

    def test_rollback(self):
        session = self.begin()
        session.query(INSERT.format(1))
        replies = session.query("rollback")
        self.assertEqual((wire.tags_of(replies), replies[-1].body), (["ROLLBACK"], b"I"))
        session.query("begin")
        session.ask(*insert_group(2))
        replies = session.ask(wire.parse("", "rollback"), *GROUP)
        self.assertEqual((wire.kinds(replies), wire.tags_of(replies), replies[-1].body),
                         ("12nCZ", ["ROLLBACK"], b"I"))
        self.assertEqual(wire.tags_of(session.query(INSERT.format(3))), ["INSERT 0 1"])
        self.assertEqual(self.rows(), [3])
        self.assertEqual(self.kinds(), {})

    def test_the_client_leaves(self):
        for leave in (lambda session: session.send(wire.terminate()), lambda session: session.drop()):
            session = self.begin()
            session.query(INSERT.format(1))
            leave(session)
            self.wire().query("select 1")
            self.assertEqual(self.rows(), [])

    def test_a_commit_before_terminate_is_carried_out(self):
        session = self.begin()
        session.query(INSERT.format(1))
        session.send(wire.query("commit"), wire.terminate())
        replies = session.read_to_end()
        self.assertEqual(wire.tags_of(replies), ["COMMIT"])
        self.assertEqual(self.rows(), [1])

    def test_all_at_once(self):
        session = self.session()
        replies = session.ask(wire.query("begin"), wire.query(INSERT.format(1)), wire.query(INSERT.format(2)),
                              wire.query("commit"), wire.query("begin"), wire.query(INSERT.format(1)),
                              wire.query("commit"), wire.query(INSERT.format(3)), ready=8)
        self.assertEqual(wire.tags_of(replies), ["BEGIN", "INSERT 0 1", "INSERT 0 1", "COMMIT", "BEGIN",
                                                 "INSERT 0 1", "INSERT 0 1"])
        self.assertEqual(wire.error_of(replies), "23505")
        self.assertEqual(self.rows(), [1, 2, 3])

    def test_as_pgjdbc_does(self):
        """BEGIN stands before the first statement in its group; it and COMMIT are prepared by names."""
        session = self.session()
        first = True
        for number in (1, 2, 3):
            begin = (wire.parse("S_1", "BEGIN"),) if first else ()
            commit = (wire.parse("S_2", "COMMIT"),) if first else ()
            replies = session.ask(*begin, wire.bind("", "S_1"), wire.execute(), *insert_group(10 * number))
            self.assertEqual((wire.kinds(replies), wire.tags_of(replies), replies[-1].body),
                             ("1" * first + "2C12CZ", ["BEGIN", "INSERT 0 1"], b"T"))
            session.ask(*insert_group(10 * number + 1))
            replies = session.ask(*commit, wire.bind("", "S_2"), wire.execute(), wire.sync())
            self.assertEqual((wire.kinds(replies), replies[-1].body), ("1" * first + "2CZ", b"I"))
            self.assertEqual(wire.tags_of(replies), ["COMMIT"])
            first = False
        self.assertEqual(self.rows(), [10, 11, 20, 21, 30, 31])
        self.assertEqual(self.kinds(), {"lazy": 3})
        # What was named here is there for the server, too.
        replies = session.ask(wire.bind("", "S_1"), wire.execute(), wire.parse("", "select 1"), *GROUP)
        self.assertEqual(wire.tags_of(replies), ["BEGIN", "SELECT 1"])
        replies = session.ask(wire.bind("", "S_2"), wire.execute(), wire.sync())
        self.assertEqual((wire.tags_of(replies), replies[-1].body), (["COMMIT"], b"I"))
        self.assertEqual(wire.error_of(session.ask(wire.parse("S_1", "BEGIN"), wire.sync())), "42P05")
        self.assertEqual(wire.error_of(session.ask(wire.parse("S_2", "COMMIT"), wire.bind("", "S_2"), wire.execute(),
                                                   wire.sync())), "42P05")
        session.ask(wire.close("S", "S_1"), wire.sync())
        self.assertEqual(wire.error_of(session.ask(wire.bind("", "S_1"), wire.execute(), wire.sync())), "26000")

    def test_a_commit_that_comes_in_pieces(self):
        session = self.session()
        parts = (wire.parse("", "commit"), *GROUP)
        for number in range(len(parts)):
            session.query("begin")
            session.ask(*insert_group(number))
            session.send(*parts[:number])
            session.send(b"".join(parts)[sum(map(len, parts[:number])):][:3])
            self.assertEqual(self.rows(), list(range(number)))  # Time goes by.
            session.send(b"".join(parts)[sum(map(len, parts[:number])):][3:])
            replies = session.read_ready()
            self.assertEqual((wire.kinds(replies), wire.tags_of(replies)), ("12nCZ", ["COMMIT"]))
        self.assertEqual(self.kinds(), {"lazy": len(parts)})
        # What is no COMMIT after all does not wait.
        session.query("begin")
        session.ask(*insert_group(10))
        session.send(wire.parse("", "commit"), wire.flush())
        self.assertEqual(wire.kinds(session.read_until("1")), "1")
        session.send(*GROUP)
        self.assertEqual(wire.tags_of(session.read_ready()), ["COMMIT"])
        session.query("begin")
        session.ask(*insert_group(1))
        session.send(parts[0])
        self.assertEqual(len(self.rows()), 6)
        session.send(*parts[1:])
        replies = session.read_ready()
        self.assertEqual((wire.error_of(replies), replies[-1].body), ("23505", b"I"))

    def test_a_named_commit_that_fails(self):
        session = self.session()
        session.query(INSERT.format(1))
        for number, parse in ((1, (wire.parse("c", "COMMIT"),)), (2, ())):
            session.query("begin")
            session.ask(*insert_group(5, 1))
            replies = session.ask(*parse, wire.bind("", "c"), wire.execute(), wire.sync())
            self.assertEqual((wire.kinds(replies), replies[-1].body), ("1" * len(parse) + "2EZ", b"I"), number)
        self.assertEqual(self.rows(), [1])
        session.query("begin")
        session.ask(*insert_group(6))
        replies = session.ask(wire.parse("r", "rollback"), wire.bind("", "r"), wire.execute(), wire.sync())
        self.assertEqual((wire.kinds(replies), wire.tags_of(replies), replies[-1].body), ("12CZ", ["ROLLBACK"], b"I"))
        session.query("begin")
        session.query(INSERT.format(7))
        replies = session.ask(wire.bind("", "c"), wire.execute(), wire.sync())
        self.assertEqual((wire.kinds(replies), wire.tags_of(replies)), ("2CZ", ["COMMIT"]))
        self.assertEqual(self.rows(), [1, 7])

    def test_a_pipelined_begin_whose_statement_fails(self):
        session = self.session()
        replies = session.ask(wire.parse("", "begin"), wire.bind("", ""), wire.execute(),
                              wire.parse("", "insert into events (userid, ts) values ('x', now())"), *GROUP)
        self.assertEqual((wire.tags_of(replies), wire.error_of(replies), replies[-1].body), (["BEGIN"], "22P02", b"E"))
        self.assertEqual(wire.error_of(session.query("select 1")), "25P02")
        self.assertEqual(wire.tags_of(session.query("commit")), ["ROLLBACK"])

    def test_clients_share_batches(self):
        sessions = [self.session() for _ in range(16)]
        before = self.admin("select xact_commit from pg_stat_database where datname = 'app'")

        def work(number):
            for turn in range(20):
                session = sessions[number]
                session.query("begin")
                session.query(INSERT.format(1000 * number + turn))
                self.check_committed(session.query("commit"))
        del before
        harness.in_threads(16, work)
        counted = metrics.Scrape(self.keyspread).since(self.before)
        self.assertEqual(counted.by("transactions_total", "kind")["lazy"], 320)
        self.assertEqual(len(self.rows()), 320)
        self.assertLess(counted.get("batch_rows_count"), 320)
        self.check_stored()


class Errors(LazyCase):
    """What the server finds comes with COMMIT, or with what made the transaction ordinary."""

    def check(self, replies, sqlstate, number, detail=None):
        error = next(message for message in replies if message.kind == "E").fields()
        self.assertEqual((error["C"], error["S"]), (sqlstate, "ERROR"))
        self.assertIn(f"kept statement {number} of the transaction", error["W"])
        self.assertNotIn("P", error)
        self.assertNotIn("hash", str(error))
        if detail:
            self.assertEqual(error["D"], detail)
        return error

    def kept(self, *texts):
        session = self.session()
        session.query(INSERT.format(1))
        session.query("begin")
        for text in texts:
            self.assertEqual(wire.tags_of(session.query(text)), ["INSERT 0 1"])
        return session

    def test_at_commit(self):
        session = self.kept(INSERT.format(2), INSERT.format(1), INSERT.format(3))
        replies = session.query("commit")
        error = self.check(replies, "23505", 2, f"Key (userid, ts)=(1, {MOMENT}) already exists.")
        self.assertEqual((error["t"], error["n"]), ("events", "events_pkey"))
        self.assertEqual(replies[-1].body, b"I")
        self.assertEqual(self.rows(), [1])
        self.assertEqual(wire.tags_of(session.query(INSERT.format(2))), ["INSERT 0 1"])

    def test_values_of_the_server(self):
        session = self.kept(OTHER.format(1, "short"), OTHER.format(2, "too long"))
        self.check(session.query("commit"), "22001", 2)
        session.query("begin")
        session.query(OTHER.format(3, "a"))
        session.query(OTHER.format(1001, "a"))
        error = self.check(session.query("commit"), "23514", 2)
        self.assertEqual(error["n"], "small")
        self.assertEqual(self.rows(OTHERS), [])

    def test_of_groups(self):
        session = self.kept()
        session.ask(*insert_group(2, 3))
        session.ask(*insert_group(1))
        self.check(session.query("commit"), "23505", 3)
        session.query("begin")
        session.ask(*insert_group(1))
        replies = session.ask(wire.parse("", "commit"), *GROUP)
        self.assertEqual((wire.kinds(replies), replies[-1].body), ("12nEZ", b"I"))
        self.check(replies, "23505", 1)
        self.assertEqual(self.rows(), [1])

    def test_made_ordinary_by_a_query(self):
        session = self.kept(INSERT.format(2), INSERT.format(1))
        replies = session.query("select count(*) from events")
        self.assertEqual((wire.kinds(replies), replies[-1].body), ("EZ", b"E"))
        self.check(replies, "23505", 2, f"Key (userid, ts)=(1, {MOMENT}) already exists.")
        self.assertEqual(wire.error_of(session.query("select 1")), "25P02")
        replies = session.query("commit")
        self.assertEqual((wire.tags_of(replies), replies[-1].body), (["ROLLBACK"], b"I"))
        self.assertEqual(self.rows(), [1])

    def test_made_ordinary_by_a_group(self):
        session = self.kept(INSERT.format(1))
        replies = session.ask(wire.parse("", "select 1"), *GROUP)
        self.assertEqual((wire.kinds(replies), replies[-1].body), ("EZ", b"E"))
        self.check(replies, "23505", 1)
        session.query("rollback")
        session.query("begin")
        session.ask(*insert_group(1))
        replies = session.ask(*insert_group(2)[:-1], wire.parse("", "select 1"), *GROUP)
        self.assertEqual((wire.kinds(replies), replies[-1].body), ("EZ", b"E"))
        self.check(replies, "23505", 1)
        session.query("rollback")
        self.assertEqual(self.rows(), [1])

    def test_found_here(self):
        session = self.kept(INSERT.format(2))
        replies = session.query("insert into events (userid, ts, event) values ('nine', now(), 'x')")
        self.assertEqual((wire.kinds(replies), replies[-1].body, wire.error_of(replies)), ("EZ", b"E", "22P02"))
        self.assertEqual(wire.error_of(session.query(INSERT.format(3))), "25P02")
        self.assertEqual(wire.tags_of(session.query("commit")), ["ROLLBACK"])
        self.assertEqual(self.rows(), [1])

    def test_syntax(self):
        session = self.kept(INSERT.format(2))
        self.assertEqual(wire.error_of(session.query("insert into events values (")), "42601")
        self.assertEqual(wire.error_of(session.query("select 1")), "25P02")
        self.assertEqual(wire.tags_of(session.query("commit")), ["ROLLBACK"])
        self.assertEqual(self.rows(), [1])

    def test_a_deferred_constraint(self):
        self.admin("create table parents (id bigint primary key);"
                   "alter table others add foreign key (child) references parents deferrable initially deferred")
        self.addCleanup(self.admin, "drop table parents cascade")
        session = self.session()
        session.query("begin")
        session.query("insert into others (id, child) values (1, 5)")
        self.check(session.query("commit"), "23503", 1, 'Key (child)=(5) is not present in table "parents".')
        self.assertEqual(self.rows(OTHERS), [])

    def test_the_link_of_the_batch_is_lost(self):
        session = self.kept(INSERT.format(2))
        with self.postgres.admin(self.database) as admin:
            admin.rows("begin; lock table events in access exclusive mode")
            session.send(wire.query("commit"))
            # The batch waits, or the session's own link does after lock_wait_ms.
            harness.eventually("somebody waits for the lock", lambda: int(self.admin(
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and usename = 'app'")[0][0]))
            self.admin("select pg_terminate_backend(pid) from pg_stat_activity"
                       " where wait_event_type = 'Lock' and usename = 'app'")
            admin.rows("rollback")
        replies = session.read_until("Z", "E")
        if replies[-1].kind == "E":
            self.assertIn(replies[-1].sqlstate, ("08007", "57P01", "08006"))
            self.assertEqual(self.rows(), [1])
        else:
            self.assertEqual(self.rows(), [1, 2])

    def test_a_lock(self):
        """The rows that wait for it go to the session's own link, and their COMMIT behind them."""
        session = self.kept(OTHER.format(1, "a"))
        with self.postgres.admin(self.database) as admin:
            admin.rows("begin; insert into others (id, id_hash) select 1, "
                       f"{harness.xxh3_signed(1)}")
            session.send(wire.query("commit"))
            harness.eventually("its own link waits", lambda: self.admin(
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%insert%'"
                " and state = 'active' and backend_start < now() - interval '1 ms'") != [["0"]])
            time.sleep(1)  # longer than lock_wait_ms, in which batches wait
            admin.rows("commit")
        self.check(session.read_ready(), "23505", 1)
        self.assertEqual(self.rows(OTHERS), [1])
        session.query("begin")
        session.query(OTHER.format(2, "a"))
        with self.postgres.admin(self.database) as admin:
            admin.rows("begin; lock table others in access exclusive mode")
            session.send(wire.query("commit"))
            time.sleep(1)
            admin.rows("rollback")
        replies = session.read_ready()
        self.assertEqual((wire.tags_of(replies), replies[-1].body), (["COMMIT"], b"I"), replies)
        self.assertEqual(self.rows(OTHERS), [1, 2])

    def test_a_trigger_that_nobody_knows_of(self):
        """It leaves out the row that the client was told of: nothing is committed."""
        for link in ("batch", "own"):
            session = self.kept(OTHER.format(1, "a"), OTHER.format(2, "b"))
            partition = self.admin("select tableoid::regclass from others")  # none yet
            self.assertEqual(partition, [])
            self.admin("create function nothing() returns trigger language plpgsql as $$ begin return null; end $$;"
                       "create trigger nothing before insert on others for each row execute function nothing()")
            self.addCleanup(self.admin, "drop function if exists nothing() cascade")
            if link == "batch":
                replies = session.query("commit")
                self.assertEqual((wire.error_of(replies), replies[-1].body), ("40001", b"I"))
            else:
                self.assertEqual(wire.error_of(session.ask(wire.query("select 1"), ready=0)
                                               or session.read_to_end()), "40001")
            self.assertEqual(self.rows(OTHERS), [])
            self.admin("drop function nothing() cascade; truncate events")

    def test_a_trigger_on_update(self):
        """No INSERT fires it."""
        self.admin("create function touched() returns trigger language plpgsql as $$ begin return new; end $$;"
                   "create trigger touched before update on others for each row execute function touched()")
        self.addCleanup(self.admin, "drop function if exists touched() cascade")
        session = self.kept(OTHER.format(1, "a"), OTHER.format(2, "b"))
        self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
        self.assertEqual(self.rows(OTHERS), [1, 2])

    def test_messages_of_copy_outside_of_it(self):
        """They are ignored, and what is kept stays kept."""
        for message in (wire.copy_done(), wire.copy_data(b"x"), wire.copy_fail("no")):
            with self.subTest(message[:1]):
                session = self.kept(OTHER.format(1, "a"))
                session.send(message)
                session.query("select 1")
                self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
                self.assertEqual(self.rows(OTHERS), [1])
                self.admin("truncate others")

    def test_a_trigger_of_a_partition(self):
        session = self.kept(INSERT.format(2))
        self.admin("create function nothing() returns trigger language plpgsql as $$ begin return null; end $$")
        self.addCleanup(self.admin, "drop function if exists nothing() cascade")
        for number in range(16):
            self.admin(f"create trigger nothing before insert on events_p{number} for each row"
                       " execute function nothing()")
        self.assertEqual(wire.error_of(session.query("commit")), "40001")
        self.assertEqual(self.rows(), [1])


class Ordinary(LazyCase):
    """What is not kept, or no more."""

    def check(self, *more, begin="begin", kept=True, end="commit", tag="COMMIT"):
        session = self.session()
        session.query(begin)
        session.query(INSERT.format(1))
        for text in more:
            replies = session.query(text)
            self.assertIsNone(wire.error_of(replies) or None, replies)
        self.assertEqual(wire.tags_of(session.query(end)), [tag])
        expected = {"made_ordinary": 1} if kept else {}
        self.assertEqual(self.kinds(), expected)

    def test_by_other_statements(self):
        for text in ("select count(*) from events", "update events set event = 'y' where userid = 1",
                     "delete from events where userid = 1", "show timezone", "listen x",
                     "set local timezone = 'UTC'", "lock table others in row share mode",
                     "insert into events (userid, ts, event) values (2, now(), 'x') returning event",
                     "insert into events (userid, ts) values (1, '2026-01-01 00:00:00+00') on conflict do nothing",
                     "insert into eager (id) values (1)", "insert into unsaid (id) values (1)", ""):
            with self.subTest(text=text):
                self.admin("truncate events, others, eager, unsaid")
                self.check(text)

    def test_by_its_begin(self):
        for begin in ("begin isolation level serializable", "begin isolation level repeatable read",
                      "start transaction isolation level repeatable read, read write"):
            with self.subTest(begin=begin):
                self.admin("truncate events")
                self.check(begin=begin, kept=False)
        self.admin("truncate events")
        session = self.session()
        session.query("begin read only")
        self.assertEqual(wire.error_of(session.query(INSERT.format(1))), "25006")

    def test_reads_see_what_was_kept(self):
        session = self.session()
        session.query("begin")
        session.query(INSERT.format(1))
        session.ask(*insert_group(2))  # Not together with a text.
        self.assertEqual(session.rows("select userid from events order by 1"), [["1"], ["2"]])
        session.query(INSERT.format(3))
        self.assertEqual(self.rows(), [])
        session.query("commit")
        self.assertEqual(self.rows(), [1, 2, 3])

    def test_it_is_explained(self):
        session = self.session()
        for text, said in ((INSERT.format(1), "kept until COMMIT"),
                           ("insert into others (id) values (1) returning id", "kept until COMMIT"),
                           ("insert into others (id) values (1) returning note",
                            "made ordinary, because it returns more than columns of its key"),
                           ("insert into others (id) values (1) on conflict do nothing",
                            "made ordinary, because rows of it may be left out"),
                           ("insert into events (userid, ts) values (1, clock_timestamp())",
                            "made ordinary, because it asks for the time of the statement"),
                           ("insert into others (id) select 1",
                            "made ordinary, because it is not batchable"),
                           ("insert into numbered (name, part) values ('a', gen_random_uuid()) returning id",
                            "kept until COMMIT, if a number is drawn ahead"),
                           ("insert into eager (id) values (1)", None)):
            lines = [row[0] for row in session.rows("explain (proxy) " + text)]
            told = [line[len("transaction: "):] for line in lines if line.startswith("transaction: ")]
            self.assertEqual(told, [said] if said else [], (text, lines))

    def test_a_commit_that_went_to_the_link_has_ended_its_clock(self):
        """What it has waited is not taken from the timeouts of the next statement."""
        session = self.session(options="-c statement_timeout=60s")
        session.query("begin")
        session.query(OTHER.format(1, "a"))
        with self.postgres.admin(self.database) as admin:
            admin.rows("begin; lock table others in access exclusive mode")
            session.send(wire.query("commit"))
            harness.eventually("its own link waits", lambda: metrics.Scrape(self.keyspread).since(self.before).get(
                "transactions_total", kind="made_ordinary", reason="commit"))
            admin.rows("commit")
        self.assertEqual(wire.tags_of(session.read_ready()), ["COMMIT"])
        mark = self.postgres.mark()
        self.assertEqual(wire.tags_of(session.query("update others set note = 'b' where id = 1")), ["UPDATE 1"])
        self.assertEqual(wire.tags_of(session.query("insert into others (id) select 2")), ["INSERT 0 1"])
        asked = self.postgres.statements(mark, self.database, "set_config(s.name")
        self.assertEqual([one.text for one in asked], [])

    def test_too_much(self):
        session = self.session()
        session.query("begin")
        for number in range(50):
            session.query("insert into events (userid, ts, event) values "
                          f"({number}, '{MOMENT}', '{'x' * 100000}')")
        session.query("commit")
        self.assertEqual(len(self.rows()), 50)
        self.assertEqual(self.kinds(), {"made_ordinary": 1})

    def test_what_its_session_says(self):
        session = self.session()
        session.query("set keyspread.transactions = lazy")
        self.assertEqual(session.rows("show keyspread.transactions"), [["lazy"]])
        for table, kinds in (("unsaid", {"lazy": 1}), ("eager", {}), ("others", {"lazy": 1})):
            session.query("begin")
            session.query(f"insert into {table} (id) values (1)")  # It asks what the session says.
            session.query("commit")
            session.query("begin")
            self.before = metrics.Scrape(self.keyspread)
            session.query(f"insert into {table} (id) values (2)")
            session.query("commit")
            self.assertEqual(self.kinds(), kinds, table)
        session.query("set keyspread.transactions to 'eager'")
        session.query(OTHER.format(3, "a"))
        self.before = metrics.Scrape(self.keyspread)
        session.query("begin")
        session.query(OTHER.format(4, "a"))
        session.query("commit")
        self.assertEqual(self.kinds(), {})
        for text in ("set keyspread.transactions = foo", "set local keyspread.transactions to 'lazier'",
                     'SET "keyspread".transactions TO 1'):
            for replies in (session.query(text), session.ask(wire.parse("", text), *GROUP)):
                error = next(message for message in replies if message.kind == "E").fields()
                self.assertEqual((error["C"], error["H"]), ("22023", "Available values: eager, lazy."))
                value = text.split(" ")[-1].strip("'")
                self.assertEqual(error["M"], f'invalid value for parameter "keyspread.transactions": "{value}"')
        self.assertEqual(session.rows("show keyspread.transactions"), [["eager"]])
        for text in ("set keyspread.transactions = 'LAZY'", "set keyspread.transactions to default", "set keyspread.other = foo"):
            self.assertEqual(wire.tags_of(session.query(text)), ["SET"])
        session.query("reset keyspread.transactions")
        session.query(OTHER.format(5, "a"))
        self.before = metrics.Scrape(self.keyspread)
        session.query("begin")
        session.query(OTHER.format(6, "a"))
        session.query("commit")
        self.assertEqual(self.kinds(), {"lazy": 1})


class Returning(LazyCase):
    """What is returned of a kept INSERT is what the server would return."""
    TEXT = "insert into numbered (name, part, note) values ('a', '{}', 'x') returning {}"
    PART = "6f1b5a7e-0000-4000-8000-0123456789ab"

    def ready(self, *texts):
        """A session that knows its tables and what it prepares, of which no row was ever slow; and another one."""
        session, self.other = self.wire(), self.wire()
        for text in ("begin", OTHER.format(1, "a"), self.TEXT.format(self.PART, "note"), "rollback"):
            session.query(text)
        for text in texts:
            session.ask(wire.parse("", text), wire.describe("S", ""), wire.sync())
        self.admin("truncate numbered, others")
        self.before = metrics.Scrape(self.keyspread)
        return session

    def same(self, session, ask):
        """Asks outside of a transaction, and in one that is kept: the replies, but for the status."""
        direct = ask(self.other)
        self.admin("truncate numbered, others")
        session.query("begin")
        kept = ask(session)
        self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
        self.assertEqual(wire.kinds(kept), wire.kinds(direct))
        for one, other in zip(direct, kept):
            if one.kind != "Z":
                self.assertEqual((one.kind, one.body), (other.kind, other.body))
        self.assertEqual(self.kinds(), {"lazy": 1})
        self.admin("truncate numbered, others")
        return kept

    def test_values_that_were_given(self):
        session = self.ready()
        texts = ("insert into others (id, note) values (7, 'a'), ('0008', 'b') returning id",
                 'insert into others as o (id, note) values (-1, null) returning o.id as "Their Key", id other')
        for text in texts:
            self.before = metrics.Scrape(self.keyspread)
            self.same(session, lambda session, text=text: session.query(text))
        self.before = metrics.Scrape(self.keyspread)
        text = ("insert into numbered (id, name, part) values ('05', 'b ', '{6F1B5A7E00004000-80000123456789AB}')"
                " returning part, name, id")
        replies = self.same(session, lambda session: session.query(text))
        self.assertEqual(next(reply for reply in replies if reply.kind == "D").row(), [self.PART.encode(), b"b ", b"5"])

    def test_numbers_that_were_drawn(self):
        """Of a session that does nothing else: its first transactions draw numbers themselves, and those behind them find some."""
        session, seen = self.ready(), []
        by_query, bound = self.TEXT.format(self.PART, "id, name"), self.TEXT.format("$1", "id, name").replace("'$1'", "$1")

        def is_kept():
            for ask in (lambda: session.query(by_query), lambda: session.ask(
                    wire.parse("", bound), wire.bind("", "", [self.PART]), wire.describe("P", ""), wire.execute(), wire.sync())):
                session.query("begin")
                replies = ask()
                self.assertEqual(wire.kinds(replies).lstrip("12"), "TDCZ")
                seen.append(next(reply for reply in replies if reply.kind == "D").row()[0].decode())
                self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
            return self.kinds().get("lazy", 0) >= 4
        harness.eventually("numbers are drawn ahead", is_kept)
        self.assertEqual(sorted(seen), sorted(row[0] for row in self.stored(NUMBERED, columns="id::text")))

    def test_numbers_that_are_older_than_its_own(self):
        """What was drawn ahead before a session drew a number itself is not for it. Newer ones are, though the older are still there."""
        text = self.TEXT.format(self.PART, "id")
        for _ in range(2):
            session = self.ready()

            def is_kept(session=session):
                for query in ("begin", text, "commit"):
                    self.assertIsNone(wire.error_of(session.query(query)))
                return self.kinds().get("lazy", 0) >= 4
            harness.eventually("numbers are drawn ahead", is_kept, 20)

    def test_binds(self):
        texts = ("insert into others (id, note) values ($1, $2) returning id",
                 "insert into numbered (id, name, part) values ($1, $2, $3) returning part as p, id, name")
        session = self.ready(*texts)
        for text, values in zip(texts, (["09", "b"], ["5", "b", self.PART.upper()])):
            for formats in ((), (0,), (1,), tuple(number % 2 for number in range(1 if len(values) == 2 else 3))):
                self.before = metrics.Scrape(self.keyspread)
                self.same(session, lambda session, text=text, values=values, formats=formats: session.ask(
                    wire.parse("", text), wire.bind("", "", values, results=formats), wire.describe("P", ""),
                    wire.execute(), wire.sync()))

    def test_what_is_not_known(self):
        for text in ("insert into numbered (name, part) values ('a', gen_random_uuid()) returning part",
                     self.TEXT.format(self.PART, "note"), self.TEXT.format(self.PART, "id + 1"),
                     self.TEXT.format(self.PART, "*"), self.TEXT.format(self.PART, "id, now()"),
                     "insert into others (id) values (1) on conflict (id) do update set note = 'b' returning id",
                     "insert into events (userid, ts) values (1, now()) returning ts"):
            with self.subTest(text=text):
                session = self.ready()
                session.query("begin")
                session.query(INSERT.format(1))
                replies = session.query(text)
                self.assertEqual(wire.kinds(replies), "TDCZ")
                self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
                self.assertEqual(self.kinds(), {"made_ordinary": 1})
                self.admin("truncate events, others, numbered")

    def test_made_ordinary(self):
        """The server says the same of them, which nobody hears."""
        bound = "insert into others (id, note) values ($1, $2) returning id"
        session = self.ready(bound)
        session.query("begin")
        session.query("insert into others (id, note) values (7, 'a'), (8, 'b') returning id")
        replies = session.query("select count(*) from others")
        self.assertEqual(wire.kinds(replies), "TDCZ")
        session.query("rollback")
        session.query("begin")
        session.ask(wire.parse("", bound), wire.bind("", "", ["3", "x"], results=(1,)), wire.execute(), wire.sync())
        self.assertEqual(session.rows("select id from others"), [["3"]])
        self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
        session.query("begin")
        session.query("insert into others (id) values (3) returning id")
        self.assertEqual(wire.error_of(session.query("select 1")), "23505")
        session.query("rollback")

    def test_a_trigger_that_nobody_knows_of(self):
        """It stores another value than the client was shown."""
        for link in ("batch", "own"):
            session = self.ready()
            text = f"insert into numbered (id, name, part) values (1, 'a', '{self.PART}') returning name"
            harness.eventually("keyspread knows of no trigger", lambda session=session, text=text: [
                "transaction: kept until COMMIT"] in session.rows("explain (proxy) " + text))
            session.query("begin")
            session.query(text)
            self.admin("create function other() returns trigger language plpgsql as"
                       " $$ begin new.name = 'b'; return new; end $$;"
                       "create trigger other before insert on numbered for each row execute function other()")
            self.addCleanup(self.admin, "drop function if exists other() cascade")
            if link == "batch":
                self.assertEqual(wire.error_of(session.query("commit")), "40001")
            else:
                self.assertEqual(wire.error_of(session.ask(wire.query("select 1"), ready=0) or session.read_to_end()), "40001")
            self.assertEqual(self.rows(NUMBERED), [])
            self.admin("drop function other() cascade")


class DescribedInside(LazyCase):
    """A new INSERT without a list of columns is described in its transaction."""

    def kept(self):
        session = self.session()
        session.query("begin")
        replies = session.ask(wire.parse("", "insert into others values ($1, $2, $3)"), wire.bind("", "", [1, "a", 2]),
                              wire.execute(), wire.sync())
        self.assertEqual((wire.tags_of(replies), replies[-1].body), (["INSERT 0 1"], b"T"))
        return session

    def refuse(self, session):
        replies = session.ask(wire.parse("", "insert into others values ($1, $2, true)"), wire.bind("", "", [2, "b"]),
                              wire.execute(), wire.sync())
        self.assertEqual((wire.kinds(replies), wire.error_of(replies), replies[-1].body), ("EZ", "42804", b"E"))

    def test_what_was_kept_fails_with_it(self):
        for end in (lambda session: session.query("commit"), lambda session: session.ask(wire.parse("", "commit"), *GROUP)):
            session = self.kept()
            self.refuse(session)
            replies = end(session)
            self.assertEqual((wire.tags_of(replies), replies[-1].body), (["ROLLBACK"], b"I"))
            self.assertEqual(self.rows(OTHERS), [])
            self.assertEqual(self.kinds(), {})

    def test_the_unnamed_statement_is_gone(self):
        session = self.kept()
        self.refuse(session)
        self.assertEqual(wire.error_of(session.ask(wire.bind("", ""), wire.execute(), wire.sync())), "26000")

    def test_rollback_to_leads_out_of_it(self):
        session = self.kept()
        session.query("savepoint s")
        self.refuse(session)
        self.assertEqual(wire.tags_of(session.query("rollback to s")), ["ROLLBACK"])
        self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
        self.assertEqual(self.rows(OTHERS), [1])


class Savepoints(LazyCase):
    def say(self, session, text, tag, status=b"T", grouped=False):
        replies = session.ask(wire.parse("", text), *GROUP) if grouped else session.query(text)
        self.assertEqual((wire.tags_of(replies), replies[-1].body), ([tag], status), (text, replies))
        if grouped:
            self.assertEqual(wire.kinds(replies), "12nCZ")

    def test_they_are_kept(self):
        for grouped in (False, True):
            session = self.session()
            insert = (lambda n: session.ask(*insert_group(n))) if grouped else (lambda n: session.query(INSERT.format(n)))
            self.say(session, "begin", "BEGIN", grouped=grouped)
            self.assertEqual(wire.tags_of(insert(1)), ["INSERT 0 1"])
            for text, tag in (("savepoint a", "SAVEPOINT"), ("SAVEPOINT B;", "SAVEPOINT"), ("rollback to b", "ROLLBACK"),
                              ('rollback work to savepoint "b"', "ROLLBACK"), ("savepoint c", "SAVEPOINT"),
                              ("release savepoint c", "RELEASE"), ("release a", "RELEASE")):
                self.say(session, text, tag, grouped=grouped)
            self.assertEqual(wire.tags_of(insert(2)), ["INSERT 0 1"])
            self.assertEqual(self.rows(), [])
            self.say(session, "commit", "COMMIT", b"I", grouped=grouped)
            self.assertEqual(self.rows(), [1, 2])
            self.assertEqual(self.kinds(), {"lazy": 1})

    def test_of_one_name(self):
        session = self.session()
        session.query("begin")
        for text, tag in (("savepoint s", "SAVEPOINT"),) * 2 + (("rollback to s", "ROLLBACK"), ("release s", "RELEASE")) * 2:
            self.say(session, text, tag)
        session.query(INSERT.format(3))
        self.say(session, "commit", "COMMIT", b"I")
        self.assertEqual(self.rows(), [3])
        self.assertEqual(self.kinds(), {"lazy": 1})

    def test_errors_of_rows_behind_one_come_at_once(self):
        """Programs set a savepoint to catch 23505. psycopg's nested transactions do not expect RELEASE to fail, and lose all."""
        for grouped in (False, True):
            session = self.session()
            session.query(INSERT.format(1))
            session.query("begin")
            session.query(INSERT.format(2))
            session.query("savepoint active_record_1")
            replies = session.ask(*insert_group(1)) if grouped else session.query(INSERT.format(1))
            error = next(message for message in replies if message.kind == "E").fields()
            self.assertEqual((error["C"], error["n"], replies[-1].body), ("23505", "events_pkey", b"E"))
            self.assertNotIn("W", error)
            self.say(session, "rollback to savepoint active_record_1", "ROLLBACK")
            self.say(session, "release savepoint active_record_1", "RELEASE")
            self.say(session, INSERT.format(3), "INSERT 0 1")
            self.say(session, "commit", "COMMIT", b"I")
            self.assertEqual(self.rows(), [1, 2, 3])
            self.assertEqual(self.kinds(), {"made_ordinary": 1})

    def test_psycopg_catches_one_in_a_nested_transaction(self):
        try:
            import psycopg
        except ImportError:
            harness.missing("psycopg 3")
        with psycopg.connect(self.dsn()) as connection:
            connection.execute(INSERT.format(1))
            connection.commit()
            with connection.transaction():
                connection.execute(INSERT.format(2))
                with self.assertRaises(psycopg.errors.UniqueViolation), connection.transaction():
                    connection.execute(INSERT.format(1))
                connection.execute(INSERT.format(3))
        self.assertEqual(self.rows(), [1, 2, 3])

    def test_they_are_sent_in_their_places(self):
        session = self.session()
        session.query("begin")
        session.query("savepoint before_all")
        for number in (1, 2, 3):
            session.query(INSERT.format(number))
            session.query(f"savepoint s{number}")
        counted = "select userid from events order by 1"
        self.assertEqual(session.rows(counted), [["1"], ["2"], ["3"]])
        self.say(session, "rollback to s2", "ROLLBACK")
        self.assertEqual(session.rows(counted), [["1"], ["2"]])
        self.say(session, "rollback to s1", "ROLLBACK")
        self.assertEqual(session.rows(counted), [["1"]])
        self.say(session, "rollback to before_all", "ROLLBACK")
        self.assertEqual(session.rows(counted), [])
        self.assertEqual(wire.error_of(session.query("rollback to s1")), "3B001")
        self.say(session, "rollback to before_all", "ROLLBACK")
        session.query(INSERT.format(4))
        self.say(session, "commit", "COMMIT", b"I")
        self.assertEqual(self.rows(), [4])

    def test_that_are_not_there(self):
        for text in ("rollback to s", "release s", "rollback to savepoint t"):
            for savepoint in ((), ("savepoint other",)):
                session = self.session()
                session.query("begin")
                for each in savepoint:
                    session.query(each)
                session.query(INSERT.format(1))
                replies = session.query(text)
                self.assertEqual((wire.error_of(replies), replies[-1].body), ("3B001", b"E"), text)
                self.say(session, "commit", "ROLLBACK", b"I")
                self.assertEqual(self.rows(), [])

    def test_behind_nothing(self):
        session = self.session()
        for grouped in (False, True):
            self.say(session, "begin", "BEGIN", grouped=grouped)
            for text, tag in (("savepoint a", "SAVEPOINT"), ("rollback to a", "ROLLBACK"), ("release a", "RELEASE"),
                              ("savepoint b", "SAVEPOINT")):
                self.say(session, text, tag, grouped=grouped)
            self.say(session, "commit", "COMMIT", b"I", grouped=grouped)
        counted = metrics.Scrape(self.keyspread).since(self.before).by("transactions_total", "kind")
        self.assertEqual((counted["empty"], self.kinds()), (2, {}))
        session.query("begin")
        for text in ("savepoint a", "release a"):
            session.query(text)
        self.assertEqual(session.rows("select 1"), [["1"]])
        self.assertEqual(wire.error_of(session.query("rollback to a")), "3B001")
        self.say(session, "rollback", "ROLLBACK", b"I")
        session.query("begin")
        session.query("savepoint a")
        self.assertEqual(wire.error_of(session.query("select nothing")), "42703")
        self.say(session, "rollback to a", "ROLLBACK")
        self.say(session, "insert into events (userid, ts) values (1, now())", "INSERT 0 1")
        self.say(session, "commit", "COMMIT", b"I")
        self.assertEqual(self.rows(), [1])

    def test_an_error_in_front_of_it(self):
        """The transaction has failed before the savepoint: nothing leads out."""
        session = self.session()
        session.query(INSERT.format(1))
        session.query("begin")
        session.query(INSERT.format(1))
        session.query("savepoint s")
        self.assertEqual(wire.error_of(session.query(INSERT.format(2))), "23505")
        self.assertEqual(wire.error_of(session.query("rollback to s")), "3B001")
        self.say(session, "commit", "ROLLBACK", b"I")
        self.assertEqual(self.rows(), [1])

    def test_the_server_knows_of_the_transaction(self):
        session = self.session()
        session.query("begin")
        session.query("savepoint s")
        harness.eventually("the server knows of it", lambda: self.admin(
            "select count(*) from pg_stat_activity where state like 'idle in transaction%'") == [["1"]])
        self.say(session, "release s", "RELEASE")
        session.query(INSERT.format(2))
        self.say(session, "savepoint t", "SAVEPOINT")
        self.say(session, "commit", "COMMIT", b"I")
        self.assertEqual(self.rows(), [2])
        self.assertEqual(self.kinds(), {"lazy": 1})


class Ends(LazyCase):
    def kept(self):
        session = self.session()
        session.query("begin")
        session.query(INSERT.format(1))
        return session

    def cancel(self, session):
        with contextlib.closing(socket.create_connection(("127.0.0.1", self.port()))) as other:
            other.sendall(wire.cancel_request(session.pid, session.key))
            other.recv(1)

    def test_a_cancel_while_nothing_runs(self):
        session = self.kept()
        self.cancel(session)
        session.query(INSERT.format(2))
        self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
        self.assertEqual(self.rows(), [1, 2])

    def test_a_cancel_of_commit(self):
        session = self.kept()
        with self.postgres.admin(self.database) as admin:
            admin.rows("begin; lock table events in access exclusive mode")
            session.send(wire.query("commit"))
            time.sleep(0.6)  # It waits on the session's own link by then, or is about to.
            self.cancel(session)
            replies = session.read_ready()
            admin.rows("rollback")
        self.assertEqual((wire.error_of(replies), replies[-1].body), ("57014", b"I"))
        self.assertEqual(self.rows(), [])
        self.assertEqual(wire.tags_of(session.query(INSERT.format(2))), ["INSERT 0 1"])

    def test_it_is_idle_for_long(self):
        """The server knows of the transaction, and the rows are kept all the same."""
        session = self.kept()
        harness.eventually("the server knows of it", lambda: self.admin(
            "select count(*) from pg_stat_activity where state like 'idle in transaction%'") == [["1"]])
        session.query(INSERT.format(2))
        self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
        self.assertEqual(self.rows(), [1, 2])
        self.assertEqual(self.kinds(), {"lazy": 1})
        harness.eventually("the server's own has ended", lambda: self.admin(
            "select count(*) from pg_stat_activity where state like 'idle in transaction%'") == [["0"]])
        session.query("begin")
        session.query(INSERT.format(3))
        harness.eventually("the server knows of it", lambda: self.admin(
            "select count(*) from pg_stat_activity where state like 'idle in transaction%'") == [["1"]])
        self.assertEqual(session.rows("select count(*) from events"), [["3"]])
        self.assertEqual(wire.tags_of(session.query("rollback")), ["ROLLBACK"])
        self.assertEqual(self.rows(), [1, 2])

    def test_idle_in_transaction(self):
        session = self.session(options="-c idle_in_transaction_session_timeout=300")
        session.query("begin")
        session.query(INSERT.format(1))
        self.assertEqual(wire.error_of(session.read_to_end()), "25P03")
        self.assertEqual(self.rows(), [])

    def test_keyspread_stops(self):
        session = self.kept()
        self.keyspread.process.send_signal(signal.SIGTERM)
        self.assertEqual(wire.error_of(session.read_to_end()), "57P01")
        self.keyspread.finish()
        self.assertEqual(self.rows(), [])


class Programs(LazyCase):
    """Drivers in their default mode, each of which begins and commits transactions itself."""

    def count(self, work):
        """How many transactions were kept of those in `work`, which does them three times; the first one of each
        connection may be ordinary."""
        self.before = metrics.Scrape(self.keyspread)
        work()
        self.assertEqual(self.kinds().get("lazy", 0) >= 2, True, self.kinds())

    def test_psycopg2(self):
        import psycopg2
        import psycopg2.extras

        def work():
            with contextlib.closing(psycopg2.connect(self.dsn())) as connection:
                for number in range(3):
                    with connection, connection.cursor() as cursor:
                        cursor.execute("insert into others (id, note) values (%s, %s)", (number, "a"))
                        self.assertEqual(cursor.rowcount, 1)
                        psycopg2.extras.execute_values(
                            cursor, "insert into others (id, note) values %s",
                            [(number * 10 + more, "b") for more in (101, 102)])
                        self.assertEqual(cursor.rowcount, 2)
                with self.assertRaises(psycopg2.errors.UniqueViolation) as raised, connection:
                    connection.cursor().execute("insert into others (id) values (1)")
                self.assertEqual(raised.exception.diag.constraint_name, "others_pkey")
                self.assertEqual(raised.exception.diag.message_detail, "Key (id)=(1) already exists.")
                with connection, connection.cursor() as cursor:
                    cursor.execute("insert into others (id) values (3)")
                    connection.rollback()
                    cursor.execute("select count(*) from others")
                    self.assertEqual(cursor.fetchall(), [(9,)])
        self.count(work)
        self.assertEqual(len(self.rows(OTHERS)), 9)

    def test_psycopg(self):
        try:
            import psycopg
        except ImportError:
            harness.missing("psycopg 3")

        def work():
            with psycopg.connect(self.dsn()) as connection:
                for number in range(8):
                    with connection.transaction(), connection.cursor() as cursor:
                        cursor.execute("insert into others (id, note) values (%s, %s)", (number, "a"))
                        self.assertEqual(cursor.rowcount, 1)
                        cursor.executemany("insert into others (id, note) values (%s, %s)",
                                           [(number * 10 + more, "b") for more in (101, 102)])
                connection.execute("insert into others (id) values (500)")
                connection.commit()
                with self.assertRaises(psycopg.errors.UniqueViolation) as raised:
                    connection.execute("insert into others (id, note) values (%s, %s)", (1, "a"))
                    connection.commit()
                connection.rollback()
                self.assertEqual(raised.exception.diag.constraint_name, "others_pkey")
                self.assertEqual(connection.execute("select count(*) from others").fetchall(), [(25,)])
        self.count(work)
        self.assertEqual(len(self.rows(OTHERS)), 25)

    def test_sqlalchemy(self):
        try:
            import sqlalchemy
            import sqlalchemy.exc
            import sqlalchemy.orm
        except ImportError:
            harness.missing("SQLAlchemy")
        base = sqlalchemy.orm.declarative_base()

        class Other(base):
            __tablename__ = "others"
            id = sqlalchemy.Column(sqlalchemy.BigInteger, primary_key=True, autoincrement=False)
            note = sqlalchemy.Column(sqlalchemy.String)

        def work():
            engine = sqlalchemy.create_engine(f"postgresql+psycopg2://{harness.USER}@127.0.0.1:{self.port()}/{self.database}")
            with contextlib.closing(sqlalchemy.orm.Session(engine)) as session:
                for number in range(3):
                    session.add_all([Other(id=number * 2 + more, note="a") for more in (0, 1)])
                    session.commit()
                session.add(Other(id=1))
                with self.assertRaises(sqlalchemy.exc.IntegrityError):
                    session.commit()
                session.rollback()
                self.assertEqual(session.query(Other).count(), 6)
            engine.dispose()
        self.count(work)
        self.assertEqual(self.rows(OTHERS), list(range(6)))


class Ledger(LazyCase):
    """Transactions of 1 to 20 rows over both tables, whose keys clash, while links are killed."""

    def test_acknowledged_is_whole_refused_is_absent(self):
        import random
        sessions, outcomes = 8, []
        lock, stop = threading.Lock(), threading.Event()

        def work(number):
            dice = random.Random(number)
            session = None
            for turn in range(60):
                name = f"{number}-{turn}"
                try:
                    session = session or self.wire()
                    session.query("begin")
                    rows = [(dice.choice(("events", "others")), dice.randrange(1000))
                            for _ in range(dice.randint(1, 20) if dice.random() < 0.5 else 1)]
                    for table, key in rows:
                        column = "event" if table == "events" else "note"
                        text = (f"insert into {table} (userid, ts, event) values ({key}, '{MOMENT}', '{name}')"
                                if table == "events" else
                                f"insert into {table} (id, note, child) values ({key}, 'x', {1000 * number + turn})")
                        del column
                        session.query(text)
                    replies = session.query("commit")
                    outcome = wire.error_of(replies) or wire.tags_of(replies)[-1]
                except (OSError, wire.Closed):
                    outcome, session = "lost", None
                with lock:
                    outcomes.append((outcome, name, 1000 * number + turn, rows))

        def kill():
            while not stop.wait(0.15):
                self.admin("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'"
                           " order by random() limit 2")
        killer = threading.Thread(target=kill)
        killer.start()
        try:
            harness.in_threads(sessions, work)
        finally:
            stop.set()
            killer.join()
        stored = {name: set() for _, name, _, _ in outcomes}
        by_child = {str(child): name for _, name, child, _ in outcomes}
        for key, name in self.stored(EVENTS, "userid, event"):
            stored[name].add(("events", int(key)))
        for key, child in self.stored(OTHERS, "id, child"):
            stored[by_child[child]].add(("others", int(key)))
        seen = {}
        for outcome, name, _, rows in outcomes:
            seen[outcome] = seen.get(outcome, 0) + 1
            if outcome == "COMMIT":
                self.assertEqual(stored[name], set(rows), name)
            elif outcome in ("08007", "08006", "lost", "57P01"):
                self.assertIn(stored[name], (set(), set(rows)), (outcome, name))
            else:
                self.assertEqual(stored[name], set(), (outcome, name))
        self.assertGreater(seen.get("COMMIT", 0), 20, seen)
        self.check_stored()
        self.check_stored(OTHERS)


if __name__ == "__main__":
    unittest.main()
