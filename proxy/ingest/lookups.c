#include "proxy/ingest/lookups.h"

#include "protocol/utf8.h"
#include "proxy/ingest/bind.h"
#include "rewrite/hash/hash_sql.h"
#include "rewrite/statement/script/key_change_put.h"

#include <inttypes.h>
#include <string.h>

/* Finds the types to declare to the backend, and those that it will take the client's parameters
 * for. */
static void find_types(px_lookups *it, px_declared declared)
{
    size_t all = it->own + it->conditions.parameters;
    uint32_t *types = pgw_arena_alloc(&it->arena, (it->own + all + 1) * sizeof *types);
    if (declared.count > 0)
        memcpy(types, declared.types, declared.count * sizeof *types);
    it->declared = (px_declared){types, declared.count};
    it->types = types + all;
    memcpy(it->types, types, it->own * sizeof *types);
    rw_conditions_types(&it->conditions, types + it->own);
    for (size_t i = 0; i < it->conditions.lookup_count; i++)
        rw_lookup_types(it->conditions.lookups[i], it->types, it->own);
}

static pgw_slice render(pgw_slice text, const rw_conditions *conditions, const rw_statement *of,
                        pgw_arena *arena)
{
    pgw_buf out = {0};
    pgw_buf_add(&out, text.ptr, of->start);
    rw_conditions_render(conditions, rw_statement_text(of, text), &out);
    pgw_buf_add(&out, text.ptr + of->end, text.len - of->end);
    return pgw_arena_keep(arena, &out);
}

static const pgw_error *keep_error(const pgw_error *error, pgw_arena *arena)
{
    pgw_error *kept = error != NULL ? pgw_arena_alloc(arena, sizeof *kept) : NULL;
    if (kept != NULL)
        *kept = *error;
    return kept;
}

static px_lookups *keep(pgw_slice text, const rw_conditions *conditions,
                        const rw_prepared *prepared, const rw_statement *of)
{
    pgw_arena arena = {0};
    px_lookups *it = pgw_arena_alloc(&arena, sizeof *it);
    *it = (px_lookups){.references = 1, .start = of->start, .end = of->end};
    it->text = pgw_arena_copy(&arena, text);
    rw_conditions_keep(conditions, &arena, &it->conditions);
    it->rewritten = render(text, conditions, of, &arena);
    rw_conditions stars;
    rw_statement found = {.stars = of->stars, .star_count = of->star_count};
    rw_conditions_of(&found, prepared, &(pgw_reading){.arena = &arena}, &stars);
    it->plain = render(text, &stars, of, &arena);
    it->before = pgw_arena_copy(&arena, of->before);
    it->behind = pgw_arena_copy(&arena, of->behind);
    it->refusal = keep_error(of->error, &arena);
    it->reads = rw_read_map_keep(of->reads, &arena);
    it->copy = of->copy != NULL ? rw_copy_keep(of->copy, &arena) : NULL;
    it->arena = arena;
    return it;
}

static void keep_change(px_lookups *it, const rw_key_change *change)
{
    size_t size = change->value_count * sizeof *change->values;
    rw_new_value *values = pgw_arena_alloc(&it->arena, size);
    memcpy(values, change->values, size);
    it->change = (rw_key_change){
        .table = change->table, .values = values, .value_count = change->value_count};
}

px_lookups *px_lookups_new(pgw_slice text, const rw_statement *statement, px_catalog *catalog,
                           const pgw_reading *reading, px_declared declared)
{
    pgw_env env = *reading->env;
    env.zone_known = false; /* the server may read the constants anew, by another TimeZone */
    pgw_slice written = rw_statement_text(statement, text);
    /* The $n of what a PREPARE keeps are not parameters of the client's. */
    bool prepares = (statement->effects & RW_EFFECT_PREPARE) != 0;
    uint32_t highest = prepares ? 0 : rw_highest_parameter(written, env.conforming);
    size_t own = highest > declared.count ? highest : declared.count;
    rw_prepared prepared = {written, {declared.types, declared.count}, (uint32_t)own};
    rw_conditions conditions;
    rw_statement found = *statement;
    if (prepares) /* what this PREPARE keeps is not remembered */
        found.lookup_count = 0;
    rw_conditions_of(&found, &prepared, &(pgw_reading){&env, reading->arena, reading->error},
                     &conditions);
    if (conditions.count == 0 && statement->otherwise == NULL && !rw_statement_has_more(statement))
        return NULL;
    px_lookups *it = keep(text, &conditions, &prepared, statement);
    if (statement->change != NULL)
        keep_change(it, statement->change);
    it->catalog = px_catalog_take(catalog);
    it->alike = px_catalog_take(catalog);
    it->own = own;
    it->defines = statement->defines;
    it->utf8 = env.utf8;
    find_types(it, declared);
    rw_statement changed;
    if (rw_key_change_of(statement, reading->arena, &changed))
        it->otherwise = px_lookups_new(text, &changed, catalog, reading, declared);
    return it;
}

/* The statement that a PREPARE keeps, with nothing but its stars written out, as the server does
 * not let its columns change later. Blanks stand for what is in front of it, so that positions in
 * errors are right. */
static pgw_slice kept_of(const rw_statement *statement, bool utf8, pgw_arena *arena)
{
    const rw_statement stars = {.stars = statement->stars, .star_count = statement->star_count};
    pgw_slice kept = statement->prepares->kept;
    size_t len = statement->end - statement->start, before = len - kept.len;
    const pgw_slice all = {kept.ptr - before, len};
    rw_conditions conditions;
    pgw_buf out = {0};
    for (size_t i = pgw_characters(all, before, utf8); i > 0; i--)
        pgw_buf_add_byte(&out, ' ');
    rw_conditions_of(&stars, NULL, &(pgw_reading){.arena = arena}, &conditions);
    for (size_t i = 0; i < conditions.count; i++)
        conditions.list[i].at -= before;
    rw_conditions_render(&conditions, kept, &out);
    return pgw_arena_keep(arena, &out);
}

px_lookups *px_lookups_kept(const rw_statement *statement, const rw_conditions *conditions,
                            px_catalog *catalog, bool utf8)
{
    pgw_arena arena = {0};
    const rw_sql_prepare *prepares = statement->prepares;
    px_lookups *it = pgw_arena_alloc(&arena, sizeof *it);
    *it = (px_lookups){.references = 1, .sql_execute = true, .utf8 = utf8};
    it->plain = kept_of(statement, utf8, &arena);
    rw_conditions lookups = *conditions;
    lookups.count = 0; /* the texts put in are of no use here, and long */
    rw_conditions_keep(&lookups, &arena, &it->conditions);
    size_t size = prepares->declared.count * sizeof *it->types;
    it->types = pgw_arena_alloc(&arena, size);
    if (size > 0)
        memcpy(it->types, prepares->declared.types, size);
    it->declared = (px_declared){it->types, prepares->declared.count};
    it->own = prepares->declared.count;
    it->catalog = px_catalog_take(catalog);
    it->alike = px_catalog_take(catalog);
    it->arena = arena;
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
    px_catalog_drop(lookups->alike);
    px_lookups_drop(lookups->otherwise);
    pgw_arena arena = lookups->arena; /* the lookups live in this arena */
    pgw_arena_free(&arena);
}

/* The table as it is now, if its keys still have the same hashes; else NULL. */
static const rw_table *same_rule(const rw_table *was, const rw_catalog *now)
{
    const rw_table *is = rw_catalog_find(now, pgw_slice_str(was->schema), pgw_slice_str(was->name));
    return is != NULL && rw_table_hashes_alike(was, is) ? is : NULL;
}

static bool keeps_hashes(const rw_table *was, const rw_catalog *now)
{
    const rw_table *is = same_rule(was, now);
    return is != NULL && rw_table_is_looked_up(is);
}

/* Whether the table is as the statement's guard wants it, lest a wrong hash is stored. */
static bool passes_guard(const rw_table *was, const rw_table *is)
{
    bool passes = !was->own_key || (was->oid == is->oid && rw_table_keeps_hashes(was, is));
    for (size_t i = 0; i < was->hash_key_count && passes; i++)
        passes = was->columns[was->hash_key[i]].typmod == is->columns[is->hash_key[i]].typmod;
    return passes;
}

/* Whether the statement would store the right hash of the key it changes. */
static bool keeps_changing(const px_lookups *lookups, const rw_catalog *now)
{
    const rw_table *was = lookups->change.table, *is = same_rule(was, now);
    return is != NULL && rw_key_may_change(is) && passes_guard(was, is);
}

/* Whether rows that are copied into the table get the right hash. */
static bool keeps_copied(const rw_copy *copy, const rw_catalog *now)
{
    const rw_table *was = copy->table, *is = same_rule(was, now);
    if (is == NULL || was->oid != is->oid || !passes_guard(was, is))
        return false;
    size_t drawn = copy->drawn != NULL ? rw_table_column(is, pgw_slice_str(copy->drawn->name)) : 0;
    return copy->drawn == NULL ||
           (drawn < is->column_count && is->columns[drawn].draws_from == copy->drawn->draws_from);
}

/* Whether the table's key is what it was, but for the types of its columns: it may be the same
 * table, or another of its name. */
static bool is_retyped(const rw_table *was, const rw_catalog *now)
{
    const rw_table *is = rw_catalog_find(now, pgw_slice_str(was->schema), pgw_slice_str(was->name));
    if (is == NULL || is->hash_column >= is->column_count ||
        is->hash_key_count != was->hash_key_count ||
        strcmp(is->columns[is->hash_column].name, was->columns[was->hash_column].name) != 0)
        return false;
    bool retyped = false;
    for (size_t i = 0; i < was->hash_key_count; i++) {
        const rw_column *old = &was->columns[was->hash_key[i]],
                        *new = &is->columns[is->hash_key[i]];
        if (strcmp(old->name, new->name) != 0)
            return false;
        retyped = retyped || old->type != new->type || old->typmod != new->typmod;
    }
    return retyped;
}

bool px_lookups_retyped(const px_lookups *lookups, const px_catalog *now)
{
    const rw_catalog tables = {.tables = (const rw_table *const *)now->tables, .count = now->count};
    bool retyped = false;
    for (size_t i = 0; i < lookups->conditions.lookup_count; i++) {
        const rw_lookup *it = lookups->conditions.lookups[i];
        const rw_table *const both[] = {it->table, it->other};
        for (size_t k = 0; k < 2 && both[k] != NULL; k++) {
            bool this = is_retyped(both[k], &tables);
            if (!this && same_rule(both[k], &tables) == NULL)
                return false;
            retyped = retyped || this;
        }
    }
    return retyped;
}

bool px_lookups_hold(px_lookups *lookups, px_catalog *now)
{
    const rw_catalog tables = {.tables = (const rw_table *const *)now->tables, .count = now->count};
    if (now == lookups->alike)
        return true;
    if (lookups->change.table != NULL && !keeps_changing(lookups, &tables))
        return false;
    if (lookups->copy != NULL && !keeps_copied(lookups->copy, &tables))
        return false;
    for (size_t i = 0; i < lookups->conditions.lookup_count; i++) {
        const rw_lookup *it = lookups->conditions.lookups[i];
        if (!keeps_hashes(it->table, &tables) ||
            (it->other != NULL && !keeps_hashes(it->other, &tables)))
            return false;
    }
    px_catalog_drop(lookups->alike);
    lookups->alike = px_catalog_take(now);
    return true;
}

bool px_lookups_show(const px_lookups *lookups)
{
    return !lookups->defines && lookups->conditions.count > lookups->conditions.lookup_count;
}

void px_lookups_parse(const px_lookups *lookups, pgw_slice name, pgw_slice query, pgw_buf *out)
{
    bool more = query.ptr == lookups->rewritten.ptr && lookups->conditions.parameters > 0;
    size_t all = lookups->own + lookups->conditions.parameters;
    if (lookups->retyped && query.ptr != lookups->rewritten.ptr)
        pgw_certainly(pgw_write_parse(name, query, lookups->types, lookups->own, out));
    else
        pgw_certainly(pgw_write_parse(name, query, lookups->declared.types,
                                      more ? all : lookups->declared.count, out));
}

bool px_lookups_know_types(const px_lookups *lookups)
{
    for (size_t i = 0; i < lookups->own; i++)
        if (lookups->types[i] == PGW_UNSPECIFIED)
            return false;
    return true;
}

void px_lookups_learn(px_lookups *lookups, const uint32_t *types)
{
    memcpy(lookups->types, types, lookups->own * sizeof *types);
}

/* Writes the Bind with hashes in text, which arrays and buckets need. */
static bool write_bind_text(const rw_conditions *conditions, const pgw_bind *bind,
                            const rw_further *more, pgw_arena *arena, pgw_buf *out)
{
    size_t count = conditions->parameters;
    pgw_slice *texts = pgw_arena_alloc(arena, count * sizeof *texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = more[i].hashes.ptr != NULL
                       ? more[i].hashes
                       : pgw_slice_str(pgw_arena_printf(arena, "%" PRId64, (int64_t)more[i].hash));
    return pgw_write_bind_text(bind, texts, count, out);
}

static bool write_bind(const rw_conditions *conditions, const pgw_bind *bind,
                       const rw_further *more, pgw_arena *arena, pgw_buf *out)
{
    size_t count = conditions->parameters;
    if (conditions->in_text)
        return write_bind_text(conditions, bind, more, arena, out);
    int64_t *hashes = pgw_arena_alloc(arena, count * sizeof *hashes);
    for (size_t i = 0; i < count; i++)
        hashes[i] = (int64_t)more[i].hash;
    return pgw_write_bind(bind, bind->portal, bind->statement, hashes, count, out);
}

/* A flag for each parameter: a key is compared with it. */
static bool *compared_parameters(const px_lookups *lookups, pgw_arena *arena)
{
    bool *compared = pgw_arena_alloc(arena, lookups->own + 1);
    for (size_t i = 0; i < lookups->conditions.lookup_count; i++) {
        const rw_lookup *it = lookups->conditions.lookups[i];
        for (size_t c = 0; c < it->keys * it->table->hash_key_count; c++)
            if (it->cells[c].kind == RW_CELL_PARAM && it->cells[c].parameter <= lookups->own)
                compared[it->cells[c].parameter - 1] = true;
    }
    return compared;
}

static pgw_verdict hash_bound(const px_lookups *lookups, const pgw_bind *bind,
                              const pgw_reading *reading, rw_further *more)
{
    const rw_params params = {px_bind_parameters(lookups->types, bind, reading->arena),
                              bind->value_count};
    return rw_conditions_bind(&lookups->conditions, params, reading, more);
}

bool px_lookups_bind(const px_lookups *lookups, const pgw_bind *bind, const pgw_env *env,
                     pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error;
    pgw_env anywhere = *env;
    anywhere.zone_known = false;
    pgw_reading reading = {&anywhere, &arena, &error};
    rw_further *more = pgw_arena_alloc(&arena, lookups->conditions.parameters * sizeof *more);
    pgw_bind sent = *bind;
    pgw_verdict verdict = hash_bound(lookups, &sent, &reading, more);
    if (verdict == PGW_UNKNOWABLE) { /* TimeZone may decide what a text means */
        sent =
            px_bind_spell(lookups->types, compared_parameters(lookups, &arena), bind, env, &arena);
        verdict = hash_bound(lookups, &sent, &reading, more);
    }
    bool known = verdict == PGW_KNOWN && write_bind(&lookups->conditions, &sent, more, &arena, out);
    pgw_arena_free(&arena);
    return known;
}

rw_sent px_lookups_sent(const px_lookups *lookups)
{
    size_t before = pgw_characters(lookups->text, lookups->start, lookups->utf8);
    return (rw_sent){.conditions = &lookups->conditions,
                     .text = {lookups->text.ptr + lookups->start, lookups->end - lookups->start},
                     .utf8 = lookups->utf8,
                     .before = before,
                     .rendered_before = before};
}
