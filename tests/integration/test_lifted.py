"""Rows that come alone as text and go as executions of a prepared statement, with their constants as
parameters: they are stored, refused and told of as PostgreSQL does it with the text."""
import unittest

import direct_case
import harness
import wire
from harness import Table
from test_types import TypesCase

COLUMNS = {  # how their type is declared, and what is written for them
    "i2": ("smallint", "5 -5 '5' ' 5 ' 40000 '40000' 5.5 '5.5' 1e2 true 'x' 5::int '5'::smallint"),
    "i4": ("int", "005 '005' +5 -(5) - 5 2147483648 '0x10' 1+1 '' '5'::text '5'::bigint"),
    "i8": ("bigint", "9223372036854775807 9223372036854775808 -9223372036854775808 5.0 '5.0' 2.5"),
    "f4": ("real", "16777217 5.5 -5.5 0 -0 -0.0 '-0' .5 5. 'NaN' '-inf' 1e38 1e39 3.4028236e38"),
    "f8": ("double precision", "9007199254740993 -0 -0.0 '-0.0' 1.7976931348623157 1e-400 'x'"),
    "n": ("numeric", "5 005 5.50 1e3 -0 -0.0 'NaN' 'Infinity' 123456789012345678901234567890"),
    "n62": ("numeric(6,2)", "1.005 '1.005' 2.5 9999.995 9999.994 12345 'NaN' -0.004"),
    "t": ("text", "'a' 'a''b' 005 '005' true 'true' E'a\\tb' E'\\xc3\\xa4' U&'\\00e4' 'ä\\' 'ä' ''"
                  " $$a'b$$ $q$ä$q$ N'a' 5.50 'a'::varchar(1) 'ab'::char upper('a') 1::text"),
    "v": ("varchar(3)", "'abc' 'abcd' 'abc  ' 'abcd'::varchar(3) 'äöü' 1234 ''"),
    "c": ("char(3)", "'a' 'a  ' 'a      ' 'abcd' '' 'ab'::char 'a'::char(3)"),
    "b": ("boolean", "true FALSE 't' 'yes' 1 0 '1' 'x' 'on'"),
    "y": ("bytea", r"'\x00ff' '\x00f' 'a\000b' 'a\b' E'\\x00' 'ä' '\x00'::bytea ''"),
    "d": ("date", "'2026-01-02' '02.03.2026' '1/2/2026' 'infinity' '2026-13-01' date'2026-01-02' 5"),
    "ts": ("timestamp(0)", "'2026-01-02T03:04:05.6' '2026-01-02' '5/6/2026' '2026-01-02T03:04+05'"),
    "tz": ("timestamptz", "'2026-07-01T00:00' '2026-07-01T00:00+03' '1/2/2026' '2026-01-01'::date"),
    "iv": ("interval day", "'5' '1.5' '5:30' 'P1D' interval'3'"),
    "u": ("uuid", "'{A0EEBC999C0B4EF8BB6D6BB9BD380A11}' 'x'"),
    "j": ("json", """'{"a":1,"a":2}' '{' 'null'"""),
    "jb": ("jsonb", """'{"a":1,"a":2}' '{'"""),
    "a": ("int[]", "'{1,2}' '{1,x}' array[1,2] '{}' '{1.5}'"),
    "av": ("varchar(2)[]", "'{ab,cd}' '{abc}' '{\"ab  \"}'"),
    "bi": ("bit(3)", "'101' '1010' b'101' 5"),
    "r": ("int4range", "'[1,2]' '[2,1]' 'empty'"),
    "m": ("money", "'1.50' 5 'x'"),
    "e": ("mood", "'sad' 'odd' 'sad'::mood"),
    "o": ("positive", "5 '5' -5 '-5' 5.5 null"),
    "cs": ("\"char\"", "'a' 'ab' ''"),
    "na": ("name", "'abc'"),
    "tq": ("tsquery", "'' 'a&b' ' ' 'a&'"),
    "x": ("xml", """'<a/>' '<a' '<a\txmlns="b"/>'"""),
    "q": ("regclass", "'pg_class' 'other' 'nothing' 1259"),
}
SETTINGS = {"german": {"DateStyle": "German, DMY", "TimeZone": "Europe/Berlin"},
            "american": {"DateStyle": "SQL, MDY", "TimeZone": "-03"},
            "intervals": {"IntervalStyle": "iso_8601", "DateStyle": "Postgres, DMY"},
            "latin": {"client_encoding": "LATIN1"}}


@harness.proxied
class Values(direct_case.DirectCase):
    before_sql = ("create type mood as enum ('sad', 'ok'); create table other (a int);"
                  "create domain positive as int check (value > 0)")
    tables = (Table("w", ["id int not null"] + [f"{name} {kind}" for name, (kind, _)
                                                in COLUMNS.items()]
                    + ["nn int not null default 7", "ck int check (ck < 5)"],
                    ["id"], hash_first=False),)
    options = {"workers": 1}

    def compare(self, texts, **params):
        self.both([wire.query(text) for text in texts], ready=len(texts), verify=True, **params)

    def prepared(self, text):
        """Whether such a statement was executed."""
        return any("execute ks_" in line and text in line
                   for line in self.postgres.log().splitlines())

    def texts(self):
        """The first ones have the statement prepared, as it is there for the others."""
        for name, (_, written) in COLUMNS.items():
            for number, value in enumerate(["null"] * 2 + written.split(" ")):
                yield f"insert into w (id, {name}) values ({number}, {value})"

    def test_as_postgresql_reads_them(self):
        for name in COLUMNS:
            with self.subTest(name):
                self.compare([text for text in self.texts() if f"(id, {name})" in text])
        for name in COLUMNS if self.keyspread else ():
            self.assertEqual(self.prepared(f"(id, {name},"), name not in ("e", "o"), name)

    def test_under_other_settings(self):
        for name, settings in SETTINGS.items():
            with self.subTest(name):
                self.compare([f"set {key} = '{value}'" for key, value in settings.items()]
                             + list(self.texts()))

    def test_strings_that_do_not_conform(self):
        texts = [text for text in self.texts() if "(id, t)" in text or "(id, y)" in text]
        self.compare(texts + ["set standard_conforming_strings = off"]
                     + [text.replace("(id,", "( id,") for text in texts])

    def test_notices(self):
        """Their positions are those of the client's own text."""
        self.compare([f"/* ä */ insert into w (id, tq, t) values ({number}, '', 'x'||'y')" for number in range(3)])
        self.compare([f"insert into w (id, tq, t) values ({number}, '', 'x')" for number in range(3)])

    def test_errors(self):
        good = [f"insert into w (id, nn, ck) values ({number}, 1, 1)" for number in range(3)]
        self.compare(good + [
            "insert into w (id, nn, ck) values (1, 1, 1)",  # it is there
            "insert into w (id, nn, ck) values (4, null, 1)",
            "insert into w (id, nn, ck) values (5, 1, 5)",
            "  insert into w (id, nn, ck) values (6, 1, 'ä')",
            "/* ä */ insert into w (id, nn, ck) values (7, 'x', 1) -- b",
            "insert into w (id, nn, ck) values (8, 1, 99999999999)",
            "insert into w (id, nn, ck) values (9, 1, '99999999999') -- c",
            "insert into w (id, nn, ck) values (10, 1, 1)"])

    def test_defaults_and_tails(self):
        texts = []
        for number in range(4):
            texts += [f"insert into w (id, nn) values ({number}, default)",
                      f"insert into w (id, nn) values ({number}, 3) on conflict do nothing",
                      f"insert into w values ({number + 10})",
                      f"insert into w (nn, id) values (5, {number % 2}) on conflict (id) do update"
                      " set nn = w.nn + excluded.nn",
                      f"insert into w as other (id) values ({number + 20});",
                      f"insert into w (id, t) values ({number + 30}, '{'x' * 5000}')"]
        self.compare(texts)

    def test_what_is_sent_once_is_not_prepared(self):
        self.compare([f"insert /* {number} */ into w (id) values ({number})"
                      for number in range(20)])
        self.assertFalse(self.prepared("insert /*"))


CHANGES = {  # what becomes of v, and what is sent then
    "rounded": ("alter table w alter v type bigint", "2.5 '2.5' 3 '3' 'x'"),
    "shown": ("alter table w alter v type text using v::text", "2.50 '2.50' 005 true"),
    "another": ("alter table w drop v, add v bigint", "2.5 '2' 'x'"),
    "a date": ("alter table w drop v, add v date", "2.5 '2.5' '2026-01-02'"),
    "a scale": ("alter table w alter v type numeric(4,1)", "2.55 '2.55' 12345"),
    "gone": ("alter table w drop v", "2.5 '2'"),
    "renamed": ("alter table w rename v to other", "2.5"),
    "swapped": ("alter table w add x text default '1'; alter table w rename v to y;"
                "alter table w rename x to v; alter table w rename y to x", "2.50 'a'"),
    "with a check": ("alter table w add check (v < 2)", "2.5 1.5"),
    "not null": ("alter table w alter v set not null", "null 1.5"),
    "table gone": ("drop table w", "2.5"),
    "made anew": ("drop table w; create table w (v text, id int not null{hash}, primary key"
                  " ({key}id))", "2.50 'a'"),
    "of text keys": ("truncate w; alter table w alter id type text", "2.5"),
    "a trigger": ("create or replace function f() returns trigger language plpgsql as $$ begin"
                  " new.v = new.v + 1; return new; end $$; create trigger f before insert on w"
                  " for each row execute function f()", "2.5 '3'"),
    "a trigger that stores nothing": (
        "create or replace function f() returns trigger language plpgsql as $$ begin return null;"
        " end $$; create trigger f before insert on w for each row execute function f()", "2.5 3"),
    "a rule": ("create rule r as on insert to w do also notify w", "2.5"),
}


@harness.proxied
class Changes(TypesCase):
    """Between two rows, past keyspread."""
    options = {"workers": 1, "backend": {"catalog_s": 60}}

    def stored_all(self):
        return [admin.rows("select to_regclass('w') is not null") == [("t",)]
                and admin.rows("select to_jsonb(w) - 'id_hash' from w order by 1")
                for admin in self.admins.values()]

    def tearDown(self):
        self.assertEqual(*self.stored_all())
        if self.keyspread:
            self.keyspread.check_alive()

    def check(self, text):
        for name, (change, values) in CHANGES.items():
            with self.subTest(name), self.session() as ask:
                self.setUp()
                for number in range(3):
                    ask(wire.query(text % (number, "0.5")))
                self.change(change)
                for number, value in enumerate(values.split(" ")):
                    ask(wire.query(text % (10 + number, value)))
                    ask(wire.query(text % (20 + number, value)))
                self.assertEqual(*self.stored_all())

    def test_listed(self):
        self.check("insert into w (id, v) values (%s, %s)")

    def test_not_listed(self):
        self.check("insert into w values (%s, %s)")

    def test_that_nothing_conflicts(self):
        self.check("insert into w (v, id) values (0.5, %s) on conflict do nothing -- %s")


if __name__ == "__main__":
    unittest.main()
