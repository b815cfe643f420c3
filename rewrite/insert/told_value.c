#include "rewrite/insert/told_value.h"

static bool is_time(uint32_t type)
{
    return type == PGW_DATE || type == PGW_TIMESTAMP || type == PGW_TIMESTAMPTZ;
}

/* The function that makes text of a value where a cast may be somebody's own; NULL: PostgreSQL has
 * a cast of its own. */
static const char *output_of(uint32_t type)
{
    switch (type) {
    case PGW_INT2:
        return "pg_catalog.textin(pg_catalog.int2out(";
    case PGW_INT4:
        return "pg_catalog.textin(pg_catalog.int4out(";
    case PGW_INT8:
        return "pg_catalog.textin(pg_catalog.int8out(";
    case PGW_NUMERIC:
        return "pg_catalog.textin(pg_catalog.numeric_out(";
    case PGW_UUID:
        return "pg_catalog.textin(pg_catalog.uuid_out(";
    case PGW_BYTEA:
        return "pg_catalog.textin(pg_catalog.byteaout(";
    default:
        return NULL;
    }
}

static bool is_put_out(const rw_column *column)
{
    return column->own_casts != RW_NO_OWN_CASTS && output_of(column->type) != NULL;
}

const char *rw_told_before(const rw_column *column)
{
    if (is_time(column->type))
        return "pg_catalog.to_json(";
    if (is_put_out(column))
        return output_of(column->type);
    return column->type == PGW_FLOAT8 ? "pg_catalog.encode(pg_catalog.record_send(row(" : "(";
}

const char *rw_told_behind(const rw_column *column)
{
    if (is_time(column->type))
        return ") operator(pg_catalog.#>>) '{}'";
    if (is_put_out(column))
        return "))";
    return column->type == PGW_FLOAT8 ? ")), 'hex')" : ")::pg_catalog.text";
}
