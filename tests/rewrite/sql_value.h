/*
 * sql_value: the value of an expression as PostgreSQL computes it, of those functions and forms
 * that the hash of a key is written in, parsed by PostgreSQL's own grammar. Whatever else is met
 * fails the test, and so does a number out of its type's range, which the server would refuse.
 */
#ifndef TEST_SQL_VALUE_H
#define TEST_SQL_VALUE_H

#include "protocol/value.h"

#include <openssl/bn.h>
#include <pg_query/pg_query.pb-c.h>

typedef enum sql_kind {
    SQL_NULL,
    SQL_BOOL,
    SQL_INTEGER, /* smallint, integer, bigint */
    SQL_NUMERIC, /* whole ones */
    SQL_TEXT,
    SQL_BYTEA,
    SQL_BITS,  /* as hexadecimal digits */
    SQL_ARRAY, /* of bigint, as text */
    SQL_ROW,
    SQL_STORED /* a column's value, of another type than these */
} sql_kind;

typedef struct sql_value {
    sql_kind kind;
    bool is;
    BIGNUM *number;
    pgw_slice bytes;
    const pgw_value *stored; /* of a column, whatever the kind is; NULL: it was computed */
    const struct sql_value *row;
    size_t count; /* … of them */
} sql_value;

typedef struct sql_run {
    BN_CTX *numbers;
    pgw_arena *arena;
    const char *error; /* by which the server would refuse the statement; NULL */
} sql_run;

/* --- values --- */

static BIGNUM *sql_decimal(sql_run *run, const char *digits)
{
    BIGNUM *number = BN_CTX_get(run->numbers);
    if (BN_dec2bn(&number, digits) != (int)strlen(digits))
        fail_msg("no whole number: %s", digits);
    return number;
}

static bool sql_is_bigint(sql_run *run, const BIGNUM *number)
{
    return BN_cmp(number, sql_decimal(run, "9223372036854775807")) <= 0 &&
           BN_cmp(number, sql_decimal(run, "-9223372036854775808")) >= 0;
}

static sql_value sql_numeric(BIGNUM *number)
{
    return (sql_value){.kind = SQL_NUMERIC, .number = number};
}

static sql_value sql_integer(sql_run *run, BIGNUM *number)
{
    if (!sql_is_bigint(run, number))
        fail_msg("bigint out of range: %s", BN_bn2dec(number));
    return (sql_value){.kind = SQL_INTEGER, .number = number};
}

static sql_value sql_int8(sql_run *run, int64_t number)
{
    return sql_integer(run,
                       sql_decimal(run, pgw_arena_printf(run->arena, "%lld", (long long)number)));
}

static sql_value sql_bytes(sql_kind kind, pgw_slice bytes)
{
    return (sql_value){.kind = kind, .bytes = bytes};
}

static sql_value sql_bool(bool is)
{
    return (sql_value){.kind = SQL_BOOL, .is = is};
}

/* A number's low 64 bits, of one that has no more. */
static int64_t sql_c(const sql_value *value)
{
    unsigned char bytes[8];
    uint64_t bits = 0;
    assert_int_equal(value->kind, SQL_INTEGER);
    assert_int_equal(BN_bn2binpad(value->number, bytes, 8), 8);
    for (size_t i = 0; i < 8; i++)
        bits = bits << 8 | bytes[i];
    return (int64_t)(BN_is_negative(value->number) ? 0 - bits : bits);
}

/* The lowest `count` bytes of it, the highest of them first. */
static pgw_slice sql_big_endian(sql_run *run, uint64_t bits, size_t count)
{
    char *bytes = pgw_arena_alloc(run->arena, count);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (char)(bits >> 8 * (count - 1 - i));
    return (pgw_slice){bytes, count};
}

static const char *sql_text(sql_run *run, pgw_slice bytes)
{
    return pgw_arena_printf(run->arena, "%.*s", (int)bytes.len, bytes.ptr);
}

/* --- casts --- */

static sql_value sql_of_column(sql_run *run, const pgw_value *value)
{
    sql_value out = {.kind = SQL_NULL};
    if (!value->null)
        switch (value->type) {
        case PGW_INT2:
        case PGW_INT4:
        case PGW_INT8:
            out = sql_int8(run, value->as.integer);
            break;
        case PGW_TEXT:
        case PGW_VARCHAR:
        case PGW_BPCHAR:
            out = sql_bytes(SQL_TEXT, value->as.bytes);
            break;
        case PGW_BYTEA:
            out = sql_bytes(SQL_BYTEA, value->as.bytes);
            break;
        default:
            out = (sql_value){.kind = SQL_STORED};
        }
    out.stored = value;
    return out;
}

static sql_value sql_bits_as_integer(sql_run *run, sql_value value, size_t digits)
{
    assert_int_equal(value.bytes.len, digits);
    uint64_t bits = strtoull(sql_text(run, value.bytes), NULL, 16);
    return sql_int8(run, digits == 8 ? (int32_t)bits : (int64_t)bits);
}

/* 'x0123…' */
static sql_value sql_as_bits(sql_value value, const PgQuery__TypeName *type)
{
    assert_true(value.kind == SQL_TEXT && value.bytes.len > 0 && value.bytes.ptr[0] == 'x');
    assert_int_equal(4 * (value.bytes.len - 1), type->typmods[0]->a_const->ival->ival);
    return sql_bytes(SQL_BITS, (pgw_slice){value.bytes.ptr + 1, value.bytes.len - 1});
}

static sql_value sql_as_integer(sql_run *run, sql_value value, bool is_bigint)
{
    if (value.kind == SQL_BITS)
        return sql_bits_as_integer(run, value, is_bigint ? 16 : 8);
    if (value.kind == SQL_TEXT) {
        const char *text = sql_text(run, value.bytes);
        if (text[strspn(text, "-0123456789")] == '\0')
            return sql_integer(run, sql_decimal(run, text));
        run->error = text; /* invalid input syntax */
        return (sql_value){.kind = SQL_NULL};
    }
    assert_true(value.kind == SQL_INTEGER || value.kind == SQL_NUMERIC);
    return sql_integer(run, value.number);
}

/* char(n) loses its blanks. */
static sql_value sql_as_text(sql_value value)
{
    assert_int_equal(value.kind, SQL_TEXT);
    bool padded = value.stored != NULL && value.stored->type == PGW_BPCHAR;
    while (padded && value.bytes.len > 0 && value.bytes.ptr[value.bytes.len - 1] == ' ')
        value.bytes.len--;
    return value;
}

static sql_value sql_cast(sql_run *run, const PgQuery__TypeName *type, sql_value value)
{
    const char *name = type->names[type->n_names - 1]->string->sval;
    uint32_t oid = pgw_type_by_name(pgw_slice_str(name));
    assert_true(type->n_names == 2 && strcmp(type->names[0]->string->sval, "pg_catalog") == 0);
    if (value.stored != NULL && (value.stored->type == oid || value.kind == SQL_NULL))
        return oid == PGW_TEXT && value.kind == SQL_TEXT ? sql_as_text(value) : value;
    if (value.kind == SQL_NULL)
        return value;
    if (type->n_array_bounds > 0)
        return sql_bytes(SQL_ARRAY, value.bytes);
    if (strcmp(name, "bit") == 0)
        return sql_as_bits(value, type);
    switch (oid) {
    case PGW_INT4:
    case PGW_INT8:
        return sql_as_integer(run, value, oid == PGW_INT8);
    case PGW_NUMERIC:
        assert_true(value.kind == SQL_INTEGER || value.kind == SQL_NUMERIC);
        return sql_numeric(value.number);
    case PGW_TEXT:
        return sql_as_text(value);
    case PGW_FLOAT8:
        assert_string_equal(sql_text(run, value.bytes), "nan");
        return value;
    default:
        fail_msg("cast to %s", name);
        return value;
    }
}

/* --- arithmetic --- */

static sql_value sql_arithmetic(sql_run *run, char sign, sql_value a, sql_value b)
{
    BIGNUM *out = BN_CTX_get(run->numbers);
    if (sign == '+')
        assert_true(BN_add(out, a.number, b.number));
    else if (sign == '-')
        assert_true(BN_sub(out, a.number, b.number));
    else if (sign == '*')
        assert_true(BN_mul(out, a.number, b.number, run->numbers));
    else
        assert_true(a.kind == SQL_INTEGER && b.kind == SQL_INTEGER &&
                    BN_div(out, NULL, a.number, b.number, run->numbers));
    return a.kind == SQL_INTEGER && b.kind == SQL_INTEGER ? sql_integer(run, out)
                                                          : sql_numeric(out);
}

#endif
