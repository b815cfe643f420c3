#include "proxy/ingest/bind.h"

#include "proxy/backend/places/maps.h"

#include "protocol/value_canonical.h"
#include "protocol/value_in.h"
#include "proxy/base/log.h"
#include "rewrite/insert/key.h"
#include "rewrite/insert/render.h"
#include "rewrite/insert/spell.h"

#include <string.h>
#include <xxhash.h>

rw_param *px_bind_parameters(const uint32_t *types, const pgw_bind *bind, pgw_arena *arena)
{
    rw_param *params = pgw_arena_alloc(arena, (bind->value_count + 1) * sizeof *params);
    pgw_reader reader = pgw_reader_of(bind->values);
    for (size_t i = 0; i < bind->value_count; i++) {
        pgw_bind_value value = pgw_bind_next(&reader);
        params[i] = (rw_param){.type = types[i],
                               .binary = pgw_bind_is_binary(bind, i),
                               .null = value.null,
                               .bytes = value.bytes};
    }
    return params;
}

bool px_bind_count(const pgw_bind *bind, size_t wanted, pgw_error *error)
{
    return bind->value_count == wanted ||
           pgw_fail(
               error, "08P01",
               "bind message supplies %zu parameters, but prepared statement \"%.*s\" requires %zu",
               bind->value_count, (int)bind->statement.len, bind->statement.ptr, wanted);
}

bool px_bind_check(const px_plan *plan, const pgw_bind *bind, bool whole, pgw_error *error)
{
    if (bind->format_count > 1 && bind->format_count != bind->value_count)
        return pgw_fail(error, "08P01", "bind message has %zu parameter formats but %zu parameters",
                        bind->format_count, bind->value_count);
    return px_bind_count(bind, px_plan_client_parameters(plan), error) &&
           (whole || pgw_fail(error, "08P01", "insufficient data left in message"));
}

size_t px_bind_reach(const px_plan *plan)
{
    const rw_insert *insert = plan->insert, *asked = plan->asked;
    size_t all = px_plan_client_parameters(plan), reach = 0;
    for (size_t r = 0; r < insert->row_count; r++)
        for (size_t k = 0; k < insert->table->primary_key_count; k++) {
            const rw_cell *cell = &insert->rows[r].key[k];
            if (cell->kind == RW_CELL_PARAM && cell->parameter <= all && cell->parameter > reach)
                reach = cell->parameter;
        }
    for (size_t i = 0; asked != NULL && i < asked->wanted_count; i++)
        if (asked->wanted[i].parameters)
            return all;
    return reach;
}

/* Spells the text of a timestamptz that TimeZone decides in `out`. False: it need not be
 * spelled. */
static bool spell(const pgw_bind_value *value, const pgw_env *env, pgw_arena *arena, pgw_buf *out)
{
    pgw_error ignored;
    pgw_value read;
    pgw_reading reading = {env, arena, &ignored};
    pgw_buf_clear(out);
    if (value->null || !rw_text_heeds_zone(PGW_TIMESTAMPTZ, value->bytes) ||
        pgw_value_from_text(PGW_TIMESTAMPTZ, -1, value->bytes, &reading, &read) != PGW_KNOWN)
        return false;
    rw_spell_time(&read, out);
    return true;
}

pgw_bind px_bind_spell(const uint32_t *types, const bool *heeded, const pgw_bind *bind,
                       const pgw_env *env, pgw_arena *arena)
{
    pgw_bind spelled = *bind;
    pgw_buf values = {0}, text = {0};
    pgw_reader reader = pgw_reader_of(bind->values);
    const char *kept = bind->values.ptr; /* parameters before this place are in `values` */
    for (size_t i = 0; i < bind->value_count; i++) {
        const char *begun = reader.at;
        pgw_bind_value value = pgw_bind_next(&reader);
        if (!heeded[i] || types[i] != PGW_TIMESTAMPTZ || pgw_bind_is_binary(bind, i) ||
            !spell(&value, env, arena, &text))
            continue;
        pgw_buf_add(&values, kept, (size_t)(begun - kept));
        pgw_buf_add_i32(&values, (int32_t)text.len);
        pgw_buf_add_slice(&values, pgw_slice_buf(&text));
        kept = reader.at;
    }
    if (kept > bind->values.ptr) {
        pgw_buf_add(&values, kept, (size_t)(bind->values.ptr + bind->values.len - kept));
        spelled.values = pgw_arena_keep(arena, &values);
    }
    pgw_buf_free(&text);
    return spelled;
}

bool *px_bind_feeding(const px_plan *plan, pgw_arena *arena)
{
    const rw_insert *insert = plan->insert;
    bool *feeding = pgw_arena_alloc(arena, insert->param_count + 1);
    for (size_t r = 0; r < insert->row_count; r++)
        for (size_t k = 0; k < insert->table->primary_key_count; k++) {
            const rw_cell *cell = &insert->rows[r].key[k];
            if (cell->kind == RW_CELL_PARAM && cell->parameter <= insert->param_count &&
                rw_spells_column(insert, insert->table->primary_key[k]))
                feeding[cell->parameter - 1] = true;
        }
    return feeding;
}

static size_t key_bytes(const rw_table *table, const rw_key *key)
{
    size_t bytes = 0;
    for (size_t i = 0; i < table->primary_key_count; i++) {
        uint32_t type = table->columns[table->primary_key[i]].type;
        bool bytewise = type == PGW_TEXT || type == PGW_VARCHAR || type == PGW_BPCHAR ||
                        type == PGW_BYTEA || type == PGW_NUMERIC;
        if (key->known[i] && !key->values[i].null)
            bytes += bytewise ? key->values[i].as.bytes.len : sizeof(int64_t);
    }
    return bytes;
}

size_t px_bind_small(const px_worker *worker, const rw_table *table)
{
    const cfg_config *config = worker->config;
    /* A key has at most so many bytes more than it is written with. */
    size_t more = table->primary_key_count * sizeof(int64_t), most = config->limits.key_bytes;
    if (table->key_unfolds || most < more)
        return 0;
    most -= more;
    return (most < config->limits.row_bytes ? most : config->limits.row_bytes) + 1;
}

bool px_bind_within(const px_worker *worker, const rw_table *table, size_t row_bytes,
                    const rw_key *key)
{
    const cfg_config *config = worker->config;
    return px_bind_is_small(worker, table, row_bytes) ||
           (row_bytes <= config->limits.row_bytes &&
            key_bytes(table, key) <= config->limits.key_bytes);
}

bool px_bind_limit(px_worker *worker, const rw_table *table, size_t row_bytes, const rw_key *key,
                   pgw_error *error)
{
    const cfg_config *config = worker->config;
    size_t of_key = key_bytes(table, key);
    bool row = row_bytes > config->limits.row_bytes;
    if (!row && of_key <= config->limits.key_bytes)
        return true;
    px_count(worker->metrics, row ? PX_OVERSIZED_ROW : PX_OVERSIZED_KEY, 1);
    px_log(CFG_LOG_WARN, row ? "large_row" : "large_key", "table=%s bytes=%zu", table->name,
           row ? row_bytes : of_key);
    if (!config->limits.enforce)
        return true;
    pgw_fail(error, "54000", "a %s for table \"%s\" has %zu bytes", row ? "row" : "key",
             table->name, row ? row_bytes : of_key);
    pgw_error_hint(error, "limits.%s is %llu, and limits.enforce is on.",
                   row ? "row_bytes" : "key_bytes",
                   (unsigned long long)(row ? config->limits.row_bytes : config->limits.key_bytes));
    return false;
}

bool px_bind_keys(px_worker *worker, const px_plan *plan, const pgw_bind *bind, const pgw_env *env,
                  pgw_arena *arena, px_bound *bound)
{
    const rw_insert *insert = plan->insert;
    bound->keys = NULL;
    bound->hashes = NULL;
    bound->known = 0;
    if (insert->blocker == RW_BLOCKER_UNCOMPUTABLE)
        return true;
    rw_params params = {px_bind_parameters(plan->types, bind, arena), bind->value_count};
    pgw_reading reading = {env, arena, &bound->error};
    bound->keys = pgw_arena_alloc(arena, insert->row_count * sizeof *bound->keys);
    bound->hashes = pgw_arena_alloc(arena, insert->row_count * sizeof *bound->hashes);
    /* A key is made of parameters and of constants in the text. */
    bool small = px_bind_is_small(worker, insert->table, bind->values.len + insert->text.len);
    for (size_t r = 0; r < insert->row_count; r++) {
        if (rw_insert_key(insert, r, params, &reading, &bound->keys[r]) != PGW_KNOWN)
            return false;
        if (!small && !px_bind_limit(worker, insert->table, bind->values.len / insert->row_count,
                                     &bound->keys[r], &bound->error))
            return false;
        bound->keys[r].partition = px_map_partition(worker, insert->table, bound->keys[r].hash);
        bound->hashes[r] = (int64_t)bound->keys[r].hash;
        bound->known++;
    }
    return true;
}

bool px_bind_write(const px_plan *plan, const pgw_bind *bind, px_bind_names names,
                   const px_bound *bound, pgw_buf *out, pgw_error *error)
{
    size_t more = plan->form == RW_HASH_PARAMETER ? plan->insert->row_count : 0;
    if (pgw_write_bind(bind, names.portal, names.statement, bound->hashes, more, out))
        return true;
    pgw_fail(error, "54000", "a Bind of %zu parameters and %zu hashes is too large a message",
             bind->value_count, more);
    pgw_error_hint(error, "Send fewer rows a statement.");
    return false;
}

static __attribute__((noinline)) uint64_t number_of_bytes(const pgw_value *value)
{
    char room[PGW_CANONICAL_ROOM];
    pgw_slice bytes = pgw_value_canonical(value, room);
    return XXH3_64bits(bytes.ptr, bytes.len);
}

/* Equal numbers for equal values of a column, by all bits of those. */
static inline uint64_t number_of(const pgw_value *value)
{
    uint32_t type = value->type;
    bool counted = type == PGW_INT8 || type == PGW_INT4 || type == PGW_INT2 ||
                   type == PGW_TIMESTAMPTZ || type == PGW_TIMESTAMP;
    if (counted && !value->null)
        return (uint64_t)value->as.integer;
    return value->null ? UINT64_C(0x85ebca77c2b2ae63) /* an arbitrary number for NULL */
                       : number_of_bytes(value);
}

px_write_group_key px_write_group_key_of(const rw_table *table, const rw_key *key)
{
    if (!key->all_known)
        return (px_write_group_key){.hash = key->whole, .partition = key->partition};
    uint64_t mixed = 0;
    const pgw_value *end = key->values + table->primary_key_count;
    if (table->hash_key_count < table->primary_key_count)
        for (const pgw_value *value = key->values; value < end; value++)
            mixed = px_bind_mix(mixed, number_of(value));
    return px_write_group_key_mixed(table, key, mixed);
}
