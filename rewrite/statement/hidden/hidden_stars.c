/*
 * A star is written out where it stands, if the tables of its FROM are known one by one. Where it
 * cannot be (NATURAL, USING), and where the name of a table means a row of it, a subquery of the
 * table's other columns stands in the table's place: the planner pulls it up, and the result is
 * described as if the columns were the table's, which they are.
 */
#include "rewrite/statement/hidden/hidden_stars.h"

#include "rewrite/statement/catalog/system_tree.h"
#include "rewrite/statement/edit/query_scope.h"
#include "rewrite/statement/copy/copy_from.h"
#include "rewrite/statement/edit/edit_writer.h"
#include "rewrite/statement/hidden/named_hash.h"
#include "rewrite/statement/hidden/row_places.h"
#include "rewrite/statement/hidden/hash_groups.h"
#include "rewrite/statement/hidden/subquery_names.h"
#include "rewrite/statement/tree/any_row.h"
#include "rewrite/statement/tree/taken_name.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

typedef const PgQuery__Node *node;

enum { VERSIONS_SINCE = 18 }; /* RETURNING old.*, new.* */

/* Something of a statement that shows columns. */
typedef struct shown {
    struct shown *next;
    const PgQuery__ColumnRef *at;
    const PgQuery__RangeVar *table; /* TABLE name; else NULL */
    const rw_query_scope *scope;    /* the scope whose items a bare `*` shows; NULL: see `item` */
    rw_query_scope_item *item;      /* item that is shown; both NULL: the reference stays */
    bool row;                       /* the item is shown as one row, not as columns */
} shown;

/* What a statement says of a table's hash column: whether it names that, or anything else by its
 * name, and whether it calls something of its own so. */
typedef struct naming {
    struct naming *next;
    const rw_table *table;
    bool written, taken;
} naming;

/* A statement while it is looked through. */
typedef struct finder {
    node statement;
    rw_query_scope_world world;
    rw_edit_writer texts;
    rw_query_scope_place place;
    shown *list;
    rw_subquery_names names;
    rw_query_scope_item *ours; /* configured tables of all queries, linked by `older` */
    rw_hash_groups groups;
    rw_named_hashes hashes;
    rw_row_places places;
    naming *namings; /* what the statement says of the hash columns of tables */
} finder;

static shown *add(finder *find, const PgQuery__ColumnRef *at)
{
    shown *it = pgw_arena_alloc(find->world.arena, sizeof *it);
    *it = (shown){.next = find->list, .at = at};
    return find->list = it;
}

/* --- names --- */

static const PgQuery__ColumnRef *reference_of(node it)
{
    return it->node_case == PG_QUERY__NODE__NODE_COLUMN_REF ? it->column_ref : NULL;
}

static bool ends_in_star(const PgQuery__ColumnRef *it)
{
    return it->n_fields > 0 &&
           it->fields[it->n_fields - 1]->node_case == PG_QUERY__NODE__NODE_A_STAR;
}

/* The configured table that the name before the last field means; NULL: none. */
static rw_query_scope_item *qualifier_of(const finder *find, const PgQuery__ColumnRef *it)
{
    if (it->n_fields < 2 || it->n_fields > 4)
        return NULL;
    const char *schema = it->n_fields > 2 ? rw_name_of_node(it->fields[it->n_fields - 3]) : "";
    rw_query_scope_item *item = rw_query_scope_find(find->place.scope, schema,
                                                    rw_name_of_node(it->fields[it->n_fields - 2]));
    return item != NULL && item->table != NULL ? item : NULL;
}

/* The item whose row the reference is, as `t` or `t.*`; NULL: none. A column of that name comes
 * first. */
static rw_query_scope_item *row_of(const finder *find, const PgQuery__ColumnRef *it)
{
    if (it == NULL || ends_in_star(it))
        return it == NULL ? NULL : qualifier_of(find, it);
    const char *name = rw_name_of_node(it->fields[0]);
    if (it->n_fields != 1 || rw_query_scope_has_column(find->place.scope, name))
        return NULL;
    rw_query_scope_item *item = rw_query_scope_find(find->place.scope, "", name);
    return item != NULL && item->table != NULL ? item : NULL;
}

/* --- references --- */

static void keep_all(const finder *find)
{
    for (const rw_query_scope *scope = find->place.scope; scope != NULL; scope = scope->outer)
        for (rw_query_scope_item *it = scope->items; it != NULL; it = it->next)
            it->stays = true;
}

/* A subquery has neither system columns nor functions that look like columns. */
static bool needs_table(const rw_query_scope_item *item, const PgQuery__ColumnRef *it)
{
    const char *name = rw_name_of_node(it->fields[it->n_fields - 1]);
    bool renamed = item->relation->alias != NULL && item->relation->alias->n_colnames > 0;
    return rw_is_system_column(name) ||
           (!renamed &&
            rw_table_column(item->table, pgw_slice_str(name)) == item->table->column_count);
}

static bool is_listed(const finder *find, const PgQuery__ColumnRef *it)
{
    for (const shown *one = find->list; one != NULL; one = one->next)
        if (one->at == it)
            return true;
    return false;
}

static void note_names(finder *find, const PgQuery__ColumnRef *it, rw_query_scope_item *of)
{
    if (of != NULL)
        rw_subquery_names_note(&find->names, find->place.scope, it, of, find->world.arena);
}

/* Keeps twins in their places if a reference names one without its schema. */
static void note_bare(finder *find, const PgQuery__ColumnRef *it)
{
    if (it->n_fields == 1 || it->n_fields == 2)
        rw_query_scope_keep_twins(find->place.scope, rw_name_of_node(it->fields[0]));
}

static void look_at_reference(finder *find, const PgQuery__ColumnRef *it)
{
    note_bare(find, it);
    rw_named_note(&find->hashes, find->place.scope, it);
    rw_query_scope_item *row = row_of(find, it), *of = qualifier_of(find, it);
    if (is_listed(find, it) || it->n_fields == 0 ||
        rw_row_places_note(&find->places, &find->texts, find->place.scope, it, of))
        return;
    if (of != NULL && !ends_in_star(it) && needs_table(of, it))
        of->stays = true;
    note_names(find, it, of);
    if (it->n_fields == 1 && rw_is_system_column(rw_name_of_node(it->fields[0])))
        keep_all(find);
    if (row == NULL)
        return;
    row->bare |= it->n_fields == 1;
    row->wraps = true;
    if (row->written) {
        shown *one = add(find, it);
        one->item = row;
        one->row = true;
    }
}

/* A row that must be of the table's type. */
static void note_typed(finder *find, node argument)
{
    rw_query_scope_item *row = row_of(find, reference_of(argument));
    if (row == NULL)
        return;
    row->stays = true;
    add(find, argument->column_ref);
}

static void look_at_call(finder *find, const PgQuery__FuncCall *call)
{
    const rw_query_scope_item *row =
        call->n_args == 1 ? row_of(find, reference_of(call->args[0])) : NULL;
    if (row != NULL && call->n_funcname == 1) {
        const char *name = rw_name_of_node(call->funcname[0]);
        rw_named_call(&find->hashes, row, name, call->location);
        rw_row_places_select(&find->places, reference_of(call->args[0]), row, name);
    }
    for (size_t i = 0; i < call->n_args && !rw_takes_any_row(call); i++)
        note_typed(find, call->args[i]);
}

static void look_at_cast(finder *find, const PgQuery__TypeCast *cast)
{
    const PgQuery__TypeName *type = cast->type_name;
    const char *name = type->n_names > 0 ? rw_name_of_node(type->names[type->n_names - 1]) : "";
    if (strcmp(name, "text") != 0 && strcmp(name, "varchar") != 0 && strcmp(name, "record") != 0)
        note_typed(find, cast->arg);
}

/* `(t).column`: true, then the row itself is not shown. */
static bool is_selection(finder *find, const PgQuery__AIndirection *it)
{
    rw_query_scope_item *row = row_of(find, reference_of(it->arg));
    if (row == NULL || it->n_indirection == 0)
        return false;
    const char *name = rw_name_of_node(it->indirection[0]);
    rw_named_selection(&find->hashes, row, name, it->arg->column_ref->location);
    rw_row_places_select(&find->places, it->arg->column_ref, row, name);
    if (name[0] == '\0' && row->written)
        note_typed(find, it->arg);
    else if (name[0] != '\0' &&
             rw_table_column(row->table, pgw_slice_str(name)) == row->table->column_count)
        row->stays = true; /* `name` is a function of the row. */
    return name[0] != '\0';
}

/* --- queries --- */

static bool visit(void *context, const ProtobufCMessage *message);

static void look_into(finder *find, const void *message)
{
    rw_walk(message, visit, find);
}

static void enter_with(finder *find, const PgQuery__WithClause *with)
{
    for (int round = with != NULL && with->recursive ? 0 : 1; with != NULL && round < 2; round++)
        for (size_t i = 0; i < with->n_ctes; i++) {
            const PgQuery__CommonTableExpr *cte = with->ctes[i]->common_table_expr;
            if (round == 1)
                look_into(find, cte);
            if (round == 1 && with->recursive)
                continue;
            rw_with_item *known = pgw_arena_alloc(find->world.arena, sizeof *known);
            *known = (rw_with_item){find->place.ctes, cte->ctename};
            find->place.ctes = known;
        }
}

/* `name.*`, or `(name).*` of the row that is written; NULL: the target is something else. */
static const PgQuery__ColumnRef *starred(const finder *find, node target)
{
    if (target == NULL || target->node_case != PG_QUERY__NODE__NODE_A_INDIRECTION)
        return target != NULL ? reference_of(target) : NULL;
    const PgQuery__AIndirection *it = target->a_indirection;
    const rw_query_scope_item *row = row_of(find, reference_of(it->arg));
    bool star =
        it->n_indirection == 1 && it->indirection[0]->node_case == PG_QUERY__NODE__NODE_A_STAR;
    return star && row != NULL && row->written ? it->arg->column_ref : NULL;
}

static void add_targets(finder *find, PgQuery__Node **targets, size_t count,
                        const PgQuery__RangeVar *table)
{
    for (size_t i = 0; i < count; i++) {
        node target = targets[i]->node_case == PG_QUERY__NODE__NODE_RES_TARGET
                          ? targets[i]->res_target->val
                          : NULL;
        const PgQuery__ColumnRef *at = starred(find, target);
        bool inside = at != NULL && reference_of(target) == NULL;
        rw_query_scope_item *of = at == NULL ? NULL
                                  : inside   ? row_of(find, at)
                                             : qualifier_of(find, at);
        if (at == NULL || (!inside && !ends_in_star(at)) || (at->n_fields > 1 && of == NULL))
            continue;
        shown *it = add(find, at);
        it->table = at->location < 0 ? table : NULL;
        it->item = of;
        note_names(find, at, of);
        if (of == NULL)
            it->scope = find->place.scope;
        for (rw_query_scope_item *one = it->scope != NULL ? it->scope->items : NULL;
             one != NULL && it->scope->odd; one = one->next)
            one->wraps = true;
    }
}

static rw_query_scope *new_scope(finder *find, const PgQuery__WithClause *with)
{
    rw_query_scope *scope = pgw_arena_alloc(find->world.arena, sizeof *scope);
    scope->outer = find->place.scope;
    enter_with(find, with);
    return scope;
}

static rw_query_scope_item *add_written(finder *find, rw_query_scope *scope,
                                        const PgQuery__RangeVar *relation)
{
    rw_query_scope_item *item =
        rw_query_scope_add_relation(&find->world, &find->place, scope, relation);
    item->written = true;
    return item;
}

static void add_from(finder *find, rw_query_scope *scope, PgQuery__Node **from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rw_query_scope_add_from(&find->world, &find->place, scope, from[i]);
}

static const char *hash_name(const rw_table *table)
{
    return table->columns[table->hash_column].name;
}

/* Reads the statement once for each table, which may stand in it a thousand times. */
static const naming *naming_of(finder *find, const rw_table *table)
{
    naming *it = find->namings;
    while (it != NULL && it->table != table)
        it = it->next;
    if (it != NULL)
        return it;
    it = pgw_arena_alloc(find->world.arena, sizeof *it);
    bool written = rw_edit_writer_names(&find->texts, hash_name(table));
    bool taken = written && rw_takes_name(find->statement, hash_name(table));
    *it = (naming){find->namings, table, written, taken};
    return find->namings = it;
}

static void keep_items(finder *find, const rw_query_scope *scope)
{
    for (rw_query_scope_item *it = scope->items; it != NULL; it = it->next)
        if (it->table != NULL && !it->made) {
            it->wraps |= it->table->strict && naming_of(find, it->table)->written;
            it->older = find->ours;
            find->ours = it;
        }
}

static void look_at_select(finder *find, const PgQuery__SelectStmt *it)
{
    rw_query_scope *scope = new_scope(find, it->with_clause);
    add_from(find, scope, it->from_clause, it->n_from_clause);
    rw_query_scope_note_twins(scope);
    find->place.scope = scope;
    bool named = it->n_from_clause == 1 && scope->items->relation != NULL;
    add_targets(find, it->target_list, it->n_target_list, named ? scope->items->relation : NULL);
    if (find->list != NULL && find->list->scope == scope && find->list->table != NULL)
        scope->items->stays = true;
    for (rw_query_scope_item *one = scope->items; one != NULL; one = one->next)
        one->wraps |= one->table != NULL && rw_takes_group(it, hash_name(one->table));
    rw_hash_groups_find(it, scope, find->world.arena, &find->groups);
    rw_subquery_names_note_locks(&find->names, scope, it, find->world.arena);
    keep_items(find, scope);
}

/* The row before and after the write, which RETURNING calls old and new since PostgreSQL 18; what
 * the statement itself calls so comes first. */
static const rw_query_scope *versions_of(finder *find, const PgQuery__RangeVar *relation)
{
    static const char *const names[] = {"old", "new"};
    rw_query_scope *scope = pgw_arena_alloc(find->world.arena, sizeof *scope);
    scope->outer = find->place.scope;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        rw_query_scope_item *version = add_written(find, scope, relation);
        version->called = names[i];
        version->absent = true; /* a row that is made has no old one, and a deleted one no new */
    }
    return scope;
}

static void look_at_write(finder *find, const PgQuery__RangeVar *relation, PgQuery__Node **from,
                          size_t from_count, PgQuery__WithClause *with)
{
    rw_query_scope *scope = new_scope(find, with);
    if (find->hashes.reading->env->server >= VERSIONS_SINCE)
        scope->outer = versions_of(find, relation);
    add_written(find, scope, relation);
    rw_row_places_write(&find->places, scope->items);
    add_from(find, scope, from, from_count);
    rw_query_scope_note_twins(scope);
    find->place.scope = scope;
    keep_items(find, scope);
}

/* Looks at a query that has a FROM, targets or a WITH of its own. */
static void look_at_query(finder *find, const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &pg_query__select_stmt__descriptor) {
        look_at_select(find, (const PgQuery__SelectStmt *)message);
    } else if (type == &pg_query__update_stmt__descriptor) {
        const PgQuery__UpdateStmt *it = (const PgQuery__UpdateStmt *)message;
        look_at_write(find, it->relation, it->from_clause, it->n_from_clause, it->with_clause);
        add_targets(find, it->returning_list, it->n_returning_list, NULL);
    } else if (type == &pg_query__delete_stmt__descriptor) {
        const PgQuery__DeleteStmt *it = (const PgQuery__DeleteStmt *)message;
        look_at_write(find, it->relation, it->using_clause, it->n_using_clause, it->with_clause);
        add_targets(find, it->returning_list, it->n_returning_list, NULL);
    } else if (type == &pg_query__merge_stmt__descriptor) {
        const PgQuery__MergeStmt *it = (const PgQuery__MergeStmt *)message;
        PgQuery__Node *source = it->source_relation;
        look_at_write(find, it->relation, &source, 1, it->with_clause);
    }
}

/* Puts the hash column into the list of COPY FROM. */
static void look_at_copy_from(finder *find, const PgQuery__CopyStmt *copy)
{
    const rw_table *table =
        rw_catalog_find(find->world.catalog, pgw_slice_str(copy->relation->schemaname),
                        pgw_slice_str(copy->relation->relname));
    if (table != NULL)
        rw_copy_from_put(&find->texts, copy, table);
}

static void look_at_copy(finder *find, const PgQuery__CopyStmt *copy)
{
    if (copy->is_from) {
        look_at_copy_from(find, copy);
        return;
    }
    const rw_table *table = copy->relation == NULL
                                ? NULL
                                : rw_query_scope_table(&find->world, &find->place, copy->relation);
    for (size_t i = 0; table != NULL && i < copy->n_attlist; i++)
        rw_named_listed(&find->hashes, table, rw_name_of_node(copy->attlist[i]));
    if (table != NULL)
        rw_edit_put_copy(&find->texts, copy, table);
}

/* Looks at an INSERT. ON CONFLICT and RETURNING name the table's columns. */
static void look_at_insert(finder *find, const PgQuery__InsertStmt *it)
{
    const rw_query_scope *outside = find->hashes.inserted;
    new_scope(find, it->with_clause);
    if (it->select_stmt != NULL)
        visit(find, (const ProtobufCMessage *)it->select_stmt);
    rw_query_scope *table = pgw_arena_alloc(find->world.arena, sizeof *table);
    add_written(find, table, it->relation);
    rw_query_scope_item *excluded = pgw_arena_alloc(find->world.arena, sizeof *excluded);
    *excluded =
        (rw_query_scope_item){.called = "excluded", .table = table->items->table, .written = true};
    table->items->next = excluded;
    find->hashes.inserted = table;
    if (it->on_conflict_clause != NULL)
        visit(find, (const ProtobufCMessage *)it->on_conflict_clause);
    for (size_t i = 0; i < it->n_returning_list; i++)
        visit(find, (const ProtobufCMessage *)it->returning_list[i]);
    find->hashes.inserted = outside;
}

static bool is_for_later(const ProtobufCMessageDescriptor *type)
{
    return type == &pg_query__rule_stmt__descriptor ||
           type == &pg_query__create_function_stmt__descriptor;
}

static bool visit(void *context, const ProtobufCMessage *message)
{
    finder *find = context;
    const ProtobufCMessageDescriptor *type = message->descriptor;
    rw_query_scope_place outside = find->place;
    if (is_for_later(type) || type == &pg_query__with_clause__descriptor)
        return true;
    if (type == &pg_query__a__indirection__descriptor &&
        is_selection(find, (const PgQuery__AIndirection *)message))
        return true;
    if (type == &pg_query__column_ref__descriptor)
        look_at_reference(find, (const PgQuery__ColumnRef *)message);
    else if (type == &pg_query__func_call__descriptor)
        look_at_call(find, (const PgQuery__FuncCall *)message);
    else if (type == &pg_query__type_cast__descriptor)
        look_at_cast(find, (const PgQuery__TypeCast *)message);
    else if (type == &pg_query__copy_stmt__descriptor)
        look_at_copy(find, (const PgQuery__CopyStmt *)message);
    else
        look_at_query(find, message);
    if (type == &pg_query__insert_stmt__descriptor)
        look_at_insert(find, (const PgQuery__InsertStmt *)message);
    else
        look_into(find, message);
    find->place = outside;
    return true;
}

/* --- what becomes of it --- */

static bool is_renamed(const rw_query_scope_item *it)
{
    return it->relation->alias != NULL && it->relation->alias->n_colnames > 0;
}

/* Whether `*` has columns to be written out, and they can be. */
static bool can_list(const rw_query_scope *scope)
{
    bool ours = false;
    for (const rw_query_scope_item *it = scope->items; it != NULL; it = it->next) {
        bool listed = it->table != NULL && !rw_query_scope_is_wrapped(it);
        if (listed && is_renamed(it))
            return false;
        ours |= listed;
    }
    return ours && !scope->odd;
}

static void put(finder *find, const shown *it)
{
    if (it->row)
        rw_edit_put_row(&find->texts, it->at, it->item);
    else if (it->scope != NULL && can_list(it->scope))
        rw_edit_put_all(&find->texts, it->at, it->table, it->scope);
    else if (it->item != NULL && !rw_query_scope_is_wrapped(it->item) && !is_renamed(it->item) &&
             !(it->item->twin && it->at->n_fields == 2)) /* The name alone is ambiguous. */
        rw_edit_put_columns(&find->texts, it->at, it->item);
}

/* Whether a table's hash column is not to be seen. */
static bool is_hidden(void *context, const rw_table *table)
{
    if (table->shows_hash || table->strict)
        return !table->shows_hash;
    const naming *it = naming_of(context, table);
    return !it->written || it->taken;
}

bool rw_hidden_stars_find(const PgQuery__Node *statement, pgw_slice text, const rw_catalog *catalog,
                          const pgw_reading *reading, rw_hidden_stars *out)
{
    finder find = {.statement = statement,
                   .world = {.catalog = catalog, .arena = reading->arena, .hides = is_hidden},
                   .hashes = {.reading = reading, .text = text},
                   .places = {.statement = statement}};
    find.world.context = &find;
    rw_edit_writer_init(&find.texts, text, reading->env->conforming, reading->arena);
    visit(&find, (const ProtobufCMessage *)statement);
    rw_named_judge(&find.hashes, &find.texts);
    for (const shown *it = find.list; it != NULL; it = it->next)
        put(&find, it);
    for (const rw_query_scope_item *it = find.ours; it != NULL; it = it->older) {
        if (rw_query_scope_is_wrapped(it))
            rw_edit_put_query(&find.texts, it);
        if (it->table->in_parts && !it->table->listed)
            rw_edit_put_whole(&find.texts, it); /* The catalog shows it as an ordinary table. */
    }
    rw_subquery_names_put(&find.names, &find.texts);
    rw_hash_groups_put(&find.groups, &find.texts);
    rw_system_find(statement, catalog, &find.texts);
    *out = (rw_hidden_stars){rw_edit_writer_map(&find.texts, reading->arena),
                             find.groups.by_value || find.texts.by_value};
    return !find.hashes.denied && rw_row_places_judge(&find.places, text, reading);
}
