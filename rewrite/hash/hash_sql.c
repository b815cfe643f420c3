#include "rewrite/hash/hash_sql.h"

#include "rewrite/hash/xxh3_sql.h"

#include <inttypes.h>

#define PG "pg_catalog."
#define SQL(...) pgw_arena_printf(arena, __VA_ARGS__)

/* The time from 1970 to 2000, from where PostgreSQL counts. */
#define EPOCH_DAYS "10957"
#define EPOCH_USECS "946684800000000"

bool rw_hash_has_sql(const rw_table *table)
{
    return table->hash_function != RW_CITYHASH64;
}

bool rw_key_may_change(const rw_table *table)
{
    bool can = table->unusable == NULL && rw_hash_has_sql(table) && !table->heeds_updates &&
               !table->changes_rows;
    for (size_t i = 0; i < table->hash_key_count; i++)
        can = can && !table->columns[table->hash_key[i]].generated;
    return can;
}

const char *rw_hash_sql_type(uint32_t type)
{
    switch (type) {
    case PGW_BPCHAR:
        return PG "bpchar";
    case PGW_TEXT:
        return PG "text";
    case PGW_BYTEA:
        return PG "bytea";
    case PGW_UUID:
        return PG "uuid";
    case PGW_DATE:
        return PG "date";
    default: /* the names of the other types are keywords */
        return pgw_type_name(type);
    }
}

/* A key column's type as a cast names it, with its length or precision: types that have one are
 * keywords of the grammar. */
static const char *type_of(const rw_column *column)
{
    switch (column->type) {
    case PGW_BPCHAR:
    case PGW_VARCHAR:
    case PGW_NUMERIC:
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        return column->typmod < 0 ? rw_hash_sql_type(column->type) : column->type_name;
    default:
        return rw_hash_sql_type(column->type);
    }
}

static char *stored(pgw_arena *arena, const rw_column *column, const char *value)
{
    return SQL("cast(%s as %s)", value, type_of(column));
}

/* ---- one column ---- */

static bool is_integer(uint32_t type)
{
    return type == PGW_INT2 || type == PGW_INT4 || type == PGW_INT8;
}

/* The bits that a type's send function gives, as a number. A cast of text may be somebody's own. */
static char *sent(pgw_arena *arena, const rw_column *column, const char *function,
                  const char *value, int bits)
{
    const char *type = bits == 64 ? "bigint" : "integer";
    char *text = SQL(PG "concat('x', " PG "encode(" PG "%s(%s), 'hex'))", function, value);
    return column->own_casts == RW_NO_OWN_CASTS
               ? SQL("cast(%s as bit(%d))::%s", text, bits, type)
               : SQL(PG "bit_in(" PG "textout(%s), 0, %d)::%s", text, bits, type);
}

/* The eight bytes that are hashed of a value, as an int8; NULL: values of its type are not hashed
 * as eight bytes. */
static char *number_of(pgw_arena *arena, const rw_column *column, const char *value)
{
    if (is_integer(column->type))
        return SQL("%s::bigint", value);
    if (column->type == PGW_FLOAT8)
        return SQL("case when %s operator(pg_catalog.=) double precision 'nan' then bigint "
                   "'9221120237041090560' else %s end",
                   value, sent(arena, column, "float8send", SQL(PG "float8pl(%s, 0)", value), 64));
    if (column->type != PGW_TIMESTAMP && column->type != PGW_TIMESTAMPTZ)
        return NULL;
    char *usecs =
        sent(arena, column, column->type == PGW_TIMESTAMP ? "timestamp_send" : "timestamptz_send",
             value, 64);
    return SQL("case when " PG "isfinite(%s) then %s else %s end", value,
               rw_sql_wrap(arena, SQL("%s::numeric operator(pg_catalog.+) " EPOCH_USECS, usecs)),
               usecs);
}

static char *bytes_of_date(pgw_arena *arena, const rw_column *column, const char *value)
{
    char *days = sent(arena, column, "date_send", value, 32);
    char *moved = SQL("case when " PG "isfinite(%s) then %s operator(pg_catalog.+) " EPOCH_DAYS
                      " else %s end",
                      value, days, days);
    return SQL("(select " PG "substr(" PG
               "int8send(%s), 1, 4) from (select (%s)::bigint offset 0) d(v))",
               rw_sql_swapped(arena, "v"), moved);
}

static char *bytes_of(pgw_arena *arena, const rw_column *column, const char *value)
{
    char *number = number_of(arena, column, value);
    if (number != NULL)
        return SQL("(select " PG "int8send(%s) from (select %s offset 0) d(v))",
                   rw_sql_swapped(arena, "v"), number);
    switch (column->type) {
    case PGW_DATE:
        return bytes_of_date(arena, column, value);
    case PGW_BOOL:
        return SQL(PG "boolsend(%s)", value);
    case PGW_BYTEA:
        return (char *)value;
    case PGW_UUID:
        return SQL(PG "uuid_send(%s)", value);
    case PGW_NUMERIC: /* PostgreSQL has no cast of numeric to text; somebody may have one */
        return SQL(column->own_casts == RW_NO_OWN_CASTS
                       ? PG "convert_to(" PG "trim_scale(%s)::" PG "text, 'UTF8')"
                       : PG "convert_to(" PG "textin(" PG "numeric_out(" PG
                            "trim_scale(%s))), 'UTF8')",
                   value);
    default: /* a cast removes the blanks at the end of char(n) */
        return SQL(PG "convert_to(%s::" PG "text, 'UTF8')", value);
    }
}

/* How many bytes are hashed of a type's value; 0: that depends on the value. */
static size_t length_of(uint32_t type)
{
    switch (type) {
    case PGW_BOOL:
        return 1;
    case PGW_DATE:
        return 4;
    case PGW_UUID:
        return 16;
    case PGW_TEXT:
    case PGW_VARCHAR:
    case PGW_BPCHAR:
    case PGW_BYTEA:
    case PGW_NUMERIC:
        return 0;
    default:
        return 8;
    }
}

/* ---- the key ---- */

static const rw_column *column_of(const rw_table *table, size_t i)
{
    return &table->columns[table->hash_key[i]];
}

static char *pg_hash(const rw_table *table, const char *const *values, pgw_arena *arena)
{
    char *row = SQL("%s", values[0]);
    for (size_t i = 1; i < table->hash_key_count; i++)
        row = SQL("%s, %s", row, values[i]);
    return SQL(PG "hash_record_extended(row(%s), 0)", row);
}

/* The expression for rw_numeric_hash(). */
static char *numeric_hash(const char *value, pgw_arena *arena)
{
    static const struct {
        const char *step;
        unsigned bits;
        bool adds;
    } steps[] = {{"int8not(pg_catalog.int8shl(v, 32))", 0, true},
                 {"", 22, false},
                 {"int8not(pg_catalog.int8shl(v, 13))", 0, true},
                 {"", 8, false},
                 {"int8shl(v, 3)", 0, true},
                 {"", 15, false},
                 {"int8not(pg_catalog.int8shl(v, 27))", 0, true},
                 {"", 31, false}};
    char *v = SQL("%s::bigint", value);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char *next =
            steps[i].adds
                ? rw_sql_wrap(arena, SQL("v::numeric operator(pg_catalog.+) " PG "%s::numeric",
                                         steps[i].step))
                : SQL(PG "int8xor(v, " PG "int8and(" PG "int8shr(v, %u), bigint '%lld'))",
                      steps[i].bits, (long long)(UINT64_MAX >> steps[i].bits));
        v = SQL("(select %s from (select %s offset 0) s(v))", next, v);
    }
    return v;
}

/* How many bytes are hashed of a key; 0: that depends, or is more than RW_XXH3_SQL_MOST. */
static size_t length_of_key(const rw_table *table)
{
    size_t length = 0;
    for (size_t i = 0; i < table->hash_key_count; i++) {
        size_t more = length_of(column_of(table, i)->type);
        if (more == 0 || table->allow_null_key)
            return 0;
        length += more;
    }
    return length <= RW_XXH3_SQL_MOST ? length : 0;
}

/* The hash of the key's bytes; `otherwise` is that of a key that is too long. */
static char *xxh3_of_bytes(const rw_table *table, const char *const *values, const char *otherwise,
                           pgw_arena *arena)
{
    char *bytes = NULL;
    for (size_t i = 0; i < table->hash_key_count; i++) {
        const rw_column *column = column_of(table, i);
        char *next = bytes_of(arena, column, values[i]);
        if (table->allow_null_key)
            next = SQL("coalesce(%s, " PG "decode('', 'hex'))", next);
        bytes = bytes == NULL ? next : SQL(PG "byteacat(%s, %s)", bytes, next);
    }
    return rw_xxh3_sql_of_bytes(arena, bytes, length_of_key(table), otherwise);
}

static char *xxh3(const rw_table *table, const char *const *values, const char *otherwise,
                  pgw_arena *arena)
{
    char *numbers[2] = {NULL, NULL};
    bool all = table->hash_key_count <= 2 && !table->allow_null_key;
    for (size_t i = 0; i < table->hash_key_count && all; i++) {
        numbers[i] = number_of(arena, column_of(table, i), values[i]);
        all = numbers[i] != NULL;
    }
    return all ? rw_xxh3_sql_of_numbers(arena, numbers[0], numbers[1])
               : xxh3_of_bytes(table, values, otherwise, arena);
}

/* Makes the hash of a key with a NULL 0 or, if that column takes NULLs, NULL. The server then
 * complains of a NOT NULL column, which it would not if the hash before it were NULL. */
static char *unless_null(const rw_table *table, const char *const *values, char *hash,
                         pgw_arena *arena)
{
    for (size_t i = 0; i < table->hash_key_count && !table->allow_null_key; i++) {
        bool told = column_of(table, i)->not_null;
        hash =
            SQL("case when %s is null then %s else %s end", values[i], told ? "0" : "null", hash);
    }
    return hash;
}

static char *hash_or(const rw_table *table, const char *const *values, const char *otherwise,
                     pgw_arena *arena)
{
    const char **casts = pgw_arena_alloc(arena, table->hash_key_count * sizeof *casts);
    for (size_t i = 0; i < table->hash_key_count; i++)
        casts[i] = stored(arena, column_of(table, i), values[i]);
    char *hash = table->hash_function == RW_PG_HASH        ? pg_hash(table, casts, arena)
                 : table->hash_function == RW_NUMERIC_HASH ? numeric_hash(casts[0], arena)
                                                           : xxh3(table, casts, otherwise, arena);
    if (table->hash_function == RW_NUMERIC_HASH && table->allow_null_key)
        hash = SQL("coalesce(%s, %s)", hash, numeric_hash("0", arena));
    hash = unless_null(table, casts, hash, arena);
    if (table->hash_type == RW_HASH_INT8 && table->buckets == 0)
        return hash;
    char *unsigned_hash = SQL(PG "mod(%s::numeric operator(pg_catalog.+) 18446744073709551616, "
                                 "18446744073709551616)",
                              hash);
    return table->buckets == 0
               ? unsigned_hash
               : SQL(PG "mod(%s, %" PRIu32 "::numeric)::bigint", unsigned_hash, table->buckets);
}

void rw_sql_fail(const rw_table *table, const char *words, rw_hash_type type, pgw_buf *out)
{
    bool number = type == RW_HASH_INT8; /* concat() is stable: the planner does not run it */
    if (!rw_table_has_own_casts(table))
        pgw_buf_addf(out, PG "concat('%s')::%s", words, number ? "bigint" : "numeric");
    else
        pgw_buf_addf(out, PG "%s(" PG "textout(" PG "concat('%s'))%s)",
                     number ? "int8in" : "numeric_in", words, number ? "" : ", 0, -1");
}

char *rw_hash_sql(const rw_table *table, const char *const *values, pgw_arena *arena)
{
    pgw_buf too_long = {0};
    rw_sql_fail(table, RW_KEY_TOO_LONG, RW_HASH_INT8, &too_long);
    pgw_buf_add_byte(&too_long, '\0');
    return hash_or(table, values, pgw_arena_keep(arena, &too_long).ptr, arena);
}

char *rw_hash_sql_or_null(const rw_table *table, const char *const *values, pgw_arena *arena)
{
    return hash_or(table, values, "null::bigint", arena);
}
