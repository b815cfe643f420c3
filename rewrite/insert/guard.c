#include "rewrite/insert/guard.h"

#include <inttypes.h>
#include <string.h>

/* Operators are written with their schema, for search_path may hold others of the same name. The
 * divisor is no constant, or the planner would divide by it whatever comes. */
#define EQUALS " operator(pg_catalog.=) "
#define DIVIDE "1 operator(pg_catalog./) case when "

/* Bits of tgtype. */
enum { ON_INSERT = 1 << 2, ON_UPDATE = 1 << 4 };

static void add_constant(const char *text, pgw_buf *out)
{
    pgw_buf_add_str(out, strchr(text, '\\') ? "E'" : "'");
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            pgw_buf_add_byte(out, *text);
        pgw_buf_add_byte(out, *text);
    }
    pgw_buf_add_byte(out, '\'');
}

/* Of the table alone: triggers of partitions are fired for each row, which the count shows. */
static void add_triggers(const rw_insert *insert, pgw_buf *out)
{
    const rw_table *table = insert->table;
    int events = ON_INSERT | (insert->has_conflict ? ON_UPDATE : 0);
    pgw_buf_addf(out,
                 "not exists (select from pg_catalog.pg_trigger where tgrelid" EQUALS "%" PRIu32
                 " and not tgisinternal and not tginitdeferred"
                 " and tgenabled operator(pg_catalog.<>) 'D'"
                 " and tgtype operator(pg_catalog.&) %d operator(pg_catalog.<>) 0)",
                 table->oid, events);
}

/* A name as an element of an array's text. */
static void add_element(const char *name, pgw_buf *out)
{
    pgw_buf_add_byte(out, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"' || *name == '\\')
            pgw_buf_add_byte(out, '\\');
        pgw_buf_add_byte(out, *name);
    }
    pgw_buf_add_byte(out, '"');
}

/* The live columns' names in their order. (An aggregate would cost twice as much.) */
static void add_columns(const rw_table *table, pgw_buf *out)
{
    pgw_buf known = {0};
    for (size_t i = 0; i < table->column_count; i++) {
        pgw_buf_add_byte(&known, i == 0 ? '{' : ',');
        add_element(table->columns[i].name, &known);
    }
    pgw_buf_add_byte(&known, '}');
    pgw_buf_add_byte(&known, '\0');
    pgw_buf_addf(
        out,
        "array(select attname from pg_catalog.pg_attribute where attrelid" EQUALS "%" PRIu32
        " and attnum operator(pg_catalog.>) 0 and not attisdropped order by attnum)" EQUALS,
        table->oid);
    add_constant(known.ptr, out);
    pgw_buf_add_str(out, "::pg_catalog.name[]");
    pgw_buf_free(&known);
}

void rw_guard_conditions(const rw_insert *insert, pgw_buf *out)
{
    if (insert->table->oid == 0)
        return; /* the backend was not asked */
    pgw_buf_add_str(out, " and ");
    add_triggers(insert, out);
    if (!rw_guard_wanted(insert))
        return;
    pgw_buf_add_str(out, " and ");
    add_columns(insert->table, out);
}

bool rw_guard_wanted(const rw_insert *insert)
{
    return insert->list_made && insert->table->oid != 0;
}

void rw_guard_hash_before(const rw_table *table, pgw_buf *out)
{
    pgw_buf_add_str(out, "case when ");
    add_columns(table, out);
    pgw_buf_add_str(out, " then ");
}

/* concat() is stable, so that the planner does not try the cast. */
void rw_guard_hash_behind(const rw_table *table, pgw_buf *out)
{
    pgw_buf_addf(out, " else pg_catalog.concat('" RW_CHANGED "')::%s end",
                 table->hash_type == RW_HASH_INT8 ? "bigint" : "numeric");
}

void rw_guard_before(pgw_buf *out)
{
    pgw_buf_add_str(out, "with keyspread_rows as (");
}

void rw_guard_behind(uint64_t rows, pgw_slice conditions, pgw_buf *out)
{
    pgw_buf_add_str(out, "\nreturning 1) select " DIVIDE
                         "(select pg_catalog.count(*) from keyspread_rows)" EQUALS);
    pgw_buf_addf(out, "%" PRIu64, rows);
    pgw_buf_add_slice(out, conditions);
    pgw_buf_add_str(out, " then 1 else 0 end");
}
