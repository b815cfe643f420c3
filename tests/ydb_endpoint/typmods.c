#include "tests/ydb_endpoint/typmods.h"

#include <pg_query.h>

#include <stdlib.h>
#include <string.h>

/* Types that mean another thing without a typmod: char is char(1). */
static bool needs_typmod(const PgQuery__TypeName *type)
{
    const char *name = type->names[type->n_names - 1]->string->sval;
    return strcmp(name, "bpchar") == 0 || strcmp(name, "bit") == 0;
}

static PgQuery__TypeName *type_of(const PgQuery__Node *element)
{
    if (element->node_case != PG_QUERY__NODE__NODE_COLUMN_DEF ||
        needs_typmod(element->column_def->type_name))
        return NULL;
    return element->column_def->type_name;
}

static void deparse(const PgQuery__ParseResult *tree, pgw_buf *out)
{
    const size_t size = pg_query__parse_result__get_packed_size(tree);
    PgQueryProtobuf packed = {size, pgw_alloc(size)};
    pg_query__parse_result__pack(tree, (uint8_t *)packed.data);
    PgQueryDeparseResult result = pg_query_deparse_protobuf(packed);
    if (result.query != NULL)
        pgw_buf_add(out, result.query, strlen(result.query) + 1);
    pg_query_free_deparse_result(result);
    free(packed.data);
}

bool ye_typmods_drop(PgQuery__ParseResult *tree, pgw_buf *out)
{
    const PgQuery__Node *statement = tree->n_stmts == 1 ? tree->stmts[0]->stmt : NULL;
    if (statement == NULL || statement->node_case != PG_QUERY__NODE__NODE_CREATE_STMT)
        return false;
    const PgQuery__CreateStmt *create = statement->create_stmt;
    size_t *kept = pgw_calloc(create->n_table_elts, sizeof *kept);
    for (size_t i = 0; i < create->n_table_elts; i++) {
        PgQuery__TypeName *type = type_of(create->table_elts[i]);
        if (type == NULL)
            continue;
        kept[i] = type->n_typmods;
        type->n_typmods = 0;
    }
    deparse(tree, out);
    for (size_t i = 0; i < create->n_table_elts; i++)
        if (kept[i] > 0)
            type_of(create->table_elts[i])->n_typmods = kept[i];
    free(kept);
    return out->len > 0;
}
