#include "proxy/backend/postgres/check.h"

#include "protocol/frontend.h"
#include "protocol/types.h"
#include "rewrite/insert/guard.h"

#include <inttypes.h>

#define NAME PGW_LITERAL("keyspread check")
#define EQUALS " operator(pg_catalog.=) "
#define DIFFERS " operator(pg_catalog.<>) "
#define BITS " operator(pg_catalog.&) "

enum { OIDS = 1028 /* oid[] */ };

/* Bits of pg_trigger.tgtype: FOR EACH ROW and BEFORE. */
enum { ROW_BEFORE = 1 | 2 };

bool px_check_wanted(px_write_group *const *write_groups, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (write_groups[i]->told)
            return true;
    return false;
}

/* The events whose triggers count: INSERT, and UPDATE as well if a statement whose client was told
 * may update. */
static const char *events_of(px_write_group *const *write_groups, size_t count)
{
    bool updates = false;
    for (size_t i = 0; i < count; i++)
        updates = updates || (write_groups[i]->told && write_groups[i]->upserts);
    return updates ? "20" : "4"; /* Bits of tgtype: 4 is INSERT, 16 is UPDATE. */
}

/* The tables of a write group, or the functions of keyspread's own triggers on them, as arrays are
 * written; a table without one has the function 0, which is none. */
static void add_oids(const px_write_group *write_group, bool functions, pgw_buf *out)
{
    for (size_t i = 0; i < write_group->table_count; i++)
        pgw_buf_addf(out, i == 0 ? "{%" PRIu32 : ",%" PRIu32,
                     functions ? write_group->tables[i].filled_by : write_group->tables[i].oid);
    pgw_buf_add_byte(out, '}');
}

/* Triggers of partitions count, of any depth; rules of partitions are of no account; keyspread's
 * own trigger (`keyspread ddl --trigger`) leaves rows alone that have their hash. There are few
 * triggers that are fired so, and it is they whose tables are looked for: to look for all
 * partitions would take seven times as long. */
static void add_statement(const char *oids, const char *functions, const char *events, pgw_buf *out)
{
    pgw_buf_addf(
        out,
        "select case when exists (select from pg_catalog.pg_trigger g where not g.tgisinternal"
        " and g.tgenabled" DIFFERS "'D' and g.tgfoid" DIFFERS "all (%s)"
        " and g.tgtype" BITS "%d" EQUALS "%d and g.tgtype" BITS "%s" DIFFERS
        "0 and (g.tgrelid" EQUALS "any (%s) or exists (select from"
        " pg_catalog.pg_partition_ancestors(g.tgrelid) a where a" EQUALS "any (%s))))",
        functions, ROW_BEFORE, ROW_BEFORE, events, oids, oids);
    pgw_buf_addf(out,
                 " or exists (select from pg_catalog.pg_rewrite where ev_class" EQUALS "any (%s)"
                 " and ev_type" EQUALS "'3' and ev_enabled" DIFFERS "'D')"
                 " then pg_catalog.concat('" RW_CHANGED "')::pg_catalog.int8 else 1 end",
                 oids);
}

void px_check_write_text(px_write_group *const *write_groups, size_t count, pgw_buf *out)
{
    pgw_buf oids[2] = {{0}, {0}};
    for (int functions = 0; functions < 2; functions++) {
        pgw_buf_add_byte(&oids[functions], '\'');
        add_oids(write_groups[0], functions, &oids[functions]);
        pgw_buf_add_str(&oids[functions], "'::pg_catalog.oid[]");
        pgw_buf_add_byte(&oids[functions], '\0');
    }
    add_statement(oids[false].ptr, oids[true].ptr, events_of(write_groups, count), out);
    pgw_buf_free(&oids[false]);
    pgw_buf_free(&oids[true]);
}

void px_check_write_piped(px_write_group *const *write_groups, size_t count, bool prepares,
                          pgw_buf *out)
{
    static const uint32_t types[] = {OIDS, OIDS, PGW_INT2};
    const pgw_bind bind = {.statement = NAME};
    pgw_buf text = {0}, oids = {0}, functions = {0};
    if (prepares) {
        add_statement("$1", "$2", "$3", &text);
        pgw_write_close('S', NAME, out);
        pgw_certainly(pgw_write_parse(NAME, pgw_slice_buf(&text), types, 3, out));
    }
    add_oids(write_groups[0], false, &oids);
    add_oids(write_groups[0], true, &functions);
    const pgw_slice values[] = {pgw_slice_buf(&oids), pgw_slice_buf(&functions),
                                pgw_slice_str(events_of(write_groups, count))};
    pgw_certainly(pgw_write_bind_text(&bind, values, 3, out));
    pgw_write_execute(PGW_LITERAL(""), 0, out);
    pgw_buf_free(&text);
    pgw_buf_free(&oids);
    pgw_buf_free(&functions);
}
