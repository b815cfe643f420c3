#include "proxy/ingest/lookups.h"

#include "protocol/utf8.h"
#include "proxy/ingest/bind.h"
#include "rewrite/read/hide.h"

#include <string.h>

/* What the backend is to be declared, and what it will take the client's parameters for. */
static void find_types(px_lookups *it, px_declared declared)
{
    size_t all = it->own + it->conditions.parameters;
    uint32_t *types = pgw_arena_alloc(&it->arena, (it->own + all + 1) * sizeof *types);
    if (declared.count > 0)
        memcpy(types, declared.types, declared.count * sizeof *types);
    it->declared = (px_declared){types, declared.count};
    it->types = types + all;
    memcpy(it->types, types, it->own * sizeof *types);
    for (size_t i = it->own; i < all; i++)
        types[i] = PGW_INT8;
    for (size_t i = 0; i < it->conditions.count; i++)
        rw_lookup_types(it->conditions.lookups[i], it->types, it->own);
}

static px_lookups *keep(pgw_slice text, const rw_conditions *conditions, const rw_statement *of)
{
    pgw_arena arena = {0};
    px_lookups *it = pgw_arena_alloc(&arena, sizeof *it);
    *it = (px_lookups){.references = 1, .start = of->start, .end = of->end};
    it->text = pgw_arena_copy(&arena, text);
    rw_conditions_keep(conditions, &arena, &it->conditions);
    pgw_buf rewritten = {0};
    pgw_buf_add(&rewritten, text.ptr, of->start);
    rw_conditions_render(conditions, (pgw_slice){text.ptr + of->start, of->end - of->start},
                         &rewritten);
    pgw_buf_add(&rewritten, text.ptr + of->end, text.len - of->end);
    it->rewritten = pgw_arena_keep(&arena, &rewritten);
    it->arena = arena;
    return it;
}

px_lookups *px_lookups_new(pgw_slice text, const rw_statement *statement, px_catalog *catalog,
                           const pgw_reading *reading, px_declared declared)
{
    const pgw_env *env = reading->env;
    pgw_slice written = {text.ptr + statement->start, statement->end - statement->start};
    uint32_t highest = rw_highest_parameter(written, env->conforming);
    size_t own = highest > declared.count ? highest : declared.count;
    rw_prepared prepared = {written, {declared.types, declared.count}, (uint32_t)own};
    rw_conditions conditions;
    rw_conditions_of(statement->lookups, statement->lookup_count, &prepared, reading, &conditions);
    if (conditions.count == 0)
        return NULL;
    px_lookups *it = keep(text, &conditions, statement);
    px_catalog_take(it->catalog = catalog);
    it->own = own;
    it->utf8 = env->utf8;
    find_types(it, declared);
    return it;
}

void px_lookups_take(px_lookups *lookups)
{
    lookups->references++;
}

void px_lookups_drop(px_lookups *lookups)
{
    if (lookups == NULL || --lookups->references > 0)
        return;
    px_catalog_drop(lookups->catalog);
    pgw_arena arena = lookups->arena; /* it lives in it itself */
    pgw_arena_free(&arena);
}

void px_lookups_parse(const px_lookups *lookups, pgw_slice name, bool plain, pgw_buf *out)
{
    size_t all = lookups->conditions.parameters > 0 ? lookups->own + lookups->conditions.parameters
                                                    : lookups->declared.count;
    pgw_certainly(pgw_write_parse(name, plain ? lookups->text : lookups->rewritten,
                                  lookups->declared.types, plain ? lookups->declared.count : all,
                                  out));
}

bool px_lookups_bind(const px_lookups *lookups, const pgw_bind *bind, const pgw_env *env,
                     pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error;
    pgw_reading reading = {env, &arena, &error};
    size_t count = lookups->conditions.parameters;
    uint64_t *hashes = pgw_arena_alloc(&arena, count * sizeof *hashes);
    int64_t *more = pgw_arena_alloc(&arena, count * sizeof *more);
    rw_params params = {px_bind_parameters(lookups->types, bind, &arena), bind->value_count};
    bool known = rw_conditions_bind(&lookups->conditions, params, &reading, hashes) == PGW_KNOWN;
    for (size_t i = 0; i < count; i++)
        more[i] = (int64_t)hashes[i];
    known = known && pgw_write_bind(bind, bind->portal, bind->statement, more, count, out);
    pgw_arena_free(&arena);
    return known;
}

void px_lookups_error(const px_lookups *lookups, pgw_slice body, pgw_buf *out)
{
    size_t before = pgw_characters(lookups->text, lookups->start, lookups->utf8);
    rw_hide_error(
        body,
        &(rw_sent){.conditions = &lookups->conditions,
                   .text = {lookups->text.ptr + lookups->start, lookups->end - lookups->start},
                   .utf8 = lookups->utf8,
                   .before = before,
                   .rendered_before = before},
        out);
}
