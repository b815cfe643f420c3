"""Scripts of many statements that make tables and indexes: keyspread reads the catalog when somebody needs it, not for each
statement; and what is written is written by the tables as they are by then."""
import unittest

import harness
import metrics
import wire
from made_case import Planned

TABLES = 40


@harness.proxied
class SchemaScripts(harness.StackCase):
    tables = (Planned("public.*", "auto", hash_column="keyspread_hash"),)
    before_sql = "create schema other"
    options = {"admin": {}}

    @staticmethod
    def script():
        """As an application's installer has it: what depends on no other table."""
        for number in range(TABLES):
            name = f"made_{number}"
            yield f"create table {name} (id serial, n int, v text, primary key (id))"
            yield f"create index {name}_n on {name} (n)"
            yield f"create unique index {name}_v on {name} (v)"
            yield f"alter table {name} add column more int default 0"
            yield f"comment on table {name} is 'one of many'"
            yield f"create or replace function f{number}() returns trigger language plpgsql as $$ begin return null; end $$"
            yield f"create trigger t after insert on {name} for each row execute function f{number}()"

    def setUp(self):
        """No table is there but those that a test makes."""
        with self.postgres.admin(self.database) as admin:
            admin.rows("drop schema public cascade; create schema public; grant all on schema public to public")
        self.session = self.wire()
        self.run_all("create table first (id int primary key)", "insert into first values (1)")
        self.before = metrics.Scrape(self.keyspread)

    def run_all(self, *texts):
        for text in texts:
            replies = self.session.query(text)
            self.assertEqual([reply.fields()["M"] for reply in replies if reply.kind == "E"], [], text)

    def read(self):
        """How often it was asked whether tables have changed, and how often they were read."""
        now = metrics.Scrape(self.keyspread).since(self.before)
        return now.get("catalog_checks_total"), now.get("catalog_loads_total", result="ok")

    def is_right(self, name, count):
        with self.postgres.admin(self.database) as admin:
            rows = admin.rows(f"select id, keyspread_hash from {name}")
        self.assertEqual([[row[0], str(harness.xxh3_signed(int(row[0])))] for row in rows], rows)
        self.assertEqual(len(rows), count)

    def test_reads(self):
        """One look for the script, and one for what is written behind it; the reader may look once by itself."""
        self.run_all(*self.script())
        checks, loads = self.read()
        self.assertLessEqual(checks, 2)
        self.assertLessEqual(loads, 2)
        self.run_all(*(f"insert into made_{number} (v) values ('a')" for number in range(TABLES)))
        checks, loads = self.read()
        self.assertLessEqual(checks, 4)
        self.assertTrue(1 <= loads <= 4, loads)
        for number in range(TABLES):
            self.is_right(f"made_{number}", 1)

    def test_in_a_transaction(self):
        """Tables that the transaction has changed are read: whether they have changed is not asked."""
        since = self.postgres.mark()
        self.run_all("begin", *self.script())
        self.assertLessEqual(max(self.read()), 2)
        self.run_all("insert into made_7 (v) values ('a')", "commit", "insert into made_7 (v) values ('b')")
        self.is_right("made_7", 2)
        asked = {one.text[:22] for one in self.postgres.statements(since, self.database, "with recursive") if one.kind == "execute"}
        self.assertEqual(asked, {"with recursive wanted("})

    def test_each_write_is_by_the_tables_of_its_time(self):
        """Whatever is changed before it."""
        insert = "insert into changing (id) values ({})"
        changes = ("create table changing (id int primary key)", "alter table changing add column more int default 3",
                   "create unique index changing_more on changing (id)", "create index on changing (more)", "drop index changing_more",
                   "comment on column changing.id is 'x'", "grant all on changing to public", "revoke all on changing from public")
        for begin, end in ((), ()), (("begin",), ("commit",)):
            for number, change in enumerate(changes):
                self.run_all(*begin, change, insert.format(number), *end)
            self.is_right("changing", len(changes))
            self.run_all("drop table changing", "create table changing (more int, id bigint primary key)", "insert into changing values (5, 6)")
            self.is_right("changing", 1)
            self.run_all("drop table changing", "create table changing (id int)", "insert into changing values (5)", "drop table changing")

    def test_a_function_that_moves_search_path(self):
        """The table is made where it moves to, where no pattern is."""
        self.run_all("create function away() returns text language sql as $$ select set_config('search_path', 'other', false) $$",
                     "create function back() returns text language sql as $$ select set_config('search_path', 'public', false) $$",
                     "select away()", "create table elsewhere (id int primary key)", "insert into other.elsewhere values (1)",
                     "select public.back()", "create table here (id int primary key)", "insert into here values (1)")
        self.is_right("here", 1)
        with self.postgres.admin(self.database) as admin:
            self.assertEqual(admin.rows("select * from other.elsewhere"), [["1"]])

    def test_a_table_that_is_there(self):
        """What is refused is refused by the tables as they are."""
        self.run_all("create table there (id int primary key)")
        for text, state in (("create table there (id int primary key)", "42P07"), ("create index on nowhere (id)", "42P01"),
                            ("alter table there drop column keyspread_hash", "0A000")):
            replies = self.session.query(text)
            self.assertEqual([reply.fields()["C"] for reply in replies if reply.kind == "E"], [state], text)
        self.run_all("create table if not exists there (id int primary key)")


@harness.proxied
class StoredCode(harness.StackCase):
    """What the database stores by now moves names, though it stored nothing of the kind when it was read."""
    tables = (Planned("made_*", "auto", hash_column="keyspread_hash"),)
    before_sql = "create schema other"

    def setUp(self):
        """None of them is there."""

    def test_a_view_that_moves_search_path(self):
        hidden = "create function hidden() returns text language sql as $$ select set_config('search_path', 'other', false) $$"
        with self.wire() as session, self.postgres.admin(self.database) as admin:
            for text in ("create table made_0 (id int primary key)", "insert into made_0 values (1)", hidden,
                         "create view moving as select hidden() as path", "create table made_1 (id int primary key)", "table moving",
                         "create table made_2 (id int primary key)"):
                self.assertEqual([reply for reply in session.query(text) if reply.kind == "E"], [], text)
            self.assertEqual(admin.rows("select relname, relnamespace::regnamespace, relnatts from pg_class where relname ~ '^made_.$'"
                                        " order by relname"),
                             [["made_0", "public", "2"], ["made_1", "public", "2"], ["made_2", "other", "1"]])


@harness.proxied
class AtTheLimit(harness.StackCase):
    """A database of as many tables of patterns as there may be, which one session reaches without looking, in several transactions."""
    tables = (Planned("public.*", "auto", hash_column="keyspread_hash"),)
    options = {"admin": {}}
    MOST = 1000

    def setUp(self):
        """None of them is there."""

    def test_tables_beyond_it_are_ordinary(self):
        with self.postgres.admin(self.database) as admin, self.wire() as session:
            admin.rows(f"""do $$ begin for i in 1..{self.MOST - 20} loop execute format('create table t%s (id int,
                keyspread_hash bigint not null, primary key (id, keyspread_hash))', i); commit; end loop; end $$""")
            session.query("insert into t1 values (1)")
            make = "create table more_{} (id int primary key)".format
            for first in range(0, 40, 4):
                for text in ("begin", *map(make, range(first, first + 4)), "commit"):
                    self.assertIsNone(wire.error_of(session.query(text)), text)
            made = admin.rows("select relnatts, count(*) from pg_class where relname ~ '^more_[0-9]+$' group by 1 order by 1")
            self.assertEqual(made, [["1", "20"], ["2", "20"]])


if __name__ == "__main__":
    unittest.main()
