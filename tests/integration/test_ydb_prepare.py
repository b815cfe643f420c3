#!/usr/bin/env python3
"""SQL's PREPARE and EXECUTE of INSERTs into configured tables, before the fake of YDB's endpoint: what
PostgreSQL says, and the hashes that a plain INSERT would have.
"""
import unittest

import harness
import wire
from ydb_case import LinksCase, config

ITEMS = harness.Table("items", ["tenant text not null", "id bigint not null", "word text", "n integer"],
                      ["tenant", "id"], hash_key=["tenant", "id"])
TEXTS = (
    "prepare p (text, bigint, text) as insert into items (tenant, id, word) values ($1, $2, $3)",
    "execute p ('a', 1, 'x')", "execute p ('b', '2', null)", "execute p ($$it's$$, -3, E'\\\\')",
    "execute p ('a', 1, 'again')", "execute p (null, 4, 'x')", "execute p ('a', 'x', 'x')",
    "execute p ('a')", "execute nobody ('a')", "execute p ('c', 5::smallint, upper('five'))",
    "prepare p as insert into items (tenant, id) values ($1, $2)",
    "prepare several as insert into items values ($1, $2, $3, $4), ($5, $6, $3, 7)",
    "execute several ('d', 6, 'x', 1, 'd', 7)",
    "prepare shown as insert into items (id, tenant, n) values ($1, $2, $3) returning id, n + 1, tenant || 'y'",
    "execute shown (8, 'e', 8)",
    "prepare counted (text, int) as insert into items (tenant, id, n) values ($1, 9, $2) "
    "on conflict (tenant, id) do update set n = items.n + excluded.n returning n",
    "execute counted ('f', 1)", "execute counted ('f', 2)",
    "prepare calm as insert into items (tenant, id) values ($1, $2) on conflict do nothing",
    "execute calm ('a', 1)", "execute calm ('g', 10)",
    "begin", "execute p ('h', 11, 'gone')", "rollback",
    "begin", "execute p ('h', 12, 'kept')", "execute p ('h', 13, 'kept')", "commit",
    "execute p ('i', 14, 'x'); execute p ('i', 15, 'y')", "execute p ('j', 16, 'x'); execute p ('a', 1, 'y')",
    "prepare fixed as insert into items (tenant, id) values ('k', 17)", "execute fixed",
    "prepare told as insert into items (tenant, id) values ($1, $2) returning $2, id, $1", "execute told ('m', 19)",
    "prepare asked (int, text) as select $1, $1 + 1, $2 as word, $2", "execute asked (1, 'x')",
    "execute asked (2, null)",
    "update items set word = 'found' where tenant = 'k' and id = 17",
    "deallocate p", "execute p ('l', 18, 'x')", "discard all", "execute calm ('l', 18)",
    "select * from items order by id, tenant")
# What a cast would take and an assignment does not, and what both take.
ASSIGNED = (
    "prepare n (int, text) as insert into items (tenant, id, n, word) values ('n', 1, $1, $2)",
    "execute n ('5'::text, 'x')", "execute n (true, 'x')", "execute n (upper('5'), 'x')", "execute n (current_date, 'x')",
    "execute n (b'101', 'x')", "execute n (null::varchar, 'x')", "execute n ('x', 'x')", "execute n (1.6, true)",
    "delete from items", "execute n (2.5::float8, 7)", "delete from items", "execute n ('7', null)",
    "prepare k (varchar, bigint) as insert into items (tenant, id) values ($1, $2)", "execute k ('k', '5'::text)",
    "execute k ('k', 3::smallint)", "execute k ('a longer one'::text, 4)", "execute k ('k', 5.5)", "execute k (5, 6)",
    "prepare s (date, varchar(3), numeric(3, 1), bool) as select $1, $2, $3, $4",
    "execute s ('2024-01-02', 'abcdef', 12.345, 'yes')", "execute s (timestamp '2024-01-02 13:00', 'x', 1, true)",
    "execute s ('2024-01-02'::text, 'x', 1, true)", "execute s ('2024-01-02', 1, 1, 1)",
    "execute s ('2024-01-02', 1, 1::float8, 1 = 1)", "execute s ('2024-01-02', 1, '1'::text, true)",
    "prepare a (int[], jsonb) as select $1, $2", "execute a ('{1}', '{}')", "execute a (array[1.5, 2], '{}'::json)",
    "execute a (array['1'], '{}')", "execute a (array[1], '{}'::text)", "prepare none as select 1",
    "execute none ('5'::text)", "select tenant, id, n, word from items order by id, tenant")
REFUSED = ("prepare r as insert into items (tenant, id) select $1, 1",
           "prepare r as with w as (select 1) insert into items (tenant, id) values ($1, 1)",
           "prepare r as with w as (insert into items (tenant, id) values ('a', 1) returning id) select * from w",
           "prepare r2 as insert into items (tenant, id) values ($1, $2); execute r2 ('a', 1 + 1)",
           "prepare r3 as insert into items (tenant, id, items_hash) values ('a', 1, 2); execute r3",
           "prepare r4 as insert into items (id) values ($1); execute r4 (1)")


class Prepare(LinksCase):
    tables = (ITEMS,)

    def stored(self):
        return self.admins[True].rows("select tenant_hash, tenant, id from items order by id, tenant")

    def check_hashes(self):
        """A plain INSERT of the same keys gives them the same."""
        rows = self.stored()
        self.assertGreater(len(rows), 1)
        self.admins[True].rows("truncate items")
        for _, tenant, key in rows:
            quoted = tenant.replace("'", "''")
            self.links[1].query(f"insert into items (tenant, id) values ('{quoted}', {key})")
        self.assertEqual(rows, self.stored())

    def test_texts(self):
        for sql in TEXTS:
            self.same(sql)
        self.check_hashes()

    def test_arguments_are_assigned(self):
        for sql in ASSIGNED:
            self.same(sql)
        self.check_hashes()

    def test_messages(self):
        """What SQL has prepared is bound, and EXECUTE comes by Parse."""
        steps = (("bind", [wire.bind("", "p", ["a", "1", "bound"]), wire.execute("")]),
                 ("binary", [wire.bind("", "p", ["b", b"\0\0\0\0\0\0\0\2", "bound"], [0, 1, 0]), wire.execute("")]),
                 ("null", [wire.bind("", "p", ["b", None, "bound"]), wire.execute("")]),
                 ("executed", [wire.parse("", "execute p ('c', 3, 'x')"), wire.describe("S", ""),
                               wire.bind("", "", []), wire.execute("")]),
                 ("twice", [wire.parse("e", "execute p ('d', 4, 'x')"), wire.bind("", "e", []), wire.execute(""),
                            wire.bind("", "e", []), wire.execute("")]))
        for link in self.links:
            link.query(TEXTS[0])
        for name, messages in steps:
            told = []
            for link in self.links:
                link.send(*messages, wire.sync())
                told.append([self.line(one) for one in link.read_ready()])
            self.assertEqual(*told, name)
        self.check_hashes()

    def test_returning_is_looked_at_before_set(self):
        """A parameter that is a column of it alone is text."""
        for link in self.links:
            link.query("insert into items (tenant, id, n, word) values ('a', 1, 2, 'x')")
        for assigned, returned, values in (("n = $1", "$1", ["5"]), ("n = $1", "$1, $1", ["5"]), ("n = $1 + 1", "$1", ["5"]),
                                           ("n = $1", "$1 + 1", ["5"]), ("word = $1", "$1, n", ["y"]),
                                           ("word = $1, n = $2", "$1, $2 + n", ["y", "3"])):
            sql = f"update items set {assigned} where tenant = 'a' and id = 1 returning {returned}"
            told = []
            for link in self.links:
                link.send(wire.parse("", sql), wire.bind("", "", values), wire.describe("P", ""), wire.execute(""),
                          wire.sync())
                lines = [self.line(one) for one in link.read_ready()]
                refused = [one for one in lines if one[0] == "E"]
                told.append(refused or lines)  # at Parse, or when it is run
            self.assertEqual(*told, sql)
        self.same("select * from items")

    def read_anew(self, number):
        """Another configuration, of whose tables nobody has asked yet."""
        anew = config(self.endpoint, self.tables, backend={"retry_ms": 9000 + number})
        self.assertTrue(self.keyspread.reload(anew))

    def test_a_configuration_that_is_read_anew(self):
        """EXECUTE does not name its tables."""
        for link in self.links:
            link.query("prepare n as insert into items values ($1, $2, $3, $4)")
            link.query("prepare calm as insert into items (tenant, id) values ($1, $2) on conflict do nothing")
        for number, sql in enumerate(("execute n ('x', 1, 'y', 1)", "execute n ('x', 2, 'y', 1)",
                                      "execute calm ('x', 1)", "execute calm ('x', 3)")):
            self.read_anew(number)
            self.same(sql)
        self.check_hashes()

    def test_what_parse_has_made(self):
        """EXECUTE would have to give the hash as well."""
        link = self.links[1]
        link.ask(wire.parse("s", "insert into items (tenant, id) values ($1, $2)"), wire.sync())
        for sql in ("execute s ('a', 1)", "execute s ('a', 1, 12345)", "execute s ('a', 1, null)",
                    "execute U&\"!0073\" uescape '!' ('a', 1, 12345)"):
            self.assertEqual(wire.error_of(link.query(sql)), "0A000", sql)
        self.assertEqual(self.stored(), [])
        for tenant in "ab":
            link.ask(wire.bind("", "s", [tenant, "1"]), wire.execute(""), wire.sync())
        self.check_hashes()

    def test_parameters_that_are_told(self):
        """Their constants have names of their own."""
        for sql, *values in (("insert into items (tenant, id) values ($1, $2) returning id, $2, $1", "a", "1"),
                             ("delete from items where tenant = $1 returning $1, id", "a")):
            told = []
            for link in self.links:
                link.send(wire.parse("", sql), wire.describe("S", ""), wire.bind("", "", values), wire.execute(""),
                          wire.sync())
                told.append([self.line(one) for one in link.read_ready()])
            self.assertEqual(*told, sql)

    def test_refused(self):
        """What would have no hash, or a wrong one."""
        for sql in REFUSED:
            told = [self.line(one) for one in self.links[1].query(sql)]
            self.assertEqual(told[-2][0], "E", sql)
            self.assertIn(told[-2][1], ("0A000", "22023", "23502", "42703"), sql)
        self.assertEqual(self.stored(), [])


if __name__ == "__main__":
    unittest.main()
