#include "rewrite/read/conditions.h"

#include "protocol/utf8.h"

/* The hashes of its constant keys. False: one of them cannot be computed. */
static bool hash_constants(const rw_lookup *lookup, const pgw_reading *reading, uint64_t *hashes)
{
    for (size_t key = 0; key < lookup->keys; key++)
        if (!rw_lookup_is_bound(lookup, key) &&
            rw_lookup_hash(lookup, key, RW_NO_PARAMS, reading, &hashes[key]) != PGW_KNOWN)
            return false;
    return true;
}

static uint32_t count_bound(const rw_lookup *lookup)
{
    uint32_t bound = 0;
    for (size_t key = 0; key < lookup->keys; key++)
        bound += rw_lookup_is_bound(lookup, key);
    return bound;
}

/* Whether `bound` more parameters can stand for hashes of it. */
static bool takes(const rw_lookup *lookup, uint32_t bound, const rw_prepared *prepared,
                  uint32_t used)
{
    return bound == 0 || (prepared != NULL && lookup->table->hash_type == RW_HASH_INT8 &&
                          prepared->parameters + used + bound <= UINT16_MAX &&
                          rw_lookup_takes(lookup, prepared->text, prepared->declared));
}

void rw_conditions_of(const rw_lookup *lookups, size_t count, const rw_prepared *prepared,
                      const pgw_reading *reading, rw_conditions *out)
{
    pgw_arena *arena = reading->arena;
    *out = (rw_conditions){.list = pgw_arena_alloc(arena, count * sizeof *out->list),
                           .lookups = pgw_arena_alloc(arena, count * sizeof *out->lookups)};
    for (size_t i = 0; i < count; i++) {
        const rw_lookup *lookup = &lookups[i];
        uint64_t *hashes = pgw_arena_alloc(arena, lookup->keys * sizeof *hashes);
        uint32_t bound = count_bound(lookup);
        if (!takes(lookup, bound, prepared, out->parameters) ||
            !hash_constants(lookup, reading, hashes))
            continue;
        pgw_buf text = {0};
        uint32_t first = prepared != NULL ? prepared->parameters + out->parameters + 1 : 0;
        rw_lookup_render(lookup, hashes, first, &text);
        out->parameters += bound;
        out->lookups[out->count] = lookup;
        out->list[out->count++] = (rw_condition){lookup->at, pgw_arena_keep(arena, &text)};
    }
}

void rw_conditions_keep(const rw_conditions *conditions, pgw_arena *arena, rw_conditions *out)
{
    size_t count = conditions->count;
    *out = *conditions;
    out->list = pgw_arena_alloc(arena, count * sizeof *out->list);
    out->lookups = pgw_arena_alloc(arena, count * sizeof *out->lookups);
    for (size_t i = 0; i < count; i++) {
        out->list[i].at = conditions->list[i].at;
        out->list[i].text = pgw_arena_copy(arena, conditions->list[i].text);
        out->lookups[i] = rw_lookup_keep(conditions->lookups[i], arena);
    }
}

void rw_conditions_render(const rw_conditions *conditions, pgw_slice text, pgw_buf *out)
{
    size_t from = 0;
    for (size_t i = 0; i < conditions->count; i++) {
        const rw_condition *it = &conditions->list[i];
        pgw_buf_add(out, text.ptr + from, it->at - from);
        pgw_buf_add_slice(out, it->text);
        from = it->at;
    }
    pgw_buf_add(out, text.ptr + from, text.len - from);
}

size_t rw_conditions_position(const rw_conditions *conditions, pgw_slice text, size_t position,
                              bool utf8)
{
    size_t added = 0;
    for (size_t i = 0; i < conditions->count; i++) {
        const rw_condition *it = &conditions->list[i];
        size_t at = pgw_characters(text, it->at, utf8) + 1; /* in the client's text */
        size_t more = pgw_characters(it->text, it->text.len, utf8);
        if (position < at + added)
            break;
        if (position < at + added + more)
            return at;
        added += more;
    }
    return position - added;
}

pgw_verdict rw_conditions_bind(const rw_conditions *conditions, rw_params params,
                               const pgw_reading *reading, uint64_t *hashes)
{
    size_t count = 0;
    for (size_t i = 0; i < conditions->count; i++) {
        const rw_lookup *lookup = conditions->lookups[i];
        for (size_t key = 0; key < lookup->keys; key++) {
            if (!rw_lookup_is_bound(lookup, key))
                continue;
            pgw_verdict verdict = rw_lookup_hash(lookup, key, params, reading, &hashes[count++]);
            if (verdict != PGW_KNOWN)
                return verdict;
        }
    }
    return PGW_KNOWN;
}
