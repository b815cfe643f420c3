"""Foreign keys that refer to tables made through keyspread: what is replied and what the catalog tells is what PostgreSQL
replies and tells of plain tables, in both protocols, in one Query, in a transaction, by ALTER TABLE."""
import unittest

import harness
import wire
from direct_case import SessionCase
from made_case import Planned

ONE = "create table one (id int primary key, n int)"
TWO = "create table two (two_id int primary key, one_id int references one)"
FILL = "insert into one values (1, 1), (2, 2); insert into {} values (1, 1), (2, null)"

# What makes "one" and another table that refers to it, which is dropped first.
MADE = (
    ("two", ONE, TWO), ("two", ONE + ";" + TWO), ("two", "begin", ONE, TWO, "commit"), ("two", "begin;" + ONE + ";" + TWO + "; commit"),
    ("two", ONE, TWO.replace("one)", "one (id) on delete cascade on update cascade deferrable initially deferred)")),
    ("two", ONE, 'create table two (two_id int primary key, one_id int, constraint "the key" foreign key (one_id) references public.one)'),
    ("two", ONE, "create table if not exists two (two_id int primary key, one_id int references public . one /* é */ match full, check (one_id > 0))"),
    ("plain", ONE, "create table plain (id serial primary key, one_id bigint references one on delete set null, more int references one (id))"),
    ("plain", ONE, 'create table plain (id int, one_id int); alter table plain add foreign key (one_id) references "one"',
     "alter table plain add column more int references one, add constraint again foreign key (more) references one (id) not valid",
     "alter table plain validate constraint again"),
    ("plain", "select 1;" + ONE + "; select 2; create table plain (id int, one_id int references one); select 'é'"),
    ("plain", "create table one (id int primary key, n int unique)", "create table plain (id int, one_id int references one (n))"),
)

ASKED = (
    "select conname, contype, conkey::text, confkey::text, pg_get_constraintdef(oid), conindid::regclass::text from pg_constraint"
    " where conrelid in (select oid from pg_class where relname in ('one', '{0}')) order by 1",
    "select relname, relkind::text, relnatts::text, relchecks::text, relhasindex from pg_class where relnamespace = 2200 order by 1",
    "select indexrelid::regclass, indkey::text, indisprimary, pg_get_indexdef(indexrelid) from pg_index where indrelid = 'one'::regclass order by 1",
    "select a.attname, a.attnum::text from pg_attribute a join pg_class c on c.oid = a.attrelid where c.relnamespace = 2200 and a.attnum > 0 order by c.relname, 2",
    "select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1",
    "select constraint_name, unique_constraint_name, match_option, update_rule from information_schema.referential_constraints order by 1",
    "select * from (select * from information_schema.referential_constraints offset 0) r(a, b, c, d, e, f, g, h, i) order by c",
    "select constraint_name, column_name, ordinal_position, position_in_unique_constraint from information_schema.key_column_usage"
    " where table_schema = 'public' order by 1, 2",
    "select table_name, column_name, constraint_name from information_schema.constraint_column_usage order by 1, 2, 3",
    "select table_name, constraint_name from information_schema.constraint_table_usage order by 1, 2",
    "select table_name, constraint_name, constraint_type from information_schema.table_constraints"
    " where table_schema = 'public' and constraint_type <> 'CHECK' order by 1, 2",
)

USED = (
    "insert into {0} values (7, 7)", "delete from one where id = 1", "update one set n = 5 where id = 1", "update one set id = 9 where id = 1",
    "drop table one", "insert into one values (1, 7)", "insert into one values (1, 7) on conflict (id) do update set n = 7 returning *",
    "insert into one values (1, 8) on conflict do nothing", "select * from one left join {0} on one_id = one.id order by 1, 3", "truncate one",
    "begin", "set constraints all immediate", "insert into {0} values (8, 8)", "rollback", "delete from {0}", "delete from one",
)

# Another table of the name, with another key.
OTHERS = ("create schema if not exists other; create table if not exists other.one (k int primary key)",
          "set search_path = other; create table plain (id int references one); create table liked (like one including all)",
          "select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid in ('other.plain'::regclass, 'other.liked'::regclass) order by 1",
          "drop table other.plain, other.liked", "create table plain (id int references one, x int references one (k))", "drop table other.plain",
          "reset search_path")

WRONG = (
    "create table plain (id int references nothing)", "create table plain (é text, id text references one)",
    "create table plain (id int references one (nothing))", "create table plain (id int references one, x nothing)",
    "create table plain (id int, n int, foreign key (id, n) references one (id))", "create table plain (id int references one (n))",
    "alter table nothing add foreign key (id) references one", "alter table one add foreign key (nothing) references one",
    "create temp table plain (id int references one)", "create table two (two_id int, x int, foreign key (two_id, x) references one)",
    "drop table one; create table one (id int, n int references one)", "create table plain (id int, foreign key (id) references one (id, id))",
)


@harness.proxied
class References(SessionCase):
    tables = (Planned("one", ["id"]), Planned("two", ["two_id"]), Planned("pairs", ["a", "b"]), Planned("cut", ["id"], kind={"uniform": 4}))

    def setUp(self):
        self.sessions = self.connect_both()
        self.clean()

    def clean(self):
        for admin in self.admins.values():
            admin.rows("drop table if exists one, two, plain, pairs, cut cascade")
        for session in self.sessions:
            session.query("rollback")

    def is_fine(self, replies):
        self.assertFalse(any(reply.startswith("E") for reply in replies), replies)

    def use(self, table):
        self.is_fine(self.query("insert into one values (1, 1), (2, 2)"))
        self.is_fine(self.query(f"insert into {table} values (1, 1), (2, null)"))
        self.ask(table)
        for text in USED:
            with self.subTest(text.format(table)):
                self.query(text.format(table))

    def ask(self, table):
        """Less the column of which relation it is, and of which database."""
        for text in ASKED:
            with self.subTest(text.format(table)):
                answers = [[reply.body.replace(b"hashed", b"direct") for reply in session.query(text.format(table)) if reply.kind in "DE"]
                           for session in self.sessions]
                self.assertEqual(*answers)

    def test_tables_that_refer(self):
        for table, *texts in MADE:
            for ask in (self.query, self.prepared):
                if ask == self.prepared and any(";" in text for text in texts):
                    continue
                with self.subTest(texts, by=ask.__name__):
                    for text in texts:
                        self.is_fine(ask(text))
                    self.use(table)
                    self.clean()

    def test_a_table_that_refers_to_itself(self):
        for text in ("create table one (id int primary key, one_id int references one)",
                     "create table one (id int primary key, one_id int, foreign key (one_id) references public.one (id) on delete cascade)"):
            with self.subTest(text):
                self.is_fine(self.query(text))
                for more in ("insert into one values (1, 1), (2, 1)", "insert into one values (3, 7)", "delete from one where id = 1",
                             "select * from one order by 1"):
                    self.query(more)
                self.ask("one")
                self.clean()

    def test_keys_of_two_columns(self):
        self.query("create table pairs (a int, b int, primary key (a, b))")
        self.is_fine(self.query("create table plain (id int, b int, a int, foreign key (a, b) references pairs (a, b))"))
        self.is_fine(self.query("insert into pairs values (1, 2); insert into plain values (1, 2, 1)"))
        for text in ("insert into plain values (1, 1, 2)", "delete from pairs"):
            self.query(text)
        self.ask("plain")

    def test_keys_of_two_columns_by_no_name(self):
        """In the order of the primary key, which is not that of the configuration."""
        for key in ("a, b", "b, a"):
            made = f"create table pairs (a int, b int, primary key ({key}))"
            for texts in ((made, "create table plain (x int, y int, foreign key (x, y) references pairs)"),
                          (made, "create table plain (x int, y int)",
                           "alter table plain add constraint again foreign key (y, x) references public.pairs on delete cascade"),
                          (made[:-1] + ", x int, y int, constraint me foreign key (x, y) references pairs)",
                           "create table plain (x int, y int)"),
                          ("begin", made, "create table plain (x int, y int, foreign key (x, y) references pairs)", "commit")):
                for ask in (self.query, self.prepared):
                    with self.subTest(texts, by=ask.__name__):
                        for text in texts:
                            self.is_fine(ask(text))
                        for text in ("insert into pairs (a, b) values (1, 2)", "insert into plain values (1, 2)",
                                     "insert into plain values (2, 1)", "delete from pairs"):
                            self.query(text)
                        self.ask("plain")
                        self.ask("pairs")
                        self.clean()

    def test_another_table_of_the_name(self):
        for made in (False, True):
            if made:
                self.query(ONE)
            for text in OTHERS:
                with self.subTest(text, made=made):
                    self.is_fine([reply for reply in self.query(text) if reply[0] != "N"])

    def test_what_is_wrong(self):
        for text in WRONG:
            for ask in (self.query, self.prepared):
                with self.subTest(text, by=ask.__name__):
                    self.query(ONE)
                    self.assertTrue(any(reply.startswith("E") for reply in ask(text)))
                    self.query("insert into one values (1, 1)")
                    self.clean()

    def through(self, *texts):
        for text in texts:
            replies = self.sessions[1].query(text)
            errors = [reply.fields() for reply in replies if reply.kind == "E"]
            yield (errors[0]["C"], errors[0].get("H", "")) if errors else wire.tags_of(replies)

    def test_what_keyspread_refuses(self):
        """The order of a key that is made in the same text is not known."""
        made = list(self.through("create table pairs (a int, b int, primary key (b, a));"
                                 "create table plain (b int, a int, foreign key (a, b) references pairs)"))
        self.assertEqual(made, [("0A000", "Write REFERENCES with a list of columns.")])

    def looks(self, mark):
        """How often a session has asked its own link for the tables."""
        return sum(one.kind == "execute" for one in self.postgres.statements(mark, "hashed", "with recursive wanted"))

    def test_what_is_known_is_not_asked_again(self):
        """A foreign key, an index or a new table changes no key, so that the next foreign key is written without a look."""
        for text in ("begin", ONE, "insert into one values (5, 5)"):
            self.is_fine(self.query(text))
        mark = self.postgres.mark()
        for text in (TWO, "create index on one (n)", "alter table one add constraint loop foreign key (n) references one (id) on delete cascade",
                     "create table plain (id int, one_id int references one)", "alter table one add foreign key (n) references one"):
            self.is_fine(self.query(text))
        self.assertEqual(self.looks(mark), 0)
        self.is_fine(self.query("alter table plain add foreign key (id) references two"))
        self.assertEqual(self.looks(mark), 1)
        self.is_fine(self.query("commit"))
        self.use("two")
        self.ask("plain")

    def test_one_that_may_not_alter_the_table(self):
        """PostgreSQL's own error, for it is not done in another one's name."""
        self.query(ONE)
        self.admins["direct"].rows("create role guest")
        for admin in self.admins.values():
            admin.rows("grant references on one to guest; grant create on schema public to guest")
        made = list(self.through("set role guest", "create table plain (id int references one)", "reset role",
                                 "create table plain (id int references one)"))
        self.assertEqual([made[1][0], made[3]], ["42830", ["CREATE TABLE"]])

    def test_one_that_a_function_makes(self):
        """PostgreSQL's own error says how the table is made able to be referred to: then it is, and the catalog shows no more."""
        made = "do $$ begin execute 'create table plain (id int references one (id))'; end $$"
        self.query(ONE)
        (code, hint), *_ = self.through(made)
        self.assertEqual(code, "42830")
        self.assertIn('ADD CONSTRAINT "keyspread_key_of_one" UNIQUE ("id")', hint)
        self.assertEqual(list(self.through(hint[hint.index("ALTER TABLE"):], made)), [["ALTER TABLE"], ["DO"]])
        self.sessions[0].query(made)
        for asked in (ASKED[0], ASKED[2], ASKED[4]):
            self.assertEqual(*(session.rows(asked.format("plain")) for session in self.sessions))


OF_KEYS = ("select conrelid::regclass, conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 2200 order by 1, 2",
           "select indexrelid::regclass, pg_get_indexdef(indexrelid) from pg_index where indrelid::regclass::text ~ '^key_' order by 1")
KEY_ONE, KEY_TWO = ONE.replace("one", "key_one"), TWO.replace("one)", "key_one)").replace("two (", "key_two (")
KEY_LONG = "key_".ljust(63, "n")  # as PostgreSQL cuts it if more follows
KEY_ROW, KEY_X = "insert into key_one values (1, 1)", "alter table key_one rename id to x"


@harness.proxied
class KeysThatChange(SessionCase):
    """What is known of keys by an earlier statement holds for a foreign key until something may have changed them."""
    tables = (Planned("key_*", "auto", hash_column="keyspread_hash"),)

    def test_by_the_same_session(self):
        self.sessions = self.connect_both()
        for texts in (
                (KEY_ONE, KEY_TWO, KEY_X, "create table key_plain (id int references key_one)"),
                (KEY_ONE, KEY_TWO, "alter table key_one rename to key_other", "create table key_plain (id int references key_other)"),
                ("begin", KEY_ONE, KEY_ROW, KEY_X, "create table key_plain (id int references key_one (x))", "commit"),
                ("begin", KEY_ONE, KEY_ROW, "savepoint s", KEY_TWO, "commit"),
                ("begin", KEY_ONE, "savepoint s", KEY_TWO, "commit"),
                ("begin", KEY_ONE, KEY_ROW, "savepoint s", KEY_TWO, "rollback to s", KEY_TWO, "commit"),
                ("begin", KEY_ONE, KEY_ROW, KEY_TWO, "savepoint s", "create table key_plain (id int references key_two, n int references key_one)", "commit"),
                ("begin", KEY_ONE, KEY_ROW, "drop table key_one", "create table key_one (n int primary key)", KEY_TWO, "commit"),
                ("begin", KEY_ONE, KEY_ROW, "alter table key_one drop constraint key_one_pkey, add primary key (id, n)",
                 "create table key_plain (id int, n int, foreign key (id, n) references key_one)", "commit"),
                ("begin", KEY_ONE, KEY_ROW, KEY_TWO.replace("key_two", KEY_LONG + "xyz"), f"create table key_plain (id int references {KEY_LONG})", "commit"),
                ("begin", KEY_ONE, KEY_ROW, "create temp table key_two (k int primary key)", "create temp table key_three (k int references key_two)", "rollback"),
                ("begin", KEY_ONE, KEY_ROW, KEY_TWO, "insert into key_two values (1, 1), (2, 7)", "rollback", KEY_ONE, KEY_TWO)):
            with self.subTest(texts):
                for text in (*texts, *OF_KEYS, f"drop table if exists key_one, key_two, key_plain, key_other, {KEY_LONG} cascade"):
                    self.query(text)

    def test_by_another_session(self):
        self.sessions = self.connect_both()
        one, others = self.sessions, self.connect_both()
        for sessions, text in ((one, KEY_ONE), (one, KEY_TWO), (others, KEY_X), (one, "create table key_plain (id int references key_one)"),
                               (others, OF_KEYS[0]), (others, OF_KEYS[1]), (others, "drop table key_one, key_two, key_plain")):
            self.sessions = sessions
            self.query(text)


if __name__ == "__main__":
    unittest.main()
