#include "rewrite/insert/block.h"

#include <inttypes.h>

/* Calls of currval(), setval() and lastval() in a stored tree: their oids never change. */
#define CALLS "operator(pg_catalog.~) ':funcid (1575|1576|1765|2559) '"
/* Objects with lower oids are PostgreSQL's own. */
#define FOREIGN "operator(pg_catalog.>=) 16384"

/* Whether code that the database stores asks what was drawn. More than 500 views and rules are not
 * looked into: they count as asking. */
static const char asked[] =
    "exists (select from pg_catalog.pg_proc p where p.oid " FOREIGN
    " and (p.prosrc operator(pg_catalog.~*) 'currval|lastval|setval|restart'"
    " or coalesce(pg_catalog.to_jsonb(p) operator(pg_catalog.->>) 'prosqlbody', '') " CALLS "))"
    " or exists (select from pg_catalog.pg_rewrite r where r.oid " FOREIGN " offset 500)"
    " or exists (select from pg_catalog.pg_rewrite r where r.oid " FOREIGN
    " and r.ev_action::pg_catalog.text " CALLS ")"
    " or exists (select from pg_catalog.pg_attrdef d where d.oid " FOREIGN
    " and d.adbin::pg_catalog.text " CALLS ")"
    " or exists (select from pg_catalog.pg_trigger g where g.oid " FOREIGN
    " and g.tgqual::pg_catalog.text " CALLS ")";

/* Appends the question. concat() makes texts by the types' own functions, whatever casts the
 * database has of its own. */
void rw_block_question(const rw_table *table, size_t column, rw_block block, pgw_buf *sql)
{
    const rw_column *of = &table->columns[column];
    const char *type = of->type == PGW_INT2 ? "int2" : of->type == PGW_INT4 ? "int4" : "int8";
    pgw_buf_addf(
        sql,
        "select pg_catalog.concat(n), (select pg_catalog.concat("
        "pg_catalog.pg_relation_filenode(%" PRIu32 "))), pg_catalog.concat((%s)::pg_catalog.%s)"
        " from pg_catalog.generate_series(%zu, %zu) q(n)"
        " where pg_catalog.has_any_column_privilege(%" PRIu32 "::pg_catalog.oid, 'insert')",
        of->draws_from, of->default_text, type, block.first, block.first + block.count - 1,
        table->oid);
    if (!block.sure)
        pgw_buf_addf(sql, " and not (%s)", asked);
}
