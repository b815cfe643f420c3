#include "rewrite/statement/hidden/named_hash.h"

#include "protocol/utf8.h"

#include <string.h>

typedef struct rw_named {
    struct rw_named *next;
    const PgQuery__ColumnRef *at;
    const rw_query_scope_item *item;  /* the item whose hash column the name would find */
    const rw_query_scope_item *other; /* another item that the name may mean; NULL: none */
    bool many;                        /* the name may mean more than one other item */
} rw_named;

/* Whether `name` is the hash column of the item's table, and that is strict. */
static bool is_hash(const rw_query_scope_item *item, const char *name)
{
    const rw_table *table = item->table;
    return table != NULL && table->strict && table->hash_column < table->column_count &&
           strcmp(table->columns[table->hash_column].name, name) == 0;
}

static const char *last_name(const PgQuery__ColumnRef *at)
{
    return at->n_fields > 0 ? rw_name_of_node(at->fields[at->n_fields - 1]) : "";
}

/* --- what a name means --- */

/* Whether the item may have a column `name`. Columns of tables that are not configured are not
 * known. */
static bool may_have(const rw_query_scope_item *item, const char *name)
{
    return item->table == NULL ||
           rw_table_column(item->table, pgw_slice_str(name)) < item->table->column_count;
}

/* The name alone: where it is found first. True: the search is over. */
static bool look_in(const rw_query_scope *scope, const char *name, rw_named *out)
{
    for (const rw_query_scope_item *it = scope->items; it != NULL; it = it->next) {
        if (is_hash(it, name)) {
            out->item = it;
        } else if (may_have(it, name)) {
            out->many |= out->other != NULL || it->called[0] == '\0';
            out->other = it;
        }
    }
    return out->item != NULL;
}

/* `t.name`, perhaps with a schema before it */
static bool find_in(const rw_named_hashes *hashes, const rw_query_scope *scope, rw_named *out)
{
    size_t last = out->at->n_fields - 1;
    const char *of = rw_name_of_node(out->at->fields[last - 1]);
    const char *schema = last > 1 ? rw_name_of_node(out->at->fields[last - 2]) : "";
    out->item = rw_query_scope_find(scope, schema, of);
    if (out->item == NULL)
        out->item = rw_query_scope_find(hashes->inserted, schema, of);
    bool ambiguous = out->item != NULL && out->item->twin && schema[0] == '\0';
    return out->item != NULL && !ambiguous && is_hash(out->item, last_name(out->at));
}

static bool find(const rw_named_hashes *hashes, const rw_query_scope *scope, rw_named *out)
{
    if (out->at->n_fields > 1)
        return find_in(hashes, scope, out);
    for (; scope != NULL; scope = scope->outer)
        if (look_in(scope, last_name(out->at), out))
            return true;
    return hashes->inserted != NULL && look_in(hashes->inserted, last_name(out->at), out);
}

void rw_named_note(rw_named_hashes *hashes, const rw_query_scope *scope,
                   const PgQuery__ColumnRef *at)
{
    rw_named named = {.at = at};
    if (last_name(at)[0] == '\0' || !find(hashes, scope, &named))
        return;
    rw_named **end = &hashes->list;
    /* The list is in the order of the text: the first reference is reported. */
    while (*end != NULL)
        end = &(*end)->next;
    *end = pgw_arena_alloc(hashes->reading->arena, sizeof named);
    **end = named;
}

/* --- what is said --- */

static pgw_error *deny(rw_named_hashes *hashes, const char *sqlstate, const char *message,
                       int32_t location)
{
    pgw_error *error = hashes->reading->error;
    hashes->denied = true;
    pgw_fail(error, sqlstate, "%s", message);
    if (location >= 0)
        error->position =
            pgw_characters(hashes->text, (size_t)location, hashes->reading->env->utf8) + 1;
    return error;
}

void rw_named_call(rw_named_hashes *hashes, const rw_query_scope_item *row, const char *name,
                   int32_t location)
{
    if (hashes->denied || !is_hash(row, name))
        return;
    char *message = pgw_arena_printf(hashes->reading->arena, "function %s(%s) does not exist", name,
                                     row->table->name);
    pgw_error_hint(deny(hashes, "42883", message, location),
                   "No function matches the given name and argument types. "
                   "You might need to add explicit type casts.");
}

void rw_named_selection(rw_named_hashes *hashes, const rw_query_scope_item *row, const char *name,
                        int32_t location)
{
    if (hashes->denied || !is_hash(row, name))
        return;
    char *message =
        pgw_arena_printf(hashes->reading->arena, "column %s.%s does not exist", row->called, name);
    deny(hashes, "42703", message, location);
}

void rw_named_listed(rw_named_hashes *hashes, const rw_table *table, const char *name)
{
    if (hashes->denied || !is_hash(&(rw_query_scope_item){.table = table}, name))
        return;
    char *message =
        pgw_arena_printf(hashes->reading->arena, "column \"%s\" of relation \"%s\" does not exist",
                         name, table->name);
    deny(hashes, "42703", message, -1);
}

static void deny_named(rw_named_hashes *hashes, const rw_named *named)
{
    const PgQuery__ColumnRef *at = named->at;
    pgw_arena *arena = hashes->reading->arena;
    if (named->other != NULL) {
        char *message =
            pgw_arena_printf(arena, "column reference \"%s\" is ambiguous", last_name(at));
        pgw_error_hint(deny(hashes, "42702", message, at->location),
                       "Write the table's name before it.");
        return;
    }
    const char *message =
        at->n_fields == 1
            ? pgw_arena_printf(arena, "column \"%s\" does not exist", last_name(at))
            : pgw_arena_printf(arena, "column %s.%s does not exist",
                               rw_name_of_node(at->fields[at->n_fields - 2]), last_name(at));
    deny(hashes, "42703", message, at->location);
}

/* Whether the reference has its table's name before it, so that it can mean nothing else. */
static bool is_certain(const rw_named *it)
{
    const PgQuery__RangeVar *relation = it->item->relation;
    bool renamed = relation != NULL && relation->alias != NULL && relation->alias->n_colnames > 0;
    return it->at->n_fields > 1 && !renamed;
}

void rw_named_judge(rw_named_hashes *hashes, rw_edit_writer *texts)
{
    for (const rw_named *it = hashes->list; it != NULL; it = it->next)
        if (is_certain(it) || !rw_query_scope_is_wrapped(it->item)) {
            if (it->other != NULL && !it->many)
                rw_edit_put_qualifier(texts, it->at, it->other);
            else if (!hashes->denied)
                deny_named(hashes, it);
        }
}
