#include "ydb/endpoint/wording.h"

#include "ydb/plain/assigned.h"
#include "ydb/plain/inline.h"

static rw_params params_of(const pgw_portal *portal, pgw_arena *arena)
{
    const pgw_bind *bind = &portal->bind;
    rw_param *list = pgw_arena_alloc(arena, bind->value_count * sizeof *list + 1);
    pgw_reader reader = pgw_reader_of(bind->values);
    for (size_t i = 0; i < bind->value_count; i++) {
        pgw_bind_value value = pgw_bind_next(&reader);
        list[i] = (rw_param){.type = portal->statement->types[i],
                             .binary = pgw_bind_is_binary(bind, i),
                             .null = value.null,
                             .bytes = value.bytes};
    }
    return (rw_params){list, bind->value_count};
}

static bool put(pgw_slice source, const rw_inlining *how, const pgw_reading *reading,
                pgw_slice *text)
{
    pgw_buf out = {0};
    bool fine = rw_inline(source, how, &out, reading->error);
    if (fine)
        *text = pgw_arena_keep(reading->arena, &out);
    pgw_buf_free(&out);
    return fine;
}

bool px_ydb_word(const pgw_portal *portal, size_t most, const pgw_reading *reading, pgw_slice *text)
{
    const pgw_slice *texts = NULL;
    const pgw_statement *statement = portal->statement;
    rw_params params = params_of(portal, reading->arena);
    *text = statement->piece.text;
    if (portal->arguments != NULL &&
        !rw_arguments_fit(portal->arguments, statement->types, statement->type_count, reading))
        return false;
    if (portal->arguments != NULL)
        texts = rw_argument_texts(portal->arguments, statement->types, statement->type_count,
                                  reading->arena);
    else if (!rw_bound_texts(params, most, reading, &texts))
        return false;
    const rw_inlining how = {.texts = texts,
                             .count = statement->type_count,
                             .conforming = reading->env->conforming,
                             .most = most};
    return put(*text, &how, reading, text);
}

bool px_ydb_word_nulls(const pgw_statement *statement, const rw_catalog *catalog, size_t most,
                       const pgw_reading *reading, rw_inferred *inferred, pgw_slice *text)
{
    *text = statement->piece.text;
    rw_declared declared = {statement->types, statement->type_count};
    if (!rw_infer(*text, catalog, declared, reading, inferred))
        return false;
    const rw_inlining how = {.texts =
                                 rw_null_texts(inferred->types, inferred->count, reading->arena),
                             .count = inferred->count,
                             .conforming = reading->env->conforming,
                             .most = most,
                             .unnamed = inferred->unnamed,
                             .unnamed_count = inferred->unnamed_count};
    return put(*text, &how, reading, text);
}
