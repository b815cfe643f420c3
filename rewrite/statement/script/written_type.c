#include "rewrite/statement/script/written_type.h"

#include "rewrite/statement/script/names.h"
#include "rewrite/statement/script/syntax.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

enum { LONGEST = 200 }; /* bytes of a text that is read */

/* Other schemas may have types of the same names. */
static uint32_t own_type(const PgQuery__TypeName *name)
{
    bool own = name->n_names < 2 || strcmp(rw_node_name(name->names[0]), "pg_catalog") == 0;
    return own ? rw_type_of_name(name) : PGW_UNSPECIFIED;
}

static uint32_t type_of_cast(const PgQuery__Node *statement)
{
    if (statement->node_case != PG_QUERY__NODE__NODE_SELECT_STMT ||
        statement->select_stmt->n_target_list != 1)
        return PGW_UNSPECIFIED;
    const PgQuery__Node *value = statement->select_stmt->target_list[0]->res_target->val;
    return value->node_case == PG_QUERY__NODE__NODE_TYPE_CAST
               ? own_type(value->type_cast->type_name)
               : PGW_UNSPECIFIED;
}

uint32_t rw_written_type(const char *text)
{
    static const pgw_env env = {.utf8 = true, .conforming = true};
    uint32_t type = PGW_UNSPECIFIED;
    pgw_arena arena = {0};
    pgw_error unused;
    rw_syntax syntax;
    if (strlen(text) > LONGEST)
        return type;
    pgw_slice cast = pgw_slice_str(pgw_arena_printf(&arena, "SELECT CAST(NULL AS %s)", text));
    if (rw_syntax_parse(cast, &env, &arena, &syntax, &unused)) {
        type = type_of_cast(syntax.statement);
        rw_syntax_free(&syntax);
    }
    pgw_arena_free(&arena);
    return type;
}

static bool is_single_value(const PgQuery__Node *statement)
{
    return statement->node_case == PG_QUERY__NODE__NODE_SELECT_STMT &&
           statement->select_stmt->n_target_list == 1 &&
           statement->select_stmt->n_from_clause == 0 &&
           statement->select_stmt->where_clause == NULL;
}

bool rw_is_expression(const char *text)
{
    static const pgw_env env = {.utf8 = true, .conforming = true};
    pgw_arena arena = {0};
    pgw_error unused;
    rw_syntax syntax;
    if (strlen(text) > LONGEST)
        return false;
    pgw_slice query = pgw_slice_str(pgw_arena_printf(&arena, "SELECT (%s)", text));
    bool is = rw_syntax_parse(query, &env, &arena, &syntax, &unused);
    if (is) {
        is = is_single_value(syntax.statement);
        rw_syntax_free(&syntax);
    }
    pgw_arena_free(&arena);
    return is;
}
