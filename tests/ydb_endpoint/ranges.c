#include "tests/ydb_endpoint/ranges.h"

#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "rewrite/statement/tree/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCES = 16 };

typedef struct finder {
    ye_map *map;
    const ye_table *table; /* whose hash column is looked for */
    size_t number;         /* … in the map */
    pgw_slice values;      /* of the Bind */
    size_t value_count;
    pgw_buf *ranges;
} finder;

static void add(const finder *find, uint64_t low, uint64_t high)
{
    const ye_range range = {find->number, low, high};
    pgw_buf_add(find->ranges, &range, sizeof range);
}

/* --- constants --- */

/* A decimal number as the ordinal of the column's type; what lies beyond it is its end. */
static bool ordinal_of_text(const finder *find, const char *text, bool negative, uint64_t *ordinal)
{
    unsigned __int128 magnitude = 0;
    negative ^= *text == '-';
    text += *text == '-' || *text == '+';
    if (*text == '\0')
        return false;
    for (; *text >= '0' && *text <= '9' && magnitude >> 64 == 0; text++)
        magnitude = magnitude * 10 + (unsigned)(*text - '0');
    if (*text != '\0' && magnitude >> 64 == 0)
        return false;
    __int128 value = negative ? -(__int128)magnitude : (__int128)magnitude;
    value += find->table->is_unsigned ? 0 : (__int128)1 << 63;
    *ordinal = value < 0 ? 0 : value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
    return true;
}

static bool ordinal_of_parameter(const finder *find, int number, bool negative, uint64_t *ordinal)
{
    char text[32] = "";
    pgw_reader reader = pgw_reader_of(find->values);
    pgw_bind_value value = {.null = true};
    if (number < 1 || (size_t)number > find->value_count)
        return false;
    while (number-- > 0)
        value = pgw_bind_next(&reader);
    if (value.null || value.bytes.len >= sizeof text)
        return false;
    memcpy(text, value.bytes.ptr, value.bytes.len);
    return ordinal_of_text(find, text, negative, ordinal);
}

static bool ordinal_of_constant(const finder *find, const PgQuery__AConst *constant, bool negative,
                                uint64_t *ordinal)
{
    char text[16];
    switch (constant->val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
        snprintf(text, sizeof text, "%d", constant->ival->ival);
        return ordinal_of_text(find, text, negative, ordinal);
    case PG_QUERY__A__CONST__VAL_FVAL:
        return ordinal_of_text(find, constant->fval->fval, negative, ordinal);
    case PG_QUERY__A__CONST__VAL_SVAL:
        return ordinal_of_text(find, constant->sval->sval, negative, ordinal);
    default:
        return false;
    }
}

static bool ordinal_of(const finder *find, const PgQuery__Node *node, uint64_t *ordinal)
{
    bool negative = false;
    for (;;)
        switch (node->node_case) {
        case PG_QUERY__NODE__NODE_TYPE_CAST:
            node = node->type_cast->arg;
            break;
        case PG_QUERY__NODE__NODE_A_EXPR:
            if (node->a_expr->lexpr != NULL || node->a_expr->n_name != 1 ||
                strcmp(rw_node_name(node->a_expr->name[0]), "-") != 0)
                return false;
            negative = !negative;
            node = node->a_expr->rexpr;
            break;
        case PG_QUERY__NODE__NODE_PARAM_REF:
            return ordinal_of_parameter(find, node->param_ref->number, negative, ordinal);
        case PG_QUERY__NODE__NODE_A_CONST:
            return ordinal_of_constant(find, node->a_const, negative, ordinal);
        default:
            return false;
        }
}

/* --- conditions: each returns false, with nothing added, where it says nothing of the column ---
 */

static bool is_column(const finder *find, const PgQuery__Node *node)
{
    return node != NULL && node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF &&
           strcmp(rw_node_name(node->column_ref->fields[node->column_ref->n_fields - 1]),
                  find->table->column) == 0;
}

static bool in_list(const finder *find, const PgQuery__Node *list)
{
    const size_t mark = find->ranges->len;
    if (list->node_case != PG_QUERY__NODE__NODE_LIST)
        return false;
    for (size_t i = 0; i < list->list->n_items; i++) {
        uint64_t ordinal;
        if (!ordinal_of(find, list->list->items[i], &ordinal)) {
            find->ranges->len = mark;
            return false;
        }
        add(find, ordinal, ordinal);
    }
    return true;
}

static bool compared(const finder *find, const PgQuery__AExpr *expression)
{
    uint64_t ordinal;
    const char *name = rw_node_name(expression->name[0]);
    if (!is_column(find, expression->lexpr))
        return false;
    if (expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_IN && strcmp(name, "=") == 0)
        return in_list(find, expression->rexpr);
    if (expression->kind != PG_QUERY__A__EXPR__KIND__AEXPR_OP ||
        !ordinal_of(find, expression->rexpr, &ordinal))
        return false;
    if (strcmp(name, "=") == 0)
        add(find, ordinal, ordinal);
    else if (name[0] == '<' && name[1] != '>')
        add(find, 0, ordinal);
    else if (name[0] == '>')
        add(find, ordinal, UINT64_MAX);
    else
        return false;
    return true;
}

static bool limited(const finder *find, const PgQuery__Node *condition);

/* Of several that must all hold, the one with the fewest ranges says enough. */
static bool all_of(const finder *find, PgQuery__Node *const *conditions, size_t count)
{
    const size_t mark = find->ranges->len;
    size_t best = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t begun = find->ranges->len;
        if (!limited(find, conditions[i]))
            continue;
        const size_t length = find->ranges->len - begun;
        if (best == 0 || length < best) {
            memmove(find->ranges->ptr + mark, find->ranges->ptr + begun, length);
            best = length;
        }
        find->ranges->len = mark + best;
    }
    return best > 0;
}

static bool any_of(const finder *find, PgQuery__Node *const *conditions, size_t count)
{
    const size_t mark = find->ranges->len;
    for (size_t i = 0; i < count; i++)
        if (!limited(find, conditions[i])) {
            find->ranges->len = mark;
            return false;
        }
    return true;
}

static bool limited(const finder *find, const PgQuery__Node *condition)
{
    if (condition == NULL)
        return false;
    if (condition->node_case == PG_QUERY__NODE__NODE_A_EXPR)
        return compared(find, condition->a_expr);
    if (condition->node_case != PG_QUERY__NODE__NODE_BOOL_EXPR)
        return false;
    const PgQuery__BoolExpr *expression = condition->bool_expr;
    if (expression->boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR)
        return all_of(find, expression->args, expression->n_args);
    return expression->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR &&
           any_of(find, expression->args, expression->n_args);
}

/* --- statements --- */

static const PgQuery__SelectStmt *values_of(const PgQuery__Node *statement)
{
    if (statement->node_case != PG_QUERY__NODE__NODE_INSERT_STMT ||
        statement->insert_stmt->select_stmt == NULL ||
        statement->insert_stmt->select_stmt->select_stmt->n_values_lists == 0)
        return NULL;
    return statement->insert_stmt->select_stmt->select_stmt;
}

size_t ye_rows_of(const PgQuery__Node *statement)
{
    const PgQuery__SelectStmt *values = values_of(statement);
    return values == NULL ? 0 : values->n_values_lists;
}

static size_t place_of(const finder *find, const PgQuery__InsertStmt *insert)
{
    size_t i = 0;
    if (insert->n_cols == 0)
        return find->table->position;
    while (i < insert->n_cols &&
           strcmp(insert->cols[i]->res_target->name, find->table->column) != 0)
        i++;
    return i;
}

static bool inserted(const finder *find, const PgQuery__Node *statement)
{
    const PgQuery__SelectStmt *values = values_of(statement);
    const size_t mark = find->ranges->len;
    if (values == NULL)
        return false;
    const size_t place = place_of(find, statement->insert_stmt);
    for (size_t i = 0; i < values->n_values_lists; i++) {
        const PgQuery__List *row = values->values_lists[i]->list;
        uint64_t ordinal;
        if (place >= row->n_items || !ordinal_of(find, row->items[place], &ordinal)) {
            find->ranges->len = mark;
            return false;
        }
        add(find, ordinal, ordinal);
    }
    return true;
}

/* A statement while its relations are gathered. */
typedef struct gatherer {
    ye_map *map;
    const pgw_buf *bind;
    pgw_buf *ranges;
    const char *queries[SOURCES]; /* names that WITH gives, which are no relations */
    size_t query_count;
    pgw_buf limited; /* PgQuery__RangeVar *: those whose conditions were looked at */
} gatherer;

static bool gather_queries(void *context, const ProtobufCMessage *child)
{
    gatherer *found = context;
    if (child->descriptor == &pg_query__common_table_expr__descriptor &&
        found->query_count < SOURCES)
        found->queries[found->query_count++] = ((const PgQuery__CommonTableExpr *)child)->ctename;
    return rw_walk(child, gather_queries, context);
}

static bool is_query(const gatherer *found, const char *name)
{
    for (size_t i = 0; i < found->query_count; i++)
        if (strcmp(found->queries[i], name) == 0)
            return true;
    return false;
}

static void take_values(finder *find, const pgw_buf *bind)
{
    pgw_frame frame;
    pgw_bind message;
    if (bind == NULL || pgw_frame_next(pgw_slice_buf(bind), &frame) != PGW_FRAME_OK ||
        !pgw_bind_decode(pgw_frame_body(pgw_slice_buf(bind), frame), &message))
        return;
    find->values = message.values;
    find->value_count = message.value_count;
}

/* False: it is no table. */
static bool begin(const gatherer *found, const PgQuery__RangeVar *relation, finder *find)
{
    const char *name = relation->relname;
    if (strncmp(name, "pg_", 3) == 0 || strcmp(relation->schemaname, "information_schema") == 0 ||
        is_query(found, name))
        return false;
    const size_t number = ye_map_find(found->map, name);
    *find = (finder){.map = found->map,
                     .table = &found->map->tables[number],
                     .number = number,
                     .ranges = found->ranges};
    take_values(find, found->bind);
    return number < YE_TABLES;
}

/* The only table of a query: as far as its conditions tell. */
static void gather_limited(gatherer *found, const PgQuery__RangeVar *relation,
                           const PgQuery__Node *where)
{
    finder find;
    if (begin(found, relation, &find) && !limited(&find, where))
        add(&find, 0, UINT64_MAX);
    pgw_buf_add(&found->limited, &relation, sizeof relation);
}

static void gather_inserted(gatherer *found, const PgQuery__Node *statement)
{
    const PgQuery__RangeVar *relation = statement->insert_stmt->relation;
    finder find;
    if (begin(found, relation, &find) && !inserted(&find, statement))
        add(&find, 0, UINT64_MAX);
    pgw_buf_add(&found->limited, &relation, sizeof relation);
}

static bool is_limited(const gatherer *found, const PgQuery__RangeVar *relation)
{
    const PgQuery__RangeVar *const *list = (const void *)found->limited.ptr;
    for (size_t i = 0; i < found->limited.len / sizeof *list; i++)
        if (list[i] == relation)
            return true;
    return false;
}

static bool gather(void *context, const ProtobufCMessage *child)
{
    gatherer *found = context;
    finder find;
    if (child->descriptor == &pg_query__select_stmt__descriptor) {
        const PgQuery__SelectStmt *query = (const PgQuery__SelectStmt *)child;
        if (query->n_from_clause == 1 &&
            query->from_clause[0]->node_case == PG_QUERY__NODE__NODE_RANGE_VAR)
            gather_limited(found, query->from_clause[0]->range_var, query->where_clause);
    } else if (child->descriptor == &pg_query__range_var__descriptor &&
               !is_limited(found, (const PgQuery__RangeVar *)child) &&
               begin(found, (const PgQuery__RangeVar *)child, &find)) {
        add(&find, 0, UINT64_MAX);
    }
    return rw_walk(child, gather, context);
}

void ye_ranges_of(ye_map *map, const PgQuery__Node *statement, const pgw_buf *bind, pgw_buf *ranges)
{
    gatherer found = {.map = map, .bind = bind, .ranges = ranges};
    gather_queries(&found, &statement->base);
    if (statement->node_case == PG_QUERY__NODE__NODE_UPDATE_STMT &&
        statement->update_stmt->n_from_clause == 0)
        gather_limited(&found, statement->update_stmt->relation,
                       statement->update_stmt->where_clause);
    else if (statement->node_case == PG_QUERY__NODE__NODE_DELETE_STMT &&
             statement->delete_stmt->n_using_clause == 0)
        gather_limited(&found, statement->delete_stmt->relation,
                       statement->delete_stmt->where_clause);
    else if (statement->node_case == PG_QUERY__NODE__NODE_INSERT_STMT)
        gather_inserted(&found, statement);
    gather(&found, &statement->base);
    pgw_buf_free(&found.limited);
}
