#include "rewrite/statement/script/names.h"

#include "protocol/array.h"
#include "rewrite/statement/script/types.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

void rw_scope_add(rw_scope *scope, const char *name, rw_columns columns, pgw_arena *arena)
{
    rw_item **end = &scope->items;
    while (*end != NULL)
        end = &(*end)->next;
    *end = pgw_arena_alloc(arena, sizeof **end);
    **end = (rw_item){NULL, name, columns};
}

rw_columns rw_columns_of_table(const rw_table *table, pgw_arena *arena)
{
    rw_columns out = {pgw_arena_alloc(arena, table->column_count * sizeof(rw_named) + 1), 0};
    for (size_t i = 0; i < table->column_count; i++)
        if (i != table->hash_column || table->shows_hash)
            out.list[out.count++] =
                (rw_named){table->columns[i].name, table->columns[i].type, NULL};
    return out;
}

void rw_columns_rename(rw_columns columns, PgQuery__Node *const *names, size_t count)
{
    for (size_t i = 0; i < count && i < columns.count; i++)
        columns.list[i].name = rw_node_name(names[i]);
}

void rw_columns_append(rw_columns *to, rw_columns more, pgw_arena *arena)
{
    rw_named *list = pgw_arena_alloc(arena, (to->count + more.count) * sizeof *list + 1);
    for (size_t i = 0; i < to->count; i++)
        list[i] = to->list[i];
    for (size_t i = 0; i < more.count; i++)
        list[to->count + i] = more.list[i];
    *to = (rw_columns){list, to->count + more.count};
}

static const char *field(const PgQuery__ColumnRef *reference, size_t from_last)
{
    size_t count = reference->n_fields;
    return from_last < count ? rw_node_name(reference->fields[count - 1 - from_last]) : "";
}

static const rw_named *find(const rw_item *item, const char *name)
{
    for (size_t i = 0; i < item->columns.count; i++)
        if (strcmp(item->columns.list[i].name, name) == 0)
            return &item->columns.list[i];
    return NULL;
}

uint32_t rw_scope_type(const rw_scope *scope, const PgQuery__ColumnRef *reference)
{
    const char *name = field(reference, 0), *of = field(reference, 1);
    for (; scope != NULL; scope = scope->outer)
        for (const rw_item *it = scope->items; it != NULL; it = it->next) {
            const rw_named *found =
                of[0] == '\0' || strcmp(it->name, of) == 0 ? find(it, name) : NULL;
            if (found != NULL)
                return found->type;
        }
    return PGW_UNSPECIFIED;
}

rw_columns rw_scope_star(const rw_scope *scope, const PgQuery__ColumnRef *star, pgw_arena *arena)
{
    rw_columns out = {NULL, 0};
    const char *of = field(star, 1);
    for (const rw_item *it = scope->items; it != NULL; it = it->next)
        if (of[0] == '\0' || strcmp(it->name, of) == 0)
            rw_columns_append(&out, it->columns, arena);
    return out;
}

const rw_columns *rw_scope_cte(const rw_scope *scope, const char *name)
{
    for (; scope != NULL; scope = scope->outer)
        for (const rw_cte *it = scope->ctes; it != NULL; it = it->next)
            if (strcmp(it->name, name) == 0)
                return &it->columns;
    return NULL;
}

uint32_t rw_type_of_name(const PgQuery__TypeName *name)
{
    if (name == NULL || name->n_names == 0 || name->setof || name->pct_type)
        return PGW_UNSPECIFIED;
    uint32_t type = rw_type_named(pgw_slice_str(rw_node_name(name->names[name->n_names - 1])));
    return name->n_array_bounds > 0 ? pgw_array_of(type) : type;
}
