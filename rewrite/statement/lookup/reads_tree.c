/*
 * A condition is good for a seek if an index of the table begins with its column, and what it is
 * compared with is known before the table is read: a constant, a column of a query around, or of
 * another table of the FROM, where that one is read first.
 */
#include "rewrite/statement/lookup/reads_tree.h"

#include "rewrite/statement/lookup/equation.h"
#include "rewrite/statement/lookup/lookup_from.h"
#include "rewrite/statement/tree/walk.h"
#include "rewrite/statement/tree/where.h"

#include <string.h>

typedef const PgQuery__Node *node;

enum { MOST_LOOKED_FOR = 64 }; /* columns of a table without an index that conditions may be about */

/* A statement while it is looked through. */
typedef struct finder {
    rw_tokens tokens;
    const rw_catalog *catalog;
    rw_from_ctes ctes;
    pgw_buf reads;
} finder;

/* What conditions say of a table: whether its reading has a place to begin. */
typedef enum bound {
    UNBOUND,
    JOINED, /* It has one once another table of the same FROM is read. */
    BOUND
} bound;

/* A column of a table in a FROM, that conditions may be about. */
typedef struct sought {
    const rw_from *in;
    const rw_from_item *of;
    size_t column;
    bool equal; /* only what equals is asked for */
} sought;

static const rw_table *table_of(const rw_from *in, const rw_from_item *of)
{
    return in->catalog->tables[of->table];
}

/* By its name alone it may be one that USING has made of two. */
static bool is_sought(const sought *it, node column)
{
    const char *name = rw_from_column(it->in, it->of, it->column);
    if (rw_from_is_column(it->in, it->of, column, name))
        return true;
    return it->in->merge_count > 0 && column->node_case == PG_QUERY__NODE__NODE_COLUMN_REF &&
           column->column_ref->n_fields == 1 &&
           strcmp(rw_node_name(column->column_ref->fields[0]), name) == 0;
}

/* --- what a column is compared with --- */

/* Whose columns an expression has. */
typedef struct others {
    const sought *it;
    bool own, joined;
} others;

static bool is_called(const rw_from *in, const char *name)
{
    bool called = false;
    for (size_t i = 0; i < in->count && !called; i++)
        called = strcmp(in->items[i].called, name) == 0;
    return called;
}

static bool visit_value(void *context, const ProtobufCMessage *message)
{
    others *found = context;
    if (message->descriptor != &pg_query__column_ref__descriptor)
        return rw_walk(message, visit_value, found);
    const PgQuery__ColumnRef *column = (const PgQuery__ColumnRef *)message;
    const rw_from *in = found->it->in;
    if (column->n_fields < 2) { /* it may be any table's */
        found->own = found->own || in->count == 1;
        found->joined = true;
        return true;
    }
    const char *name = rw_node_name(column->fields[column->n_fields - 2]);
    found->own = found->own || strcmp(name, found->it->of->called) == 0;
    found->joined = found->joined || is_called(in, name);
    return true;
}

static bound bound_by(const sought *it, node value)
{
    others found = {.it = it};
    if (value == NULL || !visit_value(&found, (const ProtobufCMessage *)value))
        return UNBOUND;
    return found.own ? UNBOUND : found.joined ? JOINED : BOUND;
}

/* --- conditions --- */

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* Whether an index can be asked for what is compared so. */
static bool is_comparison(const PgQuery__AExpr *it, bool equal)
{
    static const char *const equals[] = {"=", NULL}, *const orders[] = {"=", "<", ">", "<=", ">=", NULL},
                      *const between[] = {"BETWEEN", "BETWEEN SYMMETRIC", NULL};
    const char *name = it->n_name > 0 ? rw_node_name(it->name[it->n_name - 1]) : "";
    switch (it->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
        return is_one_of(name, equal ? equals : orders);
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY:
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
        return is_one_of(name, equals);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
        return !equal && is_one_of(name, between);
    default:
        return false;
    }
}

/* The sought column stands there, or in a row: as its first, unless all of it must be equal. */
static bool stands_in(const sought *it, const PgQuery__AExpr *of, node side)
{
    if (!rw_is_row(side))
        return is_sought(it, side);
    bool equal = strcmp(rw_node_name(of->name[of->n_name - 1]), "=") == 0;
    bool stands = false;
    for (size_t i = 0; i < side->row_expr->n_args && !stands && (i == 0 || equal); i++)
        stands = is_sought(it, side->row_expr->args[i]);
    return stands;
}

static bound bound_by_comparison(const sought *it, const PgQuery__AExpr *expression)
{
    node left = expression->lexpr, right = expression->rexpr;
    if (left == NULL || right == NULL || !is_comparison(expression, it->equal))
        return UNBOUND;
    if (stands_in(it, expression, left))
        return bound_by(it, right);
    bool turns = expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP;
    return turns && stands_in(it, expression, right) ? bound_by(it, left) : UNBOUND;
}

static bound more(bound a, bound b)
{
    return a > b ? a : b;
}

static bound bound_of(const sought *it, node condition)
{
    if (condition == NULL)
        return UNBOUND;
    if (condition->node_case == PG_QUERY__NODE__NODE_A_EXPR)
        return bound_by_comparison(it, condition->a_expr);
    if (condition->node_case == PG_QUERY__NODE__NODE_SUB_LINK) {
        const PgQuery__SubLink *link = condition->sub_link;
        bool any = link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__ANY_SUBLINK &&
                   link->n_oper_name == 0 && link->testexpr != NULL;
        return any && is_sought(it, link->testexpr) ? BOUND : UNBOUND;
    }
    if (condition->node_case != PG_QUERY__NODE__NODE_BOOL_EXPR)
        return UNBOUND;
    const PgQuery__BoolExpr *list = condition->bool_expr;
    bool all = list->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR;
    if (!all && list->boolop != PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR)
        return UNBOUND;
    bound found = all ? BOUND : UNBOUND;
    for (size_t i = 0; i < list->n_args; i++) {
        bound one = bound_of(it, list->args[i]);
        found = all ? (one < found ? one : found) : more(found, one);
    }
    return found;
}

/* --- the indexes of a table --- */

static bool is_asked(const rw_table *table)
{
    return table->hash_column < table->column_count &&
           table->columns[table->hash_column].key_place > 0;
}

/* Whether an index begins with a column. The file alone tells of none but the key. */
static bool leads(const rw_table *table, size_t column)
{
    return table->columns[column].leads ||
           (!is_asked(table) && !rw_table_begins_with_hash(table) && column == table->primary_key[0]);
}

/* A query as far as one of its tables is concerned. */
typedef struct place {
    const finder *find;
    const rw_from *in;
    node where;
    PgQuery__Node **from;
    size_t from_count;
    const PgQuery__SelectStmt *select; /* NULL: it is none */
} place;

static bool is_join(node from)
{
    return from->node_case == PG_QUERY__NODE__NODE_JOIN_EXPR && from->join_expr->alias == NULL &&
           from->join_expr->join_using_alias == NULL;
}

static bool is_used(const PgQuery__JoinExpr *join, const char *name)
{
    bool used = join->is_natural;
    for (size_t i = 0; i < join->n_using_clause && !used; i++)
        used = strcmp(rw_node_name(join->using_clause[i]), name) == 0;
    return used;
}

/* What the conditions of joins say of a table: ON leaves all rows of the side that an outer join
 * keeps. `leaf` counts what stands in the FROM. */
static bound bound_by_joins(const sought *it, node from, size_t *leaf)
{
    if (!is_join(from)) {
        ++*leaf;
        return UNBOUND;
    }
    const PgQuery__JoinExpr *join = from->join_expr;
    size_t of = (size_t)(it->of - it->in->items), left = *leaf;
    bound found = bound_by_joins(it, join->larg, leaf);
    size_t middle = *leaf;
    found = more(found, bound_by_joins(it, join->rarg, leaf));
    PgQuery__JoinType type = join->jointype;
    bool on_left = of >= left && of < middle && (type == PG_QUERY__JOIN_TYPE__JOIN_INNER ||
                                                 type == PG_QUERY__JOIN_TYPE__JOIN_RIGHT);
    bool on_right = of >= middle && of < *leaf && (type == PG_QUERY__JOIN_TYPE__JOIN_INNER ||
                                                   type == PG_QUERY__JOIN_TYPE__JOIN_LEFT);
    if (!on_left && !on_right)
        return found;
    if (is_used(join, rw_from_column(it->in, it->of, it->column)))
        found = more(found, JOINED);
    return more(found, bound_of(it, join->quals));
}

static bound bound_in(const place *at, const sought *it)
{
    size_t leaf = at->select == NULL; /* the table of an UPDATE or DELETE is none of the FROM */
    bound found = bound_of(it, at->where);
    for (size_t i = 0; i < at->from_count; i++)
        found = more(found, bound_by_joins(it, at->from[i], &leaf));
    return found;
}

/* The most that conditions on columns with an index say. */
static bound bound_by_index(const place *at, const rw_from_item *of)
{
    const rw_table *table = table_of(at->in, of);
    bound found = UNBOUND;
    for (size_t i = 0; i < table->column_count && found != BOUND; i++)
        if (leads(table, i))
            found = more(found, bound_in(at, &(sought){at->in, of, i, false}));
    return found;
}

/* --- order and limits --- */

/* The column that rows come in the order of; column_count: none, or not as an index has it. */
static size_t ordered_by(const place *at, const rw_from_item *of)
{
    const rw_table *table = table_of(at->in, of);
    const PgQuery__SelectStmt *select = at->select;
    if (select == NULL || select->n_sort_clause == 0 || select->n_group_clause > 0 ||
        select->sort_clause[0]->node_case != PG_QUERY__NODE__NODE_SORT_BY)
        return table->column_count;
    const PgQuery__SortBy *by = select->sort_clause[0]->sort_by;
    bool down = by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
    bool usual = by->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_DEFAULT ||
                 (by->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST) == down;
    size_t i = 0;
    while (i < table->column_count && !is_sought(&(sought){at->in, of, i, false}, by->node))
        i++;
    return usual && by->n_use_op == 0 ? i : table->column_count;
}

static bool is_limited(const PgQuery__SelectStmt *select)
{
    node limit = select != NULL ? select->limit_count : NULL;
    return limit != NULL &&
           !(limit->node_case == PG_QUERY__NODE__NODE_A_CONST && limit->a_const->isnull);
}

/* The column whose least or greatest value it is; column_count: it is none. */
static size_t extreme_of(const place *at, const rw_from_item *of, node target)
{
    static const char *const names[] = {"min", "max", NULL};
    const rw_table *table = table_of(at->in, of);
    node value =
        target->node_case == PG_QUERY__NODE__NODE_RES_TARGET ? target->res_target->val : NULL;
    if (value == NULL || value->node_case != PG_QUERY__NODE__NODE_FUNC_CALL)
        return table->column_count;
    const PgQuery__FuncCall *call = value->func_call;
    bool is = call->n_funcname > 0 && call->n_args == 1 && call->agg_filter == NULL &&
              call->over == NULL &&
              is_one_of(rw_node_name(call->funcname[call->n_funcname - 1]), names);
    size_t i = 0;
    while (i < table->column_count &&
           !(is && is_sought(&(sought){at->in, of, i, false}, call->args[0])))
        i++;
    return i;
}

/* Whether it asks for nothing but such values, of all rows. */
static bool are_extremes(const place *at)
{
    const PgQuery__SelectStmt *select = at->select;
    return select != NULL && at->where == NULL && at->in->count == 1 &&
           select->n_group_clause == 0 && select->n_target_list > 0;
}

/* Whether an index leads to each of the extremes that are asked for. */
static bool are_led(const place *at, const rw_from_item *of)
{
    const rw_table *table = table_of(at->in, of);
    bool led = are_extremes(at);
    for (size_t i = 0; led && i < at->select->n_target_list; i++) {
        size_t column = extreme_of(at, of, at->select->target_list[i]);
        led = column < table->column_count && leads(table, column);
    }
    return led;
}

static bool visit_aggregate(void *context, const ProtobufCMessage *message)
{
    return message->descriptor != &pg_query__func_call__descriptor &&
           rw_walk(message, visit_aggregate, context);
}

/* LIMIT of a table and nothing else: any rows will do. A function may be an aggregate. */
static bool stops_early(const place *at)
{
    const PgQuery__SelectStmt *select = at->select;
    bool stops = is_limited(select) && at->where == NULL && at->in->count == 1 &&
                 select->n_sort_clause == 0 && select->n_group_clause == 0 &&
                 select->n_distinct_clause == 0;
    for (size_t i = 0; stops && i < select->n_target_list; i++)
        stops = visit_aggregate(NULL, (const ProtobufCMessage *)select->target_list[i]);
    return stops;
}

/* --- the tables --- */

/* The column that rows are asked for in the order of: by ORDER BY, or as the least and greatest. */
static size_t order_of(const place *at, const rw_from_item *of)
{
    size_t ordered = ordered_by(at, of), none = table_of(at->in, of)->column_count;
    return ordered < none      ? ordered
           : are_extremes(at) ? extreme_of(at, of, at->select->target_list[0])
                              : none;
}

static bool is_bound(const place *at, const rw_from_item *of, size_t column)
{
    return bound_in(at, &(sought){at->in, of, column, false}) == BOUND;
}

/* The column whose index, or place in the key, would help. */
static uint32_t asked_of(const place *at, const rw_from_item *of)
{
    const rw_table *table = table_of(at->in, of);
    size_t ordered = order_of(at, of), first = table->primary_key[0];
    if (ordered == first || is_bound(at, of, first))
        return (uint32_t)first + 1;
    for (size_t i = 0; i < table->column_count && i < MOST_LOOKED_FOR; i++)
        if (i != table->hash_column && is_bound(at, of, i))
            return (uint32_t)i + 1;
    return ordered < table->column_count ? (uint32_t)ordered + 1 : 0;
}

static bool asks_for_row(const place *at, const rw_from_item *of)
{
    const rw_table *table = table_of(at->in, of);
    bool row = true;
    for (size_t i = 0; i < table->primary_key_count && row; i++)
        row = bound_in(at, &(sought){at->in, of, table->primary_key[i], true}) == BOUND;
    return row;
}

/* Whether another table of the FROM may be read before item `i`: the first is, where conditions do
 * not say where any begins. */
static bool comes_behind(const rw_from *in, const bound *bounds, size_t i)
{
    bool behind = i > 0;
    for (size_t k = 0; k < in->count && !behind; k++)
        behind = k != i && (bounds[k] == BOUND || !rw_from_is_ours(in, &in->items[k]));
    return behind;
}

static rw_read_kind kind_of(const place *at, const bound *bounds, size_t i)
{
    const rw_from_item *of = &at->in->items[i];
    const rw_table *table = table_of(at->in, of);
    size_t ordered = ordered_by(at, of);
    bool seeks = bounds[i] == BOUND || (bounds[i] == JOINED && comes_behind(at->in, bounds, i)) ||
                 (is_limited(at->select) && ordered < table->column_count && leads(table, ordered)) ||
                 are_led(at, of) || stops_early(at);
    return seeks ? RW_READ_SEEK : RW_READ_SCAN;
}

static void add_read(finder *find, const place *at, const bound *bounds, size_t i)
{
    const rw_from_item *of = &at->in->items[i];
    int name = rw_where_token(&find->tokens, of->location);
    if (name == RW_NO_TOKEN || find->reads.len / sizeof(rw_read) == RW_READS_MAX)
        return;
    rw_read read = {.table = (uint32_t)of->table,
                    .name = (uint32_t)name,
                    .kind = kind_of(at, bounds, i),
                    .row = asks_for_row(at, of)};
    if (read.kind == RW_READ_SCAN)
        read.asked = asked_of(at, of);
    pgw_buf_add(&find->reads, &read, sizeof read);
}

static void look(finder *find, const PgQuery__RangeVar *relation, place at)
{
    rw_from in = {.catalog = find->catalog, .all = true};
    bound bounds[RW_FROM_ITEMS] = {UNBOUND};
    at.in = &in;
    if (relation != NULL)
        rw_from_add_relation(&in, &find->ctes, relation);
    for (size_t i = 0; i < at.from_count; i++)
        rw_from_add(&in, &find->ctes, at.from[i]);
    if (in.overflows)
        return;
    for (size_t i = 0; i < in.count; i++)
        if (rw_from_is_ours(&in, &in.items[i]))
            bounds[i] = bound_by_index(&at, &in.items[i]);
    for (size_t i = 0; i < in.count; i++)
        if (rw_from_is_ours(&in, &in.items[i]))
            add_read(find, &at, bounds, i);
}

static bool visit(void *context, const ProtobufCMessage *message)
{
    finder *find = context;
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &pg_query__select_stmt__descriptor) {
        const PgQuery__SelectStmt *it = (const PgQuery__SelectStmt *)message;
        look(find, NULL, (place){.where = it->where_clause, .from = it->from_clause,
                                 .from_count = it->n_from_clause, .select = it});
    } else if (type == &pg_query__update_stmt__descriptor) {
        const PgQuery__UpdateStmt *it = (const PgQuery__UpdateStmt *)message;
        look(find, it->relation, (place){.where = it->where_clause, .from = it->from_clause,
                                         .from_count = it->n_from_clause});
    } else if (type == &pg_query__delete_stmt__descriptor) {
        const PgQuery__DeleteStmt *it = (const PgQuery__DeleteStmt *)message;
        look(find, it->relation, (place){.where = it->where_clause, .from = it->using_clause,
                                         .from_count = it->n_using_clause});
    }
    return rw_walk(message, visit, find);
}

/* What is kept for another day, or only planned, reads nothing now. */
static bool may_read(const PgQuery__Node *statement)
{
#define KIND(name) (statement->node_case == PG_QUERY__NODE__NODE_##name##_STMT)
    return KIND(SELECT) || KIND(INSERT) || KIND(UPDATE) || KIND(DELETE) || KIND(DECLARE_CURSOR) ||
           KIND(COPY);
#undef KIND
}

const rw_read_map *rw_reads_find(const PgQuery__Node *statement, pgw_slice text,
                                 const rw_catalog *catalog, pgw_arena *arena)
{
    finder find = {.tokens = {.text = text}, .catalog = catalog};
    const rw_read_map *map = NULL;
    if (!may_read(statement) || catalog->count == 0)
        return NULL;
    find.tokens.list = rw_tokens_of(text, true, arena, &find.tokens.count);
    if (rw_from_note_ctes(&find.ctes, statement) &&
        visit(&find, (const ProtobufCMessage *)statement) && find.reads.len > 0)
        map = rw_read_map_make(&find.reads, text, find.tokens.list, find.tokens.count, arena);
    pgw_buf_free(&find.reads);
    return map;
}
