"""catalog_queries: what psql, drivers and ORMs ask PostgreSQL's catalog, less what they fill in: the table is ev."""

OWN = (
    "select attname, attnum from pg_attribute where attrelid = 'ev'::regclass and attnum > 0 order by attnum",
    "select * from pg_attribute where attrelid = 'ev'::regclass and attnum > 0 order by attnum",
    "select attname from pg_catalog.pg_attribute where pg_attribute.attrelid = 'ev'::regclass order by attnum",
    "select pg_catalog.pg_attribute.attname from pg_catalog.pg_attribute where attrelid = 'other'::regclass order by attnum",
    "select pg_catalog.pg_attribute.attname from pg_catalog.pg_attribute where pg_catalog.pg_attribute.attrelid in (select pg_catalog.pg_class.oid from"
    " pg_catalog.pg_class where pg_catalog.pg_class.relnamespace = 2200) and attnum > 0 order by pg_catalog.pg_attribute.attrelid, attnum",
    "select pg_catalog.pg_tables.* from pg_catalog.pg_tables where pg_catalog.pg_tables.schemaname = 'public' order by 2",
    "select information_schema.columns.column_name from information_schema.columns where columns.table_schema = 'public' order by table_name, 1",
    "select tablename, attname from pg_stats where schemaname = 'public' order by 1, 2",
    "select table_name, column_name, privilege_type from information_schema.column_privileges where table_schema = 'public' order by 1, 2, 3",
    "select table_name, column_name from information_schema.role_column_grants where table_schema = 'public' order by 1, 2, privilege_type",
    "select table_name from information_schema.table_privileges where table_schema = 'public' order by 1",
    "select table_name from information_schema.role_table_grants where table_schema = 'public' order by 1",
    "select indkey, indnatts, indnkeyatts, indclass, indcollation, indoption, indisprimary from pg_index i"
    " where indrelid in ('ev'::regclass, 'other'::regclass) order by indexrelid",
    "select i.indkey[0], i.indnatts from pg_index as i join pg_class c on c.oid = i.indexrelid where relname = 'ev_pkey'",
    "select conname, conkey, contype, confkey from pg_constraint where conrelid = 'ev'::regclass order by oid",
    "select pg_get_indexdef(indexrelid), pg_get_indexdef(indexrelid, 0, true) from pg_index where indrelid = 'ev'::regclass",
    "select pg_catalog.pg_get_constraintdef(c.oid, true), pg_get_constraintdef(oid) as d from pg_constraint c"
    " where conrelid in ('ev'::regclass, 'other'::regclass) order by oid",
    "select pg_get_indexdef(nothing) from pg_index", "select nothing from pg_attribute", "select a.nothing from pg_attribute a",
    "select attname from pg_attribute where nothing = 1", "select 'é', indkey, nothing from pg_index",
    "select indkey from pg_index join pg_class c on nothing = 1", "select pg_get_indexdef('ev'::regclass)",
    "select pg_get_indexdef()", "select ctid is null from pg_index where indrelid = 'ev'::regclass",
    "select tableoid::regclass, indkey from pg_index where indrelid = 'ev'::regclass order by indexrelid",
    "select tableoid::regclass, attname from pg_attribute where attrelid = 'ev'::regclass order by attnum",
    "select count(*) from pg_attribute where attrelid = 'ev'::regclass for update",
    "select a from pg_attribute a where attrelid = 'other'::regclass and attname = 'id'",
    "select distinct pg_get_indexdef(indexrelid) from pg_index where indrelid = 'ev'::regclass order by pg_get_indexdef(indexrelid)",
    "select pg_get_indexdef(indexrelid, 0, true), count(*) from pg_index where indrelid in ('ev'::regclass, 'other'::regclass)"
    " group by pg_get_indexdef(indexrelid, 0, true) having count(*) < 3 order by 1",
    "select max(pg_get_constraintdef(oid)), coalesce(pg_get_constraintdef(0)) from pg_constraint where conrelid = 'ev'::regclass",
    "with recursive r as (select 'ev'::regclass::oid as id union select inhrelid from pg_inherits join r on inhparent = id) select count(*) from r",
    "with pg_index as (select 1 as indkey) select indkey from pg_index",
    "update pg_attribute set attname = attname where false",
    "declare c cursor for select attname from pg_attribute",
    "explain (costs off) select 1 from pg_namespace",
    "select count(*) from (select * from pg_attribute natural join pg_attribute b) s where attrelid = 'ev'::regclass",
    "select c.relname, string_agg(a.attname, ',' order by a.attnum) from pg_class c left join pg_attribute a"
    " on a.attrelid = c.oid and a.attnum > 0 where c.relname in ('ev', 'other', 'seen') group by c.relname order by 1",
    "select a.attname from pg_class c join pg_index i on i.indrelid = c.oid cross join lateral unnest(i.indkey)"
    " with ordinality k(n, o) join pg_attribute a on a.attrelid = c.oid and a.attnum = k.n where c.relname = 'ev'"
    " and i.indisprimary order by k.o",
)

INFORMATION_SCHEMA = (
    "select table_name, table_type from information_schema.tables where table_schema = 'public' order by 1",
    "select * from information_schema.columns where table_name = 'ev' order by ordinal_position",
    "select column_name, data_type, is_nullable from information_schema.columns c where table_name like 'ev%' order by 1",
    "select * from information_schema.key_column_usage where table_name in ('ev', 'other') order by constraint_name, 7",
    "select k.column_name, k.ordinal_position from information_schema.key_column_usage k join"
    " information_schema.table_constraints t using (constraint_schema, constraint_name) where k.table_name = 'ev' and"
    " t.constraint_type = 'PRIMARY KEY' order by k.ordinal_position",
    "select constraint_type, constraint_name, table_name from information_schema.table_constraints order by 3, 1, 2",
    "select * from information_schema.constraint_column_usage order by constraint_name, column_name",
    "select * from information_schema.constraint_table_usage order by constraint_name",
    "select constraint_name, check_clause from information_schema.check_constraints where constraint_schema = 'public' order by 1",
)

VIEWS = (
    "select * from pg_tables where schemaname = 'public' order by tablename",
    "select * from pg_indexes where schemaname = 'public' order by indexname",
    "select indexdef from pg_catalog.pg_indexes i where i.tablename = 'ev' order by 1", "select count(*) from pg_inherits",
    "select count(*) from pg_partitioned_table",
    "select relname, relkind, relnatts, relchecks, relhassubclass, relam, relispartition, relhasindex, relpersistence,"
    " relreplident from pg_class where relnamespace = 'public'::regnamespace order by 1",
    "select c.relname, count(*) from pg_class c, generate_series(1, c.relnatts) i where c.relname in ('ev', 'ev_pkey') group by 1 order by 1",
    "select conname, contype, connoinherit, coninhcount, conislocal, conparentid, pg_get_constraintdef(oid) from pg_constraint"
    " where connamespace = 'public'::regnamespace order by 1",
    "select a.attname, a.attnum, pg_get_indexdef(a.attrelid, a.attnum, true), pg_get_indexdef(a.attrelid, a.attnum + 0, false)"
    " from pg_attribute a where a.attrelid in ('ev_pkey'::regclass, 'ev_event'::regclass) and a.attnum > 0 order by attrelid, a.attnum",
    "select relkind, count(*) from pg_class where relnamespace = 'public'::regnamespace group by relkind order by 1",
    "select count(*) from pg_index i where i.indrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)",
)

# What psql asks when TAB is pressed, for the user's own tables.
COMPLETION = tuple(
    f"select {column} from {relations} where {condition} order by 1" for column, relations, condition in (
        ("pg_catalog.quote_ident(attname)", "pg_catalog.pg_attribute a, pg_catalog.pg_class c",
         "c.oid = a.attrelid and a.attnum > 0 and not a.attisdropped and c.relname = 'ev' and pg_catalog.pg_table_is_visible(c.oid)"),
        ("c.relname", "pg_catalog.pg_class c", "c.relkind in ('r', 'S', 'v', 'm', 'f', 'p') and c.relname like 'e%'"
         " and pg_catalog.pg_table_is_visible(c.oid) and c.relnamespace <> 'pg_catalog'::regnamespace"),
        ("c.relname", "pg_catalog.pg_class c", "c.relkind in ('i', 'I') and substring(c.relname, 1, 2) = 'ev'"),
        ("conname", "pg_catalog.pg_class c1, pg_catalog.pg_constraint con", "c1.oid = conrelid and c1.relname = 'ev'"),
        ("c2.relname", "pg_catalog.pg_class c1, pg_catalog.pg_class c2, pg_catalog.pg_index i",
         "c1.oid = i.indrelid and i.indexrelid = c2.oid and c1.relname = 'ev' and i.indisunique"),
        ("c2.relname", "pg_catalog.pg_class c1, pg_catalog.pg_class c2, pg_catalog.pg_inherits i",
         "c1.oid = i.inhparent and i.inhrelid = c2.oid and c2.relispartition"),
        ("conname", "pg_catalog.pg_constraint c", "c.conrelid <> 0 and not exists (select from pg_index where indrelid = conrelid"
         " and indnatts > 3)"),
    ))

QUERIES = COMPLETION + OWN + INFORMATION_SCHEMA + VIEWS
