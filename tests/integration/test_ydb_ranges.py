#!/usr/bin/env python3
"""Reads by ranges of the key, and in its order, of tables with hash_buckets before the fake of YDB's
endpoint: which rows they show, how many rows they read, and how many partitions they touch.
"""
import os
import random
import re
import unittest

import wire
from harness import Table
from ydb_case import LinksCase, YdbCase, config
import harness

BUCKETS = 8
PARTITIONS = 4


class Bucketed(Table):
    """Its hash column holds a bucket."""

    def __init__(self, name, columns, key, **options):
        super().__init__(name, columns, key, hash_first=False, key_order="hash_first",
                         partitions=PARTITIONS, hash_buckets=BUCKETS, **options)

    def described(self):
        """As the fake is told of it."""
        return (f"{self.name},column={self.hash_column},position={len(self.columns) + 1},"
                f"buckets={BUCKETS},uniform={PARTITIONS},key={':'.join(self.key)}")


ITEMS = Bucketed("items", ["id bigint not null", "label text", "amount integer"], ["id"])
VISITS = Bucketed("visits", ["userid integer not null", "ts timestamp not null", "page text"],
                  ["userid", "ts"], hash_key=["userid", "ts"])
NOTES = Bucketed("notes", ["name text not null", "number integer not null", "body text"],
                 ["name", "number"], hash_key=["name", "number"])
PLAIN = Table("plain", ["id bigint not null", "label text", "amount integer"], ["id"],
              hash_first=False, key_order="hash_first", partitions=PARTITIONS)
TABLES = (ITEMS, VISITS, NOTES, PLAIN)


ROWS = re.compile(r"\(\w+\.\w+, \w+\.\w+\) [<>]")


def day(number):
    return f"2026-{number // 28 % 12 + 1:02}-{number % 28 + 1:02} 00:00:00"


def rows_of(table, count):
    """As VALUES has them."""
    if table is VISITS:
        return [f"({number % 20}, '{day(number // 20)}', 'page {number % 7}')" for number in range(count)]
    if table is NOTES:
        return [f"('{'abc'[number % 3]}{number % 10}', {number}, 'body {number % 5}')"
                for number in range(count)]
    return [f"({number}, {'null' if number % 11 == 0 else repr('label ' + str(number % 6))}, {number * 7 % 50})"
            for number in range(count)]


class Loaded:
    """As many rows in each of the tables, on all sides."""

    rows = 200
    tables = TABLES
    plain_sql = "create table copies (id bigint primary key)"
    endpoint_options = {"table": [table.described() for table in (ITEMS, VISITS, NOTES)] +
                                 [f"plain,column=id_hash,position=4,uniform={PARTITIONS},key=id"]}

    def setUp(self):
        super().setUp()
        for port in self.sides.values():
            with wire.Wire(("127.0.0.1", port)) as link:
                link.login(harness.USER, "local")
                for table in TABLES:
                    names = ", ".join(column.split()[0] for column in table.columns)
                    link.rows(f"insert into {table.name} ({names}) values " +
                              ", ".join(rows_of(table, self.rows)))


class Costs(Loaded, YdbCase):
    """What a read costs: rows that are read, of which there are 1,000, and partitions that are touched."""

    rows = 1000

    def setUp(self):
        super().setUp()
        self.through = self.link(self.keyspread.port)

    def cost(self, *messages):
        """Of a text or of messages: rows that it showed, that it read, and partitions that it touched."""
        self.endpoint.http("POST", "/counters")
        if isinstance(messages[0], str):
            replies = self.through.query(messages[0])
        else:
            replies = self.through.ask(*messages)
        self.assertFalse([one for one in replies if one.kind == "E"], messages)
        counters = self.endpoint.counters()
        self.assertEqual(sum(counters["requests"].values()), 1, counters)
        touched = int(next(iter(counters["requests"])))
        return len([one for one in replies if one.kind == "D"]), counters["rows_read"], touched

    def test_ranges(self):
        """As many rows as are shown, at the most one more in each bucket; in all partitions."""
        for sql, shown in (
                ("select * from items where id between 100 and 150", 51),
                ("select * from items where id > 989", 10),
                ("select id from items where id >= 10 and id < 20 and true", 10),
                ("select * from items where 995 <= id", 5),
                ("select * from items i where i.id < 5 or i.id > 997", 7),
                ("select * from visits where userid = 5", 50),
                ("select * from visits where userid in (5, 6)", 100),
                (f"select * from visits where userid = 5 and ts > '{day(45)}'", 4),
                ("select * from visits where userid between 4 and 5", 100),
                ("select * from notes where name = 'a0'", 34),
                ("select * from notes where name like 'a0%'", 34),
                ("select body from notes where name >= 'c' and name < 'c1'", 33),
                ("select distinct label from items where id between 1 and 2", 2),
                ("select count(*) from items where id < 10 group by id", 10),
                (f"select * from visits where (userid, ts) > (19, '{day(45)}')", 4),
                ("select * from notes n where (name, number) <= ('a0', 20)", 1)):
            with self.subTest(sql):
                self.assertEqual(self.cost(sql), (shown, shown, PARTITIONS))

    def test_parameters(self):
        for sql, values, shown in (("select * from items where id between $1 and $2", (1, 5), 5),
                                   ("select * from visits where userid = $1", (5,), 50),
                                   ("select * from notes where name like $1", ("a0%",), 34)):
            with self.subTest(sql):
                self.assertEqual(
                    self.cost(wire.parse("", sql), wire.bind("", "", values), wire.describe("P", ""),
                              wire.execute(), wire.sync()), (shown, shown, PARTITIONS))

    def test_first_rows(self):
        """At the most as many rows of each bucket as are wanted."""
        for sql, shown, most in (
                ("select * from items order by id desc limit 10", 10, 10),
                ("select * from items order by id limit 10", 10, 10),
                ("select i.label as x, i.id from items as i order by i.id limit 10 offset 20", 10, 30),
                ("select * from items where id > 100 order by id limit 50", 50, 50),
                ("select * from items where id < 100 order by id desc fetch first 5 rows only", 5, 5),
                ("select * from visits order by userid desc, ts desc limit 3", 3, 3),
                (f"select * from visits where (userid, ts) < (5, '{day(3)}') order by userid desc, ts desc limit 5", 5, 5),
                (f"select * from visits v where (v.userid, v.ts) >= (5, '{day(3)}') order by v.userid, v.ts limit 5", 5, 5),
                ("select * from visits where userid = 5 order by ts desc limit 3", 3, 3),
                ("select * from visits where userid = 5 order by userid, ts limit 3", 3, 3),
                ("select page from visits order by userid limit 3", 3, 3),
                ("select max(id) from items", 1, 1),
                ("select min(id), max(id) + 1 from items", 1, 2),
                ("select coalesce(max(id), 0) as last from items where id < 500", 1, 1),
                ("select max(ts) from visits where userid = 7", 1, 1)):
            with self.subTest(sql):
                got, read, touched = self.cost(sql)
                self.assertEqual((got, touched), (shown, PARTITIONS))
                self.assertGreaterEqual(read, BUCKETS)
                self.assertLessEqual(read, most * BUCKETS)

    def test_first_rows_by_parameters(self):
        for sql, values in (("select * from items order by id limit $1 offset $2", (5, 2)),
                            ("select * from items where id > $3 order by id limit $1::int offset $2::int",
                             (5, 2, 100))):
            with self.subTest(sql):
                got, read, _ = self.cost(wire.parse("", sql), wire.bind("", "", values),
                                         wire.execute(), wire.sync())
                self.assertEqual(got, 5)
                self.assertLessEqual(read, 7 * BUCKETS)

    def test_whole_keys(self):
        """They are looked for in their own bucket, as ever."""
        for sql in ("select * from items where id = 5",
                    f"select * from visits where userid = 5 and ts = '{day(2)}' order by ts limit 1"):
            self.assertEqual(self.cost(sql), (1, 1, 1), sql)

    def test_whole_tables(self):
        """What has no range of the key reads all, and so does any range without buckets."""
        for sql in ("select * from items where label = 'label 1'", "select id::text from items order by id limit 1",
                    "select * from items order by label limit 1", "select max(label) from items",
                    "select * from items order by id", "select * from visits where ts > '2026-05-05'",
                    "select * from plain where id between 5 and 7", "select * from plain order by id limit 1",
                    "select max(id) from plain"):
            self.assertEqual(self.cost(sql)[1:], (1000, PARTITIONS), sql)

    def test_writes(self):
        """Their rows are counted before they are written: both read the range."""
        for sql, count in (("update items set label = 'x' where id between 10 and 20", 11),
                           ("delete from items where id > 990", 9),
                           ("delete from visits where userid = 5", 50)):
            self.endpoint.http("POST", "/counters")
            self.assertEqual(wire.tags_of(self.through.query(sql)), [f"{sql.split()[0].upper()} {count}"])
            self.assertEqual(self.endpoint.counters()["rows_read"], 2 * count, sql)

    def test_explain(self):
        for sql, says in (("select * from items where id > 5", "8 seeks, one a bucket"),
                          ("select * from items order by id limit 5", "8 seeks, one a bucket"),
                          ("select * from items where id = 5", "one row (one partition)"),
                          ("select * from plain where id > 5", "the whole table")):
            lines = [row[0] for row in self.through.rows("explain (proxy) " + sql)]
            self.assertIn(f"reads: public.{sql.split()[3]}: {says}", lines)


class Statements:
    """Reads and writes by chance, each with what of its rows' order is defined: all (True), none (False),
    or that of one column, by its place."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def value(self, table, column):
        if column in ("id", "amount", "number"):
            return str(self.random.randrange(-5, 210))
        if column == "userid":
            return str(self.random.randrange(-1, 21))
        if column == "ts":
            return f"'{day(self.random.randrange(12))}'"
        if column == "name":
            return f"'{self.random.choice('abcd')}{self.random.choice(['', '1', '5', '99'])}'"
        return f"'{self.random.choice(['label 1', 'page 2', 'body 3', 'x'])}'"

    def condition(self, table, called, column):
        named = f"{called}.{column}" if called and self.random.random() < 0.5 else column
        value = lambda: self.value(table, column)
        form = self.random.randrange(10)
        if form < 3:
            return f"{named} {self.random.choice(['<', '>', '<=', '>='])} {value()}"
        if form < 5:
            return f"{named} = {value()}"
        if form == 5:
            return f"{named} between {value()} and {value()}"
        if form == 6:
            return f"{named} in ({', '.join(value() for _ in range(self.random.randrange(1, 4)))})"
        if form == 7:
            return f"{value()} {self.random.choice(['<', '>', '='])} {named}"
        if form == 8 and column in ("name", "label", "page", "body"):
            return f"{named} like '{self.random.choice(['a%', '%1', 'b_', 'c5', 'label%'])}'"
        if form == 9 and len(table.key) > 1 and self.random.random() < 0.7:
            columns = [f"{called}.{name}" for name in table.key]
            return (f"({', '.join(columns)}) {self.random.choice(['<', '>', '<=', '>='])} "
                    f"({', '.join(self.value(table, name) for name in table.key)})")
        return f"({named} < {value()} or {named} > {value()})"

    def where(self, table, called):
        names = [column.split()[0] for column in table.columns]
        chosen = [self.random.choice(table.key + names) for _ in range(self.random.choice([0, 1, 1, 2, 3]))]
        conditions = [self.condition(table, called, column) for column in chosen]
        if not conditions:
            return ""
        return " where " + self.random.choice([" and ", " and ", " or "]).join(conditions)

    def order(self, table, called):
        """The columns, and the words."""
        if self.random.random() < 0.2:
            columns = self.random.sample([column.split()[0] for column in table.columns], 2)
        else:
            columns = table.key[:self.random.randrange(1, len(table.key) + 1)]
            if len(columns) == len(table.key) and self.random.random() < 0.2:
                columns = columns + [table.columns[-1].split()[0]]
            if len(table.key) > 1 and self.random.random() < 0.2:
                columns = table.key[1:]
        down = self.random.choice(["", " asc", " desc", " desc"])
        words = [f"{called}.{name}" if called and self.random.random() < 0.5 else name for name in columns]
        mixed = self.random.random() < 0.1
        return columns, ", ".join(word + (self.random.choice(["", " desc"]) if mixed else down) for word in words)

    def limit(self):
        count, offset = self.random.randrange(0, 12), self.random.randrange(0, 15)
        form = self.random.randrange(6)
        if form == 0:
            return f" fetch first {count + 1} rows only"
        if form < 3:
            return f" limit {count} offset {offset}"
        if form == 3:
            return f" offset {offset} limit {count}"
        return f" limit {count}"

    def read(self):
        table = self.random.choice(TABLES)
        alias = self.random.choice(["", "", " as x", " y"])
        called = alias.split()[-1] if alias else table.name
        where = self.where(table, called)
        if self.random.random() < 0.2:
            column = self.random.choice(table.key)
            what = self.random.choice([f"max({column})", f"min({called}.{column})", f"max({column}), min({column}) as least",
                                       f"coalesce(max({column}::text), 'none') as x", f"count(*), max({column})",
                                       f"min({column}), max({table.columns[-1].split()[0]})"])
            return f"select {what} from {table.name}{alias}{where}", True
        # What the order is defined by is shown first.
        columns, words = self.order(table, called)
        shown = self.random.choice(["*", f"{called}.*", table.columns[-1].split()[0], f"lower({table.columns[1].split()[0]}::text)",
                                    f"{table.key[0]}::text", f"{table.key[0]} as z", "1 as one"])
        keys = ", ".join(f"{name} as k{number}" for number, name in enumerate(table.key))
        sql = f"select {keys}, {shown} from {table.name}{alias}{where}"
        if self.random.random() < 0.15:
            return sql, False
        sql += f" order by {words}"
        whole = set(table.key) <= set(columns)
        if self.random.random() < 0.8:
            limit = self.limit()
            if not whole:  # Which of the rows that are equal in the order come first is anybody's.
                return sql.replace(keys, columns[0] + " as k0", 1).replace(f", {shown}", "", 1) + limit, True
            return sql + limit, True
        return sql, whole

    def write(self):
        table = self.random.choice(TABLES)
        where = self.where(table, table.name) or f" where {table.key[0]} < {self.value(table, table.key[0])}"
        if self.random.random() < 0.5:
            return f"delete from {table.name}{where}"
        return f"update {table.name} set {table.columns[-1].split()[0]} = {self.value(table, table.columns[-1].split()[0])}{where}"


class AgainstPostgres(Loaded, LinksCase):
    """KEYSPREAD_STATEMENTS statements by KEYSPREAD_SEED, on both sides: the same rows, names and types."""

    seed = int(os.environ.get("KEYSPREAD_SEED", "1"))
    count = int(os.environ.get("KEYSPREAD_STATEMENTS", "400"))
    errors = 0  # that both sides have told alike

    def ask(self, link, sql, values):
        if values is None:
            return link.query(sql)
        return link.ask(wire.parse("", sql), wire.bind("", "", values), wire.describe("P", ""),
                        wire.execute(), wire.sync())

    def outcome(self, link, sql, values, ordered):
        lines = [self.line(one) for one in self.ask(link, sql, values)]
        rows = [line for line in lines if line[0] == "D"]
        rest = [line for line in lines if line[0] in "TCE"]
        return rest, rows if ordered else sorted(rows, key=repr)

    def check(self, sql, ordered, values=None):
        """True: YDB, which cannot compare rows, has refused one; where they make a range they are written out."""
        expected, got = (self.outcome(link, sql, values, ordered) for link in self.links)
        if got[0] == [("E", "0A000")] and ROWS.search(sql):
            return True
        self.assertEqual(expected, got, (self.seed, sql, values))
        self.errors += got[0][-1][0] == "E"
        return False

    @staticmethod
    def bound(chance, sql):
        """The same with some of its numbers as parameters."""
        words, values = [], []
        for word in sql.split(" "):
            if word.lstrip("-").isdigit() and chance.random() < 0.7:
                values.append(word)
                word = f"${len(values)}"
            words.append(word)
        return " ".join(words), values

    def test_kept_and_in_transactions(self):
        for sql in ("prepare s (bigint) as select * from items where id > $1 order by id limit 5",
                    "execute s (10)", "execute s (196)",
                    "prepare u as select label from items where id between $1 and $2 order by id", "execute u (5, 7)",
                    "begin", "declare c cursor for select id, label from items where id < 50 order by id desc limit 7",
                    "fetch 3 from c", "insert into items (id, label) values (1000, 'new')",
                    "select max(id), min(id) from items", "fetch 10 from c",
                    "update items set label = 'newer' where id > 990", "select * from items order by id desc limit 2",
                    "delete from items where id >= 150", "select max(id) from items", "rollback",
                    "select max(id) from items",
                    "insert into copies (id) select id + 1000 from items order by id limit 3",
                    "select id from copies order by id",
                    "with x as (select id from items order by id desc limit 3) select count(*), sum(id) from x",
                    "select p.id from plain p join items i on i.id = p.id where i.id < 5 and p.id > 2 order by p.id",
                    "select i.id, j.label from items i join items j on i.id = j.id where i.id between 3 and 6 order by i.id",
                    "select v.userid, count(*) from visits v left join items i on i.id = v.userid and i.amount > 7 "
                    "where v.userid < 5 group by v.userid order by 1",
                    "select i.id, v.ts from items i left join visits v on v.userid = i.id where i.id in (5, 30, 6) and "
                    "(v.userid < 6 or v.userid > 100) order by 1, 2",
                    "select (select max(id) from items) - (select min(id) from items) as width",
                    "select id from items where id > 197 union all select id from plain where id < 2 order by id",
                    "select * from items order by id limit null"):
            self.same(sql)

    def test_it_shows_the_same(self):
        statements = Statements(self.seed)
        changed = merged = sought = compared = refused = 0
        explained = self.link(self.keyspread.port)
        for number in range(self.count):
            if number % 10 == 9:
                sql = statements.write()
                while ROWS.search(sql):
                    sql = statements.write()
                for link in self.links:
                    link.query("begin")
                self.check(sql, True)
                self.check(f"select * from {sql.split()[1 if sql[0] == 'u' else 2]}", False)
                for link in self.links:
                    link.query("rollback")
                continue
            sql, ordered = statements.read()
            values = None
            if number % 3 == 0:
                sql, values = self.bound(statements.random, sql)
            refused += self.check(sql, ordered, values)
            compared += bool(ROWS.search(sql))
            if number % 4 == 0:
                lines = "\n".join(row[0] for row in explained.rows("explain (proxy) " + sql))
                merged += "UNION ALL" in lines
                sought += '_hash" IN (' in lines
                changed += 1
        # The statements are about what this is for, and are no errors.
        self.assertLess(self.errors, self.count // 20)
        self.assertLess(refused, compared // 2)
        self.assertGreater(merged, changed // 6)
        self.assertGreater(sought, changed // 12)


if __name__ == "__main__":
    unittest.main()
