"""Servers newer than the grammar that keyspread reads statements by: what both take is as it is directly, and what only the
server takes is never passed where it could write or show the hash. KEYSPREAD_SERVERS: the versions, "18" by default."""
import contextlib
import os
import re
import struct
import unittest

import harness
import wire
from direct_case import SessionCase

PAIR = harness.Table("pair", ["id bigint not null", "v int", "t text"], ["id"], hash_first=False)
MADE = harness.Table("made", ["id bigint not null", "v int"], ["id"])
# A table for each type of a key whose expressions are asked for by PostgreSQL's own casts.
KEY_TYPES = ("int2", "int4", "int8", "bytea", "date", "timestamp", "timestamptz", "numeric", "float8", "uuid", "bool")
BY_TYPE = tuple(harness.Table(f"key_{name}", [f"id {name} not null"], ["id"]) for name in KEY_TYPES)

# Everything here is taken by the servers and means the same directly and through keyspread.
ALIKE = (
    "insert into pair values (0x10, 1_000, 'a'), (0b101, 0o17, 'b'), (1_000_000, -0x1F, 'c')",
    "insert into pair (id, v) values ('0x20', '1_0'), ('-0b11', ' 0o7 '), ('1_5', '-1_0')",
    "insert into pair (id, t) values (1_1.6_0, 0x10), (0x7FFFFFFFFFFFFFFF, 1_0e1_0)",
    "select * from pair order by id",
    "select id, v from pair where id = 0x10",
    "select id, v from pair where id in (0b101, 1_000_000) order by id",
    "select id from pair where id = '0x20' and v = 1_0",
    "select * from pair where v = 0x3e8",
    "update pair set t = 'found' where id = 0x10",
    "delete from pair where id = 0b101",
    "update pair set id = 0x11 where id = 0x10",
    "select * from pair order by id",
    "select any_value(t) from pair where id = 17",
    # what the servers refuse as well
    "insert into pair (id) values ('1__0')",
    "insert into pair (id) values ('_1')",
    "insert into pair (id) values ('0x1G')",
    "insert into pair (id) values ('0x1FFFFFFFFFFFFFFFF')",
    "insert into pair (id) values (0xFFFFFFFFFFFFFFFF)",
    "insert into pair (id, v) values (9, 0x1FFFFFFFF)",
    "select * from pair order by id",
)

# The grammar of 15 has no word for these: the server would take them, and write or show the hash.
UNREAD = (
    "select * from (select * from pair)",
    "insert into archive select * from (select * from pair)",
    "with a as (select * from (select * from pair)) select * from a",
    "create table copied as select * from (select * from pair)",
    "declare c cursor with hold for select * from (select * from pair)",
)
UNREAD_17 = (
    "with m as (merge into pair using (values (1)) s(i) on id = i when matched then delete returning *) select * from m",
    "select jt.* from pair, json_table(to_json(pair), '$' columns (a text path '$.t')) jt",
)


class Newer:
    tables = (PAIR, MADE, *BY_TYPE)
    before_sql = "create table archive (a bigint, b int, c text, d bigint)"

    def setUp(self):
        super().setUp()
        for admin in self.admins.values():
            admin.rows("truncate pair, archive")
        self.sessions = self.connect_both()
        self.through = self.sessions[1]

    def compare(self, *texts):
        for text in texts:
            self.query(text)
        with contextlib.closing(harness.connect_admin(self.postgres, "hashed")) as connection:
            return harness.verify_hashes(self, connection, PAIR)

    def refusal(self, text):
        errors = [reply.fields() for reply in self.through.query(text) if reply.kind == "E"]
        self.assertEqual(len(errors), 1, text)
        return errors[0]

    def check_unread(self, text):
        error = self.refusal(text)
        self.assertEqual(error["C"], "42601", text)
        self.assertIn("grammar of PostgreSQL 15. ", error["H"])
        self.assertIn(f"server is PostgreSQL {self.version};", error["H"])

    def reported(self, *more, **params):
        """By the names what a server reports at login, and what it says of a SET."""
        told = []
        for database, port in self.routes():
            with wire.Wire(("127.0.0.1", port)) as session:
                session.send(wire.startup(harness.USER, database, **params))
                replies = session.read_ready() + session.ask(*more, ready=len(more))
            told.append(sorted(reply.body for reply in replies if reply.kind == "S"))
        return told

    def test_what_is_reported(self):
        for params in ({}, {"search_path": "pg_catalog"}, {"options": "-c search_path=a,b"}):
            with self.subTest(params):
                direct, through = self.reported(wire.query("select 1"), **params)
                self.assertEqual(direct, through)
                self.assertEqual(any(body.startswith(b"search_path") for body in through), self.version >= 18)
        direct, through = self.reported(wire.query("set search_path = a, \"B\""), wire.query("reset search_path"))
        self.assertEqual(direct, through)

    def negotiated(self, minor, **params):
        """On either side: the NegotiateProtocolVersion, and how long the key of BackendKeyData is."""
        told = []
        for database, port in self.routes():
            with wire.Wire(("127.0.0.1", port)) as session:
                replies = session.login(harness.USER, database, minor=minor, **params)
                told.append([reply.body for reply in replies if reply.kind == "v"] +
                            [len(reply.body) - 4 for reply in replies if reply.kind == "K"])
        return told

    def test_protocol_versions(self):
        if self.version < 18:
            self.skipTest("18 speaks protocol 3.2 first")
        for minor in (0, 1, 2, 3, 9999):
            for params in ({}, {"_pq_.this": "1"}, {"_pq_.this": "", "datestyle": "German", "_pq_.": "2"}):
                with self.subTest(minor=minor, params=params):
                    direct, through = self.negotiated(minor, **params)
                    self.assertEqual(direct, through)
                    self.assertEqual(through[-1], 32 if minor >= 2 else 4)
        for major in (2, 4):
            refusals = []
            for _, port in self.routes():
                with wire.Wire(("127.0.0.1", port)) as session:
                    session.send(struct.pack("!IHH", 9, major, 1) + b"\0")
                    refusals.append(session.socket.recv(1000)[5:].split(b"3.2")[0])
            self.assertEqual(refusals[0], refusals[1])

    def test_casts_of_expressions(self):
        """An expression in a key may be of the types that the server assigns to the key's, and of no other."""
        for name in KEY_TYPES:
            with self.subTest(name):
                lines = self.through.rows(f"explain (proxy) insert into key_{name} values (coalesce(null))")
                listed = re.search(r"any \('\{([\d,]+)\}'", "".join(line for line, in lines))
                cast = self.admins["hashed"].rows("select castsource::text from pg_cast where castcontext <> 'e'"
                                                  f" and casttarget = '{name}'::regtype union select '{name}'::regtype::oid::text")
                self.assertEqual(sorted(listed[1].split(",")), sorted(source for source, in cast))

    def test_numbers_in_statements(self):
        self.assertEqual(self.compare(*ALIKE), 7)

    def test_numbers_in_parameters(self):
        values = ("0x10", " 1_000 ", "-0b11", "0o17", "1__0", "0x", "_1", "0xFFFFFFFFFFFFFFFFFF")
        insert = "insert into pair (id, v) values ($1, $2)"
        for value in values:
            self.both(wire.parse("", insert), wire.bind("", "", [value, "0x1_0"]), wire.execute(), wire.sync())
        self.assertEqual(self.compare(), 4)

    def test_what_cannot_be_read(self):
        self.query("insert into pair values (1, 2, 'x')")
        for text in UNREAD + (UNREAD_17 if self.version >= 17 else ()):
            self.check_unread(text)
        self.assertEqual(self.admins["hashed"].rows("select count(*) from archive"), [["0"]])

    def test_typing_errors(self):
        for text in ("selec * from pair", "select * form pair", "update pair sett v = 1", "insert into pair (id) values (1__0)",
                     "insert into pair (id) values (0x)", "insert into pair (id) values (1_)"):
            self.assertEqual(self.refusal(text)["C"], "42601")

    def test_rows_before_and_after(self):
        if self.version < 18:
            self.skipTest("18 has the first RETURNING of old and new rows")
        self.compare("insert into pair values (1, 2, 'x') returning old.*, new.*",
                     "update pair set v = 3 where id = 1 returning old.*, new.*",
                     "update pair set v = v + 1 returning *, old.v, new.*",
                     "update pair set v = 5 returning row_to_json(old), to_json(new) as n",
                     "with u as (update pair set v = 6 returning old.*, new.v as w) select * from u",
                     "update pair old set v = 7 returning old.*",
                     "delete from pair where id = 1 returning new.*, old.*, *",
                     "insert into pair values (8, 2, 'x') returning old::text, new::text as n, row_to_json(new), (new).*, row(new.*, 1), old is null",
                     "update pair set v = 8 where id = 8 returning old::text, new::text as n",
                     "delete from pair where id = 8 returning old::text, new::text as n, new is null")
        self.query("insert into pair values (1, 2, 'x')")
        self.check_unread("update pair set v = 3 returning with (old as o) o.*")

    def test_merge(self):
        if self.version < 17:
            self.skipTest("17 has the first MERGE that 15 cannot read")
        error = self.refusal("merge into pair using (values (1)) s(i) on id = i when not matched by source then delete "
                             "when not matched then insert values (i, 2, 'x')")
        self.assertEqual(error["C"], "0A000")
        self.assertIn("cannot MERGE", error["M"])

    def made(self, text):
        """The columns of the table that this makes through keyspread."""
        self.admins["hashed"].rows("drop table if exists made")
        self.through.rows(text)
        return self.admins["hashed"].rows("select attname from pg_attribute where attrelid = 'made'::regclass and "
                                          "attnum > 0 order by attnum")

    def test_tables_with_newer_words(self):
        more = ", w int generated always as (v * 0x10) virtual" if self.version >= 18 else ""
        columns = self.made("create table made (id bigint primary key, v int default 1_000, t text storage external, "
                            f"check (v > 0b1){' not enforced' if self.version >= 18 else ''}{more})")
        self.assertEqual(columns[-1], ["id_hash"])

    def test_tables_that_cannot_be_read(self):
        if self.version < 18:
            self.skipTest("18 has the first words of this kind")
        self.check_unread("create table made (id bigint primary key, v int, constraint n not null v)")
        self.through.rows("create table other (id bigint primary key, v int, constraint n not null v)")


for number in os.environ.get("KEYSPREAD_SERVERS", "18").split():
    name = f"PostgreSQL{number}"
    globals()[name] = type(name, (Newer, SessionCase), {"version": int(number)})

if __name__ == "__main__":
    unittest.main()
