"""What is read by key and shown by stars, both at once: random queries give the rows, names and types of a plain table, as a
text, as a prepared statement with parameters and results in binary, by a cursor and by COPY; and every form of a statement
that asks for a whole key looks into one of sixteen partitions.

KEYSPREAD_QUERIES=5000 runs so many of them; by default it is a slice."""
import os
import re
import unittest

import harness
import test_lookups
import test_stars
import wire
from direct_case import DirectCase

QUERIES = int(os.environ.get("KEYSPREAD_QUERIES", 200))
KEYED = (
    "select * from ev where {}", "select ev.* from ev where {} order by ts", "select row_to_json(ev) from ev where {}", "table ev", "update ev set event = 'x' where {}",
    "delete from ev where {} returning *", "with c as (select * from ev where {}) select * from c", "select 1 where exists (select * from ev where {})",
    "with d as (delete from ev where {} returning *) select * from d", "select * from loose l, lateral (select ev.* from ev where {} offset 0) s where l.b = 1",
    "select * from (select * from ev where {} limit 5) s", "select userid from ev where {} union all select b from loose",
    "(select * from ev where {}) except (select userid, now(), x from loose)", "select (select count(*) from ev where {})",
    "insert into kept select * from ev where {}", "declare c cursor for select * from ev where {}",
    "select * from ev natural join loose where {}", "select * from ev join loose l on {} and l.b = 1", "select * from only ev where {}",
    "select ev, userid from ev where {}", "update loose set x = event from ev where {} and loose.b = 1",
    "delete from loose using ev where {}", "select count(*) from ev where {} group by userid, ts", "select * from ev where {} for update",
)


class Generator(test_lookups.Generator):
    """With stars in the place of columns, in about half of the queries."""

    def starred(self):
        text = self.statement()
        targets, found, rest = text.partition(" from ")
        plain = text.startswith("select ") and found and "(" not in targets
        if not plain or " union " in text or " except " in text or "group by" in text or self.pick(True, False, False):
            return text
        names = re.findall(r"\b([pq]|ev|tx|nu)\b", rest.split(" where ")[0])
        stars = ["*", "*", *(f"{name}.*" for name in names), *(f"{name}.*, *" for name in names)]
        return f"select {self.pick(*stars)} from {rest}"


def spelled(seed):
    """A text with constants, one with parameters, and these; whether a cursor can be of it."""
    if seed % 2 == 0:
        generator = test_stars.Generator(seed)
        text, query = generator.statement()
        constants = [(f"'{one}'", one) for one in generator.constants]
    else:
        generator = Generator(seed)
        text = generator.starred()
        query, constants = not text.startswith(("update", "delete")), generator.constants
    def parameter(mark):
        cast = re.search(r"(::[a-z0-9]+(\[\])?)$", constants[int(mark[1])][0])
        return f"${int(mark[1]) + 1}{cast[1] if cast else ''}"
    whole = re.sub("<([0-9]+)>", lambda mark: constants[int(mark[1])][0], text)
    return whole, re.sub("<([0-9]+)>", parameter, text), [one[1] for one in constants], query


class Reads(DirectCase):
    tables = (test_lookups.EV, test_lookups.TX, test_lookups.NU, test_lookups.KIN)
    setup_sql = (test_lookups.LOOSE + "create table plain (userid bigint, b int, x text); insert into plain "
                 "select i, i % 4, 'x' || i from generate_series(-1, 3) i; create table kept (userid bigint, ts timestamptz, event text)")
    partitioned = True
    same = test_stars.Stars.same
    sessions = test_stars.Stars.sessions

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for database, port in (("direct", cls.postgres.port), cls.route(cls)):
            with wire.Wire(("127.0.0.1", port)) as session:
                session.login(harness.USER, database)
                for text in test_lookups.ROWS:
                    session.ask(wire.query(text))

    def test_random(self):
        sessions = list(self.sessions())
        for seed in range(QUERIES):
            whole, parameters, values, query = spelled(seed)
            prepared = [wire.parse("", parameters), wire.describe("S", ""), wire.bind("", "", values, results=[1]), wire.describe("P", ""),
                        wire.execute("", 3), wire.execute(), wire.sync()]
            cursor = [wire.query(f"declare c scroll cursor for {whole}"), wire.describe("P", "c"), wire.sync(),
                      wire.query("fetch 2 from c; fetch all in c; move backward all in c; close c")]
            with self.subTest(seed=seed, text=whole):
                self.same(sessions, wire.query(whole))
                self.same(sessions, *prepared)
                if query:
                    self.same(sessions, *cursor, ready=3)
                    self.same(sessions, wire.query(f"copy ({whole}) to stdout"))

    def scanned(self, *messages):
        """Partitions of ev in the plan that is told last."""
        with wire.Wire(("127.0.0.1", self.route()[1])) as session:
            session.login(harness.USER, "hashed")
            replies = session.ask(*messages, ready=sum(message[:1] in (b"Q", b"S") for message in messages))
        text = "\n".join(str(reply.body) for reply in replies if reply.kind == "D")
        self.assertIn("Scan", text)
        return set(re.findall(r"on (ev_p[0-9]+)", text))

    @harness.proxied
    def test_one_partition(self):
        for text in KEYED:
            for key in ("ev.userid = 5", "ev.userid in (5)", "(ev.userid, ev.ts) = (5, '2026-01-01 00:00:00+00')"):
                with self.subTest(text.format(key)):
                    found = self.scanned(wire.query("explain (costs off) " + text.format(key)))
                    self.assertEqual(len(found), 16 if text.startswith("table") else 1)


if __name__ == "__main__":
    unittest.main()
