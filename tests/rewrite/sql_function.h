/*
 * sql_function: PostgreSQL's functions that the hash of a key is computed with.
 */
#ifndef TEST_SQL_FUNCTION_H
#define TEST_SQL_FUNCTION_H

#include "rewrite/hash/pg_hash.h"
#include "tests/rewrite/sql_value.h"

static bool sql_is_finite(const pgw_value *value)
{
    return value->type == PGW_DATE
               ? value->as.integer != INT32_MAX && value->as.integer != INT32_MIN
               : value->as.integer != INT64_MAX && value->as.integer != INT64_MIN;
}

static pgw_slice sql_sent(sql_run *run, const char *name, const pgw_value *value)
{
    static const struct {
        const char *name;
        uint32_t type;
        size_t size;
    } senders[] = {{"float8send", PGW_FLOAT8, 8},
                   {"timestamp_send", PGW_TIMESTAMP, 8},
                   {"timestamptz_send", PGW_TIMESTAMPTZ, 8},
                   {"date_send", PGW_DATE, 4},
                   {"uuid_send", PGW_UUID, 0},
                   {"boolsend", PGW_BOOL, 1}};
    for (size_t i = 0; i < sizeof senders / sizeof *senders; i++) {
        uint64_t bits = (uint64_t)value->as.integer;
        if (strcmp(senders[i].name, name) != 0)
            continue;
        assert_int_equal(value->type, senders[i].type);
        return senders[i].size == 0 ? value->as.bytes : sql_big_endian(run, bits, senders[i].size);
    }
    fail_msg("%s()", name);
    return value->as.bytes;
}

/* Of a value that has no form of its own here. */
static sql_value sql_call_stored(sql_run *run, const char *name, const sql_value *a)
{
    const pgw_value *value = a[0].stored;
    if (strcmp(name, "isfinite") == 0)
        return sql_bool(sql_is_finite(value));
    if (strcmp(name, "float8pl") == 0) {
        pgw_value *sum = pgw_arena_alloc(run->arena, sizeof *sum);
        *sum = *value;
        sum->as.real += (double)sql_c(&a[1]);
        return (sql_value){.kind = SQL_STORED, .stored = sum};
    }
    if (strcmp(name, "trim_scale") != 0)
        return sql_bytes(SQL_BYTEA, sql_sent(run, name, value));
    pgw_slice digits = value->as.bytes;
    bool fraction = memchr(digits.ptr, '.', digits.len) != NULL;
    while (fraction && digits.ptr[digits.len - 1] == '0')
        digits.len--;
    digits.len -= fraction && digits.ptr[digits.len - 1] == '.';
    return sql_bytes(SQL_TEXT, digits);
}

static sql_value sql_call_numeric(sql_run *run, const char *name, const sql_value *a)
{
    BIGNUM *quotient = BN_CTX_get(run->numbers), *rest = BN_CTX_get(run->numbers);
    assert_true(a[0].number != NULL && a[1].number != NULL);
    assert_true(BN_div(quotient, rest, a[0].number, a[1].number, run->numbers));
    return sql_numeric(strcmp(name, "mod") == 0 ? rest : quotient);
}

/* int8and() and its kind. */
static sql_value sql_call_int8(sql_run *run, const char *name, const sql_value *a)
{
    int64_t x = sql_c(&a[0]), y = strcmp(name, "not") != 0 ? sql_c(&a[1]) : 0;
    if (strcmp(name, "shl") == 0 || strcmp(name, "shr") == 0)
        assert_in_range(y, 0, 63);
    if (strcmp(name, "and") == 0)
        return sql_int8(run, x & y);
    if (strcmp(name, "or") == 0)
        return sql_int8(run, x | y);
    if (strcmp(name, "xor") == 0)
        return sql_int8(run, x ^ y);
    if (strcmp(name, "not") == 0)
        return sql_int8(run, ~x);
    if (strcmp(name, "shl") == 0)
        return sql_int8(run, (int64_t)((uint64_t)x << y));
    if (strcmp(name, "shr") == 0)
        return sql_int8(run, x >> y);
    assert_string_equal(name, "pl");
    return sql_arithmetic(run, '+', a[0], a[1]);
}

static sql_value sql_call_bytes(sql_run *run, const char *name, const sql_value *a)
{
    pgw_slice bytes = a[0].bytes;
    if (strcmp(name, "length") == 0)
        return sql_int8(run, (int64_t)bytes.len);
    if (strcmp(name, "get_byte") == 0) {
        assert_in_range(sql_c(&a[1]), 0, bytes.len - 1);
        return sql_int8(run, (unsigned char)bytes.ptr[sql_c(&a[1])]);
    }
    if (strcmp(name, "substr") == 0) {
        assert_true(sql_c(&a[1]) == 1 && (size_t)sql_c(&a[2]) <= bytes.len);
        return sql_bytes(SQL_BYTEA, (pgw_slice){bytes.ptr, (size_t)sql_c(&a[2])});
    }
    assert_string_equal(name, "byteacat");
    pgw_buf both = {0};
    pgw_buf_add_slice(&both, bytes);
    pgw_buf_add_slice(&both, a[1].bytes);
    return sql_bytes(SQL_BYTEA, pgw_arena_keep(run->arena, &both));
}

static sql_value sql_call_text(sql_run *run, const char *name, const sql_value *a, size_t count)
{
    pgw_buf out = {0};
    if (strcmp(name, "encode") == 0) {
        assert_true(a[0].kind == SQL_BYTEA && pgw_slice_eq_str(a[1].bytes, "hex"));
        for (size_t i = 0; i < a[0].bytes.len; i++)
            pgw_buf_addf(&out, "%02x", (unsigned char)a[0].bytes.ptr[i]);
    } else if (strcmp(name, "concat") == 0) {
        for (size_t i = 0; i < count; i++)
            pgw_buf_add_slice(&out, a[i].bytes);
    } else if (strcmp(name, "decode") == 0) {
        assert_int_equal(a[0].bytes.len, 0);
        return sql_bytes(SQL_BYTEA, a[0].bytes);
    } else {
        assert_string_equal(name, "convert_to");
        assert_true(a[0].kind == SQL_TEXT && pgw_slice_eq_str(a[1].bytes, "UTF8"));
        return sql_bytes(SQL_BYTEA, a[0].bytes);
    }
    return sql_bytes(SQL_TEXT, pgw_arena_keep(run->arena, &out));
}

static sql_value sql_call_hash(sql_run *run, const sql_value *a)
{
    pgw_value values[8];
    assert_true(a[0].kind == SQL_ROW && a[0].count <= 8 && sql_c(&a[1]) == 0);
    for (size_t i = 0; i < a[0].count; i++)
        values[i] = *a[0].row[i].stored;
    return sql_int8(run, (int64_t)rw_pg_hash(values, a[0].count));
}

/* Of arguments of which none is NULL, but for concat(). */
static sql_value sql_apply(sql_run *run, const char *name, const sql_value *a, size_t count)
{
    if (strcmp(name, "hash_record_extended") == 0)
        return sql_call_hash(run, a);
    if (a[0].kind == SQL_STORED)
        return sql_call_stored(run, name, a);
    if (strcmp(name, "mod") == 0 || strcmp(name, "div") == 0)
        return sql_call_numeric(run, name, a);
    if (strcmp(name, "int8send") == 0)
        return sql_bytes(SQL_BYTEA, sql_big_endian(run, (uint64_t)sql_c(&a[0]), 8));
    if (strncmp(name, "int8", 4) == 0)
        return sql_call_int8(run, name + 4, a);
    return a[0].kind == SQL_BYTEA && strcmp(name, "encode") != 0
               ? sql_call_bytes(run, name, a)
               : sql_call_text(run, name, a, count);
}

#endif
