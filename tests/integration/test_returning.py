"""INSERT … RETURNING in batches: each client gets its own rows, as PostgreSQL gives them."""
import unittest

import direct_case
import harness
import metrics
import wire
from harness import Table

ITEMS = Table("items", ["id bigint not null", "name varchar(20)", "n int default 7",
                        "at timestamptz default '2026-01-01 12:00+00'", "raw bytea",
                        "price numeric(8,2)"], ["id"], hash_first=False,
              batch={"target_ms": 60_000})


class Batched:
    """What was batched, and what was not."""

    def not_batched(self, reason="returning"):
        return metrics.Scrape(self.keyspread).get("inserts_not_batched_total", reason=reason)

    def batched(self):
        return metrics.Scrape(self.keyspread).get("batched_statements_total")


@harness.proxied
class Lone(direct_case.DirectCase, Batched):
    """One client's rows: each message of the answer is PostgreSQL's."""
    tables = (ITEMS,)
    options = {"workers": 1, "admin": {}}
    session_uses = 1  # Large values change where a session's statements go.

    def run_batched(self, messages, statements, **more):
        before = self.batched(), self.not_batched()
        replies = self.both(messages, **more)
        self.assertEqual((self.batched(), self.not_batched()), (before[0] + statements, before[1]))
        return replies

    def test_simple(self):
        texts = ["insert into items (id) values (1) returning id",
                 "insert into items (id, name) values (2, 'b') returning *",
                 "insert into items (id, name) values (3, 'b') returning *",
                 "insert into items (id, name) values (4, 'b') returning items.name as label, id key, n",
                 "insert into items as i (id, raw) values (5, '\\x00ff') returning i.*, raw",
                 "insert into items (id, name) values (6, 'x'), (7, null), (8, '') returning id, name",
                 "insert into items (id) values (9) on conflict do nothing returning id",
                 "insert into items (id) values (9) on conflict do nothing returning id",
                 "insert into items (id, n) values (9, 8) on conflict (id) do update set n = 9 "
                 "returning n, id",
                 "insert into items (id, n) values (9, 8) on conflict (id) do update set n = 9 "
                 "where items.n = 0 returning n, id"]
        self.run_batched([wire.query(text) for text in texts], len(texts), ready=len(texts))

    def test_several_statements(self):
        text = ("insert into items (id) values (1) returning id;"
                "insert into items (id) values (2);"
                "insert into items (id, name) values (3, 'c'), (4, 'd') returning name, id")
        self.run_batched([wire.query(text)], 3)
        self.both([wire.query(text.replace("4, 'd'", "1, 'd'"))])

    def extended(self, results=(), limit=0, describe=True, sql="returning id, name, at, raw, price"):
        """A prepared statement, described, and what is executed with it."""
        insert = f"insert into items (id, name, raw, price) values ($1, $2, $3, $4) {sql}"
        yield wire.parse("s", insert)
        if describe:
            yield wire.describe("S", "s")
        yield wire.sync()
        for number in range(3):
            yield wire.bind("", "s", [number, "name", "\\x00ff", "1.5"], results=results)
            yield wire.execute(limit=limit)
            yield wire.sync()
        for number in range(3, 6):
            yield wire.bind(f"p{number}", "s", [number, None, None, None], results=results)
            yield wire.describe("P", f"p{number}")
            yield wire.execute(f"p{number}", limit=limit)
        yield wire.sync()

    def test_extended(self):
        for results in (), (0,), (1,), (1, 0, 1, 0, 1):
            for limit in 0, 1, 2:
                for describe in True, False:
                    with self.subTest(results=results, limit=limit, describe=describe):
                        self.run_batched(list(self.extended(results, limit, describe)), 6, ready=5)

    def test_unnamed(self):
        insert = "insert into items (id, name) values ($1, $2) returning id, name"
        messages = []
        for number in range(3):
            messages += [wire.parse("", insert), wire.bind("", "", [number, "n"], results=[1]),
                         wire.describe("P", ""), wire.execute(), wire.sync()]
        self.both(messages[:5])  # who does not wait for answers does not wait for descriptions
        self.run_batched(messages, 3, ready=3)

    def test_no_row(self):
        sql = "on conflict (id) do nothing returning name"
        messages = list(self.extended(sql=sql)) + [wire.bind("", "s", [1, "x", None, None]),
                                                   wire.execute(), wire.sync()]
        self.run_batched(messages, 7, ready=6)

    def test_failures(self):
        insert = "insert into items (id, name) values ($1, $2) returning id"
        messages = [wire.parse("s", insert), wire.describe("S", "s"), wire.sync()]
        for values, results in (([1, "a"], ()), ([1, "b"], ()), ([2, "x" * 21], ()), ([3, "c"], ()),
                                ([4, "d"], (0, 0)), ([5, "e"], (7,)), (["x", "f"], ())):
            messages += [wire.bind("", "s", values, results=results), wire.describe("P", ""),
                         wire.execute(), wire.sync()]
        self.both(messages, ready=8)
        self.query("insert into items (id, name) values (1, 'a') returning nothing")

    def test_portal_executed_again(self):
        insert = "insert into items (id) values ($1), ($2) returning id"
        self.both([wire.parse("s", insert), wire.bind("p", "s", [1, 2]), wire.execute("p", 1),
                   wire.execute("p", 1), wire.execute("p", 1), wire.sync()])

    def test_settings_of_output(self):
        for setting in ("bytea_output to escape", "datestyle to 'German'", "timezone to 'Asia/Tokyo'",
                        "intervalstyle to 'iso_8601'", "extra_float_digits to -3"):
            self.both([wire.query(f"set {setting}"),
                       wire.query("insert into items (id, raw) values (1, '\\x00ff') returning *"),
                       wire.query("insert into items (id, raw) values (2, '\\x00ff') returning *"),
                       wire.query("reset all"),
                       wire.query("insert into items (id, raw) values (3, '\\x00ff') returning *")],
                      ready=5)


    def test_large_values(self):
        """More than fits into a stream at a time; then its own link is the place."""
        insert = "insert into items (id, raw) values ($1, $2) returning id, raw, raw as again"
        messages = [wire.parse("s", insert), wire.sync()]
        for number in range(4):
            messages += [wire.bind("", "s", [number, b"\\x" + b"00ff" * 100_000]),
                         wire.execute(), wire.sync()]
        self.both(messages, ready=5)
        text = "insert into items (id, raw) values ({}, repeat('a', 300000)::bytea) returning *"
        self.both([wire.query(text.format(number)) for number in range(3)], ready=3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
