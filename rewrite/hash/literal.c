#include "rewrite/hash/literal.h"

#include "protocol/value_cast.h"
#include "protocol/value_in.h"
#include "protocol/value_integer.h"
#include "rewrite/lex/lexer.h"

#include <assert.h>
#include <string.h>

bool rw_number_text(pgw_slice token, const pgw_env *env, pgw_arena *arena, pgw_slice *out)
{
    *out = token;
    return !rw_number_is_newer(token) ||
           (env->server >= PGW_NUMBERS_SINCE && pgw_number_older(token, arena, out) == PGW_KNOWN);
}

bool rw_digits_fit_int8(pgw_slice digits, bool minus, int64_t *integer)
{
    int64_t number = 0; /* the number counts downwards: the least one has no positive twin */
    for (size_t i = 0; i < digits.len; i++) {
        char c = digits.ptr[i];
        if (c < '0' || c > '9' || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_sub_overflow(number, c - '0', &number))
            return false;
    }
    if (!minus && number == INT64_MIN)
        return false;
    *integer = minus ? number : -number;
    return true;
}

static pgw_verdict read_number(const rw_cell *cell, const pgw_reading *reading, pgw_value *out)
{
    bool minus = cell->minus_after == 0;
    int64_t integer;
    if (cell->kind == RW_CELL_INTEGER && rw_digits_fit_int8(cell->text, minus, &integer)) {
        bool narrow = integer >= INT32_MIN && integer <= INT32_MAX;
        *out = (pgw_value){.type = narrow ? PGW_INT4 : PGW_INT8, .as.integer = integer};
        return PGW_KNOWN;
    }
    pgw_slice text = cell->text;
    if (minus) {
        char *copy = pgw_arena_alloc(reading->arena, text.len + 2);
        copy[0] = '-';
        memcpy(copy + 1, text.ptr, text.len);
        text = (pgw_slice){copy, text.len + 1};
    }
    return pgw_value_from_text(PGW_NUMERIC, -1, text, reading, out);
}

static pgw_verdict read_param(const rw_cell *cell, const rw_param *param,
                              const pgw_reading *reading, pgw_value *out)
{
    assert(param != NULL);
    *out = (pgw_value){.type = param->type, .null = param->null};
    if (param->null)
        return PGW_KNOWN;
    if (!param->binary)
        return pgw_value_from_text(param->type, -1, param->bytes, reading, out);
    pgw_verdict verdict = pgw_value_from_binary(param->type, param->bytes, reading, out);
    if (verdict == PGW_INVALID &&
        strcmp(reading->error->message, "incorrect binary data format") == 0)
        pgw_fail(reading->error, "22P03", "incorrect binary data format in bind parameter %u",
                 (unsigned)cell->parameter);
    return verdict;
}

static pgw_verdict negate_numeric(const pgw_reading *reading, pgw_value *value)
{
    pgw_slice text = value->as.bytes;
    bool zero = true;
    for (size_t i = 0; i < text.len; i++)
        zero = zero && (text.ptr[i] == '0' || text.ptr[i] == '.');
    if (zero || pgw_slice_eq_str(text, "NaN"))
        return PGW_KNOWN;
    if (text.ptr[0] == '-') {
        value->as.bytes = (pgw_slice){text.ptr + 1, text.len - 1};
        return PGW_KNOWN;
    }
    char *copy = pgw_arena_alloc(reading->arena, text.len + 2);
    copy[0] = '-';
    memcpy(copy + 1, text.ptr, text.len);
    value->as.bytes = (pgw_slice){copy, text.len + 1};
    return PGW_KNOWN;
}

static pgw_verdict negate_integer(const pgw_reading *reading, pgw_value *value, int64_t least)
{
    if (value->as.integer == least) {
        pgw_fail(reading->error, "22003", "%s out of range", pgw_type_name(value->type));
        return PGW_INVALID;
    }
    value->as.integer = -value->as.integer;
    return PGW_KNOWN;
}

/* Applies the operator `-` to a value whose type is fixed. */
static pgw_verdict negate(const pgw_reading *reading, pgw_value *value)
{
    switch (value->type) {
    case PGW_INT2:
        return value->null ? PGW_KNOWN : negate_integer(reading, value, INT16_MIN);
    case PGW_INT4:
        return value->null ? PGW_KNOWN : negate_integer(reading, value, INT32_MIN);
    case PGW_INT8:
        return value->null ? PGW_KNOWN : negate_integer(reading, value, INT64_MIN);
    case PGW_FLOAT4:
    case PGW_FLOAT8:
        value->as.real = value->null ? 0 : -value->as.real;
        return PGW_KNOWN;
    case PGW_NUMERIC:
        return value->null ? PGW_KNOWN : negate_numeric(reading, value);
    default:
        return PGW_UNKNOWABLE;
    }
}

/* Whether a value is cast to the type: one without a type, or of this type, is not. */
static bool is_cast(const pgw_value *value, uint32_t type)
{
    return value->type != type && value->type != PGW_UNKNOWN;
}

/* Casts a value into the column's type, as INSERT does, which has other words for a missing cast
 * than an explicit cast. */
static pgw_verdict assign(const rw_column *column, const pgw_reading *reading, pgw_value *value)
{
    uint32_t from = value->type;
    if (column->own_casts == RW_OWN_CASTS_INTO && is_cast(value, column->type))
        return PGW_UNKNOWABLE;
    pgw_verdict verdict =
        pgw_value_cast(value, (pgw_cast){column->type, column->typmod, false}, reading, value);
    if (verdict == PGW_INVALID && pgw_error_is(reading->error, "42846")) {
        pgw_fail(reading->error, "42804",
                 "column \"%s\" is of type %s but expression is of type %s", column->name,
                 pgw_type_name(column->type), pgw_type_name(from));
        pgw_error_hint(reading->error, "You will need to rewrite or cast the expression.");
    }
    return verdict;
}

/* Whether the cell has a cast whose type may depend on search_path. */
static bool has_own_cast(const rw_cell *cell, const rw_column *column)
{
    return column->own_names && cell->cast_count > 0;
}

/* Applies all casts, the sign in its place, and the assignment. */
static pgw_verdict apply_casts(const rw_cell *cell, const rw_column *column,
                               const pgw_reading *reading, pgw_value *value)
{
    for (size_t i = 0; i < cell->cast_count && i < RW_MAX_CASTS; i++) {
        const rw_cast *cast = &cell->casts[i];
        if (column->own_casts != RW_NO_OWN_CASTS && is_cast(value, cast->type))
            return PGW_UNKNOWABLE;
        pgw_verdict verdict =
            pgw_value_cast(value, (pgw_cast){cast->type, cast->typmod, true}, reading, value);
        if (verdict == PGW_KNOWN && cell->minus_after == (int)i + 1)
            verdict = negate(reading, value);
        if (verdict != PGW_KNOWN)
            return verdict;
    }
    return assign(column, reading, value);
}

/* Checks the types by a NULL. PostgreSQL looks at all types before it computes anything, so that it
 * complains of a missing cast first, whatever else is wrong. */
static pgw_verdict check_types(const rw_cell *cell, const rw_column *column,
                               const pgw_reading *reading, uint32_t type)
{
    pgw_value value = {.type = type, .null = true};
    return apply_casts(cell, column, reading, &value);
}

/* Reads a string as its first cast's type, or else its column's. */
static pgw_verdict read_string(const rw_cell *cell, const rw_column *column,
                               const pgw_reading *reading, pgw_value *out)
{
    uint32_t type = cell->cast_count > 0 ? cell->casts[0].type : column->type;
    return pgw_value_from_text(type, -1, cell->text, reading, out);
}

/* Reads the constant itself, with its sign where that belongs to it. */
static pgw_verdict read_constant(const rw_cell *cell, const rw_column *column,
                                 const pgw_reading *reading, pgw_value *out)
{
    switch (cell->kind) {
    case RW_CELL_NULL:
        *out = (pgw_value){.type = PGW_UNKNOWN, .null = true};
        return PGW_KNOWN;
    case RW_CELL_STRING:
        return read_string(cell, column, reading, out);
    case RW_CELL_BOOL:
        return pgw_value_from_text(PGW_BOOL, -1, cell->text, reading, out);
    case RW_CELL_INTEGER:
    case RW_CELL_DECIMAL:
        return read_number(cell, reading, out);
    default:
        return PGW_UNKNOWABLE;
    }
}

static pgw_verdict constant_value(const rw_cell *cell, const rw_column *column,
                                  const pgw_reading *reading, pgw_value *out)
{
    pgw_verdict verdict = read_constant(cell, column, reading, out);
    if (verdict == PGW_KNOWN)
        verdict = check_types(cell, column, reading, out->type);
    return verdict;
}

static pgw_verdict param_value(const rw_cell *cell, const rw_column *column, rw_params params,
                               const pgw_reading *reading, pgw_value *out)
{
    if (params.list == NULL || cell->parameter == 0 || cell->parameter > params.count)
        return PGW_UNKNOWABLE;
    const rw_param *param = &params.list[cell->parameter - 1];
    if (param->type == PGW_UNSPECIFIED || param->type == PGW_UNKNOWN)
        return PGW_UNKNOWABLE;
    pgw_verdict verdict = check_types(cell, column, reading, param->type);
    return verdict == PGW_KNOWN ? read_param(cell, param, reading, out) : verdict;
}

/* Whether the cell is a parameter of the column's own type, which needs no cast. */
static bool is_direct(const rw_cell *cell, const rw_column *column, rw_params params)
{
    bool fixed = column->type == PGW_INT8 || column->type == PGW_INT4 || column->type == PGW_INT2 ||
                 column->type == PGW_TIMESTAMPTZ;
    return fixed && column->typmod == -1 && column->own_casts == RW_NO_OWN_CASTS &&
           cell->kind == RW_CELL_PARAM && cell->cast_count == 0 && cell->minus_after < 0 &&
           cell->parameter > 0 && cell->parameter <= params.count &&
           params.list[cell->parameter - 1].type == column->type;
}

pgw_verdict rw_cell_value(const rw_cell *cell, const rw_column *column, rw_params params,
                          const pgw_reading *reading, pgw_value *out)
{
    bool number = cell->kind == RW_CELL_INTEGER || cell->kind == RW_CELL_DECIMAL;
    pgw_error_clear(reading->error);
    if (is_direct(cell, column, params) &&
        read_param(cell, &params.list[cell->parameter - 1], reading, out) == PGW_KNOWN)
        return PGW_KNOWN;
    /* A sign in front of anything but a number chooses an operator, or there is none. */
    if (cell->minus_after > cell->cast_count || (cell->minus_after == 0 && !number) ||
        has_own_cast(cell, column))
        return PGW_UNKNOWABLE;
    pgw_verdict verdict = cell->kind == RW_CELL_PARAM
                              ? param_value(cell, column, params, reading, out)
                              : constant_value(cell, column, reading, out);
    return verdict == PGW_KNOWN ? apply_casts(cell, column, reading, out) : verdict;
}

static bool is_decimal(pgw_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((text.ptr[i] < '0' || text.ptr[i] > '9') && text.ptr[i] != '.' && text.ptr[i] != '-')
            return false;
    return true;
}

/* Whether the constant's value can be told without being computed, as nearly all can. */
static bool is_plain(const rw_cell *cell, const rw_column *column)
{
    bool cast = column->own_casts == RW_OWN_CASTS_INTO && cell->kind != RW_CELL_STRING;
    if (cast || cell->cast_count > 0)
        return false;
    switch (cell->kind == RW_CELL_STRING ? column->type : 0) {
    case PGW_DATE:
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        return false;
    case PGW_FLOAT8:
        return is_decimal(cell->text);
    default:
        return true;
    }
}

bool rw_cell_is_unknowable(const rw_cell *cell, const rw_column *column, const pgw_reading *reading)
{
    pgw_value value;
    if (is_plain(cell, column))
        return false;
    if (has_own_cast(cell, column))
        return true;
    pgw_verdict types =
        cell->cast_count > 0 ? check_types(cell, column, reading, cell->casts[0].type) : PGW_KNOWN;
    if (cell->kind == RW_CELL_PARAM || types == PGW_INVALID) /* the server reports a missing cast */
        return types == PGW_UNKNOWABLE;
    return rw_cell_value(cell, column, RW_NO_PARAMS, reading, &value) == PGW_UNKNOWABLE;
}
