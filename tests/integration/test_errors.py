"""Errors: the same fields direct and through keyspread, whatever was put into the statement on its
way; and in the same place among other statements' answers."""
import unittest

import harness
import wire
from direct_case import DirectCase, shown
from harness import Table

PEOPLE = Table("people", ["name varchar(5) not null", "age smallint check (age > 0)",
                          "größe numeric(5,2)", "born date", "note text not null default 'n'"],
               ["name"], hash_first=False)
UNITS = Table("units", ["id uuid not null", "k bigint not null", "flag boolean", "at timestamptz"],
              ["id", "k"], hash_key=["id", "k"], hash_first=False)
AMOUNTS = Table("amounts", ["amount numeric(6,2) not null", "payload bytea", "code char(3)"],
                ["amount"], hash_first=False)
LOUD = Table("loud", ["k int not null", "v text"], ["k"], hash_first=False)

# One statement each, of which PostgreSQL has something to say.
BAD = """
insert into people (name) values ('too long')
insert into people (name) values ('short'), ('longer')
insert into people (name, age) values ('a', 'x')
insert into people (name, age) values ('a', 99999)
insert into people (name, age) values ('a', 99999999999)
insert into people (name, age) values ('toolong', 'x')
insert into people (name, age) values ('toolong', -1)
insert into people (name, age) values ('a', -1)
insert into people (name, age) values ('ä', -1)
insert into people (name, größe) values ('ä', 'x')
insert into people (name, größe) values ('ä', 1000)
insert into people (name, "größe", age) values ('ä', 1, 'é')
insert into people (größe, name, age) values (1, 'äöüß€', 'é')
insert into people (name, born) values ('a', '2020-02-30')
insert into people (name, born) values ('a', 'not a date')
insert into people (name, born) values ('a', 5)
insert into people (name, note) values ('a', null)
insert into people (name, note) values (null, null)
insert into people (name, note) values (null, 'x')
insert into people (name) values (null)
insert into people (age) values (5)
insert into people values ('a', 1, 1, null, null)
insert into people values ('a', 1, 1, null, null, 7)
insert into people values ('a', 1, 1, null, null, 7, 8)
insert into people values ('a', 'b')
insert into people values (null, 'b')
insert into people values ('x', 1), ('y')
insert into people (name, nosuch) values ('a', 1)
insert into people (name, nosuch) values ('much too long', 1)
insert into people (name, name) values ('a', 'b')
insert into people (name) values ('a', 1)
insert into people (name, age) values ('a')
insert into people (name) values ('a') returning nosuch
insert into people (name) values ('too long') returning nosuch
insert into people (name) values ('a') returning name, 1/0
insert into people (name) values ('a') returning people.nosuch
insert into people (name) values ('a') on conflict (nosuch) do nothing
insert into people (name) values ('a') on conflict (age) do nothing
insert into people (name) values ('a') on conflict (name) do update set nosuch = 1
insert into people (name) values ('a') on conflict (name) do update set age = 'x'
insert into people (name) values ('a') on conflict (name) do update
insert into people (name) values ('a') on conflict do update set age = 1
insert into people (name) values ('a') on conflict on constraint nosuch do nothing
insert into people (name, age) values ('a', nosuch)
insert into people (name, age) values ('a', nosuch(1))
insert into people (name, age) values ('a', 1 +)
insert into people (name, age) values ('a', 1 + 'x')
insert into people (name, age) values ('a', 1/0)
insert into people (name, age) values ('too long', 1/0)
insert into people (name, age) values ('a', 1/0), ('too long', 1)
insert into people (name, age) values ('a', ln(0)::int)
insert into people (name, age) values ('a', 1::nosuch)
insert into people (name, age) values ('a', 'x'::int)
insert into people (name) values ('x'::int)
insert into people (name) values ('too long'::varchar(3)), ('b'::int)
insert into people (name) values (cast('x' as int))
insert into people (name) values ('a'::bpchar(0))
insert into people (name) values ('a') garbage
insert into people (name) values ('too long') garbage
insert into people (name) values ('too long'
insert into people (name) values ('a'))
insert into people (name) values ('a
insert into people (name) value ('a')
insert into people (name) valuess ('too long')
insert into people name values ('a')
insert people (name) values ('a')
insert into people (name, age) values ('a', 5) where true
insert into people (name) values ()
insert into people () values ('a')
insert into people (name) values ('a',)
insert into people (name,) values ('a')
insert into people (name) values ('a'), default values
insert into people (name) values (default)
insert into people (name, age) values (default, 'x')
insert into people as p (name) values ('too long') returning people.name
insert into people as p (name) values ('a') returning q.name
insert into only people (name) values ('a')
insert into people (people.name) values ('a')
insert into people (name) values ($1)
insert into people (name, age) values ('a', $1)
insert into units values ('x', 1)
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'x')
insert into units values ('x', 'x')
insert into units values ('x', 1, 'maybe')
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 1, 'maybe')
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 1, 5)
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 1, 'yes'), ('x', 1, 'no')
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 99999999999999999999)
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '99999999999999999999')
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 1e30)
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '1.5')
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', true)
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '')
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 1, null, 'yesterdayish')
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 1, null, '2020-13-01')
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', null)
insert into units values (null, null)
insert into units values (null, 'x')
insert into units (k, id) values ('x', 'y')
insert into units values (5, 5)
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid::int, 5)
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 5::int2::boolean)
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 99999::int2)
insert into units values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '7', 'x', 'y')
insert into amounts values (99999.99)
insert into amounts values ('99999.99')
insert into amounts values ('x')
insert into amounts values ('1e')
insert into amounts values ('NaN'), ('x')
insert into amounts values ('Infinity')
insert into amounts values (1, 'abc\\x')
insert into amounts values (1, '\\xabc')
insert into amounts values (1, null, 'abcd')
insert into amounts values (99999.99, null, 'abcd')
insert into amounts values (1, null, 'abcd'), (99999.99, null, 'abcd')
insert into amounts values (1), (1)
insert into amounts values (1), (1.001)
insert into amounts values (true)
insert into amounts values ('2020-01-01'::date)
insert into loud values ('x', 'y')
insert into loud values (1, 'a'), (2, 'b'), ('x', 'c')
insert into loud values (1, 'a'), (1, 'b')
insert into loud values (3000000000, 'y')
insert into loud values (1, 'a'), (3000000000, 'y')
insert into loud values (1, fail('one')), (3000000000, 'y')
insert into loud values (3000000000, fail('one'))
insert into loud values (1, fail('raised'))
insert into loud values (666, 'the trigger does not like it')
insert into loud values (1, 'a'), (666, 'the trigger does not like it')
with x as (select 1) insert into loud values (1, nosuch)
with x as (select 1) insert into loud values ('x', 'y')
with x as (select 1/0 as a) insert into loud values (1, (select a::text from x))
with x as (select nosuch) insert into loud values ('x', 'y')
insert into loud values (1, 'a') on conflict (k) do update set v = excluded.nosuch
insert into loud overriding user value values ('x', 'y')
insert into nosuch values (1)
insert into nosuch.loud values (1)
insert into public.loud (k, v) values ('x', 'y')
insert into "loud" ("k", "v") values ('x', 'y')
insert into loud (K, V, "V") values (1, 'a', 'b')
""".strip().split("\n")

# What cannot be read as a key is refused before PostgreSQL says why it is wrong.
UNREADABLE = """
insert into people (name) values (E'\\xff')
insert into people (name) values (E'\\u00')
insert into people (name) values (E'a\\000b')
insert into people (name) values (U&'\\00')
insert into people (name) values (U&'\\ZZZZ')
insert into people (name) values ('a' 'b')
insert into people (name) values ("a")
""".strip().split("\n")

BEFORE = ("  \n\t", "-- äöü, a comment with ' in it\n", "/* ünd /* nested */ € */ ",
          "select 'ä€';\n", "insert into loud values (50, 'ä');\n  ")

SEVERAL = """
insert into loud values (1, 'a'); insert into loud values ('x', 'b')
insert into loud values (1, 'a'); insert into loud values (1, 'b'); insert into loud values ('x', 'c')
insert into loud values (1, 'a'); insert into loud values (2, 'ä'), ('x', 'b'); select 1/0
insert into loud values (1, 'ä'); insert into people (name) values ('too long')
insert into people (name) values ('ä'); insert into loud values (1, nosuch); insert into loud values ('x')
begin; insert into loud values (1, 'ä'); commit; insert into loud values ('x', 'b')
begin; insert into loud values (1, 'ä'); insert into loud values ('x', 'b'); commit
insert into loud values ('x', 'b'); select garbage garbage garbage
insert into loud values ('x', 'b'); select nosuch
select 'ä€'; insert into loud values (1, 'a') returning *; insert into units values ('ä', 'x')
select 1; select 1/0; insert into loud values ('x', 'b')
insert into loud values (3000000000, 'b'); select 'ä
select nosuch; insert into loud values (3000000000, 'b')
insert into loud values (1, 'a'); create table loud (a int); insert into loud values ('x', 'b')
rollback; insert into loud values (1, 'a'); insert into loud values ('x', 'b')
insert into people (größe, name) values (1, 'ä'); insert into people (name, größe) values ('b', 'ö')
insert into people (name) values ('ä') returning *; insert into people (name, größe) values ('b', 'ö')
""".strip().split("\n")

# Text, types, values: what is sent as Parse, Bind, Execute.
BOUND = [
    ("insert into people (name) values ($1)", [], ["too long"]),
    ("insert into people (name, age) values ($1, $2)", [], ["too long", "x"]),
    ("insert into people (name, age) values ($1, $2)", [], ["a", "x"]),
    ("insert into people (name, age) values ($1, $2)", [], ["a", "-1"]),
    ("insert into people (name, age) values ($1, $2)", [], ["ä", "99999"]),
    ("insert into people (name, age) values ($1, $2)", [], [None, "-1"]),
    ("insert into people (name, age) values ($1, $2)", [], [None, "x"]),
    ("insert into people (name, note) values ($1, $2)", [], ["a", None]),
    ("insert into people (name, age) values ($1, $2), ($3, $4)", [], ["a", "1", "too long", "-1"]),
    ("insert into people (name, age) values ($1, $2), ($3, $4)", [], ["a", "-1", "too long", "1"]),
    ("insert into people (name, age) values ($1, $2), ($3, $4)", [], ["too long", "1", "b", "x"]),
    ("insert into people (name, age) values ($1, $2::text::int)", [], ["too long", "x"]),
    ("insert into people (name, age) values ($1, 1/0)", [], ["too long"]),
    ("insert into people (name, age) values ('too long', $1)", [], ["1"]),
    ("insert into people (name, age) values ('too long', $1)", [], ["x"]),
    ("insert into people (name, age) values ('too long', 1)", [], []),
    ("insert into people (name, age) values ('a', 'x')", [], []),
    ("insert into people (name) values ($1), ($1)", [], ["a"]),
    ("insert into people (name, age) values ($1, $3)", [], ["a", "1", "1"]),
    ("insert into people (name, age) values ($1, $2)", [], ["a"]),
    ("insert into people (name, age) values ($1, $2)", [], ["a", "1", "2"]),
    ("insert into people (name, nosuch) values ($1, $2)", [], ["too long", "1"]),
    ("insert into people (name, größe) values ($1, 'x')", [], ["a"]),
    ("insert into people (größe, name, age) values ($1, $2, nosuch)", [], ["1", "a"]),
    ("insert into people (name) values ($1) returning nosuch", [], ["a"]),
    ("insert into people (name) values ($1)", [23], ["a"]),
    ("insert into people (name) values ($1::int)", [], ["a"]),
    ("insert into units values ($1, $2)", [], ["x", "y"]),
    ("insert into units values ($1, $2)", [], ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "y"]),
    ("insert into units values ($1, $2)", [], ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", None]),
    ("insert into units values ($1, $2, $3)", [],
     ["x", "1", "maybe"]),
    ("insert into units values ($1, $2, $3)", [],
     ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "1", "maybe"]),
    ("insert into units values ($1, '99999999999999999999')", [],
     ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]),
    ("insert into units values ($1, 99999999999999999999)", [],
     ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]),
    ("insert into units values ($1, 99999999999999999999)", [], ["x"]),
    ("insert into amounts values ($1)", [], ["99999.99"]),
    ("insert into amounts values ($1), ($2)", [], ["1", "1.001"]),
    ("insert into amounts values ($1, $2, $3)", [], ["1", "\\xabc", "abcd"]),
    ("insert into amounts values ($1, null, $2)", [], ["99999.99", "abcd"]),
    ("insert into loud values ($1, $2)", [], ["x", "y"]),
    ("insert into loud values ($1, fail($2))", [], ["1", "y"]),
    ("insert into loud values ($1, fail($2))", [], ["x", "y"]),
    ("insert into loud values ($1, $2), ($3, $4)", [], ["1", "a", "x", "b"]),
    ("insert into loud values ($1, $2), ($1, $2)", [], ["1", "a"]),
    ("insert into loud values ($1, $2)", [], ["666", "a"]),
]


class Errors(DirectCase):
    tables = (PEOPLE, UNITS, AMOUNTS, LOUD)
    before_sql = """
        create function fail(text) returns text language plpgsql as
          $$ begin raise exception 'failed: %', $1 using hint = 'try again', errcode = 'P7777'; end $$;
        create function look() returns trigger language plpgsql as
          $$ begin
               if new.k = 666 then raise exception 'no %', new.k; end if;
               raise notice 'row %', new.k; return new;
             end $$"""
    setup_sql = "create trigger look before insert on loud for each row execute function look()"

    def test_single_statements(self):
        for text in BAD:
            with self.subTest(text):
                self.query(text)

    @harness.proxied
    def test_what_cannot_be_read(self):
        for text in UNREADABLE:
            with self.subTest(text):
                self.query(text)
        with wire.Wire(("127.0.0.1", self.keyspread.port)) as session:
            session.login(harness.USER, "hashed")
            text = "insert into people (name[1]) values ('a')"
            self.assertEqual(wire.error_of(session.query(text)), "0A000")
        self.assertEqual(self.contents("hashed"), [[]] * 4)

    def test_behind_something(self):
        for number, text in enumerate(BAD):
            before = BEFORE[number % len(BEFORE)]
            with self.subTest(before + text):
                self.query(before + text)

    def test_over_several_lines(self):
        for text in BAD[::3]:
            text = text.replace(" values ", "\n  values -- wérte\n  ").replace(", ", ",\n\t/*ß*/ ")
            with self.subTest(text):
                self.query(text + "\n;\n")

    def test_several_statements(self):
        for text in SEVERAL:
            with self.subTest(text):
                self.query(text, verify=True)

    def test_in_a_transaction(self):
        for text in BAD[1::4] + SEVERAL[:4]:
            with self.subTest(text):
                self.both([wire.query("begin; insert into loud values (77, 'ä')"), wire.query(text),
                           wire.query("select 1"), wire.query("commit")], ready=4)

    def test_prepared(self):
        for number, (text, types, values) in enumerate(BOUND):
            name, portal = (("", ""), ("s", ""), ("s", "my portal"))[number % 3]
            messages = [wire.parse(name, text, types), wire.describe("S", name),
                        wire.bind(portal, name, values), wire.execute(portal)]
            with self.subTest(text, values=values, name=name, portal=portal):
                self.both(messages + [wire.sync()])
                self.both(messages[:2] + [wire.sync()] + messages[2:] + [wire.sync()]
                          + messages[2:] + [wire.sync(), wire.query("select 1")], ready=4)

    def test_bound_behind_others(self):
        """What comes before in the group is done, and answered, first."""
        for number, (text, types, values) in enumerate(BOUND):
            first = (("1", "a"), ("666", "b"))[number % 2]
            messages = [wire.parse("first", "insert into loud values ($1, $2)"),
                        wire.bind("", "first", first), wire.execute(),
                        wire.parse("", text, types), wire.bind("", "", values), wire.execute(),
                        wire.sync()]
            with self.subTest(text, values=values, first=first):
                self.both(messages)

    def test_one_statement_bound_several_times(self):
        text = "insert into people (name, age) values ($1, $2)"
        for rows in ([("a", "1"), ("too long", "1")], [("a", "-1"), ("too long", "1")],
                     [("a", "1"), ("a", "2"), ("too long", "x")], [("a", "1"), ("b", "x")],
                     [("a", "1"), (None, "1"), ("too long", "1")]):
            messages = [wire.parse("s", text)]
            for row in rows:
                messages += [wire.bind("p", "s", row), wire.execute("p"), wire.close("P", "p")]
            with self.subTest(rows=rows):
                self.both(messages + [wire.sync()], verify=True)
                self.both([messages[0], wire.sync()] + messages[1:] + [wire.sync()], ready=2)

    def test_bound_and_not_executed(self):
        for text, types, values in BOUND[::3]:
            with self.subTest(text, values=values):
                self.both([wire.parse("", text, types), wire.bind("", "", values), wire.sync()])

    def test_parameters_in_the_context(self):
        """log_parameter_max_length_on_error shows them, and ours are not among them."""
        for length in (-1, 3):
            options = f"-c log_parameter_max_length_on_error={length}"
            for text, types, values in BOUND[::2] if length < 0 else BOUND[1::2]:
                for portal in ("", "it's"):
                    messages = [wire.parse("s", text, types), wire.bind(portal, "s", values),
                                wire.execute(portal), wire.sync()]
                    with self.subTest(text, values=values, portal=portal, length=length):
                        self.both(messages, options=options)

    def test_a_statement_that_cannot_be_planned_is_prepared(self):
        """PostgreSQL accepts it, and says what is wrong each time that it is bound."""
        text = "insert into people (name, age) values ('too long', 1)"
        bound = [wire.bind("", "s", []), wire.execute(), wire.sync()]
        self.both([wire.parse("s", text), wire.describe("S", "s"), wire.sync(), *bound, *bound,
                   wire.query("select 1"), wire.close("S", "s"), wire.sync(), *bound], ready=6)
        self.both([wire.parse("s", text), wire.sync(), wire.query("execute s"),
                   wire.query("deallocate s"), *bound], ready=4)

    def test_latin1(self):
        """Positions are characters, whatever the bytes are."""
        for text in ("insert into people (name, größe) values ('a', 'x')",
                     "insert into people (größe, name, age) values (1, 'a', 'é')",
                     "insert into people (note, name, age) values ('é', 'a', 'é')",
                     "insert into people (note, name, nosuch) values ('é', 'a', 'é')",
                     "insert into people (note, name) values ('é', 'too long') returning nosuch",
                     "insert into people (note, name) values ('é', 'a'), ('é', 'too long', 1)"):
            with self.subTest(text):
                self.both([wire.query(f"select 'äö'; {text}".encode("latin-1"))],
                          client_encoding="LATIN1")


# Statements, and rows of each: the first ones are good, so that those behind them are like ones of before.
ALIKE = [
    ("/* ä */ insert into people (name, age, note) values ({})",
     ["'a', 1, 'x'", "'b', 2, 'ä'", "'c', 3, 'x'", "'ä', -1, 'x'", "'d', 'x', 'ä'", "'toolong', 1, 'x'", "'a', 1, 'x'",
      "'e', 99999, 'x'", "'e', 99999999999, 'x'", "null, 1, 'x'", "'f', 1, null", "'g', 5, 'it''s'", "'h', 1.5, 'x'",
      "'i', true, 'x'", "7, 7, 7", "'k  ', 8, E'\\n'", "'l', 1 + 8, 'x'"]),
    ("insert into people (name, age) values ({}) returning name, note",
     ["'ra', 1", "'rb', 2", "'rc', 3", "'rd', -1", "'ra', 'x'", "'ra', 1", "'re', null"]),
    ("insert into people (name, age) values ({}) on conflict do nothing;",
     ["'ca', 1", "'cb', 2", "'cc', 3", "'ca', 1", "'cd', -1", "'ce', 7"]),
    ("insert into people (name, age) values\n({}) -- é",
     ["'ma', 1), ('mb', 2", "'mc', 1), ('md', 2", "'me', 1), ('mf', 2), ('mg', 3", "'mh', 1), ('ma', 2",
      "'mi', 1), ('mj', 'é'", "'mk', 1), ('ml', -2", "'mm', 1), ('mn', 2, 3", "'mo', null), (null, 2", "'mp', -0), ('mq', 4"]),
]


class Alike(DirectCase):
    """Texts that differ from ones of before in constants alone are not parsed, unless they fail."""
    tables = (PEOPLE,)
    options = {"workers": 1}

    def test_texts_like_ones_of_before(self):
        for form, rows in ALIKE:
            self.both([wire.query(form.format(row)) for row in rows], ready=len(rows))
        self.query("select name, age, note from people order by name")


@harness.proxied
class NullKeys(DirectCase):
    """What fires after a row is stored does not fill in its key: PostgreSQL's own error is true."""
    tables = (LOUD,)
    before_sql = """
        create function tell() returns trigger language plpgsql as
          $$ begin raise notice '%', tg_op; return null; end $$"""
    setup_sql = """
        create trigger tell_row after insert on loud for each row execute function tell();
        create trigger tell before insert on loud for each statement execute function tell()"""

    def test_rejected_by_postgres(self):
        for text in ("insert into loud values (null, 'a')", "insert into loud (v) values ('a')",
                     "insert into loud values (1, 'a'), (default, 'b') on conflict do nothing"):
            with self.subTest(text):
                self.query(text)

    def test_prepared(self):
        self.both([wire.parse("", "insert into loud values ($1, 'a')") + wire.bind("", "", [None])
                   + wire.execute("") + wire.sync()])


class Refusals(DirectCase):
    """What keyspread refuses is an error in its place: what comes before is done, as PostgreSQL
    does it before an error of its own."""
    tables = (LOUD, PEOPLE)
    bad = "with x as (update loud set k = k + 1 returning k) table x"

    def compare(self, text, mark="!"):
        """`mark` stands for what is refused: direct, a statement that fails."""
        answers, contents = [], []
        for database, port, bad in (("direct", self.postgres.port, "select nosuch from loud"),
                                    (*self.route(), self.bad)):
            messages = [wire.query(one.replace(mark, bad)) for one in text]
            replies = self.play(messages, len(messages), database, port, {})
            answers.append([one.kind if one.kind == "E" else shown(one) for one in replies])
            contents.append(self.contents(database))
        self.assertEqual(*answers)
        self.assertEqual(*contents)
        return next((one.fields() for one in replies if one.kind == "E"), None)

    def test_what_comes_before_is_done(self):
        for text in ("insert into loud values (1, 'ä'); !; insert into loud values (2, 'b')",
                     "insert into loud values (1, 'ä') returning *; !",
                     "begin; insert into loud values (1, 'ä'); commit; !",
                     "begin; insert into loud values (1, 'ä'); commit; !; select 1",
                     "begin; insert into loud values (1, 'ä'); !; commit",
                     "select 'ä€'; select 2; !", "begin; !", "!; select 1", " ; !;", "!"):
            with self.subTest(text):
                fields = self.compare([text, "select 1", "rollback", "select count(*) from loud"])
                self.assertEqual(fields["C"], "0A000")
                place = text.replace("!", self.bad).index("k = k + 1") + 1
                self.assertEqual(fields.get("P", str(place)), str(place))

    def test_an_earlier_error_comes_first(self):
        for text in ("select 1/0; !", "insert into loud values ('x', 'b'); !", "!; select from from",
                     "insert into loud values (1, 'a'); insert into loud values (1, 'b'); !"):
            with self.subTest(text):
                self.assertNotEqual(self.compare([text])["C"], "0A000")

    def test_a_later_one_does_not(self):
        for text in ("!; select 1/0", "!; insert into loud values ('x', 'y')",
                     "insert into loud values (1, 'ö'); !; !"):
            with self.subTest(text):
                self.assertEqual(self.compare([text])["C"], "0A000")

    def test_in_a_transaction_that_failed(self):
        self.compare(["insert into loud values (5)", "begin; select 1/0", "!", "select 1",
                      "rollback; insert into loud values (1); !"])

    def test_a_key_that_cannot_be_computed(self):
        self.bad = "upsert into loud values (random()::int, 'x')"
        for text in ("insert into loud values (1, 'ä'); !; insert into loud values (2, 'b')",
                     "begin; insert into loud values (1, 'ä'); commit; !", "!", "select 1; !"):
            with self.subTest(text):
                self.assertEqual(self.compare([text, "select 1", "rollback"])["C"], "0A000")

    def test_a_hash_that_is_wrong(self):
        self.bad = "insert into loud (k, v, k_hash) values (1, 'x', 5)"
        for text in ("insert into loud values (1, 'ä'); !", "begin; select 1; commit; !", "!"):
            with self.subTest(text):
                self.assertEqual(self.compare([text, "select 1", "rollback"])["C"], "22023")

    def test_the_client_s_own_use_of_the_same_words(self):
        self.compare(['insert into loud values (1); select "keyspread refuses this"; !'])


if __name__ == "__main__":
    unittest.main()
