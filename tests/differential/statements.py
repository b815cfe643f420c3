"""statements: SQL by chance, about one table of a sequence."""
import values
from tables import TABLES

TEXTS = ["'x'", "'x'", "'abc'", "'ä€'", "null", "default", "'a' || 'b'", "E'\\x41\\n'", "$$d$$",
         "upper('x')", "(now() is null)::text", "'it''s'", "5", "U&'\\0061'", "''"]
# Texts that the session's settings, role or path decide.
SETTING_TEXTS = [
    "'\\xff00'::bytea::text", "0.1::float4::float8::text", "interval '1 day 2 hours'::text",
    "date '2026-03-04'::text", "'03/04/2026'::date::text", "timestamptz '2026-01-01 00:00+00'::text",
    "timestamptz '2026-01-01 00:00'::text", "current_setting('application_name')",
    "current_setting('timezone')", "current_user", "session_user", "current_schema",
    "current_schemas(false)::text", "array['\\xff'::bytea]::text", "current_setting('datestyle')",
    "'t_i4'::regclass::text", "to_char(1, '9L')", "'a\\b'", "'1,5'::text"]
NUMBERS = ["1", "2", "default", "null", "'3'", "1 + 1", "2.5", "length('abc')", "-1"]
ODD = ["'fine'", "'fine'", "null", "'!23514'", "'!53100'", "'!57P01'", "'!08006'", "'!40001'",
       "'!0A000'", "'!42703'", "'!57014'", "'!26000'", "'!XX000'"]
READ_BY_SETTINGS = {"d": "date", "z": "timestamptz"}
BAD = ["select 1/0", "selectt", "select nothing", "select 'x'::int", "select ')'::point",
       "insert into nowhere values (1)", "select 1 from plain where a = 'x'", "select $1"]
HARMLESS = ["select 1", "select count(*) from plain", "", "show timezone", "select 'text', null",
            "select a, b from plain order by a", "values (1), (2)", "select generate_series(1, 3)",
            "select current_user", "select '\\xff'::bytea, 0.1::float4, now() is null"]


class Statements:
    """`numbers`: which values keys may have; `plain`: only in spellings that mean just these;
    `refusable`: also statements that may be refused."""

    setting_texts = SETTING_TEXTS

    def __init__(self, dice, tables, kinds):
        self.dice, self.tables, self.kinds = dice, tables, kinds
        self.numbers, self.plain, self.refusable = range(6), False, True

    def table(self):
        return TABLES[self.dice.choice(self.tables)]

    def name(self, table):
        return self.dice.choice((table.name,) * 8 + (
            f"public.{table.name}", f'"{table.name}"', table.name.upper(),
            f'"public".{table.name}'))

    def key(self, table, column):
        number, kind = self.dice.choice(self.numbers), table.kind(column)
        if self.plain:
            return values.plain(kind, number)
        if "odd_strings" in self.kinds and self.dice.random() < 0.02:
            return self.dice.choice(values.ODD_STRINGS)
        return values.spell(kind, number, self.dice)

    def value(self, table, column):
        """SQL for any column of a new row."""
        dice = self.dice
        if column in table.key:
            return self.key(table, column)
        if column == "v":
            return dice.choice(self.setting_texts if "output" in self.kinds and dice.random() < 0.3
                               else TEXTS)
        if column == "o":
            return dice.choice(ODD)
        if column == "r":
            return dice.choice(("1", "2", "null", "99"))
        if column == "s":
            return dice.choice(("default", "default", "7"))
        if column in READ_BY_SETTINGS:
            return values.spell(READ_BY_SETTINGS[column], dice.randrange(6), dice)
        return dice.choice(NUMBERS)

    def columns(self, table):
        """(the text of the list, the columns that the values are for)."""
        dice, columns = self.dice, list(table.columns)
        form = dice.randrange(8)
        if form < 2:
            columns = columns[:dice.randint(len(table.key), len(columns))]
            return "", columns
        if form < 5:
            columns = columns[:dice.randint(len(table.key), len(columns))]
        elif form == 5:
            dice.shuffle(columns)
        elif form == 6:
            columns = dice.sample(columns, dice.randint(len(table.key), len(columns)))
            columns += [column for column in table.key if column not in columns]
        elif dice.random() < 0.3:
            columns = columns[1:]
        names = ", ".join(dice.choice((column,) * 6 + (column.upper(), f'"{column}"'))
                          for column in columns)
        return f" ({names})", columns

    def tail(self, table):
        target = ", ".join(table.key)
        returning = self.dice.choice(("*", target, "v, n", f"{table.name}.n + 1 as m", "v || 'x'"))
        return self.dice.choice(("",) * 9 + (
            f" returning {returning}", f" returning {returning}", " on conflict do nothing",
            f" on conflict ({target}) do nothing", f" on conflict ({target}) do update set v = 'again'",
            f" on conflict ({target}) do update set v = excluded.v, n = {table.name}.n + 1",
            f" on conflict ({target}) do update set n = 1 where {table.name}.n > 1",
            f" on conflict ({target}) do update set v = excluded.v returning {returning}",
            f" on conflict on constraint {table.name}_pkey do nothing"))

    def rows(self, table, columns, count):
        return ", ".join("(" + ", ".join(self.value(table, column) for column in columns) + ")"
                         for _ in range(count))

    def insert(self):
        table, dice = self.table(), self.dice
        listed, columns = self.columns(table)
        rows = self.rows(table, columns, dice.choice((1, 1, 1, 1, 2, 3)))
        words = dice.choice(("insert into",) * 5 + ("INSERT INTO", "insert /* x */ into",
                                                    "insert\n  into"))
        return (f"{words} {self.name(table)}{listed} values {rows}{self.tail(table)}")

    def where(self, table):
        return " and ".join(f"{column} = {values.plain(table.kind(column), self.dice.choice(self.numbers))}"
                            for column in table.key)

    def update(self):
        table, dice = self.table(), self.dice
        change = dice.choice(("v = 'updated'", "n = n + 1", "v = null, n = default", "v = 'abc'",
                              f"v = {dice.choice(TEXTS)}"))
        tail = dice.choice(("", "", " returning v, n", f" returning {', '.join(table.key)}"))
        return f"update {self.name(table)} set {change} where {self.where(table)}{tail}"

    def delete(self):
        table = self.table()
        tail = self.dice.choice(("", "", " returning v", " returning *"))
        return f"delete from {self.name(table)} where {self.where(table)}{tail}"

    def select(self):
        table = self.table()
        keys = ", ".join(table.key)
        return self.dice.choice((
            f"select {keys}, v, n from {self.name(table)} order by {keys}, v",
            f"select count(*) from {self.name(table)}",
            f"select v from {self.name(table)} where {self.where(table)}",
            f"select * from {self.name(table)} order by {keys}, v",
            f"select row_to_json(x), x.* from {self.name(table)} x where {self.where(table)} order by {keys}, v",
            f"select max(n), sum(n) from {self.name(table)}"))

    def changed_key(self):
        """Writes whose hash is not in the text: done right or refused."""
        table, dice = self.table(), self.dice
        column = dice.choice(list(table.key))
        target = ", ".join(table.key)
        source = ", ".join(self.key(table, name) for name in table.key)
        return dice.choice((
            f"update {table.name} set {column} = {self.key(table, column)} where {self.where(table)}",
            f"update {table.name} set v = 'moved', {column} = {column} where {self.where(table)}",
            f"insert into {table.name} ({target}) select {source}",
            f"with w as (select 1) insert into {table.name} ({target}) values ({source})",
            f"with w as (delete from {table.name} where {self.where(table)} returning v)"
            " select * from w",
            f"insert into {table.name} ({target}) values ({source}) on conflict ({target})"
            f" do update set {column} = excluded.{column}, v = 'kept'",
            f"insert into {table.name} default values",
            f"insert into {table.name} ({target}) overriding user value values ({source})",
            f"insert into {table.name} ({target}) values ({source}) order by 1 limit 1",
            f"insert into {table.name} ({target}, v) values ({source}, (select max(b) from plain))"))

    def one(self):
        """Any statement of the everyday kinds."""
        dice = self.dice
        make = dice.choice((self.insert,) * 9 + (self.update, self.delete, self.select))
        if self.refusable and "changed_key" in self.kinds and dice.random() < 0.05:
            make = self.changed_key
        elif dice.random() < 0.1:
            return dice.choice(HARMLESS)
        return make()

    def prepared(self, declared=True):
        """An INSERT with parameters: (text, oids, a function that makes (values, formats))."""
        table, dice = self.table(), self.dice
        listed, columns = self.columns(table)
        columns = columns or list(table.key)
        places, slots, before = [], [], self.plain
        self.plain = before or "parse_errors" not in self.kinds
        for column in columns:
            kind = {"v": "text", **READ_BY_SETTINGS}.get(column)
            if column in table.key and dice.random() < 0.85 or kind and dice.random() < 0.5:
                slots.append(table.kind(column) if column in table.key else kind)
                cast = f"::{slots[-1]}" if dice.random() < 0.1 else ""
                places.append(f"${len(slots)}{cast}")
            else:
                places.append(self.value(table, column))
        self.plain = before
        example = [values.parameter(kind, 0, dice) for kind in slots]
        oids = [oid for oid, _, _ in example] if declared else []
        text = (f"insert into {self.name(table)}{listed} values ({', '.join(places)})"
                f"{self.tail(table)}")
        return text, oids, slots

    def bound(self, slots, oids):
        """Values and formats for a Bind; binary only where the type is declared."""
        given, formats = [], []
        for kind, oid in zip(slots, oids or [0] * len(slots)):
            for _ in range(20):
                kind_oid, form, data = values.parameter(
                    kind, self.dice.choice(self.numbers), self.dice)
                if data in (b"x", b"\0\0\0") and "wrong_parameters" not in self.kinds:
                    continue
                if not form or kind_oid == oid:
                    break
            else:
                form, data = 0, b"5"
            given.append(data)
            formats.append(form)
        return given, formats
