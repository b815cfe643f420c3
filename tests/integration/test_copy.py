"""COPY … FROM STDIN of a configured table: the same data direct and through keyspread, cut anywhere; what is replied and
stored is the same, and every stored hash is right."""
import struct
import unittest

import harness
import wire
from direct_case import SessionCase, shown

ITEMS = harness.Table("items", ["id bigint not null", "v text", "n int"], ["id"], hash_first=False)
NAMES = harness.Table("names", ["name text not null", "day date not null", "v text"], ["name", "day"], hash_first=False,
                      hash_key=["name", "day"], hash_column="h")
ONE = harness.Table("one", ["k text not null"], ["k"], hash_first=False)
MORE = harness.Table("more", ["id bigint not null generated always as identity", "twice bigint generated always as (n * 2) stored",
                              "n int", "\"aA\"\"b\" text"], ["id"])
DATED = harness.Table("dated", ["day date not null default current_date", "v text"], ["day"], hash_first=False)

# Of items (id, v, n): options, and data.
FILES = (
    ("", b"1\ta\t10\n2\tb\t20\n"),
    ("", b"1\ta\t10\n2\tb\t20"),  # the last line has no end
    ("", b"1\ta\t10\\"),  # a backslash ends the data
    ("", b"1\ta\t\\N\\"),
    ("", b"1\ta\\"),
    ("", b""),
    ("", b"\\.\n"),
    ("", b"1\ta\t10\n\\.\n"),
    ("", b"1\ta\t10\n\\.\n2\tb\t20\n"),  # nothing behind the end counts
    ("", b"1\ta\\tb\\n\\\\\\x41\\101\\q\t10\n"),
    ("", b"1\t\\N\t\\N\n-5\t\t7\n"),
    ("", b"1\ta\\\nb\t10\n"),  # a backslash before the end of a line
    ("", b"1\ta\r\n"),
    ("", b"1\ta\t10\r\n2\tb\t20\r\n"),
    ("", b"1\ta\t10\r2\tb\t20\r"),
    ("", b"1\ta\t10\n2\tb\t20\r\n"),
    ("", b"1\ta\t10\r\n2\tb\t20\n"),
    ("", b"1\ta\t10\r2\tb\t20\n"),
    ("", b"\\061\ta\t10\n 2\tb\t20\n"),
    ("", b"1\ta\n"),  # too few
    ("", b"1\ta\t10\t11\n"),  # too many
    ("", b"1\ta\t10\t-123456789\n"),
    ("", b"\n"),
    ("", b"x\ta\t10\n"),
    ("", b"1\ta\t10\n\tb\t20\n"),
    ("", b"\\N\ta\t10\n"),
    ("", b"1\ta\tx\n"),
    ("", b"1\ta\t10\n1\ta\t10\n"),
    ("", b"1\ta\t10\n99999999999999999999\ta\t10\n"),
    ("", b"1\t" + b"long " * 19 + b"\tx\n"),
    ("", b"1\t" + b"long " * 17 + b"abcd\tx\n"),
    ("", b"1\t" + b"longer " * 40 + b"\tx\n"),
    ("", "1\tgrün €\t10\n2\t\U0001f600\tx\n".encode()),
    ("", b"1\t\xff\t10\n"),
    (" (delimiter '|', null 'NULL')", b"1|NULL|10\n2|x\\|y|NULL\n"),
    (" delimiter ';' null ''", b"1;;10\n2;x;\n"),
    (" with delimiter as ',' null as 'n'", b"1,n,n\n"),
    (" (header)", b"id\tv\tn\n1\ta\t10\n"),
    (" (header match)", b"id\tv\tn\n1\ta\t10\n"),
    (" (header match)", b"id\tw\tn\n1\ta\t10\n"),
    (" (header off, encoding 'UTF-8')", b"1\ta\t10\n"),
    (" (format csv)", b"1,a,10\n2,b,20\n"),
    (" csv", b'1,"a,b",10\n2,"a""b\nc",\n"3",,30'),
    (" csv", b'1,a,10\r\n2,"x\r\ny",20\r\n'),
    (" csv", b'1,a,10\r2,"x\ry",20\r'),
    (" csv header", b'id,v,n\n1,a,10\n'),
    (" csv header", b'"id\nx",v,n\n1,a,10\n'),
    (" (format csv, header match)", b'id,v,n\n1,a,10\n'),
    (" (format csv, header match)", b'id,v\n1,a,10\n'),
    (" csv", b'1,a\n'),
    (" csv", b'1,a,10,\n'),
    (" csv", b'1,"a,10\n'),
    (" csv", b'1,a,10\n\\.\n2,b,20\n'),
    (" csv", b'1,\\.,10\n\\.x,b,20\n'),
    (" csv", b'"1",a"b"c,10\n'),
    (" csv", b'"",a,10\n'),
    (" csv", b',a,10\n'),
    (" csv quote '''' escape '\\'", b"1,'a\\'b\\\\',10\n'2','\\x',20\n"),
    (" csv delimiter E'\\t' null 'NULL'", b'1\tNULL\tNULL\n2\t"NULL"\t5\n'),
    (" (format csv, null 'x', force_null (v), force_not_null (n))", b'1,"x",x\n'),
    (" (format csv, null 'x', force_not_null (id))", b'x,7,7\n'),
    (" csv force not null v", b'1,,10\n'),
    (" (format csv, null 'x', force_null (id))", b'"x",a,10\n'),
    (" where n > 15", b"1\ta\t10\n2\tb\t20\n"),
    (" (freeze)", b"1\ta\t10\n"),
    (" csv where id <> 1", b"1,a,10\n2,b,20\n"),
    (" (format what)", b"1\ta\t10\n"),
    (" (delimiter 'ab')", b"1\ta\t10\n"),
    (" (no_such_option)", b"1\ta\t10\n"),
    (" csv header", b"id,v,n\n"),
    (" csv header", b""),
    (" (format csv, force_null (v, n), force_not_null (v))", b'1,"",""\n'),
    (" (format csv, force_quote (v))", b"1,a,10\n"),  # This option is for COPY TO alone.
    # PostgreSQL 15 does not take these.
    (" (on_error ignore)", b"1\ta\t10\n"),
    (" (on_error ignore, log_verbosity verbose)", b"1\ta\tx\n"),
    (" (default 'D')", b"1\ta\tD\n"),
    (" (format csv, force_null *)", b"1,a,10\n"),
)

# Of names (name, day, v).
KEYS = (
    ("", "a\t2026-01-31\tx\nb\\tc\t31.12.2025\ty\n".encode()),
    (" csv", 'a,2026-01-31,x\n"ü""\n",2025-12-31,\n'.encode()),
    ("", b"a\tnot a day\tx\n"),
    ("", b"\t2026-01-31\tx\n"),
)

SIGNATURE = b"PGCOPY\n\xff\r\n\0"


def binary(*rows, flags=0, extension=b"", trailer=b"\xff\xff"):
    data = SIGNATURE + struct.pack("!II", flags, len(extension)) + extension
    for row in rows:
        data += struct.pack("!h", len(row))
        for field in row:
            data += struct.pack("!i", -1) if field is None else struct.pack("!i", len(field)) + field
    return data + trailer


def int8(number):
    return struct.pack("!q", number)


def int4(number):
    return struct.pack("!i", number)


BINARIES = (
    binary((int8(1), b"a", int4(10)), (int8(-2), None, None)),
    binary((int8(1), b"a", int4(10)), extension=b"more"),
    binary((int8(1), b"a", int4(10)), trailer=b""),
    binary((int8(1), b"a")),
    binary((int8(1), b"a", int4(10), int8(7))),
    binary((None, b"a", int4(10))),
    binary((int4(1), b"a", int4(10))),
    binary((int8(1), b"a", int4(10)), flags=1 << 16),
    binary((int8(1), b"a", int4(10)))[:-4],
    binary(()),
    b"1\ta\t10\n",
    SIGNATURE[:5],
)


class CopyCase(SessionCase):
    tables = (ITEMS, NAMES, ONE, MORE, DATED)

    def setUp(self):
        super().setUp()
        self.sessions = self.connect_both()

    def copied(self, text, *pieces, end=None):
        """Its pieces as they are cut, all in one write."""
        self.both(wire.query(text), *[wire.copy_data(piece) for piece in pieces], end or wire.copy_done())
        contents = [self.contents(database, True) for database in ("direct", "hashed")]
        self.assertEqual(*contents, (text, pieces))
        return contents[0]

    def in_turn(self, text, data):
        """As a client that waits until it is asked for data."""
        answers = []
        for session in self.sessions:
            session.send(wire.query(text))
            replies = session.read_until("G", "Z")
            if replies[-1].kind == "G":
                replies += session.ask(wire.copy_data(data), wire.copy_done())
            answers.append([shown(reply) for reply in replies])
        self.assertEqual(*answers)
        self.assertEqual(*(self.contents(database, True) for database in ("direct", "hashed")))


class Files(CopyCase):
    def files(self):
        for options, data in FILES:
            if self.partitioned and "freeze" in options:
                continue  # PostgreSQL refuses it, so it is left away
            yield f"copy items from stdin{options}", data
        for options, data in KEYS:
            yield f"copy names (name, day, v) from stdin{options}", data

    def test_as_they_are(self):
        for text, data in self.files():
            with self.subTest(text, data=data):
                self.in_turn(text, data)

    def test_cut_at_each_byte(self):
        for text, data in self.files():
            with self.subTest(text, data=data):
                self.copied(text, *(data[at:at + 1] for at in range(len(data))))

    def test_binary(self):
        for data in BINARIES:
            with self.subTest(data=data):
                self.in_turn("copy items from stdin (format binary)", data)
                self.copied("copy binary items from stdin", *(data[at:at + 1] for at in range(len(data))))

    def test_lists(self):
        self.assertEqual(self.copied("copy items (n, id) from stdin", b"10\t1\n")[0], [["1", None, "10"]])
        self.copied("copy public . \"items\" (\"v\", id) from stdin", b"a\t1\n")
        self.copied("copy items(id) from stdin csv", b"1\n\\.\n")
        self.copied("copy one from stdin", b"a\n\n\\N\n")
        self.copied("copy one from stdin", b"a\n\nb\n")
        self.copied("copy one from stdin csv", b'a\n""\n\\.\n')
        self.copied("copy items (id, nothing) from stdin", b"1\t2\n")
        self.copied("copy items (id, id) from stdin", b"1\t2\n")
        self.copied("copy nothing from stdin", b"1\t2\n")

    def test_columns_that_the_server_fills(self):
        self.assertEqual(self.copied("copy more from stdin", b"5\t7\tx\n")[3], [["5", "14", "7", "x"]])

    def test_failed_by_its_client(self):
        self.copied("copy items from stdin", b"1\ta\t10\n", end=wire.copy_fail("so it is"))

    def test_in_a_transaction(self):
        for end in ("commit", "rollback"):
            self.query("begin")
            self.both(wire.query("copy items from stdin"), wire.copy_data(b"1\ta\t10\n"), wire.copy_done())
            self.query("update items set id = 2, v = 'b' where id = 1")
            self.query("select * from items")
            self.query(end)
            self.assertEqual(*(self.contents(database, True) for database in ("direct", "hashed")))

    def test_extended(self):
        for data in (b"1\ta\t10\n2\tb\t20\n", b"x\ta\t10\n", b"1\ta\n"):
            self.both(wire.parse("", "copy items from stdin"), wire.bind("", ""), wire.describe("P", ""), wire.execute(),
                      wire.copy_data(data[:3]), wire.copy_data(data[3:]), wire.copy_done(), wire.sync())
            self.assertEqual(*(self.contents(database, True) for database in ("direct", "hashed")))

    def test_named_and_run_twice(self):
        self.both(wire.parse("c", "copy items (id, v) from stdin csv"), wire.sync())
        for number in (b"1", b"2"):
            self.both(wire.bind("", "c"), wire.execute(), wire.copy_data(number + b",a\n"), wire.copy_done(), wire.sync())
        self.assertEqual(*(self.contents(database, True) for database in ("direct", "hashed")))

    def test_two_at_once(self):
        """The data of the second comes before the first is answered."""
        messages = []
        for number in (b"1", b"2"):
            messages += [wire.query("copy items from stdin"), wire.copy_data(number + b"\ta\t10\n"), wire.copy_done()]
        self.both(*messages, ready=2)
        self.assertEqual(*(self.contents(database, True) for database in ("direct", "hashed")))

    def test_another_statement_in_the_middle(self):
        """It comes in the place of data: neither stores anything."""
        for session in self.sessions:
            session.send(wire.query("copy items from stdin"), wire.copy_data(b"1\ta\t10\n2\t"))
            session.read_until("G")
            session.drop()
        self.assertEqual(*(self.contents(database, True) for database in ("direct", "hashed")))

    def test_many_rows(self):
        data = b"".join(b"%d\trow %d\t%d\n" % (number * 7919, number, number) for number in range(20_000))
        for size in (8192, 60_000, len(data)):
            rows = self.copied("copy items from stdin", *(data[at:at + size] for at in range(0, len(data), size)))
            self.assertEqual(len(rows[0]), 20_000)

    def test_large_rows(self):
        data = b"1\t" + b"x" * (8 << 20) + b"\t10\n2\ty\t20\n"
        self.copied("copy items from stdin", *(data[at:at + 1_000_000] for at in range(0, len(data), 1_000_000)))
        self.copied("copy items from stdin", data)

    def test_an_error_far_behind(self):
        """The server reads on behind what it is sent: the row in its error is the client's."""
        rows = [b"%d\ta\t1\n" % number for number in range(3000)]
        for at in (0, 1500, 2999):
            bad = rows[:at] + [b"%d\ta\tx\n" % at] + rows[at + 1:]
            self.copied("copy items from stdin", b"".join(bad))


WIDE_ROWS = [b",".join(b"%d" % (number + column) for column in range(1599)) for number in range(50)]
WIDE_FILES = (("", b"\n".join(WIDE_ROWS).replace(b",", b"\t")), (" csv", b"\n".join(WIDE_ROWS) + b"\n"),
              (" csv", WIDE_ROWS[0] + b",1\n"), (" csv", WIDE_ROWS[0].rpartition(b",")[0] + b"\n"))


class Widest(SessionCase):
    """As many columns as a table may have: the hash is the last of 1,600."""
    tables = (harness.Table("widest", ["id bigint not null", *(f"c{number} smallint" for number in range(1598))], ["id"],
                            hash_first=False),)

    def setUp(self):
        super().setUp()
        self.sessions = self.connect_both()

    def test_rows(self):
        for options, data in WIDE_FILES:
            self.both(wire.query("copy widest from stdin" + options), wire.copy_data(data), wire.copy_done())
            self.assertEqual(*(self.contents(database, True) for database in ("direct", "hashed")))


class Drawn(SessionCase):
    """Keys that the list leaves out are numbers of their sequence, and the hashes are of these."""
    tables = (harness.Table("numbered", ["id bigserial not null", "v text", "n int"], ["id"], hash_first=False),
              harness.Table("pairs", ["id int not null generated always as identity", "name text not null", "v text"],
                            ["id", "name"], hash_first=False, hash_key=["name", "id"]))
    columns = {"numbered": "v, n", "pairs": "name, v"}

    def setUp(self):
        super().setUp()
        self.sessions = self.connect_both()

    def rows(self, table, database):
        """Without the numbers, each of which is there once."""
        admin = self.admins[database]
        self.assertEqual(admin.rows(f"select count(distinct id) = count(*) from {table}"), [["t"]])
        rows = admin.rows(f"select {self.columns[table]} from {table} order by 1, 2")
        self.contents(database, True)
        return rows

    def copied(self, table, options, *pieces):
        """What both have, which is the same, as are the replies."""
        self.both(wire.query(f"copy {table} ({self.columns[table]}) from stdin{options}"),
                  *[wire.copy_data(piece) for piece in pieces], wire.copy_done())
        rows = [self.rows(table, database) for database in ("direct", "hashed")]
        self.assertEqual(*rows)
        return rows[0]

    def test_formats(self):
        for table, options, data in (
                ("numbered", "", b"a\t1\nb\t2\n\\N\t\\N"), ("numbered", " csv header", b"v,n\r\na,1\r\n\"x\n\",2\r\n"),
                ("numbered", " (format csv, header match)", b"v,n\na,1\n"), ("numbered", "", b""), ("numbered", "", b"\\.\n"),
                ("numbered", " (delimiter '|', null '')", b"|7\nx\\||8\n\\.\n"), ("pairs", "", b"a\tx\nb\ty\n"),
                ("pairs", " binary", binary((b"a", b"x"), (b"b", None))),
                ("numbered", " binary", binary((b"a", int4(1)), (None, None), (b"c", int4(-1))))):
            for pieces in ((data,), [data[at:at + 1] for at in range(len(data))]):
                with self.subTest(table=table, options=options, pieces=len(pieces)):
                    self.copied(table, options, *pieces)

    def test_errors(self):
        """The added fields show nowhere."""
        for options, data in (("", b"a\n"), ("", b"a\t1\t2\n"), ("", b"a\tx\n"), ("", b"ab\t1\nb\tnone\n"),
                              (" (header match)", b"v\tm\na\t1\n"), (" binary", binary((b"a",))),
                              (" binary", binary((b"a", int4(1), int4(1)))), (" binary", binary((b"a", b"x")))):
            with self.subTest(options, data=data):
                self.assertEqual(self.copied("numbered", options, data), [])

    def test_many_rows(self):
        """More than a block of numbers has, and many in one piece."""
        data = b"".join(b"%d\t%d\n" % (number, number) for number in range(20_000))
        for size in (8192, len(data)):
            self.assertEqual(len(self.copied("numbered", "", *(data[at:at + size] for at in range(0, len(data), size)))), 20_000)

    def test_in_a_transaction(self):
        for end in ("commit", "rollback"):
            self.query("begin")
            self.both(wire.query("copy numbered (v, n) from stdin"), wire.copy_data(b"a\t1\n"), wire.copy_done())
            self.query("select v, n from numbered")
            self.query(end)
            self.assertEqual(*(self.rows("numbered", database) for database in ("direct", "hashed")))

    def test_by_parse(self):
        self.both(wire.parse("c", "copy numbered (v, n) from stdin"), wire.sync())
        for _ in range(2):
            self.both(wire.bind("", "c"), wire.execute(), wire.copy_data(b"a\t1\n"), wire.copy_done(), wire.sync())
        self.assertEqual(*(self.rows("numbered", database) for database in ("direct", "hashed")))

    def test_the_number_that_was_drawn_last(self):
        session = self.sessions[1]
        session.ask(wire.query("copy numbered (v, n) from stdin"), wire.copy_data(b"a\t1\nb\t2\n"), wire.copy_done())
        self.assertEqual(session.rows("select lastval()"), session.rows("select max(id) from numbered"))
        self.rows("numbered", "hashed")

    def test_a_sequence_that_ends(self):
        """Nothing is stored, and the session goes on."""
        for admin in self.admins.values():
            admin.rows("alter sequence numbered_id_seq maxvalue 500000 restart with 499990")
            self.addCleanup(admin.rows, "alter sequence numbered_id_seq no maxvalue restart with 1000000")
        for session in self.sessions:
            replies = session.ask(wire.query("copy numbered (v, n) from stdin"), *[wire.copy_data(b"a\t1\n" * 10)] * 10,
                                  wire.copy_done())
            self.assertEqual(wire.error_of(replies), "2200H", replies)
        for database in ("direct", "hashed"):
            self.assertEqual(self.rows("numbered", database), [])
        self.both(wire.query("copy numbered from stdin"), wire.copy_data(b"1\ta\t1\n"), wire.copy_done())
        self.assertEqual(self.rows("numbered", "hashed"), self.rows("numbered", "direct"))


class DrawnInParts(Drawn):
    partitioned = True


@unittest.skipIf(harness.DIRECT, "only with keyspread in between")
class NotDrawn(SessionCase):
    tables = Drawn.tables

    def refusal(self, session, *messages):
        return next(reply.fields() for reply in session.ask(*messages) if reply.kind == "E")

    def test_by_another_role(self):
        """The link that draws has the role that the client came with."""
        session = self.connect(*self.routes()[1])
        self.admins["hashed"].rows("create role other; grant other to app; grant all on numbered, numbered_id_seq to other")
        session.query("set role other")
        for messages in ((wire.query("copy numbered (v) from stdin"),),
                         (wire.parse("", "copy numbered (v) from stdin"), wire.bind("", ""), wire.execute(), wire.sync())):
            fields = self.refusal(session, *messages)
            self.assertEqual(fields["C"], "0A000", fields)
            self.assertIn("H", fields)
        self.assertEqual(wire.tags_of(session.ask(wire.query("copy numbered from stdin"), wire.copy_data(b"1\ta\t1\n"),
                                                  wire.copy_done())), ["COPY 1"])

    def test_in_a_transaction_that_changes_tables(self):
        session = self.connect(*self.routes()[1])
        session.query("begin; create table keyspread_new (a int)")
        session.query("alter sequence numbered_id_seq cache 1")
        replies = session.ask(wire.query("copy numbered (v) from stdin"), wire.copy_data(b"a\n"), wire.copy_done())
        self.assertIn(wire.error_of(replies), ("0A000", "55P03"))
        session.query("rollback")


class Encoded(CopyCase):
    """Data in other encodings than UTF8, which the server decodes: rows are cut by character. ソ, 表, 能, 十 have a
    backslash as their second byte in SJIS or BIG5; others have | and letters there."""
    KINDS = (("SJIS", "shift_jis", "ソ表能十ｱ"), ("mskanji", "shift_jis", "表"), ("Shift_JIS", "shift_jis", "ポ"),
             ("BIG5", "big5", "功許蓋稞"), ("windows-950", "big5", "功"), ("GBK", "gbk", "乗俓傏僜"),
             ("win936", "gbk", "乗"), ("UHC", "cp949", "갂똠갎"), ("GB18030", "gb18030", "乗\u00e6\U0001f600é"),
             ("JOHAB", "johab", "가"), ("LATIN1", "latin-1", "éà§"), ("iso-8859-1", "latin-1", "é"),
             ("WIN1252", "cp1252", "€"), ("EUC_JP", "euc_jp", "表能"), ("EUC_KR", "euc_kr", "가"), ("KOI8R", "koi8-r", "жЯ"),
             ("UTF-8", "utf-8", "é表"), ("SQL_ASCII", "utf-8", "é"))

    def rows(self, name, codec, letters):
        for options, data in (("", f"1\t{letters}\t10\n2\t{letters}x{letters}\t20\n"), ("csv", f'1,{letters},1\n2,"{letters}""",2\n'),
                              ("csv escape '\\'", f'1,"{letters}",1\n2,"{letters}\\"",2\n'),
                              ("delimiter '|'", f"1|{letters}|10\n2|{letters}x|20\n"),
                              ("", f"1\t{letters}\n"), ("", f"1\t{letters}\t1\t5{letters}\n"), ("", f"1\t{letters * 12}\t1\t5\n"),
                              ("", f"1\t{letters}\tx{letters}\n"), ("", f"x\t{letters}\t1\n"),
                              ("", f"1\t{letters}\\\n{letters}\t7\n\\.\n2\ta\t1\n")):
            yield f"copy items from stdin {options} encoding '{name}'", data.encode(codec)

    def test_by_character(self):
        for kind in self.KINDS:
            for text, data in self.rows(*kind):
                with self.subTest(text, data=data):
                    self.in_turn(text, data)
                    if kind[0] in ("SJIS", "BIG5", "GB18030", "LATIN1"):
                        self.copied(text, *(data[at:at + 1] for at in range(len(data))))

    def test_bytes_that_are_no_characters(self):
        for name, data in (("SJIS", b"1\ta\t1\n2\t\x82\n\t2\n"), ("BIG5", b"1\ta\t1\n2\t\xa4\t2\n"),
                           ("GB18030", b"1\ta\t1\n2\t\x810\t2\n3\tb\t3\n"), ("JOHAB", b"1\t\x88\x61\t1\n"), ("GBK", b"1\ta\t\x81")):
            for text in (f"copy items from stdin encoding '{name}'", f"copy items from stdin csv delimiter E'\\t' encoding '{name}'"):
                with self.subTest(text, data=data):
                    self.in_turn(text, data)
                    self.copied(text, *(data[at:at + 1] for at in range(len(data))))

    def test_no_encoding(self):
        self.in_turn("copy items from stdin encoding 'no such one'", b"1\ta\t1\n")

    def test_the_clients_own(self):
        for name, codec, letters in self.KINDS[:-1]:
            self.sessions = self.connect_both(client_encoding=name)
            for text, data in self.rows("UTF8", codec, letters):
                with self.subTest(name, text=text):
                    self.in_turn(text.replace(" encoding 'UTF8'", ""), data)
            self.in_turn("copy items from stdin encoding 'UTF8'", "1\té\t1\n".encode())

    def test_keys_of_ascii(self):
        data = "a\t2026-01-31\tソ\nb\\tc\t2025-12-31\t表\n"
        self.in_turn("copy names (name, day, v) from stdin encoding 'SJIS'", data.encode("shift_jis"))

    @unittest.skipIf(harness.DIRECT, "only with keyspread in between")
    def test_keys_beyond_ascii(self):
        for name, codec, letters in self.KINDS[:-2]:
            if name == "JOHAB":
                continue  # PostgreSQL takes no such characters itself.
            for key in (letters, f"a{letters[0]}", f"\\N{letters[0]}"):
                with self.subTest(name, key=key):
                    data = f"a\t2026-01-31\tx\n{key}\t2026-01-31\ty\n".encode(codec)
                    replies = self.sessions[1].ask(wire.query(f"copy names (name, day, v) from stdin encoding '{name}'"),
                                                   wire.copy_data(data), wire.copy_done())
                    fields = next(reply.fields() for reply in replies if reply.kind == "E")
                    self.assertEqual(fields["C"], "0A000", fields)
                    self.assertIn("COPY names, line 2", fields["W"])
                    self.assertIn("UTF8", fields["H"])
        self.assertEqual(self.admins["hashed"].rows("select * from names"), [])

    def test_keys_in_utf8_of_a_client_with_another_encoding(self):
        self.sessions = self.connect_both(client_encoding="LATIN1")
        self.in_turn("copy names (name, day, v) from stdin encoding 'UTF8'", "é\t2026-01-31\tx\n".encode())

    def test_an_encoding_that_is_being_changed(self):
        change, data = "set client_encoding to 'SJIS'", "1\tソ表\t10\n2\tソ\t20\n".encode("shift_jis")
        copy = (wire.copy_data(data[:3]), wire.copy_data(data[3:]), wire.copy_done())
        text = "copy items from stdin"
        for messages, ready in (((wire.query(change), wire.query(text), *copy), 2),
                                ((wire.parse("", change), wire.bind("", ""), wire.execute(), wire.parse("", text),
                                  wire.bind("", ""), wire.execute(), *copy, wire.sync()), 1)):
            self.sessions = self.connect_both()
            self.both(*messages, ready=ready)
            self.assertEqual(self.contents("hashed", True), self.contents("direct"))

    def test_an_encoding_that_is_changed_behind_bind(self):
        """The server reads data in the encoding that counts when the portal is executed."""
        data = "1\tソ表\t10\n2\tソ\t20\n".encode("shift_jis")
        copy = wire.execute("late"), wire.copy_data(data[:3]), wire.copy_data(data[3:]), wire.copy_done()
        for change in ("set client_encoding to 'SJIS'", "set local client_encoding to 'SJIS'", "set names 'SJIS'",
                       "select set_config('client_encoding', 'SJIS', false)"):
            with self.subTest(change):
                for admin in self.admins.values():
                    admin.rows("truncate items")
                self.sessions = self.connect_both()
                self.both(wire.parse("", "copy items from stdin"), wire.bind("late", ""), wire.parse("", change),
                          wire.bind("", ""), wire.execute(), *copy, wire.sync())
                self.assertEqual(self.contents("hashed", True), self.contents("direct"))


@unittest.skipIf(harness.DIRECT, "only with keyspread in between")
class Refused(CopyCase):
    def refusal(self, text, *more):
        session = self.sessions[1]
        replies = session.ask(wire.query(text), *more)
        return next(reply.fields() for reply in replies if reply.kind == "E")

    def test_what_cannot_be_copied(self):
        for text, state in (("copy items from '/tmp/x'", "0A000"), ("copy items from program 'true'", "0A000"),
                            ("copy dated (v) from stdin", "0A000"), ("copy items (id, id_hash) from stdin", "0A000"),
                            ("copy items from stdin (null '7')", "0A000"), ("copy items from stdin csv quote '1'", "0A000"),
                            ("select 1; copy items from stdin", "0A000")):
            fields = self.refusal(text)
            self.assertEqual(fields["C"], state, fields)
            self.assertIn("H", fields)
        self.assertEqual(self.admins["hashed"].rows("select * from items"), [])

    def test_a_key_that_cannot_be_told(self):
        """The server alone knows which day that is."""
        fields = self.refusal("copy names from stdin", wire.copy_data(b"a\t2026-01-31\tx\nb\ttoday\ty\n"), wire.copy_done())
        self.assertEqual(fields["C"], "0A000")
        self.assertEqual(fields["W"], 'COPY names, line 2: "b\ttoday\ty"')
        self.assertIn("H", fields)
        self.assertEqual(self.admins["hashed"].rows("select * from names"), [])


    def test_a_table_that_changed_past_keyspread(self):
        self.copied("copy items from stdin", b"1\ta\t10\n")
        for admin in self.admins.values():
            admin.rows("alter table items alter id type text, alter v type bytea using v::bytea")
            self.addCleanup(admin.rows, "alter table items alter id type bigint using id::bigint, "
                            "alter v type text using encode(v, 'escape')")
        self.both(wire.parse("", "copy items (id) from stdin"), wire.bind("", ""), wire.execute(), wire.copy_data(b"1\n"),
                  wire.copy_done(), wire.sync())
        hashed = self.admins["hashed"].rows("select id_hash from items")
        self.assertEqual(hashed, [[str(harness.xxh3_signed("1"))]])
        for admin in self.admins.values():
            admin.rows("truncate items; alter table items alter id type varchar(9)")
        self.both(wire.query("copy items (id) from stdin"), wire.copy_data(b"1  \n"), wire.copy_done())
        self.assertEqual(self.admins["hashed"].rows("select id_hash from items"), [[str(harness.xxh3_signed("1  "))]])
        for admin in self.admins.values():
            admin.rows("truncate items")

    def test_a_table_that_changed_after_parse(self):
        """A COPY that was prepared with the key's type of before is not executed with it; prepared again, it is right."""
        prepare = wire.parse("c", "copy items (id) from stdin"), wire.sync()
        execute = wire.bind("", "c"), wire.execute(), wire.copy_data(b"1\n"), wire.copy_done(), wire.sync()
        self.both(*prepare)
        for admin in self.admins.values():
            admin.rows("truncate items; alter table items alter id type text")
            self.addCleanup(admin.rows, "alter table items alter id type bigint using id::bigint")
        self.assertEqual(wire.error_of(self.sessions[1].ask(*execute)), "0A000")
        self.assertEqual(self.admins["hashed"].rows("select * from items"), [])
        self.sessions[0].ask(*execute)
        self.admins["direct"].rows("truncate items")
        for session in self.sessions:
            session.ask(wire.close("S", "c"), wire.sync())
        self.both(*prepare)
        self.both(*execute)
        self.assertEqual({row[0] for row in self.admins["hashed"].rows("select id_hash from items")}, {str(harness.xxh3_signed("1"))})
        for admin in self.admins.values():
            admin.rows("truncate items")

    def test_a_session_that_is_ended_in_the_middle(self):
        """By its own mistake: what it was about to copy is given back, which the sanitizer looks for at the end."""
        session = self.connect(*self.routes()[1])
        session.send(wire.query("copy items from stdin"))
        session.read_until("G")
        session.send(wire.copy_data(b"1\ta\t10\n2"), b"\x01\0\0\0\4")
        self.assertEqual(session.read_to_end()[-1].fields()["C"], "08P01")
        session.drop()
        self.assertEqual(self.admins["hashed"].rows("select * from items"), [])


class Noticed(CopyCase):
    """What a trigger says of a row shows it as its client wrote it."""
    setup_sql = """create function tell() returns trigger language plpgsql as
        $$ begin raise notice 'row %', new.id; return new; end $$;
        create trigger tell before insert on items for each row execute function tell();"""

    def test_the_row_in_a_notice(self):
        for text, data in (("copy items from stdin", b"1\ta\t10\n2\tb\t20\n"), ("copy items (id, n) from stdin csv", b'1,10\n"2",20')):
            self.copied(text, data)


class Partitioned(Files):
    partitioned = True

    def test_freeze(self):
        for options in ("(freeze)", "(freeze true, format text)", "(format text, freeze on)", "freeze", "with freeze delimiter ','"):
            session = self.sessions[1]
            session.query("truncate items")
            replies = session.ask(wire.query(f"copy items from stdin {options}"), wire.copy_data(b"1\n"), wire.copy_done())
            self.assertEqual(wire.error_of(replies), "22P04", options)


if __name__ == "__main__":
    unittest.main()
