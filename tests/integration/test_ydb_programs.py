#!/usr/bin/python3
"""What ydb/plain/program.h makes of statements, run on the fake of YDB's endpoint, against the
statements themselves on PostgreSQL: the same rows, tags and stored rows, or a refusal.

ROUNDS and SEED in the environment say how many statements, and which; the same ones each time if they do not.
"""
import collections
import os
import random
import re
import unittest

import plain_probe
from ydb import EndpointCase

SCHEMA = """
create table t (a int8, b text, v int4, w text, c varchar(5), n numeric(6,2), d int4 default 7,
    h int8 not null, primary key (h, a, b));
create table p (q numeric(5,1), r char(3), m timestamp, v int4, h int8 not null,
    primary key (h, q, r, m));
create table u (a int4 primary key, b text, d int4 default 5);
create table s (x int4 primary key, y text);
insert into s values (1, 'x'), (2, 'y'), (3, 'x')"""
COLUMNS = """select a.attname, a.atttypid::int8, a.atttypmod, format_type(a.atttypid, a.atttypmod),
    a.atthasdef::int4 from pg_attribute a where a.attrelid = '%s'::regclass and a.attnum > 0
    order by a.attnum"""
WRONG_VALUES = ("22P02", "42804", "22001", "22003")  # of another type, or too long
rng = random.Random()


def one(*choices):
    return rng.choice(choices)


def listed(choices, least=1):
    return rng.sample(choices, rng.randint(least, len(choices)))


class T:
    """The table with most kinds of columns; its key is (h, a, b), and h hangs on a."""
    name = "t"
    others = ["v", "w", "c", "n", "d"]

    @staticmethod
    def cell(column):
        if rng.random() < 0.06:
            return "DEFAULT"
        return {
            "v": lambda: one("1", "5", "'7'", "NULL", "2 + 3", "(select max(x) from s)", "-4",
                             "length('abc')", "99::int8", "'x'", "3.7"),
            "w": lambda: one("'one'", "'it''s'", "NULL", "'a' || 'b'", "5::text", "E'a\\nb'",
                             "$$x$$", "upper('q')", "(select min(y) from s)"),
            "c": lambda: one("'abc'", "'abcde'", "NULL", "'abcdef'", "'abc   '", "'ab' || 'c'"),
            "n": lambda: one("1", "1.5", "2.345", "'3.1'", "NULL", "1e2", "99999.999"),
            "d": lambda: one("1", "NULL", "'3'", "2"),
        }[column]()

    @staticmethod
    def key():
        a = rng.randint(1, 3)
        spelled = one(str(a), f"'{a}'", f"{a}::int8", f"0{a}", f"{a} + 0", f"'{a}'::int8")
        return [spelled, one("'x'", "'y'", "'x'::text", "$$y$$", "'x' || ''"), str(a * 10)]

    keys = ["a", "b", "h"]
    target = ["(h, a, b)", "(a, h, b)", "(a, b, h)"]

    @staticmethod
    def changes(t, new):
        """Assignments; `new` is EXCLUDED, or None."""
        values = [f"v = {t}.v + 1", "v = 3", "w = 'z'", f"w = {t}.w || '!'", f"n = {t}.n * 2",
                  "c = 'abcdef'", "c = 'q'", f"v = (select max(x) from s where x > {t}.v)",
                  f"n = 2.345, w = {t}.b", f"d = {t}.v", "w = null", "w = default", f"v = 1 / ({t}.v - {t}.v)"]
        if new:
            values += [f"v = {new}.v", f"w = {new}.w", f"c = {new}.c", f"n = {new}.n",
                       f"d = {new}.d", f"v = {t}.v + {new}.v", f"w = {t}.w || {new}.w",
                       f"w = {new}.w || {new}.c", f"n = {new}.n * {t}.n + {new}.v",
                       f"v = (select max(x) from s where x > {new}.v)", f"a = {new}.a, v = 9"] * 2
        chosen, seen = [], set()
        for value in rng.sample(values, rng.randint(1, 3)):
            if value[0] not in seen and not (set("vwcnda") & seen & set(value.replace(" = ", ""))
                                             and ", " in value):
                chosen.append(value)
                seen |= {part.strip()[0] for part in value.split(",") if " = " in part}
        return ", ".join(chosen)

    @staticmethod
    def condition(t, new):
        values = [f"{t}.v > 2", f"{t}.v is null", f"{t}.b = 'x'", f"{t}.w <> 'one'",
                  f"{t}.a in (select x from s)", f"exists (select 1 from s where s.x = {t}.a)",
                  f"{t}.a = 1 or {t}.b = 'y'", "true", "null"]
        if new:
            values += [f"{t}.v < {new}.v", f"{new}.w <> {t}.w", f"{new}.n > 1"] * 2
        return one(*values)

    returned = ["a", "b", "v", "w", "c", "n", "d", "v + 1 as vv", "w || 'x'", "{t}.a", "h",
                "coalesce({t}.n, 0)", "*", "(select count(*) from s where x > {t}.a)", "'k'"]


class P:
    """Keys that are the same in several spellings."""
    name = "p"
    others = ["v"]
    keys = ["q", "r", "m", "h"]
    target = ["(h, q, r, m)", "(q, r, m, h)"]
    cell = T.cell
    returned = ["q", "r", "m", "v", "{t}.q * 2", "r || 'x'"]

    @staticmethod
    def key():
        return [one("1", "1.0", "'1'", "1.04", "2", "1.95"), one("'a'", "'a '", "'a'::text", "'b'"),
                one("'2020-01-01'", "'2020-01-01 00:00'", "'2020-01-01T00:00:00.0'",
                    "date '2020-01-01'", "timestamp '2020-01-02'"), "1"]

    @staticmethod
    def changes(t, new):
        return one(f"v = {t}.v + 1", "v = 2", *([f"v = {new}.v", f"v = {new}.v + {t}.v"] * bool(new)))

    @staticmethod
    def condition(t, new):
        return one(f"{t}.q = 1", f"{t}.r = 'a'", "true", *([f"{t}.v < {new}.v"] * bool(new)))


def returning(table, known_as, share=0.3):
    if rng.random() > share:
        return ""
    return " returning " + ", ".join(rng.sample(table.returned, rng.randint(1, 3))).format(t=known_as)


def insert(conflict):
    table = one(T, T, T, P)
    columns = table.keys + listed(table.others, 0)
    order = rng.sample(range(len(columns)), len(columns))
    alias = one("", "", " as z")
    known = "z" if alias else table.name
    rows = []
    for _ in range(one(1, 1, 2, 3)):
        cells = table.key() + [table.cell(column) for column in columns[len(table.keys):]]
        rows.append("(" + ", ".join(cells[i] for i in order) + ")")
    text = (f"insert into {table.name}{alias} ({', '.join(columns[i] for i in order)}) values "
            + ", ".join(rows))
    if conflict:
        if rng.random() < 0.4:
            text += f" on conflict {one('', *table.target)} do nothing"
        else:
            text += (f" on conflict {one(*table.target)} do update set "
                     + table.changes(known, one("excluded", "EXCLUDED")))
            if rng.random() < 0.4:
                text += f" where {table.condition(known, 'excluded')}"
    return text + returning(table, known, 0.25)


def insert_select():
    return one(
        "insert into t (a, b, h, v) select x, y, x * 10, x from s",
        "insert into t (a, b, h, w) select x, 'y', x * 10, y from s where x > 1 order by x limit 1",
        "with k as (select x, y from s where x < 3) insert into t (a, b, h) select x, y, x * 10 from k",
        "insert into t (a, b, h) values (1, 'x', 10), (3, 'y', 30) limit 1",
        "insert into u (a) table s", "insert into u (a, b) (select x, y from s)",
        "insert into u (a) select generate_series(1, 3)",
        "insert into t (a, b, h) select x, y, x * 10 from s where random() < 2")


def unknown():
    """Of a table that the configuration does not know."""
    a, b = rng.randint(1, 4), one("'x'", "NULL", "5::text")
    return one(
        f"insert into u values ({a}, {b})", f"insert into u (a, b) values ({a}, {b}), (9, 'k')",
        f"insert into u (a, b) values ({a}, {b}) on conflict (a) do nothing",
        f"insert into u (a, b) values ({a}, {b}) on conflict (a) do update set b = excluded.b",
        f"insert into u as z (a, b) values ({a}, {b}) on conflict (a) do update set "
        f"b = excluded.b, d = z.d + 1 where z.d < 8",
        f"delete from u where a >= {a}", f"delete from u as z where z.a = {a} returning *",
        f"insert into u values ({a}, {b}, default)", f"insert into u (a, d) values ({a}, default)",
        f"update u set b = {b}", f"update u as z set b = z.b || 'q', d = a where z.a < {a}",
        f"update u set d = d + 1 where a > {a} returning a, b",
        f"update u set d = d + 1 where a > {a} returning d")


def change():
    table = one(T, T, P)
    alias = one("", "", " z", " as z")
    known = "z" if alias else table.name
    where = f" where {table.condition(known, None)}" if rng.random() < 0.8 else ""
    if rng.random() < 0.5:
        return f"delete from {table.name}{alias}{where}" + returning(table, known)
    return (f"update {table.name}{alias} set {table.changes(known, None)}{where}"
            + returning(table, known))


def statement():
    kind = rng.random()
    if kind < 0.25:
        return insert(False)
    if kind < 0.6:
        return insert(True)
    if kind < 0.68:
        return insert_select()
    if kind < 0.78:
        return unknown()
    return change()


class Refused(Exception):
    pass


class Failed(Exception):
    pass


class Programs(EndpointCase):
    rounds = int(os.environ.get("ROUNDS", "500"))

    def setUp(self):
        super().setUp()
        seed = int(os.environ.get("SEED", "1"))
        rng.seed(seed)
        print("seed", seed)
        self.postgres.create_database("whole")
        self.sessions = [self.postgres.admin(name) for name in ("app", "whole")]
        for session in self.sessions:
            self.addCleanup(session.close)
            session.rows(SCHEMA)
        self.probe = plain_probe.Probe()
        self.addCleanup(lambda: self.assertEqual(self.probe.close(), 0))
        for table, keys in (("t", 2), ("p", 3)):
            self.probe.ask("keyed", table, str(keys), *(
                ":".join(column) for column in self.sessions[0].rows(COLUMNS % table)))
        self.link = self.session()

    def ask(self, *fields):
        answer = self.probe.ask(*fields)
        if isinstance(answer, tuple):
            raise Refused(*answer)
        return answer.decode()

    def send(self, text):
        """Rows and tag; raises Failed."""
        replies = self.link.query(text)
        for reply in replies:
            if reply.kind == "E":
                raise Failed(reply.fields()["M"])
        rows = [tuple(reply.row()) for reply in replies if reply.kind == "D"]
        return rows, next(reply.tag() for reply in replies if reply.kind == "C")

    def steps(self, text, flags, abort):
        """Runs the program; the client's rows and the tag. Once it is aborted and run again."""
        shown, begun, count = [], False, 0
        step = self.ask("plan", flags, text.encode().hex())
        while step[0] != "t":
            if step[2] == "m" and not begun:
                self.send("BEGIN")
                begun = True
            try:
                rows, tag = self.send(step[3:])
            except Failed as failed:
                if begun:
                    self.send("ROLLBACK")
                begun = False
                state = "23505" if "Conflict with existing key" in str(failed) else "XX000"
                try:
                    self.ask("failed", state)
                except Refused:
                    raise failed from None
                step = self.ask("go")
                continue
            if step[0] == "o":
                for row in rows:
                    self.ask("row", *(b"".hex() if cell is None else cell.hex() for cell in row))
            elif step[0] == "c":
                shown = rows
            count += 1
            if begun and count == abort:
                self.send("ROLLBACK")
                self.ask("rewind")
                begun, shown, step = False, [], self.ask("go")
                continue
            step = self.ask("go", tag)
        if begun:
            self.send("COMMIT")
        return sorted(shown, key=repr), step[1:]

    def plain(self, session, text):
        """The same of PostgreSQL; its SQLSTATE if it fails."""
        replies = session.query(text)
        for reply in replies:
            if reply.kind == "E":
                return reply.sqlstate
        rows = [tuple(reply.row()) for reply in replies if reply.kind == "D"]
        return sorted(rows, key=repr), next(r.tag() for r in replies if r.kind == "C")

    def contents(self, session):
        return [session.rows(f"select * from {table} order by 1, 2, 3") for table in "tpu"]

    def check(self, text):
        flags = one("e", "e", "eu", "ei", "eui")
        abort = one(0, 0, 0, 1, 2, 3)
        wanted = self.plain(self.sessions[1], text)
        where = f"{flags} {abort} {text}"
        try:
            got = self.steps(text, flags, abort)
        except Refused as refused:
            if self.link.query("select 1")[-1].body != b"I":
                self.send("ROLLBACK")
            if refused.args[0] == "0A000":
                if not isinstance(wanted, str):
                    self.plain(self.sessions[0], text)
                return "refused: " + refused.args[1][:60]
            several = refused.args[0] in WRONG_VALUES and wanted in WRONG_VALUES  # another is told of first
            if refused.args[0] != "21000" or not isinstance(wanted, str):
                self.assertTrue(several or wanted == refused.args[0], (wanted, refused.args[0], where))
            return "failed here"
        except Failed as failed:
            if re.search(r"unsupported|not implemented|not supported", str(failed)):
                if not isinstance(wanted, str):
                    self.plain(self.sessions[0], text)
                return "not taken: " + str(failed).split("Error: ")[-1].strip()[:60]
            self.assertIsInstance(wanted, str, f"{where}: {failed}")
            return "failed there"
        if isinstance(wanted, str) and self.may_pass(text, wanted):
            self.sessions[0].rows("truncate t, p, u")
            self.sessions[1].rows("truncate t, p, u")
            return "passed " + wanted
        self.assertEqual(got, wanted, where)
        return "same " + text.split()[0] + " conflict" * ("conflict" in text) + \
            " returning" * ("returning" in text)

    @staticmethod
    def may_pass(text, state):
        """What is wrong with a value that is not used is not seen."""
        return "on conflict" in text and state in WRONG_VALUES

    def test_programs_do_what_the_statements_do(self):
        counts = collections.Counter()
        for _ in range(self.rounds):
            text = statement()
            counts[self.check(text)] += 1
            self.assertEqual(self.contents(self.sessions[0]), self.contents(self.sessions[1]), text)
        for what, count in sorted(counts.items()):
            print(f"{count:6} {what}")
        same = sum(count for what, count in counts.items() if what.startswith("same"))
        self.assertGreater(same, self.rounds // 3)


if __name__ == "__main__":
    unittest.main()
