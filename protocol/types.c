#include "protocol/types.h"

/* How pg_type and the grammar write the types that are known here. A name that only the grammar
 * knows cannot stand behind "pg_catalog.". `char` is bpchar(1): the parser adds the 1. */
static const struct {
    const char *name;
    uint32_t type;
    bool grammar_only;
} names[] = {
    {"bool", PGW_BOOL, false},
    {"boolean", PGW_BOOL, true},
    {"bytea", PGW_BYTEA, false},
    {"name", PGW_NAME, false},
    {"int8", PGW_INT8, false},
    {"bigint", PGW_INT8, true},
    {"int2", PGW_INT2, false},
    {"smallint", PGW_INT2, true},
    {"int4", PGW_INT4, false},
    {"int", PGW_INT4, true},
    {"integer", PGW_INT4, true},
    {"text", PGW_TEXT, false},
    {"float4", PGW_FLOAT4, false},
    {"real", PGW_FLOAT4, true},
    {"float8", PGW_FLOAT8, false},
    {"float", PGW_FLOAT8, true},
    {"double precision", PGW_FLOAT8, true},
    {"bpchar", PGW_BPCHAR, false},
    {"char", PGW_BPCHAR, true},
    {"character", PGW_BPCHAR, true},
    {"nchar", PGW_BPCHAR, true},
    {"national char", PGW_BPCHAR, true},
    {"national character", PGW_BPCHAR, true},
    {"varchar", PGW_VARCHAR, false},
    {"char varying", PGW_VARCHAR, true},
    {"character varying", PGW_VARCHAR, true},
    {"nchar varying", PGW_VARCHAR, true},
    {"national char varying", PGW_VARCHAR, true},
    {"national character varying", PGW_VARCHAR, true},
    {"date", PGW_DATE, false},
    {"timestamp", PGW_TIMESTAMP, false},
    {"timestamp without time zone", PGW_TIMESTAMP, true},
    {"timestamptz", PGW_TIMESTAMPTZ, false},
    {"timestamp with time zone", PGW_TIMESTAMPTZ, true},
    {"numeric", PGW_NUMERIC, false},
    {"decimal", PGW_NUMERIC, true},
    {"dec", PGW_NUMERIC, true},
    {"uuid", PGW_UUID, false},
};

enum { NAME_COUNT = sizeof names / sizeof *names };

bool pgw_type_is_key(uint32_t type)
{
    switch (type) {
    case PGW_BOOL:
    case PGW_BYTEA:
    case PGW_INT8:
    case PGW_INT2:
    case PGW_INT4:
    case PGW_TEXT:
    case PGW_FLOAT8:
    case PGW_BPCHAR:
    case PGW_VARCHAR:
    case PGW_DATE:
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
    case PGW_NUMERIC:
    case PGW_UUID:
        return true;
    default:
        return false;
    }
}

bool pgw_type_has_one_text(uint32_t type)
{
    return type == PGW_NAME || (pgw_type_is_key(type) && type != PGW_FLOAT8 && type != PGW_BYTEA);
}

const char *pgw_type_name(uint32_t type)
{
    switch (type) {
    case PGW_BOOL:
        return "boolean";
    case PGW_BYTEA:
        return "bytea";
    case PGW_NAME:
        return "name";
    case PGW_INT8:
        return "bigint";
    case PGW_INT2:
        return "smallint";
    case PGW_INT4:
        return "integer";
    case PGW_TEXT:
        return "text";
    case PGW_FLOAT4:
        return "real";
    case PGW_FLOAT8:
        return "double precision";
    case PGW_UNKNOWN:
        return "unknown";
    case PGW_BPCHAR:
        return "character";
    case PGW_VARCHAR:
        return "character varying";
    case PGW_DATE:
        return "date";
    case PGW_TIMESTAMP:
        return "timestamp without time zone";
    case PGW_TIMESTAMPTZ:
        return "timestamp with time zone";
    case PGW_NUMERIC:
        return "numeric";
    case PGW_UUID:
        return "uuid";
    default:
        return NULL;
    }
}

uint32_t pgw_type_by_name(pgw_slice name)
{
    static const pgw_slice schema = PGW_LITERAL("pg_catalog.");
    bool qualified =
        name.len > schema.len && pgw_slice_eq((pgw_slice){name.ptr, schema.len}, schema);
    if (qualified)
        name = (pgw_slice){name.ptr + schema.len, name.len - schema.len};
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (pgw_slice_eq_str(name, names[i].name))
            return qualified && names[i].grammar_only ? PGW_UNSPECIFIED : names[i].type;
    return PGW_UNSPECIFIED;
}
