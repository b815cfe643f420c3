#include "proxy/ingest/plan.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "rewrite/insert/key.h"
#include "rewrite/insert/new_key.h"
#include "rewrite/insert/render.h"
#include "rewrite/insert/row_width.h"
#include "rewrite/insert/spell.h"
#include "rewrite/insert/typed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void px_plan_take(px_plan *plan)
{
    plan->references++;
}

void px_plan_drop(px_plan *plan)
{
    if (plan == NULL || --plan->references > 0)
        return;
    px_plan_drop(plan->whole);
    px_plan_drop(plan->origin);
    px_plan_drop(plan->row);
    px_write_group_drop_prepared(&plan->on_links);
    px_catalog_drop(plan->catalog);
    px_identity_drop(plan->identity);
    pgw_arena arena = plan->arena;
    pgw_arena_free(&arena);
}

static void note_feeding(const rw_insert *insert, const rw_cell *cell, bool *feeds)
{
    if (cell->kind == RW_CELL_PARAM && cell->parameter <= insert->param_count)
        feeds[cell->parameter - 1] = true;
}

/* A flag for each parameter, in the plan's arena: a cell of some row's key is that parameter. */
static bool *feeding_parameters(px_plan *plan)
{
    const rw_insert *insert = plan->insert;
    bool *feeds = pgw_arena_alloc(&plan->arena, insert->param_count + 1);
    for (size_t r = 0; r < insert->row_count; r++) {
        for (size_t k = 0; k < insert->table->primary_key_count; k++)
            note_feeding(insert, &insert->rows[r].key[k], feeds);
        note_feeding(insert, insert->rows[r].hash_cell, feeds);
    }
    return feeds;
}

/* Whether some row's hash can only be told when parameters are bound. */
static bool hash_needs_parameters(const rw_insert *insert)
{
    const rw_table *table = insert->table;
    for (size_t r = 0; r < insert->row_count; r++)
        for (size_t h = 0; h < table->hash_key_count; h++)
            for (size_t k = 0; k < table->primary_key_count; k++)
                if (table->primary_key[k] == table->hash_key[h] &&
                    insert->rows[r].key[k].kind == RW_CELL_PARAM)
                    return true;
    return false;
}

/* A statement may come to be prepared once more without some of its rows, and then the types of
 * their parameters must be declared. */
static bool may_leave_rows_out(const px_plan *plan)
{
    const rw_insert *insert = plan->insert;
    const cfg_table *table = px_catalog_config(plan->catalog, insert->table);
    return insert->row_count > 1 &&
           (insert->verb != RW_VERB_INSERT || table->atomicity == CFG_ATOMICITY_PARTITION);
}

/* A type that is declared makes a parameter, even where nothing uses it. */
static void count_declared(px_plan *plan, size_t declared_count)
{
    rw_insert *insert = plan->insert;
    if (declared_count <= insert->param_count)
        return;
    uint32_t *inferred = pgw_arena_alloc(&plan->arena, declared_count * sizeof *inferred);
    for (uint32_t i = 0; i < insert->param_count; i++)
        inferred[i] = insert->inferred[i];
    insert->inferred = inferred;
    insert->param_count = (uint32_t)declared_count;
}

/* Whether what is stored may be made of the text of a value of another type. */
static bool is_shown(uint32_t type, uint32_t stored)
{
    return type != stored && !(pgw_type_has_one_text(type) && pgw_type_has_one_text(stored));
}

static void settle_types(px_plan *plan, const uint32_t *declared, size_t declared_count)
{
    rw_insert *insert = plan->insert;
    plan->types = pgw_arena_alloc(&plan->arena, (insert->param_count + 1) * sizeof *plan->types);
    plan->types_known = true;
    const bool *feeds = feeding_parameters(plan);
    for (uint32_t i = 0; i < insert->param_count; i++) {
        uint32_t type = i < declared_count ? declared[i] : PGW_UNSPECIFIED;
        if (type == PGW_UNSPECIFIED || type == PGW_UNKNOWN) {
            type = insert->inferred[i];
            plan->infers = true;
        }
        plan->types[i] = type;
        insert->shows |= is_shown(type, insert->inferred[i]);
        /* Checks of domains may read what is bound to a type of the database's own. */
        if (type >= 16384 && insert->table->casts_run && insert->blocker == RW_BATCHABLE)
            insert->blocker = RW_BLOCKER_EXPRESSION;
        if (type == PGW_UNSPECIFIED && (may_leave_rows_out(plan) || feeds[i]))
            plan->types_known = false;
    }
}

static void declare(px_plan *plan, const uint32_t *declared, size_t declared_count)
{
    size_t own = plan->insert->param_count;
    size_t more = plan->form == RW_HASH_PARAMETER ? plan->insert->row_count : 0;
    plan->declared_count = more > 0 ? own + more : declared_count;
    plan->declared =
        pgw_arena_alloc(&plan->arena, (plan->declared_count + 1) * sizeof *plan->declared);
    for (size_t i = 0; i < plan->declared_count; i++) {
        plan->declared[i] = i < declared_count ? declared[i] : PGW_UNSPECIFIED;
        if (more > 0 && i >= own)
            plan->declared[i] = PGW_INT8;
    }
}

/* Leaves rows from this one on without hashes; the error is told when the server gets there. */
static void leave_unhashed(px_plan *plan, size_t row, const pgw_error *error)
{
    for (size_t r = row; r < plan->insert->row_count; r++)
        plan->insert->rows[r].unhashed = true;
    if (error == NULL)
        return;
    pgw_error *kept = pgw_arena_alloc(&plan->arena, sizeof *kept);
    *kept = *error;
    plan->refusal = kept;
}

/* Computes hashes of constants. False: the error. A wrong value is no error yet, for the server may
 * accept the Parse. */
static bool constant_hashes(px_plan *plan, pgw_error *error)
{
    plan->hashes = pgw_arena_alloc(&plan->arena, plan->insert->row_count * sizeof *plan->hashes);
    pgw_reading reading = {&plan->identity->env, &plan->arena, error};
    for (size_t r = 0; r < plan->insert->row_count; r++) {
        rw_key key;
        if (rw_insert_key(plan->insert, r, RW_NO_PARAMS, &reading, &key) == PGW_KNOWN) {
            plan->hashes[r] = key.hash;
            continue;
        }
        if (pgw_error_is(error, "0A000") || !rw_insert_may_fail(plan->insert))
            return false;
        leave_unhashed(plan, r, error);
        return true;
    }
    return true;
}

/* Hashes and parameters must all fit into one Bind. */
static bool has_room(const rw_insert *insert)
{
    return insert->row_count <= PGW_MAX_PARAMETERS - insert->param_count;
}

/* Settles the form in which hashes are put in. */
static bool settle_form(px_plan *plan, pgw_error *error)
{
    rw_insert *insert = plan->insert;
    plan->form = RW_HASH_CONSTANT;
    if (insert->blocker == RW_BLOCKER_UNCOMPUTABLE)
        return true;
    if (!hash_needs_parameters(insert))
        return constant_hashes(plan, error);
    if (has_room(insert)) {
        plan->form = RW_HASH_PARAMETER;
        return true;
    }
    plan->hash_at_bind = true;
    leave_unhashed(plan, 0, NULL);
    return true;
}

static pgw_slice rendered(px_plan *plan, const rw_insert *insert)
{
    pgw_buf text = {0};
    rw_render_statement(insert, plan->form, plan->hashes, &text);
    pgw_slice kept = pgw_arena_copy(&plan->arena, pgw_slice_buf(&text));
    pgw_buf_free(&text);
    return kept;
}

static void render(px_plan *plan)
{
    plan->rewritten = plan->batched_text = rendered(plan, plan->insert);
    plan->batched = plan->insert;
    if (!plan->infers)
        return;
    plan->batched = pgw_arena_alloc(&plan->arena, sizeof *plan->batched);
    *plan->batched = *plan->insert;
    plan->batched->heeds_types = true;
    plan->batched_text = rendered(plan, plan->batched);
}

static void name_it(px_plan *plan)
{
    px_write_group_drop_prepared(&plan->on_links);
    plan->on_links = (px_write_group_prepared){0};
    XXH3_state_t *state = XXH3_createState();
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, plan->batched_text.ptr, plan->batched_text.len);
    XXH3_128bits_update(state, plan->types, plan->insert->param_count * sizeof *plan->types);
    if (plan->columns.len > 0)
        XXH3_128bits_update(state, plan->columns.ptr, plan->columns.len);
    XXH3_128bits_update(state, plan->identity->key, strlen(plan->identity->key));
    XXH3_128bits_update(state, &plan->catalog->epoch, sizeof plan->catalog->epoch);
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    plan->merge_hash = hash.low64;
    snprintf(plan->name, sizeof plan->name, "ks_%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

/* Constants of the key that TimeZone decides are read now, whatever it is later; what it makes of a
 * parameter must be what it makes now. */
static void heed_zone(px_plan *plan)
{
    rw_spell_constants(plan->insert, &plan->identity->env, &plan->arena);
    if (plan->identity->zone != NULL && rw_casts_heed_zone(plan->insert, plan->types))
        plan->insert->zone = pgw_arena_copy(&plan->arena, pgw_slice_str(plan->identity->zone)).ptr;
}

bool px_plan_is_in_zone(const px_plan *plan, const px_identity *identity)
{
    const char *zone = plan->insert->zone;
    return zone == NULL || (identity->zone != NULL && strcmp(zone, identity->zone) == 0);
}

px_plan *px_plan_new(pgw_arena arena, rw_insert *insert, px_catalog *catalog, px_identity *identity,
                     px_declared declared, pgw_error *error)
{
    px_plan *plan = pgw_arena_alloc(&arena, sizeof *plan);
    *plan = (px_plan){.references = 1, .insert = insert, .catalog = catalog};
    plan->arena = arena;
    px_catalog_take(catalog);
    plan->identity = px_identity_take(identity);
    plan->client_count = declared.count;
    count_declared(plan, declared.count);
    settle_types(plan, declared.types, declared.count);
    rw_new_key_declared(insert, declared.types, declared.count);
    if (!settle_form(plan, error)) {
        px_plan_drop(plan);
        return NULL;
    }
    declare(plan, declared.types, declared.count);
    heed_zone(plan);
    render(plan);
    name_it(plan);
    return plan;
}

void px_plan_asks(px_plan *plan, const rw_insert *asked, const rw_filled *filled,
                  size_t client_count)
{
    plan->asked = asked;
    plan->filled = filled;
    plan->client_count = client_count;
    const bool *has = rw_asked_parameters(asked, plan->identity->env.conforming, &plan->arena);
    for (size_t i = 0; i < asked->param_count; i++) {
        uint32_t type = i < plan->declared_count ? plan->declared[i] : PGW_UNSPECIFIED;
        if (!has[i] || (type != PGW_UNSPECIFIED && type != PGW_UNKNOWN))
            continue;
        plan->types[i] = PGW_UNSPECIFIED; /* only the backend can tell this type */
        plan->types_known = false;
    }
}

bool px_plan_asks_same(const px_plan *a, const px_plan *b)
{
    const rw_insert *one = a != NULL ? a->asked : NULL, *other = b != NULL ? b->asked : NULL;
    if (one == NULL || other == NULL)
        return one == other;
    bool same = one->wanted_count == other->wanted_count;
    for (size_t i = 0; same && i < one->wanted_count; i++)
        same = one->wanted[i].column == other->wanted[i].column;
    return same;
}

pgw_slice px_plan_client_text(const px_plan *plan)
{
    return plan->asked != NULL ? plan->asked->text : plan->insert->text;
}

size_t px_plan_client_parameters(const px_plan *plan)
{
    return plan->insert->param_count - (plan->asked != NULL ? plan->asked->wanted_count : 0);
}

/* A plan of `insert`, which is a copy of the one of `plan` with something changed, in `arena`
 * (given away); not rendered yet. */
static px_plan *changed(px_plan *plan, pgw_arena arena, rw_insert *insert)
{
    px_plan *copy = pgw_arena_alloc(&arena, sizeof *copy);
    *copy = *plan;
    copy->references = 1;
    copy->insert = insert;
    copy->arena = arena;
    copy->whole = copy->row = copy->origin = NULL;
    copy->on_links = (px_write_group_prepared){0};
    copy->hash_at_bind = false;
    copy->holders = 0;
    px_catalog_take(copy->catalog);
    px_identity_take(copy->identity);
    return copy;
}

/* A copy of the INSERT with rows of its own. */
static rw_insert *copy_insert(const rw_insert *insert, pgw_arena *arena)
{
    rw_insert *copy = pgw_arena_alloc(arena, sizeof *copy);
    *copy = *insert;
    copy->rows = pgw_arena_alloc(arena, insert->row_count * sizeof *copy->rows);
    memcpy(copy->rows, insert->rows, insert->row_count * sizeof *copy->rows);
    return copy;
}

/* Puts the hashes of the first `count` rows in as constants. */
static void put_hashes_in(px_plan *plan, const rw_key *keys, size_t count)
{
    plan->form = RW_HASH_CONSTANT;
    plan->hashes = pgw_arena_alloc(&plan->arena, plan->insert->row_count * sizeof *plan->hashes);
    for (size_t r = 0; r < count; r++) {
        plan->hashes[r] = keys[r].hash;
        plan->insert->rows[r].unhashed = false;
    }
}

/* `copy`, which was changed() out of `plan`, stands for it once. */
static px_plan *once(px_plan *plan, px_plan *copy, size_t left_out)
{
    copy->declared = px_plan_types(copy, &copy->declared_count, &copy->arena);
    render(copy);
    name_it(copy);
    copy->left_out = left_out;
    copy->whole = plan;
    px_plan_take(plan);
    return copy;
}

px_plan *px_plan_for_bind(px_plan *plan, const rw_key *keys)
{
    bool upsert = plan->insert->verb != RW_VERB_INSERT && plan->insert->row_count > 1;
    if (!upsert && !plan->hash_at_bind)
        return NULL;
    pgw_arena arena = {0};
    rw_insert *insert = copy_insert(plan->insert, &arena);
    size_t left_out = rw_insert_supersede(insert, keys, &arena);
    if (left_out == 0 && !plan->hash_at_bind) {
        pgw_arena_free(&arena);
        return NULL;
    }
    px_plan *copy = changed(plan, arena, insert);
    if (plan->hash_at_bind)
        put_hashes_in(copy, keys, insert->row_count);
    return once(plan, copy, left_out);
}

px_plan *px_plan_refusing(px_plan *plan, const rw_key *keys, size_t row, const pgw_error *error)
{
    pgw_arena arena = {0};
    rw_insert *insert = copy_insert(plan->insert, &arena);
    px_plan *copy = changed(plan, arena, insert);
    put_hashes_in(copy, keys, row);
    leave_unhashed(copy, row, error);
    return once(plan, copy, 0);
}

px_plan *px_plan_without(px_plan *plan, const bool *rows)
{
    pgw_arena arena = {0};
    rw_insert *insert = copy_insert(plan->insert, &arena);
    size_t left_out = 0;
    for (size_t r = 0; r < insert->row_count; r++) {
        insert->rows[r].superseded = rows[r];
        left_out += rows[r];
    }
    px_plan *less = once(plan, changed(plan, arena, insert), left_out);
    less->in_parts = true;
    return less;
}

static bool types_repeat(const px_plan *plan, size_t width)
{
    for (size_t i = width; i < plan->insert->param_count; i++)
        if (plan->types[i] != plan->types[i - width])
            return false;
    return true;
}

px_plan *px_plan_of_row(px_plan *plan)
{
    if (plan->row_sought || plan->form != RW_HASH_PARAMETER || !plan->types_known)
        return plan->row;
    plan->row_sought = true;
    size_t width = rw_insert_row_width(plan->insert, &plan->identity->env);
    if (width == 0 || !types_repeat(plan, width))
        return NULL;
    pgw_arena arena = {0};
    rw_insert *insert = copy_insert(plan->insert, &arena);
    insert->row_count = 1;
    insert->param_count = (uint32_t)width;
    plan->row = changed(plan, arena, insert);
    plan->row->declared = px_plan_types(plan->row, &plan->row->declared_count, &plan->row->arena);
    render(plan->row);
    name_it(plan->row);
    return plan->row;
}

bool px_plan_needs_zone(const px_plan *plan)
{
    const rw_table *table = plan->insert->table;
    for (size_t i = 0; i < table->hash_key_count; i++)
        if (table->columns[table->hash_key[i]].type == PGW_TIMESTAMPTZ)
            return true;
    return false;
}

bool px_plan_describe(px_plan *plan, const uint32_t *types, size_t count)
{
    if (count > plan->insert->param_count)
        count = plan->insert->param_count;
    if (plan->described) {
        plan->outdated = memcmp(plan->types, types, count * sizeof *types) != 0;
        return !plan->outdated;
    }
    memcpy(plan->types, types, count * sizeof *types);
    plan->types_known = true;
    plan->described = plan->insert->returning == 0;
    name_it(plan);
    return true;
}

bool px_plan_describe_rows(px_plan *plan, pgw_slice body)
{
    if (plan->insert->returning == 0)
        return true;
    bool same = true;
    if (plan->columns.len > 0 || plan->described)
        same = pgw_row_descriptions_agree(plan->columns, body);
    else
        plan->columns = pgw_arena_copy(&plan->arena, body);
    plan->described = true;
    plan->outdated = plan->outdated || !same;
    name_it(plan);
    return same;
}

bool px_plan_comes_again(px_plan *plan)
{
    bool again = plan->came || plan->insert->param_count > 0;
    plan->came = true;
    return again;
}

bool px_plan_keeps_rows(px_plan *plan, const px_plan *was)
{
    if (plan->columns.len > 0)
        return was->columns.len == 0 || pgw_row_descriptions_agree(plan->columns, was->columns);
    plan->columns = pgw_arena_copy(&plan->arena, was->columns);
    name_it(plan);
    return true;
}

bool px_plan_may_change(const px_plan *plan)
{
    return plan->infers || plan->insert->returning != 0;
}

px_plan *px_plan_undescribed(px_plan *plan)
{
    pgw_arena arena = {0};
    px_plan *copy = changed(plan, arena, plan->insert);
    copy->types =
        pgw_arena_alloc(&copy->arena, (plan->insert->param_count + 1) * sizeof *copy->types);
    copy->columns = (pgw_slice){NULL, 0};
    copy->described = copy->types_known = false;
    copy->origin = plan;
    px_plan_take(plan);
    return copy;
}

uint32_t *px_plan_types(const px_plan *plan, size_t *count, pgw_arena *arena)
{
    size_t own = plan->insert->param_count;
    *count = own + (plan->form == RW_HASH_PARAMETER ? plan->insert->row_count : 0);
    uint32_t *types = pgw_arena_alloc(arena, (*count + 1) * sizeof *types);
    for (size_t i = 0; i < *count; i++)
        types[i] = i < own ? plan->types[i] : PGW_INT8;
    return types;
}

const px_write_group_prepared *px_plan_prepared(px_plan *plan)
{
    if (plan->on_links.of != NULL)
        return &plan->on_links;
    pgw_arena arena = {0};
    px_write_group_prepared made = {
        .name = pgw_slice_str(plan->name), .text = plan->batched_text, .columns = plan->columns};
    made.types = px_plan_types(plan, &made.type_count, &arena);
    made.stores_all = !plan->insert->has_conflict || plan->insert->values_merge;
    plan->on_links = px_write_group_keep_prepared(&made);
    pgw_arena_free(&arena);
    return &plan->on_links;
}
