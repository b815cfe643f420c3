#include "proxy/command/migrate/pieces_switch.h"

#include <stddef.h>

/* Sequences of serial columns (deptype a) and of identity columns (deptype i). */
#define SEQUENCES                                                                                  \
    "pg_temp.t join pg_depend d on d.refclassid = 'pg_class'::regclass and d.refobjid = t.relid "  \
    "and"                                                                                          \
    " d.refobjsubid > 0 and d.classid = 'pg_class'::regclass join pg_class x on x.oid = d.objid "  \
    "and"                                                                                          \
    " x.relkind = 'S' join pg_attribute k on k.attrelid = t.relid and k.attnum = d.refobjsubid "

#define PUBLICATIONS                                                                               \
    "pg_temp.t join pg_publication_rel l on l.prrelid = t.relid join pg_publication p on p.oid ="  \
    " l.prpubid and p.pubname <> " PX_PUBLICATION

#define RULES "pg_temp.t join pg_rewrite r on r.ev_class = t.relid"

/* What a policy p allows. */
#define ALLOWED                                                                                    \
    "coalesce(' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')', '') || coalesce(' WITH"     \
    " CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', '')"

/* Policies of other tables that name one of these. */
#define POLICIES_OF_OTHERS                                                                         \
    "select distinct 0, p.oid::int8, format('ALTER POLICY %I ON %s', p.polname,"                   \
    " p.polrelid::regclass) || " ALLOWED " from pg_temp.t join pg_depend d on d.refclassid ="      \
    " 'pg_class'::regclass and d.refobjid = t.relid and d.classid = 'pg_policy'::regclass join"    \
    " pg_policy p on p.oid = d.objid where p.polrelid not in (select relid from pg_temp.t)"

#define STATISTICS                                                                                 \
    "pg_temp.t join pg_statistic_ext x on x.stxrelid = t.relid join pg_namespace s on s.oid ="     \
    " x.stxnamespace"

/* In its place a view keeps its rights, its comment, and whatever is built on it. */
#define VIEWS                                                                                      \
    "select distinct 0, v.oid::int8, format('CREATE OR REPLACE VIEW %I.%I%s AS %s', s.nspname,"    \
    " v.relname, ' WITH (' || array_to_string(v.reloptions, ', ') || ')',"                         \
    " rtrim(pg_get_viewdef(v.oid), ';')) from pg_temp.base t join pg_depend d on d.refclassid ="   \
    " 'pg_class'::regclass and d.refobjid = t.relid and d.classid = 'pg_rewrite'::regclass join"   \
    " pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class and v.relkind = 'v' "  \
    "join"                                                                                         \
    " pg_namespace s on s.oid = v.relnamespace union all select distinct 0, f.oid::int8,"          \
    " pg_get_functiondef(f.oid) from pg_temp.base t join pg_depend d on d.refclassid ="            \
    " 'pg_class'::regclass and d.refobjid = t.relid and d.classid = 'pg_proc'::regclass join "     \
    "pg_proc f"                                                                                    \
    " on f.oid = d.objid"

/* A schema that holds something else stays. */
#define DROP_SCHEMAS(which)                                                                        \
    "select 0, 1, format($text$DO $keyspread$ BEGIN DROP SCHEMA IF EXISTS %I; EXCEPTION WHEN"      \
    " dependent_objects_still_exist THEN NULL; END $keyspread$ $text$, " which                     \
    ") from pg_temp.spaces"

/* All of them in one statement, for one may read another. */
#define DROP_VIEWS(which)                                                                          \
    "select -1, 0, 'DROP MATERIALIZED VIEW IF EXISTS ' || string_agg(" which                       \
    ", ', ' order by oid) from pg_temp.mv having count(*) > 0"

/* A materialized view is as old as its last refresh; CONCURRENTLY if it can be. */
#define REFRESH                                                                                    \
    "select 0, oid::int8, format('REFRESH MATERIALIZED VIEW %s%s', case when keyed then"           \
    " 'CONCURRENTLY ' else '' end, old) from pg_temp.mv where relispopulated"

/* Each keyspread has a link that listens for this. */
#define TELL "select 0, 0, $text$SELECT pg_notify('keyspread_ddl', '')$text$"

/* A table's foreign keys are changed by one statement, for writers wait for each. */
#define DROP_KEY "format('DROP CONSTRAINT %I', conname), ', ' order by oid)"
#define ADD_KEY "format('ADD CONSTRAINT %I %s NOT VALID', conname, def), ', ' order by oid)"

#define DROP_BACK                                                                                  \
    "select 0, 0, 'DROP FUNCTION ' || string_agg(format('keyspread.back_%s()', place), ', ' order" \
    " by place) || ' CASCADE' from pg_temp.t"

/* A slot that is not dropped keeps the WAL. That it is dropped is never taken back: it comes last.
 */
#define DROP_SLOT                                                                                  \
    "select 1, 0, format('DROP PUBLICATION IF EXISTS %I; SELECT"                                   \
    " pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = "            \
    "%L', " PX_PUBLICATION ", slot) from pg_temp.way where slot is not null"

/* It is gone already if the tables are switched back in time. */
#define DROP_LOG                                                                                   \
    "select 0, 0, 'DROP TABLE IF EXISTS ' || string_agg('keyspread.changes_' || place, ', ' order" \
    " by place) from pg_temp.t union all " DROP_SLOT

#define ALL_TABLES(which) "string_agg(" which ", ', ' order by place)"

const px_piece px_pieces_switch[] = {
    {"cutover", "All changes are in the new tables: the log ends, with the triggers that write it.",
     "select 0, 0, 'DROP FUNCTION ' || string_agg(format('keyspread.log_%s(),"
     " keyspread.refuse_%1$s()', place), ', ' order by place) || ' CASCADE' from pg_temp.t,"
     " pg_temp.way where slot is null having count(*) > 0"},

    {"cutover", "A serial's sequence is to belong to the new table.",
     "select t.place, x.oid, format('ALTER SEQUENCE %s OWNED BY NONE', x.oid::regclass) "
     "from " SEQUENCES "where d.deptype = 'a'"},

    {"cutover", "Foreign keys of and to the old table; they are made again, of and to the new one.",
     "select min(place), 0, format('ALTER TABLE %s ', referrer) || string_agg(" DROP_KEY
     " from pg_temp.fk group by referrer"},

    {"cutover", "The old table gets what the new one has: its triggers are not to fire again.",
     "select distinct t.place, 0, format('ALTER TABLE %s DISABLE TRIGGER USER', t.old) "
     "from " PX_TRIGGERS},

    {"cutover", "Its rules are not to do so, either.",
     "select t.place, r.oid, format('ALTER TABLE %s DISABLE RULE %I', t.old, r.rulename) "
     "from " RULES},

    {"cutover", "Publications are to tell of the new table.",
     "select t.place, p.oid, format('ALTER PUBLICATION %I DROP TABLE %s', p.pubname, t.old) "
     "from " PUBLICATIONS},

    {"cutover", "The old table leaves its place.",
     "select place, 0, format('ALTER TABLE %s SET SCHEMA %I', old, os) from pg_temp.t union all"
     " select t.place, x.oid, format('ALTER STATISTICS %I.%I SET SCHEMA %I', s.nspname,"
     " x.stxname, t.os) "
     "from " STATISTICS},

    {"cutover", "The new table takes it.",
     "select place, 0, format('ALTER TABLE %s SET SCHEMA %I', fresh, s) from pg_temp.t union all"
     " select place, 1, format('ALTER TABLE %I.%I SET SCHEMA %I', ns, l, s) from pg_temp.t,"
     " unnest(leaf) l union all select t.place, x.oid, format('ALTER STATISTICS %I.%I SET SCHEMA"
     " %I', t.ns, x.stxname,"
     " s.nspname) from " STATISTICS},

    {"cutover", "Materialized views exchange their places likewise.",
     "select 0, oid::int8, format('ALTER MATERIALIZED VIEW %s SET SCHEMA %I; ALTER MATERIALIZED "
     "VIEW"
     " %s SET SCHEMA %I', old, os, fresh, s) || case when pg_get_userbyid(relowner) <> current_user"
     " then format('; ALTER MATERIALIZED VIEW %s OWNER TO %I', old, pg_get_userbyid(relowner)) else"
     " '' end from pg_temp.mv"},

    {"cutover", "Its owner.",
     "select place, 0, format('ALTER TABLE %I.%I OWNER TO %I', s, m, pg_get_userbyid(relowner))"
     " from pg_temp.t, unnest(n || leaf) m where pg_get_userbyid(relowner) <> current_user union"
     " all select min(place), 1, format('GRANT USAGE ON SCHEMA %I TO %I', os,"
     " pg_get_userbyid(relowner)) from pg_temp.t where pg_get_userbyid(relowner) <> current_user"
     " group by os, relowner"},

    {"cutover", "Sequences go on where they are.",
     "select t.place, x.oid, case d.deptype when 'a' then format('ALTER SEQUENCE %s OWNED BY"
     " %s.%I', x.oid::regclass, t.old, k.attname) else format('SELECT"
     " setval(pg_get_serial_sequence(%L, %L),"
     " last_value, is_called) FROM %I.%I', t.old, k.attname, t.os, x.relname) end from " SEQUENCES
     "where d.deptype in ('a', 'i')"},

    {"cutover",
     "Foreign keys: all new rows are checked from here on, the others afterwards. Of a table in"
     " partitions each partition has them until then.",
     "select min(place), 0, format('ALTER TABLE %s ', referrer) || string_agg(" ADD_KEY
     " from pg_temp.fk where not lost and not from_parted group by referrer union all select"
     " min(place), 1, format('ALTER TABLE %I.%I ', s, l) || string_agg(" ADD_KEY
     " from pg_temp.fk, unnest(leaf) l where not lost and from_parted group by s, l"},

    {"cutover", "Triggers that look at another table (FROM).",
     "select t.place, g.oid, pg_get_triggerdef(g.oid) || case when g.tgenabled = 'O' then ''"
     " else format('; ALTER TABLE %s %s TRIGGER %I', t.old, " PX_TRIGGER_STATE
     ", g.tgname) end || coalesce('; ' || format('COMMENT ON TRIGGER %I ON %s IS ', g.tgname,"
     " t.old) || quote_literal(obj_description(g.oid, 'pg_trigger')), '') from " PX_TRIGGERS
     " and g.tgconstrrelid <> 0"},

    {"cutover", "Rules, with their state.",
     "select t.place, r.oid, rtrim(pg_get_ruledef(r.oid), ';') || case when r.ev_enabled = 'O' "
     "then ''"
     " else format('; ALTER TABLE %s %s RULE %I', t.old, " PX_STATE(
         "r.ev_enabled") ", r.rulename) end ||"
                         " coalesce('; ' || format('COMMENT ON RULE %I ON %s IS ', r.rulename, "
                         "t.old) ||"
                         " quote_literal(obj_description(r.oid, 'pg_rewrite')), '') from " RULES},

    {"cutover", "Row level security, with its policies.",
     "select t.place, p.oid::int8, format('CREATE POLICY %I ON %s AS %s FOR %s TO %s', p.polname,"
     " t.old, case when p.polpermissive then 'PERMISSIVE' else 'RESTRICTIVE' end, case p.polcmd "
     "when"
     " 'r' then 'SELECT' when 'a' then 'INSERT' when 'w' then 'UPDATE' when 'd' then 'DELETE' else"
     " 'ALL' end, (select string_agg(case r when 0 then 'PUBLIC' else"
     " quote_ident(pg_get_userbyid(r)) end, ', ') from unnest(p.polroles) r)) || " ALLOWED
     " || coalesce('; ' || format('COMMENT ON POLICY %I ON %s IS ', p.polname, t.old) ||"
     " quote_literal(obj_description(p.oid, 'pg_policy')), '') from pg_temp.t join pg_policy p on"
     " p.polrelid = t.relid union all select place, 0, format('ALTER TABLE %s %s ROW LEVEL "
     "SECURITY',"
     " old, what) from pg_temp.t, unnest(array[case when relrowsecurity then 'ENABLE' end, case "
     "when"
     " relforcerowsecurity then 'FORCE' end]) what where what is not null"},

    {"cutover", "Policies of other tables mean the new one, too.", POLICIES_OF_OTHERS},

    {"cutover",
     "Views and functions that name the table are made anew, so that they mean the new one.",
     VIEWS},

    {"cutover", "What subscribers know a row by.",
     "select place, 0, format('ALTER TABLE %I.%I REPLICA IDENTITY %s', s, m, case relreplident"
     " when 'f' then 'FULL' when 'n' then 'NOTHING' else 'USING INDEX ' || quote_ident((select"
     " x.relname from pg_index i join pg_class x on x.oid = i.indexrelid where i.indrelid ="
     " relid and i.indisreplident)) end) from pg_temp.t, unnest(n || leaf) m where relreplident"
     " <> 'd' and (not parted or relreplident <> 'i')"},

    {"cutover", "Publications.",
     "select t.place, p.oid, format('ALTER PUBLICATION %I ADD TABLE %s', p.pubname, t.old) "
     "from " PUBLICATIONS},

    {"cutover", "The index that CLUSTER goes by.",
     "select t.place, 0, format('ALTER TABLE %s CLUSTER ON %I', t.old, x.relname) from pg_temp.t"
     " join pg_index i on i.indrelid = t.relid and i.indisclustered join pg_class x on x.oid ="
     " i.indexrelid where not t.parted"},

    {"cutover", "Triggers, with their state.",
     "select t.place, 0, format('ALTER TABLE %s ', t.old) || string_agg(format('%s TRIGGER %I',"
     " " PX_TRIGGER_STATE ", g.tgname), ', ' order by g.tgname) from " PX_TRIGGERS
     " and g.tgconstrrelid = 0 and g.tgenabled <> 'D' group by t.place, t.old"},

    {"cutover", "Every keyspread looks at the tables again.", TELL},

    {"check", "The log is of no use any more.", DROP_LOG},

    {"check", "All rows of before are checked, while writers go on.",
     "select place, oid, format('ALTER TABLE %s VALIDATE CONSTRAINT %I', referrer, conname) from"
     " pg_temp.fk where not lost and not from_parted and convalidated union all select f.place,"
     " f.oid, format('ALTER TABLE %I.%I VALIDATE CONSTRAINT %I', f.s, l, f.conname) from"
     " pg_temp.fk f, unnest(f.leaf) l where not f.lost and f.from_parted"},

    {"check",
     "The foreign key of the whole table takes those of its partitions, which are checked.",
     "select place, oid, format('ALTER TABLE %s ADD CONSTRAINT %I %s', referrer, conname, def)"
     " from pg_temp.fk where not lost and from_parted"},

    {"check", "Materialized views get the rows of now.", REFRESH},

    {"check", "Comments on foreign keys.",
     "select place, oid, format('COMMENT ON CONSTRAINT %I ON %s IS %L', conname, referrer, e)"
     " from pg_temp.fk, obj_description(oid, 'pg_constraint') e where not lost and e is not null"},

    {"back", "Foreign keys that refer to the new tables.",
     "select min(place), 0, format('ALTER TABLE %s ', referrer) || string_agg(" DROP_KEY
     " from pg_temp.fk where not lost and from_place is null group by referrer"},

    {"back", "A serial's sequence is to belong to the old table again.",
     "select t.place, x.oid, format('ALTER SEQUENCE %s OWNED BY NONE', x.oid::regclass) "
     "from " SEQUENCES "where d.deptype = 'a'"},

    {"back", "The new table leaves its place, with its partitions.",
     "select place, 0, format('ALTER TABLE %s SET SCHEMA %I', old, ns) from pg_temp.t union all"
     " select place, 1, format('ALTER TABLE %I.%I SET SCHEMA %I', s, l, ns) from pg_temp.t,"
     " unnest(leaf) l union all select t.place, x.oid, format('ALTER STATISTICS %I.%I SET SCHEMA"
     " %I', s.nspname, x.stxname,"
     " t.ns) from " STATISTICS},

    {"back", "The old table takes it.",
     "select place, 0, format('ALTER TABLE %s SET SCHEMA %I', kept, s) from pg_temp.t union all"
     " select t.place, x.oid, format('ALTER STATISTICS %I.%I SET SCHEMA %I', t.os, x.stxname,"
     " s.nspname) "
     "from " STATISTICS},

    {"back", "Materialized views exchange their places likewise.",
     "select 0, oid::int8, format('ALTER MATERIALIZED VIEW %s SET SCHEMA %I; ALTER MATERIALIZED "
     "VIEW"
     " %s SET SCHEMA %I', old, ns, kept, s) from pg_temp.mv"},

    {"back", "Sequences go on where they are.",
     "select t.place, x.oid, case d.deptype when 'a' then format('ALTER SEQUENCE %s OWNED BY"
     " %s.%I', x.oid::regclass, t.old, k.attname) else format('SELECT"
     " setval(pg_get_serial_sequence(%L, %L),"
     " last_value, is_called) FROM %I.%I', t.old, k.attname, t.ns, x.relname) end from " SEQUENCES
     "where d.deptype in ('a', 'i')"},

    {"back", "The old table's triggers fire again.",
     "select t.place, g.oid, format('ALTER TABLE %s %s TRIGGER %I', t.old, " PX_TRIGGER_STATE
     ", g.tgname) from " PX_TRIGGERS " where g.tgenabled <> 'D'"},

    {"back", "So do its rules.",
     "select t.place, r.oid, format('ALTER TABLE %s %s RULE %I', t.old, " PX_STATE(
         "r.ev_enabled") ", r.rulename) from " RULES " where r.ev_enabled <> 'D'"},

    {"back", "Foreign keys: all new rows are checked from here on, the others afterwards.",
     "select min(place), 0, format('ALTER TABLE %s ', referrer) || string_agg(" ADD_KEY
     " from pg_temp.fk group by referrer"},

    {"back", "Views, functions and policies of other tables mean the old table again.",
     VIEWS " union all " POLICIES_OF_OTHERS},

    {"back", "Publications.",
     "select t.place, p.oid, format('ALTER PUBLICATION %I ADD TABLE %s', p.pubname, t.old) "
     "from " PUBLICATIONS},

    {"back", "Every keyspread looks at the tables again.", TELL},

    {"back", "The new tables go, and what reads them.",
     DROP_VIEWS("fresh") " union all "
                         "select 0, 0, 'DROP TABLE ' || " ALL_TABLES("fresh") " from pg_temp.t"},

    {"back", "Their schemas go.", DROP_SCHEMAS("ns") " union all " DROP_SCHEMAS("os")},

    {"check_back", "The functions of the new tables' triggers go.", DROP_BACK},

    {"check_back", "The log is of no use any more.", DROP_LOG},

    {"check_back", "All rows of before are checked, while writers go on.",
     "select place, oid, format('ALTER TABLE %s VALIDATE CONSTRAINT %I', referrer, conname) from"
     " pg_temp.fk where convalidated"},

    {"check_back", "Materialized views get the rows of now.", REFRESH},

    {"check_back", "Comments on foreign keys.",
     "select place, oid, format('COMMENT ON CONSTRAINT %I ON %s IS %L', conname, referrer, e)"
     " from pg_temp.fk, obj_description(oid, 'pg_constraint') e where e is not null"},

    {"finish", "The old table is not to follow any more.", DROP_BACK},

    {"finish",
     "The old tables go. What still refers to one of them is named, and then nothing is dropped.",
     DROP_VIEWS("kept") " union all select 0, 0, 'DROP TABLE ' || " ALL_TABLES(
         "kept") " from"
                 " pg_temp.t"},

    {"finish", "The schemas go.", DROP_SCHEMAS("ns") " union all " DROP_SCHEMAS("os")},

    {"abandon", "Nothing is logged any more, and nothing of the new tables stays.",
     "select place, 0, format('DROP TRIGGER IF EXISTS keyspread_log ON %s; DROP TRIGGER IF"
     " EXISTS keyspread_log_truncate ON %1$s; DROP FUNCTION IF EXISTS keyspread.log_%s(),"
     " keyspread.refuse_%2$s()', old, place) from pg_temp.t, pg_temp.way where slot is null union "
     "all"
     " " DROP_VIEWS("fresh") " union all select 0, 0,"
                             " 'DROP TABLE IF EXISTS ' || " ALL_TABLES("fresh") " from pg_temp.t"},

    {"abandon", "What would have kept the old tables in step goes.",
     "select place, 0, format('DROP FUNCTION IF EXISTS keyspread.back_%s()', place) from"
     " pg_temp.t"},

    {"abandon", "Their schemas go.", DROP_SCHEMAS("ns") " union all " DROP_SCHEMAS("os")},

    {"abandon", "The log goes.", DROP_LOG},

    {NULL, NULL, NULL}};
