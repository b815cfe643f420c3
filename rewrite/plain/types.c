#include "rewrite/plain/types.h"

static const struct {
    uint32_t type, array;
    const char *name;
} types[] = {
    {PGW_BOOL, 1000, "bool"},
    {PGW_BYTEA, 1001, "bytea"},
    {RW_CHAR, 1002, "char"},
    {PGW_NAME, 1003, "name"},
    {PGW_INT8, 1016, "int8"},
    {PGW_INT2, 1005, "int2"},
    {PGW_INT4, 1007, "int4"},
    {24, 1008, "regproc"},
    {PGW_TEXT, 1009, "text"},
    {RW_OID, 1028, "oid"},
    {27, 1010, "tid"},
    {28, 1011, "xid"},
    {29, 1012, "cid"},
    {RW_JSON, 199, "json"},
    {142, 143, "xml"},
    {600, 1017, "point"},
    {601, 1018, "lseg"},
    {602, 1019, "path"},
    {603, 1020, "box"},
    {604, 1027, "polygon"},
    {628, 629, "line"},
    {650, 651, "cidr"},
    {PGW_FLOAT4, 1021, "float4"},
    {PGW_FLOAT8, 1022, "float8"},
    {718, 719, "circle"},
    {774, 775, "macaddr8"},
    {790, 791, "money"},
    {829, 1040, "macaddr"},
    {869, 1041, "inet"},
    {PGW_BPCHAR, 1014, "bpchar"},
    {PGW_VARCHAR, 1015, "varchar"},
    {PGW_DATE, 1182, "date"},
    {RW_TIME, 1183, "time"},
    {PGW_TIMESTAMP, 1115, "timestamp"},
    {PGW_TIMESTAMPTZ, 1185, "timestamptz"},
    {RW_INTERVAL, 1187, "interval"},
    {RW_TIMETZ, 1270, "timetz"},
    {1560, 1561, "bit"},
    {1562, 1563, "varbit"},
    {PGW_NUMERIC, 1231, "numeric"},
    {1790, 2201, "refcursor"},
    {2205, 2210, "regclass"},
    {2206, 2211, "regtype"},
    {PGW_UUID, 2951, "uuid"},
    {3220, 3221, "pg_lsn"},
    {3614, 3643, "tsvector"},
    {3615, 3645, "tsquery"},
    {RW_JSONB, 3807, "jsonb"},
    {3904, 3905, "int4range"},
    {3906, 3907, "numrange"},
    {3908, 3909, "tsrange"},
    {3910, 3911, "tstzrange"},
    {3912, 3913, "daterange"},
    {3926, 3927, "int8range"},
    {4072, 4073, "jsonpath"},
    {5069, 271, "xid8"},
};

enum { COUNT = sizeof types / sizeof *types };

/* The grammar reads a length of 1 into these, unless they are in quotes. */
static bool needs_quotes(uint32_t type)
{
    enum { BIT = 1560 };
    return type == RW_CHAR || type == BIT;
}

static bool add_name(uint32_t type, pgw_buf *out)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (types[i].type != type)
            continue;
        const char *quote = needs_quotes(type) ? "\"" : "";
        pgw_buf_addf(out, "%s%s%s", quote, types[i].name, quote);
        return true;
    }
    return false;
}

bool rw_add_type(uint32_t type, pgw_buf *out)
{
    uint32_t element = rw_type_element(type);
    if (element == PGW_UNSPECIFIED)
        return add_name(type, out);
    bool added = add_name(element, out);
    pgw_buf_add_str(out, "[]");
    return added;
}

uint32_t rw_type_named(pgw_slice name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (pgw_slice_eq_str(name, types[i].name))
            return types[i].type;
    return PGW_UNSPECIFIED;
}

uint32_t rw_type_element(uint32_t array)
{
    for (size_t i = 0; i < COUNT; i++)
        if (types[i].array == array)
            return types[i].type;
    return PGW_UNSPECIFIED;
}

uint32_t rw_type_array(uint32_t element)
{
    for (size_t i = 0; i < COUNT; i++)
        if (types[i].type == element)
            return types[i].array;
    return PGW_UNSPECIFIED;
}
