#define XXH_INLINE_ALL /* most keys are short: for them the call would cost more than the hash */
#include "rewrite/hash/hash.h"

#include "protocol/value_canonical.h"
#include "rewrite/hash/cityhash.h"
#include "rewrite/hash/pg_hash.h"
#include "rewrite/lex/quote.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

uint64_t rw_xxh3(pgw_slice bytes)
{
    return XXH3_64bits(bytes.ptr, bytes.len);
}

uint64_t rw_numeric_hash(uint64_t value)
{
    value += ~(value << 32);
    value ^= value >> 22;
    value += ~(value << 13);
    value ^= value >> 8;
    value += value << 3;
    value ^= value >> 15;
    value += ~(value << 27);
    value ^= value >> 31;
    return value;
}

static bool is_integer(uint32_t type)
{
    return type == PGW_INT2 || type == PGW_INT4 || type == PGW_INT8;
}

bool rw_hash_supports(rw_hash_function function, const uint32_t *types, size_t count,
                      pgw_error *error)
{
    const char *name = rw_hash_function_name(function);
    if (count == 0)
        return pgw_fail(error, "42P16", "%s needs at least one column", name);
    for (size_t i = 0; i < count; i++) {
        if (pgw_type_is_key(types[i]))
            continue;
        const char *type = pgw_type_name(types[i]);
        pgw_fail(error, "0A000", "%s cannot be computed of column %zu of the hash key, of type %s",
                 name, i + 1, type != NULL ? type : "not known to keyspread");
        pgw_error_hint(error,
                       "Types that can be hashed: smallint, integer, bigint, numeric, double "
                       "precision, text, varchar, char, bytea, uuid, boolean, date, "
                       "timestamp with and without time zone.");
        return false;
    }
    if (function == RW_NUMERIC_HASH && (count != 1 || !is_integer(types[0]))) {
        pgw_fail(error, "0A000", "numeric_hash takes exactly one column of an integer type");
        pgw_error_hint(error, "For other columns use xxh3, cityhash64 or pg_hash.");
        return false;
    }
    return true;
}

/* The hash of an integer's eight bytes. */
static uint64_t hash_integer(const rw_table *table, int64_t value)
{
    uint64_t bytes = htole64((uint64_t)value);
    return table->hash_function == RW_CITYHASH64
               ? rw_cityhash64((pgw_slice){(const char *)&bytes, sizeof bytes})
               : XXH3_64bits(&bytes, sizeof bytes);
}

static uint64_t hash_bytes(const rw_table *table, pgw_slice bytes)
{
    return table->hash_function == RW_CITYHASH64 ? rw_cityhash64(bytes) : rw_xxh3(bytes);
}

/* The hash of all key columns' canonical bytes, one after another; short keys take no memory of
 * their own. */
static uint64_t hash_canonical(const rw_table *table, const pgw_value *values)
{
    char room[PGW_CANONICAL_ROOM], near[256];
    size_t len = 0, i = 0;
    if (table->hash_key_count == 1 && is_integer(values->type) && !values->null)
        return hash_integer(table, values->as.integer);
    if (table->hash_key_count == 1)
        return hash_bytes(table, pgw_value_canonical(&values[0], room));
    for (; i < table->hash_key_count; i++) {
        pgw_slice bytes = pgw_value_canonical(&values[i], room);
        if (bytes.len > sizeof near - len)
            break;
        if (bytes.len > 0)
            memcpy(near + len, bytes.ptr, bytes.len);
        len += bytes.len;
    }
    if (i == table->hash_key_count)
        return hash_bytes(table, (pgw_slice){near, len});
    pgw_buf all = {0};
    pgw_buf_add(&all, near, len);
    for (; i < table->hash_key_count; i++)
        pgw_buf_add_slice(&all, pgw_value_canonical(&values[i], room));
    uint64_t hash = hash_bytes(table, pgw_slice_buf(&all));
    pgw_buf_free(&all);
    return hash;
}

static __attribute__((noinline)) uint64_t hash_integer_otherwise(const rw_table *table,
                                                                 int64_t value)
{
    return table->hash_function == RW_NUMERIC_HASH ? rw_numeric_hash((uint64_t)value)
           : table->hash_function == RW_PG_HASH
               ? rw_pg_hash(&(pgw_value){.type = PGW_INT8, .as.integer = value}, 1)
               : hash_integer(table, value);
}

/* XXH3_64bits() of a known length is a few instructions, and no call. */
__attribute__((flatten)) uint64_t rw_hash_integer(const rw_table *table, int64_t value)
{
    uint64_t bytes = htole64((uint64_t)value);
    uint64_t whole = table->hash_function == RW_XXH3 ? XXH3_64bits(&bytes, sizeof bytes)
                                                     : hash_integer_otherwise(table, value);
    return rw_hash_stored(table, whole);
}

static __attribute__((noinline)) uint64_t hash_values(const rw_table *table,
                                                      const pgw_value *values)
{
    switch (table->hash_function) {
    case RW_NUMERIC_HASH:
        return rw_numeric_hash(values[0].null ? 0 : (uint64_t)values[0].as.integer);
    case RW_PG_HASH:
        return rw_pg_hash(values, table->hash_key_count);
    default:
        return hash_canonical(table, values);
    }
}

/* XXH3 of eight bytes, which is short where it is inlined. */
static __attribute__((flatten)) uint64_t xxh3_of_integer(int64_t value)
{
    uint64_t bytes = htole64((uint64_t)value);
    return XXH3_64bits(&bytes, sizeof bytes);
}

uint64_t rw_hash_whole(const rw_table *table, const pgw_value *values)
{
    bool usual = table->hash_function == RW_XXH3 && table->hash_key_count == 1 &&
                 is_integer(values->type) && !values->null;
    return usual ? xxh3_of_integer(values->as.integer) : hash_values(table, values);
}

void rw_hash_print(const rw_table *table, uint64_t hash, pgw_buf *out)
{
    char *end = rw_hash_put(table, hash, pgw_buf_reserve(out, PGW_DECIMAL_ROOM));
    out->len = (size_t)(end - out->ptr);
}

const char *rw_hash_function_name(rw_hash_function function)
{
    static const char *const names[] = {"xxh3", "numeric_hash", "cityhash64", "pg_hash"};
    return names[function];
}

/* Adds a name as YQL writes it: a backslash stands before what would end it. */
static void add_yql_identifier(pgw_buf *out, const char *name)
{
    pgw_buf_add_byte(out, '`');
    for (; *name != '\0'; name++) {
        if (*name == '`' || *name == '\\')
            pgw_buf_add_byte(out, '\\');
        pgw_buf_add_byte(out, *name);
    }
    pgw_buf_add_byte(out, '`');
}

static void add_postgres(const rw_table *table, pgw_buf *out)
{
    pgw_buf_add_str(out, table->buckets > 0 ? "mod(mod(hash_record_extended(ROW("
                                            : "hash_record_extended(ROW(");
    for (size_t i = 0; i < table->hash_key_count; i++) {
        if (i > 0)
            pgw_buf_add_str(out, ", ");
        rw_add_identifier(out, table->columns[table->hash_key[i]].name);
    }
    pgw_buf_add_str(out, "), 0)");
    if (table->buckets > 0) /* the hash is signed, and its modulo is unsigned */
        pgw_buf_addf(out, " + 18446744073709551616, 18446744073709551616), %" PRIu32 ")",
                     table->buckets);
}

/* Adds the only key column as YQL's own type. A table whose hash column is int8 was made with
 * PostgreSQL's types, which YQL's functions do not take. */
static void add_yql_column(const rw_table *table, pgw_buf *out)
{
    bool wrapped = table->hash_type == RW_HASH_INT8;
    pgw_buf_add_str(out, wrapped ? "FromPg(" : "");
    add_yql_identifier(out, table->columns[table->hash_key[0]].name);
    pgw_buf_add_str(out, wrapped ? ")" : "");
}

/* Adds YQL's expression. ToBytes() of an integer is little-endian, as the canonical bytes are. */
static void add_yql(const rw_table *table, bool integer, pgw_buf *out)
{
    bool signed_result = table->hash_type == RW_HASH_INT8;
    pgw_buf_add_str(out, table->buckets > 0 ? "CAST(" : signed_result ? "FromBytes(ToBytes(" : "");
    pgw_buf_add_str(out, table->hash_function == RW_NUMERIC_HASH ? "Digest::NumericHash(FromBytes("
                         : table->hash_function == RW_XXH3       ? "Digest::XXH3("
                                                                 : "Digest::CityHash(");
    pgw_buf_add_str(out, integer ? "ToBytes(CAST(" : "CAST(");
    add_yql_column(table, out);
    pgw_buf_add_str(out, integer ? " AS Int64))" : " AS String)");
    pgw_buf_add_str(out, table->hash_function == RW_NUMERIC_HASH ? ", Uint64))" : ")");
    if (table->buckets > 0)
        pgw_buf_addf(out, " %% %" PRIu32 "ul AS %s)", table->buckets,
                     table->columns[table->hash_column].type == PGW_INT4 ? "Int32" : "Int16");
    else
        pgw_buf_add_str(out, signed_result ? "), Int64)" : "");
}

char *rw_hash_expression(const rw_table *table, bool yql, pgw_arena *arena)
{
    if (table->hash_key_count == 0 || yql == (table->hash_function == RW_PG_HASH))
        return NULL; /* PostgreSQL has only its own hash function, which YQL lacks */
    uint32_t type = table->columns[table->hash_key[0]].type;
    bool integer = is_integer(type);
    pgw_buf out = {0};
    if (!yql)
        add_postgres(table, &out);
    else if (table->hash_key_count == 1 && !table->allow_null_key &&
             (integer || type == PGW_TEXT || type == PGW_VARCHAR || type == PGW_BYTEA))
        add_yql(table, integer, &out);
    char *expression = out.len > 0 ? (char *)pgw_arena_copy(arena, pgw_slice_buf(&out)).ptr : NULL;
    pgw_buf_free(&out);
    return expression;
}
