"""tables: what the sequences write to, direct without a hash and behind keyspread with it.

Every table has the columns of its key, v text and n int; the hash column stands last in the list of
columns and first in the key. Two schemas more hold tables of the same names that are not configured.
"""
import hashes

PARTITIONS = 3


def rows_of(place):
    """A query for a table's rows as text, whatever columns it has."""
    return f"select (to_jsonb(t) - 'h')::text from {place} t order by 1"


class Table:
    def __init__(self, name, key, function="xxh3", hash_key=None, partitioned=True, more=()):
        """`key`: {column: declared type}; `more`: declarations behind v and n."""
        self.name, self.key, self.function = name, key, function
        self.hash_key = hash_key or list(key)[:1]
        self.partitioned = partitioned
        self.more = list(more)
        self.columns = list(key) + ["v", "n"] + [text.split()[0] for text in self.more]

    def kind(self, column):
        """The type of a key column without its modifier, by PostgreSQL's own name."""
        declared = self.key[column].split("(")[0]
        return {"char": "bpchar"}.get(declared, declared)

    def config(self):
        return {"name": self.name, "primary_key": list(self.key), "hash_key": self.hash_key,
                "hash_column": "h", "hash_function": self.function,
                "partitions": {"uniform": PARTITIONS}}

    def pattern(self):
        """The same table, known by a pattern alone, and its key by the catalog."""
        config = {**self.config(), "name": self.name + "*", "primary_key": "auto"}
        if self.hash_key == list(self.key)[:1]:
            del config["hash_key"]
        return config

    def ddl(self, hashed, schema="public", partitioned=True):
        columns = [f"{name} {declared} not null" for name, declared in self.key.items()]
        columns += ["v text", "n int default 7", *self.more]
        key = list(self.key)
        if hashed:
            columns.append("h bigint not null")
            key.insert(0, "h")
        body = ", ".join(columns + [f"primary key ({', '.join(key)})"])
        where = f"{schema}.{self.name}"
        if not (hashed and self.partitioned and partitioned):
            return f"create table {where} ({body})"
        bounds = [number * 2**64 // PARTITIONS - 2**63 for number in range(PARTITIONS)]
        bounds = ["minvalue"] + bounds[1:] + ["maxvalue"]
        return "; ".join([f"create table {where} ({body}) partition by range (h)"] + [
            f"create table {where}_p{number} partition of {where} for values"
            f" from ({bounds[number]}) to ({bounds[number + 1]})" for number in range(PARTITIONS)])

    def look(self, hashed, place):
        """A query for all rows as text, and for what the hash is made of."""
        if not hashed:
            return rows_of(place)
        own = ("hash_record_extended(row(" + ", ".join(self.hash_key) + "), 0)"
               if self.function == "pg_hash" else "null")
        parts = [hashes.expression(column, self.kind(column)) for column in self.hash_key]
        return (f"select (to_jsonb(t) - 'h')::text, h, {own}, {', '.join(parts)}"
                f" from {place} t order by 1")

    def places(self):
        """Where it may stand, with what sequences do to tables."""
        return f"public.{self.name}", f"attic.{self.name}", "public.moved"

    def wrong_hash(self, row):
        """What is wrong with one row of look(), None if nothing."""
        shown, stored, asked, *parts = row
        if self.function == "pg_hash":
            right = asked
        else:
            right = str(hashes.expected(self.function, map(self.kind, self.hash_key), parts))
        return None if right == stored else f"{self.name}: {shown} is stored with {stored}, not {right}"


def _all():
    one = {
        "i2": "int2", "i4": "int4", "i8": "int8", "tx": "text", "vc": "varchar(5)",
        "ch": "char(4)", "ba": "bytea", "uu": "uuid", "bo": "bool", "da": "date",
        "ts": "timestamp", "tz": "timestamptz", "nu": "numeric(8,2)", "nx": "numeric",
        "fl": "float8"}
    functions = {"i4": "numeric_hash", "i8": "cityhash64", "vc": "pg_hash", "tz": "pg_hash",
                 "nx": "pg_hash", "uu": "cityhash64"}
    made = [Table(f"t_{name}", {"k": declared}, functions.get(name, "xxh3"),
                  partitioned=name != "tx") for name, declared in one.items()]
    made += [
        Table("d_it", {"k": "int4", "l": "text"}),
        Table("d_tz", {"k": "text", "l": "timestamptz"}, hash_key=["k", "l"]),
        Table("d_nd", {"k": "numeric(8,2)", "l": "date"}, "pg_hash", hash_key=["l", "k"]),
        Table("d_ui", {"k": "uuid", "l": "int8"}, hash_key=["l"]),
        # What may go wrong at the end: CHECKs that raise anything, and a reference that is
        # looked at when the transaction ends.
        Table("odd", {"k": "int4"}, more=["o text check (odd(o))"]),
        Table("late", {"k": "int4"},
              more=["r int references plain (a) deferrable initially deferred"]),
        Table("seq", {"k": "text"}, more=["s serial"]),
        # What a setting decides, beside the key.
        Table("by_set", {"k": "int4"}, more=["d date", "z timestamptz"]),
    ]
    return {table.name: table for table in made}


TABLES = _all()
# Those that the schema "other" has, too.
TWINS = ("t_i4", "t_tx", "d_it")
NAMED_EVERYWHERE = "t_i4"

PLAIN_ROWS = "insert into plain select n, 'plain ' || n from generate_series(1, 3) n"
PLAIN = f"create table plain (a int primary key, b text); {PLAIN_ROWS}"
BEFORE = PLAIN + """;
create table copied (a int check (a < 9), b text);
create function slow() returns trigger language plpgsql as
  $$ begin perform pg_sleep(0.005); return null; end $$;
create trigger slow after insert on copied for each statement execute function slow();
create function odd(text) returns bool language plpgsql as
  $$ begin if $1 like '!%' then raise exception 'odd' using errcode = substr($1, 2, 5); end if;
  return true; end $$;
create function note() returns trigger language plpgsql as
  $$ begin raise notice '% % %', tg_op, tg_when, tg_level; return coalesce(new, old); end $$;
create function nothing() returns trigger language plpgsql as
  $$ begin if new.v like 'a%' then return null; end if; return new; end $$;
create function change() returns trigger language plpgsql as
  $$ begin new.v := 'changed'; return new; end $$;
create schema other;
create schema attic;
"""

# Of what is done in a database that has these, keyspread knows less, and asks for more.
LOUD = """
create or replace function f_set(text, text) returns text language plpgsql as
  $$ begin return set_config($1, $2, false); end $$;
create or replace function f_local(text, text) returns text language plpgsql as
  $$ begin return set_config($1, $2, true); end $$;
"""
QUIET = "drop function if exists f_set; drop function if exists f_local"


def setup(hashed):
    """All of a database."""
    parts = [BEFORE.strip().rstrip(";")]
    parts += [table.ddl(hashed) for table in TABLES.values()]
    parts += [TABLES[name].ddl(False, "other") for name in TWINS]
    parts += ["grant usage on schema public, other to public",
              "grant all on all tables in schema public, other to public",
              "grant all on all sequences in schema public to public"]
    return "; ".join(parts)


GRANTS = ("grant all on all tables in schema public to public; "
          "grant all on all sequences in schema public to public")


def renew(names, hashed):
    """Makes these tables anew, after DDL."""
    parts = [f"drop table if exists public.{name} cascade; {TABLES[name].ddl(hashed)}"
             for name in names]
    return "; ".join(parts + [GRANTS])


def empty(names):
    """For sequences that leave the tables as they are."""
    parts = [f"delete from public.{name}" for name in names]
    parts += [f"delete from other.{name}" for name in names if name in TWINS]
    if "seq" in names:
        parts.append("alter sequence seq_s_seq restart")
    return "; ".join(parts)
