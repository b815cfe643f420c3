#include "rewrite/insert/key.h"

#include "protocol/utf8.h"
#include "protocol/value_canonical.h"
#include "rewrite/hash/hash.h"
#include "rewrite/hash/partition.h"

#include <string.h>

/* Which cell of a row's key belongs to a column of the hash_key. */
static size_t key_index(const rw_table *table, size_t column)
{
    size_t i = 0;
    while (table->primary_key[i] != column)
        i++;
    return i;
}

static void set_position(const rw_insert *insert, const rw_cell *cell, pgw_error *error)
{
    error->position = pgw_characters(insert->text, cell->position, insert->utf8) + 1;
}

/* Hints at a spelling whose value can certainly be computed. */
static void hint_at_spelling(const rw_column *column, const pgw_env *env, pgw_error *error)
{
    bool text =
        column->type == PGW_TEXT || column->type == PGW_VARCHAR || column->type == PGW_BPCHAR;
    if (column->type == PGW_TIMESTAMPTZ)
        pgw_error_hint(error,
                       "Write a constant or a parameter with its offset from UTC for \"%s\", as in "
                       "'2026-01-31 12:00:00+00'.",
                       column->name);
    else if (column->type == PGW_TIMESTAMP || column->type == PGW_DATE)
        pgw_error_hint(
            error, "Write a constant or a parameter in ISO form for \"%s\", as in '2026-01-31'.",
            column->name);
    else if (text && !env->utf8)
        pgw_error_hint(error, "SET client_encoding TO 'UTF8'.");
    else
        pgw_error_hint(error, "Write a plain constant or a parameter of type %s for \"%s\".",
                       column->type_name ? column->type_name : "the column", column->name);
}

static pgw_verdict uncomputable(const rw_insert *insert, const rw_cell *cell, size_t column,
                                const pgw_env *env, pgw_error *error)
{
    const rw_table *table = insert->table;
    const char *name = table->columns[column].name;
    pgw_fail(error, "0A000",
             "cannot compute the hash of table \"%s\": the value of column \"%s\" cannot be told "
             "from the statement alone",
             table->name, name);
    hint_at_spelling(&table->columns[column], env, error);
    if (cell->kind != RW_CELL_PARAM)
        set_position(insert, cell, error);
    return PGW_UNKNOWABLE;
}

static pgw_verdict null_key(const rw_insert *insert, size_t column, pgw_error *error)
{
    pgw_fail(error, "23502",
             "null value in column \"%s\" of relation \"%s\" violates not-null constraint",
             insert->table->columns[column].name, insert->table->name);
    return PGW_INVALID;
}

static pgw_verdict wrong_hash(const rw_insert *insert, uint64_t hash, pgw_error *error)
{
    const rw_table *table = insert->table;
    pgw_buf digits = {0};
    rw_hash_print(table, hash, &digits);
    pgw_fail(error, "22023", "wrong value for hash column \"%s\" of table \"%s\"",
             table->columns[table->hash_column].name, table->name);
    pgw_error_hint(error, "Leave the column out or write DEFAULT for it; for this key it is %.*s.",
                   (int)digits.len, digits.ptr);
    pgw_buf_free(&digits);
    return PGW_INVALID;
}

/* The row whose key is made, and how its values are read. */
typedef struct row_reading {
    const rw_insert *insert;
    const rw_row *row;
    rw_params params;
    const pgw_reading *reading;
} row_reading;

static pgw_verdict value_of(const row_reading *in, const rw_cell *cell, size_t column,
                            pgw_error *error, pgw_value *out)
{
    pgw_reading reading = {in->reading->env, in->reading->arena, error};
    return rw_cell_value(cell, &in->insert->table->columns[column], in->params, &reading, out);
}

static bool is_integer(uint32_t type)
{
    return type == PGW_INT2 || type == PGW_INT4 || type == PGW_INT8;
}

/* Whether the client's value for the hash column is the hash. */
static bool is_hash(const row_reading *in, const rw_cell *cell, uint64_t hash)
{
    const rw_table *table = in->insert->table;
    pgw_value value;
    pgw_error ignored;
    pgw_buf digits = {0};
    rw_hash_print(table, hash, &digits);
    bool plain = cell->kind == RW_CELL_INTEGER && cell->cast_count == 0 && cell->minus_after < 0;
    bool same = plain && pgw_slice_eq(cell->text, pgw_slice_buf(&digits));
    if (!same && value_of(in, cell, table->hash_column, &ignored, &value) == PGW_KNOWN &&
        !value.null)
        same = is_integer(value.type)      ? (uint64_t)value.as.integer == hash
               : value.type == PGW_NUMERIC ? pgw_slice_eq(value.as.bytes, pgw_slice_buf(&digits))
                                           : false;
    pgw_buf_free(&digits);
    return same;
}

/* Reads the value of a hash_key column, which must be known. */
static pgw_verdict hashed_value(const row_reading *in, size_t column, rw_key *key)
{
    const rw_table *table = in->insert->table;
    pgw_error *error = in->reading->error;
    size_t i = key_index(table, column);
    const rw_cell *cell = &in->row->key[i];
    bool omitted = cell->kind == RW_CELL_ABSENT || cell->kind == RW_CELL_DEFAULT;
    pgw_verdict verdict = PGW_KNOWN;
    if (omitted && rw_table_defaults_to_null(table, column))
        key->values[i] = (pgw_value){.type = table->columns[column].type, .null = true};
    else
        verdict = value_of(in, cell, column, error, &key->values[i]);
    key->known[i] = verdict == PGW_KNOWN;
    if (verdict == PGW_UNKNOWABLE)
        return uncomputable(in->insert, cell, column, in->reading->env, error);
    if (verdict == PGW_INVALID) {
        if (error->position == 0 && cell->kind == RW_CELL_STRING)
            set_position(in->insert, cell, error);
        return verdict;
    }
    if (key->values[i].null && !rw_table_hashes_null(table, column))
        return null_key(in->insert, column, error);
    return PGW_KNOWN;
}

/* Reads the other key columns, which may hold anything: the backend judges them. */
static void other_values(const row_reading *in, rw_key *key)
{
    const rw_table *table = in->insert->table;
    key->all_known = true;
    for (size_t i = 0; i < table->primary_key_count; i++) {
        const rw_cell *cell = &in->row->key[i];
        pgw_error ignored;
        if (!key->known[i] && cell->kind != RW_CELL_ABSENT && cell->kind != RW_CELL_DEFAULT &&
            cell->kind != RW_CELL_EXPRESSION)
            key->known[i] =
                value_of(in, cell, table->primary_key[i], &ignored, &key->values[i]) == PGW_KNOWN;
        key->all_known = key->all_known && key->known[i];
    }
}

pgw_verdict rw_insert_key(const rw_insert *insert, size_t row, rw_params params,
                          const pgw_reading *reading, rw_key *key)
{
    const rw_table *table = insert->table;
    row_reading in = {insert, &insert->rows[row], params, reading};
    pgw_arena *arena = reading->arena;
    *key = (rw_key){.hash = 0};
    key->values = pgw_arena_alloc(arena, table->primary_key_count * sizeof *key->values);
    key->known = pgw_arena_alloc(arena, table->primary_key_count * sizeof *key->known);
    pgw_value few[4] = {{0}}, *hashed = few;
    if (table->hash_key_count > sizeof few / sizeof *few)
        hashed = pgw_arena_alloc(arena, table->hash_key_count * sizeof *hashed);
    bool rejected = false; /* the backend rejects the row, whatever its hash is */
    for (size_t i = 0; i < table->hash_key_count; i++) {
        pgw_verdict verdict = hashed_value(&in, table->hash_key[i], key);
        if (verdict != PGW_KNOWN)
            return verdict;
        hashed[i] = key->values[key_index(table, table->hash_key[i])];
        rejected = rejected || (hashed[i].null && !table->allow_null_key);
    }
    other_values(&in, key);
    key->whole = rw_hash_whole(table, hashed);
    key->hash = rw_hash_stored(table, key->whole);
    key->partition = rw_partition_of(table, key->hash);
    const rw_cell *own = in.row->hash_cell;
    if (!rejected && own->kind != RW_CELL_ABSENT && own->kind != RW_CELL_DEFAULT &&
        !is_hash(&in, own, key->hash))
        return wrong_hash(insert, key->hash, reading->error);
    return PGW_KNOWN;
}

/* Writes all bytes of a key, each value with its length, so that no two keys look alike. */
static void key_bytes(const rw_table *table, const rw_key *key, pgw_buf *out)
{
    pgw_buf_clear(out);
    for (size_t i = 0; i < table->primary_key_count; i++) {
        char room[PGW_CANONICAL_ROOM];
        pgw_slice bytes = pgw_value_canonical(&key->values[i], room);
        pgw_buf_add_i32(out, key->values[i].null ? -1 : (int32_t)bytes.len);
        pgw_buf_add_slice(out, bytes);
    }
}

typedef struct key_slot {
    pgw_slice bytes; /* `ptr` NULL: the slot is free */
} key_slot;

/* Adds `bytes` to an open hash table of `mask` + 1 slots; false if they are there already. */
static bool add_key(key_slot *slots, size_t mask, pgw_slice bytes, pgw_arena *arena)
{
    size_t at = (size_t)rw_xxh3(bytes) & mask;
    for (; slots[at].bytes.ptr != NULL; at = (at + 1) & mask)
        if (pgw_slice_eq(slots[at].bytes, bytes))
            return false;
    slots[at].bytes = pgw_arena_copy(arena, bytes);
    return true;
}

size_t rw_insert_supersede(rw_insert *insert, const rw_key *keys, pgw_arena *arena)
{
    if (insert->verb == RW_VERB_INSERT || insert->row_count < 2)
        return 0;
    size_t size = 4, marked = 0;
    while (size < insert->row_count * 2)
        size *= 2;
    key_slot *slots = pgw_arena_alloc(arena, size * sizeof *slots);
    pgw_buf bytes = {0};
    for (size_t i = insert->row_count; i-- > 0;) {
        insert->rows[i].superseded = false;
        if (!keys[i].all_known)
            continue;
        key_bytes(insert->table, &keys[i], &bytes);
        insert->rows[i].superseded = !add_key(slots, size - 1, pgw_slice_buf(&bytes), arena);
        marked += insert->rows[i].superseded;
    }
    pgw_buf_free(&bytes);
    return marked;
}
