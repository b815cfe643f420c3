#include "rewrite/statement/hidden/row_places.h"

#include "protocol/utf8.h"
#include "rewrite/lex/quote.h"
#include "rewrite/statement/tree/taken_name.h"

#include <string.h>

static bool is_in_parts(const rw_query_scope_item *item)
{
    return item != NULL && item->table != NULL && !item->made && item->table->in_parts &&
           !item->table->listed;
}

void rw_row_places_write(rw_row_places *places, const rw_query_scope_item *item)
{
    if (is_in_parts(item))
        places->written = item->table;
}

/* What a system column without a name before it is of, if there is one in parts: beside another one
 * that has it PostgreSQL takes the name for ambiguous. `only`: it stands there alone. */
static const rw_query_scope_item *bare_item(const rw_query_scope *scope, bool *only)
{
    while (scope != NULL && scope->items == NULL)
        scope = scope->outer;
    const rw_query_scope_item *item = scope != NULL ? scope->items : NULL;
    *only = item != NULL && item->next == NULL;
    while (item != NULL && !is_in_parts(item))
        item = item->next;
    return item;
}

static void note_ctid(rw_row_places *places, const PgQuery__ColumnRef *at)
{
    if (places->ctid == NULL)
        places->ctid = at;
}

/* A query, so that what is shown by it has the name of its column. */
static void put_table(rw_edit_writer *texts, const PgQuery__ColumnRef *at, const rw_table *table)
{
    pgw_buf text = {0};
    pgw_buf_add_str(&text, " (select pg_catalog.to_regclass(pg_catalog.format('%I.%I', ");
    rw_add_name_constant(&text, pgw_slice_str(table->schema));
    pgw_buf_add_str(&text, ", ");
    rw_add_name_constant(&text, pgw_slice_str(table->name));
    pgw_buf_add_str(&text, "))::pg_catalog.oid as tableoid) ");
    rw_edit_put_reference(texts, at, &text);
}

/* Whether `tableoid` alone may be something that the statement calls so; read once. */
static bool is_taken(rw_row_places *places)
{
    if (!places->read)
        places->taken = rw_takes_name(places->statement, "tableoid");
    places->read = true;
    return places->taken;
}

bool rw_row_places_note(rw_row_places *places, rw_edit_writer *texts, const rw_query_scope *scope,
                        const PgQuery__ColumnRef *at, const rw_query_scope_item *of)
{
    const char *name = at->n_fields > 0 ? rw_name_of_node(at->fields[at->n_fields - 1]) : "";
    bool sure = true;
    const rw_query_scope_item *item = at->n_fields == 1 ? bare_item(scope, &sure) : of;
    if (!is_in_parts(item))
        return false;
    bool placed = strcmp(name, "tableoid") == 0 && sure && !item->absent &&
                  (at->n_fields > 1 || !is_taken(places));
    if (placed)
        put_table(texts, at, item->table);
    else if (strcmp(name, "ctid") == 0)
        note_ctid(places, at);
    return placed;
}

void rw_row_places_select(rw_row_places *places, const PgQuery__ColumnRef *row,
                          const rw_query_scope_item *of, const char *name)
{
    if (is_in_parts(of) && strcmp(name, "ctid") == 0)
        note_ctid(places, row);
}

bool rw_row_places_judge(const rw_row_places *places, pgw_slice text, const pgw_reading *reading)
{
    if (places->ctid == NULL || places->written == NULL)
        return true;
    pgw_error *error = reading->error;
    pgw_fail(error, "0A000", "cannot tell rows of table \"%s\" by ctid", places->written->name);
    pgw_error_detail(error, "It is in partitions, and rows of two may have the same.");
    pgw_error_hint(error,
                   "Name rows by the key, or make the table with partitions: { buckets: … }.");
    error->position = pgw_characters(text, (size_t)places->ctid->location, reading->env->utf8) + 1;
    return false;
}
