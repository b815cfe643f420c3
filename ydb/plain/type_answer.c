#include "ydb/plain/type_answer.h"

#include "protocol/array.h"
#include "ydb/plain/described.h"
#include "rewrite/statement/script/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- columns --- */

enum { OID_ARRAY = 1028, TEXT_ARRAY = 1009 };

static const struct {
    uint32_t type;
    int16_t length;
} of_field[] = {
    [RW_TYPE_OID] = {RW_OID, 4},
    [RW_TYPE_NAME] = {PGW_NAME, 64},
    [RW_TYPE_SCHEMA] = {PGW_NAME, 64},
    [RW_TYPE_KIND] = {RW_CHAR, 1},
    [RW_TYPE_ARRAY] = {RW_OID, 4},
    [RW_TYPE_ELEMENT] = {RW_OID, 4},
    [RW_TYPE_DELIMITER] = {RW_CHAR, 1},
    [RW_TYPE_ELEMENT_DELIMITER] = {RW_CHAR, 1},
    [RW_TYPE_SUBTYPE] = {RW_OID, 4},
    [RW_TYPE_SHOWN] = {PGW_TEXT, -1},
    [RW_TYPE_ELEMENT_SHOWN] = {PGW_TEXT, -1},
    [RW_TYPE_SUBTYPE_SHOWN] = {PGW_TEXT, -1},
    [RW_TYPE_IS_ARRAY] = {PGW_BOOL, 1},
    [RW_TYPE_KIND_OR_ARRAY] = {RW_CHAR, 1},
    [RW_TYPE_NOT_NULL] = {PGW_BOOL, 1},
    [RW_TYPE_MADE_OF] = {RW_OID, 4},
    [RW_TYPE_VISIBLE] = {PGW_BOOL, 1},
    [RW_TYPE_DEPTH] = {PGW_INT4, 4},
    [RW_TYPE_NO_OID] = {RW_OID, 4},
    [RW_TYPE_NO_OIDS] = {OID_ARRAY, -1},
    [RW_TYPE_NO_TEXT] = {PGW_TEXT, -1},
    [RW_TYPE_NO_TEXTS] = {TEXT_ARRAY, -1},
};

static size_t width_of(const rw_type_question *question)
{
    size_t width = 0;
    while (question->columns[width].field != RW_TYPE_END)
        width++;
    return width;
}

void rw_type_columns(const rw_type_question *question, pgw_buf *out)
{
    size_t width = width_of(question);
    pgw_buf_add_i16(out, (int16_t)width);
    for (size_t i = 0; i < width; i++) {
        rw_type_field field = question->columns[i].field;
        rw_add_described(out, question->columns[i].name, of_field[field].type,
                         of_field[field].length);
    }
}

void rw_type_parameters(const rw_type_question *question,
                        const rw_known_value values[RW_KNOWN_VALUES], uint32_t *types, size_t count)
{
    for (size_t i = 0; i < RW_KNOWN_VALUES && question->types[i] != 0; i++) {
        uint32_t n = values[i].parameter;
        if (n > 0 && n <= count && (types[n - 1] == PGW_UNSPECIFIED || types[n - 1] == PGW_UNKNOWN))
            types[n - 1] = question->types[i];
    }
}

/* --- rows --- */

enum { MOST = 1000 }; /* oids in one question */

typedef struct answer {
    const rw_type_question *question;
    const rw_known_value *values;
    const pgw_reading *reading;
    pgw_buf cells; /* an array of pgw_slice, row by row */
    size_t width, rows;
} answer;

static pgw_slice print_oid(const answer *it, uint32_t oid)
{
    return pgw_slice_str(pgw_arena_printf(it->reading->arena, "%u", oid));
}

static pgw_slice print_char(const answer *it, char c)
{
    return pgw_slice_str(pgw_arena_printf(it->reading->arena, "%c", c));
}

/* Prints an oid as regtype's output does. */
static pgw_slice print_shown(const answer *it, uint32_t oid)
{
    rw_pg_type type;
    if (oid == PGW_UNSPECIFIED)
        return PGW_LITERAL("-");
    return rw_pg_type_of(oid, &type)
               ? pgw_slice_str(pgw_arena_printf(it->reading->arena, "%s", type.shown))
               : print_oid(it, oid);
}

static pgw_slice print_element_delimiter(const answer *it, const rw_pg_type *type)
{
    rw_pg_type element;
    bool has = type->length == -1 && rw_pg_type_of(type->element, &element);
    return has ? print_char(it, element.delimiter) : (pgw_slice){NULL, 0};
}

/* The range that a multirange is made of; both have this subtype. */
static uint32_t range_of(uint32_t subtype)
{
    rw_pg_type type;
    size_t at = 0;
    while (rw_pg_type_next(&at, &type))
        if (type.kind == 'r' && type.subtype == subtype)
            return type.oid;
    return PGW_UNSPECIFIED;
}

static pgw_slice print_made_of(const answer *it, const rw_pg_type *type)
{
    if (type->kind == 'm' && it->question->search == RW_TYPE_ALL_RANGES)
        return print_oid(it, range_of(type->subtype));
    if (type->is_array || type->kind == 'r')
        return print_oid(it, type->is_array ? type->element : type->subtype);
    return (pgw_slice){NULL, 0};
}

static pgw_slice cell(const answer *it, rw_type_field field, const rw_pg_type *type, int depth)
{
    switch (field) {
    case RW_TYPE_OID:
        return print_oid(it, type->oid);
    case RW_TYPE_NAME:
        return pgw_slice_str(pgw_arena_printf(it->reading->arena, "%s", type->name));
    case RW_TYPE_SCHEMA:
        return PGW_LITERAL("pg_catalog");
    case RW_TYPE_KIND:
        return print_char(it, type->kind);
    case RW_TYPE_ARRAY:
        return print_oid(it, type->array);
    case RW_TYPE_ELEMENT:
        return print_oid(it, type->element);
    case RW_TYPE_DELIMITER:
        return print_char(it, type->delimiter);
    case RW_TYPE_ELEMENT_DELIMITER:
        return print_element_delimiter(it, type);
    case RW_TYPE_SUBTYPE:
        return type->subtype == 0 ? (pgw_slice){NULL, 0} : print_oid(it, type->subtype);
    case RW_TYPE_SHOWN:
        return print_shown(it, type->oid);
    case RW_TYPE_ELEMENT_SHOWN:
        return print_shown(it, type->element);
    case RW_TYPE_SUBTYPE_SHOWN:
        return type->subtype == 0 ? (pgw_slice){NULL, 0} : print_shown(it, type->subtype);
    case RW_TYPE_IS_ARRAY:
        return type->is_array ? PGW_LITERAL("t") : PGW_LITERAL("f");
    case RW_TYPE_KIND_OR_ARRAY:
        return print_char(it, type->is_array ? 'a' : type->kind);
    case RW_TYPE_NOT_NULL:
        return PGW_LITERAL("f");
    case RW_TYPE_MADE_OF:
        return print_made_of(it, type);
    case RW_TYPE_VISIBLE:
        return PGW_LITERAL("t");
    case RW_TYPE_DEPTH:
        return print_oid(it, (uint32_t)depth);
    default:
        return (pgw_slice){NULL, 0};
    }
}

static void add_row(answer *it, const rw_pg_type *type, int depth)
{
    for (size_t i = 0; i < it->width; i++) {
        pgw_slice made = cell(it, it->question->columns[i].field, type, depth);
        pgw_buf_add(&it->cells, &made, sizeof made);
    }
    it->rows++;
}

static uint32_t read_oid(pgw_slice text)
{
    uint64_t oid = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || oid > UINT32_MAX)
            return PGW_UNSPECIFIED;
        oid = 10 * oid + (uint64_t)(text.ptr[i] - '0');
    }
    return oid > UINT32_MAX ? PGW_UNSPECIFIED : (uint32_t)oid;
}

/* --- types with what they are made of, the deepest first --- */

enum { DEEPEST = 8 };

typedef struct level {
    uint32_t *oids; /* oids of types, all different */
    size_t count;
} level;

static void add_oid(level *to, uint32_t oid)
{
    rw_pg_type type;
    if (!rw_pg_type_of(oid, &type))
        return;
    for (size_t i = 0; i < to->count; i++)
        if (to->oids[i] == oid)
            return;
    to->oids[to->count++] = oid;
}

static level parts_of(const level *whole, pgw_arena *arena)
{
    level parts = {pgw_arena_alloc(arena, (2 * whole->count + 1) * sizeof *parts.oids), 0};
    rw_pg_type type;
    for (size_t i = 0; i < whole->count; i++) {
        if (!rw_pg_type_of(whole->oids[i], &type))
            continue;
        add_oid(&parts, type.element);
        add_oid(&parts, type.subtype);
    }
    return parts;
}

static void add_level(answer *it, const level *all, int depth)
{
    rw_pg_type type;
    for (size_t i = 0; i < all->count; i++)
        if (rw_pg_type_of(all->oids[i], &type))
            add_row(it, &type, depth);
}

static bool add_tree(answer *it)
{
    pgw_arena *arena = it->reading->arena;
    pgw_array asked = {0};
    level levels[DEEPEST] = {0};
    int deepest = 0;
    pgw_slice text = it->values[0].text;
    if (text.ptr != NULL && pgw_array_from_text(text, MOST, arena, &asked) != PGW_KNOWN)
        return pgw_fail(it->reading->error, "0A000", "types are asked for by a list of numbers");
    levels[0].oids = pgw_arena_alloc(arena, (asked.count + 1) * sizeof *levels[0].oids);
    for (size_t i = 0; i < asked.count; i++)
        add_oid(&levels[0], read_oid(asked.list[i]));
    while (deepest + 1 < DEEPEST && levels[deepest].count > 0) {
        levels[deepest + 1] = parts_of(&levels[deepest], arena);
        deepest++;
    }
    for (; deepest >= 0; deepest--)
        add_level(it, &levels[deepest], deepest);
    return true;
}

/* --- all of them --- */

static bool has_values(const rw_pg_type *type)
{
    static const char *const named[] = {"record", "void", "unknown"};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(type->name, named[i]) == 0)
            return true;
    rw_pg_type element;
    if (type->is_array)
        return rw_pg_type_of(type->element, &element) && has_values(&element);
    return type->kind != 'p';
}

/* Adds the types that values can be of; types that others are made of come first. */
static void add_all(answer *it)
{
    static const char *const passes[] = {"bp", "r", "m", "a"};
    rw_pg_type type;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        for (size_t at = 0; rw_pg_type_next(&at, &type);)
            if (has_values(&type) && strchr(passes[i], type.is_array ? 'a' : type.kind) != NULL)
                add_row(it, &type, 0);
}

static int compare_down(const void *a, const void *b)
{
    const rw_pg_type *left = a, *right = b;
    return (left->oid < right->oid) - (left->oid > right->oid);
}

static void add_every(answer *it)
{
    pgw_buf types = {0};
    rw_pg_type type;
    size_t count = 0;
    for (size_t at = 0; rw_pg_type_next(&at, &type); count++)
        pgw_buf_add(&types, &type, sizeof type);
    rw_pg_type *list = (rw_pg_type *)pgw_arena_keep(it->reading->arena, &types).ptr;
    if (it->question->search == RW_TYPE_EVERY_DOWN)
        qsort(list, count, sizeof *list, compare_down);
    for (size_t i = 0; i < count; i++)
        add_row(it, &list[i], 0);
    pgw_buf_free(&types);
}

/* --- one type --- */

/* Whether a type is in the schema that is asked for: all types are in pg_catalog, which is always
 * in search_path. */
static bool is_in_schema(const answer *it)
{
    const rw_known_value *schema = &it->values[1], *visible = &it->values[2];
    if (it->question->types[1] == 0 || pgw_slice_eq_str(schema->text, "pg_catalog"))
        return true;
    return it->question->types[2] != 0 &&
           (pgw_slice_eq_str(visible->text, "t") || pgw_slice_ieq_str(visible->text, "true"));
}

static bool find(const answer *it, pgw_slice text, rw_pg_type *out)
{
    switch (it->question->search) {
    case RW_TYPE_BY_OID:
        return rw_pg_type_of(read_oid(text), out);
    case RW_TYPE_BY_NAME:
        return rw_pg_type_called(text, out);
    case RW_TYPE_ELEMENT_OF:
        return rw_pg_type_of(read_oid(text), out) && rw_pg_type_of(out->element, out);
    case RW_TYPE_ARRAY_OF:
        return rw_pg_type_called(text, out) && rw_pg_type_of(out->array, out);
    case RW_TYPE_BY_TO_REGTYPE:
        return rw_pg_type_written(text, out);
    default:
        return rw_pg_type_written(text, out) || rw_pg_type_of(read_oid(text), out);
    }
}

static bool add_one(answer *it)
{
    rw_pg_type type;
    pgw_slice text = it->values[0].text;
    if (text.ptr == NULL)
        return true;
    if (find(it, text, &type)) {
        if (is_in_schema(it))
            add_row(it, &type, 0);
        return true;
    }
    return it->question->search != RW_TYPE_BY_REGTYPE || read_oid(text) != PGW_UNSPECIFIED ||
           pgw_fail(it->reading->error, "42704", "type \"%.*s\" does not exist", (int)text.len,
                    text.ptr);
}

bool rw_type_answer(const rw_type_question *question, const rw_known_value values[RW_KNOWN_VALUES],
                    const pgw_reading *reading, rw_said *out)
{
    answer it = {question, values, reading, {0}, width_of(question), 0};
    bool fine = true;
    switch (question->search) {
    case RW_TYPE_ALL:
    case RW_TYPE_ALL_RANGES:
        add_all(&it);
        break;
    case RW_TYPE_EVERY:
    case RW_TYPE_EVERY_DOWN:
        add_every(&it);
        break;
    case RW_TYPE_NONE:
        break;
    case RW_TYPE_TREE:
        fine = add_tree(&it);
        break;
    default:
        fine = add_one(&it);
    }
    *out = (rw_said){.rows = it.rows, .width = it.width};
    out->tag = pgw_arena_printf(reading->arena, "SELECT %zu", it.rows);
    out->cells = (const pgw_slice *)pgw_arena_keep(reading->arena, &it.cells).ptr;
    pgw_buf_free(&it.cells);
    return fine;
}
