"""sequence_case: plays a message sequence direct and through keyspread and compares what was replied
and what is stored. Direct, the tables are ordinary ones; behind keyspread they have a hash column.
"""
import contextlib
import difflib
import os
import unittest

import harness
import sequences
import wire

EVENTS = harness.Table("events", ["userid bigint not null", "ts timestamptz not null",
                                  "event text"],
                       ["userid", "ts"], hash_column="userhash", hash_first=False)
ITEMS = harness.Table("items", ["kind text not null", "id bigserial not null", "note text"],
                      ["kind", "id"], hash_first=False)
ORDERS = harness.Table("orders", ["customer int not null", "number int not null",
                                  "plain int references plain (a) deferrable initially deferred"],
                       ["customer", "number"], hash_first=False)
NOISY = harness.Table("noisy", ["k int not null", "v text"], ["k"], hash_first=False)
TABLES = (EVENTS, ITEMS, ORDERS, NOISY)

SETUP = """
create table plain (a int primary key, b text);
create function say() returns trigger language plpgsql as
  $$ begin raise notice 'row %', new.k; return new; end $$;
create function warn(text) returns text language plpgsql as
  $$ begin raise warning '%', $1; return $1; end $$;
"""
TRIGGER = "create trigger noise before insert on noisy for each row execute function say()"
FILL = "insert into plain select n, 'plain ' || n from generate_series(1, 5) n"
# Whether its tables have the hash column.
DATABASES = {"direct": False, "hashed": True}


class SequenceCase(unittest.TestCase):
    """`tables` and `options` are those of keyspread's configuration (harness.backend_config)."""

    maxDiff = None
    tables, options = TABLES, {}

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        for database, hashed in DATABASES.items():
            cls.postgres.create_database(database)
            with cls.postgres.admin(database) as admin:
                admin.rows(SETUP)
                for table in TABLES:
                    admin.rows(table.ddl(hashed, partitioned=False))
                admin.rows(TRIGGER)
        cls.admins = {database: cls.postgres.admin(database) for database in DATABASES}
        for admin in cls.admins.values():
            cls.addClassCleanup(admin.close)
        cls.reader = harness.connect_admin(cls.postgres, "hashed")
        cls.reader.autocommit = True
        cls.addClassCleanup(cls.reader.close)
        cls.played = {}  # The answer of PostgreSQL to a sequence, which is asked once.
        cls.keyspread = None
        cls.start_keyspread()

    @classmethod
    def start_keyspread(cls):
        if not harness.DIRECT:
            cls.keyspread = harness.Keyspread(harness.backend_config(cls.postgres, cls.tables, **cls.options))
            cls.addClassCleanup(cls.keyspread.stop)

    def setUp(self):
        if self.keyspread and self.keyspread.gone:
            self.start_keyspread()

    def tearDown(self):
        if self.keyspread:
            self.keyspread.check_alive()

    def compare(self, sequence, piecewise):
        if sequence not in self.played:
            self.played[sequence] = self.play(sequence, "direct", self.postgres.port, False)
        direct, rows_direct = self.played[sequence]
        through, rows_through = self.play(sequence, *self.route(), piecewise)
        expected = sequences.normalise(direct, through, sequence.loose)
        got = sequences.normalise(through, direct, sequence.loose)
        if expected != got:
            self.fail(f"{sequence.file}:{sequence.line}: {sequence.name}\n" + "\n".join(
                difflib.unified_diff(expected, got, "PostgreSQL", "keyspread", lineterm="", n=30)))
        self.assertEqual(rows_direct, rows_through, "what the tables hold")

    def route(self):
        if self.keyspread:
            return "hashed", self.keyspread.port
        return "direct", self.postgres.port

    def play(self, sequence, database, port, piecewise):
        admin = self.admins[database]
        harness.empty(admin, ["events", "items", "orders", "noisy", "plain"], restart=True)
        admin.rows(FILL)
        with contextlib.closing(wire.Wire(("127.0.0.1", port), timeout=20)) as session:
            session.login(harness.USER, database, **sequence.params)
            player = sequences.Player(sequence, session, admin.rows, piecewise)
            replies = player.play()
        return replies, self.contents(admin, database)

    def contents(self, admin, database):
        rows = [admin.rows(f"select {', '.join(c.split()[0] for c in table.columns)} from "
                           f"{table.name} order by {', '.join(table.key)}") for table in TABLES]
        rows.append(admin.rows("select * from plain order by a"))
        if DATABASES[database]:
            for table in TABLES:
                harness.verify_hashes(self, self.reader, table)
        return rows


def add_seeds(case, maker, seeds):
    """A test of `case` for each seed, or for those of KEYSPREAD_SEEDS=from-to: maker(seed).text() are the lines of a
    sequence by chance."""
    first, _, last = os.environ.get("KEYSPREAD_SEEDS", "").partition("-")
    for seed in range(int(first), int(last) + 1) if last else seeds:
        def test(self, seed=seed):
            lines = maker(seed).text()
            sequence = sequences.Sequence("seed", seed, "by chance")
            for number, line in enumerate(lines, 1):
                sequence.add(number, line)
            try:
                self.compare(sequence, piecewise=seed % 2 == 0)
            except AssertionError as failure:
                raise AssertionError(f"{failure}\n\n== seed {seed}\n" + "\n".join(lines)) from None
        setattr(case, f"test_seed_{seed:05}", test)
