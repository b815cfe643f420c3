/*
 * A condition is good for a seek if an index of the table begins with its column, and what it is
 * compared with is known before the table is read (bound.h). What comes of another table of the
 * FROM is known where that table is read first.
 */
#include "rewrite/statement/lookup/reads_tree.h"

#include "rewrite/statement/lookup/bound.h"
#include "rewrite/statement/lookup/lookup_from.h"
#include "rewrite/statement/tree/walk.h"
#include "rewrite/statement/tree/where.h"

#include <string.h>

typedef const PgQuery__Node *node;

enum { MOST_LOOKED_FOR = 64 }; /* columns of a table that are tried for `asked` */

/* A statement while it is looked through. */
typedef struct finder {
    rw_tokens tokens;
    const rw_catalog *catalog;
    const rw_range_map *ranges;
    rw_from_ctes ctes;
    pgw_buf reads;
} finder;

/* --- the indexes of a table --- */

static const rw_table *table_of(const rw_from *in, const rw_from_item *of)
{
    return in->catalog->tables[of->table];
}

static bool is_asked(const rw_table *table)
{
    return table->hash_column < table->column_count &&
           table->columns[table->hash_column].key_place > 0;
}

/* Whether an index begins with a column. The file alone tells of none but the key. */
static bool leads(const rw_table *table, size_t column)
{
    return table->columns[column].leads || (!is_asked(table) && !rw_table_begins_with_hash(table) &&
                                            column == table->primary_key[0]);
}

/* A query as far as one of its tables is concerned. */
typedef struct place {
    const finder *find;
    const rw_from *in;
    node where;
    PgQuery__Node **from;
    size_t from_count;
    const PgQuery__SelectStmt *select; /* the SELECT; NULL: the query is UPDATE or DELETE */
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
static rw_bound bound_by_joins(const rw_sought *it, node from, size_t *leaf)
{
    if (!is_join(from)) {
        ++*leaf;
        return RW_UNBOUND;
    }
    const PgQuery__JoinExpr *join = from->join_expr;
    size_t of = (size_t)(it->of - it->in->items), left = *leaf;
    rw_bound found = bound_by_joins(it, join->larg, leaf);
    size_t middle = *leaf;
    found = rw_bound_more(found, bound_by_joins(it, join->rarg, leaf));
    PgQuery__JoinType type = join->jointype;
    bool on_left =
        of >= left && of < middle &&
        (type == PG_QUERY__JOIN_TYPE__JOIN_INNER || type == PG_QUERY__JOIN_TYPE__JOIN_RIGHT);
    bool on_right =
        of >= middle && of < *leaf &&
        (type == PG_QUERY__JOIN_TYPE__JOIN_INNER || type == PG_QUERY__JOIN_TYPE__JOIN_LEFT);
    if (!on_left && !on_right)
        return found;
    if (is_used(join, rw_from_column(it->in, it->of, it->column)))
        found = rw_bound_more(found, RW_JOINED);
    return rw_bound_more(found, rw_bound_of(it, join->quals));
}

static rw_bound bound_in(const place *at, const rw_sought *it)
{
    /* The written table of an UPDATE or DELETE is not in its FROM. */
    size_t leaf = at->select == NULL;
    rw_bound found = rw_bound_of(it, at->where);
    for (size_t i = 0; i < at->from_count; i++)
        found = rw_bound_more(found, bound_by_joins(it, at->from[i], &leaf));
    return found;
}

/* The most that conditions on columns with an index say. */
static rw_bound bound_by_index(const place *at, const rw_from_item *of)
{
    const rw_table *table = table_of(at->in, of);
    rw_bound found = RW_UNBOUND;
    for (size_t i = 0; i < table->column_count && found != RW_BOUND; i++)
        if (leads(table, i))
            found = rw_bound_more(found, bound_in(at, &(rw_sought){at->in, of, i, false}));
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
    while (i < table->column_count && !rw_is_sought(&(rw_sought){at->in, of, i, false}, by->node))
        i++;
    return usual && by->n_use_op == 0 ? i : table->column_count;
}

static bool is_limited(const PgQuery__SelectStmt *select)
{
    node limit = select != NULL ? select->limit_count : NULL;
    return limit != NULL &&
           !(limit->node_case == PG_QUERY__NODE__NODE_A_CONST && limit->a_const->isnull);
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
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
           !(is && rw_is_sought(&(rw_sought){at->in, of, i, false}, call->args[0])))
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
    return ordered < none     ? ordered
           : are_extremes(at) ? extreme_of(at, of, at->select->target_list[0])
                              : none;
}

static bool is_bound(const place *at, const rw_from_item *of, size_t column)
{
    return bound_in(at, &(rw_sought){at->in, of, column, false}) == RW_BOUND;
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
        row = bound_in(at, &(rw_sought){at->in, of, table->primary_key[i], true}) == RW_BOUND;
    return row;
}

/* Whether another table of the FROM may be read before item `i`: the first is, where conditions do
 * not say where any begins. */
static bool comes_behind(const rw_from *in, const rw_bound *bounds, size_t i)
{
    bool behind = i > 0;
    for (size_t k = 0; k < in->count && !behind; k++)
        behind = k != i && (bounds[k] == RW_BOUND || !rw_from_is_ours(in, &in->items[k]));
    return behind;
}

static rw_read_kind kind_of(const place *at, const rw_bound *bounds, size_t i)
{
    const rw_from_item *of = &at->in->items[i];
    const rw_table *table = table_of(at->in, of);
    size_t ordered = ordered_by(at, of);
    bool seeks =
        bounds[i] == RW_BOUND || (bounds[i] == RW_JOINED && comes_behind(at->in, bounds, i)) ||
        (is_limited(at->select) && ordered < table->column_count && leads(table, ordered)) ||
        are_led(at, of) || stops_early(at);
    return seeks ? RW_READ_SEEK : RW_READ_SCAN;
}

static void add_read(finder *find, const place *at, const rw_bound *bounds, size_t i)
{
    const rw_from_item *of = &at->in->items[i];
    int name = rw_where_token(&find->tokens, of->location);
    if (name == RW_NO_TOKEN || find->reads.len / sizeof(rw_read) == RW_READS_MAX)
        return;
    rw_read read = {.table = (uint32_t)of->table,
                    .name = (uint32_t)name,
                    .kind = kind_of(at, bounds, i),
                    .row = asks_for_row(at, of),
                    .buckets = rw_ranges_of(find->ranges, find->catalog, (uint32_t)name)};
    if (read.buckets > 0)
        read.kind = RW_READ_SEEK;
    if (read.kind == RW_READ_SCAN)
        read.asked = asked_of(at, of);
    pgw_buf_add(&find->reads, &read, sizeof read);
}

static void look(finder *find, const PgQuery__RangeVar *relation, place at)
{
    rw_from in = {.catalog = find->catalog, .all = true};
    rw_bound bounds[RW_FROM_ITEMS] = {RW_UNBOUND};
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
        look(find, NULL,
             (place){.where = it->where_clause,
                     .from = it->from_clause,
                     .from_count = it->n_from_clause,
                     .select = it});
    } else if (type == &pg_query__update_stmt__descriptor) {
        const PgQuery__UpdateStmt *it = (const PgQuery__UpdateStmt *)message;
        look(find, it->relation,
             (place){.where = it->where_clause,
                     .from = it->from_clause,
                     .from_count = it->n_from_clause});
    } else if (type == &pg_query__delete_stmt__descriptor) {
        const PgQuery__DeleteStmt *it = (const PgQuery__DeleteStmt *)message;
        look(find, it->relation,
             (place){.where = it->where_clause,
                     .from = it->using_clause,
                     .from_count = it->n_using_clause});
    }
    return rw_walk(message, visit, find);
}

/* Whether the statement reads now: one that is only kept or planned does not. */
static bool may_read(const PgQuery__Node *statement)
{
#define KIND(name) (statement->node_case == PG_QUERY__NODE__NODE_##name##_STMT)
    return KIND(SELECT) || KIND(INSERT) || KIND(UPDATE) || KIND(DELETE) || KIND(DECLARE_CURSOR) ||
           KIND(COPY);
#undef KIND
}

const rw_read_map *rw_reads_find(const PgQuery__Node *statement, pgw_slice text,
                                 const rw_catalog *catalog, const rw_range_map *ranges,
                                 pgw_arena *arena)
{
    finder find = {.tokens = {.text = text}, .catalog = catalog, .ranges = ranges};
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
