/*
 * A relation of the catalog becomes a subquery by the name that it is called: of all its columns
 * where only rows are to be left out, else of those that the statement names, for no list is that
 * of every version of PostgreSQL.
 */
#include "rewrite/read/system_tree.h"

#include "rewrite/lex/quote.h"
#include "rewrite/read/system_catalog.h"
#include "rewrite/read/walk.h"

#include <string.h>

/* A relation in a FROM. */
typedef struct asked {
    struct asked *next;
    const PgQuery__RangeVar *at;
    const rw_system_relation *relation;
    bool starred; /* all of its columns are asked for */
} asked;

typedef struct named {
    struct named *next;
    const PgQuery__ColumnRef *at; /* NULL: … */
    const char *name;             /* a column of USING */
    bool cut;                     /* its schema is */
} named;

typedef struct finder {
    const rw_catalog *catalog;
    rw_star_texts *texts;
    asked *list;
    named *names;
    bool locks; /* FOR UPDATE: of relations */
} finder;

/* --- what there is --- */

static void add_name(finder *find, const PgQuery__ColumnRef *at, const char *name)
{
    named *it = pgw_arena_alloc(find->texts->arena, sizeof *it);
    *it = (named){find->names, at, name, false};
    find->names = it;
}

static void add_relation(finder *find, const PgQuery__RangeVar *at, bool starred)
{
    const rw_system_relation *relation = rw_system_relation_of(at->schemaname, at->relname);
    bool renamed = at->alias != NULL && at->alias->n_colnames > 0;
    if (relation == NULL || at->catalogname[0] != '\0' || !at->inh || renamed)
        return;
    asked *it = pgw_arena_alloc(find->texts->arena, sizeof *it);
    *it = (asked){find->list, at, relation, starred};
    find->list = it;
}

static void add_from(finder *find, const PgQuery__Node *from, bool starred)
{
    if (from->node_case == PG_QUERY__NODE__NODE_RANGE_VAR)
        add_relation(find, from->range_var, starred);
    if (from->node_case != PG_QUERY__NODE__NODE_JOIN_EXPR)
        return;
    const PgQuery__JoinExpr *join = from->join_expr;
    for (size_t i = 0; i < join->n_using_clause; i++)
        add_name(find, NULL, rw_node_name(join->using_clause[i]));
    starred = starred || join->is_natural || join->alias != NULL;
    add_from(find, join->larg, starred);
    add_from(find, join->rarg, starred);
}

static bool is_star(const PgQuery__Node *node)
{
    return node->node_case == PG_QUERY__NODE__NODE_A_STAR;
}

static bool shows_all(const PgQuery__SelectStmt *select)
{
    for (size_t i = 0; i < select->n_target_list; i++) {
        const PgQuery__Node *value = select->target_list[i]->res_target->val;
        if (value != NULL && value->node_case == PG_QUERY__NODE__NODE_COLUMN_REF &&
            is_star(value->column_ref->fields[0]))
            return true;
    }
    return false;
}

static void look_at_select(finder *find, const PgQuery__SelectStmt *select)
{
    bool starred = shows_all(select);
    find->locks = find->locks || select->n_locking_clause > 0;
    for (size_t i = 0; i < select->n_from_clause; i++)
        add_from(find, select->from_clause[i], starred);
}

/* --- functions --- */

static void put_around(finder *find, const PgQuery__FuncCall *call,
                       const rw_system_function *function)
{
    rw_star_texts *texts = find->texts;
    rw_system_marks marks = {.catalog = find->catalog};
    for (size_t i = 0; i < call->n_args && i < 2; i++)
        marks.arguments[i] = rw_star_argument(texts, call->location, i);
    pgw_buf before = {0}, behind = {0}, number = {0};
    rw_system_add(&before, function->before, &marks);
    rw_system_add(&behind, function->behind, &marks);
    rw_star_put_around(texts, call->location, &before, &behind);
    if (function->number == NULL || call->n_args < 2)
        return;
    rw_system_add(&number, function->number, &marks);
    rw_star_put_behind(texts, marks.arguments[1], &number);
}

static void look_at_call(finder *find, const PgQuery__FuncCall *call)
{
    size_t last = call->n_funcname - 1;
    if (call->n_funcname == 0 || call->n_funcname > 2 || call->n_args == 0)
        return;
    const rw_system_function *function = rw_system_function_of(
        last == 1 ? rw_node_name(call->funcname[0]) : "", rw_node_name(call->funcname[last]));
    if (function == NULL || call->args[0]->node_case == PG_QUERY__NODE__NODE_NAMED_ARG_EXPR)
        return;
    put_around(find, call, function);
}

static bool visit(void *context, const ProtobufCMessage *message)
{
    finder *find = context;
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &pg_query__select_stmt__descriptor)
        look_at_select(find, (const PgQuery__SelectStmt *)message);
    else if (type == &pg_query__column_ref__descriptor)
        add_name(find, (const PgQuery__ColumnRef *)message, NULL);
    else if (type == &pg_query__func_call__descriptor)
        look_at_call(find, (const PgQuery__FuncCall *)message);
    else if (type == &pg_query__common_table_expr__descriptor)
        add_name(find, NULL, ((const PgQuery__CommonTableExpr *)message)->ctename);
    return rw_walk(message, visit, find);
}

/* --- what becomes of it --- */

static const char *called(const asked *it)
{
    return it->at->alias != NULL ? it->at->alias->aliasname : it->at->relname;
}

static const char *last_of(const named *it)
{
    return it->at == NULL ? it->name : rw_node_name(it->at->fields[it->at->n_fields - 1]);
}

static bool is_named(const finder *find, const char *name)
{
    for (const named *it = find->names; it != NULL; it = it->next)
        if (strcmp(last_of(it), name) == 0)
            return true;
    return false;
}

/* Its schema stands before its name. */
static bool is_qualified(const named *it, const asked *relation)
{
    return it->at != NULL && it->at->n_fields == 3 && relation->at->alias == NULL &&
           strcmp(rw_node_name(it->at->fields[0]), relation->relation->schema) == 0 &&
           strcmp(rw_node_name(it->at->fields[1]), relation->relation->name) == 0;
}

/* A subquery has no schema. */
static void cut_schemas(finder *find, const asked *relation)
{
    for (named *it = find->names; it != NULL; it = it->next)
        if (is_qualified(it, relation) && !it->cut) {
            rw_star_cut_schema(find->texts, it->at->location);
            it->cut = true;
        }
}

/* A row of it, its database before its name; or a query of WITH has the name. */
static bool needs_relation(const finder *find, const asked *relation)
{
    const char *name = called(relation);
    for (const named *it = find->names; it != NULL; it = it->next) {
        if (it->at == NULL) {
            if (strcmp(it->name, relation->at->relname) == 0)
                return true;
            continue;
        }
        size_t fields = it->at->n_fields;
        size_t at = fields > 2 ? 1 : 0;
        if ((fields == 1 || (fields > 2 && !is_qualified(it, relation))) &&
            strcmp(rw_node_name(it->at->fields[at]), name) == 0)
            return true;
    }
    return false;
}

static bool is_starred(const finder *find, const asked *relation)
{
    for (const named *it = find->names; it != NULL; it = it->next)
        if (it->at != NULL && (it->at->n_fields == 2 || is_qualified(it, relation)) &&
            is_star(it->at->fields[it->at->n_fields - 1]) &&
            strcmp(rw_node_name(it->at->fields[it->at->n_fields - 2]), called(relation)) == 0)
            return true;
    return relation->starred;
}

/* Whether a column is asked for that is not shown as it is, and the others can be listed. */
static bool asks_for_shown(const finder *find, const asked *one)
{
    const rw_system_relation *relation = one->relation;
    if (is_starred(find, one))
        return relation->everywhere;
    for (const rw_system_column *it = relation->columns; it != NULL && it->name != NULL; it++)
        if (it->shown != NULL && is_named(find, it->name))
            return true;
    return false;
}

static const char *add_system_columns(const finder *find, pgw_buf *out)
{
    static const char *const names[] = {"tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"};
    const char *between = " (select ";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_named(find, names[i])) {
            pgw_buf_add_str(out, between);
            pgw_buf_add_str(out, names[i]);
            between = ", ";
        }
    return between;
}

static void add_columns(const finder *find, const asked *one, pgw_buf *out)
{
    const char *between = add_system_columns(find, out);
    const rw_system_marks marks = {.catalog = find->catalog};
    bool all = is_starred(find, one);
    if (!asks_for_shown(find, one)) {
        pgw_buf_add_str(out, between);
        pgw_buf_add_byte(out, '*');
        return;
    }
    for (const rw_system_column *it = one->relation->columns; it->name != NULL; it++) {
        if (!all && !is_named(find, it->name))
            continue;
        pgw_buf_add_str(out, between);
        rw_system_add(out, it->shown != NULL ? it->shown : it->name, &marks);
        pgw_buf_add_str(out, it->shown != NULL ? " as " : "");
        pgw_buf_add_str(out, it->shown != NULL ? it->name : "");
        between = ", ";
    }
}

static void put(finder *find, const asked *one)
{
    const rw_system_relation *relation = one->relation;
    const rw_system_marks marks = {.catalog = find->catalog};
    pgw_buf text = {0};
    if (needs_relation(find, one) || (!asks_for_shown(find, one) && relation->rows == NULL))
        return;
    cut_schemas(find, one);
    add_columns(find, one, &text);
    pgw_buf_addf(&text, " from %s.%s", relation->schema, relation->name);
    pgw_buf_add_str(&text, relation->rows != NULL ? " where " : "");
    rw_system_add(&text, relation->rows != NULL ? relation->rows : "", &marks);
    pgw_buf_add_str(&text, ") ");
    if (one->at->alias == NULL)
        pgw_buf_addf(&text, "as %s ", relation->name);
    rw_star_put_relation(find->texts, one->at->location, &text);
}

/* Not what is defined now and run some other day, nor where PostgreSQL takes no subquery. */
static bool is_asking(const PgQuery__Node *statement)
{
    switch ((int)statement->node_case) {
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT:
        return is_asking(statement->explain_stmt->query);
    case PG_QUERY__NODE__NODE_COPY_STMT:
        return statement->copy_stmt->query != NULL;
    case PG_QUERY__NODE__NODE_SELECT_STMT:
    case PG_QUERY__NODE__NODE_INSERT_STMT:
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
    case PG_QUERY__NODE__NODE_DELETE_STMT:
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT:
    case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
    case PG_QUERY__NODE__NODE_PREPARE_STMT:
        return true;
    default:
        return false;
    }
}

void rw_system_find(const PgQuery__Node *statement, const rw_catalog *catalog, rw_star_texts *texts)
{
    finder find = {.catalog = catalog, .texts = texts};
    if (!rw_system_hides(catalog) || !is_asking(statement))
        return;
    visit(&find, (const ProtobufCMessage *)statement);
    for (const asked *it = find.list; it != NULL && !find.locks; it = it->next)
        put(&find, it);
}
