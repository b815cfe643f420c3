#include "ydb/plain/session.h"

#include "rewrite/lex/words.h"
#include "ydb/plain/described.h"
#include "rewrite/statement/script/syntax.h"
#include "ydb/plain/variable_list.h"
#include "ydb/plain/variable_value.h"
#include "rewrite/statement/script/tree.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

typedef struct speaker {
    rw_variables *variables;
    const pgw_reading *reading;
    bool runs; /* false: the statement is only described */
    bool in_block;
    rw_said *out;
} speaker;

static const pgw_slice nothing = {NULL, 0};

static bool fail_unknown(const speaker *it, pgw_slice name)
{
    return pgw_fail(it->reading->error, "42704", "unrecognized configuration parameter \"%.*s\"",
                    RW_SHOWN(name));
}

/* ---- rows ---- */

static void begin_columns(size_t count, pgw_buf *body)
{
    pgw_buf_add_i16(body, (int16_t)count);
}

static void add_column(const char *name, pgw_buf *body)
{
    rw_add_described(body, name, PGW_TEXT, -1);
}

static void end_columns(const speaker *it, pgw_buf *body)
{
    it->out->columns = pgw_arena_keep(it->reading->arena, body);
}

static pgw_slice *make_cells(const speaker *it, size_t rows, size_t width)
{
    pgw_slice *cells = pgw_arena_alloc(it->reading->arena, rows * width * sizeof *cells);
    it->out->cells = cells;
    it->out->rows = rows;
    it->out->width = width;
    return cells;
}

/* Copies a value as it is now, whatever becomes of the variable; never a NULL. */
static pgw_slice copy(const speaker *it, pgw_slice value)
{
    return pgw_arena_copy(it->reading->arena, value);
}

/* ---- constants ---- */

/* Reads a constant, with casts or not, as a text; a NULL is {NULL, 0}. False: the node is something
 * else. */
static bool read_constant(const speaker *it, const PgQuery__Node *node, pgw_slice *text)
{
    while (node != NULL && node->node_case == PG_QUERY__NODE__NODE_TYPE_CAST)
        node = node->type_cast->arg;
    if (node == NULL || node->node_case != PG_QUERY__NODE__NODE_A_CONST)
        return false;
    const PgQuery__AConst *constant = node->a_const;
    *text = nothing;
    if (constant->isnull)
        return true;
    switch ((int)constant->val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
        *text =
            pgw_slice_str(pgw_arena_printf(it->reading->arena, "%d", (int)constant->ival->ival));
        return true;
    case PG_QUERY__A__CONST__VAL_FVAL:
        *text = copy(it, pgw_slice_str(constant->fval->fval));
        return true;
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
        *text = constant->boolval->boolval ? PGW_LITERAL("true") : PGW_LITERAL("false");
        return true;
    case PG_QUERY__A__CONST__VAL_SVAL:
        *text = copy(it, pgw_slice_str(constant->sval->sval));
        return true;
    default:
        return false;
    }
}

static bool is_true(pgw_slice value)
{
    return value.len > 0 &&
           (strchr("tTyY1", value.ptr[0]) != NULL || pgw_slice_ieq_str(value, "on"));
}

/* ---- SHOW ---- */

static const char *shown_name(pgw_slice name, pgw_arena *arena)
{
    const rw_variable *known = rw_variable_named(name);
    return known != NULL ? known->name : pgw_arena_copy(arena, name).ptr;
}

static bool show(const speaker *it, pgw_slice name)
{
    pgw_buf body = {0};
    pgw_slice value;
    if (!rw_variables_get(it->variables, name, &value))
        return fail_unknown(it, name);
    begin_columns(1, &body);
    add_column(shown_name(name, it->reading->arena), &body);
    end_columns(it, &body);
    make_cells(it, 1, 1)[0] = copy(it, value);
    it->out->tag = "SHOW";
    return true;
}

static bool show_all(const speaker *it)
{
    pgw_buf body = {0};
    begin_columns(3, &body);
    add_column("name", &body);
    add_column("setting", &body);
    add_column("description", &body);
    end_columns(it, &body);
    pgw_slice *cells = make_cells(it, RW_VARIABLES, 3);
    it->out->rows = 0;
    for (size_t i = 0; i < RW_VARIABLES; i++) {
        const rw_variable *known = &rw_variable_list[i];
        pgw_slice name = pgw_slice_str(known->name);
        if (known->description[0] == '\0' || !rw_variables_get(it->variables, name, &cells[1]))
            continue;
        cells[0] = name;
        cells[1] = copy(it, cells[1]);
        cells[2] = pgw_slice_str(known->description);
        cells += 3;
        it->out->rows++;
    }
    it->out->tag = "SHOW";
    return true;
}

/* ---- SET, RESET ---- */

static void warn(const speaker *it, const char *command)
{
    if (!it->in_block)
        pgw_fail(&it->out->warning, "25P01", "%s can only be used in transaction blocks", command);
}

static bool set(const speaker *it, pgw_slice name, pgw_slice value, bool local)
{
    return !it->runs || rw_variables_set(it->variables, name, value, local, it->reading->error);
}

/* Adds a name of a list as PostgreSQL's quote_identifier() has it. */
static void add_name(pgw_slice name, pgw_buf *out)
{
    bool plain = name.len > 0;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        plain = plain && ((c >= 'a' && c <= 'z') || c == '_' || (i > 0 && c >= '0' && c <= '9'));
    }
    pgw_buf_add_str(out, plain ? "" : "\"");
    for (size_t i = 0; i < name.len; i++) {
        pgw_buf_add_str(out, name.ptr[i] == '"' ? "\"" : "");
        pgw_buf_add_byte(out, name.ptr[i]);
    }
    pgw_buf_add_str(out, plain ? "" : "\"");
}

/* Reads what stands behind `=`, as one text (flatten_set_variable_args). */
static bool read_values(const speaker *it, const PgQuery__VariableSetStmt *stmt, pgw_slice *out)
{
    const rw_variable *known = rw_variable_named(pgw_slice_str(stmt->name));
    bool path = known != NULL && known->kind == RW_VARIABLE_PATH;
    bool list = path || (known != NULL && known->kind == RW_VARIABLE_DATES);
    pgw_buf text = {0};
    if (stmt->n_args > 1 && !list)
        return pgw_fail(it->reading->error, "22023", "SET %s takes only one argument", stmt->name);
    for (size_t i = 0; i < stmt->n_args; i++) {
        pgw_slice value;
        pgw_buf_add_str(&text, i > 0 ? ", " : "");
        if (!read_constant(it, stmt->args[i], &value)) {
            pgw_buf_free(&text);
            return pgw_fail(it->reading->error, "0A000", "SET takes constants only");
        }
        if (path)
            add_name(value, &text);
        else
            pgw_buf_add_slice(&text, value);
    }
    *out = text.len > 0 ? pgw_arena_keep(it->reading->arena, &text) : PGW_LITERAL("");
    return true;
}

static bool set_value(const speaker *it, const PgQuery__VariableSetStmt *stmt)
{
    pgw_slice value;
    if (stmt->is_local)
        warn(it, "SET LOCAL");
    return read_values(it, stmt, &value) &&
           set(it, pgw_slice_str(stmt->name), value, stmt->is_local);
}

static bool set_each_mode(const speaker *it, const char *prefix, PgQuery__Node *const *modes,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const PgQuery__DefElem *mode = modes[i]->def_elem;
        const char *name = pgw_arena_printf(it->reading->arena, "%s%s", prefix, mode->defname);
        pgw_slice value;
        if (!read_constant(it, mode->arg, &value) || !set(it, pgw_slice_str(name), value, false))
            return false;
    }
    return true;
}

/* Runs SET TRANSACTION or SET SESSION CHARACTERISTICS AS TRANSACTION. */
static bool set_modes(const speaker *it, const PgQuery__VariableSetStmt *stmt)
{
    const char *prefix = "";
    if (strcmp(stmt->name, "SESSION CHARACTERISTICS") == 0)
        prefix = "default_";
    else if (strcmp(stmt->name, "TRANSACTION") == 0)
        warn(it, "SET TRANSACTION");
    else
        return pgw_fail(it->reading->error, "0A000", "SET TRANSACTION SNAPSHOT is not supported");
    return set_each_mode(it, prefix, stmt->args, stmt->n_args);
}

static bool reset(const speaker *it, const PgQuery__VariableSetStmt *stmt)
{
    return set(it, pgw_slice_str(stmt->name), nothing, stmt->is_local);
}

static bool set_statement(const speaker *it, const PgQuery__VariableSetStmt *stmt)
{
    it->out->tag = "SET";
    switch ((int)stmt->kind) {
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE:
        return set_value(it, stmt);
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_MULTI:
        return set_modes(it, stmt);
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_DEFAULT:
        if (stmt->is_local)
            warn(it, "SET LOCAL");
        return reset(it, stmt);
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET:
        it->out->tag = "RESET";
        return reset(it, stmt);
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL:
        it->out->tag = "RESET";
        if (it->runs)
            rw_variables_reset_all(it->variables);
        return true;
    default:
        return pgw_fail(it->reading->error, "0A000", "SET … FROM CURRENT is not supported");
    }
}

static bool set_constraints(const speaker *it, const PgQuery__ConstraintsSetStmt *stmt)
{
    it->out->tag = "SET CONSTRAINTS";
    warn(it, "SET CONSTRAINTS");
    return stmt->n_constraints == 0 ||
           pgw_fail(it->reading->error, "42704", "constraint \"%s\" does not exist",
                    stmt->constraints[0]->range_var->relname);
}

static bool discard(const speaker *it, PgQuery__DiscardMode target)
{
    static const char *const tags[] = {
        [PG_QUERY__DISCARD_MODE__DISCARD_ALL] = "DISCARD ALL",
        [PG_QUERY__DISCARD_MODE__DISCARD_PLANS] = "DISCARD PLANS",
        [PG_QUERY__DISCARD_MODE__DISCARD_SEQUENCES] = "DISCARD SEQUENCES",
        [PG_QUERY__DISCARD_MODE__DISCARD_TEMP] = "DISCARD TEMP",
    };
    it->out->tag = tags[target];
    if (it->runs && target == PG_QUERY__DISCARD_MODE__DISCARD_ALL)
        rw_variables_reset_all(it->variables);
    return true;
}

/* ---- SELECT set_config(…), current_setting(…) ---- */

static const PgQuery__FuncCall *call_of(const PgQuery__Node *target)
{
    const PgQuery__Node *value = target->res_target->val;
    if (value == NULL || value->node_case != PG_QUERY__NODE__NODE_FUNC_CALL)
        return NULL;
    const PgQuery__FuncCall *call = value->func_call;
    bool named =
        call->n_funcname == 1 ||
        (call->n_funcname == 2 && strcmp(rw_node_name(call->funcname[0]), "pg_catalog") == 0);
    bool plain = !call->agg_star && !call->agg_distinct && !call->func_variadic &&
                 call->over == NULL && call->n_agg_order == 0 && call->agg_filter == NULL;
    return named && plain ? call : NULL;
}

static bool is_setter(const PgQuery__FuncCall *call)
{
    return strcmp(rw_node_name(call->funcname[call->n_funcname - 1]), "set_config") == 0;
}

static bool is_ours(const speaker *it, const PgQuery__Node *target)
{
    const PgQuery__FuncCall *call = call_of(target);
    if (call == NULL)
        return false;
    const char *name = rw_node_name(call->funcname[call->n_funcname - 1]);
    bool setter = is_setter(call);
    if (!setter && strcmp(name, "current_setting") != 0)
        return false;
    for (size_t i = 0; i < call->n_args; i++) {
        const PgQuery__Node *at = call->args[i];
        pgw_slice value;
        while (at->node_case == PG_QUERY__NODE__NODE_TYPE_CAST)
            at = at->type_cast->arg;
        if (at->node_case != PG_QUERY__NODE__NODE_PARAM_REF && !read_constant(it, at, &value))
            return false;
    }
    return setter ? call->n_args == 3 : call->n_args == 1 || call->n_args == 2;
}

static bool are_ours(const speaker *it, const PgQuery__SelectStmt *select)
{
    if (select->op != PG_QUERY__SET_OPERATION__SETOP_NONE || select->n_target_list == 0 ||
        select->n_from_clause > 0 || select->where_clause != NULL || select->n_group_clause > 0 ||
        select->having_clause != NULL || select->n_window_clause > 0 ||
        select->n_values_lists > 0 || select->n_sort_clause > 0 || select->limit_offset != NULL ||
        select->limit_count != NULL || select->with_clause != NULL || select->into_clause != NULL ||
        select->n_distinct_clause > 0 || select->n_locking_clause > 0)
        return false;
    for (size_t i = 0; i < select->n_target_list; i++)
        if (!is_ours(it, select->target_list[i]))
            return false;
    return true;
}

static bool set_config(const speaker *it, const pgw_slice *args, pgw_slice *value)
{
    if (args[0].ptr == NULL)
        return pgw_fail(it->reading->error, "22004", "SET requires parameter name");
    if (!set(it, args[0], args[1], is_true(args[2])) ||
        !rw_variables_get(it->variables, args[0], value))
        return false;
    *value = copy(it, *value);
    return true;
}

static bool current_setting(const speaker *it, const pgw_slice *args, size_t count,
                            pgw_slice *value)
{
    *value = nothing;
    if (args[0].ptr == NULL || (count == 2 && args[1].ptr == NULL))
        return true; /* current_setting() is strict */
    if (!rw_variables_get(it->variables, args[0], value))
        return (count == 2 && is_true(args[1])) || fail_unknown(it, args[0]);
    *value = copy(it, *value);
    return true;
}

static bool call(const speaker *it, const PgQuery__FuncCall *call, pgw_slice *value)
{
    pgw_slice args[3] = {nothing, nothing, nothing};
    for (size_t i = 0; i < call->n_args; i++)
        if (!read_constant(it, call->args[i], &args[i]))
            return pgw_fail(it->reading->error, "42P02", "there is no parameter here");
    return is_setter(call) ? set_config(it, args, value)
                           : current_setting(it, args, call->n_args, value);
}

static bool select(const speaker *it, const PgQuery__SelectStmt *stmt)
{
    pgw_buf body = {0};
    size_t count = stmt->n_target_list;
    begin_columns(count, &body);
    for (size_t i = 0; i < count; i++) {
        const PgQuery__ResTarget *target = stmt->target_list[i]->res_target;
        bool named = target->name != NULL && target->name[0] != '\0';
        add_column(named                                      ? target->name
                   : is_setter(call_of(stmt->target_list[i])) ? "set_config"
                                                              : "current_setting",
                   &body);
    }
    end_columns(it, &body);
    it->out->tag = "SELECT 1";
    pgw_slice *cells = make_cells(it, 1, count);
    for (size_t i = 0; it->runs && i < count; i++)
        if (!call(it, call_of(stmt->target_list[i]), &cells[i]))
            return false;
    return true;
}

/* ---- all of them ---- */

static bool say(const speaker *it, const PgQuery__Node *node)
{
    *it->out = (rw_said){.tag = ""};
    switch ((int)node->node_case) {
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT:
        return set_statement(it, node->variable_set_stmt);
    case PG_QUERY__NODE__NODE_TRANSACTION_STMT:
        return set_each_mode(it, "", node->transaction_stmt->options,
                             node->transaction_stmt->n_options);
    case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT:
        return strcmp(node->variable_show_stmt->name, "all") == 0
                   ? show_all(it)
                   : show(it, pgw_slice_str(node->variable_show_stmt->name));
    case PG_QUERY__NODE__NODE_CONSTRAINTS_SET_STMT:
        return set_constraints(it, node->constraints_set_stmt);
    case PG_QUERY__NODE__NODE_UNLISTEN_STMT:
        it->out->tag = "UNLISTEN"; /* no session can LISTEN */
        return true;
    case PG_QUERY__NODE__NODE_DISCARD_STMT:
        return discard(it, node->discard_stmt->target);
    case PG_QUERY__NODE__NODE_SELECT_STMT:
        if (are_ours(it, node->select_stmt))
            return select(it, node->select_stmt);
        break;
    default:
        break;
    }
    return pgw_fail(it->reading->error, "XX000", "this statement is not about settings");
}

static bool parse(pgw_slice text, const pgw_reading *reading, rw_syntax *out)
{
    if (text.len > RW_TREE_MAX_BYTES)
        return pgw_fail(reading->error, "54000", "the statement is longer than %d bytes",
                        RW_TREE_MAX_BYTES);
    return rw_syntax_parse(text, reading->env, reading->arena, out, reading->error);
}

static bool parse_and_say(const speaker *it, pgw_slice text)
{
    rw_syntax syntax;
    if (!parse(text, it->reading, &syntax))
        return false;
    bool fine = say(it, syntax.statement);
    rw_syntax_free(&syntax);
    return fine;
}

bool rw_session_selects(pgw_slice text, const pgw_reading *reading)
{
    static const char *const names[] = {"set_config", "current_setting", NULL};
    speaker it = {.reading = reading};
    rw_syntax syntax;
    if (!rw_holds_any(text, names) || !parse(text, reading, &syntax))
        return false;
    const PgQuery__Node *node = syntax.statement;
    bool ours =
        node->node_case == PG_QUERY__NODE__NODE_SELECT_STMT && are_ours(&it, node->select_stmt);
    rw_syntax_free(&syntax);
    return ours;
}

bool rw_session_describe(const rw_variables *variables, pgw_slice text, const pgw_reading *reading,
                         rw_said *out)
{
    return parse_and_say(
        &(speaker){.variables = (rw_variables *)variables, .reading = reading, .out = out}, text);
}

bool rw_session_run(rw_variables *variables, pgw_slice text, bool in_block,
                    const pgw_reading *reading, rw_said *out)
{
    return parse_and_say(&(speaker){variables, reading, true, in_block, out}, text);
}
