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

# All columns, whole rows, other relations; statements that write elsewhere. Less what tables are stored by.
WHOLE = (
    "select to_jsonb(c) - '{reltype,relfilenode,relpages,reltuples,relallvisible,reltoastrelid,relfrozenxid,relminmxid}'::text[] from pg_class c where relnamespace = 2200 order by relname",
    "select to_jsonb(c.*) -> 'relnatts', c.relkind from pg_class c where c.relname = 'ev'",
    "select * from pg_class where relname in ('seen', 'other_pkey', 'ev_p0') order by relname",
    "select c.* from pg_class c where relname = 'other_pkey'", "select c from pg_class c where relname = 'seen'",
    "select pg_class.* from pg_class where relname = 'seen' for key share of pg_class nowait",
    "select relname, relnatts, relkind from pg_class c where relnamespace = 2200 order by relname for update",
    "select row_to_json(a) from pg_attribute a where attrelid = 'ev'::regclass and attnum > 0 order by attnum",
    "select json_agg(a order by attnum) from pg_attribute a where attrelid = 'ev'::regclass",
    "select n from pg_attribute a(r, n) where r = 'ev'::regclass", "select * from pg_index i(x, y) where y = 'ev'::regclass order by x",
    "select attname from only pg_attribute where attrelid = 'ev'::regclass order by attnum",
    "select * from only pg_index where indrelid = 'ev'::regclass order by indexrelid",
    "select * from pg_index where indrelid = 'ev'::regclass order by indexrelid",
    "select (i).* from pg_index i where indrelid = 'ev'::regclass order by indexrelid",
    "select i from pg_index i where indrelid = 'ev'::regclass order by indexrelid",
    "select s.* from (select indkey, indnatts from pg_index where indrelid = 'ev'::regclass) s order by 1",
    "select x.indkey from (table pg_index) x where x.indrelid = 'ev'::regclass order by 1",
    "select * from pg_constraint where conrelid = 'ev'::regclass order by conname", "table pg_constraint",
    "select to_jsonb(c.*) from pg_constraint c where conrelid = 'ev'::regclass order by conname",
    "select conname, pg_get_constraintdef(c.oid), c.conkey from pg_constraint c, lateral (select c.conkey) x order by 1",
    "with c as (select * from pg_class) select relname, relkind, relnatts from c where relname like 'ev%' order by 1",
    "select array_agg(c.relname order by relname) filter (where c is not null) from pg_class c where relnamespace = 2200",
    "select count(c) from pg_class c where relname like 'ev%'",
    "with pg_class as materialized (select * from pg_catalog.pg_class where relnamespace = 2200) select relname, relnatts, relkind from pg_class order by 1",
    "select c.relname, i.indnatts from pg_class c natural join (select indexrelid as oid, indnatts from pg_index) i"
    " where relname like 'ev%' order by 1",
    "select a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid where c.relname = 'ev' and attnum > 0 for share of a",
    "select attname from pg_attribute where attrelid = 'ev'::regclass and attnum = (select relnatts from pg_class where oid = 'ev'::regclass)",
    "copy (select attname, attnum from pg_attribute where attrelid = 'ev'::regclass order by attnum) to stdout",
    "select typname, typtype from pg_type where typnamespace = 2200 order by 1", "select * from pg_type t where typname like '%ev%' order by typname",
    "select classid::regclass, objsubid, refclassid::regclass, refobjsubid, deptype from pg_depend"
    " where objid = 'ev'::regclass order by 1, 2, 3, 4, 5",
    "select deptype, pg_describe_object(classid, objid, objsubid) from pg_depend where refobjid = 'ev'::regclass"
    " and classid <> 1259 order by 1, 2",
    "select relname from pg_stat_user_tables order by 1", "select schemaname, relname from pg_stat_all_tables where schemaname = 'public' order by 1, 2",
    "select starelid::regclass, staattnum from pg_statistic where starelid >= 16384 order by 1, 2",
    "select tgrelid::regclass, tgname from pg_trigger order by 1, 2",
    "select adrelid::regclass::text, adnum, pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid >= 16384 order by 1, 2",
    "select relation::regclass::text, l.mode from pg_locks l, ev where l.pid = pg_backend_pid() and relation::regclass::text like 'ev%' order by 1", "select pg_get_partkeydef('ev'::regclass)",
    "select relid::regclass from pg_partition_tree('ev')", "select * from pg_partition_root('ev')",
    "select * from pg_partition_ancestors('ev')", "select partrelid::regclass, pg_get_partkeydef(partrelid) from pg_partitioned_table",
    "select pg_index_column_has_property('ev_pkey', n, 'asc') from generate_series(0, 4) n",
    "select col_description('ev'::regclass, 3), col_description('ev'::regclass, 5), obj_description('ev'::regclass)",
    "select table_name, column_name, udt_name from information_schema.column_udt_usage where table_schema = 'public' order by 1, 2",
    "select object_name, object_type, dtd_identifier from information_schema.data_type_privileges where object_schema = 'public' order by 1, 2, 3",
    "select * from information_schema.triggers", "select * from information_schema.udt_privileges where udt_schema = 'public'",
    "select * from information_schema.role_udt_grants where udt_schema = 'public' order by 1",
    "create temp table made as select * from pg_class where relname like 'ev%'", "select relname, relkind, relnatts from made order by 1",
    "insert into made select * from pg_class where relname = 'ev'",
    "update made set relname = 'x' from pg_class c where c.oid = made.oid and c.relnatts = 5 returning c.relnatts",
    "update made set relname = a.attname from pg_attribute a where a.attrelid = made.oid and a.attname = 'userid_hash' returning 1",
    "merge into made using pg_attribute a on a.attrelid = made.oid and a.attname = 'userid_hash' when matched then delete",
    "delete from made using pg_attribute a where a.attrelid = made.oid and a.attname = 'userid_hash' returning 1",
    "delete from made where relnatts in (select relnatts from pg_class where relname = 'ev') returning relname, relnatts", "drop table made",
)

# Aliases called like a column, and samples.
ALIASES = (
    "select relname, relname.relkind from pg_class relname where relname.relnamespace = 2200 order by 1",
    "select indkey from pg_index indkey where indrelid = 'ev'::regclass order by 1", "select typname from pg_type typname where typname like '%ev' order by 1",
    "select conkey.conkey, conkey from pg_constraint conkey where conrelid = 'ev'::regclass order by conname",
    "select table_name from information_schema.tables table_name where table_schema = 'public' order by 1",
    "select relname, relnatts from pg_class tablesample system (100) where relnamespace = 2200 order by 1",
    "select c.relname, relkind from pg_catalog.pg_class as c tablesample bernoulli (100) repeatable (1) where c.relnamespace = 2200 order by 1",
    "select c.*, k.conkey from pg_attribute c tablesample system ((select 100)) join pg_constraint k on k.conrelid = c.attrelid"
    " where c.attrelid = 'ev'::regclass and not attisdropped order by conname, attnum",
    'select c.x, "Y" from only pg_attribute as c (x, "Y") tablesample system (100) where x = \'ev\'::regclass order by 2',
)

# Functions in a FROM.
FUNCTIONS = (
    "select c.conname, def from pg_constraint c, lateral pg_get_constraintdef(c.oid) as def where conrelid = 'ev'::regclass order by 1",
    "select c.conname, d.def from pg_constraint c cross join lateral pg_get_constraintdef(c.oid) as d(def) where conrelid = 'ev'::regclass order by 1",
    "select x.x, o from pg_index i, pg_get_indexdef(i.indexrelid, 1, true) with ordinality x(x, o) where indrelid = 'ev'::regclass order by 1",
    "select pg_get_indexdef from pg_get_indexdef('ev_pkey'::regclass)", "select * from pg_catalog.pg_get_indexdef('ev_pkey'::regclass) with ordinality",
    "select pg_get_constraintdef.*, ordinality from pg_get_constraintdef((select oid from pg_constraint where conname = 'ev_pkey')) with ordinality",
    "select * from rows from (pg_get_indexdef('ev_pkey'::regclass), generate_series(1, 2), pg_get_partkeydef('ev'::regclass)) as x(a, b, c)",
    "select i.indnatts, d from pg_index i left join lateral pg_get_indexdef(i.indexrelid) d on d like '%ts%' where indrelid = 'ev'::regclass order by 2",
)

# By their arguments, which are of one shape; names of theirs that ours might hide; numbers of columns.
ARGUMENTS = (
    "select pg_get_indexdef('other_pkey'::regclass)", "select pg_get_indexdef('ev_pkey'::regclass)",
    "select pg_get_indexdef('ev_event'::regclass, 1, true)", "select pg_get_indexdef('ev_pkey'::regclass, 2, true)",
    "select pg_index_column_has_property('ev_event', 2, 'asc')", "select pg_index_column_has_property('ev_pkey', 2, 'asc')",
    "select pg_index_column_has_property('ev_pkey', 3, 'asc')", "select pg_describe_object(1259, 'other'::regclass, 5)",
    "select pg_describe_object(1259, 'ev'::regclass, 5)", "select pg_describe_object(1259, 'ev'::regclass, 3)",
    "select pg_get_indexdef(attrelid, attnum, true), attnum from pg_attribute where attrelid in ('ev_pkey'::regclass, 'ev_event'::regclass)"
    " and attnum > 0 order by attrelid, attnum",
    "select pg_get_indexdef(c.oid, h.n, true) from pg_class c, generate_series(1, 2) h(n) where relname = 'ev_pkey' order by n",
    "select n, pg_index_column_has_property('ev_pkey', n, 'asc'), pg_get_indexdef('ev_pkey'::regclass, 1 | n, false) from generate_series(0, 4) n",
    "select n, col_description('ev'::regclass, n), pg_describe_object(1259, 'ev'::regclass, n), pg_identify_object('pg_class'::regclass, 'ev'::regclass, n),"
    " pg_identify_object_as_address(1259, 'ev'::regclass::oid, n) from generate_series(0, 7) n",
    "select pg_describe_object(classoid, objoid, objsubid), col_description(objoid, objsubid) from pg_description where objoid = 'ev'::regclass order by 1",
    "select pg_describe_object(2606, oid, 0) from pg_constraint where conrelid = 'ev'::regclass order by 1",
    "select * from pg_identify_object(1259, 'ev'::regclass, 5)", "select * from col_description('ev'::regclass, 3)",
    "select has_column_privilege('ev', 'userid', 'select'), has_column_privilege(c.oid, attname, 'select'), has_column_privilege('app', c.oid, attname::text,"
    " 'select') from pg_class c, pg_attribute n where n.attrelid = c.oid and c.relname = 'ev' and attname !~ 'dropped' order by attnum",
    "select has_column_privilege('nothing', 'userid', 'select')", "select has_column_privilege('ev', 'nothing', 'select')",
    "select has_column_privilege('app', 'ev', 'userid', 'nothing')", "select has_column_privilege('ev'::regclass, 2::smallint, 'select')",
)

# Dropped columns as well.
DROPPED = (
    "select * from pg_attribute where attrelid = 'ev'::regclass and attnum > 0 order by attnum",
    "select attname, attnum, atttypid, attnotnull, attisdropped from pg_attribute where attrelid = 'ev'::regclass order by attnum",
    "select a.* from pg_class c join pg_attribute a on a.attrelid = c.oid where c.relname in ('ev', 'ev_pkey') order by relname, attnum",
    "select count(*) from pg_attribute where attisdropped", "select json_agg(a order by attnum) from pg_attribute a where attrelid = 'ev'::regclass",
    "select attname from pg_attribute where attrelid = 'ev'::regclass and not attisdropped order by attnum",
)

QUERIES = COMPLETION + OWN + INFORMATION_SCHEMA + VIEWS + WHOLE + ALIASES + FUNCTIONS + ARGUMENTS + DROPPED
