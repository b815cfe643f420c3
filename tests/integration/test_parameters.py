"""As many parameters as a message can have: PostgreSQL's answers, and the right hashes, though those
of the rows have no room among them."""
import struct
import unittest

import harness
import wire
from direct_case import DirectCase

MOST = 65535
INSERT = "insert into orders (customer, number)"


def rows_of(count, width=2):
    """VALUES of so many rows of parameters."""
    return " values " + ", ".join(
        "(" + ", ".join(f"${row * width + cell + 1}" for cell in range(width)) + ")"
        for row in range(count))


def numbers(count, first=1):
    return [value for row in range(count) for value in (row % 7, first + row)]


class Parameters(DirectCase):
    tables = (harness.Table("orders", ["customer int not null", "number int not null",
                                       "plain int references plain (a)"], ["customer", "number"],
                            hash_first=False),
              harness.EVENTS)
    before_sql = "create table plain (a int primary key)"
    setup_sql = "insert into plain select generate_series(1, 5)"

    def test_rows_beyond_the_number(self):
        """21,846 rows of two parameters, and a hash for each, are 65,538."""
        for count, name in ((21846, ""), (32767, "s")):
            self.both([wire.parse(name, INSERT + rows_of(count)), wire.describe("S", name),
                       wire.bind("", name, numbers(count)), wire.execute(), wire.sync()],
                      verify=count == 21846)

    def test_all_65535(self):
        insert = "insert into orders (customer, number, plain)" + rows_of(21845, 3)
        values = [value for row in range(21845) for value in (row % 7, row, 1 + row % 5)]
        replies = self.both([wire.parse("s", insert), wire.describe("S", "s"), wire.sync(),
                             wire.bind("", "s", values), wire.execute(), wire.sync()], ready=2)
        self.assertEqual(wire.kinds(replies), "1tnZ2CZ")

    def test_one_row_of_65535(self):
        """A single row, whose single hash has no room."""
        choice = ", ".join(f"${number}::text" for number in range(2, MOST))
        insert = f"insert into events values ($1, $65535, coalesce({choice}))"
        values = [5] + [None] * (MOST - 3) + ["last", "2026-01-01 00:00Z"]
        self.both([wire.parse("", insert), wire.bind("", "", values), wire.execute(), wire.sync()],
                  verify=True)

    def test_floats_for_integers(self):
        """As pandas sends integers of a column that has NaN: in text and in binary, of float8 and of float4."""
        insert = "insert into orders (customer, number) values ($1, $2)"
        for number, value in enumerate(("7", "2.5", "-3.5", "0.49", "2147483647", "2147483647.5", "-2147483648.5", "NaN", "Infinity")):
            with self.subTest(value):
                self.both([wire.parse("", insert, [701, 23]), wire.bind("", "", [value, number]), wire.execute(), wire.sync()])
                self.both([wire.parse("", insert, [701, 23]), wire.describe("S", ""),
                           wire.bind("", "", [struct.pack("!d", float(value)), str(100 + number).encode()], [1, 0]),
                           wire.execute(), wire.sync()])
                self.both([wire.parse("", insert, [700, 23]), wire.bind("", "", [value, 200 + number]), wire.execute(), wire.sync()])
                self.both([wire.query(f"insert into orders (customer, number) values ('{value}'::float8, {300 + number})")])
        self.both([wire.query("select customer, number from orders order by 2")], verify=True)

    def test_prepared_once_and_bound_often(self):
        count = 21846
        messages = [wire.parse("s", INSERT + rows_of(count) + " returning *", [23, 23]),
                    wire.describe("S", "s"), wire.sync()]
        for turn in range(2):
            messages += [wire.bind("p", "s", numbers(count, turn * count)),
                         wire.describe("P", "p"), wire.execute("p", 3), wire.close("P", "p"),
                         wire.sync()]
        self.both(messages, ready=3, verify=True)

    def test_among_others(self):
        count = 21846
        large = [wire.parse("", INSERT + rows_of(count)), wire.bind("", "", numbers(count)),
                 wire.execute()]
        small = [wire.parse("t", "insert into events values ($1, $2)"),
                 wire.bind("", "t", [1, "2026-01-01 00:00Z"]), wire.execute()]
        again = [wire.bind("", "t", [1, "2026-01-01 00:00Z"]), wire.execute()]
        self.both(small + large + [wire.sync()])
        self.both(small + large + again + [wire.sync(), wire.query("select 1")], ready=2)
        self.both([wire.query("begin")] + large + [wire.sync()] + small
                  + [wire.sync(), wire.query("commit")], ready=4, verify=True)

    def test_errors(self):
        count = 21846
        conflict = numbers(count)
        conflict[-2:] = conflict[:2]
        parse = wire.parse("", INSERT + rows_of(count))
        for values in (conflict, ["x"] + conflict[1:], conflict[:-1], conflict[:-1] + [None],
                       conflict[:-1] + ["99999999999"]):
            self.both([parse, wire.bind("", "", values), wire.execute(), wire.sync()])
        self.both([wire.parse("", INSERT + rows_of(count) + " on conflict do nothing"),
                   wire.bind("", "", conflict), wire.execute(), wire.sync()])
        self.both([wire.parse("", INSERT + rows_of(count) + " returning nothing"),
                   wire.bind("", "", conflict), wire.execute(), wire.sync()])

    def test_more_than_there_can_be(self):
        for highest in (65536, 70000):
            self.both([wire.parse("", f"insert into orders values ($1, ${highest}::int)"),
                       wire.describe("S", ""), wire.bind("", "", [1, 2]), wire.execute(),
                       wire.sync()])

    def test_types_beyond_the_parameters(self):
        """What is declared is a parameter, used or not."""
        insert = "insert into orders (customer, number) values ($1, $2)"
        for types in ([23, 23, 25], [23, 23] + [25] * (MOST - 2)):
            for values in ([1, 2], [1, 2] + [None] * (len(types) - 2)):
                self.both([wire.parse("s", insert, types), wire.describe("S", "s"), wire.sync(),
                           wire.bind("", "s", values), wire.execute(), wire.sync()], ready=2)
        self.both([wire.parse("s", insert, [23, 23, 0]), wire.sync()])

    @harness.proxied
    def test_an_upsert(self):
        count = 21846
        values = numbers(count)
        values[-2:] = values[:2]
        with wire.Wire(("127.0.0.1", self.keyspread.port)) as session:
            session.login(harness.USER, "hashed")
            upsert = "upsert into orders (customer, number)" + rows_of(count)
            for _ in range(2):
                replies = session.ask(wire.parse("", upsert), wire.bind("", "", values),
                                      wire.execute(), wire.sync())
                self.assertEqual(wire.tags_of(replies), [f"INSERT 0 {count}"])
        self.assertEqual(len(self.contents("hashed", verify=True)[0]), count - 1)

    @harness.proxied
    def test_what_was_prepared_stores_nothing_by_itself(self):
        """EXECUTE does not pass by here with its parameters."""
        count = 21846
        with wire.Wire(("127.0.0.1", self.keyspread.port)) as session:
            session.login(harness.USER, "hashed")
            session.ask(wire.parse("s", INSERT + rows_of(count)), wire.describe("S", "s"),
                        wire.sync())
            values = ", ".join(map(str, numbers(count)))
            self.assertIsNotNone(wire.error_of(session.query(f"execute s({values})")))
        self.assertEqual(self.contents("hashed"), [[], []])

    @harness.proxied
    def test_a_hash_that_execute_gives(self):
        """As one argument more, it would be stored."""
        with wire.Wire(("127.0.0.1", self.keyspread.port)) as session:
            session.login(harness.USER, "hashed")
            session.ask(wire.parse("s", INSERT + rows_of(1)), wire.sync())
            for sql in ("execute s(1, 2, 3)", "execute s(1, 2, 3, 4)", "begin; execute s(1, 2, 3, 4); commit",
                        "explain analyze execute s(1, 2, 3, 4)"):
                self.assertEqual(wire.error_of(session.query(sql)), "0A000", sql)
                self.assertEqual(wire.error_of(session.ask(wire.parse("", sql), wire.sync())), "0A000", sql)
                session.query("rollback")
            session.rows("deallocate s")
            self.assertEqual(wire.error_of(session.query("execute s(1, 2, 3)")), "26000")
        self.assertEqual(self.contents("hashed"), [[], []])


@harness.proxied
class Growing(harness.StackCase):
    """Short statements that are long when their columns are named."""
    WIDE = harness.Table("wide", ["k bigint not null"] + [f"{'c' * 58}{n:04} int" for n in range(1500)],
                         ["k"])
    tables = (WIDE,)
    partitioned = False

    def test_a_text_that_would_take_all_memory(self):
        session = self.wire()
        one = "insert into wide values (1) returning *;"
        replies = session.query("select 1/0;" + one * 60000)  # of 120 kB each
        self.assertEqual(wire.error_of(replies), "22012")
        self.assertEqual(session.rows("select 1"), [["1"]])
        self.check_stored(self.WIDE, count=0)


if __name__ == "__main__":
    unittest.main()
