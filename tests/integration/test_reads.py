"""What is read by key and shown by stars, both at once: random queries give the rows, names and types of a plain table, as a
text, as a prepared statement with parameters and results in binary, by a cursor and by COPY; and every form of a statement
that asks for a whole key looks into one of sixteen partitions.

KEYSPREAD_QUERIES=5000 runs so many of them, from SEED on; by default it is a slice."""
import os
import re
import unittest

import harness
import test_lookups
import test_stars
import wire

QUERIES, SEED = int(os.environ.get("KEYSPREAD_QUERIES", 200)), int(os.environ.get("SEED", "0"))
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
        merged = " using (" in rest or " natural " in rest  # what the table is called besides has another hint then
        names = ["q"] if " as q(" in rest else [name for name in names if not merged or name in "pq"]
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


class Reads(test_stars.StarsCase):
    tables = (test_lookups.EV, test_lookups.TX, test_lookups.NU, test_lookups.KIN)
    setup_sql = (test_lookups.LOOSE + "create table plain (userid bigint, b int, x text); insert into plain "
                 "select i, i % 4, 'x' || i from generate_series(-1, 3) i; create table kept (userid bigint, ts timestamptz, event text)")
    partitioned = True
    rows_sql = test_lookups.ROWS

    def test_random(self):
        sessions = self.connect_both()
        for seed in range(SEED, SEED + QUERIES):
            whole, parameters, values, query = spelled(seed)
            with self.subTest(seed=seed, text=whole):
                self.in_every_way(sessions, whole, parameters, values, query)

    def scanned(self, *messages):
        """Partitions of ev in the plan that is told last."""
        with self.log_in(*self.route()) as session:
            replies = session.ask(*messages, ready=sum(message[:1] in (b"Q", b"S") for message in messages))
        text = "\n".join(str(reply.body) for reply in replies if reply.kind == "D")
        self.assertIn("Scan", text)
        return set(re.findall(r"on (ev_p[0-9]+)", text))

    @harness.proxied
    def test_one_partition(self):
        for text in KEYED:
            for key in ("ev.userid = 5", "ev.userid in (5)", "(ev.userid = 5 or event = 'x' and 5 = ev.userid)", "(ev.userid, ev.ts) = (5, '2026-01-01 00:00:00+00')"):
                with self.subTest(text.format(key)):
                    found = self.scanned(wire.query("explain (costs off) " + text.format(key)))
                    self.assertEqual(len(found), 16 if text.startswith("table") else 1)

    @harness.proxied
    def test_one_partition_by_any_name(self):
        """Aliases, quoted names, names of columns, the table with itself, row values."""
        for text in ("select * from ev e where e.userid = 5", 'select * from "ev" where "userid" = 5', "select a from ev as t(a, b) where a = 5",
                     'select "E v".* from public."ev" as "E v" where "E v"."userid" = 5', "select * from EV where USERID = 5",
                     "select t.* from ev t (a, b) where t.a = 5 and b > '2020-01-01'", "select * from ev a, ev b where a.userid = 5 and b.userid = 5",
                     "select a.* from ev a join ev b on a.userid = b.userid where a.userid = 5", 
                     "select * from ev where (userid, ts) in ((5, '2026-01-01 00:00:00+00'), (5, '2026-01-02 00:00:00+00'))",
                     "select * from ev where userid = 5 or (ts, userid) = (now(), 5)", "delete from ev e where e.userid = 5 or userid in (5) returning e.*",
                     "select * from ev where event = 'x' and (userid = 5 or userid = 5) order by ts",
                     "select t, row_to_json(t) from ev t (a) where a = 5", "select * from ev t (ts, userid) where t.ts = 5",
                     "update ev as e set event = 'x' where e.userid = 5", "delete from ev as e using loose l where l.b = e.userid and e.userid = 5",
                     "insert into kept select * from ev e where e.userid = 5 on conflict do nothing",
                     "with c as materialized (select * from ev e where e.userid = 5) select * from c a, c b",
                     "select * from ev a join ev b using (userid) where userid = 5", "select 1 from ev a join ev b using (userid) where b.userid = 5",
                     "select * from ev a natural join ev b where userid = 5", "select 1 from ev a natural join ev b where a.userid = 5",
                     "select 1 from ev a join ev b using (userid, ts) join ev c using (userid) where c.userid = 5",
                     "select 1 from ev a join (ev b join ev c using (userid)) using (userid) where a.userid = 5",
                     "select * from loose l left join lateral (select * from ev e where e.userid = 5 and e.event = l.x) s on true"):
            with self.subTest(text):
                self.assertEqual(len(self.scanned(wire.query("explain (costs off) " + text))), 1)

    @harness.proxied
    def test_what_cannot_be_explained_asks_for_the_hash(self):
        with self.log_in(*self.route()) as session:
            for text in ("copy (select * from ev where userid = 5) to stdout", "declare c cursor for select * from ev where userid = 5",
                         "explain analyze select * from ev where userid = 5"):
                lines = [row[0] for row in session.rows("explain (proxy) " + text)]
                self.assertRegex(lines[1], r'^rewritten: .*"userid_hash" = -?[0-9]+ AND ', text)


if __name__ == "__main__":
    unittest.main()
