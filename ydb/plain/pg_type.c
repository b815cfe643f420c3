#include "ydb/plain/pg_type.h"

#include "protocol/types.h"
#include "rewrite/statement/script/types.h"
#include "rewrite/statement/script/written_type.h"

#include <stdio.h>
#include <string.h>

/* In the order of their oids; arrays are made of their elements. */
static const struct {
    uint32_t oid, array;
    char kind;
    int16_t length;
    uint32_t element, subtype;
    const char *name, *shown; /* NULL: format_type() gives the name */
} types[] = {
    {16, 1000, 'b', 1, 0, 0, "bool", "boolean"},
    {17, 1001, 'b', -1, 0, 0, "bytea", NULL},
    {18, 1002, 'b', 1, 0, 0, "char", "\"char\""},
    {19, 1003, 'b', 64, 18, 0, "name", NULL},
    {20, 1016, 'b', 8, 0, 0, "int8", "bigint"},
    {21, 1005, 'b', 2, 0, 0, "int2", "smallint"},
    {22, 1006, 'b', -1, 21, 0, "int2vector", NULL},
    {23, 1007, 'b', 4, 0, 0, "int4", "integer"},
    {24, 1008, 'b', 4, 0, 0, "regproc", NULL},
    {25, 1009, 'b', -1, 0, 0, "text", NULL},
    {26, 1028, 'b', 4, 0, 0, "oid", NULL},
    {27, 1010, 'b', 6, 0, 0, "tid", NULL},
    {28, 1011, 'b', 4, 0, 0, "xid", NULL},
    {29, 1012, 'b', 4, 0, 0, "cid", NULL},
    {30, 1013, 'b', -1, 26, 0, "oidvector", NULL},
    {32, 0, 'p', 8, 0, 0, "pg_ddl_command", NULL},
    {114, 199, 'b', -1, 0, 0, "json", NULL},
    {142, 143, 'b', -1, 0, 0, "xml", NULL},
    {194, 0, 'b', -1, 0, 0, "pg_node_tree", NULL},
    {269, 0, 'p', 4, 0, 0, "table_am_handler", NULL},
    {325, 0, 'p', 4, 0, 0, "index_am_handler", NULL},
    {600, 1017, 'b', 16, 701, 0, "point", NULL},
    {601, 1018, 'b', 32, 600, 0, "lseg", NULL},
    {602, 1019, 'b', -1, 0, 0, "path", NULL},
    {603, 1020, 'b', 32, 600, 0, "box", NULL},
    {604, 1027, 'b', -1, 0, 0, "polygon", NULL},
    {628, 629, 'b', 24, 701, 0, "line", NULL},
    {650, 651, 'b', -1, 0, 0, "cidr", NULL},
    {700, 1021, 'b', 4, 0, 0, "float4", "real"},
    {701, 1022, 'b', 8, 0, 0, "float8", "double precision"},
    {705, 0, 'p', -2, 0, 0, "unknown", NULL},
    {718, 719, 'b', 24, 0, 0, "circle", NULL},
    {774, 775, 'b', 8, 0, 0, "macaddr8", NULL},
    {790, 791, 'b', 8, 0, 0, "money", NULL},
    {829, 1040, 'b', 6, 0, 0, "macaddr", NULL},
    {869, 1041, 'b', -1, 0, 0, "inet", NULL},
    {1033, 1034, 'b', 12, 0, 0, "aclitem", NULL},
    {1042, 1014, 'b', -1, 0, 0, "bpchar", "character"},
    {1043, 1015, 'b', -1, 0, 0, "varchar", "character varying"},
    {1082, 1182, 'b', 4, 0, 0, "date", NULL},
    {1083, 1183, 'b', 8, 0, 0, "time", "time without time zone"},
    {1114, 1115, 'b', 8, 0, 0, "timestamp", "timestamp without time zone"},
    {1184, 1185, 'b', 8, 0, 0, "timestamptz", "timestamp with time zone"},
    {1186, 1187, 'b', 16, 0, 0, "interval", NULL},
    {1266, 1270, 'b', 12, 0, 0, "timetz", "time with time zone"},
    {1560, 1561, 'b', -1, 0, 0, "bit", NULL},
    {1562, 1563, 'b', -1, 0, 0, "varbit", "bit varying"},
    {1700, 1231, 'b', -1, 0, 0, "numeric", NULL},
    {1790, 2201, 'b', -1, 0, 0, "refcursor", NULL},
    {2202, 2207, 'b', 4, 0, 0, "regprocedure", NULL},
    {2203, 2208, 'b', 4, 0, 0, "regoper", NULL},
    {2204, 2209, 'b', 4, 0, 0, "regoperator", NULL},
    {2205, 2210, 'b', 4, 0, 0, "regclass", NULL},
    {2206, 2211, 'b', 4, 0, 0, "regtype", NULL},
    {2249, 2287, 'p', -1, 0, 0, "record", NULL},
    {2275, 1263, 'p', -2, 0, 0, "cstring", NULL},
    {2276, 0, 'p', 4, 0, 0, "any", "\"any\""},
    {2277, 0, 'p', -1, 0, 0, "anyarray", NULL},
    {2278, 0, 'p', 4, 0, 0, "void", NULL},
    {2279, 0, 'p', 4, 0, 0, "trigger", NULL},
    {2280, 0, 'p', 4, 0, 0, "language_handler", NULL},
    {2281, 0, 'p', 8, 0, 0, "internal", NULL},
    {2283, 0, 'p', 4, 0, 0, "anyelement", NULL},
    {2776, 0, 'p', 4, 0, 0, "anynonarray", NULL},
    {2950, 2951, 'b', 16, 0, 0, "uuid", NULL},
    {2970, 2949, 'b', -1, 0, 0, "txid_snapshot", NULL},
    {3115, 0, 'p', 4, 0, 0, "fdw_handler", NULL},
    {3220, 3221, 'b', 8, 0, 0, "pg_lsn", NULL},
    {3310, 0, 'p', 4, 0, 0, "tsm_handler", NULL},
    {3361, 0, 'b', -1, 0, 0, "pg_ndistinct", NULL},
    {3402, 0, 'b', -1, 0, 0, "pg_dependencies", NULL},
    {3500, 0, 'p', 4, 0, 0, "anyenum", NULL},
    {3614, 3643, 'b', -1, 0, 0, "tsvector", NULL},
    {3615, 3645, 'b', -1, 0, 0, "tsquery", NULL},
    {3642, 3644, 'b', -1, 0, 0, "gtsvector", NULL},
    {3734, 3735, 'b', 4, 0, 0, "regconfig", NULL},
    {3769, 3770, 'b', 4, 0, 0, "regdictionary", NULL},
    {3802, 3807, 'b', -1, 0, 0, "jsonb", NULL},
    {3831, 0, 'p', -1, 0, 0, "anyrange", NULL},
    {3838, 0, 'p', 4, 0, 0, "event_trigger", NULL},
    {3904, 3905, 'r', -1, 0, 23, "int4range", NULL},
    {3906, 3907, 'r', -1, 0, 1700, "numrange", NULL},
    {3908, 3909, 'r', -1, 0, 1114, "tsrange", NULL},
    {3910, 3911, 'r', -1, 0, 1184, "tstzrange", NULL},
    {3912, 3913, 'r', -1, 0, 1082, "daterange", NULL},
    {3926, 3927, 'r', -1, 0, 20, "int8range", NULL},
    {4072, 4073, 'b', -1, 0, 0, "jsonpath", NULL},
    {4089, 4090, 'b', 4, 0, 0, "regnamespace", NULL},
    {4096, 4097, 'b', 4, 0, 0, "regrole", NULL},
    {4191, 4192, 'b', 4, 0, 0, "regcollation", NULL},
    {4451, 6150, 'm', -1, 0, 23, "int4multirange", NULL},
    {4532, 6151, 'm', -1, 0, 1700, "nummultirange", NULL},
    {4533, 6152, 'm', -1, 0, 1114, "tsmultirange", NULL},
    {4534, 6153, 'm', -1, 0, 1184, "tstzmultirange", NULL},
    {4535, 6155, 'm', -1, 0, 1082, "datemultirange", NULL},
    {4536, 6157, 'm', -1, 0, 20, "int8multirange", NULL},
    {4537, 0, 'p', -1, 0, 0, "anymultirange", NULL},
    {4538, 0, 'p', -1, 0, 0, "anycompatiblemultirange", NULL},
    {4600, 0, 'b', -1, 0, 0, "pg_brin_bloom_summary", NULL},
    {4601, 0, 'b', -1, 0, 0, "pg_brin_minmax_multi_summary", NULL},
    {5017, 0, 'b', -1, 0, 0, "pg_mcv_list", NULL},
    {5038, 5039, 'b', -1, 0, 0, "pg_snapshot", NULL},
    {5069, 271, 'b', 8, 0, 0, "xid8", NULL},
    {5077, 0, 'p', 4, 0, 0, "anycompatible", NULL},
    {5078, 0, 'p', -1, 0, 0, "anycompatiblearray", NULL},
    {5079, 0, 'p', 4, 0, 0, "anycompatiblenonarray", NULL},
    {5080, 0, 'p', -1, 0, 0, "anycompatiblerange", NULL},
};

enum {
    COUNT = sizeof types / sizeof *types,
    BOX = 603,
    RECORD = 2249,
    LONGEST = 200 /* bytes of a type's name that is read */
};

static const char *shown(size_t i)
{
    return types[i].shown != NULL ? types[i].shown : types[i].name;
}

static void fill(size_t i, rw_pg_type *out)
{
    *out = (rw_pg_type){.oid = types[i].oid,
                        .array = types[i].array,
                        .element = types[i].element,
                        .subtype = types[i].subtype,
                        .length = types[i].length,
                        .kind = types[i].kind,
                        .delimiter = types[i].oid == BOX ? ';' : ','};
    snprintf(out->name, sizeof out->name, "%s", types[i].name);
    snprintf(out->shown, sizeof out->shown, "%s", shown(i));
}

static void fill_array(size_t i, rw_pg_type *out)
{
    *out = (rw_pg_type){.oid = types[i].array,
                        .element = types[i].oid,
                        .length = -1,
                        .is_array = true,
                        .kind = types[i].oid == RECORD ? 'p' : 'b',
                        .delimiter = types[i].oid == BOX ? ';' : ','};
    snprintf(out->name, sizeof out->name, "_%s", types[i].name);
    snprintf(out->shown, sizeof out->shown, "%s[]", shown(i));
}

bool rw_pg_type_of(uint32_t oid, rw_pg_type *out)
{
    for (size_t i = 0; i < COUNT && oid != PGW_UNSPECIFIED; i++) {
        if (types[i].oid == oid) {
            fill(i, out);
            return true;
        }
        if (types[i].array == oid) {
            fill_array(i, out);
            return true;
        }
    }
    return false;
}

bool rw_pg_type_called(pgw_slice name, rw_pg_type *out)
{
    bool array = name.len > 0 && name.ptr[0] == '_';
    pgw_slice of = {name.ptr + array, name.len - array};
    for (size_t i = 0; i < COUNT; i++) {
        if (!pgw_slice_eq_str(of, types[i].name) || (array && types[i].array == 0))
            continue;
        (array ? fill_array : fill)(i, out);
        return true;
    }
    return false;
}

bool rw_pg_type_next(size_t *at, rw_pg_type *out)
{
    while (*at >= COUNT && *at < 2 * COUNT && types[*at - COUNT].array == 0)
        ++*at;
    if (*at >= 2 * COUNT)
        return false;
    (*at < COUNT ? fill : fill_array)(*at % COUNT, out);
    ++*at;
    return true;
}

static pgw_slice trimmed(pgw_slice text)
{
    while (text.len > 0 && text.ptr[0] == ' ')
        text.ptr++, text.len--;
    while (text.len > 0 && text.ptr[text.len - 1] == ' ')
        text.len--;
    return text;
}

static bool cut_front(pgw_slice *text, const char *front)
{
    size_t len = strlen(front);
    bool there = text->len >= len && memcmp(text->ptr, front, len) == 0;
    *text = there ? (pgw_slice){text->ptr + len, text->len - len} : *text;
    return there;
}

static bool cut_end(pgw_slice *text, const char *end)
{
    size_t len = strlen(end);
    bool there = text->len >= len && memcmp(text->ptr + text->len - len, end, len) == 0;
    text->len -= there ? len : 0;
    return there;
}

/* Reads a type as the grammar spells it, if it is no plain name. */
static bool read_written(pgw_slice text, rw_pg_type *out)
{
    char name[LONGEST + 1] = "";
    if (text.len > LONGEST)
        return false;
    memcpy(name, text.ptr, text.len);
    return rw_pg_type_of(rw_written_type(name), out);
}

bool rw_pg_type_written(pgw_slice text, rw_pg_type *out)
{
    pgw_slice name = trimmed(text);
    cut_front(&name, "pg_catalog.");
    bool array = cut_end(&name, "[]");
    uint32_t known = pgw_type_by_name(name);
    bool found =
        known != PGW_UNSPECIFIED ? rw_pg_type_of(known, out) : rw_pg_type_called(name, out);
    if (!found && cut_front(&name, "\"") && cut_end(&name, "\""))
        found = rw_pg_type_called(name, out);
    found = found && (!array || rw_pg_type_of(out->array, out));
    return found || read_written(text, out);
}
