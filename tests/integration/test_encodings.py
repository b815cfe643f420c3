"""Names beyond ASCII, in texts of clients whose encoding is not the server's: a table that is spelled by other bytes
than in the configuration is that table all the same. No row of it gets past its hash, and other tables are let alone."""
import contextlib
import unittest

import harness
import wire
from harness import Table

REFUSED = ("0A000", "SET client_encoding TO 'UTF8'.")


class Named(Table):
    """In the test's database an ordinary table, whose hash may be NULL: nothing but keyspread is in the way."""

    def __init__(self, name, key="id", **options):
        super().__init__(name, [], [key], hash_column="h", partitions={"buckets": 4}, **options)
        self.options["partitions"] = {"buckets": 4}
        self.sql_name = ".".join(f'"{part}"' for part in name.split("."))

    def ddl(self, hashed=True, partitioned=True):
        return (f'create table {self.sql_name} ("{self.key[0]}" bigint primary key, v text, "prénom" text, h bigint);'
                if "é" in self.name + self.key[0] or self.name == "plain" else
                f'create table {self.sql_name} ("{self.key[0]}" bigint primary key, v text, h bigint);')


CJK = [("GBK", "gbk"), ("GB18030", "gb18030"), ("SJIS", "cp932"), ("BIG5", "big5"), ("EUC_JP", "euc_jp")]
LATIN = [("LATIN1", "latin-1"), ("WIN1252", "cp1252"), ("LATIN9", "iso8859-15")]


class Names(harness.StackCase):
    tables = [Named("日記"), Named("café"), Named("ß.names"), Named("keyed", "clé"), Named("plain")]
    before_sql = """create schema "ß"; create table "日志簿" (id bigint primary key, v text);
        create table "cafés" (id bigint primary key, v text)"""
    partitioned = False

    @classmethod
    def setUpClass(cls):
        if harness.DIRECT:
            raise unittest.SkipTest("keyspread's own refusals")
        super().setUpClass()

    def setUp(self):
        with self.postgres.admin(self.database) as admin:
            admin.rows("truncate " + ", ".join(table.sql_name for table in self.tables))

    def count(self, table, where="h is null"):
        with self.postgres.admin(self.database) as admin:
            return admin.rows(f"select count(*) from {table} where {where}")[0][0]

    def refused(self, session, text):
        for replies in (session.query(text),
                        session.ask(wire.parse("", text), wire.bind("", ""), wire.execute(), wire.sync())):
            errors = [reply.fields() for reply in replies if reply.kind == "E"]
            self.assertEqual([(error["C"], error.get("H")) for error in errors], [REFUSED], text)

    def fine(self, session, text, tag=None):
        for replies in (session.query(text),
                        session.ask(wire.parse("", text), wire.bind("", ""), wire.execute(), wire.sync())):
            self.assertNotIn("E", wire.kinds(replies), (text, replies))
            if tag:
                self.assertEqual(wire.tags_of(replies), [tag])

    def test_a_table_in_other_bytes(self):
        for encoding, codec in CJK:
            session = self.wire(client_encoding=encoding)
            for name in ('日記', '"日記"', 'public . 日記'):
                self.refused(session, f"insert into {name} values (1, 'x')".encode(codec))
                self.refused(session, f"select * from {name}".encode(codec))
        for encoding, codec in LATIN:
            session = self.wire(client_encoding=encoding)
            for name in ('café', 'CAFé', '"café"', 'public."café"'):
                self.refused(session, f"insert into {name} values (1, 'x')".encode(codec))
                self.refused(session, f"update {name} set id = 3 where id = 2".encode(codec))
        self.assertEqual(self.count('"日記"', "true"), "0")
        self.assertEqual(self.count('"café"', "true"), "0")

    def test_behind_a_character_that_ends_in_a_backslash(self):
        """表 is 0x95 0x5C in SJIS: what looks like an escaped quote is none."""
        session = self.wire(client_encoding="SJIS")
        self.refused(session, "select E'表'; insert into 日記 values (1, 'x'); --'".encode("cp932"))
        self.refused(session, "select E'表'; insert into plain values (1, 'x'); --'".encode("cp932"))
        session.query("select E'表'; set search_path = other; --'".encode("cp932"))
        replies = session.query("insert into plain values (1, 'x')")
        self.assertEqual(wire.error_of(replies), "42P01")
        self.assertEqual(self.count("plain", "true"), "0")

    def test_others_are_let_alone(self):
        session = self.wire(client_encoding="GB18030")
        self.fine(session, "select '日記', $$日記$$ from 日志簿 -- 日記".encode("gb18030"))
        self.fine(session, "insert into 日志簿 values (1, '日記') on conflict do nothing".encode("gb18030"))
        session = self.wire(client_encoding="LATIN1")
        self.fine(session, "select 'café' from cafés".encode("latin-1"))
        self.fine(session, "select 'é' as cafe".encode("latin-1"))

    def test_columns_of_the_key(self):
        session = self.wire(client_encoding="LATIN1")
        self.refused(session, "insert into keyed (clé, v) values (1, 'x')".encode("latin-1"))
        self.refused(session, "insert into keyed values (1, 'x')")
        self.refused(session, "insert into ß.names values (1, 'x')".encode("latin-1"))
        self.assertEqual(self.count("keyed", "true"), "0")
        self.assertEqual(self.count('"ß".names', "true"), "0")

    def test_other_columns(self):
        """Names that keyspread writes are read whatever the encoding."""
        for encoding in ("LATIN1", "UTF8"):
            codec = "latin-1" if encoding == "LATIN1" else "utf-8"
            session = self.wire(client_encoding=encoding)
            replies = session.query("insert into plain values (1, 'x', 'é') returning *".encode(codec))
            self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"], replies)
            self.assertEqual([reply.body[-2:] for reply in replies if reply.kind == "D"],
                             ["é".encode(codec).rjust(2, b"\1")], replies)
            replies = session.query("select * from plain where id = 1")
            self.assertIn("prénom".encode(codec), [r for r in replies if r.kind == "T"][0].body)
            self.fine(session, "select *, prénom from plain".encode(codec))
            self.fine(session, "update plain set prénom = 'à'".encode(codec))
            self.fine(session, "delete from plain")

    def test_a_text_of_ascii_alone(self):
        """It is the same in every encoding."""
        session = self.wire(client_encoding="SJIS")
        self.fine(session, "insert into plain values (1, 'x') on conflict do nothing")
        self.assertEqual(self.count("plain"), "0")

    def test_an_encoding_that_changes_in_a_pipeline(self):
        for sql in ("set client_encoding to 'GBK'", "select set_config('client_encoding', 'GBK', false)"):
            session = self.wire()
            replies = session.ask(wire.query(sql), wire.query("insert into 日記 values (1, 'x')".encode("gbk")),
                                  wire.query("select 1"), ready=3)
            self.assertEqual(wire.error_of(replies), "0A000")
            session = self.wire()
            replies = session.ask(wire.parse("", sql), wire.bind("", ""), wire.execute(),
                                  wire.parse("", "insert into 日記 values (1, 'x')".encode("gbk")),
                                  wire.bind("", ""), wire.execute(), wire.sync())
            self.assertEqual(wire.error_of(replies), "0A000")
        self.assertEqual(self.count('"日記"', "true"), "0")

    def test_back_in_utf8(self):
        session = self.wire(client_encoding="GBK")
        session.query("set client_encoding to 'UTF8'")
        self.fine(session, "insert into 日記 values (1, 'x') on conflict do nothing")
        self.assertEqual(self.count('"日記"'), "0")
        self.assertEqual(self.count('"日記"', "h is not null"), "1")

    def test_a_text_that_is_too_large_to_be_held(self):
        session = self.wire(client_encoding="LATIN1")
        text = "insert into café values (1, '" + "x" * (65 << 20) + "')"
        with contextlib.suppress(OSError):  # it is not read to its end
            session.send(wire.query(text.encode("latin-1")))
        self.assertEqual(self.count('"café"', "true"), "0")


class Reloaded(harness.StackCase):
    """The server's own client_encoding is another by the time a link for batches is opened: a row is stored by the
    bytes that its client wrote, who was told of UTF8."""
    tables = (Table("words", ["k text not null", "v text"], ["k"], hash_column="h"),)
    partitioned = False
    options = {"workers": 1, "backend": {"links": "on_login", "batch_links": 1}}

    def reload(self, change):
        with self.postgres.admin(self.database) as admin:
            admin.rows(f"alter system {change}")
            admin.rows("select pg_reload_conf()")
        harness.eventually("new connections are told", lambda: self.encoding() in change or "reset" in change)

    def encoding(self):
        with self.postgres.admin(self.database) as admin:
            return admin.rows("show client_encoding")[0][0]

    def end_links(self, but):
        with self.postgres.admin(self.database) as admin:
            admin.rows("select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend'"
                       f" and datname = '{self.database}' and pid not in (pg_backend_pid(), {but})")

    def until_stored(self, send):
        """The link may be found dead as it is used."""
        return harness.eventually("a row is stored", lambda: wire.tags_of(send()) == ["INSERT 0 1"])

    @harness.proxied
    def test_a_link_for_batches(self):
        session, number = self.wire(), 0
        self.addCleanup(self.reload, "reset client_encoding")

        def text():
            nonlocal number
            number += 1
            return session.query(f"insert into words values ('é{number}', '日')")

        def bound():
            nonlocal number
            number += 1
            return session.ask(wire.parse("", "insert into words values ($1, $2)"),
                               wire.bind("", "", [f"é{number}", "日"]), wire.execute(), wire.sync())
        own = session.rows("select pg_backend_pid()")[0][0]
        self.until_stored(text)
        self.assertEqual(session.parameters["client_encoding"], "UTF8")
        self.reload("set client_encoding = 'LATIN1'")
        for send in text, bound:
            self.end_links(own)
            self.until_stored(send)
        self.reload("reset client_encoding")
        with self.postgres.admin(self.database) as admin:
            admin.rows("set client_encoding = 'UTF8'")
            rows = admin.rows("select k, v, octet_length(k) from words")
        self.assertEqual({(key[0], value) for key, value, _ in rows}, {("é", "日")}, rows)
        self.check_stored(self.tables[0], len(rows))


if __name__ == "__main__":
    unittest.main()
