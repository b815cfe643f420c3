/*
 * A relation of the catalog becomes a subquery by the name that it is called: of all its columns
 * where only rows are to be left out, else of those that the statement names, for no list is that
 * of every version of PostgreSQL.
 */
#include "rewrite/statement/catalog/system_tree.h"

#include "rewrite/lex/quote.h"
#include "rewrite/statement/catalog/system_calls.h"
#include "rewrite/statement/catalog/system_catalog.h"
#include "rewrite/statement/catalog/system_with.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

/* A relation in a FROM. */
typedef struct asked {
    struct asked *next;
    const PgQuery__RangeVar *at;
    const rw_system_relation *relation;
    const PgQuery__RangeVar *table; /* TABLE name; else NULL */
    bool starred;                   /* all of its columns are asked for without their names */
    bool sampled;                   /* TABLESAMPLE stands behind it */
} asked;

typedef struct named {
    struct named *next;
    const PgQuery__ColumnRef *at; /* the reference; NULL: `name` is set instead */
    const char *name;             /* name of a column of USING or of a query of WITH */
    bool cut;                     /* the schema before the name has been cut out */
} named;

/* A name that an alias or a result column gives. */
typedef struct label {
    struct label *next;
    const char *name;
} label;

typedef struct finder {
    const rw_catalog *catalog;
    rw_edit_writer *texts;
    asked *list;
    named *names;
    label *labels;
    bool foreign;     /* the statement names other relations than PostgreSQL's own */
    unsigned *shared; /* The sets that stand in WITH, as in rw_system_marks. */
} finder;

/* --- what there is --- */

static void add_name(finder *find, const PgQuery__ColumnRef *at, const char *name)
{
    named *it = pgw_arena_alloc(find->texts->arena, sizeof *it);
    *it = (named){find->names, at, name, false};
    find->names = it;
}

static void add_label(finder *find, const char *name)
{
    label *it = pgw_arena_alloc(find->texts->arena, sizeof *it);
    *it = (label){find->labels, name};
    find->labels = it;
}

static void add_relation(finder *find, const PgQuery__RangeVar *at, bool starred, bool sampled)
{
    const rw_system_relation *relation =
        rw_system_relation_of(find->catalog, at->schemaname, at->relname, false);
    if (relation == NULL)
        return;
    asked *it = pgw_arena_alloc(find->texts->arena, sizeof *it);
    bool renamed = at->alias != NULL && at->alias->n_colnames > 0;
    *it = (asked){.next = find->list, .at = at, .relation = relation, .sampled = sampled};
    it->starred = starred || renamed;
    find->list = it;
}

static void add_from(finder *find, const PgQuery__Node *from, bool starred)
{
    if (from->node_case == PG_QUERY__NODE__NODE_RANGE_VAR)
        add_relation(find, from->range_var, starred, false);
    if (from->node_case == PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE)
        add_relation(find, from->range_table_sample->relation->range_var, starred, true);
    if (from->node_case != PG_QUERY__NODE__NODE_JOIN_EXPR)
        return;
    const PgQuery__JoinExpr *join = from->join_expr;
    for (size_t i = 0; i < join->n_using_clause; i++)
        add_name(find, NULL, rw_node_name(join->using_clause[i]));
    starred = starred || join->is_natural || join->alias != NULL;
    add_from(find, join->larg, starred);
    add_from(find, join->rarg, starred);
}

static void add_all_from(finder *find, PgQuery__Node **from, size_t count, bool starred)
{
    for (size_t i = 0; i < count; i++)
        add_from(find, from[i], starred);
}

static bool is_star(const PgQuery__Node *node)
{
    return node->node_case == PG_QUERY__NODE__NODE_A_STAR;
}

/* The `*` alone among them; NULL. */
static const PgQuery__ColumnRef *star_of(PgQuery__Node **targets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const PgQuery__Node *value = targets[i]->res_target->val;
        if (value != NULL && value->node_case == PG_QUERY__NODE__NODE_COLUMN_REF &&
            is_star(value->column_ref->fields[0]))
            return value->column_ref;
    }
    return NULL;
}

static void look_at_select(finder *find, const PgQuery__SelectStmt *select)
{
    const PgQuery__ColumnRef *star = star_of(select->target_list, select->n_target_list);
    const asked *before = find->list;
    add_all_from(find, select->from_clause, select->n_from_clause, star != NULL);
    if (star != NULL && star->location < 0 && find->list != before)
        find->list->table = find->list->at;
}

/* Names in the statement that a row of a relation may be taken for. */
static void look_at_label(finder *find, const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &pg_query__alias__descriptor) {
        const PgQuery__Alias *alias = (const PgQuery__Alias *)message;
        add_label(find, alias->aliasname);
        for (size_t i = 0; i < alias->n_colnames; i++)
            add_label(find, rw_node_name(alias->colnames[i]));
    } else if (type == &pg_query__res_target__descriptor) {
        add_label(find, ((const PgQuery__ResTarget *)message)->name);
    } else if (type == &pg_query__range_var__descriptor) {
        const PgQuery__RangeVar *it = (const PgQuery__RangeVar *)message;
        bool own = it->schemaname[0] == '\0'
                       ? strncmp(it->relname, "pg_", 3) == 0
                       : strcmp(it->schemaname, "pg_catalog") == 0 ||
                             strcmp(it->schemaname, "information_schema") == 0;
        find->foreign = find->foreign || !own;
    }
}

static void look_at_statement(finder *find, const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &pg_query__select_stmt__descriptor) {
        look_at_select(find, (const PgQuery__SelectStmt *)message);
    } else if (type == &pg_query__update_stmt__descriptor) {
        const PgQuery__UpdateStmt *it = (const PgQuery__UpdateStmt *)message;
        add_all_from(find, it->from_clause, it->n_from_clause,
                     star_of(it->returning_list, it->n_returning_list) != NULL);
    } else if (type == &pg_query__delete_stmt__descriptor) {
        const PgQuery__DeleteStmt *it = (const PgQuery__DeleteStmt *)message;
        add_all_from(find, it->using_clause, it->n_using_clause,
                     star_of(it->returning_list, it->n_returning_list) != NULL);
    } else if (type == &pg_query__merge_stmt__descriptor) {
        add_from(find, ((const PgQuery__MergeStmt *)message)->source_relation, false);
    }
}

static bool visit(void *context, const ProtobufCMessage *message);

static rw_system_marks marks_of(const finder *find)
{
    return (rw_system_marks){.catalog = find->catalog, .shared = find->shared};
}

/* Each function of a FROM is a list, with the columns that it is said to have. */
static bool look_at_functions(finder *find, const PgQuery__RangeFunction *from)
{
    const rw_system_marks marks = marks_of(find);
    for (size_t i = 0; i < from->n_functions; i++) {
        const PgQuery__Node *function = from->functions[i]->list->items[0];
        bool call = function->node_case == PG_QUERY__NODE__NODE_FUNC_CALL;
        if (call)
            rw_system_call(find->texts, &marks, function->func_call, from);
        if (call ? !rw_walk((const ProtobufCMessage *)function->func_call, visit, find)
                 : !visit(find, (const ProtobufCMessage *)function))
            return false;
    }
    return from->alias == NULL || visit(find, (const ProtobufCMessage *)from->alias);
}

static bool visit(void *context, const ProtobufCMessage *message)
{
    finder *find = context;
    const rw_system_marks marks = marks_of(find);
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &pg_query__range_function__descriptor)
        return look_at_functions(find, (const PgQuery__RangeFunction *)message);
    look_at_label(find, message);
    look_at_statement(find, message);
    if (type == &pg_query__column_ref__descriptor)
        add_name(find, (const PgQuery__ColumnRef *)message, NULL);
    else if (type == &pg_query__func_call__descriptor)
        rw_system_call(find->texts, &marks, (const PgQuery__FuncCall *)message, NULL);
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

/* Whether the reference names the relation with its schema, and perhaps its database. */
static bool is_qualified(const named *it, const asked *relation)
{
    size_t fields = it->at != NULL ? it->at->n_fields : 0;
    return (fields == 3 || fields == 4) && relation->at->alias == NULL &&
           (fields == 3 ||
            strcmp(rw_node_name(it->at->fields[0]), relation->at->catalogname) == 0) &&
           strcmp(rw_node_name(it->at->fields[fields - 3]), relation->relation->schema) == 0 &&
           strcmp(rw_node_name(it->at->fields[fields - 2]), relation->relation->name) == 0;
}

/* A subquery has no schema. */
static void cut_schemas(finder *find, const asked *relation)
{
    for (named *it = find->names; it != NULL; it = it->next)
        if (is_qualified(it, relation) && !it->cut) {
            rw_edit_cut_names(find->texts, it->at->location, it->at->n_fields - 2);
            it->cut = true;
        }
}

/* A query of WITH has its name; or its database, or another schema, stands before a name. */
static bool needs_relation(const finder *find, const asked *relation)
{
    for (const named *it = find->names; it != NULL; it = it->next) {
        if (it->at == NULL) {
            if (relation->at->schemaname[0] == '\0' && strcmp(it->name, relation->at->relname) == 0)
                return true;
            continue;
        }
        size_t fields = it->at->n_fields;
        if (fields > 2 && !is_qualified(it, relation) &&
            strcmp(rw_node_name(it->at->fields[fields - 2]), called(relation)) == 0)
            return true;
    }
    return false;
}

/* Whether the reference is the relation's name alone, and means its row: no column is called so. */
static bool is_row(const finder *find, const named *it, const asked *relation)
{
    return it->at != NULL && it->at->n_fields == 1 &&
           strcmp(rw_node_name(it->at->fields[0]), called(relation)) == 0 &&
           !rw_system_has_column(find->catalog, relation->relation, called(relation));
}

static bool shows_row(const finder *find, const asked *relation)
{
    for (const named *it = find->names; it != NULL; it = it->next)
        if (is_row(find, it, relation))
            return true;
    return false;
}

/* Whether the name of a row of it may mean something else. */
static bool is_ambiguous(const finder *find, const asked *relation)
{
    size_t labels = 0, aliases = 0;
    for (const label *it = find->labels; it != NULL; it = it->next)
        labels += strcmp(it->name, called(relation)) == 0;
    for (const asked *it = find->list; it != NULL; it = it->next)
        if (strcmp(called(it), called(relation)) == 0) {
            aliases += it->at->alias != NULL;
            labels += strcmp(it->relation->name, relation->relation->name) != 0;
        } else {
            labels += rw_system_has_column(find->catalog, it->relation, called(relation));
        }
    return find->foreign || labels != aliases;
}

static bool is_starred(const finder *find, const asked *relation)
{
    for (const named *it = find->names; it != NULL; it = it->next)
        if (it->at != NULL && (it->at->n_fields == 2 || is_qualified(it, relation)) &&
            is_star(it->at->fields[it->at->n_fields - 1]) &&
            strcmp(rw_node_name(it->at->fields[it->at->n_fields - 2]), called(relation)) == 0)
            return true;
    return relation->starred || shows_row(find, relation);
}

/* Who numbers columns asks for those that were dropped as well: then there is one in the place of a
 * hash column before others. */
static void choose(const finder *find, asked *one)
{
    bool gaps = is_starred(find, one) || is_named(find, "attisdropped");
    one->relation =
        rw_system_relation_of(find->catalog, one->at->schemaname, one->at->relname, gaps);
}

/* Whether a column is asked for that is not shown as it is, and the others can be listed. */
static bool asks_for_shown(const finder *find, const asked *one)
{
    const rw_system_relation *relation = one->relation;
    if (is_starred(find, one))
        return relation->columns != NULL && rw_system_knows_columns(find->catalog, relation);
    for (const rw_system_column *it = relation->columns; it != NULL && it->name != NULL; it++)
        if (it->shown != NULL && is_named(find, it->name))
            return true;
    return false;
}

static const char *const system_columns[] = {"tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"};
enum { SYSTEM_COLUMNS = sizeof system_columns / sizeof *system_columns };

static bool is_system_column(const char *name)
{
    bool is = false;
    for (size_t i = 0; i < SYSTEM_COLUMNS && !is; i++)
        is = strcmp(name, system_columns[i]) == 0;
    return is;
}

/* Whether the statement may name a system column of the relation. */
static bool names_system_column(const finder *find, const asked *one)
{
    for (const named *it = find->names; it != NULL; it = it->next) {
        if (it->at == NULL || !is_system_column(last_of(it)))
            continue;
        size_t fields = it->at->n_fields;
        if (fields == 1 || strcmp(rw_node_name(it->at->fields[fields - 2]), called(one)) == 0)
            return true;
    }
    return false;
}

/* Whether the relation stays, because a subquery would not give the same, or nothing is to be
 * hidden. */
static bool stays(const finder *find, const asked *one)
{
    return needs_relation(find, one) || (is_starred(find, one) && names_system_column(find, one)) ||
           (shows_row(find, one) &&
            (is_ambiguous(find, one) || !rw_system_knows_columns(find->catalog, one->relation))) ||
           (!asks_for_shown(find, one) && one->relation->rows == NULL);
}

static const char *add_system_columns(const finder *find, const asked *one, pgw_buf *out)
{
    const char *between = " (select ";
    for (size_t i = 0; i < SYSTEM_COLUMNS; i++)
        if (!is_starred(find, one) && is_named(find, system_columns[i])) {
            pgw_buf_add_str(out, between);
            pgw_buf_add_str(out, system_columns[i]);
            between = ", ";
        }
    return between;
}

static void add_column(const finder *find, const asked *one, pgw_slice name, pgw_buf *out)
{
    const rw_system_marks marks = marks_of(find);
    const char *shown = rw_system_shown(one->relation, name);
    if (shown != NULL) {
        rw_system_add(out, shown, &marks);
        pgw_buf_add_str(out, " as ");
    }
    pgw_buf_add_slice(out, name);
}

/* Adds all columns, or those that the statement names: keyspread has no list of the columns of
 * every version. */
static void add_columns(const finder *find, const asked *one, pgw_buf *out)
{
    const rw_system_relation *relation = one->relation;
    const char *between = add_system_columns(find, one, out), *at = NULL;
    bool all = is_starred(find, one);
    pgw_slice name;
    if (!asks_for_shown(find, one)) {
        pgw_buf_add_str(out, between);
        pgw_buf_add_byte(out, '*');
        return;
    }
    while (all && relation->oid != 0 &&
           rw_system_next_column(find->catalog, relation, &at, &name)) {
        pgw_buf_add_str(out, between);
        add_column(find, one, name, out);
        between = ", ";
    }
    for (const rw_system_column *it = relation->columns; it->name != NULL; it++) {
        if (all ? relation->oid != 0 : !is_named(find, it->name))
            continue;
        pgw_buf_add_str(out, between);
        add_column(find, one, pgw_slice_str(it->name), out);
        between = ", ";
    }
}

/* A row of a subquery is a record, and can be cast. */
static void cast_rows(const finder *find, const asked *one)
{
    for (const named *it = find->names; it != NULL; it = it->next)
        if (is_row(find, it, one)) {
            pgw_buf text = {0};
            pgw_buf_addf(&text, "::%s.%s ", one->relation->schema, one->relation->name);
            rw_edit_put_cast(find->texts, it->at->location, &text);
        }
}

/* Once, if several of one name are asked for. */
static bool is_last_called(const finder *find, const asked *one)
{
    for (const asked *it = find->list; it != one; it = it->next)
        if (strcmp(called(it), called(one)) == 0)
            return false;
    return true;
}

/* `(select … from it`, and what is behind that: ` where …)`. */
static void add_query(const finder *find, const asked *one, pgw_buf *out, pgw_buf *behind)
{
    const rw_system_relation *relation = one->relation;
    const rw_system_marks marks = marks_of(find);
    add_columns(find, one, out);
    pgw_buf_add_str(out, " from ");
    if (one->at->catalogname[0] != '\0') {
        rw_add_identifier(out, one->at->catalogname);
        pgw_buf_add_byte(out, '.');
    }
    pgw_buf_addf(out, "%s.%s", relation->schema, relation->name);
    pgw_buf_add_str(behind, relation->rows != NULL ? " where " : "");
    rw_system_add(behind, relation->rows != NULL ? relation->rows : "", &marks);
    pgw_buf_add_str(behind, ") ");
    if (one->at->alias == NULL)
        pgw_buf_addf(behind, "as %s ", relation->name);
}

static void put(finder *find, const asked *one)
{
    pgw_buf text = {0}, behind = {0};
    if (stays(find, one))
        return;
    cut_schemas(find, one);
    add_query(find, one, &text, &behind);
    if (one->table != NULL)
        rw_edit_put_table(find->texts, one->table);
    if (one->sampled) {
        rw_edit_put_sampled(find->texts, one->at, &text, &behind);
    } else {
        pgw_buf_add_slice(&text, pgw_slice_buf(&behind));
        rw_edit_put_relation(find->texts, one->at->location, &text);
    }
    pgw_buf_free(&behind);
    if (is_last_called(find, one))
        cast_rows(find, one);
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
    case PG_QUERY__NODE__NODE_MERGE_STMT:
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT:
    case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
    case PG_QUERY__NODE__NODE_PREPARE_STMT:
        return true;
    default:
        return false;
    }
}

void rw_system_find(const PgQuery__Node *statement, const rw_catalog *catalog,
                    rw_edit_writer *texts)
{
    unsigned shared = 0;
    finder find = {.catalog = catalog, .texts = texts};
    if (!rw_system_hides(catalog) || !is_asking(statement))
        return;
    find.shared = rw_system_shares(statement) ? &shared : NULL;
    visit(&find, (const ProtobufCMessage *)statement);
    for (asked *it = find.list; it != NULL; it = it->next)
        choose(&find, it);
    for (const asked *it = find.list; it != NULL; it = it->next)
        put(&find, it);
    rw_system_share(statement, catalog, shared, texts);
}
