#include "proxy/schema.h"

#include "proxy/quiet.h"

#include <string.h>

/* A string constant, right whatever standard_conforming_strings says. */
static void add_constant(pgw_buf *sql, const char *text)
{
    pgw_buf_add_str(sql, strchr(text, '\\') ? " E'" : "'");
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            pgw_buf_add_byte(sql, *text);
        pgw_buf_add_byte(sql, *text);
    }
    pgw_buf_add_byte(sql, '\'');
}

static void add_names(const cfg_config *config, pgw_buf *sql)
{
    for (size_t i = 0; i < config->table_count; i++) {
        const cfg_table *table = &config->tables[i];
        pgw_buf_add_str(sql, i == 0 ? "(" : ", (");
        add_constant(sql, table->schema ? table->schema : "public");
        pgw_buf_add_str(sql, ", ");
        add_constant(sql, table->name);
        pgw_buf_add_byte(sql, ')');
    }
    if (config->table_count == 0)
        pgw_buf_add_str(sql, "(null, null)");
}

/* Rows of a partitioned table fire the triggers of the partition they go to. A constraint trigger
 * that is initially deferred changes no row and no count, and a foreign key's is internal. */
#define TRIGGERS(events)                                                                           \
    "exists (select from pg_catalog.pg_trigger g"                                                  \
    " where (g.tgrelid = c.oid or g.tgrelid in"                                                    \
    " (select p.relid from pg_catalog.pg_partition_tree(c.oid) p))"                                \
    " and not g.tgisinternal and g.tgenabled <> 'D' and (g.tgtype & " events ") <> 0"              \
    " and not g.tginitdeferred)"

#define RULES(event)                                                                               \
    "exists (select from pg_catalog.pg_rewrite r where r.ev_class = c.oid"                         \
    " and r.ev_type = '" event "')"

#define ON_INSERT TRIGGERS("4") "::text, " RULES("3") "::text"
#define ON_UPDATE "(" TRIGGERS("16") " or " RULES("2") ")::text"

#define SEQUENCE                                                                                   \
    "(a.attidentity <> '' or coalesce(pg_catalog.strpos("                                          \
    "pg_catalog.pg_get_expr(d.adbin, d.adrelid), 'nextval(') > 0, false)"                          \
    " or coalesce(pg_catalog.strpos(t.typdefault, 'nextval(') > 0, false))::text"

/* Whether the expression of a default or a generated column is more than constants, the clock, a
 * random or a sequence's number, and functions of PostgreSQL's own that look at nothing but their
 * arguments. Making text of a value looks at settings, though such a function is marked immutable.
 */
#define COMPUTED                                                                                   \
    "coalesce((select e.text like '%COERCEVIAIO%' or exists (select from"                          \
    " pg_catalog.regexp_matches(e.text, 'funcid ([0-9]+)', 'g') m"                                 \
    " join pg_catalog.pg_proc f on f.oid = (m.m)[1]::pg_catalog.oid"                               \
    " where not (f.provolatile = 'i' and f.pronamespace = 'pg_catalog'::pg_catalog.regnamespace"   \
    " and f.proname !~ 'out$')"                                                                    \
    " and f.proname !~ '^(now|.*_timestamp|timezone|date|timestamp|timestamptz|nextval|random"     \
    "|.*uuid.*)$') from (values (coalesce(d.adbin, t.typdefaultbin)::text)) e(text)), "            \
    "false)::text"

#define KEY                                                                                        \
    "coalesce((select k.place from pg_catalog.pg_index i,"                                         \
    " pg_catalog.unnest(i.indkey) with ordinality k(attnum, place)"                                \
    " where i.indrelid = c.oid and i.indisprimary and k.attnum = a.attnum), 0)::text"

void px_schema_query(const cfg_config *config, pgw_buf *sql)
{
    pgw_buf_add_str(
        sql,
        "select n.nspname::text, c.relname::text,"
        " c.oid::pg_catalog.int8::text, c.relkind::text, (select pg_catalog.count(*) from"
        " pg_catalog.pg_trigger g where g.tgrelid = c.oid and not g.tgisinternal)::text,"
        " " ON_INSERT ", " ON_UPDATE ","
        " c.relrowsecurity::text, a.attname::text, a.attnum::text, "
        "a.atttypid::pg_catalog.int8::text,"
        " a.atttypmod::text, pg_catalog.format_type(a.atttypid, a.atttypmod), (t.typtype = "
        "'d')::text,"
        " (a.attnotnull or t.typnotnull)::text,"
        " (a.atthasdef or a.attidentity <> '' or t.typdefault is not null)::text, " SEQUENCE ","
        " (a.attgenerated <> '')::text,"
        " coalesce((select l.collisdeterministic from pg_catalog.pg_collation l"
        " where l.oid = a.attcollation), true)::text, " COMPUTED ", " KEY ", ");
    px_quiet_condition(sql);
    pgw_buf_add_str(sql, "::text from (values ");
    add_names(config, sql);
    pgw_buf_add_str(
        sql,
        ") as w(nspname, relname)"
        " join pg_catalog.pg_namespace n on n.nspname = w.nspname::pg_catalog.name"
        " join pg_catalog.pg_class c on c.relnamespace = n.oid"
        " and c.relname = w.relname::pg_catalog.name and c.relkind in ('r', 'p', 'v', 'm', 'f')"
        " join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0"
        " and not a.attisdropped"
        " join pg_catalog.pg_type t on t.oid = a.atttypid"
        " left join pg_catalog.pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum"
        " order by n.nspname, c.relname, a.attnum");
}
