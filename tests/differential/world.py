"""world: a worker's two databases and its keyspread, and how one sequence is tried there."""
import collections
import difflib
import time

import compare
import driver
import harness
import slow
import tables
import wire
from generator import Generator
from tables import NAMED_EVERYWHERE, TABLES

CATALOG_S = 2
TEMPLATES = ("direct", "hashed")
FAILURES = (driver.Hangs, OSError, wire.Closed, AssertionError)


class Waits(Exception):
    """Its sessions wait for each other for ever, on both sides: there is nothing to compare."""


Result = collections.namedtuple("Result", "difference refusals")


def needs(sequence):
    """Whether its databases are to be loud, and the tables that its keyspread is to know: its own and
    the one that texts name everywhere, for what PostgreSQL is asked grows with their number; all,
    where a sequence has several."""
    own = set(sequence["tables"])
    return sequence.get("loud", True), sorted(TABLES if len(own) > 1 else own | {NAMED_EVERYWHERE})


class World:
    """`postgres` is shared by all workers, everything else is this worker's."""

    generator, twins = Generator, tables.TWINS
    entry = staticmethod(tables.Table.config)
    order = staticmethod(needs)  # those behind each other that one keyspread can play

    @staticmethod
    def make_templates(postgres):
        """What all databases of all workers are copies of."""
        for hashed, name in enumerate(TEMPLATES):
            postgres.create_database(name)
            with postgres.admin(name) as admin:
                admin.rows(tables.setup(hashed))

    def __init__(self, postgres, number, kinds, slowly=False):
        """`slowly`: what keyspread hears of PostgreSQL comes in pieces."""
        self.postgres, self.number, self.kinds = postgres, number, kinds
        self.slow = slow.Slow(postgres.port) if slowly else None
        self.roles = (f"app{number}", f"low{number}")
        self.generation = 0
        self.keyspread, self.made_for, self.tidier = None, None, None
        with postgres.admin("postgres") as admin:
            admin.rows(f"create role {self.roles[0]} superuser login; create role {self.roles[1]}")

    def config(self, names):
        config = harness.backend_config(self.postgres, (), backend={"catalog_s": CATALOG_S},
                                        port=self.slow and self.slow.port)
        config["tables"] = [self.entry(table) for table in map(TABLES.get, names)]
        config["workers"] = (1, 4)[self.number % 2]
        return config

    def build(self):
        """New databases: nothing of what was before is left."""
        self.leave()
        self.generation += 1
        self.databases = [f"{kind}{self.number}x{self.generation}" for kind in ("direct", "hashed")]
        self.admins = []
        for template, database in zip(TEMPLATES, self.databases):
            self.postgres.create_database(database, template)
            self.admins.append(self.postgres.admin(database))
        direct, hashed = self.databases
        self.direct = driver.Side(("127.0.0.1", self.postgres.port), self.admins[0], direct,
                                  self.roles)
        self.hashed = driver.Side(None, self.admins[1], hashed, self.roles, self.settle)
        self.made_for = None

    def serve(self, sequence):
        """By a keyspread for such sequences, which the next ones may have, too."""
        needed = needs(sequence)
        if needed == self.made_for:
            return
        self._stop()
        loud, names = needed
        for admin in self.admins:
            admin.rows(tables.LOUD if loud else tables.QUIET)
        self.keyspread = harness.Keyspread(self.config(names))
        self.hashed.address, self.made_for = self.keyspread.address(), needed
        self.tidier = wire.Wire(self.hashed.address)
        self.tidier.login("postgres", self.hashed.database)

    def _stop(self):
        if self.keyspread:
            self.tidier.close()
            self.keyspread.stop()

    def leave(self):
        for admin in getattr(self, "admins", ()):
            admin.close()
        for database in getattr(self, "databases", ()):
            with self.postgres.admin("postgres") as admin:
                admin.query(f'drop database "{database}" with (force)')
                admin.query(f"alter role {self.roles[0]} reset all")

    def close(self):
        self.leave()
        self._stop()
        if self.slow:
            self.slow.close()

    @staticmethod
    def settle():
        """As long as the catalog may be old, and some."""
        time.sleep(CATALOG_S + 0.05)

    def crashed(self):
        """What keyspread said when it died, if it did."""
        if self.keyspread.process.poll() is None:
            return None
        text = self.keyspread.lines.text()[-6000:]
        self.keyspread.kill()
        return f"keyspread died:\n{text}"

    def _failed(self, failure):
        """How, and what the backends do meanwhile."""
        activity = self.admins[1].rows(
            "select pid, application_name, state, wait_event, query from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()")
        return self.crashed() or "\n".join(map(str, [f"{type(failure).__name__}: {failure}"] + activity))

    def attempt(self, sequence):
        """A Result; afterwards the tables are as before, or made anew."""
        try:
            self.serve(sequence)
            difference, refused = self._compare(sequence)
        except Waits:
            difference, refused = None, []
            self.build()
        except FAILURES as failure:
            difference, refused = self._failed(failure), []
            self.build()
        else:
            self._tidy_or_build(sequence, difference)
        return Result(difference, refused)

    def _hangs_direct(self, steps):
        try:
            self.direct.play(steps)
        except driver.Hangs:
            return True
        return False

    def _tidy_or_build(self, sequence, difference):
        """After a difference nothing is known of the tables."""
        try:
            self.tidy({**sequence, "renew": True} if difference else sequence)
        except FAILURES:
            self.build()

    def _compare(self, sequence):
        steps, exact = sequence["steps"], not sequence["renew"]
        try:
            through = self.hashed.play(steps)
        except driver.Hangs:
            if self._hangs_direct(steps):
                raise Waits from None
            raise
        found, refused = driver.refusals(through)
        ended = any("end" in step for step in steps)
        stored = [] if ended else self.look(sequence, True)
        self._reset_roles(sequence)
        direct = self.direct.play(driver.with_refusals(steps, found))
        expected = self.look(sequence, False)
        if ended:
            stored = self.look_until(sequence, expected)
        # What was sent differs where a refused statement was replaced: it is shown as it was.
        for there, here in zip(direct, through):
            there[:] = [(session, driver.named(message, self.hashed, self.direct), replies)
                        for (session, _, replies), (_, message, _) in zip(there, here)]
        told = [compare.without_names(compare.lines(heard, exact, self.kinds) + rows, side)
                for heard, rows, side in ((direct, expected, self.direct),
                                          (through, stored, self.hashed))]
        if told[0] != told[1]:
            return "\n".join(difflib.unified_diff(*told, "PostgreSQL", "keyspread", lineterm="",
                                                  n=4)), refused
        return None, refused

    def _reset_roles(self, sequence):
        """Both sides have the same ones."""
        for text in self.hashed.fill(sequence["cleanup"]):
            if text.startswith("alter role"):
                self.admins[1].rows(text)

    def look_until(self, sequence, expected):
        """After a goodbye the last rows may still be on their way."""
        deadline = time.monotonic() + 5
        while True:
            stored = self.look(sequence, True)
            if stored == expected or time.monotonic() > deadline:
                return stored
            time.sleep(0.02)

    def look(self, sequence, hashed):
        """What is stored, and what hash is wrong."""
        admin, told = self.admins[hashed], []
        for name in sequence["tables"]:
            told += self._rows(admin, TABLES[name], hashed)
            if name in self.twins:
                told += [f"other.{name} {row[0]}" for row in admin.rows(
                    f"select to_jsonb(t)::text from other.{name} t order by 1")]
        if "delete from copied" in sequence["cleanup"]:
            told += [f"copied {row}" for row in admin.rows("select * from copied order by a, b")]
        return told

    @staticmethod
    def _rows(admin, table, hashed):
        """Wherever it stands by now; without its hashes if it has lost what they are made of."""
        queries = ((place, text, whole) for place in table.places() for text, whole in (
            (table.look(hashed, place), hashed), (tables.rows_of(place), False)))
        for place, text, whole in queries:
            replies = admin.query(text)
            if wire.error_of(replies):
                continue
            rows = [[None if one is None else one.decode() for one in message.row()]
                    for message in replies if message.kind == "D"]
            wrong = [table.wrong_hash(row) for row in rows] if whole else []
            return [f"{place} {row[0]}" for row in rows] + [one for one in wrong if one]
        return [f"{table.name} is nowhere"]

    renewal = staticmethod(tables.renew)

    def tidy(self, sequence):
        """Leaves the tables empty. What changes them goes through keyspread, which so hears of it."""
        names, text = sequence["tables"], "; ".join(sequence["cleanup"])
        if not sequence["renew"] and not text:
            for admin in self.admins:
                admin.rows(tables.empty(names))
            return
        for hashed, side in enumerate((self.direct, self.hashed)):
            parts = [side.fill(one) for one in dict.fromkeys(sequence["cleanup"])]
            parts.append(tables.empty([n for n in names if not sequence["renew"]]))
            parts.append(self.renewal(names, hashed) if sequence["renew"] else "")
            if sequence["renew"]:
                parts += [f"delete from other.{n}" for n in names if n in tables.TWINS]
            text = "; ".join(part for part in parts if part)
            (self.tidier if hashed else self.admins[0]).rows(text)


class PatternWorld(World):
    """The tables have no entries of their own: each is known by a pattern, and is made through keyspread
    by a client that knows no hash."""

    entry = staticmethod(tables.Table.pattern)

    @staticmethod
    def renewal(names, hashed):
        return tables.renew(names, False)

    def build(self):
        super().build()
        keyspread = harness.Keyspread(self.config(sorted(TABLES)))
        with wire.Wire(keyspread.address()) as session:
            session.login("postgres", self.hashed.database)
            session.rows(tables.renew(sorted(TABLES), False))
        keyspread.stop()
        self._check(TABLES)

    def tidy(self, sequence):
        super().tidy(sequence)
        if sequence["renew"]:
            self._check(sequence["tables"])

    def _check(self, names):
        """None of them is an ordinary table, in which no hash could be wrong."""
        spread = self.admins[1].rows("select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid"
                                     " where c.relnamespace = 'public'::regnamespace and a.attname = 'h'")
        assert set(names) <= {row[0] for row in spread}, "a table was made without its hash"
