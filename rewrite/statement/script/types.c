#include "rewrite/statement/script/types.h"

#include "protocol/array.h"

static const struct {
    uint32_t type;
    const char *name;
} types[] = {
    {PGW_BOOL, "bool"},
    {PGW_BYTEA, "bytea"},
    {RW_CHAR, "char"},
    {PGW_NAME, "name"},
    {PGW_INT8, "int8"},
    {PGW_INT2, "int2"},
    {PGW_INT4, "int4"},
    {24, "regproc"},
    {PGW_TEXT, "text"},
    {RW_OID, "oid"},
    {27, "tid"},
    {28, "xid"},
    {29, "cid"},
    {RW_JSON, "json"},
    {142, "xml"},
    {600, "point"},
    {601, "lseg"},
    {602, "path"},
    {603, "box"},
    {604, "polygon"},
    {628, "line"},
    {650, "cidr"},
    {PGW_FLOAT4, "float4"},
    {PGW_FLOAT8, "float8"},
    {718, "circle"},
    {774, "macaddr8"},
    {790, "money"},
    {829, "macaddr"},
    {869, "inet"},
    {PGW_BPCHAR, "bpchar"},
    {PGW_VARCHAR, "varchar"},
    {PGW_DATE, "date"},
    {RW_TIME, "time"},
    {PGW_TIMESTAMP, "timestamp"},
    {PGW_TIMESTAMPTZ, "timestamptz"},
    {RW_INTERVAL, "interval"},
    {RW_TIMETZ, "timetz"},
    {1560, "bit"},
    {1562, "varbit"},
    {PGW_NUMERIC, "numeric"},
    {1790, "refcursor"},
    {2205, "regclass"},
    {2206, "regtype"},
    {PGW_UUID, "uuid"},
    {3220, "pg_lsn"},
    {3614, "tsvector"},
    {3615, "tsquery"},
    {RW_JSONB, "jsonb"},
    {3904, "int4range"},
    {3906, "numrange"},
    {3908, "tsrange"},
    {3910, "tstzrange"},
    {3912, "daterange"},
    {3926, "int8range"},
    {4072, "jsonpath"},
    {5069, "xid8"},
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
    uint32_t element = pgw_array_element(type);
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
