#include "rewrite/insert/type_name.h"

#include <stdio.h>
#include <string.h>

/* A type's name while it is read. */
typedef struct type_name {
    pgw_slice name;  /* the name in pg_type, or as the grammar spells it */
    bool keyword;    /* the name is neither quoted nor qualified: it may be a word of the grammar */
    bool in_catalog; /* the name stands behind "pg_catalog." */
    int32_t modifiers[2];
    int modifier_count;
} type_name;

static bool take_modifiers(rw_parser *parser, type_name *type)
{
    if (!rw_take(parser, '('))
        return true;
    do {
        pgw_slice text = rw_token_text(parser->text, parser->token);
        if (parser->token.kind != RW_TOKEN_INTEGER || text.len > 8 || type->modifier_count == 2 ||
            rw_number_is_newer(text))
            return false;
        int32_t value = 0;
        for (size_t i = 0; i < text.len; i++)
            value = value * 10 + (text.ptr[i] - '0');
        type->modifiers[type->modifier_count++] = value;
        rw_advance(parser);
    } while (rw_take(parser, ','));
    return rw_take(parser, ')');
}

/* Takes [WITH | WITHOUT] TIME ZONE behind `timestamp` and `time`. */
static bool take_zone(rw_parser *parser, bool *with)
{
    *with = rw_at_word(parser, "with");
    if (!*with && !rw_at_word(parser, "without"))
        return true;
    rw_advance(parser);
    return rw_take_word(parser, "time") && rw_take_word(parser, "zone");
}

/* Takes the words of types of several words; others are left to pgw_type_by_name(). */
static bool take_grammar_words(rw_parser *parser, type_name *type)
{
    bool national = pgw_slice_eq_str(type->name, "national");
    if (pgw_slice_eq_str(type->name, "double")) {
        type->name = PGW_LITERAL("float8");
        return rw_take_word(parser, "precision");
    }
    if (pgw_slice_eq_str(type->name, "dec") || pgw_slice_eq_str(type->name, "decimal"))
        type->name = PGW_LITERAL("numeric");
    if (national && !rw_take_word(parser, "character") && !rw_take_word(parser, "char"))
        return false;
    if (national || pgw_slice_eq_str(type->name, "nchar") || pgw_slice_eq_str(type->name, "char") ||
        pgw_slice_eq_str(type->name, "character"))
        type->name =
            rw_take_word(parser, "varying") ? PGW_LITERAL("varchar") : PGW_LITERAL("character");
    else if (pgw_slice_eq_str(type->name, "bit"))
        rw_take_word(parser, "varying");
    return true;
}

static bool take_times(rw_parser *parser, type_name *type)
{
    bool timestamp = pgw_slice_eq_str(type->name, "timestamp"), with;
    if (!take_zone(parser, &with))
        return false;
    if (timestamp)
        type->name = with ? PGW_LITERAL("timestamptz") : PGW_LITERAL("timestamp");
    return true;
}

/* Packs numeric(p, s), varchar(n) or timestamp(p) as the type's typmodin does; false if a modifier
 * is not allowed or not known here. */
static bool pack_modifiers(const type_name *type, uint32_t oid, int32_t *typmod)
{
    int32_t first = type->modifiers[0], second = type->modifiers[1];
    switch (oid) {
    case PGW_VARCHAR:
    case PGW_BPCHAR:
        *typmod = first + 4;
        return type->modifier_count == 1 && first >= 1 && first <= 10485760;
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        *typmod = first;
        return type->modifier_count == 1 && first <= 6;
    case PGW_NUMERIC:
        if (first < 1 || first > 1000 || second > 1000)
            return false; /* the server gives the error 22023 */
        *typmod = (first << 16 | second) + 4;
        return true;
    default:
        return false;
    }
}

/* The type's oid. A quoted or qualified name is found in pg_type, which does not have the words of
 * the grammar. */
static uint32_t oid_of(const type_name *type)
{
    char qualified[80];
    if (type->keyword)
        return pgw_type_by_name(type->name);
    if (type->name.len >= 64)
        return PGW_UNSPECIFIED;
    int length = snprintf(qualified, sizeof qualified, "pg_catalog.%.*s", (int)type->name.len,
                          type->name.ptr);
    return pgw_type_by_name((pgw_slice){qualified, (size_t)length});
}

static rw_cast resolve(const type_name *type, bool prefix)
{
    rw_cast unknown = {PGW_UNSPECIFIED, -1, prefix}, cast = {.typmod = -1, .prefix = prefix};
    bool character = type->keyword && pgw_slice_eq_str(type->name, "character");
    if (type->keyword && pgw_slice_eq_str(type->name, "float") && type->modifier_count == 1) {
        int32_t bits = type->modifiers[0];
        cast.type = bits < 1 || bits > 53 ? PGW_UNSPECIFIED : bits < 25 ? PGW_FLOAT4 : PGW_FLOAT8;
        return cast;
    }
    cast.type = oid_of(type); /* "char" in quotes is another type, of one byte */
    if (type->modifier_count > 0)
        return pack_modifiers(type, cast.type, &cast.typmod) ? cast : unknown;
    if (character && !prefix)
        cast.typmod = 1 + 4;
    return cast;
}

/* Whether the type is certainly PostgreSQL's, or an array of such a type. Databases with own types
 * of these names do not come so far. */
static bool is_built_in(const type_name *type)
{
    static const char *const words[] = {"interval", "time", "bit"};
    static const char *const others[] = {"json", "jsonb", "inet"};
    bool known = type->in_catalog || oid_of(type) != PGW_UNSPECIFIED;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        known = known || (type->keyword && pgw_slice_eq_str(type->name, words[i])) ||
                pgw_slice_eq_str(type->name, others[i]);
    return known;
}

/* Takes [pg_catalog.]name, or a name of another schema, which is `*foreign`. */
static bool take_type_name(rw_parser *parser, type_name *type, bool *foreign)
{
    bool quoted = parser->token.kind == RW_TOKEN_QUOTED;
    type->keyword = !quoted;
    if (!rw_at_name(parser) || rw_at_word(parser, "setof"))
        return false;
    type->name = rw_take_name(parser);
    *foreign = false;
    while (rw_take(parser, '.')) {
        *foreign = *foreign || !pgw_slice_eq_str(type->name, "pg_catalog");
        type->in_catalog = !*foreign;
        type->keyword = false;
        if (!rw_at_name(parser))
            return false;
        type->name = rw_take_name(parser);
    }
    return true;
}

static bool take_array(rw_parser *parser, bool *array)
{
    *array = rw_take_word(parser, "array");
    while (rw_take(parser, '[')) {
        *array = true;
        if (parser->token.kind == RW_TOKEN_INTEGER)
            rw_advance(parser);
        if (!rw_take(parser, ']'))
            return false;
    }
    return true;
}

bool rw_parse_type(rw_parser *parser, bool prefix, rw_cast *cast)
{
    type_name type = {.modifier_count = 0};
    bool foreign, array;
    if (!take_type_name(parser, &type, &foreign))
        return false;
    bool times = type.keyword &&
                 (pgw_slice_eq_str(type.name, "timestamp") || pgw_slice_eq_str(type.name, "time"));
    if (type.keyword && !take_grammar_words(parser, &type))
        return false;
    if (!take_modifiers(parser, &type) || (times && !take_times(parser, &type)) ||
        !take_array(parser, &array))
        return false;
    *cast = resolve(&type, prefix);
    bool strict = parser->table != NULL && parser->table->casts_run; /* a lone cell has no table */
    if (strict && (foreign || !is_built_in(&type)))
        rw_note_blocker(parser, RW_BLOCKER_EXPRESSION);
    if (foreign || array)
        *cast = (rw_cast){PGW_UNSPECIFIED, -1, prefix};
    return true;
}

bool rw_type_is_of_names(uint32_t type)
{
    static const uint32_t types[] = {24,   2202, 2203, 2204, 2205, 2206, 3734, 3769,
                                     4089, 4096, 4191, 1008, 2207, 2208, 2209, 2210,
                                     2211, 3735, 3770, 4090, 4097, 4192};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i] == type)
            return true;
    return false;
}
