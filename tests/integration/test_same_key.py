"""An UPDATE may set a column of the key to what it is: its WHERE asks for the value that SET gives, as ORMs write
it. Others change it, with its hash."""
import struct
import unittest

import harness
import wire
from direct_case import DirectCase
from harness import Table

ITEMS = Table("items", ["id int not null", "t text not null", "v text"], ["id", "t"],
              hash_key=["id", "t"], hash_first=False)
FILL = wire.query("insert into items (id, t, v) values (1, 'a', 'old'), (2, 'a', 'old'), (2, 'b', 'old')")
ALL = "update items set id = $1, t = $2, v = $3 where id = $4 and t = $5"
BOTH = [["2", "a", "new", "2", "a"], ["2", "b", "newer", "2", "b"], ["3", "a", "none", "3", "a"],
        ["2", "a", "none", "2", None]]
OTHER = [["3", "a", "new", "2", "a"], ["2", "b", "new", "2", "a"], [None, "a", "new", "2", "a"],
         ["2", "a ", "new", "2", "a"], ["02", "a", "new", "2", "a"]]


class SameKey(DirectCase):
    tables = (ITEMS,)

    def refused(self, *messages):
        """… through keyspread; the session goes on."""
        database, port = self.route()
        if not self.keyspread:
            self.skipTest("PostgreSQL itself changes keys")
        with self.log_in(database, port) as session:
            session.ask(FILL)
            for sent in messages:
                self.assertEqual(wire.error_of(session.ask(*sent)), "0A000", sent)
            session.rows("select 1")
        rows = self.contents(database, verify=True)[0]
        self.assertEqual([row[-1] for row in rows], ["old"] * 3)

    def test_constants(self):
        for text in ("update items set id = 1, v = 'new' where id = 1",
                     "update items set (v, t, id) = ('new', 'a', 2) where t = 'a' and (id = 2 and v > '')",
                     "update items i set id = 2, t = 'b', v = 'new' where i.id in (2) and 'b' = i.t returning i.v",
                     "update items set id = id, t = items.t, v = 'new'",
                     "update items set id = 9 where id = 9",
                     "with u as (update items set id = 1, v = 'new' where id = 1 returning v) table u",
                     "begin; update items set t = 'a', v = 'new' where t = 'a'; commit"):
            with self.subTest(text=text):
                self.both([FILL, wire.query(text)], ready=2, verify=True)

    def test_on_a_conflict(self):
        """What a row has already, in all spellings."""
        for target in ("(id, t)", "on constraint items_pkey"):
            for given in ("id = items.id, t = excluded.t", "id = (excluded.id), t = ((items.t))",
                          "(t, id) = (excluded.t, excluded.id)", "(id, t) = row (1, items.t)",
                          "id = excluded.id, (v, t) = row ('newer', excluded.t) where items.id < 2",
                          "(t, v) = (items.t, excluded.v || items.v)"):
                for rows in ("(1, 'a', 'x')", "(1, 'a', 'x'), (3, 'c', 'y')"):
                    if "1," in given and "3," in rows:
                        continue
                    with self.subTest(target=target, given=given, rows=rows):
                        self.both([FILL, wire.query(f"insert into items (id, t, v) values {rows} on conflict "
                                                    f"{target} do update set {given} returning *")],
                                  ready=2, verify=True)
        self.both([FILL, wire.query("insert into items as i (id, t, v) select 1, 'a', 'x' on conflict (id, t) "
                                    "do update set t = i.t, id = excluded.id, v = 'new'")], ready=2, verify=True)
        self.refused(*([wire.query("insert into items (id, t) values (1, 'a') on conflict " + more)] for more in (
            "(id, t) do update set (id, t) = (select 1, 'b')", "(id, t) do update set (id, t) = (excluded.id + 1, 'b')")))
        for more in ("on constraint other do update set id = excluded.id", "(id, t) do update set t = items.v"):
            self.both([FILL, wire.query("insert into items (id, t) values (1, 'a') on conflict " + more)], ready=2, verify=True)

    def test_one_shape_and_another_value(self):
        """What was found of a statement is not taken for another of its shape."""
        self.both([FILL, wire.query("update items set id = 1, v = 'new' where id = 1"),
                   wire.query("update items set id = 2, v = 'new' where id = 2")], ready=3, verify=True)
        for change in ("id = 1, v = 'new' where id = 2", "id = 3, v = 'new' where id = 1",
                       "t = 'c', v = 'new' where t = 'b'"):
            self.both([FILL, wire.query("update items set id = 1, v = 'new' where id = 1"),
                       wire.query("update items set " + change)], ready=3, verify=True)

    def test_backslashes(self):
        """… that libpg_query takes for what they are not."""
        self.both([wire.query("set standard_conforming_strings = off"), wire.query("set escape_string_warning = off"),
                   FILL, wire.query("update items set t = 'b\\t' where t = 'b'"),
                   wire.query(r"update items set t = 'b\n', v = 'x' where t = 'b\t'")], ready=5, verify=True)

    def test_upserts(self):
        """The row's own value, on a conflict and without one."""
        upsert = "insert into items (id, t, v) values (%s) on conflict (id, t) do update set %s, v = 'new'"
        for row, sets in (("2, 'b', 'x'", "id = 2"), ("'2', 'b', 'x'", "t = 'b', id = '2'"),
                          ("9, 'b', 'x'", "id = 9"), ("1, 'a', 'x'", "id = excluded.id, t = 'a'")):
            self.both([FILL, wire.query(upsert % (row, sets))], ready=2, verify=True)
        text = upsert % ("$1, $2, $3", "id = $1, t = $2")
        for values in (["2", "b", "x"], ["9", "b", "x"]):
            self.both([FILL, wire.parse("", text), wire.bind("", "", values), wire.execute(),
                       wire.sync()], ready=2, verify=True)
        for change in ("id = 3", "t = 'c'"):
            self.both([FILL, wire.query(upsert % ("2, 'b', 'x'", change))], ready=2, verify=True)

    def test_parameters(self):
        for name in ("", "s"):
            self.both([FILL, wire.parse(name, ALL), wire.describe("S", name), wire.sync(),
                       *(message for values in BOTH for message in
                         (wire.bind("", name, values), wire.execute(), wire.sync()))],
                      ready=2 + len(BOTH), verify=True)
            self.both([FILL, wire.parse(name, ALL),
                       *(message for values in BOTH for message in
                         (wire.bind("", name, values), wire.execute())), wire.sync()],
                      ready=2, verify=True)

    def test_parameters_that_change_the_key(self):
        for name in ("", "s"):
            for values in OTHER:
                self.both([FILL, wire.parse(name, ALL), wire.bind("", name, BOTH[2]), wire.execute(),
                           wire.bind("", name, values), wire.execute(), wire.sync(),
                           wire.bind("", name, values), wire.execute(), wire.sync()], ready=3, verify=True)

    def test_formats(self):
        two, text = struct.pack("!i", 2), "update items set id = $1, v = 'new' where id = $2"
        self.both([FILL, wire.parse("", text), wire.bind("", "", [two, two], formats=[1]),
                   wire.execute(), wire.sync()], ready=2, verify=True)
        self.both([FILL, wire.parse("", text), wire.bind("", "", ["2", two], formats=[0, 1]),
                   wire.execute(), wire.sync()], ready=2, verify=True)

    def test_declared_types(self):
        text = "update items set id = $1, v = 'new' where id = $2"
        self.both([FILL, wire.parse("", text, [23, 23]), wire.bind("", "", ["2", "2"]),
                   wire.execute(), wire.sync()], ready=2, verify=True)
        for types in ([20, 23], [23], [0, 23], [701, 701], [21, 21], [1043, 1043], [705, 705], [705, 23], [21, 705]):
            for values in (["2", "2"], ["3", "2"], [None, "2"]):
                with self.subTest(types=types, values=values):
                    self.both([FILL, wire.parse("", text, types), wire.describe("S", ""), wire.bind("", "", values),
                               wire.execute(), wire.sync()], ready=2, verify=True)

    def test_declared_as_psycopg_does(self):
        """Numbers as small as they are, and strings as nothing."""
        text = "update items set id = $1, t = $2, v = $3 where id = $4 and t = $5 returning *"
        for values in (["2", "a", "new", "2", "a"], ["7", "c", "new", "2", "b"], ["1", "a", "new", "2", "a"]):
            with self.subTest(values):
                self.both([FILL, wire.parse("s", text, [21, 0, 0, 21]), wire.bind("", "s", values), wire.describe("P", ""),
                           wire.execute(), wire.sync(), wire.bind("", "s", values), wire.execute(), wire.sync()], ready=3, verify=True)

    def test_one_parameter(self):
        text = "update items set id = $1, v = 'new' where id = $1"
        self.both([FILL, wire.parse("", text), wire.bind("", "", ["2"]), wire.execute(),
                   wire.sync()], ready=2, verify=True)

    def test_executed_in_sql(self):
        """EXECUTE has values that are compared by nobody."""
        for text in ("execute s(3, 'a', 'new', 2, 'a')", "select 1; EXECUTE \"s\" (3, 'a', 'new', 2, 'a')",
                     "explain analyze execute s(3, 'a', 'new', 2, 'a')"):
            database, port = self.route()
            with self.log_in(database, port) as session:
                session.ask(FILL)
                session.ask(wire.parse("s", ALL), wire.sync())
                self.assertEqual(wire.error_of(session.query(text)), "0A000", text)
                self.assertEqual(wire.error_of(session.ask(wire.parse("", text), wire.sync())),
                                 "0A000", text)
                session.rows("deallocate s")
                self.assertEqual(wire.error_of(session.query(text)), "26000", text)
            rows = self.contents(database, verify=True)[0]
            self.assertEqual([row[-1] for row in rows], ["old"] * 3)

    def test_what_the_server_refuses(self):
        for values in (["2", "a", "new", "2"], ["x", "a", "new", "x", "a"], []):
            self.both([FILL, wire.parse("", ALL), wire.bind("", "", values), wire.execute(),
                       wire.sync(), wire.query("select 1")], ready=3, verify=True)
        self.both([wire.query("begin"), wire.query("select 1/0"), wire.parse("", ALL), wire.sync(),
                   wire.query("rollback")], ready=4)


NAMED = Table("named", ["name varchar(9) not null", "v text"], ["name"], hash_first=False)
SHAPES = (("named", "name", "ABC"), ("items", "id", "1"))


class OwnEquals(DirectCase):
    """An operator = of somebody's own may find rows with another key than the one it is compared with."""
    tables = (ITEMS, NAMED)
    setup_sql = """create schema own;
        create function own.alike(varchar, varchar) returns bool immutable language sql
            as 'select lower($1::text) operator(pg_catalog.=) lower($2::text)';
        create function own.alike(int, int) returns bool immutable language sql
            as 'select $1 % 10 operator(pg_catalog.=) $2 % 10'"""

    def test_own_equals(self):
        path = wire.query("set search_path = own, pg_catalog, public")
        fill = wire.query("insert into named values ('abc', 'x'), "
                          "('ABC', 'x'); insert into items values (11, 'a', 'x'), (1, 'a', 'x')")
        updates = [wire.query(f"update {table} set {key} = '{value}' where {key} = '{value}'")
                   for table, key, value in SHAPES]
        bound = [message for table, key, value in SHAPES for message in
                 (wire.parse("", f"update {table} set {key} = $1, v = 'y' where {key} = $1"),
                  wire.bind("", "", [value]), wire.execute(), wire.sync())]
        self.both([path, fill, *updates, *bound], ready=6, verify=True)
        if not self.keyspread:
            self.skipTest("PostgreSQL itself changes keys")
        with wire.Wire(("127.0.0.1", self.keyspread.port)) as session:
            session.login(harness.USER, "hashed")
            for of in ("varchar", "int"):
                session.rows(f"create operator own.= (leftarg = {of}, rightarg = {of}, function = own.alike)")
            replies = session.ask(path, fill, *updates, *bound, ready=6)
        self.assertEqual([reply.sqlstate for reply in replies if reply.kind == "E"],
                         ["23505", "23505", "0A000", "0A000"])
        items, named = self.contents("hashed", verify=True)
        self.assertEqual((items, named), ([["1", "a", "x"], ["11", "a", "x"]], [["ABC", "x"], ["abc", "x"]]))


if __name__ == "__main__":
    unittest.main()
