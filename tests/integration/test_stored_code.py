"""A database that stores code which changes the session's state: nobody is asked for it after reads that
cannot run any; and wherever a SELECT can run some that it does not name, it is asked for."""
import unittest

import harness
import metrics
import wire
from harness import Table

UP = Table("up", ["id bigint not null", "v int"], ["id"], hash_column="h")
MOVE = "begin perform set_config('search_path', 'other', false); return {}; end"
STORED = f"""create schema other; create table other.up (id bigint, v int); create table plain (a int);
    insert into plain values (1);
    create function moved() returns trigger language plpgsql as $${MOVE.format("new")}$$;
    create trigger t before insert on plain for each row execute function moved()"""
FUNCTION = "create function moves({}) returns {} language plpgsql as $$" + MOVE + "$$"
# What is made, by name, and a SELECT that runs it.
UNNAMED = (
    ("view", FUNCTION.format("", "int", 1) + "; create view v as select moves()", "select * from v"),
    ("view of a caller", FUNCTION.format("", "int", 1) + "; create function calls() returns int language sql"
     " as 'select moves()'; create view v as select calls()", "table v"),
    ("operator", FUNCTION.format("int, int", "int", 1) +
     "; create operator <<< (leftarg = int, rightarg = int, function = moves)", "select 1 <<< 2"),
    ("operator of a caller", FUNCTION.format("", "int", 1) + "; create function calls(int, int) returns int"
     " language sql as 'select moves()'; create operator <<< (leftarg = int, rightarg = int, function = calls)",
     "select a <<< 2 from plain"),
    ("cast", FUNCTION.format("int", "point", "'(1,1)'") + "; create cast (int as point) with function moves(int)",
     "select 1::point"),
    ("domain", FUNCTION.format("int", "bool", "true") + "; create domain small as int check (moves(value))",
     "select 1::small"),
    ("attribute", FUNCTION.format("plain", "int", "1"), "select p.moves from plain p"),
    ("any row's attribute", FUNCTION.format("record", "int", "1"), "select p.moves from plain p"),
    ("index", FUNCTION.format("int, int", "int", "case when $1 < $2 then -1 else ($1 > $2)::int end") +
     " immutable; create operator <<< (leftarg = int, rightarg = int, function = int4lt);"
     "create operator >>> (leftarg = int, rightarg = int, function = int4gt);"
     "create operator === (leftarg = int, rightarg = int, function = int4eq);"
     "create operator class moving for type int using btree as operator 1 <<<, operator 3 ===, operator 5 >>>,"
     " function 1 moves(int, int); insert into plain values (2); set search_path = public",
     "select a from plain order by a using <<<"),
)


class StoredCode(harness.StackCase):
    tables = (UP,)
    partitioned = False
    setup_sql = STORED
    number = 0

    def fine(self, session, *texts):
        for text in texts:
            self.assertIsNone(wire.error_of(session.query(text)), text)

    def stores_in(self, session):
        """The schema whose table the next row is stored in."""
        StoredCode.number += 1
        self.fine(session, f"insert into up values ({self.number}, 1)")
        ours = session.rows(f"select id from public.up where id = {self.number}")
        return "public" if ours else "other"

    def said(self, session, *messages):
        """What the server hears when these are sent."""
        mark = self.postgres.mark()
        for message in messages:
            self.assertIsNone(wire.error_of(session.ask(*message)))
        return [statement.text for statement in self.postgres.statements(mark, self.database)
                if "keyspread_check" not in statement.text]

    @harness.proxied
    def test_nothing_is_asked_after_reads(self):
        session = self.wire()
        self.fine(session, "insert into up values (1, 1)", "select v from up where id = 1")
        read = [wire.bind("", "s", ["1"]), wire.execute(), wire.sync()]
        self.fine(session, "select a from plain")
        session.ask(wire.parse("s", "select v from up where id = $1"), wire.sync())
        session.ask(*read)
        said = self.said(session, read, [wire.query("select a + 1 from plain where a = '1'")], read,
                         [wire.query("select v from up where id = 1")], [wire.query("values ('a')")],
                         [wire.query("select v from up where id = 1")])
        self.assertEqual(len(said), 6, said)

    @harness.proxied
    def test_a_trigger_is_asked_about(self):
        session = self.wire()
        self.fine(session, "insert into plain values (1)")
        self.assertEqual(self.stores_in(session), "other")

    def test_what_a_select_runs_unnamed(self):
        for name, make, run in UNNAMED:
            with self.subTest(name):
                session = self.wire()
                self.fine(session, make)
                self.assertEqual(self.stores_in(session), "public")
                self.fine(session, run)
                self.assertEqual(self.stores_in(session), "other")
                self.fine(session, "set search_path = public", "create schema next",
                          "drop schema next", "drop function moves cascade", "drop function if exists calls cascade",
                          "drop operator if exists <<< (int, int) cascade", "drop operator if exists >>> (int, int)",
                          "drop operator if exists === (int, int)")


class OwnCode(StoredCode):
    """A database that stores nothing of the kind, and sessions that do."""
    setup_sql = "create schema other; create table other.up (id bigint, v int); create table plain (a int);" \
        "insert into plain values (1)"
    test_nothing_is_asked_after_reads = test_a_trigger_is_asked_about = test_what_a_select_runs_unnamed = None

    def test_a_session_s_own_function_by_a_known_name(self):
        """… which is in the way of nobody else."""
        for run in ("select pg_temp.lower('a')", "select pg_temp.lower(a::text) from plain",
                    "insert into up values (-1, 1) returning pg_temp.lower('a')"):
            with self.subTest(run):
                session = self.wire()
                self.fine(session, "create function pg_temp.lower(text) returns text language sql as"
                          " $$select set_config('search_path', 'other', false)$$")
                self.assertEqual(self.stores_in(session), "public")
                self.fine(session, run)
                self.assertEqual(self.stores_in(session), "other")
                self.fine(session, "delete from public.up where id = -1")


ITEMS = Table("items", ["id bigint not null", "v text"], ["id"], hash_column="h")
UPDATED = Table("updated", ["id bigint not null", "v text"], ["id"], hash_column="h")
OWN = """create schema other; create table other.items (id bigint, v text); create table plain (a int);
    create function moves() returns text language sql as
        $$select set_config('search_path', 'other', false)$$;
    create view v as select moves();
    create function moved() returns trigger language plpgsql as $$ begin perform moves(); return new; end $$;
    create trigger t before insert on plain for each row execute function moved()"""
OWN_NAMES = """create function turned(int) returns text language plpgsql as $$ begin return moves(); end $$;
    create operator !!! (rightarg = int, function = turned);
    create domain small as int check (turned(value) is not null);
    create function attribute(items) returns text language sql as 'select moves()';
    create function lower(varchar) returns text language plpgsql as $$ begin return moves(); end $$"""
TRIGGER = "create trigger u after update on updated for each row execute function moved()"
# INSERTs that run stored code that they do not name, or do so by name, but for the rows of their table.
RUNS = (
    "insert into items select 2, moves from v", "insert into items values (2, (select moves from v))",
    "insert into items values (2, 'a'), (3, (table v))",
    "insert into items values (2) returning (select moves from v)", "insert into items values (2) returning moves()",
    "insert into items values (1) on conflict (id) do update set v = (select moves from v)",
    "insert into items values (1) on conflict (id) do update set v = 'x' where exists (table v)",
    "insert into items values (1) on conflict (id) do update set v = excluded.v || moves()",
    "with x as (select moves from v) insert into items select 2, moves from x",
    "with x as (insert into plain values (1)) insert into items values (2)",
    "insert into updated values (1) on conflict (id) do update set v = 'x'",
)
RUNS_OWN = (
    "insert into items values (2, !!! 1)", "insert into items values (2) returning !!! id::int",
    "insert into items values (2) returning 1::small", "insert into items values (2) returning cast(1 as public.small)",
    "insert into items values (2) returning small '1'", 'insert into items values (2) returning "small" \'1\'',
    "insert into items values (2) returning items.attribute", "insert into items values (2) returning (items).attribute",
    "insert into items as i values (1) on conflict (id) do update set v = upper(i.attribute)",
    "insert into items as i values (1) on conflict (id) do update set v = turned(1)",
    "insert into items values (2, lower('A'::varchar))",
)
# … and that run none.
RUN_NONE = (
    "insert into items values ({}, 'a')", "insert into items (id, v) values ({}, lower('A')) returning id",
    "insert into items values ({}, now()), (-{}, current_timestamp)", "insert into items values ({}, 'a' || 'b')",
    "insert into items values ({}, coalesce('a', '')) returning id, v as w", "insert into items values ({}) returning *",
    "insert into items values ({}, '{{}}'::jsonb) returning items.id", "insert into items values ({}, -1::numeric(10, 2))",
    "insert into items as i values ({}, cast('1' as double precision)) on conflict (id) do update"
    " set v = excluded.v, id = i.id where i.v <> 'x' returning i.*",
)


class Evaluated(harness.StackCase):
    """What an INSERT itself evaluates may run stored code, too."""
    tables = (ITEMS, UPDATED)
    partitioned = False
    before_sql = OWN
    setup_sql = TRIGGER

    def fine(self, session, *messages):
        replies = session.ask(*messages)
        self.assertIsNone(wire.error_of(replies), messages)
        return replies

    def forms(self, text):
        """It as a Query, as a statement without a name and with one."""
        run = [wire.execute(), wire.sync()]
        return {"Query": [[wire.query(text)]],
                "unnamed": [[wire.parse("", text), wire.bind("", "", []), *run]],
                "named": [[wire.parse("n", text), wire.sync()], [wire.bind("", "n", []), *run],
                          [wire.close("S", "n"), wire.sync()]]}

    def check_moved(self, *texts):
        for text in texts:
            for name, steps in self.forms(text).items():
                with self.subTest(text=text, form=name):
                    session = self.wire()
                    with self.postgres.admin(self.database) as admin:
                        admin.rows("truncate items, other.items, updated")
                    self.fine(session, wire.query("insert into items values (1)"))
                    self.fine(session, wire.query("insert into updated values (1)"))
                    for messages in steps:
                        self.fine(session, *messages)
                    self.fine(session, wire.query("insert into items values (99)"))
                    with self.postgres.admin(self.database) as admin:
                        self.assertEqual(admin.rows("select id from other.items"), [["99"]])

    def test_what_moves_a_name(self):
        self.check_moved(*RUNS)

    @harness.proxied
    def test_what_postgresql_brings(self):
        """Nobody asks, though a view may move names."""
        session, number = self.wire(), 100
        self.fine(session, wire.query("begin"))
        self.fine(session, wire.query("insert into items values (100)"))
        mark = self.postgres.mark()
        for text in RUN_NONE:
            for form in "Query", "unnamed", "named":
                number += 1
                for messages in self.forms(text.format(number, number))[form]:
                    self.fine(session, *messages)
        self.fine(session, wire.query("commit"))
        self.assertEqual(self.postgres.statements(mark, self.database, "select session_user, "), [])


class EvaluatedOwn(Evaluated):
    """… where names and operators may be the database's own."""
    setup_sql = OWN_NAMES
    test_what_postgresql_brings = None

    def test_what_moves_a_name(self):
        self.check_moved(*RUNS_OWN)


NOTED = Table("noted", ["id bigint not null", "v text"], ["id"], hash_column="h")
CHANGED = Table("changed", ["id bigint not null", "v text"], ["id"], hash_column="h")
CODE = """create table audit (who text, id bigint);
    create function note() returns trigger language plpgsql as $$ begin
        insert into audit values (current_setting('my.tenant', true), new.id); return null; end $$"""
DEFERRED = """create constraint trigger note after insert on noted deferrable initially deferred
    for each row execute function note();
    create constraint trigger note after update on changed deferrable initially deferred
    for each row execute function note()"""


class Deferred(harness.StackCase):
    """What runs when a row is committed runs in the session whose row it is."""
    tables = (NOTED, CHANGED)
    partitioned = False
    options = {"workers": 1}
    before_sql = CODE
    setup_sql = DEFERRED

    def test_the_session_is_seen(self):
        one, other = self.wire(), self.wire()
        for session, text in ((one, "set my.tenant = 'one'"), (one, "insert into noted values (1)"),
                              (other, "insert into noted values (2)"), (one, "insert into noted values (3)"),
                              (one, "insert into changed values (4)"),
                              (one, "insert into changed values (4) on conflict (id) do update set v = 'again'"),
                              (one, "update changed set id = 5 where id = 4")):
            self.assertIsNone(wire.error_of(session.query(text)), text)
        with self.postgres.admin(self.database) as admin:
            self.assertEqual(admin.rows("select who from audit order by id"), [["one"], [None], ["one"], ["one"], ["one"]])


TIMES = Table("times", ["ts timestamptz not null", "v text check (length(v) < 9)"], ["ts"], hash_column="h")
LOUD = """create function sets(v text) returns bool language plpgsql as $$ begin
        if v like 'set %' then perform set_config(split_part(v, ' ', 2), split_part(v, ' ', 3), false); end if;
        return true; end $$;
    create function calls(v text) returns text language plpgsql immutable as $$ begin
        perform sets(v); return v; end $$;
    create domain setting as text check (sets(value)); create domain settings as setting"""
NOON = "insert into times values ('2020-01-01 12:00', 'x')"


def of_code(name, column, **more):
    return Table(name, ["id bigint not null", column], ["id"], hash_column="h", **more)


COMPARING = """create function compares(a text, b text) returns int language plpgsql immutable as $$ begin
        perform sets(a), sets(b); return bttextcmp(a, b); end $$;
    create function equals(a text, b text) returns bool language plpgsql immutable as $$ begin
        perform sets(a), sets(b); return a = b; end $$;
    create operator === (leftarg = text, rightarg = text, function = equals, commutator = ===);
    create operator class loud for type text using btree as operator 1 <, operator 2 <=, operator 3 =,
        operator 4 >=, operator 5 >, function 1 compares(text, text);
    create operator class loud_equal for type text using btree as operator 1 <, operator 2 <=, operator 3 ===,
        operator 4 >=, operator 5 >, function 1 bttextcmp(text, text);
    create table compared (v text); create table equated (v text);
    create unique index on compared (v loud); create unique index on equated (v loud_equal);
    insert into compared values ('set TimeZone <+03>-03'), ('x'); insert into equated table compared;"""


class Shared(harness.StackCase):
    """What a row of one client runs changes nothing for another's."""
    tables = (TIMES, of_code("checked", "v text check (sets(v))"),
              of_code("builtin", "v text check (length(set_config(split_part(v, ' ', 2), split_part(v, ' ', 3),"
                      " false)) > 0)"),
              of_code("typed", "v setting"), of_code("typed_array", "v settings[]"),
              of_code("casting", "v text check ((v::setting) is not null)"), of_code("indexed", "v text"),
              of_code("defaulting", "v text default 'set TimeZone <+03>-03'::setting"),
              of_code("indexed_casting", "v text"), of_code("some_indexed", "v text"), of_code("comparing", "v text"),
              of_code("equating", "v text"), of_code("excluding", "v text"), of_code("plain", "v text"))
    before_sql = LOUD + ";" + COMPARING
    setup_sql = """create index on indexed (calls(v)); create index on indexed_casting ((v::setting));
        create index on some_indexed (id) where (v::setting) is not null;
        alter table comparing add foreign key (v) references compared (v);
        alter table equating add foreign key (v) references equated (v);
        alter table excluding add exclude using btree (v loud_equal with ===)"""
    partitioned = False
    options = {"workers": 1, "admin": {}, "backend": {"catalog_s": 3600}}

    def fine(self, session, text):
        replies = session.query(text)
        self.assertIsNone(wire.error_of(replies), text)
        return [reply.body for reply in replies if reply.kind == "S"]

    def batched(self):
        return metrics.Scrape(self.keyspread).get("units_total", outcome="committed")

    def noon(self, message):
        """Of a client that has set nothing."""
        with self.postgres.admin(self.database) as admin:
            admin.rows("truncate times")
        self.fine(self.wire(), NOON)
        self.check_stored(TIMES, 1)
        self.assertEqual(self.stored(TIMES, "ts at time zone 'UTC'"), [["2020-01-01 12:00:00"]], message)

    def test_settings_are_whose_row_sets_them(self):
        for table in self.tables[1:-1]:
            moved = {"typed_array": "'{set TimeZone <+03>-03}'", "defaulting": "default"}.get(
                table.name, "'set TimeZone <+03>-03'")
            session = self.wire()
            told = self.fine(session, f"insert into {table.name} values (1, {moved})")
            self.assertEqual(told, [b"TimeZone\0<+03>-03\0"], table.name)
            self.noon(table.name)
            with self.postgres.admin(self.database) as admin:
                admin.rows("truncate times")
            self.fine(session, NOON)
            self.check_stored(TIMES, 1)
            self.assertEqual(self.stored(TIMES, "ts at time zone 'UTC'"), [["2020-01-01 09:00:00"]], table.name)

    @harness.proxied
    def test_other_checks_stay_batched(self):
        before = self.batched()
        self.noon("times")
        self.assertEqual(self.batched() - before, 1)

    @harness.proxied
    def test_what_nobody_knew_of(self):
        """A link whose settings are others by now is not used again."""
        self.fine(self.wire(), "insert into plain values (1, 'x')")
        with self.postgres.admin(self.database) as admin:
            admin.rows("alter table plain add check (sets(v))")
        before = self.batched()
        self.fine(self.wire(), "insert into plain values (2, 'set TimeZone <+03>-03')")
        self.assertEqual(self.batched() - before, 1, "it was known")
        self.noon("plain")


TARGET = Table("target", ["id bigint not null", "v text", "n int"], ["id"], hash_column="h")
SCHEMA = """create schema other;
    create function moves(a text) returns text language plpgsql immutable as $$ begin
        perform set_config('search_path', 'other, public', false); return a; end $$;"""
MOVES = SCHEMA + """create function moved(a int) returns bool language plpgsql as $$ begin
        perform moves(''); return true; end $$;
    create function other.coalesce(text) returns text language sql as $$ select public.moves('') $$;
    create domain moving as int check (moved(value));
    create domain "integer" as int check (moved(value));
    create domain telling as int check (set_config('search_path', 'other, public', false) is not null or value > 0);
    create type pair as (a moving, b int)"""
OPERATORS = """create operator !!! (rightarg = text, function = moves);
    create function of_row(target) returns text language sql as $$ select moves('') $$;
    create table other.target (like target including all)"""
# What a client writes in the place of a row that moves what names mean in the session that stores it.
RUNNING = (
    "values ({0}, 1::moving)", "values ({0}, cast(1 as public.moving))", "values ({0}, moving '1')",
    "values ({0}, '{{1}}'::moving[])", "values ({0}, array[null, 1::moving])", "values ({0}, '(1,1)'::pair)",
    "values ({0}, public.pair '(1,1)')", "values ({0}, 1::telling)", """values ({0}, 1::"integer")""",
    "values ({0}, '1'), ({0} + 1000, 1::moving)", "values ({0}, -1::moving)", "values ({0}, moving(1))",
    "values ({0}, (1::moving)::text)", "values ({0}, !!! 'a')", "values ({0}, null) returning 1::moving",
    "values (0) on conflict (id) do update set v = 1::moving", "values (0) on conflict (id) do update set v = moving '1'",
    "values (0) on conflict (id) do update set n = cast('1' as moving)",
    "values (0) on conflict (id) do update set v = !!! excluded.v",
    "values (0) on conflict (id) do update set v = other.coalesce('a')",
    "values (0) on conflict (id) do update set v = target.of_row",
    "values (0) on conflict (id) do update set v = coalesce(null, excluded.of_row)",
    "values (0) on conflict (id) do update set v = 'b' where target.id = 0::moving",
    "values (0) on conflict (id) do update set (v, n) = ('b', 1::moving)",
    "values (0) on conflict (id) where 0 < 1::moving do nothing",
)
# … and of what stays batched for all that.
KEPT = ("values ({0}, 'a')", "values ({0}, 1::text)", "values ({0}, cast('1' as integer))", "values ({0}, date '2026-01-01')",
        "values ({0}, '{{1}}'::int[])", "values ({0}, '{{}}'::jsonb)", "values ({0}, '1 day'::interval)",
        "values ({0}, '::1'::pg_catalog.inet)", "values ({0}, now())", "values ({0}, array[1, 2])", "values ({0}, -1, 2)",
        "values (0) on conflict (id) do update set v = excluded.v, n = coalesce(excluded.n, target.n, 1)",
        "values (0) on conflict (id) do update set (v, n) = ('a', null)", "values (0) on conflict do nothing",
        "values ({0}, 'a') returning v, *")


SHAPES = of_code("shapes", "m mood default 'ok', c citext, e email, n int default 0, a int[]")
# As PostGIS has it for its topology.
CASTING = LOUD.split(";\n    create function calls", maxsplit=1)[0] + """; create extension citext; create type mood as enum ('sad', 'ok');
    create domain email as citext check (value ~ '^[a-z]'); create type topo as (v text);
    create function topo_array(topo) returns int[] language plpgsql as $$ begin
        perform sets($1.v); return '{1}'; end $$;
    create cast (topo as int[]) with function topo_array(topo) as implicit"""


class Unmet(harness.StackCase):
    """Casts from a type that no table has are in the way of those alone who name it."""
    tables = (SHAPES,)
    partitioned = False
    before_sql = CASTING
    options = {"workers": 1, "admin": {}}

    @harness.proxied
    def test_what_is_batched(self):
        rows = (("(1)", "", 1), ("(2, 'sad', 'A', 'b')", " returning *", 1),
                ("(1)", " on conflict (id) do update set n = shapes.n + 1, e = excluded.e", 1),
                ("(3, 'ok'::mood)", "", 0), ("(4, 'ok', 'a', 'a', 1, '(x)'::topo)", "", 0),
                ("(5, 'ok', 'a', 'a', 1, cast('(x)' as public.topo))", "", 0),
                ("(1)", " on conflict (id) do update set a = topo '(set TimeZone <+03>-03)'", 0),
                ("(1)", " on conflict (id) do update set a = '(set TimeZone <+03>-03)'::topo", 0))
        for row, behind, units in rows:
            with self.subTest(row + behind):
                session = self.wire()
                before = metrics.Scrape(self.keyspread).get("units_total", outcome="committed")
                columns = ["id", "m", "c", "e", "n", "a"][:row.count(",") + 1]
                replies = session.query(f"insert into shapes ({', '.join(columns)}) values {row}{behind}")
                self.assertIsNone(wire.error_of(replies))
                after = metrics.Scrape(self.keyspread).get("units_total", outcome="committed")
                self.assertEqual(after - before, units)


class Others(harness.StackCase):
    """A client's rows, on the one link on which others' are written."""
    params = {}
    number = 0

    def next(self):
        Others.number += 1
        return self.number

    def others_rows(self, message):
        """Of a client that has done nothing else, by text and by parameters."""
        other, text, bound = self.wire(**self.params), self.next(), self.next()
        for replies in (other.query(f"insert into target values ({text}, 'a')"),
                        other.ask(wire.parse("", "insert into target values ($1, 'a')"),
                                  wire.bind("", "", [str(bound)]), wire.execute(), wire.sync())):
            self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"], message)
        with self.postgres.admin(self.database) as admin:
            found = admin.rows(f"select id from public.target where id in ({text}, {bound})")
        self.assertEqual(len(found), 2, message)


class Unnamed(Others):
    """What an INSERT runs by the types and operators in it runs in its own session, not where others' rows are stored."""
    tables = (TARGET,)
    partitioned = False
    before_sql = MOVES
    setup_sql = OPERATORS
    options = {"workers": 1, "admin": {}, "backend": {"catalog_s": 3600, "batch_links": 1}}
    def batched(self):
        return metrics.Scrape(self.keyspread).get("units_total", outcome="committed")

    def test_texts(self):
        for form in RUNNING:
            self.wire().query("insert into target " + form.format(self.next()))
            self.others_rows(form)

    def test_parameters(self):
        domain = int(self.wire().rows("select 'moving'::regtype::oid::int")[0][0])
        for form, types in (("$1, $2::moving", ()), ("$1, $2::text::public.moving", ()), ("$1, $2::moving[]", ()),
                            ("$1, $2", (0, domain)), ("$1, null) on conflict (id) do update set v = ($2", (0, domain)),
                            ("$1, null) on conflict (id) do update set v = ($2::moving", ())):
            for value in str(self.next()), "0":
                bound = "{1}" if "[]" in form else "1"
                self.wire().ask(wire.parse("", f"insert into target values ({form})", types),
                                wire.bind("", "", [value, bound]), wire.execute(), wire.sync())
                self.others_rows((form, types))

    @harness.proxied
    def test_what_runs_nothing_stays_batched(self):
        for form in KEPT:
            before = self.batched()
            replies = self.wire().query("insert into target " + form.format(self.next()))
            self.assertIsNone(wire.error_of(replies), form)
            self.assertEqual(self.batched() - before, 1, form)


# What is made, and an INSERT that runs it.
MET = (
    ("a cast into the type of a column", "create type made.pair as (a int); alter table typed alter v type made.pair using null;"
     "create function made.to_pair(int) returns made.pair language sql as $$ select moves(''); select '(1)'::made.pair $$;"
     "create cast (int as made.pair) with function made.to_pair(int) as assignment", "typed values ({}, 5)"),
    ("a cast between two types", "create function made.days(date) returns int language sql as"
     " $$ select moves(''); select 1 $$; create cast (date as int) with function made.days(date) as assignment",
     "target values ({}, null, date '2026-01-01')"),
    ("an operator class", "create function made.compares(text, text) returns int language plpgsql immutable as"
     " $$ begin perform moves(''); return bttextcmp($1, $2); end $$; create operator class made.moving for type text"
     " using btree as operator 1 <, operator 2 <=, operator 3 =, operator 4 >=, operator 5 >,"
     " function 1 made.compares(text, text);"
     "create index on leaf (v made.moving); insert into leaf values (0, 'a')", "leaf values ({}, 'b')"),
    ("rows that refer to it", "create table made.children (v text references referred (v) on update cascade);"
     "create function made.moved() returns trigger language plpgsql as $$ begin perform moves(''); return new; end $$;"
     "create trigger t after update on made.children for each row execute function made.moved();"
     "insert into referred values (0, 'a'); insert into made.children values ('a')",
     "referred values (0, 'a') on conflict (id) do update set v = 'b'"),
    ("the key of a partition", "", "parted values ({}, 'a')"),
    ("a type that has two meanings", "create function made.moved(int) returns bool language sql as"
     " $$ select moves('') = '' $$; create domain made.float8 as int check (made.moved(value))",
     "target values ({}, 1::float8)"),
    ("a function that has two meanings", "create function made.to_timestamp(int) returns text language sql as"
     " $$ select moves('') $$", "target values ({}, to_timestamp(1))"),
)


class UnnamedByTables(Others):
    """… and what it runs by its table, and by names that are PostgreSQL's, too."""
    tables = (TARGET, *(of_code(name, "v text") for name in ("typed", "leaf", "parted", "referred")))
    partitioned = False
    before_sql = SCHEMA
    setup_sql = """create table other.target (like target including all);
        create table parent (id bigint not null, v text, h bigint not null) partition by list (moves(v));
        alter table parent attach partition parted for values in ('a');
        alter table referred add unique (v)"""
    options = {"workers": 1, "backend": {"catalog_s": 3600, "batch_links": 1}}
    params = {"options": "-c search_path=public,made,pg_catalog"}

    def test_each(self):
        for name, make, form in MET:
            with self.subTest(name):
                self.run_one(make, form)

    def run_one(self, make, form):
        session = self.wire()
        for text in "drop schema if exists made cascade", "create schema made", make:
            self.assertIsNone(wire.error_of(session.query(text)), text)
        self.others_rows("before")
        replies = self.wire(**self.params).query("insert into " + form.format(self.next()))
        self.assertIsNone(wire.error_of(replies), replies)
        self.others_rows(form)


NAMED = Table("named", ["id bigint not null", "r regclass", "n oid", "a regtype[]"], ["id"], hash_column="h")


class Numbers(harness.StackCase):
    """What a name means is what its own session says, also where a number is made of it."""
    tables = (NAMED,)
    before_sql = "create table other (a int)"
    options = {"workers": 1}
    TEXTS = ("insert into named (id, r) values (1, 'other')",
             "insert into named (id, n) values (2, 'other'::regclass::oid)",
             "insert into named (id, a) values (3, '{other}')", "insert into named (id) values (4)",
             "insert into named (id) values (4) on conflict (id) do update set r = 'other'")

    def test_a_temporary_name(self):
        session = self.wire()
        session.ask(wire.parse("s", "insert into named (id, r) values ($1, $2)"), wire.sync())
        for before, kept in ("select 1", "p"), ("create table pg_temp.other (z int)", "t"):
            for messages in ([wire.query(text)] for text in (before, *self.TEXTS)):
                self.assertIsNone(wire.error_of(session.ask(*messages)), messages)
            self.assertIsNone(wire.error_of(session.ask(wire.bind("", "s", ["5", "other"]), wire.execute(),
                                                        wire.sync())))
            self.assertEqual(session.rows(
                "select c.relpersistence from named join pg_class c on c.oid in (r, n) or c.reltype = a[1] "
                "order by id"), 5 * [[kept]])
            session.query("truncate named")


if __name__ == "__main__":
    unittest.main()
