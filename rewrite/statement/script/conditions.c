#include "rewrite/statement/script/conditions.h"

#include "protocol/array.h"
#include "protocol/utf8.h"

#include <string.h>

/* Computes the hashes of the keys that are constants. False: one of them cannot be computed. */
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

/* Adds a change in the order of the text. Conditions are added first: one may end a subquery that a
 * star has begun. */
static void add(rw_conditions *to, rw_change change)
{
    size_t i = to->count++;
    for (; i > 0 && to->list[i - 1].at > change.at; i--)
        to->list[i] = to->list[i - 1];
    to->list[i] = change;
}

static bool has(const rw_conditions *conditions, size_t at)
{
    size_t i = 0;
    while (i < conditions->count && (conditions->list[i].at != at || conditions->list[i].cut == 0))
        i++;
    return i < conditions->count;
}

/* The server may be in another TimeZone by now than the session was told of: a constant that this
 * decides is sent with its zone, and is what its hash is made of. `changes`: one a cell, those that
 * are none cut nothing. False: one cannot be written so. */
static bool spell_constants(const rw_lookup *lookup, const pgw_reading *reading, rw_change *changes)
{
    for (size_t i = 0; i < lookup->keys * lookup->table->hash_key_count; i++) {
        pgw_buf text = {0};
        if (!rw_lookup_spell(lookup, i, reading, &text))
            return false;
        if (text.len > 0)
            changes[i] = (rw_change){.at = lookup->cells[i].position,
                                     .cut = lookup->ends[i] - lookup->cells[i].position,
                                     .text = pgw_arena_keep(reading->arena, &text)};
    }
    return true;
}

static void add_spelled(rw_conditions *to, const rw_lookup *lookup, const rw_change *changes)
{
    for (size_t i = 0; i < lookup->keys * lookup->table->hash_key_count; i++)
        if (changes[i].cut > 0 && !has(to, changes[i].at)) /* One constant may be in many keys. */
            add(to, changes[i]);
}

/* A text is bounded, and so is what it is made to. */
enum { MOST_BY_SQL = 64 * 1024 };

/* Where the key of one of two tables that are joined is given, it is the other's, too. */
static const rw_lookup *given_or_joined(const rw_lookup *join, const rw_statement *statement,
                                        pgw_arena *arena)
{
    for (size_t i = 0; i < statement->lookup_count && join->keys == 0; i++) {
        const rw_lookup *it = &statement->lookups[i];
        bool first = strcmp(it->called, join->called) == 0;
        if (it->keys == 0 || it->array > 0 || it->query != join->query ||
            (!first && strcmp(it->called, join->other_called) != 0))
            continue;
        rw_lookup *out = pgw_arena_alloc(arena, sizeof *out);
        *out = *it;
        out->table = first ? join->other : join->table;
        out->called = first ? join->other_called : join->called;
        out->bare = first ? join->other_bare : join->bare;
        out->other = first ? join->table : join->other;
        out->at = join->at;
        out->name = join->name;
        out->until = join->until;
        out->wrapped = join->wrapped;
        return out;
    }
    return join;
}

/* Adds a condition to a PREPARE, whose constants the server reads anew, perhaps in another
 * TimeZone, whenever it analyzes the statement again. */
static void add_by_sql(rw_conditions *to, const rw_lookup *lookup, const rw_sql_prepare *kept,
                       const pgw_reading *reading)
{
    uint64_t *hashes = pgw_arena_alloc(reading->arena, lookup->keys * sizeof *hashes);
    pgw_env anywhere = *reading->env;
    anywhere.zone_known = false;
    if (!rw_lookup_has_sql(lookup, kept) ||
        !hash_constants(lookup, &(pgw_reading){&anywhere, reading->arena, reading->error}, hashes))
        return;
    pgw_buf text = {0};
    rw_lookup_render_sql(lookup, hashes, kept, reading->arena, &text);
    if (to->made + text.len > MOST_BY_SQL) {
        pgw_buf_free(&text);
        return;
    }
    to->made += text.len;
    to->lookups[to->lookup_count++] = lookup;
    add(to, (rw_change){.at = lookup->at, .text = pgw_arena_keep(reading->arena, &text)});
}

static void add_condition(rw_conditions *to, const rw_lookup *lookup, const rw_prepared *prepared,
                          const pgw_reading *reading)
{
    uint64_t *hashes = pgw_arena_alloc(reading->arena, lookup->keys * sizeof *hashes);
    uint32_t bound = count_bound(lookup);
    rw_change *spelled = pgw_arena_alloc(
        reading->arena, lookup->keys * lookup->table->hash_key_count * sizeof *spelled);
    if (!takes(lookup, bound, prepared, to->parameters) ||
        !hash_constants(lookup, reading, hashes) ||
        (prepared == NULL && !spell_constants(lookup, reading, spelled)))
        return;
    add_spelled(to, lookup, spelled);
    pgw_buf text = {0};
    uint32_t first = prepared != NULL ? prepared->parameters + to->parameters + 1 : 0;
    rw_lookup_render(lookup, hashes, first, &text);
    to->parameters += bound;
    to->in_text |= lookup->array > 0 || lookup->table->buckets > 0;
    to->lookups[to->lookup_count++] = lookup;
    add(to, (rw_change){.at = lookup->at, .text = pgw_arena_keep(reading->arena, &text)});
}

/* Adds the closing parentheses behind all else that ends there: the last part of an OR may be a
 * call that something is put around. */
static void close_alternatives(rw_conditions *to)
{
    for (size_t i = 0; i < to->lookup_count; i++)
        if (to->lookups[i]->until > 0)
            add(to, (rw_change){.at = to->lookups[i]->until, .text = PGW_LITERAL(")")});
}

static bool is_declared(const rw_prepared *prepared, uint32_t parameter)
{
    return prepared != NULL && parameter > 0 && rw_is_declared(prepared->declared, parameter);
}

void rw_conditions_of(const rw_statement *statement, const rw_prepared *prepared,
                      const pgw_reading *reading, rw_conditions *out)
{
    size_t lookups = statement->lookup_count, most = 2 * lookups + statement->star_count;
    for (size_t i = 0; i < lookups && prepared == NULL; i++)
        most += statement->lookups[i].keys * statement->lookups[i].table->hash_key_count;
    *out =
        (rw_conditions){.list = pgw_arena_alloc(reading->arena, most * sizeof *out->list),
                        .lookups = pgw_arena_alloc(reading->arena, lookups * sizeof *out->lookups),
                        .own = prepared != NULL ? prepared->parameters : 0,
                        .by_sql = statement->prepares != NULL};
    for (size_t i = 0; i < lookups; i++) {
        if (out->by_sql)
            add_by_sql(out, given_or_joined(&statement->lookups[i], statement, reading->arena),
                       statement->prepares, reading);
        else
            add_condition(out, &statement->lookups[i], prepared, reading);
    }
    for (size_t i = 0; i < statement->star_count; i++)
        if (!is_declared(prepared, statement->stars[i].undeclared))
            add(out, statement->stars[i]);
    close_alternatives(out);
}

void rw_conditions_keep(const rw_conditions *conditions, pgw_arena *arena, rw_conditions *out)
{
    size_t count = conditions->count;
    *out = *conditions;
    out->list = pgw_arena_alloc(arena, count * sizeof *out->list);
    out->lookups = pgw_arena_alloc(arena, conditions->lookup_count * sizeof *out->lookups);
    for (size_t i = 0; i < count; i++) {
        out->list[i] = conditions->list[i];
        out->list[i].text = pgw_arena_copy(arena, conditions->list[i].text);
    }
    for (size_t i = 0; i < conditions->lookup_count; i++)
        out->lookups[i] = rw_lookup_keep(conditions->lookups[i], arena);
}

void rw_conditions_render(const rw_conditions *conditions, pgw_slice text, pgw_buf *out)
{
    size_t from = 0;
    for (size_t i = 0; i < conditions->count; i++) {
        const rw_change *it = &conditions->list[i];
        pgw_buf_add(out, text.ptr + from, it->at - from);
        pgw_buf_add_slice(out, it->text);
        from = it->at + it->cut;
    }
    pgw_buf_add(out, text.ptr + from, text.len - from);
}

/* The change that a position is in, from `inside` characters on, or NULL: then it is the client's
 * text at `at` (characters, from 1); else `at` is where the change is. */
static const rw_change *locate(const rw_conditions *conditions, pgw_slice text, size_t position,
                               bool utf8, size_t *at, size_t *inside)
{
    size_t added = 0, cut = 0;
    for (size_t i = 0; i < conditions->count; i++) {
        const rw_change *it = &conditions->list[i];
        /* The change's position is counted in the client's text. */
        *at = pgw_characters(text, it->at, utf8) + 1;
        size_t more = pgw_characters(it->text, it->text.len, utf8);
        if (position < *at + added - cut)
            break;
        *inside = position - (*at + added - cut);
        if (*inside < more)
            return it;
        added += more;
        cut += pgw_characters(text, it->at + it->cut, utf8) + 1 - *at;
    }
    *at = position - added + cut;
    return NULL;
}

size_t rw_conditions_position(const rw_conditions *conditions, pgw_slice text, size_t position,
                              bool utf8)
{
    size_t at, inside;
    const rw_change *in = locate(conditions, text, position, utf8, &at, &inside);
    if (in == NULL || in->from == 0)
        return at;
    return pgw_characters(text, in->from - 1, utf8) + 1 + (in->moved ? inside : 0);
}

bool rw_conditions_put_in(const rw_conditions *conditions, pgw_slice text, size_t position,
                          bool utf8)
{
    size_t at, inside;
    const rw_change *in = locate(conditions, text, position, utf8, &at, &inside);
    return in != NULL && !in->moved;
}

/* An array of hashes, a hash, or a bucket, which has its column's type, as a constant has. */
static uint32_t type_of_hash(const rw_lookup *lookup)
{
    const rw_table *table = lookup->table;
    uint32_t type = table->buckets > 0 ? table->columns[table->hash_column].type : PGW_INT8;
    return lookup->array > 0 ? pgw_array_of(type) : type;
}

void rw_conditions_types(const rw_conditions *conditions, uint32_t *types)
{
    for (size_t i = 0; i < conditions->lookup_count && !conditions->by_sql; i++) {
        const rw_lookup *lookup = conditions->lookups[i];
        for (uint32_t bound = count_bound(lookup); bound > 0; bound--)
            *types++ = type_of_hash(lookup);
    }
}

static pgw_verdict hash_bound(const rw_lookup *lookup, size_t key, rw_params params,
                              const pgw_reading *reading, rw_further *out)
{
    *out = (rw_further){0};
    return lookup->array > 0 ? rw_lookup_hash_array(lookup, params, reading, &out->hashes)
                             : rw_lookup_hash(lookup, key, params, reading, &out->hash);
}

pgw_verdict rw_conditions_bind(const rw_conditions *conditions, rw_params params,
                               const pgw_reading *reading, rw_further *out)
{
    size_t count = 0;
    for (size_t i = 0; i < conditions->lookup_count && !conditions->by_sql; i++) {
        const rw_lookup *lookup = conditions->lookups[i];
        for (size_t key = 0; key < lookup->keys; key++) {
            if (!rw_lookup_is_bound(lookup, key))
                continue;
            pgw_verdict verdict = hash_bound(lookup, key, params, reading, &out[count++]);
            if (verdict != PGW_KNOWN)
                return verdict;
        }
    }
    return PGW_KNOWN;
}
