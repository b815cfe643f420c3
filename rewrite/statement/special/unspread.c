#include "rewrite/statement/special/unspread.h"

#include "rewrite/lex/splitter.h"
#include "rewrite/statement/script/tree.h"
#include "rewrite/statement/tree/parse_tree.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

typedef struct seeker {
    const rw_catalog *catalog; /* the catalog whose tables are looked for; NULL: none are */
    const char *sought;        /* the name of a WITH query that is looked for; NULL: none is */
    const PgQuery__RangeVar *found;
    bool named; /* a WITH query is called `sought` */
} seeker;

static bool is_unspread(const rw_catalog *catalog, const PgQuery__RangeVar *name)
{
    pgw_slice schema = pgw_slice_str(name->schemaname), table = pgw_slice_str(name->relname);
    return rw_catalog_find(catalog, schema, table) == NULL &&
           rw_catalog_find(catalog->planned, schema, table) == NULL &&
           rw_catalog_pattern(catalog->planned, schema, table) != NULL;
}

static bool visit(void *context, const ProtobufCMessage *node)
{
    seeker *it = context;
    if (it->sought != NULL && node->descriptor == &pg_query__common_table_expr__descriptor)
        it->named |= strcmp(((const PgQuery__CommonTableExpr *)node)->ctename, it->sought) == 0;
    if (it->catalog != NULL && node->descriptor == &pg_query__range_var__descriptor &&
        is_unspread(it->catalog, (const PgQuery__RangeVar *)node)) {
        it->found = (const PgQuery__RangeVar *)node;
        return false;
    }
    return rw_walk(node, visit, it);
}

static void say(const PgQuery__ParseResult *parsed, const rw_catalog *catalog, pgw_buf *out)
{
    seeker it = {.catalog = catalog};
    visit(&it, &parsed->base);
    if (it.found == NULL)
        return;
    const PgQuery__RangeVar *found = it.found;
    seeker queries = {.sought = found->schemaname[0] == '\0' ? found->relname : ""};
    visit(&queries, &parsed->base);
    if (queries.named)
        return;
    const rw_table *pattern = rw_catalog_pattern(catalog->planned, pgw_slice_str(found->schemaname),
                                                 pgw_slice_str(found->relname));
    pgw_buf_addf(
        out,
        "%s has the name of a pattern, %s%s.%s*, but no such table with the column %s is known",
        found->relname, pattern->schema, pattern->schemas ? "*" : "", pattern->name,
        pattern->columns[pattern->hash_column].name);
}

void rw_unspread_say(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                     pgw_arena *arena, pgw_buf *out)
{
    rw_piece piece;
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, env->conforming);
    if (catalog->planned == NULL || !rw_catalog_mentioned(catalog->planned, text) ||
        !rw_split_next(&lexer, &piece) || !rw_tree_can_read(text, &piece))
        return;
    PgQuery__ParseResult *parsed = rw_parse_tree(text, env, arena);
    if (parsed != NULL)
        say(parsed, catalog, out);
    pg_query__parse_result__free_unpacked(parsed, NULL);
}
