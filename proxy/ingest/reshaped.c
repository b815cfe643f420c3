#include "proxy/ingest/reshaped.h"

#include "rewrite/insert/parse.h"
#include "rewrite/statement/words/reach.h"

const rw_table *px_written_by(const rw_statement *statement)
{
    return statement->insert != NULL   ? statement->insert->table
           : statement->change != NULL ? statement->change->table
                                       : NULL;
}

typedef struct moves {
    const rw_table *table;
    size_t judged; /* statements that were looked at: none but the last may change the table */
    bool moved;    /* the last one may change the table */
} moves;

/* Whether a statement before `i` may change the table. Each is looked at once for a table, however
 * many statements write it. */
static bool is_moved(const rw_script *script, pgw_slice text, moves *of, size_t i, bool conforming)
{
    for (; of->judged < i && !of->moved; of->judged++) {
        const rw_statement *other = &script->statements[of->judged];
        of->moved = other->effects & RW_EFFECT_DDL &&
                    rw_moves_columns(rw_statement_text(other, text), of->table, conforming);
    }
    return of->moved;
}

static moves *moves_of(const rw_table *table, moves *all, size_t *count)
{
    size_t i = 0;
    while (i < *count && all[i].table != table)
        i++;
    if (i == *count)
        all[(*count)++] = (moves){.table = table};
    return &all[i];
}

const bool *px_reshaped(const rw_script *script, pgw_slice text, const rw_catalog *tables,
                        const pgw_env *env, pgw_arena *arena)
{
    if (!(script->effects & RW_EFFECT_DDL))
        return NULL;
    bool *reshaped = pgw_arena_alloc(arena, script->count * sizeof *reshaped);
    moves *all = pgw_arena_alloc(arena, script->count * sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        const rw_table *table = px_written_by(statement);
        if (table == NULL)
            table = rw_insert_target(rw_statement_text(statement, text), tables, env);
        reshaped[i] = table != NULL &&
                      is_moved(script, text, moves_of(table, all, &count), i, env->conforming);
    }
    return reshaped;
}
