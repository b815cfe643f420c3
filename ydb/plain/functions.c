#include "ydb/plain/functions.h"

#include "protocol/array.h"
#include "ydb/plain/rules.h"
#include "rewrite/statement/script/types.h"

#include <string.h>

enum {
    ARGUMENTS_MAX = 4,
    SAME = 1,         /* the type that the call's arguments have together */
    ARRAY = 2,        /* the first argument's type if that is an array, else the array of it */
    ELEMENT = 3,      /* the element type of the first argument */
    SAME_OR_TEXT = 4, /* a result: SAME, or text if no argument has a type */
    SAME_OR_FLOAT8 = 5,
    REGCLASS = 2205,
    TEXTS = 1009, /* the oid of text[] */
};

/* Functions by name and number of arguments. An argument of type 0, or behind ARGUMENTS_MAX, may be
 * of any type. */
static const struct {
    const char *name;
    uint32_t result;
    unsigned least, most;
    uint32_t arguments[ARGUMENTS_MAX];
} functions[] = {
    {"abs", SAME_OR_FLOAT8, 1, 1, {SAME}},
    {"array_agg", ARRAY, 1, 1, {0}},
    {"array_append", ARRAY, 2, 2, {0, ELEMENT}},
    {"array_length", PGW_INT4, 2, 2, {0, PGW_INT4}},
    {"array_position", PGW_INT4, 2, 3, {0, ELEMENT, PGW_INT4}},
    {"array_to_string", PGW_TEXT, 2, 3, {0, PGW_TEXT, PGW_TEXT}},
    {"ascii", PGW_INT4, 1, 1, {PGW_TEXT}},
    {"bit_length", PGW_INT4, 1, 1, {PGW_TEXT}},
    {"bit_length", PGW_INT4, 1, 1, {PGW_BYTEA}},
    {"bool_and", PGW_BOOL, 1, 1, {PGW_BOOL}},
    {"bool_or", PGW_BOOL, 1, 1, {PGW_BOOL}},
    {"btrim", PGW_TEXT, 1, 2, {PGW_TEXT, PGW_TEXT}},
    {"btrim", PGW_BYTEA, 2, 2, {PGW_BYTEA, PGW_BYTEA}},
    {"ceil", PGW_FLOAT8, 1, 1, {SAME}},
    {"ceiling", PGW_FLOAT8, 1, 1, {SAME}},
    {"char_length", PGW_INT4, 1, 1, {PGW_TEXT}},
    {"character_length", PGW_INT4, 1, 1, {PGW_TEXT}},
    {"chr", PGW_TEXT, 1, 1, {PGW_INT4}},
    {"clock_timestamp", PGW_TIMESTAMPTZ, 0, 0, {0}},
    {"concat", PGW_TEXT, 1, 99, {0}},
    {"concat_ws", PGW_TEXT, 2, 99, {PGW_TEXT, 0}},
    {"count", PGW_INT8, 0, 1, {0}},
    {"current_setting", PGW_TEXT, 1, 2, {PGW_TEXT, PGW_BOOL}},
    {"currval", PGW_INT8, 1, 1, {REGCLASS}},
    {"date_part", PGW_FLOAT8, 2, 2, {PGW_TEXT, 0}},
    {"date_trunc", 0, 2, 2, {PGW_TEXT, 0}},
    {"decode", PGW_BYTEA, 2, 2, {PGW_TEXT, PGW_TEXT}},
    {"encode", PGW_TEXT, 2, 2, {PGW_BYTEA, PGW_TEXT}},
    {"exp", PGW_FLOAT8, 1, 1, {SAME}},
    {"extract", PGW_NUMERIC, 2, 2, {PGW_TEXT, 0}},
    {"floor", PGW_FLOAT8, 1, 1, {SAME}},
    {"format", PGW_TEXT, 1, 99, {PGW_TEXT, 0}},
    {"gen_random_uuid", PGW_UUID, 0, 0, {0}},
    {"generate_series", SAME, 2, 3, {SAME, SAME, SAME}},
    {"hashtext", PGW_INT4, 1, 1, {PGW_TEXT}},
    {"initcap", PGW_TEXT, 1, 1, {PGW_TEXT}},
    {"json_array_elements", RW_JSON, 1, 1, {RW_JSON}},
    {"json_to_recordset", 0, 1, 1, {RW_JSON}},
    {"jsonb_array_elements", RW_JSONB, 1, 1, {RW_JSONB}},
    {"jsonb_set", RW_JSONB, 3, 4, {RW_JSONB, TEXTS, RW_JSONB, PGW_BOOL}},
    {"jsonb_to_recordset", 0, 1, 1, {RW_JSONB}},
    {"left", PGW_TEXT, 2, 2, {PGW_TEXT, PGW_INT4}},
    {"length", PGW_INT4, 1, 1, {PGW_TEXT}},
    {"length", PGW_INT4, 1, 1, {PGW_BYTEA}},
    {"like_escape", PGW_TEXT, 2, 2, {PGW_TEXT, PGW_TEXT}},
    {"like_escape", PGW_BYTEA, 2, 2, {PGW_BYTEA, PGW_BYTEA}},
    {"ln", PGW_FLOAT8, 1, 1, {SAME}},
    {"lower", PGW_TEXT, 1, 1, {PGW_TEXT}},
    {"lpad", PGW_TEXT, 2, 3, {PGW_TEXT, PGW_INT4, PGW_TEXT}},
    {"ltrim", PGW_TEXT, 1, 2, {PGW_TEXT, PGW_TEXT}},
    {"ltrim", PGW_BYTEA, 2, 2, {PGW_BYTEA, PGW_BYTEA}},
    {"max", SAME_OR_TEXT, 1, 1, {SAME}},
    {"md5", PGW_TEXT, 1, 1, {PGW_TEXT}},
    {"md5", PGW_TEXT, 1, 1, {PGW_BYTEA}},
    {"min", SAME_OR_TEXT, 1, 1, {SAME}},
    {"mod", SAME, 2, 2, {SAME, SAME}},
    {"nextval", PGW_INT8, 1, 1, {REGCLASS}},
    {"now", PGW_TIMESTAMPTZ, 0, 0, {0}},
    {"octet_length", PGW_INT4, 1, 1, {PGW_TEXT}},
    {"octet_length", PGW_INT4, 1, 1, {PGW_BYTEA}},
    {"pg_sleep", RW_VOID, 1, 1, {PGW_FLOAT8}},
    {"position", PGW_INT4, 2, 2, {PGW_TEXT, PGW_TEXT}},
    {"position", PGW_INT4, 2, 2, {PGW_BYTEA, PGW_BYTEA}},
    {"power", PGW_FLOAT8, 2, 2, {SAME, SAME}},
    {"quote_ident", PGW_TEXT, 1, 1, {PGW_TEXT}},
    {"quote_literal", PGW_TEXT, 1, 1, {PGW_TEXT}},
    {"random", PGW_FLOAT8, 0, 0, {0}},
    {"regexp_replace", PGW_TEXT, 3, 4, {PGW_TEXT, PGW_TEXT, PGW_TEXT, PGW_TEXT}},
    {"repeat", PGW_TEXT, 2, 2, {PGW_TEXT, PGW_INT4}},
    {"replace", PGW_TEXT, 3, 3, {PGW_TEXT, PGW_TEXT, PGW_TEXT}},
    {"reverse", PGW_TEXT, 1, 1, {PGW_TEXT}},
    {"right", PGW_TEXT, 2, 2, {PGW_TEXT, PGW_INT4}},
    {"round", PGW_NUMERIC, 2, 2, {PGW_NUMERIC, PGW_INT4}},
    {"round", PGW_FLOAT8, 1, 1, {SAME}},
    {"row_number", PGW_INT8, 0, 0, {0}},
    {"rpad", PGW_TEXT, 2, 3, {PGW_TEXT, PGW_INT4, PGW_TEXT}},
    {"rtrim", PGW_TEXT, 1, 2, {PGW_TEXT, PGW_TEXT}},
    {"rtrim", PGW_BYTEA, 2, 2, {PGW_BYTEA, PGW_BYTEA}},
    {"set_config", PGW_TEXT, 3, 3, {PGW_TEXT, PGW_TEXT, PGW_BOOL}},
    {"setval", PGW_INT8, 2, 3, {REGCLASS, PGW_INT8, PGW_BOOL}},
    {"similar_to_escape", PGW_TEXT, 1, 2, {PGW_TEXT, PGW_TEXT}},
    {"split_part", PGW_TEXT, 3, 3, {PGW_TEXT, PGW_TEXT, PGW_INT4}},
    {"sqrt", PGW_FLOAT8, 1, 1, {SAME}},
    {"starts_with", PGW_BOOL, 2, 2, {PGW_TEXT, PGW_TEXT}},
    {"string_agg", PGW_TEXT, 2, 2, {PGW_TEXT, PGW_TEXT}},
    {"string_agg", PGW_BYTEA, 2, 2, {PGW_BYTEA, PGW_BYTEA}},
    {"string_to_array", TEXTS, 2, 3, {PGW_TEXT, PGW_TEXT, PGW_TEXT}},
    {"strpos", PGW_INT4, 2, 2, {PGW_TEXT, PGW_TEXT}},
    {"substr", PGW_TEXT, 2, 3, {PGW_TEXT, PGW_INT4, PGW_INT4}},
    {"substr", PGW_BYTEA, 2, 3, {PGW_BYTEA, PGW_INT4, PGW_INT4}},
    {"substring", PGW_TEXT, 2, 3, {PGW_TEXT, PGW_TEXT, PGW_TEXT}},
    {"substring", PGW_TEXT, 2, 3, {PGW_TEXT, PGW_INT4, PGW_INT4}},
    {"substring", PGW_BYTEA, 2, 3, {PGW_BYTEA, PGW_INT4, PGW_INT4}},
    {"to_char", PGW_TEXT, 2, 2, {0, PGW_TEXT}},
    {"to_date", PGW_DATE, 2, 2, {PGW_TEXT, PGW_TEXT}},
    {"to_hex", PGW_TEXT, 1, 1, {0}},
    {"to_jsonb", RW_JSONB, 1, 1, {0}},
    {"to_number", PGW_NUMERIC, 2, 2, {PGW_TEXT, PGW_TEXT}},
    {"to_timestamp", PGW_TIMESTAMPTZ, 1, 1, {PGW_FLOAT8}},
    {"to_timestamp", PGW_TIMESTAMPTZ, 2, 2, {PGW_TEXT, PGW_TEXT}},
    {"translate", PGW_TEXT, 3, 3, {PGW_TEXT, PGW_TEXT, PGW_TEXT}},
    {"trunc", PGW_NUMERIC, 2, 2, {PGW_NUMERIC, PGW_INT4}},
    {"trunc", PGW_FLOAT8, 1, 1, {SAME}},
    {"upper", PGW_TEXT, 1, 1, {PGW_TEXT}},
};

enum { COUNT = sizeof functions / sizeof *functions };

/* The type that the arguments have together; if none has a type, the one that `result` implies. */
static uint32_t same_type(const rw_call_types *call, uint32_t result)
{
    for (size_t i = 0; i < call->count; i++)
        if (call->arguments[i] != PGW_UNKNOWN)
            return rw_common_type(call->arguments, call->count);
    return result == SAME_OR_TEXT                             ? PGW_TEXT
           : result == SAME_OR_FLOAT8 || result == PGW_FLOAT8 ? PGW_FLOAT8
                                                              : PGW_UNSPECIFIED;
}

/* Finds sum() and avg(): sums are of a wider type, averages have fractions. */
static bool find_sum(rw_call_types *call)
{
    bool sum = strcmp(call->name, "sum") == 0;
    if (call->count != 1 || (!sum && strcmp(call->name, "avg") != 0))
        return false;
    uint32_t of = call->arguments[0];
    bool small = of == PGW_INT2 || of == PGW_INT4;
    call->result = of == PGW_FLOAT4               ? (sum ? PGW_FLOAT4 : PGW_FLOAT8)
                   : of == PGW_FLOAT8             ? PGW_FLOAT8
                   : small && sum                 ? PGW_INT8
                   : of == RW_INTERVAL            ? RW_INTERVAL
                   : of == PGW_UNKNOWN || of == 0 ? PGW_UNSPECIFIED
                                                  : PGW_NUMERIC;
    return true;
}

/* Finds AT TIME ZONE: a timestamp with a time zone loses it, and the reverse. */
static bool find_zone(rw_call_types *call)
{
    if (call->count != 2 || strcmp(call->name, "timezone") != 0)
        return false;
    call->arguments[0] = call->arguments[0] == PGW_UNKNOWN ? PGW_TEXT : call->arguments[0];
    call->result = call->arguments[1] == PGW_TIMESTAMPTZ ? PGW_TIMESTAMP : PGW_TIMESTAMPTZ;
    return true;
}

static bool is_integer(uint32_t type)
{
    return type == PGW_INT2 || type == PGW_INT4 || type == PGW_INT8;
}

static bool is_text(uint32_t type)
{
    return !is_integer(type) && type != PGW_NUMERIC && type != PGW_BYTEA;
}

/* Whether the call is of this row of the table; numbers and bytes are not taken for text. */
static bool fits(const rw_call_types *call, size_t row)
{
    if (strcmp(call->name, functions[row].name) != 0 || call->count < functions[row].least ||
        call->count > functions[row].most)
        return false;
    for (size_t i = 0; i < call->count && i < ARGUMENTS_MAX; i++)
        if (functions[row].arguments[i] == PGW_TEXT && !is_text(call->arguments[i]))
            return false;
    return true;
}

static bool is_same(uint32_t written)
{
    return written == SAME || written == SAME_OR_TEXT || written == SAME_OR_FLOAT8;
}

/* The type that `written`, a type or a word such as SAME in the table, means in a call. */
static uint32_t meant(uint32_t written, uint32_t first, uint32_t same)
{
    uint32_t element = pgw_array_element(first);
    return is_same(written)     ? same
           : written == ELEMENT ? element
           : written != ARRAY   ? written
           : element != 0       ? first
                                : pgw_array_of(first);
}

static void fill(rw_call_types *call, size_t row)
{
    uint32_t same = same_type(call, functions[row].result);
    uint32_t first = call->count > 0 ? call->arguments[0] : PGW_UNSPECIFIED;
    if (functions[row].result == PGW_FLOAT8 && is_integer(same))
        same = PGW_FLOAT8;
    for (size_t i = 0; i < call->count; i++) {
        size_t last = functions[row].most < ARGUMENTS_MAX ? functions[row].most : ARGUMENTS_MAX;
        uint32_t wanted = i < last ? functions[row].arguments[i] : PGW_UNSPECIFIED;
        if (call->arguments[i] == PGW_UNKNOWN)
            call->arguments[i] = meant(wanted, first, same);
    }
    call->result = meant(functions[row].result, first, same);
    if (call->result == PGW_FLOAT8 && same == PGW_NUMERIC && functions[row].arguments[0] == SAME)
        call->result = PGW_NUMERIC;
}

static void forget(rw_call_types *call)
{
    for (size_t i = 0; i < call->count; i++)
        if (call->arguments[i] == PGW_UNKNOWN)
            call->arguments[i] = PGW_UNSPECIFIED;
}

void rw_call_types_find(rw_call_types *call)
{
    size_t row = 0;
    while (row < COUNT && !fits(call, row))
        row++;
    if (row < COUNT)
        fill(call, row);
    else if (!find_sum(call) && !find_zone(call))
        call->result = PGW_UNSPECIFIED;
    forget(call);
}
