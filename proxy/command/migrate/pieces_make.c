#include "proxy/command/migrate/pieces_make.h"

#include <stddef.h>

/* The list of columns in a definition, as a match from its beginning; it holds no expression. */
#define LIST "[(](?:\"[^\"]*\"|[^\")])*"

/* Whether rows that are equal in the columns of the constraint or index certainly meet in one
 * partition: it has all columns that the hash is made of. */
#define MEETS(numbers)                                                                             \
    "(not t.parted or (select coalesce(array_agg(k.attname::text) @> t.hash_key, false)"           \
    " from pg_attribute k where k.attrelid = t.relid and k.attnum = any (" numbers ")))"

/* An expression index has no column for an expression: what is unique by it may not meet. */
#define INDEX_MEETS MEETS("i.indkey::int2[]")

const px_piece px_pieces_make[] = {
    {"make", "The new tables, and later the old ones, stand in schemas of their own.",
     "select 0, 0, format('CREATE SCHEMA IF NOT EXISTS %I; CREATE SCHEMA IF NOT EXISTS %I', ns, os)"
     " from pg_temp.spaces order by 3"},

    {"make", "The keys of rows that change while they are copied.",
     "select place, 0, format('CREATE TABLE keyspread.changes_%s AS SELECT %s FROM %s WITH NO"
     " DATA; ALTER TABLE keyspread.changes_%1$s REPLICA IDENTITY FULL', place, keys, old) from"
     " pg_temp.t"},

    {"make", "Logs the key of each row that changes.",
     "select place, 0, format($text$CREATE FUNCTION keyspread.log_%s() RETURNS trigger LANGUAGE "
     "plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $keyspread$\n"
     "BEGIN\n"
     "    IF TG_OP <> 'INSERT' THEN\n"
     "        INSERT INTO keyspread.changes_%1$s SELECT %2$s;\n"
     "    END IF;\n"
     "    IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND ROW(%2$s) IS DISTINCT FROM ROW(%3$s)) THEN\n"
     "        INSERT INTO keyspread.changes_%1$s SELECT %3$s;\n"
     "    END IF;\n"
     "    RETURN NULL;\n"
     "END $keyspread$;\n"
     "CREATE FUNCTION keyspread.refuse_%1$s() RETURNS trigger LANGUAGE plpgsql AS $keyspread$\n"
     "BEGIN\n"
     "    RAISE EXCEPTION 'cannot truncate a table that keyspread migrates' USING ERRCODE = "
     "'55000',\n"
     "        HINT = 'Use DELETE, or wait until it is switched (keyspread migrate --cutover).';\n"
     "END $keyspread$ $text$, place, old_keys, new_keys) from pg_temp.t, pg_temp.way where slot is "
     "null"},

    {"make",
     "From here on changes are logged; rows that writers had under way are committed before. It"
     " waits for these writers.",
     "select place, 0, format('CREATE TRIGGER keyspread_log AFTER INSERT OR UPDATE OR DELETE ON"
     " %s FOR EACH ROW EXECUTE FUNCTION keyspread.log_%s(); ALTER TABLE %1$s ENABLE ALWAYS"
     " TRIGGER keyspread_log; CREATE TRIGGER keyspread_log_truncate BEFORE TRUNCATE ON %1$s"
     " EXECUTE FUNCTION keyspread.refuse_%2$s(); ALTER TABLE %1$s ENABLE ALWAYS TRIGGER"
     " keyspread_log_truncate', old, place) from pg_temp.t, pg_temp.way where slot is null"},

    {"make", "What the slot tells of.",
     "select 0, 0, format('CREATE PUBLICATION %I FOR TABLE %s', " PX_PUBLICATION
     ", string_agg(old, ', ' order by place)) from pg_temp.t, pg_temp.way where slot is not null"
     " having count(*) > 0"},

    {"make",
     "From here on the WAL is kept for the changes in it, until they are read. It needs wal_level ="
     " logical, a free slot (max_replication_slots), a role with REPLICATION, and the key in each"
     " table's replica identity. It waits for all transactions that write.",
     "select 0, 0, format('SET LOCAL lock_timeout = 0; SELECT pg_drop_replication_slot(slot_name)"
     " FROM pg_replication_slots WHERE slot_name = %1$L; SELECT"
     " pg_create_logical_replication_slot(%1$L, ''pgoutput'')', slot) from pg_temp.way where slot"
     " is not null"},

    {"make",
     "A transaction that writes while a slot is made may be decoded without the DDL or TRUNCATE of"
     " another one (could not map filenode …). It waits for these transactions.",
     "select 0, 0, $text$SET LOCAL synchronous_commit = local; DO $keyspread$ DECLARE upto xid8 :="
     " pg_snapshot_xmax(pg_current_snapshot()); BEGIN WHILE pg_snapshot_xmin(pg_current_snapshot())"
     " < upto LOOP PERFORM pg_sleep(0.05); END LOOP; END $keyspread$ $text$ from pg_temp.way where"
     " slot is not null"},

    {"make", "The slot begins behind them.",
     "select 0, 0, format('SELECT pg_replication_slot_advance(%L, pg_current_wal_flush_lsn())',"
     " slot) from pg_temp.way where slot is not null"},

    {"make", "What was committed before is seen from here on. It waits for writers of the table.",
     "select place, 0, format('LOCK TABLE %s IN SHARE MODE', old) from pg_temp.t, pg_temp.way where"
     " slot is not null"},

    {"make",
     "The new table: columns with types, collations, defaults, identity, generated columns, NOT"
     " NULL, CHECKs and comments are PostgreSQL's own copy; behind them the hash.",
     NULL},

    {"make", "The sequence of the identity column is called as the old one.",
     "select t.place, k.attnum, format($text$DO $keyspread$ BEGIN EXECUTE format('ALTER SEQUENCE"
     " %%s RENAME TO %%I', pg_get_serial_sequence(%L, %L), %L); END $keyspread$ $text$, t.fresh,"
     " k.attname, x.relname) from pg_temp.t join pg_attribute k on k.attrelid = t.relid and"
     " k.attidentity <> '' and not k.attisdropped join pg_class x on x.oid ="
     " pg_get_serial_sequence(t.old, k.attname)::regclass where x.relname <> t.n || '_' ||"
     " k.attname || '_seq'"},

    {"make", "Settings of columns.",
     "select t.place, k.attnum, format('ALTER TABLE %s ALTER COLUMN %I SET %s', t.fresh,"
     " k.attname, what) from pg_temp.t join pg_attribute k on k.attrelid = t.relid and k.attnum"
     " > 0 and not k.attisdropped, unnest(array['STATISTICS ' || nullif(k.attstattarget, -1),"
     " '(' || (select string_agg(o, ', ') from unnest(k.attoptions) o where split_part(o, '=',"
     " 1) <> 'pg_attver') || ')']) what where what is not null"},

    {"make", "Storage options and tablespaces; of a table in partitions those of each partition.",
     "select t.place, 0, format('ALTER TABLE %I.%I SET (%s)', t.ns, m, o.what) from pg_temp.t,"
     " unnest(t.made) m, lateral (select string_agg(format('%s=%L', split_part(x, '=', 1),"
     " substr(x, strpos(x, '=') + 1)), ', ') what from (select unnest(t.reloptions) x union all"
     " select 'toast.' || unnest(c.reloptions) from pg_class c where c.oid = t.reltoastrelid)"
     " options) o where o.what is not null union all select t.place, 1, format('ALTER TABLE"
     " %I.%I SET TABLESPACE %I', t.ns, m, spcname) from pg_temp.t join pg_tablespace s on s.oid"
     " = t.reltablespace, unnest(t.made) m"},

    {"make", "Its comment.",
     "select place, 0, format('COMMENT ON TABLE %s IS %L', fresh, e) from pg_temp.t,"
     " obj_description(relid, 'pg_class') e where e is not null"},

    {"make", "It gets the rights of the old table, and no others by default.",
     "select t.place, 0, format('REVOKE ALL ON %I.%I FROM %s', t.ns, m, string_agg(distinct case"
     " g.grantee when 0 then 'PUBLIC' else quote_ident(pg_get_userbyid(g.grantee)) end, ', '))"
     " from pg_temp.t, unnest(t.n || t.leaf) m, pg_default_acl d, aclexplode(d.defaclacl) g where"
     " d.defaclobjtype = 'r' and d.defaclnamespace = 0 and pg_get_userbyid(d.defaclrole) ="
     " current_user and g.grantee <> d.defaclrole group by t.place, t.ns, m"},

    {"make", "Rights on the table and on its columns.",
     "select place, 0, format('GRANT %s ON %s TO %s%s', string_agg(privilege_type, ', '), fresh,"
     " receiver, option) from (select t.place, t.fresh, acl.* from pg_temp.t,"
     " aclexplode(t.relacl) acl where acl.grantee <> t.relowner) g, lateral (select case"
     " g.grantee when 0 then 'PUBLIC' else quote_ident(pg_get_userbyid(g.grantee)) end, case"
     " when g.is_grantable then ' WITH GRANT OPTION' else '' end) r(receiver, option) group by"
     " place, fresh, receiver, option union all select t.place, k.attnum, format('GRANT %s (%I)"
     " ON %s TO %s%s', g.privilege_type, k.attname, t.fresh, receiver, option) from pg_temp.t"
     " join pg_attribute k on k.attrelid = t.relid and not k.attisdropped, aclexplode(k.attacl)"
     " g, lateral (select case g.grantee when 0 then 'PUBLIC' else"
     " quote_ident(pg_get_userbyid(g.grantee)) end, case when g.is_grantable then ' WITH GRANT"
     " OPTION' else '' end) r(receiver, option)"},

    {"index", "Rows that are equal here are in one partition, so that the hash may stand beside.",
     "select t.place, o.oid, format('ALTER TABLE %s ADD CONSTRAINT %I %s', t.fresh, o.conname,"
     " case when not t.parted then e when t.hash_first then regexp_replace(e, '[(]',"
     " format('(%I, ', t.hash))"
     " else regexp_replace(e, '^([^(]*" LIST
     ")', format('\\1, %I', t.hash)) end) from pg_temp.t join pg_constraint o on o.conrelid ="
     " t.relid, pg_get_constraintdef(o.oid) e where (o.contype = "
     "'u' and " MEETS("o.conkey") ") or (o.contype = 'x' and not t.parted)"},

    {"index", "Indexes, by the names of the old ones.",
     "select t.place, i.indexrelid, format('CREATE %sINDEX %I ON %s ', case when i.indisunique"
     " then 'UNIQUE ' else '' end, x.relname, t.fresh) || case when not i.indisunique or not"
     " t.parted then short when t.hash_first then regexp_replace(short, '[(]', format('(%I, ',"
     " t.hash)) else"
     " regexp_replace(short, '^(USING \\w+ " LIST
     ")', format('\\1, %I', t.hash)) end from pg_temp.t join pg_index i on i.indrelid = t.relid"
     " join pg_class x on x.oid = i.indexrelid, lateral (select substr(pg_get_indexdef(x.oid),"
     " strpos(pg_get_indexdef(x.oid), ' ON ' || t.old || ' ') + length(t.old) + 5)) d(short)"
     " where not i.indisprimary and i.indisvalid and not exists (select from pg_constraint o"
     " where o.conindid = x.oid and o.conrelid = t.relid and o.contype in ('u',"
     " 'x')) and (not i.indisunique or " INDEX_MEETS " and (not t.parted or i.indexprs is null))"},

    {"index", "Tablespaces of indexes.",
     "select t.place, x.oid, format('ALTER INDEX %I.%I SET TABLESPACE %I', t.ns, x.relname,"
     " spcname) from pg_temp.t join pg_index i on i.indrelid = t.relid join pg_class x on x.oid"
     " = i.indexrelid join pg_tablespace s on s.oid = x.reltablespace where not t.parted"},

    {"index", "Foreign keys that refer to the key alone need it to be UNIQUE without the hash.",
     NULL},

    {"index", "Comments on constraints and indexes.",
     "select t.place, x.oid, format('COMMENT ON INDEX %I.%I IS %L', t.ns, x.relname, e) from"
     " pg_temp.t join pg_index i on i.indrelid = t.relid join pg_class x on x.oid ="
     " i.indexrelid, obj_description(x.oid, 'pg_class') e where e is not null and (not"
     " i.indisunique or i.indisprimary"
     " or " INDEX_MEETS
     ") union all select t.place, o.oid, format('COMMENT ON CONSTRAINT %I ON %s IS %L',"
     " o.conname, t.fresh, e) from pg_temp.t join pg_constraint o on o.conrelid = t.relid,"
     " obj_description(o.oid, 'pg_constraint') e where e is not null and (o.contype = 'p' or"
     " (o.contype ="
     " 'u' and " MEETS("o.conkey") ") or (o.contype = 'x' and not t.parted))"},

    {"index", "Statistics objects.",
     "select t.place, x.oid, replace(replace(pg_get_statisticsobjdef(x.oid), format('STATISTICS"
     " %I.%I ', s.nspname, x.stxname), format('STATISTICS %I.%I ', t.ns, x.stxname)), ' FROM '"
     " || t.old, ' FROM ' || t.fresh) from pg_temp.t join pg_statistic_ext x on x.stxrelid ="
     " t.relid join pg_namespace s on s.oid = x.stxnamespace"},

    {"index",
     "Materialized views once more. Their names of tables mean the new ones by search_path; one "
     "that"
     " still reads an old table is an error.",
     "select 0, v.oid::int8, format($text$DO $keyspread$ DECLARE query text; BEGIN\n"
     "    PERFORM set_config('search_path', %L, true);\n"
     "    query := rtrim(pg_get_viewdef(%L::regclass), ';');\n"
     "    PERFORM set_config('search_path', %L, true);\n"
     "    EXECUTE %L || query || %L;\n"
     "    PERFORM set_config('search_path', 'pg_catalog', true);\n"
     "    IF EXISTS (SELECT FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid WHERE d.classid ="
     " 'pg_rewrite'::regclass AND r.ev_class = %L::regclass AND d.refclassid = 'pg_class'::regclass"
     " AND d.refobjid = ANY (%L::regclass[])) THEN\n"
     "        RAISE EXCEPTION 'materialized view %% would read an old table still', %L;\n"
     "    END IF;\n"
     "END $keyspread$ $text$, paths.old, v.old, paths.fresh, format('CREATE MATERIALIZED VIEW "
     "%s%s%s"
     " AS ', v.fresh, ' WITH (' || array_to_string(v.reloptions, ', ') || ')', (select format("
     "' TABLESPACE %I', spcname) from pg_tablespace where oid = v.reltablespace)), case when "
     "v.relispopulated then '' else"
     " ' WITH NO DATA' end, v.fresh, paths.tables, v.old) from pg_temp.mv v, (select"
     " string_agg(quote_ident(s), ', ' order by s) as old, string_agg(quote_ident(ns), ', ' order "
     "by"
     " s) || ', ' || string_agg(quote_ident(s), ', ' order by s) fresh, (select array_agg(x) from"
     " (select old x from pg_temp.t union select old from pg_temp.mv) o)::text tables from"
     " pg_temp.spaces) paths"},

    {"index", "Their indexes.",
     "select 0, i.indexrelid::int8, format('CREATE %sINDEX %I ON %s ', case when i.indisunique then"
     " 'UNIQUE ' else '' end, x.relname, v.fresh) || substr(pg_get_indexdef(x.oid),"
     " strpos(pg_get_indexdef(x.oid), ' ON ' || v.old || ' ') + length(v.old) + 5) from pg_temp.mv "
     "v"
     " join pg_index i on i.indrelid = v.oid and i.indisvalid join pg_class x on x.oid ="
     " i.indexrelid union all select 1, x.oid::int8, format('COMMENT ON INDEX %I.%I IS %L', v.ns,"
     " x.relname, e) from pg_temp.mv v join pg_index i on i.indrelid = v.oid and i.indisvalid join"
     " pg_class x on x.oid = i.indexrelid, obj_description(x.oid, 'pg_class') e where e is not "
     "null"},

    {"index", "Their comments, rights and settings of columns.",
     "select 0, v.oid::int8, format('COMMENT ON MATERIALIZED VIEW %s IS %L', v.fresh, e) from"
     " pg_temp.mv v, obj_description(v.oid, 'pg_class') e where e is not null union all select 1,"
     " v.oid::int8 * 2000 + k.attnum, what from pg_temp.mv v join pg_attribute k on k.attrelid ="
     " v.oid and k.attnum > 0, unnest(array[format('COMMENT ON COLUMN %s.%I IS %L', v.fresh,"
     " k.attname, nullif(col_description(v.oid, k.attnum), '')), format('ALTER MATERIALIZED VIEW %s"
     " ALTER COLUMN %I SET STATISTICS %s', v.fresh, k.attname, nullif(k.attstattarget, -1))]) with"
     " ordinality u(what, number) where case number when 1 then col_description(v.oid, k.attnum) is"
     " not null else k.attstattarget >= 0 end union all select 2, v.oid::int8, format('GRANT %s ON"
     " %s TO %s%s', string_agg(g.privilege_type, ', ' order by g.privilege_type), v.fresh,"
     " receiver, option) from pg_temp.mv v, aclexplode(v.relacl) g, lateral (select case g.grantee"
     " when 0 then 'PUBLIC' else quote_ident(pg_get_userbyid(g.grantee)) end, case when"
     " g.is_grantable then ' WITH GRANT OPTION' else '' end) r(receiver, option) where g.grantee <>"
     " v.relowner group by v.oid, v.fresh, receiver, option"},

    {"index", "The planner's statistics.",
     "select place, 0, format('ANALYZE %s', fresh) from pg_temp.t union all select 0, oid::int8,"
     " format('ANALYZE %s', fresh) from pg_temp.mv where relispopulated"},

    {"index", "Triggers, which do not fire before the switch.",
     "select t.place, g.oid, left(d, at) || ' ON ' || t.fresh || substr(d, at + length(t.old) + 5)"
     " || format('; ALTER TABLE %s DISABLE TRIGGER %I', t.fresh, g.tgname) ||"
     " coalesce(format('; COMMENT ON TRIGGER %I ON %s IS ', g.tgname, t.fresh) ||"
     " quote_literal(obj_description(g.oid, 'pg_trigger')), '') from " PX_TRIGGERS
     " and g.tgconstrrelid = 0, pg_get_triggerdef(g.oid) d, lateral (select strpos(d, ' ON ' ||"
     " t.old || ' ') - 1) p(at)"},

    {"index",
     "From the switch on they keep the old table in step, for the way back: a row that has changed"
     " becomes what it is in the new table, in whatever order triggers tell of it. And they give "
     "rows"
     " their hash that come from a keyspread which does not know of the switch yet. keyspread knows"
     " the function by its checksum.",
     "select place, 0, format($text$CREATE FUNCTION keyspread.back_%s() RETURNS trigger LANGUAGE "
     "plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $keyspread$-- keyspread %s%s"
     "$keyspread$;\n"
     "CREATE TRIGGER keyspread_back AFTER INSERT OR UPDATE OR DELETE ON %4$s FOR EACH ROW EXECUTE "
     "FUNCTION keyspread.back_%1$s();\n"
     "CREATE TRIGGER keyspread_back_truncate AFTER TRUNCATE ON %4$s EXECUTE FUNCTION "
     "keyspread.back_%1$s();\n"
     "ALTER TABLE %4$s ENABLE ALWAYS TRIGGER keyspread_back, ENABLE ALWAYS TRIGGER "
     "keyspread_back_truncate$text$, place, encode(sha256(convert_to(body, 'UTF8')), 'hex'), body,"
     " fresh) || case when fill is null then"
     " '' else format($text$;\n"
     "CREATE TRIGGER keyspread_fill BEFORE INSERT ON %s FOR EACH ROW WHEN (new.%I IS NULL) EXECUTE"
     " FUNCTION keyspread.back_%s();\n"
     "CREATE TRIGGER keyspread_fill_key BEFORE UPDATE OF %s ON %1$s FOR EACH ROW WHEN (new.%2$I IS"
     " NOT DISTINCT FROM old.%2$I AND ROW(%5$s) IS DISTINCT FROM ROW(%6$s)) EXECUTE FUNCTION"
     " keyspread.back_%3$s();\n"
     "ALTER TABLE %1$s ENABLE ALWAYS TRIGGER keyspread_fill, ENABLE ALWAYS TRIGGER "
     "keyspread_fill_key$text$, fresh, hash, place, keys, old_keys, new_keys) end from pg_temp.t, "
     "lateral (select format($text$\n"
     "#variable_conflict use_column\n"
     "BEGIN\n"
     "%s"
     "    IF TG_TABLE_SCHEMA = %L THEN\n"
     "        RETURN NULL;\n"
     "    END IF;\n"
     "    IF TG_OP = 'TRUNCATE' THEN\n"
     "        TRUNCATE %s CASCADE;\n"
     "        RETURN NULL;\n"
     "    END IF;\n"
     "    IF TG_OP = 'DELETE' OR (TG_OP = 'UPDATE' AND ROW(%4$s) IS DISTINCT FROM ROW(%5$s)) THEN\n"
     "        DELETE FROM %3$s kept WHERE (%6$s) = (%4$s) AND NOT EXISTS (SELECT FROM "
     "%7$s now WHERE (%6$s, %8$I) = (%4$s, OLD.%8$I));\n"
     "    END IF;\n"
     "    IF TG_OP <> 'DELETE' THEN\n"
     "        SELECT now.* INTO NEW FROM %7$s now WHERE (%6$s, %8$I) = (%5$s, NEW.%8$I);\n"
     "        IF FOUND THEN\n"
     "            %10$s WHERE (%6$s) = (%5$s);\n"
     "            IF NOT FOUND THEN\n"
     "                INSERT INTO %3$s (%9$s) OVERRIDING SYSTEM VALUE VALUES (%11$s);\n"
     "            END IF;\n"
     "        END IF;\n"
     "    END IF;\n"
     "    RETURN NULL;\n"
     "END $text$, case when fill is null then '' else format($text$"
     "    IF TG_WHEN = 'BEFORE' THEN\n"
     "        new.%I := %s;\n"
     "        RETURN new;\n"
     "    END IF;\n"
     "$text$, hash, fill) end, ns, kept, old_keys, new_keys, keys, old, hash, stored, case when "
     "changed = '' then 'PERFORM FROM ' || kept else format('UPDATE %s kept SET %s', kept, "
     "changed) end, new_stored)) b(body)"},

    {NULL, NULL, NULL}};
