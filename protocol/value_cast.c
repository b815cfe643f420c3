#include "protocol/value_cast.h"

#include "protocol/value_in.h"
#include "protocol/value_number.h"
#include "protocol/value_parts.h"
#include "protocol/value_text.h"
#include "protocol/value_time.h"

/* Ways to cast, in an order in which later ones include the earlier. */
typedef enum cast_path {
    CAST_NONE,
    CAST_EXPLICIT,   /* the cast is made only by :: */
    CAST_ASSIGNMENT, /* the cast is also made when a value is stored in a column */
} cast_path;

static bool is_integer(uint32_t type)
{
    return type == PGW_INT2 || type == PGW_INT4 || type == PGW_INT8;
}

static bool is_number(uint32_t type)
{
    return is_integer(type) || type == PGW_FLOAT4 || type == PGW_FLOAT8 || type == PGW_NUMERIC;
}

static bool is_time(uint32_t type)
{
    return type == PGW_DATE || type == PGW_TIMESTAMP || type == PGW_TIMESTAMPTZ;
}

static cast_path find_path(uint32_t from, uint32_t to)
{
    if (from == to || pgw_is_string(to))
        return CAST_ASSIGNMENT;
    if (pgw_is_string(from))
        return CAST_EXPLICIT;
    if (is_number(from) && is_number(to))
        return CAST_ASSIGNMENT;
    if ((from == PGW_BOOL && to == PGW_INT4) || (from == PGW_INT4 && to == PGW_BOOL))
        return CAST_EXPLICIT;
    return is_time(from) && is_time(to) ? CAST_ASSIGNMENT : CAST_NONE;
}

/* The text of a value whose type's text does not depend on the session's output settings. */
static pgw_verdict to_text(const pgw_value *in, pgw_arena *arena, pgw_slice *text)
{
    switch (in->type) {
    case PGW_BOOL:
        *text = pgw_slice_str(in->as.integer ? "true" : "false");
        return PGW_KNOWN;
    case PGW_INT2:
    case PGW_INT4:
    case PGW_INT8:
        *text = pgw_slice_str(pgw_arena_printf(arena, "%lld", (long long)in->as.integer));
        return PGW_KNOWN;
    case PGW_UUID:
        *text = pgw_uuid_out(in->as.bytes, arena);
        return PGW_KNOWN;
    case PGW_NUMERIC:
    case PGW_TEXT:
    case PGW_VARCHAR:
    case PGW_BPCHAR:
    case PGW_NAME:
        *text = in->as.bytes;
        return PGW_KNOWN;
    default:
        return PGW_UNKNOWABLE;
    }
}

static pgw_verdict cast_to_string(const pgw_value *in, uint32_t type, pgw_arena *arena,
                                  pgw_value *out)
{
    *out = (pgw_value){.type = type};
    if (type == PGW_NAME)
        return PGW_UNKNOWABLE;
    return to_text(in, arena, &out->as.bytes);
}

/* Casts a text by its input function. A blank-padded one would be read with its blanks, which are
 * not kept here. */
static pgw_verdict cast_from_string(const pgw_value *in, uint32_t type, const pgw_reading *reading,
                                    pgw_value *out)
{
    if (in->type == PGW_BPCHAR || in->type == PGW_NAME)
        return PGW_UNKNOWABLE;
    return pgw_value_from_text(type, -1, in->as.bytes, reading, out);
}

static pgw_verdict convert(const pgw_value *in, uint32_t type, const pgw_reading *reading,
                           pgw_value *out)
{
    if (in->type == type) {
        *out = *in;
        return PGW_KNOWN;
    }
    if (pgw_is_string(type))
        return cast_to_string(in, type, reading->arena, out);
    if (pgw_is_string(in->type))
        return cast_from_string(in, type, reading, out);
    if (is_time(type))
        return pgw_time_cast(in, type, reading->env, out, reading->error);
    if (is_number(in->type) && is_number(type))
        return pgw_number_cast(in, type, reading->arena, out, reading->error);
    *out = (pgw_value){.type = type,
                       .as.integer = type == PGW_BOOL ? in->as.integer != 0 : in->as.integer};
    return PGW_KNOWN;
}

/* Whether a value is an integer or a time that has the type already, with no fraction to cut. */
static bool is_as_it_is(const pgw_value *value, pgw_cast cast)
{
    bool fixed = cast.type == PGW_INT8 || cast.type == PGW_INT4 || cast.type == PGW_INT2 ||
                 cast.type == PGW_TIMESTAMPTZ;
    return fixed && value->type == cast.type && cast.typmod == -1;
}

pgw_verdict pgw_value_cast(const pgw_value *in, pgw_cast cast, const pgw_reading *reading,
                           pgw_value *out)
{
    pgw_value source = *in; /* `in` may be `out` */
    if (is_as_it_is(&source, cast)) {
        pgw_error_clear(reading->error);
        *out = source;
        return PGW_KNOWN;
    }
    /* An untyped constant is read by the input function without typmod. */
    bool typeless = source.type == PGW_UNKNOWN;
    *out = (pgw_value){.type = cast.type, .null = source.null};
    pgw_error_clear(reading->error);
    if (pgw_type_name(source.type) == NULL || pgw_type_name(cast.type) == NULL ||
        cast.type == PGW_UNKNOWN)
        return PGW_UNKNOWABLE;
    if (!typeless &&
        find_path(source.type, cast.type) < (cast.explicit_cast ? CAST_EXPLICIT : CAST_ASSIGNMENT))
        return PGW_REFUSE(reading->error, "42846", "cannot cast type %s to %s",
                          pgw_type_name(source.type), pgw_type_name(cast.type));
    if (source.null)
        return PGW_KNOWN;
    pgw_verdict verdict = typeless
                              ? pgw_value_from_text(cast.type, -1, source.as.bytes, reading, out)
                              : convert(&source, cast.type, reading, out);
    return verdict == PGW_KNOWN
               ? pgw_value_fit(cast.typmod, cast.explicit_cast, reading->arena, out, reading->error)
               : verdict;
}
