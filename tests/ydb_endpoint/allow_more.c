#include "tests/ydb_endpoint/allow_more.h"

#include <pg_query/pg_query.pb-c.h>

#include <stddef.h>
#include <string.h>

static bool is_any(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static bool refuse(ye_failure *failure, const char *what)
{
    return ye_fail(failure, YE_GENERIC_ERROR, 0, "%s", what);
}

static const char *name_in(PgQuery__Node *const *names, size_t i)
{
    return names[i]->node_case == PG_QUERY__NODE__NODE_STRING ? names[i]->string->sval : "";
}

/* "Other schema names are looked up as "clusters" -> "Unknown cluster"" (2 Schemas). */
static bool check_relation(const ProtobufCMessage *node, const ye_options *options,
                           ye_failure *failure)
{
    static const char *const clusters[] = {"", "public", "pg_catalog", "information_schema", NULL};
    const PgQuery__RangeVar *relation = (const PgQuery__RangeVar *)node;
    (void)options;
    if (is_any(relation->schemaname, clusters))
        return true;
    return ye_fail(failure, YE_GENERIC_ERROR, 0, "Unknown cluster: %s", relation->schemaname);
}

/* "target alias not" (2 UPDATE). */
static bool check_target(const PgQuery__RangeVar *relation, ye_failure *failure)
{
    return relation->alias == NULL || refuse(failure, "alias is not supported");
}

/* "plain column refs only" (2 RETURNING). */
static bool check_returning(PgQuery__Node *const *list, size_t count, ye_failure *failure)
{
    for (size_t i = 0; i < count; i++) {
        const PgQuery__Node *value = list[i]->res_target->val;
        if (value->node_case != PG_QUERY__NODE__NODE_COLUMN_REF)
            return ye_fail(failure, YE_GENERIC_ERROR, 0,
                           "ResTarget: alternative is not implemented yet : %d",
                           (int)value->node_case);
    }
    return true;
}

static bool check_insert(const ProtobufCMessage *node, const ye_options *options,
                         ye_failure *failure)
{
    const PgQuery__InsertStmt *insert = (const PgQuery__InsertStmt *)node;
    (void)options;
    return check_target(insert->relation, failure) &&
           check_returning(insert->returning_list, insert->n_returning_list, failure);
}

static bool check_update(const ProtobufCMessage *node, const ye_options *options,
                         ye_failure *failure)
{
    const PgQuery__UpdateStmt *update = (const PgQuery__UpdateStmt *)node;
    (void)options;
    return check_target(update->relation, failure) &&
           check_returning(update->returning_list, update->n_returning_list, failure);
}

static bool check_delete(const ProtobufCMessage *node, const ye_options *options,
                         ye_failure *failure)
{
    const PgQuery__DeleteStmt *delete = (const PgQuery__DeleteStmt *)node;
    (void)options;
    return check_target(delete->relation, failure) &&
           check_returning(delete->returning_list, delete->n_returning_list, failure);
}

/* "`hashint8(int8)` … callable by name: uncertain" (5). */
static bool is_hash(const char *name)
{
    static const char *const names[] = {"hashint8", "hashtext", "hashint8extended",
                                        "hashtextextended", NULL};
    return is_any(name, names);
}

/* Functions are those of pg_catalog (2: SELECT, "function names resolve in pg_proc"). */
static bool check_call(const ProtobufCMessage *node, const ye_options *options, ye_failure *failure)
{
    const PgQuery__FuncCall *call = (const PgQuery__FuncCall *)node;
    const char *name = name_in(call->funcname, call->n_funcname - 1);
    const char *schema = call->n_funcname == 2 ? name_in(call->funcname, 0) : "pg_catalog";
    if (call->n_funcname > 2)
        return ye_fail(failure, YE_GENERIC_ERROR, 0, "FuncCall: too many name components:: %zu",
                       call->n_funcname);
    if (strcmp(schema, "pg_catalog") != 0)
        return ye_fail(failure, YE_GENERIC_ERROR, 0, "FuncCall: expected pg_catalog, but got: %s",
                       schema);
    return !options->no_hash_functions || !is_hash(name) ||
           ye_fail(failure, YE_GENERIC_ERROR, 0, "No such proc: %s", name);
}

static bool check_column(const ProtobufCMessage *node, const ye_options *options,
                         ye_failure *failure)
{
    (void)options;
    return ((const PgQuery__ColumnRef *)node)->n_fields <= 2 || refuse(failure, "Too many fields");
}

static bool check_operator(const ProtobufCMessage *node, const ye_options *options,
                           ye_failure *failure)
{
    const PgQuery__AExpr *expression = (const PgQuery__AExpr *)node;
    (void)options;
    return expression->n_name == 1 ||
           ye_fail(failure, YE_GENERIC_ERROR, 0, "Unsupported count of names: %zu",
                   expression->n_name);
}

/* "`SELECT ... FOR UPDATE`: uncertain" (2). */
static bool check_locking(const ProtobufCMessage *node, const ye_options *options,
                          ye_failure *failure)
{
    (void)node;
    return !options->refuse_locking || refuse(failure, "SelectStmt: not supported lockingClause");
}

/* --- CREATE TABLE --- */

/* "Types allowed as key … varchar and uuid keys were not supported in that version; newer may allow
 * uuid (uncertain)" (2). */
static bool is_key_type(const PgQuery__TypeName *type, const ye_options *options)
{
    static const char *const types[] = {
        "bool",      "char",    "int2",        "int4",     "int8",        "float4",  "float8",
        "text",      "bpchar",  "name",        "numeric",  "date",        "time",    "timetz",
        "timestamp", "bytea",   "timestamptz", "interval", "smallserial", "serial2", "serial",
        "serial4",   "serial8", "bigserial",   NULL};
    const char *name = name_in(type->names, type->n_names - 1);
    return type->n_array_bounds == 0 &&
           (is_any(name, types) || (options->uuid_keys && strcmp(name, "uuid") == 0));
}

static bool has_primary(const PgQuery__ColumnDef *column)
{
    for (size_t i = 0; i < column->n_constraints; i++)
        if (column->constraints[i]->constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY)
            return true;
    return false;
}

static const PgQuery__ColumnDef *find_column(const PgQuery__CreateStmt *create, const char *name)
{
    for (size_t i = 0; i < create->n_table_elts; i++)
        if (create->table_elts[i]->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF &&
            strcmp(create->table_elts[i]->column_def->colname, name) == 0)
            return create->table_elts[i]->column_def;
    return NULL;
}

static bool check_key(const PgQuery__CreateStmt *create, const char *name,
                      const ye_options *options, ye_failure *failure)
{
    const PgQuery__ColumnDef *column = find_column(create, name);
    if (column == NULL)
        return refuse(failure, "PK column does not belong to table");
    if (is_key_type(column->type_name, options))
        return true;
    return ye_fail(failure, YE_SCHEME_ERROR, 2003, "Column %s has wrong key type pg%s", name,
                   name_in(column->type_name->names, column->type_name->n_names - 1));
}

static bool check_constraint(const PgQuery__CreateStmt *create,
                             const PgQuery__Constraint *constraint, const ye_options *options,
                             bool *keyed, ye_failure *failure)
{
    if (constraint->contype != PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY)
        return constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE ||
               refuse(failure, "table constraint not supported");
    if (*keyed)
        return refuse(failure, "Only a single PK is allowed per table");
    *keyed = true;
    for (size_t i = 0; i < constraint->n_keys; i++)
        if (!check_key(create, name_in(constraint->keys, i), options, failure))
            return false;
    return true;
}

static bool check_element(const PgQuery__CreateStmt *create, const PgQuery__Node *element,
                          const ye_options *options, bool *keyed, ye_failure *failure)
{
    if (element->node_case == PG_QUERY__NODE__NODE_CONSTRAINT)
        return check_constraint(create, element->constraint, options, keyed, failure);
    if (!has_primary(element->column_def))
        return true;
    if (*keyed)
        return refuse(failure, "Only a single PK is allowed per table");
    *keyed = true;
    return check_key(create, element->column_def->colname, options, failure);
}

/* "PRIMARY KEY required (docs) … UNLOGGED" (2 CREATE TABLE). */
static bool check_create(const ProtobufCMessage *node, const ye_options *options,
                         ye_failure *failure)
{
    const PgQuery__CreateStmt *create = (const PgQuery__CreateStmt *)node;
    bool keyed = false;
    if (strcmp(create->relation->relpersistence, "u") == 0)
        return refuse(failure, "UNLOGGED tables not supported");
    for (size_t i = 0; i < create->n_table_elts; i++)
        if (!check_element(create, create->table_elts[i], options, &keyed, failure))
            return false;
    return keyed || refuse(failure, "Primary key is required for ydb tables.");
}

/* "only ALTER COLUMN SET DEFAULT nextval()/DROP DEFAULT" (2 ALTER TABLE). */
static bool check_change(const ProtobufCMessage *node, const ye_options *options,
                         ye_failure *failure)
{
    const PgQuery__Node *value = ((const PgQuery__AlterTableCmd *)node)->def;
    (void)options;
    if (value == NULL ||
        (value->node_case == PG_QUERY__NODE__NODE_FUNC_CALL &&
         strcmp(name_in(value->func_call->funcname, value->func_call->n_funcname - 1), "nextval") ==
             0))
        return true;
    return ye_fail(failure, YE_GENERIC_ERROR, 0, "alternative is not implemented yet : %d",
                   (int)value->node_case);
}

static bool check_arm(const PgQuery__SelectStmt *arm, ye_failure *failure)
{
    if (arm->op == PG_QUERY__SET_OPERATION__SETOP_NONE && arm->n_sort_clause > 0)
        return refuse(failure, "SelectStmt: sortClause should be used only on top");
    return arm->op != PG_QUERY__SET_OPERATION__SETOP_NONE ||
           (arm->limit_count == NULL && arm->limit_offset == NULL) ||
           refuse(failure, "SelectStmt: limit should be used only on top");
}

/* What stands beside UNION may have no order and no limit of its own (pg_sql.cpp ParseSelectStmt).
 */
static bool check_select(const ProtobufCMessage *node, const ye_options *options,
                         ye_failure *failure)
{
    const PgQuery__SelectStmt *select = (const PgQuery__SelectStmt *)node;
    (void)options;
    return select->op == PG_QUERY__SET_OPERATION__SETOP_NONE ||
           (check_arm(select->larg, failure) && check_arm(select->rarg, failure));
}

ye_check ye_check_of(const char *node)
{
    static const struct {
        const char *node;
        ye_check check;
    } checks[] = {
        {"RangeVar", check_relation}, {"InsertStmt", check_insert},
        {"UpdateStmt", check_update}, {"DeleteStmt", check_delete},
        {"FuncCall", check_call},     {"ColumnRef", check_column},
        {"AExpr", check_operator},    {"LockingClause", check_locking},
        {"CreateStmt", check_create}, {"AlterTableCmd", check_change},
        {"SelectStmt", check_select},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (strcmp(checks[i].node, node) == 0)
            return checks[i].check;
    return NULL;
}
