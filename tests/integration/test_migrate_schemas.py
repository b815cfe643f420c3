"""`keyspread migrate` with the schemas of Kea, MediaWiki and Zabbix, as Debian's packages have them: all tables are filled, written
meanwhile, migrated by two commands, and taken back; each is killed at some points and called again. Each foreign key, unique index, NOT
NULL, trigger, view and sequence is asked before and afterwards, and answers the same; no written row is lost or doubled."""
import contextlib
import itertools
import os
import subprocess
import threading
import unittest

import harness
from test_commands import WRONG
from test_migrate_command import AGAIN, MOVED, MigrateCase

FOLDER = "/usr/local/share/keyspread-schemas"  # scripts/bootstrap puts them there
PATTERN = {"name": "*", "primary_key": "auto", "hash_function": "xxh3", "partitions": {"buckets": 16}}

# Everything that belongs to the tables, without the hash and the constraints that foreign keys refer to.
PICTURE = """
with t as (select oid, oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace)
select 'constraint', name, conname, replace(pg_get_constraintdef(o.oid), ', keyspread_hash', '') || convalidated
  from t join pg_constraint o on conrelid = t.oid where conname not like 'keyspread%' and pg_get_constraintdef(o.oid) !~ '^CHECK [(]+keyspread_hash'
union all select 'index', name, replace(pg_get_indexdef(indexrelid), ', keyspread_hash', ''), indisvalid::text
  from t join pg_index on indrelid = t.oid where indexrelid::regclass::text not like 'keyspread%'
union all select 'column', name, attname, concat(format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid))
  from t join pg_attribute on attrelid = t.oid and attnum > 0 and not attisdropped and attname <> 'keyspread_hash'
  left join pg_attrdef on adrelid = t.oid and adnum = attnum
union all select 'trigger', name, pg_get_triggerdef(g.oid), tgenabled::text
  from t join pg_trigger g on tgrelid = t.oid and not tgisinternal and tgname not like 'keyspread%'
union all select 'sequence', name, s.oid::regclass::text, refobjsubid::text
  from t join pg_depend on refobjid = t.oid and deptype in ('a', 'i') join pg_class s on s.oid = objid and s.relkind = 'S'
union all select 'view', viewname, definition, null from pg_views where schemaname = 'public'
order by 1, 2, 3, 4"""

# What fills and asks any table. Each probe is undone: its answer travels in an error.
TOOLS = r"""
create schema tools;
create function tools.value(type regtype, typmod int, n int) returns text language plpgsql as $$ begin
    return case when type in ('text'::regtype, 'varchar', 'bpchar') then right('v' || n, greatest(typmod - 4, case when typmod < 0 then 9 else 1 end))
        when type = 'bool'::regtype then (n % 2 = 0)::text when type in ('inet'::regtype, 'cidr') then ('10.0.0.0'::inet + n)::text
        when type in ('timestamptz'::regtype, 'timestamp', 'date') then ('2026-01-01'::timestamp + n * interval '1 day')::text
        when type in ('json'::regtype, 'jsonb') then '{}' when type = 'bytea'::regtype then '\x' || lpad(to_hex(n), 4, '0')
        when type = 'tsvector'::regtype then 'a' when type = 'uuid'::regtype then md5(n::text)
        else coalesce((select min(enumlabel) from pg_enum where enumtypid = type), n::text) end;
end $$;
-- An INSERT of row n of a table. What a foreign key refers to is there: from row 30000 on, one of the first three.
create function tools.row_of(tab regclass, n int) returns text language plpgsql as $$
declare k record; f record; v text; names text[]; given text[];
begin
    for k in select * from pg_attribute where attrelid = tab and attnum > 0 and not attisdropped and attgenerated = '' and attidentity = ''
            and attname !~ format('^(keyspread_hash|%s)$', current_setting('tools.left_out', true)) and not exists (select from pg_attrdef where adrelid = tab and adnum = attnum and pg_get_expr(adbin, adrelid) ~ 'nextval')
            order by attnum loop
        select confrelid::regclass as of, attname, conkey, confkey into f from pg_constraint join pg_attribute a on a.attrelid = confrelid
            and a.attnum = confkey[array_position(conkey, k.attnum)] where conrelid = tab and contype = 'f' and k.attnum = any (conkey) order by conname limit 1;
        continue when f.of = tab and not k.attnotnull;
        v := tools.value(k.atttypid, k.atttypmod, n);
        if f.of is not null then
            execute format('select p.%I::text from %s p order by %s offset %s %% least(%s, greatest(1, (select count(*) from %2$s))) limit 1', f.attname, f.of,
                (select string_agg('p.' || quote_ident(a.attname), ', ' order by i) from unnest(f.confkey) with ordinality u(x, i) join pg_attribute a
                on attrelid = f.of and attnum = x), n + f.conkey[1], case when n < 30000 then 30000 else 3 end) into v;
        end if;
        names := names || quote_ident(k.attname);
        given := given || quote_nullable(v);
    end loop;
    return format('insert into %s (%s) values (%s)', tab, array_to_string(names, ', '), array_to_string(given, ', '));
end $$;
create view tools.tables as select c.oid::regclass as tab, (select string_agg(quote_ident(attname), ', ' order by attnum) from pg_index
    join pg_attribute on attrelid = indrelid and attnum = any (indkey) where indrelid = c.oid and indisprimary and attname <> 'keyspread_hash') as key
    from pg_class c where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname;
-- Rows for all tables, those that others refer to first; the tables that stay empty.
create function tools.fill(n int) returns setof regclass language plpgsql as $$ declare t regclass; done regclass[] := '{}'; more bool := true; begin
    while more loop
        more := false;
        for t in select tab from tools.tables where tab <> all (done) loop
            begin
                execute tools.row_of(t, n); execute tools.row_of(t, n + 1); execute tools.row_of(t, n + 2);
                done := done || t;
                more := true;
            exception when others then null; end;
        end loop;
    end loop;
    return query select tab from tools.tables where tab <> all (done);
end $$;
create function tools.probe(statement text) returns text language plpgsql as $$ declare answer text; begin
    execute statement into answer;
    raise exception using errcode = 'QQ000', message = coalesce(answer, 'nothing');
exception when others then return case when sqlstate = 'QQ000' then sqlerrm else sqlstate end; end $$;
create function tools.names(tab regclass, numbers int2[]) returns text language sql as $$
    select string_agg(quote_ident(attname), ', ' order by i) from unnest(numbers) with ordinality u(x, i) join pg_attribute on attrelid = tab
    and attnum = x where attname <> 'keyspread_hash' $$;
create function tools.ask() returns table (what text, name text, answer text) language plpgsql as $$ begin
    set constraints all immediate;
    return query select 'foreign key', conrelid::regclass || ' ' || conname, tools.probe(format('update %s set (%s) = row(%s) where ctid = (select min(ctid) from %1$s)'
        ' returning 1', conrelid::regclass, tools.names(conrelid, conkey), (select string_agg(quote_literal(tools.value(atttypid, atttypmod, 31999)), ', ' order by i)
        from unnest(conkey) with ordinality u(x, i) join pg_attribute on attrelid = conrelid and attnum = x))) from pg_constraint where contype = 'f'
        and connamespace = 'public'::regnamespace
    union all select 'unique', indrelid::regclass || ' ' || tools.names(indrelid, indkey::int2[]), tools.probe(format('update %s set (%s) = (select %2$s from %1$s where'
        ' ctid = (select min(ctid) from %1$s)) where ctid = (select max(ctid) from %1$s) returning 1', indrelid::regclass, tools.names(indrelid, indkey::int2[])))
        from pg_index join tools.tables on tab = indrelid where indisunique and indexprs is null and indexrelid::regclass::text !~ 'keyspread'
    union all select 'not null', attrelid::regclass || ' ' || attname, tools.probe(format('update %s set %I = null where ctid = (select min(ctid) from %1$s)'
        ' returning 1', tab, attname)) from tools.tables join pg_attribute on attrelid = tab and attnum > 0 and not attisdropped and attgenerated = ''
        and attidentity = '' and attname <> 'keyspread_hash' and key is not null
    union all select 'row', tab::text, tools.probe(tools.row_of(tab, 30000) || format(' returning (select jsonb_object_agg(k, v) from jsonb_each(to_jsonb(%s)) e(k, v)'
        ' where k <> ''keyspread_hash'' and k not in (select attname from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum where adrelid'
        ' = %L::regclass and pg_get_expr(adbin, adrelid) ~ ''nextval''))', tab, tab)) from tools.tables
    union all select 'sequence', s.oid::regclass::text, tools.probe(format('select nextval(%L) > coalesce(max(%I), 0) from %s', s.oid::regclass, attname, attrelid::regclass))
        from pg_depend join pg_class s on s.oid = objid and s.relkind = 'S' join pg_attribute on attrelid = refobjid and attnum = refobjsubid
        where deptype in ('a', 'i') and refobjid in (select tab from tools.tables)
    union all select 'view', viewname::text, tools.probe(format('select count(*) > 0 from public.%I', viewname)) from pg_views where schemaname = 'public';
end $$;
"""


class Rows(threading.Thread):
    """A client that writes one table after the other, and knows what must be there: the key of each row, of which a third are deleted."""

    def __init__(self, dsn, direct, tables, before=None):
        """`before`: a client that has stopped, and whose rows are still there."""
        super().__init__(daemon=True)
        self.dsn, self.direct, self.tables = dsn, direct, tables
        self.stopped = threading.Event()
        self.there, self.gone, self.count = (before.there, before.gone, before.count) if before else (set(), set(), 0)
        self.failure, self.again = None, []
        self.start()

    def run(self):
        import psycopg2
        try:
            with contextlib.closing(psycopg2.connect(self.dsn)) as connection, contextlib.closing(psycopg2.connect(self.direct)) as direct:
                connection.autocommit = direct.autocommit = True
                cursor, tools = connection.cursor(), direct.cursor()
                for number, (table, key) in zip(itertools.count(2000 + self.count), itertools.cycle(self.tables)):
                    tools.execute("select tools.row_of(%s, %s)", (table, number))
                    row = self.ask(cursor, f"{tools.fetchone()[0]} returning {key}")
                    self.there |= {(table, row)} if row else set()
                    if row and number % 3 == 0:
                        self.ask(cursor, f"delete from {table} where ({key}) = ({', '.join(['%s'] * len(row))})", row)
                        self.there.discard((table, row))
                        self.gone.add((table, row))
                    self.count += 1
                    if self.stopped.wait(0.005):
                        break
        except Exception as failure:  # the test's thread tells it
            self.failure = failure

    def ask(self, cursor, statement, values=None):
        import psycopg2.errors
        while True:
            try:
                cursor.execute(statement, values)
                return cursor.fetchone() if cursor.description else None
            except psycopg2.errors.UniqueViolation:
                return None  # each of the rows that it refers to has one already
            except psycopg2.Error as failure:
                if failure.pgcode not in AGAIN and MOVED not in str(failure):
                    raise
                self.again.append(str(failure))

    def stop(self):
        self.stopped.set()
        self.join(harness.PATIENCE)


class MigrateSchemas(MigrateCase):
    def load(self, name, settings=""):
        """Makes the tables of the schema, and fills those that it can; the tables that have a key and rows, with their keys."""
        path = os.path.join(FOLDER, f"{name}.sql")
        if not os.path.exists(path):
            harness.missing(path)
        subprocess.run([f"{self.postgres.bin}/psql", "-qX", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.postgres.port),
                        "-U", harness.USER, "-d", "app", "-f", path], check=True, capture_output=True)
        self.admin(settings + TOOLS)
        self.empty = {row[0] for row in self.admin("select tools.fill(1000)")}
        with self.postgres.admin("app") as admin:
            tables = [(table, key) for table, key in admin.rows("select tab, key from tools.tables") if key and table not in self.empty]
            answers = dict(admin.rows("select name, answer from tools.ask() where what = 'row'"))
        return [(table, key) for table, key in tables if answers[table].startswith("{")]

    def ask(self):
        return self.admin("select * from tools.ask() order by 1, 2, 3")

    def migrated(self, tables, *entries, left=()):
        """By two commands, under writers. What was asked before is answered so afterwards."""
        before, answers = self.admin(PICTURE), self.ask()
        for kind, state in (("foreign key", "23503"), ("unique", "23505"), ("not null", "23502")):
            of_kind = [answer for what, _, answer in answers if what == kind]
            self.assertGreaterEqual(of_kind.count(state) * 3, len(of_kind), kind)
        config = {**self.config(()), "tables": [*entries, PATTERN]}
        file = self.file({**config, "listen": ["127.0.0.1:6432"]})
        keyspread = harness.Keyspread({**config, "tables": []})
        self.addCleanup(keyspread.stop)
        told = self.run_command("migrate", file, "--plan").stderr
        self.assertEqual(sorted(line.split()[2].removeprefix("public.") for line in told.splitlines()), sorted(left))
        self.assertEqual(told.count("give it one, or leave it as it is"), len(left))
        ends = [f"host=127.0.0.1 port={it.port} user={harness.USER} dbname=app sslmode=disable" for it in (keyspread, self.postgres)]
        writer = None

        def more():
            count = writer.count
            harness.eventually("rows are written", lambda: writer.failure or writer.count > count + 20)

        def check(spread):
            writer.stop()
            self.assertEqual((writer.failure, writer.again), (None, []))
            after = self.admin(PICTURE)
            self.assertEqual([one for one in before if one not in after] + [one for one in after if one not in before], [])
            now = self.ask()
            self.assertEqual([row[:2] for row in now], [row[:2] for row in answers])
            # 23505: the writer has written a row that refers to the same rows.
            self.assertEqual([pair for pair in zip(answers, now) if pair[0] != pair[1] and (pair[0][0], pair[1][2]) != ("row", "23505")], [])
            rows = {table: self.admin(f"select {key} from {table}") for table, key in tables}
            for table, row in writer.there | writer.gone:
                self.assertEqual(rows[table].count([str(cell) for cell in row]), int((table, row) in writer.there), (table, row))
            hashes = self.admin("select count(*) from pg_attribute a join tools.tables on tab = attrelid where attname = 'keyspread_hash'")
            self.assertEqual(hashes, [[str(spread)]])

        writer = Rows(*ends, tables)
        self.addCleanup(lambda: writer.stop())
        more()
        self.killed_often("--run", 5, 1500, file, more)
        keyspread.reload({**keyspread.config, "tables": config["tables"]})
        more()
        self.killed_often("--cutover", 3, 3000, file, more)
        more()
        check(spread=len(self.admin("select from tools.tables")) - len(left))
        writer = Rows(*ends, tables, before=writer)
        more()
        self.killed_often("--back", 2, 1500, file, more)
        more()
        check(spread=0)
        self.assertEqual(self.admin("select nspname from pg_namespace where nspname like 'keyspread%'"), [])
        for word in ("--run", "--cutover", "--finish"):
            self.run_command("migrate", file, word)
        self.assertEqual(self.admin("select nspname from pg_namespace where nspname like 'keyspread%'"), [])

    @harness.proxied
    def test_kea(self):
        """Foreign keys write the key of two tables (ON UPDATE CASCADE), so that these take a hash that the server checks; three have
        no key. Nothing is done before all that is named is answered."""
        tables = self.load("kea", "alter database app set kea.disable_audit = 'true'; alter database app set tools.left_out = 'follow_class_name|user_context';")
        self.assertEqual(self.empty, {f"dhcp{n}_client_class_{what}" for n in (4, 6) for what in ("order", "dependency")})
        config = {**self.config(()), "listen": ["127.0.0.1:6432"], "tables": [PATTERN]}
        told = self.run_command("migrate", self.file(config), "--run", code=WRONG).stderr
        written = ["dhcp4_subnet_server", "dhcp6_subnet_server"]
        for table in written:
            self.assertIn(f"writes columns of public.{table} that the hash is made of. Use hash_function: pg_hash", told)
        self.assertEqual(self.admin("select nspname from pg_namespace where nspname like 'keyspread%'"), [])
        entries = [{**PATTERN, "name": table, "primary_key": ["subnet_id", "server_id"], "hash_key": ["subnet_id"], "hash_column": "keyspread_hash",
                    "hash_function": "pg_hash"} for table in written]
        self.migrated(tables, *entries, left=["dhcp4_audit", "dhcp6_audit", "logs"])

    @harness.proxied
    def test_mediawiki(self):
        tables = self.load("mediawiki")
        self.assertEqual(self.empty, set())
        self.migrated(tables, left=["oldimage", "querycache", "querycachetwo", "searchindex", "user_newtalk"])

    @harness.proxied
    def test_zabbix(self):
        tables = self.load("zabbix")
        self.assertEqual(self.empty, set())
        self.migrated(tables)


if __name__ == "__main__":
    unittest.main()
