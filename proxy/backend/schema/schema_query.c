#include "proxy/backend/schema/schema_query.h"

#include "protocol/types.h"
#include "proxy/backend/schema/quiet.h"
#include "rewrite/hash/table.h"
#include "rewrite/lex/quote.h"

#include <string.h>

/* Appends schema and name of each entry's table, as rows of constants. */
static void add_tables(const cfg_config *config, pgw_buf *sql)
{
    for (size_t i = 0; i < config->table_count; i++) {
        const cfg_table *table = &config->tables[i];
        pgw_buf_add_str(sql, i == 0 ? "(" : ", (");
        rw_add_constant(sql, pgw_slice_str(table->schema ? table->schema : "public"));
        pgw_buf_add_str(sql, "::pg_catalog.name, ");
        rw_add_constant(sql, pgw_slice_str(table->name));
        pgw_buf_add_str(sql, "::pg_catalog.name)");
    }
    if (config->table_count == 0)
        pgw_buf_add_str(sql, "(null::pg_catalog.name, null::pg_catalog.name)");
}

/* Appends the condition that the column begins with `prefix`: LIKE, with `!` to escape. */
static void add_beginning(const char *column, const char *prefix, pgw_buf *sql)
{
    pgw_buf pattern = {0};
    for (; *prefix != '\0'; prefix++) {
        if (strchr("!_%", *prefix) != NULL)
            pgw_buf_add_byte(&pattern, '!');
        pgw_buf_add_byte(&pattern, *prefix);
    }
    pgw_buf_add_byte(&pattern, '%');
    pgw_buf_addf(sql, "%s operator(pg_catalog.~~) pg_catalog.like_escape(", column);
    rw_add_constant(sql, pgw_slice_buf(&pattern));
    pgw_buf_add_str(sql, ", '!')");
    pgw_buf_free(&pattern);
}

/* Appends the condition that the column is `name`, or begins with it. */
static void add_fit(const char *column, const char *name, bool beginning, pgw_buf *sql)
{
    if (beginning) {
        add_beginning(column, name, sql);
    } else {
        pgw_buf_addf(sql, "%s = ", column);
        rw_add_constant(sql, pgw_slice_str(name));
    }
}

/* Appends the condition that a pattern covers the name of c in its schema, and no exception does.
 */
static void add_covered(const cfg_table *pattern, pgw_buf *sql)
{
    pgw_buf_add_byte(sql, '(');
    add_fit("n.nspname", pattern->schema ? pattern->schema : "public", pattern->schemas, sql);
    pgw_buf_add_str(sql, " and ");
    add_beginning("c.relname", pattern->name, sql);
    for (size_t i = 0; i < pattern->exception_count; i++) {
        const cfg_exception *one = &pattern->exceptions[i];
        pgw_buf_add_str(sql, one->schema != NULL ? " and not (" : " and not ");
        if (one->schema != NULL) {
            add_fit("n.nspname", one->schema, one->schemas, sql);
            pgw_buf_add_str(sql, " and ");
        }
        add_fit("c.relname", one->name, one->pattern, sql);
        pgw_buf_add_str(sql, one->schema != NULL ? ")" : "");
    }
    pgw_buf_add_byte(sql, ')');
}

/* The oids of the types that the pattern's hash column may have. */
static const char *types_of_hash(const cfg_table *pattern)
{
    if (pattern->hash_buckets > 0)
        return "21, 23";                                        /* int2 and int4 */
    return pattern->hash_type == CFG_HASH_INT8 ? "20" : "1700"; /* int8 and numeric */
}

/* Appends a SELECT of the tables that the pattern may cover. They have the hash column, of a type
 * that it may have, in the primary key; if the pattern names a primary_key, they may also have
 * none. */
static void add_pattern(const cfg_table *pattern, const char *named, pgw_buf *sql)
{
    pgw_buf_add_str(sql, "select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n"
                         " on n.oid = c.relnamespace join pg_catalog.pg_attribute h"
                         " on h.attrelid = c.oid where ");
    add_covered(pattern, sql);
    pgw_buf_add_str(sql, " and h.attname = ");
    rw_add_constant(sql, pgw_slice_str(pattern->hash_column));
    pgw_buf_addf(sql,
                 " and h.attnum > 0 and not h.attisdropped and h.attnotnull and not h.atthasdef"
                 " and h.atttypid in (%s) and c.relkind in ('r', 'p') and not c.relispartition"
                 " and c.relpersistence <> 't' and (n.nspname, c.relname) not in"
                 " (select w.nspname, w.relname from %s w where w.relname is not null)"
                 " and %s (select from pg_catalog.pg_index i where i.indrelid = c.oid"
                 " and i.indisprimary and h.attnum %s (i.indkey))",
                 types_of_hash(pattern), named,
                 pattern->primary_key_count > 0 ? "not exists" : "exists",
                 pattern->primary_key_count > 0 ? "<> all" : "= any");
}

/* Appends `matched`, the oids of the tables of all patterns: the oldest RW_PATTERN_TABLES at most.
 * `named` is the list that has the configured names. */
static void add_matched(const cfg_config *config, const char *named, pgw_buf *sql)
{
    const cfg_table *patterns = config->tables + config->table_count;
    if (config->pattern_count == 0)
        return;
    pgw_buf_add_str(sql, ", matched(oid) as materialized (");
    for (size_t i = 0; i < config->pattern_count; i++) {
        pgw_buf_add_str(sql, i > 0 ? " union " : "");
        add_pattern(&patterns[i], named, sql);
    }
    pgw_buf_addf(sql, " order by 1 limit %d)", RW_PATTERN_TABLES);
}

/* The configured tables with their descendants. These are looked up one by one in an index (OFFSET
 * has it so), for a database may have a hundred thousand others. */
#define TREE                                                                                       \
    " tree(root, oid) as (select ours.oid, ours.oid from ours union select p.root, i.inhrelid"     \
    " from tree p cross join lateral (select h.inhrelid from pg_catalog.pg_inherits h"             \
    " where h.inhparent = p.oid offset 0) i)"

/* The database's own types of columns of the configured tables, and of tables that their foreign
 * keys refer to; also the base types of domains. */
#define MET                                                                                        \
    " met as materialized (select distinct x.oid as type, x.typtype in ('c', 'r', 'm')"            \
    " or x.typelem <> 0 or (x.typtype = 'd' and x.oid <> t.oid) as holds"                          \
    " from pg_catalog.pg_attribute o join pg_catalog.pg_type t on t.oid = o.atttypid"              \
    " join pg_catalog.pg_type x on x.oid in (t.oid, t.typbasetype)"                                \
    " where o.attnum > 0 and o.atttypid >= 16384 and x.oid >= 16384"                               \
    " and o.attrelid in (select d.oid from tree d union all select k.confrelid from tree d"        \
    " join pg_catalog.pg_constraint k on k.conrelid = d.oid and k.contype = 'f'))"

/* Whether a trigger's function fn does nothing but assign columns, one after another, and none of
 * the primary key of p.root. */
#define ASSIGNS                                                                                    \
    "l.lanname = 'plpgsql' and pg_catalog.lower(fn.prosrc) ~ '^[[:space:]]*begin[[:space:]]+"      \
    "(new[.][a-z_0-9]+[[:space:]]*:?=[^;]*;[[:space:]]*)+return[[:space:]]+new[[:space:]]*;"       \
    "[[:space:]]*end[[:space:]]*;?[[:space:]]*$' and exists (select from pg_catalog.pg_index i"    \
    " where i.indrelid = p.root and i.indisprimary and not exists (select from"                    \
    " pg_catalog.pg_attribute a where a.attrelid = p.root and a.attnum = any(i.indkey)"            \
    " and pg_catalog.strpos(pg_catalog.lower(fn.prosrc), 'new.' || a.attname) > 0))"

/* Whether a trigger is keyspread's own, for the body of its function fn is what keyspread made: it
 * fills the hash of rows without one (keyspread ddl --trigger), or keeps the old table of a
 * migration in step. It does nothing to rows that come through keyspread. */
#define IS_OWN_TRIGGER                                                                             \
    "(l.lanname = 'plpgsql' and case when fn.prosrc like '-- keyspread %' then"                    \
    " pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.substr(fn.prosrc, 78)," \
    " 'UTF8')), 'hex') = pg_catalog.substr(fn.prosrc, 14, 64) else false end)"

/* What the triggers of a table and its partitions do, for rows fire the triggers of their
 * partition. A deferred constraint trigger changes no row, but runs in the session that commits;
 * those of foreign keys are internal. No part of the question may wait for a lock, which a
 * migration may hold: pg_partition_tree() is not called, nor pg_get_expr() with a table. */
#define FIRED                                                                                      \
    " fired as (select p.root, pg_catalog.bool_or((g.tgtype & 4) <> 0) as by_insert,"              \
    " pg_catalog.bool_or((g.tgtype & 16) <> 0 and not g.tginitdeferred) as by_update,"             \
    " pg_catalog.bool_or((g.tgtype & 16) <> 0) as behind_update,"                                  \
    " pg_catalog.bool_or((g.tgtype & 7) = 7) as changes,"                                          \
    " pg_catalog.bool_or((g.tgtype & 19) = 19 and not (" ASSIGNS ")) as moves"                     \
    " from tree p join pg_catalog.pg_trigger g on g.tgrelid = p.oid"                               \
    " join pg_catalog.pg_proc fn on fn.oid = g.tgfoid"                                             \
    " join pg_catalog.pg_language l on l.oid = fn.prolang where not g.tgisinternal"                \
    " and g.tgenabled <> 'D' and not " IS_OWN_TRIGGER " group by p.root)"

/* The '+' of PX_SCHEMA_RELKIND: `keyspread migrate` logs the table's changes, by a trigger or a
 * publication, until the table with the hash has its name; or keeps the old table in step with it.
 */
#define MIGRATED                                                                                   \
    "case when c.triggers not like '0%' and exists (select from pg_catalog.pg_trigger g"           \
    " where g.tgrelid = c.oid and g.tgname in ('keyspread_log', 'keyspread_back'))"                \
    " or exists (select from pg_catalog.pg_publication_rel l join pg_catalog.pg_publication u"     \
    " on u.oid = l.prpubid where l.prrelid = c.oid and u.pubname = 'keyspread_migrate')"           \
    " then '+' end"

/* Columns that a foreign key writes (ON UPDATE, ON DELETE), past keyspread. */
#define CASCADED                                                                                   \
    " cascaded as materialized (select distinct p.root, a.attname from tree p"                     \
    " join pg_catalog.pg_constraint f on f.conrelid = p.oid and f.contype = 'f'"                   \
    " and (f.confupdtype in ('c', 'n', 'd') or f.confdeltype in ('n', 'd'))"                       \
    " join pg_catalog.pg_attribute a on a.attrelid = p.oid and a.attnum = any(f.conkey))"

/* Whether an UPDATE may change rows that refer to other columns than the primary key, and fire
 * their triggers. */
#define REFERRED                                                                                   \
    "exists (select from tree p join pg_catalog.pg_constraint k on k.confrelid = p.oid"            \
    " and k.contype = 'f' and k.confupdtype in ('c', 'n', 'd') where p.root = c.oid"               \
    " and not exists (select from pg_catalog.pg_index i where i.indrelid = p.oid"                  \
    " and i.indisprimary and k.confkey <@ i.indkey::pg_catalog.int2[]))"

#define RULES(event)                                                                               \
    "exists (select from pg_catalog.pg_rewrite r where r.ev_class = c.oid"                         \
    " and r.ev_type = '" event "')"

/* 1574 is nextval()'s oid in every PostgreSQL. */
#define SEQUENCE                                                                                   \
    "(a.attidentity <> '' or coalesce(pg_catalog.strpos("                                          \
    "d.adbin::pg_catalog.text, ':funcid 1574 ') > 0, false)"                                       \
    " or coalesce(pg_catalog.strpos(t.typdefault, 'nextval(') > 0, false))::pg_catalog.text"

/* Whether the expression of a default or a generated column is more than constants, the clock, a
 * random or a sequence's number, and PostgreSQL's own immutable functions. Functions that make text
 * of a value (names that end in 'out') look at settings, though they are marked immutable. */
#define COMPUTED                                                                                   \
    "coalesce((select e.text ~ 'COERCEVIAIO|COERCETODOMAIN' or exists (select from"                \
    " pg_catalog.regexp_matches(e.text, 'funcid ([0-9]+)', 'g') m"                                 \
    " join pg_catalog.pg_proc f on f.oid = pg_catalog.oidin(pg_catalog.textout((m.m)[1]))"         \
    " where not (f.provolatile = 'i' and f.pronamespace = 'pg_catalog'::pg_catalog.regnamespace"   \
    " and f.proname !~ 'out$')"                                                                    \
    " and f.proname !~ '^(now|.*_timestamp|timezone|date|timestamp|timestamptz|nextval|random"     \
    "|.*uuid.*)$') from (values (coalesce(d.adbin, t.typdefaultbin)::pg_catalog.text)) e(text)), " \
    "false)::pg_catalog.text"

/* Asked once for each table: the columns of the primary key in its order, without INCLUDEd ones,
 * the key's name, and whether rights are granted on single columns. */
#define KEY_COLUMNS                                                                                \
    "(select array(select k.attnum from pg_catalog.unnest(i.indkey) with ordinality"               \
    " k(attnum, place) where k.place <= i.indnkeyatts order by k.place)"                           \
    " from pg_catalog.pg_index i where i.indrelid = c.oid and i.indisprimary) as key_columns"
#define KEY_NAME                                                                                   \
    "(select x.relname from pg_catalog.pg_index i join pg_catalog.pg_class x"                      \
    " on x.oid = i.indexrelid where i.indrelid = c.oid and i.indisprimary) as key_name"
#define GRANTED                                                                                    \
    "exists (select from pg_catalog.pg_attribute g where g.attrelid = c.oid"                       \
    " and g.attacl is not null) as granted"
#define KEY                                                                                        \
    "case when a.attnum = any (c.key_columns) then pg_catalog.concat("                             \
    "pg_catalog.array_position(c.key_columns, a.attnum), ' ', c.key_name) else '0' end"

/* 403 is btree in every PostgreSQL. */
#define IDENTITY_AND_INDEX                                                                         \
    "pg_catalog.concat(a.attidentity, case when exists (select from pg_catalog.pg_index i"         \
    " join pg_catalog.pg_class x on x.oid = i.indexrelid where i.indrelid = c.oid"                 \
    " and i.indkey[0] = a.attnum and i.indisvalid and i.indpred is null and x.relam = 403)"        \
    " then '+' end)"

/* The cell PX_SCHEMA_EXPRESSION. Sequences are named by oid, for the asker may have another
 * search_path than the sessions that use the answer. Under another search_path than the reader's a
 * default is told only if it calls PostgreSQL's functions alone and the asker's settings write
 * constants as the reader's do. A default refers to no column, so pg_get_expr() needs no table and
 * takes no lock. */
#define SEQUENCES                                                                                  \
    " from pg_catalog.pg_depend s join pg_catalog.pg_class q on q.oid = s.refobjid"                \
    " where s.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass and s.objid = d.oid"          \
    " and s.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and q.relkind = 'S')"
#define ONE_SEQUENCE "(select pg_catalog.count(*) = 1" SEQUENCES
#define DRAWN                                                                                      \
    "(select pg_catalog.concat('pg_catalog.nextval(''', pg_catalog.min(q.oid::pg_catalog.int8),"   \
    " '''::pg_catalog.regclass)')" SEQUENCES
#define IDENTITY                                                                                   \
    "(select pg_catalog.concat('pg_catalog.nextval(''', s.objid, '''::pg_catalog.regclass)')"      \
    " from pg_catalog.pg_depend s"                                                                 \
    " where s.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and s.refobjid = c.oid"      \
    " and s.refobjsubid = a.attnum and s.deptype = 'i'"                                            \
    " and s.classid = 'pg_catalog.pg_class'::pg_catalog.regclass limit 1)"
#define FOREIGN_FUNCTIONS                                                                          \
    "exists (select from pg_catalog.regexp_matches(d.adbin::pg_catalog.text, 'funcid ([0-9]+)', "  \
    "'g') m"                                                                                       \
    " where pg_catalog.oidin(pg_catalog.textout((m.m)[1])) >= 16384)"
#define EXPRESSION                                                                                 \
    "case when a.attgenerated <> '' then null when a.attidentity <> '' then " IDENTITY             \
    " when d.oid is null then t.typdefault"                                                        \
    " when pg_catalog.current_setting('search_path') <> 'pg_catalog' and (" FOREIGN_FUNCTIONS      \
    " or pg_catalog.current_setting('standard_conforming_strings') <> 'on'"                        \
    " or pg_catalog.current_setting('DateStyle') !~ '^ISO')"                                       \
    " then null when " ONE_SEQUENCE                                                                \
    " then pg_catalog.regexp_replace(pg_catalog.pg_get_expr(d.adbin, 0),"                          \
    " $$nextval\\('([^']|'')*'::regclass\\)$$, " DRAWN ", 'g')"                                    \
    " else pg_catalog.pg_get_expr(d.adbin, 0) end"
#define EXPRESSED                                                                                  \
    "pg_catalog.concat(coalesce(pg_catalog.hashtextextended(coalesce(d.adbin::pg_catalog.text,"    \
    " t.typdefaultbin::pg_catalog.text, pg_catalog.concat(a.attidentity)), 0), 0))"

/* The cell PX_SCHEMA_PARTS: for each unique index of a partition the names of the partition, of the
 * index and of the table's index, and the partition's schema, if it is not the table's. */
#define PARTS                                                                                      \
    "(with recursive part(oid, root) as (select i.indexrelid, i.indexrelid"                        \
    " from pg_catalog.pg_index i where i.indrelid = c.oid and i.indisunique"                       \
    " and c.relkind = 'p' union select h.inhrelid, p.root from part p cross join lateral"          \
    " (select h.inhrelid from pg_catalog.pg_inherits h where h.inhparent = p.oid offset 0) h)"     \
    " select pg_catalog.string_agg(pg_catalog.concat_ws(pg_catalog.chr(1), t.relname, x.relname,"  \
    " r.relname, (select nullif(s.nspname, c.nspname) from pg_catalog.pg_namespace s"              \
    " where s.oid = t.relnamespace)), pg_catalog.chr(2)) from part p join pg_catalog.pg_index i"   \
    " on i.indexrelid = p.oid join pg_catalog.pg_class t on t.oid = i.indrelid"                    \
    " join pg_catalog.pg_class x on x.oid = p.oid join pg_catalog.pg_class r on r.oid = p.root"    \
    " where p.oid <> p.root)"
/* 1249 is pg_attribute, 1259 pg_class, 2606 pg_constraint and 2610 pg_index, in every PostgreSQL.
 */
#define SYSTEM_COLUMNS                                                                             \
    "(select pg_catalog.string_agg(pg_catalog.concat(s.attrelid, '.', s.attname), ' '"             \
    " order by s.attrelid, s.attnum) from pg_catalog.pg_attribute s"                               \
    " where s.attrelid in (1249, 1259, 2606, 2610) and s.attnum > 0 and not s.attisdropped)"
/* The cell PX_SCHEMA_EQUALITY. See OWN_CASTS for casts, OWN_NAMES for names of types. */
#define EQUALITY                                                                                   \
    "pg_catalog.concat(case when exists (select from pg_catalog.pg_collation l where l.oid = "     \
    "a.attcollation"                                                                               \
    " and not l.collisdeterministic) then 'false'"                                                 \
    " when exists (select from pg_catalog.pg_operator o where o.oprname = '=' and o.oid >= 16384"  \
    " and (a.atttypid in (o.oprleft, o.oprright) or (o.oprleft < 16384 and o.oprright < 16384)))"  \
    " then 'own'"                                                                                  \
    " when c.granted then 'granted'"                                                               \
    " when exists (select from cascaded f where f.root = c.oid and f.attname = a.attname)"         \
    " then 'cascaded' else 'true' end, case when exists (select from own_casts k"                  \
    " where k.casttarget = a.atttypid) then ' into'"                                               \
    " when exists (select from own_casts) then ' elsewhere' end,"                                  \
    " case when exists (select from own_names y where not y.rows"                                  \
    " or a.atttypid in (25, 1042, 1043)) then '+'"                                                 \
    " when exists (select from own_names) then '~' end,"                                           \
    " case when exists (select from pg_catalog.pg_operator o where o.oprname in ('+', '-')"        \
    " and o.oprleft = 0 and o.oid >= 16384) then '-' end)"
/* The database's own types with names of types that casts of keys name. A row type matters only to
 * columns of text. */
#define NAMES_OF_TYPES                                                                             \
    "('bool', 'bpchar', 'bytea', 'date', 'float4', 'float8', 'int2', 'int4', 'int8', 'name',"      \
    " 'numeric', 'text', 'timestamp', 'timestamptz', 'uuid', 'varchar')"
#define IS_OWN_NAME "typname in " NAMES_OF_TYPES " and x.typnamespace <> 11"
#define OWN_NAMES                                                                                  \
    " own_names as materialized (select x.typtype = 'c' and not exists (select from"               \
    " pg_catalog.pg_cast k where k.castsource = x.oid) as rows from pg_catalog.pg_type x"          \
    " where x." IS_OWN_NAME ")"
/* A number that changes when a type of the database's own is made, renamed or dropped, for a
 * statement that casts to one may then be described otherwise. Row types of tables, which come and
 * go, do not count. It is a hash of the sum of the types' transactions, counted from the first. */
#define TYPES_VERSION                                                                              \
    "pg_catalog.hashtextextended(pg_catalog.concat_ws(' ', pg_catalog.count(*),"                   \
    " pg_catalog.count(*) * pg_catalog.age('3'::pg_catalog.xid)"                                   \
    " - pg_catalog.sum(pg_catalog.age(x.made))), 0) from (select t.xmin from pg_catalog.pg_type t" \
    " where t.oid >= 16384 and t.typtype in ('d', 'e', 'r') union all select c.xmin from"          \
    " pg_catalog.pg_class c where c.oid >= 16384 and c.relkind = 'c') x(made)"
/* Casts between PostgreSQL's own types that it did not come with: what it came with was written by
 * no later transaction than 2. A cast into a string by the types' own functions does not count: it
 * makes what an assignment makes without it, or the server refuses that. */
#define OWN_CASTS                                                                                  \
    " own_casts as materialized (select k.casttarget from pg_catalog.pg_cast k"                    \
    " where (k.oid >= 16384 or k.xmin not in ('0', '1', '2'))"                                     \
    " and k.castsource < 16384 and k.casttarget < 16384"                                           \
    " and not (k.castmethod = 'i' and k.casttarget in (25, 1042, 1043)))"
#define IS_FIRST                                                                                   \
    "not exists (select from pg_catalog.pg_attribute b where b.attrelid = c.oid"                   \
    " and b.attnum > 0 and b.attnum < a.attnum and not b.attisdropped)"

/* Appends whether an INSERT fires triggers, or runs functions of the database's own if any of these
 * may change a session. */
static void add_code(pgw_buf *sql)
{
    pgw_buf_add_str(sql, "coalesce(f.by_insert, false) or"
                         " ((select q.says from quiet q) <> 't' and ");
    px_runs_own_condition(sql);
    pgw_buf_add_byte(sql, ')');
}

/* The tables of all patterns. The array, and bounds that all oids keep, have the planner expect one
 * row: expecting one for each of twenty patterns takes twice the time, and has a session's question
 * compiled (jit), for a second. */
#define FEW "(select pg_catalog.unnest((select pg_catalog.array_agg(x.oid) from matched x)) as oid)"

/* Appends the WITH clause, which looks up once what is the same for all columns of a table. Numbers
 * become text, and text numbers, by functions that no cast of the database's own changes. */
static void add_relations(const cfg_config *config, pgw_buf *sql)
{
    pgw_buf_add_str(sql, "with recursive wanted(nspname, relname) as (values ");
    add_tables(config, sql);
    pgw_buf_add_byte(sql, ')');
    add_matched(config, "wanted", sql);
    pgw_buf_add_str(sql, ", ours as materialized (select n.nspname, c.relname, c.oid, c.relkind,"
                         " c.relrowsecurity from wanted w join pg_catalog.pg_namespace n"
                         " on n.nspname = w.nspname join pg_catalog.pg_class c"
                         " on c.relnamespace = n.oid and c.relname = w.relname"
                         " and c.relkind in ('r', 'p', 'v', 'm', 'f')");
    if (config->pattern_count > 0)
        pgw_buf_add_str(sql, " union all select n.nspname, c.relname, c.oid, c.relkind,"
                             " c.relrowsecurity from " FEW " m join pg_catalog.pg_class c"
                             " on c.oid = m.oid and m.oid > 0 and m.oid < 4294967295"
                             " join pg_catalog.pg_namespace n on n.oid = c.relnamespace");
    pgw_buf_add_str(sql, ")," TREE "," MET ",");
    px_own_functions(sql);
    pgw_buf_add_str(sql, ", quiet(says) as materialized (select ");
    px_quiet_expression(sql);
    pgw_buf_add_str(sql, "), code(expressions, casts, calls) as materialized"
                         " (select case when q.says = 't' then false else ");
    px_expressions_run_condition(sql);
    pgw_buf_add_str(sql, " end, case when q.says = 't' then false else ");
    px_casts_run_condition(sql);
    pgw_buf_add_str(sql, " end, ");
    px_own_calls_condition(sql);
    pgw_buf_add_str(sql, " from quiet q)," FIRED "," CASCADED "," OWN_CASTS "," OWN_NAMES
                         ", own_types(version) as materialized (select " TYPES_VERSION ")"
                         ", relations as materialized (select c.*, (select pg_catalog.concat("
                         "pg_catalog.count(*), ' ', pg_catalog.max(fn.oid::pg_catalog.int8)"
                         " filter (where " IS_OWN_TRIGGER ")) from pg_catalog.pg_trigger g"
                         " join pg_catalog.pg_proc fn on fn.oid = g.tgfoid"
                         " join pg_catalog.pg_language l on l.oid = fn.prolang"
                         " where g.tgrelid = c.oid and not g.tgisinternal) as triggers, ");
    add_code(sql);
    pgw_buf_add_str(sql, " as triggers_insert, " RULES("3"));
    pgw_buf_add_str(sql, " as rules_insert, case when f.by_update or " RULES("2"));
    pgw_buf_add_str(
        sql, " then 't' when f.behind_update or " REFERRED " then 'd' else 'f' end as on_update,"
             " case when f.changes then 't' when f.moves then 'u' else 'f' end as changes, ");
    px_reads_settings_condition(sql);
    pgw_buf_add_str(sql, " as reads_settings, " KEY_COLUMNS ", " KEY_NAME ", " GRANTED
                         " from ours c left join fired f on f.root = c.oid)");
}

void px_schema_query(const cfg_config *config, pgw_buf *sql)
{
    add_relations(config, sql);
    pgw_buf_add_str(
        sql,
        " select c.nspname::pg_catalog.text, c.relname::pg_catalog.text, pg_catalog.concat(c.oid), "
        "pg_catalog.concat(c.relkind, " MIGRATED "),"
        " c.triggers, c.triggers_insert::pg_catalog.text, "
        "c.rules_insert::pg_catalog.text, "
        "c.on_update,"
        " c.relrowsecurity::pg_catalog.text, c.changes, a.attname::pg_catalog.text, "
        "pg_catalog.concat(a.attnum),"
        " pg_catalog.concat(a.atttypid),"
        " pg_catalog.concat(a.atttypmod), pg_catalog.format_type(a.atttypid, a.atttypmod), "
        "(t.typtype = "
        "'d')::pg_catalog.text,"
        " (a.attnotnull or t.typnotnull)::pg_catalog.text,"
        " (a.atthasdef or a.attidentity <> '' or t.typdefault is not "
        "null)::pg_catalog.text, " SEQUENCE ","
        " (a.attgenerated <> '')::pg_catalog.text,"
        " " EQUALITY ", " COMPUTED ", " KEY ", " IDENTITY_AND_INDEX ", " EXPRESSION ", " EXPRESSED
        ", (select pg_catalog.concat(q.says, case when k.expressions then '+'"
        " when k.casts then '~' end, case when k.calls then '=' end, ' ', y.version)"
        " from quiet q cross join code k cross join own_types y), "
        "c.reads_settings::pg_catalog.text, case when " IS_FIRST " then " PARTS
        " end, case when " IS_FIRST
        " then pg_catalog.concat((select l.relnatts from pg_catalog.pg_class l"
        " where l.oid = c.oid), ' ', " SYSTEM_COLUMNS ") end from relations c"
        " join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0"
        " and not a.attisdropped"
        " join pg_catalog.pg_type t on t.oid = a.atttypid"
        " left join pg_catalog.pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum"
        " order by c.nspname, c.relname, a.attnum");
}

/* The rows of the catalog that decide what px_schema_query() says: each version of a row has its
 * place and its transaction. `named` are all relations of the configured names, `ours` those in the
 * right schema, `tree` those and their descendants. */
static const struct {
    const char *key, *from;
} versions[] = {
    {"x.oid", "pg_class x where x.oid in (select oid from named)"},
    {"x.oid", "pg_namespace x where x.oid in (select relnamespace from named)"},
    {"x.attrelid, x.attnum", "pg_attribute x join ours on x.attrelid = ours.oid and x.attnum > 0"},
    {"x.oid", "pg_type x where x.oid in (select a.atttypid from pg_catalog.pg_attribute a"
              " join ours on a.attrelid = ours.oid and a.attnum > 0)"},
    {"x.oid", "pg_type x where x." IS_OWN_NAME},
    {"x.oid", "pg_cast x where x.oid < 16384 and x.xmin not in ('0', '1', '2')"},
    {"x.oid", "pg_operator x where x.oprname = '=' and x.oid >= 16384"},
    {"x.oid", "pg_attrdef x join ours on x.adrelid = ours.oid"},
    {"x.indexrelid", "pg_index x join tree on x.indrelid = tree.oid"},
    {"x.oid", "pg_constraint x join ours on x.conrelid = ours.oid"},
    {"x.oid", "pg_rewrite x join ours on x.ev_class = ours.oid"},
    {"x.oid", "pg_policy x join ours on x.polrelid = ours.oid"},
    {"x.oid", "pg_trigger x join tree on x.tgrelid = tree.oid"},
    {"x.inhrelid, x.inhparent", "pg_inherits x join tree on x.inhparent = tree.oid"},
};

/* The catalogs whose rows may change what px_quiet_expression() says. The sum of the rows'
 * transactions, counted from the first, is had cheaply from their age. */
static const char *const stored[] = {"pg_proc",   "pg_rewrite", "pg_attrdef",   "pg_constraint",
                                     "pg_policy", "pg_trigger", "pg_extension", "pg_operator",
                                     "pg_cast",   "pg_amproc"};

#define NAMED                                                                                      \
    "select c.oid, c.relnamespace, n.nspname, c.relname"                                           \
    " from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where "

/* Appends `named`, `ours` and `tree`. 16384 is the first oid that is not PostgreSQL's own. An index
 * with a pattern's name counts only if it has the name of one of the pattern's tables. */
static void add_versioned(const cfg_config *config, pgw_buf *sql)
{
    pgw_buf_add_byte(sql, ')');
    add_matched(config, "w", sql);
    pgw_buf_add_str(sql, ", named as materialized (" NAMED
                         "c.relname in (select w.relname from w) and c.relpersistence <> 't'");
    for (size_t i = 0; i < config->pattern_count; i++) {
        pgw_buf_add_str(sql, " union " NAMED);
        add_beginning("c.relname", config->tables[config->table_count + i].name, sql);
        pgw_buf_add_str(sql, " and c.relpersistence <> 't' and c.oid >= 16384"
                             " and (c.relkind not in ('i', 'I') or c.relname in (select x.relname"
                             " from matched m join pg_catalog.pg_class x on x.oid = m.oid))");
    }
    pgw_buf_add_str(sql, "), ours as materialized (select named.oid from named join w using"
                         " (nspname, relname)");
    pgw_buf_add_str(sql, config->pattern_count > 0 ? " union select m.oid from matched m" : "");
    pgw_buf_add_str(sql, ")," TREE);
}

static const char unlimited[] =
    "coalesce((select r.rolconnlimit < 0 from pg_catalog.pg_roles r"
    " where r.rolname = session_user), true) and coalesce((select d.datconnlimit < 0"
    " from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()), true)";

/* A hash of the schemas in which relations of the configured names are. */
static const char places[] =
    "coalesce(pg_catalog.hashtextextended((select pg_catalog.string_agg(pg_catalog.concat_ws(' ', "
    "named.oid,"
    " x.oid, x.xmin, x.ctid), ',' order by named.oid) from named"
    " join pg_catalog.pg_namespace x on x.oid = named.relnamespace), 0), 0)";

void px_schema_fingerprint_query(const cfg_config *config, pgw_buf *sql)
{
    pgw_buf_add_str(sql, "with recursive w(nspname, relname) as (values ");
    add_tables(config, sql);
    add_versioned(config, sql);
    pgw_buf_addf(
        sql,
        " select pg_catalog.concat(pg_catalog.hashtextextended(pg_catalog.string_agg("
        "v.version, ',' order by v.version), 0)), (%s)::pg_catalog.text, pg_catalog.concat(%s)"
        " from (",
        unlimited, places);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        pgw_buf_addf(sql,
                     "%sselect pg_catalog.concat_ws(' ', %zu, x.tableoid, %s, x.xmin, x.ctid)"
                     " from pg_catalog.%s",
                     i > 0 ? " union all " : "", i, versions[i].key, versions[i].from);
    pgw_buf_add_str(sql,
                    " union all select pg_catalog.concat('types ', (select " TYPES_VERSION "))");
    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++)
        pgw_buf_addf(
            sql,
            " union all select pg_catalog.concat_ws(' ', 'stored', %zu,"
            " pg_catalog.count(*), pg_catalog.count(*) * pg_catalog.age('3'::pg_catalog.xid)"
            " - pg_catalog.sum(pg_catalog.age(x.xmin)))"
            " from pg_catalog.%s x where x.oid >= 16384",
            i, stored[i]);
    pgw_buf_add_str(sql, ") v(version)");
}

enum { MOST_TOLD = 100 }; /* the most tables that one command, or the log, tells of */

/* Appends WITH: `w` has the configured names, `matched` the tables of patterns. */
static void add_names(const cfg_config *config, pgw_buf *sql)
{
    pgw_buf_add_str(sql, "with w(nspname, relname) as (values ");
    add_tables(config, sql);
    pgw_buf_add_byte(sql, ')');
    add_matched(config, "w", sql);
}

void px_schema_first_query(const cfg_config *config, pgw_buf *sql)
{
    add_names(config, sql);
    pgw_buf_addf(sql,
                 " select n.nspname::pg_catalog.text, c.relname::pg_catalog.text,"
                 " a.attname::pg_catalog.text from pg_catalog.pg_class c"
                 " join pg_catalog.pg_namespace n on n.oid = c.relnamespace"
                 " join pg_catalog.pg_index i on i.indrelid = c.oid and i.indisprimary"
                 " join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]"
                 " where c.relkind in ('r', 'p') and ((n.nspname, c.relname) in"
                 " (select w.nspname, w.relname from w where w.relname is not null)%s)"
                 " order by c.oid limit %d",
                 config->pattern_count > 0 ? " or c.oid in (select m.oid from matched m)" : "",
                 MOST_TOLD);
}

void px_schema_count_query(const cfg_config *config, pgw_buf *sql)
{
    add_names(config, sql);
    pgw_buf_addf(sql,
                 " select pg_catalog.count(*)::pg_catalog.text from pg_catalog.pg_class c"
                 " join pg_catalog.pg_namespace n on n.oid = c.relnamespace"
                 " where c.relkind in ('r', 'p') and ((n.nspname, c.relname) in"
                 " (select w.nspname, w.relname from w where w.relname is not null)%s)",
                 config->pattern_count > 0 ? " or c.oid in (select m.oid from matched m)" : "");
}

void px_schema_unspread_query(const cfg_config *config, pgw_buf *sql)
{
    const cfg_table *patterns = config->tables + config->table_count;
    add_names(config, sql);
    pgw_buf_add_str(
        sql,
        " select n.nspname::pg_catalog.text, c.relname::pg_catalog.text from pg_catalog.pg_class c"
        " join pg_catalog.pg_namespace n on n.oid = c.relnamespace where (");
    for (size_t i = 0; i < config->pattern_count; i++) {
        pgw_buf_add_str(sql, i > 0 ? " or " : "");
        add_covered(&patterns[i], sql);
    }
    pgw_buf_addf(sql,
                 ") and c.relkind in ('r', 'p') and not c.relispartition"
                 " and c.relpersistence <> 't' and (n.nspname, c.relname) not in"
                 " (select w.nspname, w.relname from w where w.relname is not null)"
                 " and c.oid not in (select m.oid from matched m) order by c.oid limit %d",
                 MOST_TOLD);
}
