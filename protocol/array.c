#include "protocol/array.h"

#include "protocol/reader.h"

/* All base types and ranges of pg_type; those without a name here are neither read nor written. */
static const struct {
    uint32_t element, array;
} arrays[] = {
    {PGW_BOOL, 1000},
    {PGW_BYTEA, 1001},
    {18, 1002}, /* char */
    {PGW_NAME, 1003},
    {PGW_INT8, 1016},
    {PGW_INT2, 1005},
    {PGW_INT4, 1007},
    {24, 1008}, /* regproc */
    {PGW_TEXT, 1009},
    {26, 1028},  /* oid */
    {27, 1010},  /* tid */
    {28, 1011},  /* xid */
    {29, 1012},  /* cid */
    {114, 199},  /* json */
    {142, 143},  /* xml */
    {600, 1017}, /* point */
    {601, 1018}, /* lseg */
    {602, 1019}, /* path */
    {603, 1020}, /* box */
    {604, 1027}, /* polygon */
    {628, 629},  /* line */
    {650, 651},  /* cidr */
    {PGW_FLOAT4, 1021},
    {PGW_FLOAT8, 1022},
    {718, 719},  /* circle */
    {774, 775},  /* macaddr8 */
    {790, 791},  /* money */
    {829, 1040}, /* macaddr */
    {869, 1041}, /* inet */
    {PGW_BPCHAR, 1014},
    {PGW_VARCHAR, 1015},
    {PGW_DATE, 1182},
    {1083, 1183}, /* time */
    {PGW_TIMESTAMP, 1115},
    {PGW_TIMESTAMPTZ, 1185},
    {1186, 1187}, /* interval */
    {1266, 1270}, /* timetz */
    {1560, 1561}, /* bit */
    {1562, 1563}, /* varbit */
    {PGW_NUMERIC, 1231},
    {1790, 2201}, /* refcursor */
    {2205, 2210}, /* regclass */
    {2206, 2211}, /* regtype */
    {PGW_UUID, 2951},
    {3220, 3221}, /* pg_lsn */
    {3614, 3643}, /* tsvector */
    {3615, 3645}, /* tsquery */
    {3802, 3807}, /* jsonb */
    {3904, 3905}, /* int4range */
    {3906, 3907}, /* numrange */
    {3908, 3909}, /* tsrange */
    {3910, 3911}, /* tstzrange */
    {3912, 3913}, /* daterange */
    {3926, 3927}, /* int8range */
    {4072, 4073}, /* jsonpath */
    {5069, 271},  /* xid8 */
};

enum { ARRAY_COUNT = sizeof arrays / sizeof *arrays };

uint32_t pgw_array_of(uint32_t element)
{
    for (size_t i = 0; i < ARRAY_COUNT; i++)
        if (arrays[i].element == element)
            return arrays[i].array;
    return PGW_UNSPECIFIED;
}

uint32_t pgw_array_element(uint32_t array)
{
    for (size_t i = 0; i < ARRAY_COUNT; i++)
        if (arrays[i].array == array)
            return arrays[i].element;
    return PGW_UNSPECIFIED;
}

static bool is_blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static void skip_blanks(pgw_reader *in)
{
    while (in->at < in->end && is_blank(*in->at))
        in->at++;
}

static bool take(pgw_reader *in, char byte)
{
    skip_blanks(in);
    if (in->at == in->end || *in->at != byte)
        return false;
    in->at++;
    return true;
}

/* "…", behind its first quote. */
static bool take_quoted(pgw_reader *in, pgw_buf *out)
{
    for (; in->at < in->end && *in->at != '"'; in->at++) {
        if (*in->at == '\\' && ++in->at == in->end)
            return false;
        pgw_buf_add_byte(out, *in->at);
    }
    return take(in, '"');
}

/* Takes an unquoted element, without the blanks around it; a backslash is left to the server. */
static bool take_bare(pgw_reader *in, pgw_buf *out)
{
    const char *from = in->at, *last = from;
    for (; in->at < in->end && *in->at != ',' && *in->at != '}'; in->at++) {
        if (*in->at == '"' || *in->at == '{' || *in->at == '\\')
            return false;
        last = is_blank(*in->at) ? last : in->at + 1;
    }
    pgw_slice bare = {from, (size_t)(last - from)};
    pgw_buf_add_slice(out, bare);
    return bare.len > 0 && !pgw_slice_ieq_str(bare, "null");
}

static bool take_element(pgw_reader *in, pgw_arena *arena, pgw_slice *out)
{
    pgw_buf element = {0};
    bool taken = take(in, '"') ? take_quoted(in, &element) : take_bare(in, &element);
    *out = pgw_arena_keep(arena, &element);
    return taken;
}

pgw_verdict pgw_array_from_text(pgw_slice text, size_t most, pgw_arena *arena, pgw_array *out)
{
    pgw_reader in = pgw_reader_of(text);
    size_t room = text.len / 2 < most ? text.len / 2 : most;
    *out = (pgw_array){pgw_arena_alloc(arena, room * sizeof *out->list), 0};
    if (!take(&in, '{'))
        return PGW_UNKNOWABLE;
    bool more = !take(&in, '}');
    while (more) {
        if (out->count == room || !take_element(&in, arena, &out->list[out->count++]))
            return PGW_UNKNOWABLE;
        more = take(&in, ',');
        if (!more && !take(&in, '}'))
            return PGW_UNKNOWABLE;
    }
    skip_blanks(&in);
    return in.at == in.end ? PGW_KNOWN : PGW_UNKNOWABLE;
}

/* Dimensions, whether there are NULLs, the elements' type; then of each dimension its length and
 * lower bound; then each element with its length. */
pgw_verdict pgw_array_from_binary(uint32_t element, pgw_slice bytes, size_t most, pgw_arena *arena,
                                  pgw_array *out)
{
    pgw_reader in = pgw_reader_of(bytes);
    uint32_t dimensions = pgw_read_u32(&in), nulls = pgw_read_u32(&in), type = pgw_read_u32(&in);
    *out = (pgw_array){NULL, 0};
    if (in.failed || dimensions > 1 || nulls > 1 || type != element)
        return PGW_UNKNOWABLE;
    if (dimensions == 0)
        return pgw_reader_done(&in) ? PGW_KNOWN : PGW_UNKNOWABLE;
    uint32_t count = pgw_read_u32(&in);
    pgw_read_u32(&in); /* the lower bound */
    if (in.failed || count > most || count > (size_t)(in.end - in.at) / sizeof(uint32_t))
        return PGW_UNKNOWABLE;
    out->list = pgw_arena_alloc(arena, count * sizeof *out->list);
    while (out->count < count)
        out->list[out->count++] = pgw_read_bytes(&in, pgw_read_u32(&in));
    return pgw_reader_done(&in) ? PGW_KNOWN : PGW_UNKNOWABLE;
}
