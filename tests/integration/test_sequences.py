"""Message sequences, played direct and through keyspread: the replies must be the same bytes.

The text of tests/vectors/sequences/*.seq is explained in sequences.py.
"""
import contextlib
import difflib
import glob
import os
import re
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
# A text of its own for each database, though their owners' contents are equal.
DATABASES = {"direct": False, "hashed": True}


def setUpModule():
    global POSTGRES, KEYSPREAD
    POSTGRES = harness.Postgres()
    unittest.addModuleCleanup(POSTGRES.remove)
    for database, hashed in DATABASES.items():
        POSTGRES.create_database(database)
        with POSTGRES.admin(database) as admin:
            admin.rows(SETUP)
            for table in TABLES:
                admin.rows(table.ddl(hashed, partitioned=False))
            admin.rows(TRIGGER)
    KEYSPREAD = None
    start_keyspread()


def start_keyspread():
    global KEYSPREAD
    if not harness.DIRECT:
        KEYSPREAD = harness.Keyspread(harness.backend_config(POSTGRES, TABLES))
        unittest.addModuleCleanup(KEYSPREAD.stop)


class Sequences(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if KEYSPREAD and KEYSPREAD.gone:
            start_keyspread()

    def tearDown(self):
        if KEYSPREAD:
            KEYSPREAD.check_alive()

    def compare(self, sequence, piecewise):
        direct, rows_direct = self.play(sequence, "direct", POSTGRES.port, False)
        through, rows_through = self.play(sequence, *self.route(), piecewise)
        expected = sequences.normalise(direct, through, sequence.loose)
        got = sequences.normalise(through, direct, sequence.loose)
        if expected != got:
            self.fail(f"{sequence.file}:{sequence.line}: {sequence.name}\n" + "\n".join(
                difflib.unified_diff(expected, got, "PostgreSQL", "keyspread", lineterm="", n=30)))
        self.assertEqual(rows_direct, rows_through, "what the tables hold")

    @staticmethod
    def route():
        return ("hashed", KEYSPREAD.port) if KEYSPREAD else ("direct", POSTGRES.port)

    def play(self, sequence, database, port, piecewise):
        with POSTGRES.admin(database) as admin:
            admin.rows("truncate events, items, orders, noisy, plain restart identity;" + FILL)
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
            with contextlib.closing(harness.connect_admin(POSTGRES, database)) as connection:
                for table in TABLES:
                    harness.verify_hashes(self, connection, table)
        return rows

    def test_startup_replies(self):
        """The same settings are reported, whoever answers."""
        answers = []
        for database, port in (("direct", POSTGRES.port), self.route()):
            for _ in range(2):
                with contextlib.closing(wire.Wire(("127.0.0.1", port))) as session:
                    answers.append(sequences.normalise_startup(
                        session.login(harness.USER, database, application_name="startup")))
        for answer in answers[1:]:
            self.assertEqual(answers[0], answer)


def _add_tests():
    count = 0
    for path in sorted(glob.glob(os.path.join(harness.VECTORS, "sequences", "*.seq"))):
        topic = os.path.basename(path)[:-4]
        for sequence in sequences.load(path):
            count += 1
            for piecewise in (False, True):
                slug = re.sub(r"\W+", "_", sequence.name.lower())
                name = f"test_{topic}__{slug}" + ("__piecewise" if piecewise else "")
                assert not hasattr(Sequences, name), name

                def test(self, sequence=sequence, piecewise=piecewise):
                    self.compare(sequence, piecewise)
                setattr(Sequences, name, test)
    assert count >= 100, f"only {count} sequences"


_add_tests()

if __name__ == "__main__":
    unittest.main()
