"""Transactions of INSERTs and upserts by chance, of many sessions at once: savepoints, failures, several tables, both protocols, some
made ordinary, and rows in autocommit between them. Each row carries the number of the transaction that wrote it, and a replication slot
tells in which order the server committed them. In that order, one after the other, PostgreSQL by itself makes the same rows of them.

KEYSPREAD_TRANSACTIONS=N plays about so many, KEYSPREAD_SEED=N others.
"""
import collections
import contextlib
import graphlib
import os
import random
import re
import select
import struct
import unittest

import harness
import metrics
import wire

SEED = int(os.environ.get("KEYSPREAD_SEED", 1))
TRANSACTIONS = int(os.environ.get("KEYSPREAD_TRANSACTIONS", 2000))
SESSIONS = 32
MOMENT = "2026-01-01 00:00:00+00"

REST = ["writer bigint not null", "total bigint check (total < 1000000)", "note varchar(5)", "plain int references plain (a)"]
TABLES = [harness.Table(name, [*key, *REST], [column.split()[0] for column in key], transactions="lazy", partitions=2, **more)
          for name, key, more in (("things", ["id bigint not null"], {}),
                                  ("words", ["word text not null", "id int not null"], {"hash_key": ["id"]}),
                                  ("events", ["userid bigint not null", "ts timestamptz not null"], {"atomicity": "partition"}))]
COLUMNS = "{}, writer, total, note, plain"
UPSERT = (" on conflict ({1}) do update set writer = excluded.writer, total = ({0}.total * 3 + excluded.total) % 1000,"
          " note = excluded.note")
CHANGE = re.compile(r"table public\.(\w+?)_p\d+: (?:INSERT|UPDATE): (.*)", re.DOTALL)
VALUE = re.compile(r"(\w+)\[[^]]+\]:(?:'((?:[^']|'')*)'|(\S+))")
ENDS = ("commit", "commit", "commit", "commit", "rollback")
REFUSED = {"23505", "23503", "23514", "22001", "22P02", "25P02", "3B001", "40P01"}


class Client:
    """A session, and what it was told of its transactions."""

    def __init__(self, number, session):
        self.number, self.session, self.keys = number, session, 0
        # The rows of a session whose rows fail, or wait for locks, travel alone for a while; there are others.
        self.careless = number % 4 == 0
        self.dice = random.Random(f"{SEED} {number}")
        self.committed, self.seen = {}, collections.Counter()

    def play(self, turns):
        """Yields False where it waits for the answer to one Query or group, True where it is about to commit."""
        for self.turn in range(1, turns + 1):
            self.writer, self.bound = self.turn * SESSIONS + self.number, self.dice.random() < 0.5
            self.texts, self.savepoints, owed = [], [], []
            pipelined = self.dice.random() < 0.2
            for step in self.steps():
                owed.append(step)
                if step[0] in ENDS:
                    yield True
                self.session.send(step[2])
                while owed and not pipelined:
                    yield False
                    self.hear(*owed.pop(0))
                    if self.status == b"E" and self.dice.random() < 0.5 and self.savepoints:
                        owed.append(self.said(f"rollback to {self.dice.choice(self.savepoints)[0]}"))
                        self.session.send(owed[-1][2])
            for step in owed:
                yield False
                self.hear(*step)

    def is_answered(self):
        """Whether the next ReadyForQuery is here; waits for nothing."""
        at, buffer = 0, self.session.buffer
        while len(buffer) >= at + 5:
            at, kind = at + 1 + struct.unpack_from("!I", buffer, at + 1)[0], buffer[at]
            if kind == ord("Z") and len(buffer) >= at:
                return True
        return False

    def steps(self):
        dice = self.dice
        if dice.random() < 0.2:
            yield self.insert(alone=True)
            return
        yield self.said(dice.choice(("begin", "begin", "start transaction")))
        names = []
        for _ in range(dice.choice((1, 1, 1, 2, 3, 5, 8))):
            kind = dice.choices(("insert", "savepoint", "return", "read"), (13, 4, 3, self.careless))[0]
            if kind == "savepoint":
                names.append(f"s{len(names)}")  # One of a name that is there could stand behind an error that was not told yet.
                yield self.said(f"savepoint {names[-1]}")
            elif kind == "return" and names:
                yield self.said(dice.choice(("rollback to {}", "release {}" if self.careless else "rollback to {}")).format(dice.choice(names)))
            elif kind == "read":
                yield self.said("select count(*) from plain")
            else:
                yield self.insert()
        yield self.said(dice.choice(ENDS))

    def said(self, text):
        if self.dice.random() < 0.6:
            return text, None, wire.query(text)
        return text, None, wire.parse("", text) + wire.bind("", "") + wire.execute() + wire.sync()

    def insert(self, alone=False):
        """The same as a text that names all values, and what is sent. `alone`: in autocommit, where atomicity counts."""
        dice = self.dice
        table = dice.choice(TABLES + TABLES[:1] * 3)
        upsert = dice.random() < 0.4
        rows = []
        count = 1 if alone and "atomicity" in table.options else dice.choice((1, 1, 1, 2, 3))
        for _ in range(count):
            hot = dice.randint(-40, -1) - 40 * (self.careless and dice.random() < 0.9)
            number = hot if upsert and dice.random() < 0.5 else self.key()
            rows.append({"things": [number], "words": [dice.choice("ab"), number], "events": [number, MOMENT]}[table.name]
                        + [self.writer, dice.randint(0, 999), dice.choice(("a", "b", "it's")), dice.randint(1, 5)])
        if len({tuple(row[:-4]) for row in rows}) < len(rows):
            rows = rows[:1]
        if self.careless and dice.random() < 0.04:
            dice.choice(rows)[-4:] = dice.choice(([self.writer, 1000000, "a", 1], [self.writer, 1, "too long", 1], [self.writer, 1, "a", 9],
                                                  ["x", 1, "a", 1]))
        text = f"insert into {table.name} ({COLUMNS.format(', '.join(table.key))}) values "
        tail = UPSERT.format(table.name, ", ".join(table.key)) if upsert else ""
        quoted = ["'" + str(value).replace("'", "''") + "'" if isinstance(value, str) else str(value) for row in rows for value in row]
        full = text + self.rows(quoted, len(rows)) + tail
        if (self.careless and dice.random() < 0.1) == self.bound:  # INSERTs by both protocols make it ordinary
            return full, table.name, wire.query(full)
        marks = [f"${number + 1}" for number in range(len(quoted))]
        return full, table.name, (wire.parse("", text + self.rows(marks, len(rows)) + tail)
                                  + wire.bind("", "", [value for row in rows for value in row]) + wire.execute() + wire.sync())

    def key(self):
        """One that nobody has, unless it is careless."""
        self.keys += 1
        if self.careless and self.dice.random() < 0.1:
            return max(1, self.keys - self.dice.randint(0, 9)) * SESSIONS + self.dice.randrange(SESSIONS)
        return self.keys * SESSIONS + self.number

    @staticmethod
    def rows(values, count):
        width = len(values) // count
        return ", ".join("(" + ", ".join(values[at:at + width]) + ")" for at in range(0, len(values), width))

    def hear(self, text, table, _):
        replies = self.session.read_ready()
        self.status, error = replies[-1].body, wire.error_of(replies)
        self.seen[error or text.split(" ")[0]] += 1
        if error:
            if error not in REFUSED:
                raise AssertionError(f"{error} of {text}: {replies}")
        elif table:
            self.texts.append(text)
        else:
            self.take(text.split(" "), wire.tags_of(replies))
        if self.status == b"I" and not error and self.texts and (table or wire.tags_of(replies) == ["COMMIT"]):
            self.committed[self.writer] = "; ".join(self.texts)

    def take(self, words, tags):
        """A word about the transaction that was heard: which texts still count."""
        if words[0] == "savepoint":
            self.savepoints.append((words[1], len(self.texts)))
        elif words[0] in ("rollback", "release") and len(words) > 1:
            while self.savepoints[-1][0] != words[-1]:
                self.savepoints.pop()
            if words[0] == "rollback":
                del self.texts[self.savepoints[-1][1]:]
            else:
                self.savepoints.pop()
        elif tags == ["ROLLBACK"]:
            self.texts = []


@harness.proxied
class SerialReplay(harness.StackCase):
    tables = TABLES
    options = {"admin": {}, "backend": {"batch_links": 1}}
    settings = {"wal_level": "logical", "synchronous_commit": "on", "log_statement": "none"}  # The slot tells what is in the WAL.
    before_sql = "create table plain (a int primary key); insert into plain select generate_series(1, 5)"

    def test_in_order_of_commit(self):
        harness.create_tables(self.postgres, "replay", TABLES, hashed=False, before=self.before_sql)
        with self.postgres.admin(self.database) as admin:
            admin.rows("select pg_create_logical_replication_slot('order_of_commit', 'test_decoding')")
        before = metrics.Scrape(self.keyspread)
        clients = [Client(number, self.wire()) for number in range(SESSIONS)]
        self.play({client: client.play(TRANSACTIONS // SESSIONS) for client in clients})
        committed, seen = {}, collections.Counter()
        for client in clients:
            committed.update(client.committed)
            seen.update(client.seen)

        order, shared = self.order()
        self.assertEqual(len(order), len(set(order)), "a transaction of a client is one of the server")
        self.assertEqual(set(order), set(committed), "acknowledged are those that are committed")
        self.replay([committed[writer] for writer in order])
        for table in TABLES:
            columns = COLUMNS.format(", ".join(table.key))
            with self.postgres.admin("replay") as admin:
                alone = admin.rows(f"select {columns} from {table.name} order by {', '.join(table.key)}")
            self.assertEqual(self.stored(table, columns), alone)
            self.check_stored(table, len(alone))

        # They are about what they seem to be about.
        counted = metrics.Scrape(self.keyspread).since(before)
        kinds = counted.by("transactions_total", "kind")
        self.assertGreater(kinds["lazy"], len(committed) / 4, kinds)
        self.assertGreater(kinds["made_ordinary"], 10, kinds)
        self.assertGreater(shared, 20)  # On a busy machine most units are slow, and travel without company.
        self.assertEqual(set(), {"23505", "23503", "23514", "22001", "22P02", "25P02"} - set(seen), seen)
        print(f"seed {SEED}: {sum(client.turn for client in clients)} transactions, {len(committed)} committed; {dict(kinds)}; "
              f"{counted.get('batch_rows_count'):.0f} batches; {dict(seen)}")

    def play(self, waiting):
        """All at once: whoever has its answer goes on. They commit in bunches, or when all others wait for their locks."""
        going, gathered = list(waiting), []
        while waiting:
            for client in going:
                commits = next(waiting[client], None)
                if commits is None:
                    del waiting[client]
                elif commits:
                    gathered.append(client)
            going = [client for client in waiting if client not in gathered and client.is_answered()]
            sockets = {client.session.socket: client for client in waiting if client not in gathered}
            if not going and len(gathered) < SESSIONS / 2 and sockets:
                readable = select.select(list(sockets), (), (), 0.05 if gathered else harness.PATIENCE)[0]
                self.assertTrue(readable or gathered, "nobody is answered")
                for socket in readable:
                    sockets[socket].session.receive()
                if readable:
                    continue
            if not going:
                going, gathered = gathered, []

    def order(self):
        """The numbers of the clients' transactions as the server has committed them. Those that it has committed together are in an
        order in which each key's rows were written. And how many were committed together with others."""
        order, shared = [], 0
        with contextlib.closing(harness.connect_admin(self.postgres, self.database)) as connection, connection.cursor() as cursor:
            cursor.execute("select data from pg_logical_slot_get_changes('order_of_commit', null, null)")
            for (data,) in cursor:
                if data.startswith("BEGIN"):
                    together, last = graphlib.TopologicalSorter(), {}
                elif data.startswith("COMMIT"):
                    writers = list(together.static_order())
                    order += writers
                    shared += len(writers) if len(writers) > 1 else 0
                else:
                    name, values = CHANGE.fullmatch(data).groups()
                    row = {column: quoted or plain for column, quoted, plain in VALUE.findall(values)}
                    table = next(table for table in TABLES if table.name == name)
                    key, writer = (name, *(row[column] for column in table.key)), int(row["writer"])
                    together.add(writer, *{last.get(key, writer)} - {writer})
                    last[key] = writer
        return order, shared

    def replay(self, texts):
        with contextlib.closing(wire.Wire(("127.0.0.1", self.postgres.port))) as session:
            session.login(harness.USER, "replay")
            for at in range(0, len(texts), 100):
                session.send(*map(wire.query, texts[at:at + 100]))
                for text in texts[at:at + 100]:
                    replies = session.read_ready()
                    self.assertFalse(wire.error_of(replies), (text, replies))


if __name__ == "__main__":
    unittest.main()
