#include "rewrite/statement/lookup/lookup_render.h"

#include "rewrite/hash/hash.h"
#include "rewrite/hash/hash_sql.h"
#include "rewrite/insert/guard.h"
#include "rewrite/lex/quote.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_hash_column(const rw_table *table, const char *called, pgw_buf *out)
{
    rw_add_identifier(out, called);
    pgw_buf_add_byte(out, '.');
    rw_add_identifier(out, table->columns[table->hash_column].name);
}

/* Where another table has got the name, whose hash is made of other columns, all rows are looked
 * at. The planner is not told of it otherwise. */
static void add_unless(const rw_table *table, bool bare, bool *any, pgw_buf *out)
{
    pgw_buf_add_str(out, *any ? "NOT " : "(NOT ");
    if (bare)
        rw_guard_is_found(table, out);
    else
        rw_guard_is_table(table, out);
    pgw_buf_add_str(out, " OR ");
    *any = true;
}

static bool add_unless_other(const rw_lookup *lookup, pgw_buf *out)
{
    bool any = false;
    if (lookup->table->own_key)
        add_unless(lookup->table, false, &any, out);
    if (lookup->keys == 0 && lookup->other->own_key)
        add_unless(lookup->other, false, &any, out);
    return any;
}

static void add_begin(const rw_lookup *lookup, pgw_buf *out)
{
    pgw_buf_add_str(out, lookup->wrapped ? " WHERE " : " ");
}

static void add_end(const rw_lookup *lookup, pgw_buf *out)
{
    pgw_buf_add_str(out, lookup->wrapped ? "" : lookup->until > 0 ? " AND (" : " AND");
}

/* A hash. A bucket is quoted, so that it has its column's type: a store may find rows by their keys
 * only where types are the same. */
static void add_hash(const rw_table *table, uint64_t hash, pgw_buf *out)
{
    pgw_buf_add_str(out, table->buckets > 0 ? "'" : "");
    rw_hash_print(table, hash, out);
    pgw_buf_add_str(out, table->buckets > 0 ? "'" : "");
}

void rw_lookup_render(const rw_lookup *lookup, const uint64_t *hashes, uint32_t first, pgw_buf *out)
{
    const rw_table *table = lookup->table;
    add_begin(lookup, out);
    bool unless = add_unless_other(lookup, out);
    add_hash_column(table, lookup->called, out);
    pgw_buf_add_str(out, lookup->array > 0 ? " = ANY (" : lookup->keys > 1 ? " IN (" : " = ");
    if (lookup->keys == 0)
        add_hash_column(lookup->other, lookup->other_called, out);
    for (size_t key = 0; key < lookup->keys; key++) {
        pgw_buf_add_str(out, key > 0 ? ", " : "");
        if (first > 0 && rw_lookup_is_bound(lookup, key))
            pgw_buf_addf(out, "$%u", first++);
        else
            add_hash(table, hashes[key], out);
    }
    pgw_buf_add_str(out, lookup->keys > 1 || lookup->array > 0 ? ")" : "");
    pgw_buf_add_str(out, unless ? ")" : "");
    add_end(lookup, out);
}

/* --- by expressions --- */

static bool is_any_bound(const rw_lookup *lookup)
{
    bool any = lookup->array > 0;
    for (size_t key = 0; key < lookup->keys; key++)
        any = any || rw_lookup_is_bound(lookup, key);
    return any;
}

static int size_of(uint32_t type)
{
    return type == PGW_INT2 ? 2 : type == PGW_INT4 ? 4 : type == PGW_INT8 ? 8 : 0;
}

/* The size in bytes of the integer type that a cell is compared as; 0: it is no integer, or a
 * parameter without a type. */
static int size_of_cell(const rw_cell *cell, rw_declared declared)
{
    int64_t number;
    if (cell->cast_count > 0)
        return size_of(cell->casts[0].type);
    if (cell->kind == RW_CELL_PARAM && rw_is_declared(declared, cell->parameter))
        return size_of(declared.types[cell->parameter - 1]);
    if (cell->kind != RW_CELL_INTEGER ||
        !rw_digits_fit_int8(cell->text, cell->minus_after == 0, &number))
        return 0;
    return number >= INT32_MIN && number <= INT32_MAX ? 4 : 8;
}

/* Whether a parameter without a type is what its column is: beside a larger integer in a list it
 * is as large, and must not become smaller by what is put in. */
static bool are_of_one_size(const rw_lookup *lookup, rw_declared declared)
{
    const rw_table *table = lookup->table;
    for (size_t i = 0; i < table->hash_key_count; i++) {
        int size = size_of(table->columns[table->hash_key[i]].type);
        bool inferred = false, larger = false;
        for (size_t key = 0; key < lookup->keys; key++) {
            const rw_cell *cell = &lookup->cells[key * table->hash_key_count + i];
            inferred |= cell->kind == RW_CELL_PARAM && cell->cast_count == 0 &&
                        !rw_is_declared(declared, cell->parameter);
            larger |= size > 0 && size_of_cell(cell, declared) > size;
        }
        if (inferred && larger)
            return false;
    }
    return true;
}

bool rw_lookup_has_sql(const rw_lookup *lookup, const rw_sql_prepare *prepared)
{
    const rw_table *table = lookup->table;
    if (table->oid == 0)
        return !is_any_bound(lookup);
    if (table->hash_type != RW_HASH_INT8)
        return false;
    return !is_any_bound(lookup) || (rw_hash_has_sql(table) && lookup->array == 0 &&
                                     rw_lookup_takes(lookup, prepared->kept, prepared->declared) &&
                                     are_of_one_size(lookup, prepared->declared));
}

static bool is_integer(uint32_t type)
{
    return type == PGW_INT2 || type == PGW_INT4 || type == PGW_INT8;
}

/* The table for values that are only compared with its key: nothing is cut or rounded, and a number
 * that its column could not hold has some hash. */
static rw_table compared_table(const rw_table *table, pgw_arena *arena)
{
    rw_table out = *table;
    size_t size = table->column_count * sizeof *out.columns;
    out.columns = pgw_arena_alloc(arena, size);
    memcpy(out.columns, table->columns, size);
    for (size_t i = 0; i < out.column_count; i++) {
        out.columns[i].typmod = -1;
        if (is_integer(out.columns[i].type))
            out.columns[i].type = PGW_INT8;
    }
    return out;
}

static void add_value(const rw_cell *cell, pgw_buf *out)
{
    if (cell->kind == RW_CELL_PARAM)
        pgw_buf_addf(out, "$%" PRIu32, cell->parameter);
    else if (cell->kind == RW_CELL_STRING)
        rw_add_constant(out, cell->text);
    else
        pgw_buf_addf(out, "%s%.*s", cell->minus_after == 0 ? "-" : "", (int)cell->text.len,
                     cell->text.ptr);
}

/* What a cell of the key is compared as. */
static const char *value_of(const rw_lookup *lookup, size_t cell, rw_declared declared,
                            pgw_arena *arena)
{
    const rw_cell *it = &lookup->cells[cell];
    bool inferred = it->kind == RW_CELL_PARAM && !rw_is_declared(declared, it->parameter);
    bool cast = inferred || it->cast_count > 0;
    pgw_buf out = {0};
    pgw_buf_add_str(&out, cast ? "cast(" : "");
    add_value(it, &out);
    if (cast)
        pgw_buf_addf(&out, " as %s)", rw_hash_sql_type(rw_lookup_type(lookup, cell)));
    pgw_buf_add_byte(&out, '\0');
    return pgw_arena_keep(arena, &out).ptr;
}

static const char *hash_of(const rw_lookup *lookup, size_t key, const rw_table *compared,
                           rw_declared declared, pgw_arena *arena)
{
    size_t width = lookup->table->hash_key_count;
    const char **values = pgw_arena_alloc(arena, width * sizeof *values);
    for (size_t i = 0; i < width; i++)
        values[i] = value_of(lookup, key * width + i, declared, arena);
    return rw_hash_sql_or_null(compared, values, arena);
}

/* What is the hash of a key as its columns are now, and else NULL. */
static void add_hash_if_same(const rw_lookup *lookup, const char *hash, pgw_buf *out)
{
    pgw_buf_add_str(out, "case when ");
    rw_guard_same_types(lookup->table, lookup->called, out);
    if (lookup->keys == 0) {
        pgw_buf_add_str(out, " and ");
        rw_guard_same_types(lookup->other, lookup->other_called, out);
    }
    pgw_buf_addf(out, " then %s end", hash);
}

/* A hash that the server may not be able to compute is any. */
static void add_bound(const rw_lookup *lookup, const char *than, const char *hash, int64_t any,
                      pgw_buf *out)
{
    add_hash_column(lookup->table, lookup->called, out);
    pgw_buf_addf(out, " operator(pg_catalog.%s) coalesce(", than);
    add_hash_if_same(lookup, hash, out);
    pgw_buf_addf(out, ", bigint '%" PRId64 "')", any);
}

static void add_range(const rw_lookup *lookup, const char *hash, pgw_buf *out)
{
    pgw_buf_add_byte(out, '(');
    add_bound(lookup, ">=", hash, INT64_MIN, out);
    pgw_buf_add_str(out, " AND ");
    add_bound(lookup, "<=", hash, INT64_MAX, out);
    pgw_buf_add_byte(out, ')');
}

static void add_joined(const rw_lookup *lookup, pgw_buf *out)
{
    pgw_buf hash = {0};
    add_hash_column(lookup->other, lookup->other_called, &hash);
    pgw_buf_add_byte(&hash, '\0');
    add_range(lookup, hash.ptr, out);
    pgw_buf_free(&hash);
}

static void add_ranges(const rw_lookup *lookup, const uint64_t *hashes, const char *const *made,
                       pgw_buf *out)
{
    if (lookup->keys == 0)
        add_joined(lookup, out);
    for (size_t key = 0; key < lookup->keys; key++) {
        char number[32];
        snprintf(number, sizeof number, "bigint '%" PRId64 "'", (int64_t)hashes[key]);
        pgw_buf_add_str(out, key > 0 ? " OR " : lookup->keys > 1 ? "(" : "");
        add_range(lookup, made[key] != NULL ? made[key] : number, out);
    }
    pgw_buf_add_str(out, lookup->keys > 1 ? ")" : "");
}

void rw_lookup_render_sql(const rw_lookup *lookup, const uint64_t *hashes,
                          const rw_sql_prepare *prepared, pgw_arena *arena, pgw_buf *out)
{
    if (lookup->table->oid == 0) {
        /* A server without oids (YDB) never changes the type of a key column. */
        rw_lookup_render(lookup, hashes, 0, out);
        return;
    }
    rw_table compared = compared_table(lookup->table, arena);
    const char **made = pgw_arena_alloc(arena, (lookup->keys + 1) * sizeof *made);
    bool unless = false;
    for (size_t key = 0; key < lookup->keys; key++)
        made[key] = rw_lookup_is_bound(lookup, key)
                        ? hash_of(lookup, key, &compared, prepared->declared, arena)
                        : NULL;
    add_begin(lookup, out);
    add_unless(lookup->table, lookup->bare, &unless, out);
    if (lookup->keys == 0)
        add_unless(lookup->other, lookup->other_bare, &unless, out);
    add_ranges(lookup, hashes, made, out);
    pgw_buf_add_str(out, unless ? ")" : "");
    add_end(lookup, out);
}
