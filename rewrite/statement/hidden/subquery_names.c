#include "rewrite/statement/hidden/subquery_names.h"

#include <string.h>

struct rw_subquery_named {
    struct rw_subquery_named *next;
    int32_t location;
    size_t count; /* how many names call the table: one, or more with its schema and database */
    const rw_query_scope_item *item;
};

static void add(rw_subquery_names *names, int32_t location, size_t count,
                const rw_query_scope_item *item, pgw_arena *arena)
{
    struct rw_subquery_named *it = pgw_arena_alloc(arena, sizeof *it);
    *it = (struct rw_subquery_named){names->list, location, count, item};
    names->list = it;
}

void rw_subquery_names_note(rw_subquery_names *names, const rw_query_scope *scope,
                            const PgQuery__ColumnRef *at, rw_query_scope_item *item,
                            pgw_arena *arena)
{
    if (item->relation == NULL || item->relation->alias != NULL || at->n_fields < 2)
        return;
    if (at->n_fields > 2)
        rw_query_scope_note_hidden(scope, item);
    add(names, at->location, at->n_fields - 1, item, arena);
}

/* Of two tables by one name PostgreSQL locks the first. */
static void note_lock(rw_subquery_names *names, const rw_query_scope *scope,
                      const PgQuery__RangeVar *locked, pgw_arena *arena)
{
    const rw_query_scope_item *item = scope->items;
    while (item != NULL && strcmp(item->called, locked->relname) != 0)
        item = item->next;
    if (item != NULL)
        add(names, locked->location, 1, item, arena);
}

void rw_subquery_names_note_locks(rw_subquery_names *names, const rw_query_scope *scope,
                                  const PgQuery__SelectStmt *query, pgw_arena *arena)
{
    for (size_t i = 0; i < query->n_locking_clause; i++) {
        const PgQuery__LockingClause *clause = query->locking_clause[i]->locking_clause;
        for (size_t k = 0; k < clause->n_locked_rels; k++)
            note_lock(names, scope, clause->locked_rels[k]->range_var, arena);
    }
}

void rw_subquery_names_put(const rw_subquery_names *names, rw_edit_writer *texts)
{
    for (const struct rw_subquery_named *it = names->list; it != NULL; it = it->next) {
        if (!rw_query_scope_is_wrapped(it->item))
            continue;
        if (rw_query_scope_is_renamed(it->item))
            rw_edit_put_called(texts, it->location, it->count, it->item);
        else if (it->count > 1)
            rw_edit_cut_names(texts, it->location, it->count - 1);
    }
}
