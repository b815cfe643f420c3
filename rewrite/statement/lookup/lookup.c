#include "rewrite/statement/lookup/lookup.h"

#include "protocol/array.h"
#include "rewrite/hash/hash.h"
#include "rewrite/lex/lexer_text.h"
#include "rewrite/insert/spell.h"
#include "rewrite/lex/quote.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool rw_is_declared(rw_declared declared, uint32_t number)
{
    return declared.types != NULL && number <= declared.count &&
           declared.types[number - 1] != PGW_UNSPECIFIED;
}

const rw_lookup_map *rw_lookup_map_make(const pgw_buf *places, const pgw_buf *cells,
                                        const pgw_buf *names, pgw_arena *arena)
{
    size_t size = sizeof(rw_lookup_map) + places->len + cells->len + names->len;
    rw_lookup_map *map = pgw_arena_alloc(arena, size);
    char *at = (char *)(map + 1);
    *map = (rw_lookup_map){.size = size,
                           .place_count = (uint32_t)(places->len / sizeof(rw_lookup_place)),
                           .cell_count = (uint32_t)(cells->len / sizeof(rw_lookup_cell)),
                           .places = (void *)at,
                           .cells = (void *)(at + places->len),
                           .names = at + places->len + cells->len};
    memcpy(at, places->ptr, places->len);
    if (cells->len > 0) /* There are no cells where tables are only joined. */
        memcpy(at + places->len, cells->ptr, cells->len);
    memcpy(at + places->len + cells->len, names->ptr, names->len);
    return map;
}

rw_lookup_map *rw_lookup_map_copy(const rw_lookup_map *map)
{
    rw_lookup_map *copy = pgw_alloc(map->size);
    memcpy(copy, map, map->size);
    copy->places = (void *)((char *)copy + ((const char *)map->places - (const char *)map));
    copy->cells = (void *)((char *)copy + ((const char *)map->cells - (const char *)map));
    copy->names = (char *)copy + (map->names - (const char *)map);
    return copy;
}

/* --- the text --- */

/* What a map is read with: the statement's tokens that it points to. */
typedef struct source {
    pgw_slice text;
    const rw_catalog *catalog;
    const pgw_env *env;
    pgw_arena *arena;
    const rw_token *tokens;
    size_t count;
} source;

static void read_tokens(source *in, rw_lexer lexer, size_t most)
{
    if ((size_t)(lexer.known_end - lexer.known) >= most) {
        in->tokens = lexer.known;
        in->count = most;
        return;
    }
    rw_token *tokens = pgw_arena_alloc(in->arena, most * sizeof *tokens);
    while (in->count < most) {
        rw_token token = rw_lexer_next(&lexer);
        if (token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD)
            break;
        tokens[in->count++] = token;
    }
    in->tokens = tokens;
}

/* How many tokens of the statement the map needs. */
static size_t last_token(const rw_lookup_map *map)
{
    size_t last = 0;
    for (uint32_t i = 0; i < map->place_count; i++) {
        last = map->places[i].where > last ? map->places[i].where : last;
        last = map->places[i].until > last ? map->places[i].until : last;
    }
    for (uint32_t i = 0; i < map->cell_count; i++)
        last = map->cells[i].token > last ? map->cells[i].token : last;
    return last + 2; /* The last cell may be a number behind a minus sign, one token further on. */
}

/* '…', E'…' and $…$: the other kinds are more than their token. */
static bool read_string(const source *in, rw_token token, rw_cell *cell)
{
    char first = (char)(in->text.ptr[token.start] | 32);
    cell->kind = RW_CELL_STRING;
    return first != 'u' && first != 'n' &&
           rw_token_string(in->text, token, in->env->conforming, in->arena, &cell->text);
}

static bool is_number(rw_token token)
{
    return token.kind == RW_TOKEN_INTEGER || token.kind == RW_TOKEN_DECIMAL;
}

static bool read_constant(const source *in, rw_token token, rw_cell *cell)
{
    switch (token.kind) {
    case RW_TOKEN_STRING:
        return read_string(in, token, cell);
    case RW_TOKEN_INTEGER:
    case RW_TOKEN_DECIMAL:
        cell->kind = token.kind == RW_TOKEN_INTEGER ? RW_CELL_INTEGER : RW_CELL_DECIMAL;
        return rw_number_text(rw_token_text(in->text, token), in->env, in->arena, &cell->text);
    case RW_TOKEN_PARAM:
        cell->kind = RW_CELL_PARAM;
        cell->parameter = rw_parameter_number(in->text, token);
        return cell->parameter > 0 && cell->parameter <= UINT16_MAX;
    default:
        cell->kind = RW_CELL_BOOL;
        return token.kind == RW_TOKEN_WORD;
    }
}

static bool read_cell(const source *in, rw_lookup_cell where, rw_cell *cell, size_t *end)
{
    *cell = (rw_cell){.minus_after = -1};
    size_t at = where.token;
    if (at < in->count && in->tokens[at].kind == RW_TOKEN_OPERATOR) {
        cell->minus_after = 0;
        at++;
    }
    if (at >= in->count || (at > where.token && !is_number(in->tokens[at])))
        return false;
    rw_token token = in->tokens[at];
    cell->position = token.start;
    *end = token.end;
    cell->text = rw_token_text(in->text, token);
    if (where.cast != PGW_UNSPECIFIED) {
        cell->casts = pgw_arena_alloc(in->arena, sizeof *cell->casts);
        cell->casts[cell->cast_count++] = (rw_cast){where.cast, -1, false};
    }
    return read_constant(in, token, cell);
}

/* An array that is a constant is as many keys as it has elements. */
static bool read_array(const source *in, size_t column, rw_lookup *it)
{
    size_t width = it->table->hash_key_count;
    pgw_array elements;
    if (it->cells[column].kind == RW_CELL_PARAM) {
        it->array = column + 1;
        return true;
    }
    if (it->cells[column].kind != RW_CELL_STRING ||
        pgw_array_from_text(it->cells[column].text, RW_LOOKUP_CELLS_MAX / width, in->arena,
                            &elements) != PGW_KNOWN ||
        elements.count == 0)
        return false;
    const rw_cell *key = it->cells;
    it->keys = elements.count;
    it->cells = pgw_arena_alloc(in->arena, it->keys * width * sizeof *it->cells);
    const size_t *ends = it->ends;
    it->ends = pgw_arena_alloc(in->arena, it->keys * width * sizeof *it->ends);
    for (size_t i = 0; i < it->keys; i++) {
        memcpy(it->cells + i * width, key, width * sizeof *key);
        memcpy(it->ends + i * width, ends, width * sizeof *ends);
        it->cells[i * width + column].text = elements.list[i];
        it->ends[i * width + column] = 0;
    }
    return true;
}

static bool read_place(const source *in, const rw_lookup_map *map, const rw_lookup_place *place,
                       rw_lookup *out)
{
    if (place->table >= in->catalog->count || place->where >= in->count ||
        place->until >= in->count)
        return false;
    const rw_table *table = in->catalog->tables[place->table];
    if (place->other >= in->catalog->count)
        return false;
    size_t count = place->keys * table->hash_key_count;
    *out =
        (rw_lookup){.table = table,
                    .called = map->names + place->called,
                    .bare = place->bare,
                    .at = in->tokens[place->where].end,
                    .until = place->until > 0 && !place->wrapped ? in->tokens[place->until].end : 0,
                    .wrapped = place->wrapped,
                    .keys = place->keys,
                    .other = place->keys == 0 ? in->catalog->tables[place->other] : NULL,
                    .other_called = map->names + place->other_called,
                    .other_bare = place->other_bare,
                    .query = place->query,
                    .name = place->name,
                    .cells = pgw_arena_alloc(in->arena, count * sizeof *out->cells),
                    .ends = pgw_arena_alloc(in->arena, count * sizeof *out->ends)};
    for (size_t i = 0; i < count; i++)
        if (!read_cell(in, map->cells[place->cells + i], &out->cells[i], &out->ends[i]))
            return false;
    return (place->array == 0 || read_array(in, place->array - 1, out)) &&
           rw_lookup_takes(out, (pgw_slice){NULL, 0}, (rw_declared){NULL, 0});
}

/* Sorts by place in the text: a subquery may stand before the WHERE of the query around it. */
static void sort(rw_lookup *lookups, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && lookups[k].at < lookups[k - 1].at; k--) {
            rw_lookup later = lookups[k - 1];
            lookups[k - 1] = lookups[k];
            lookups[k] = later;
        }
}

size_t rw_lookups_read(const rw_lookup_map *map, rw_lexer lexer, const rw_catalog *catalog,
                       const pgw_env *env, pgw_arena *arena, rw_lookup **out)
{
    source in = {.text = lexer.text, .catalog = catalog, .env = env, .arena = arena};
    read_tokens(&in, lexer, last_token(map));
    rw_lookup *lookups = pgw_arena_alloc(arena, map->place_count * sizeof *lookups);
    size_t count = 0;
    for (uint32_t i = 0; i < map->place_count; i++)
        count += read_place(&in, map, &map->places[i], &lookups[count]);
    sort(lookups, count);
    *out = lookups;
    return count;
}

const rw_lookup *rw_lookup_keep(const rw_lookup *lookup, pgw_arena *arena)
{
    size_t count = lookup->keys * lookup->table->hash_key_count;
    rw_lookup *copy = pgw_arena_alloc(arena, sizeof *copy);
    *copy = *lookup;
    copy->ends = NULL;
    copy->called = pgw_arena_copy(arena, pgw_slice_str(lookup->called)).ptr;
    copy->other_called = pgw_arena_copy(arena, pgw_slice_str(lookup->other_called)).ptr;
    copy->cells = pgw_arena_alloc(arena, count * sizeof *copy->cells);
    for (size_t i = 0; i < count; i++) {
        rw_cell *cell = &copy->cells[i];
        *cell = lookup->cells[i];
        cell->text = pgw_arena_copy(arena, cell->text);
        if (cell->casts != NULL)
            cell->casts = memcpy(pgw_arena_alloc(arena, sizeof *cell->casts), cell->casts,
                                 sizeof *cell->casts);
    }
    return copy;
}

/* --- types --- */

static bool is_integer(uint32_t type)
{
    return type == PGW_INT2 || type == PGW_INT4 || type == PGW_INT8;
}

static bool is_text(uint32_t type)
{
    return type == PGW_TEXT || type == PGW_VARCHAR;
}

/* Whether `column = value` is PostgreSQL's own comparison, and only true of a value that is the
 * column's when it is cast to its type. */
static bool compares(uint32_t column, uint32_t value)
{
    return column == value ||
           (is_integer(value) && (is_integer(column) || column == PGW_NUMERIC)) ||
           (is_text(column) && is_text(value));
}

/* What a cell is when it is compared; PGW_UNSPECIFIED: what the column is. */
static uint32_t type_of(const rw_cell *cell, rw_declared declared)
{
    int64_t integer;
    if (cell->cast_count > 0)
        return cell->casts[0].type;
    switch (cell->kind) {
    case RW_CELL_INTEGER:
        return rw_digits_fit_int8(cell->text, cell->minus_after == 0, &integer) ? PGW_INT8
                                                                                : PGW_NUMERIC;
    case RW_CELL_DECIMAL:
        return PGW_NUMERIC;
    case RW_CELL_BOOL:
        return PGW_BOOL;
    case RW_CELL_PARAM:
        if (!rw_is_declared(declared, cell->parameter))
            return PGW_UNSPECIFIED;
        assert(declared.types != NULL);
        return declared.types[cell->parameter - 1];
    default:
        return PGW_UNSPECIFIED;
    }
}

/* Whether the cell of this number holds an array of values. */
static bool is_array(const rw_lookup *lookup, size_t cell)
{
    return lookup->array == cell + 1;
}

/* The type of the elements of the array that a cell holds; PGW_UNSPECIFIED: the column's. */
static uint32_t element_type_of(const rw_cell *cell, rw_declared declared)
{
    uint32_t type = type_of(cell, declared);
    if (type == PGW_UNSPECIFIED || cell->cast_count > 0)
        return type;
    uint32_t element = pgw_array_element(type);
    return element != PGW_UNSPECIFIED ? element : PGW_UNKNOWN;
}

/* Whether the cell is a parameter without a declared type, which gets one by its first use. */
static bool is_inferred(const rw_cell *cell, rw_declared declared)
{
    return cell->kind == RW_CELL_PARAM && !rw_is_declared(declared, cell->parameter);
}

/* How often parameters 1…most stand in the text, 2 for more often; freed by free(). */
static unsigned char *count_uses(pgw_slice text, uint32_t most)
{
    unsigned char *uses = pgw_calloc(most + 1, sizeof *uses);
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, true);
    for (rw_token token = rw_lexer_next(&lexer);
         token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD; token = rw_lexer_next(&lexer)) {
        uint32_t number = rw_parameter_number(text, token);
        if (number <= most && uses[number] < 2)
            uses[number]++;
    }
    return uses;
}

/* Whether what is not declared is used nowhere else. */
static bool are_inferred_here(const rw_lookup *lookup, pgw_slice text, rw_declared declared)
{
    uint32_t most = 0;
    size_t count = lookup->keys * lookup->table->hash_key_count;
    for (size_t i = 0; i < count; i++)
        if (is_inferred(&lookup->cells[i], declared) && lookup->cells[i].parameter > most)
            most = lookup->cells[i].parameter;
    if (most == 0)
        return true;
    unsigned char *uses = count_uses(text, most);
    bool here = true;
    for (size_t i = 0; i < count && here; i++)
        here = !is_inferred(&lookup->cells[i], declared) || uses[lookup->cells[i].parameter] == 1;
    free(uses);
    return here;
}

static const rw_column *column_of(const rw_lookup *lookup, size_t cell)
{
    const rw_table *table = lookup->table;
    return &table->columns[table->hash_key[cell % table->hash_key_count]];
}

bool rw_lookup_takes(const rw_lookup *lookup, pgw_slice text, rw_declared declared)
{
    for (size_t i = 0; i < lookup->keys * lookup->table->hash_key_count; i++) {
        const rw_cell *cell = &lookup->cells[i];
        uint32_t type =
            is_array(lookup, i) ? element_type_of(cell, declared) : type_of(cell, declared);
        if (type != PGW_UNSPECIFIED && !compares(column_of(lookup, i)->type, type))
            return false;
    }
    return text.ptr == NULL || are_inferred_here(lookup, text, declared);
}

uint32_t rw_lookup_type(const rw_lookup *lookup, size_t cell)
{
    const rw_cell *it = &lookup->cells[cell];
    uint32_t type = it->cast_count > 0 ? it->casts[0].type : column_of(lookup, cell)->type;
    if (it->cast_count == 0 && is_text(type)) /* varchar has no = operator of its own. */
        type = PGW_TEXT;
    return is_array(lookup, cell) ? pgw_array_of(type) : type;
}

void rw_lookup_types(const rw_lookup *lookup, uint32_t *types, size_t count)
{
    for (size_t i = 0; i < lookup->keys * lookup->table->hash_key_count; i++) {
        const rw_cell *cell = &lookup->cells[i];
        if (cell->kind == RW_CELL_PARAM && cell->parameter <= count &&
            types[cell->parameter - 1] == PGW_UNSPECIFIED)
            types[cell->parameter - 1] = rw_lookup_type(lookup, i);
    }
}

/* --- hashes --- */

static const rw_cell *key_of(const rw_lookup *lookup, size_t key)
{
    return lookup->cells + key * lookup->table->hash_key_count;
}

bool rw_lookup_is_bound(const rw_lookup *lookup, size_t key)
{
    for (size_t i = 0; i < lookup->table->hash_key_count; i++)
        if (key_of(lookup, key)[i].kind == RW_CELL_PARAM)
            return true;
    return false;
}

pgw_verdict rw_lookup_hash(const rw_lookup *lookup, size_t key, rw_params params,
                           const pgw_reading *reading, uint64_t *hash)
{
    size_t count = lookup->table->hash_key_count;
    pgw_value *values = pgw_arena_alloc(reading->arena, count * sizeof *values);
    bool null = false;
    for (size_t i = 0; i < count; i++) {
        rw_column column = *column_of(lookup, i);
        column.typmod = -1; /* A comparison neither cuts nor rounds the value. */
        pgw_verdict verdict =
            rw_cell_value(&key_of(lookup, key)[i], &column, params, reading, &values[i]);
        if (verdict != PGW_KNOWN)
            return verdict;
        null |= values[i].null;
    }
    *hash = null ? 0 : rw_hash_key(lookup->table, values);
    return PGW_KNOWN;
}

bool rw_lookup_spell(const rw_lookup *lookup, size_t cell, const pgw_reading *reading, pgw_buf *out)
{
    const rw_cell *it = &lookup->cells[cell];
    rw_column column = *column_of(lookup, cell);
    pgw_value value;
    column.typmod = -1;
    if (it->kind != RW_CELL_STRING || column.type != PGW_TIMESTAMPTZ ||
        !rw_cell_heeds_zone(it, &column, reading->arena))
        return true;
    if (lookup->ends[cell] == 0 ||
        rw_cell_value(it, &column, RW_NO_PARAMS, reading, &value) != PGW_KNOWN)
        return false;
    pgw_buf text = {0};
    rw_spell_time(&value, &text);
    rw_add_constant(out, pgw_slice_buf(&text));
    pgw_buf_free(&text);
    return true;
}

static pgw_verdict read_elements(const rw_param *param, pgw_arena *arena, pgw_array *out)
{
    *out = (pgw_array){NULL, 0};
    if (param->null)
        return PGW_KNOWN; /* A NULL array equals nothing. */
    uint32_t element = pgw_array_element(param->type);
    if (param->binary)
        return pgw_array_from_binary(element, param->bytes, RW_LOOKUP_CELLS_MAX, arena, out);
    return pgw_array_from_text(param->bytes, RW_LOOKUP_CELLS_MAX, arena, out);
}

pgw_verdict rw_lookup_hash_array(const rw_lookup *lookup, rw_params params,
                                 const pgw_reading *reading, pgw_slice *hashes)
{
    size_t number = lookup->cells[lookup->array - 1].parameter;
    pgw_array elements;
    pgw_buf out = {0};
    if (number > params.count ||
        read_elements(&params.list[number - 1], reading->arena, &elements) != PGW_KNOWN)
        return PGW_UNKNOWABLE;
    rw_param *list = pgw_arena_alloc(reading->arena, params.count * sizeof *list);
    memcpy(list, params.list, params.count * sizeof *list);
    list[number - 1].type = pgw_array_element(list[number - 1].type);
    pgw_verdict verdict = PGW_KNOWN;
    pgw_buf_add_byte(&out, '{');
    for (size_t i = 0; i < elements.count && verdict == PGW_KNOWN; i++) {
        uint64_t hash = 0;
        list[number - 1].bytes = elements.list[i];
        verdict = rw_lookup_hash(lookup, 0, (rw_params){list, params.count}, reading, &hash);
        pgw_buf_addf(&out, i > 0 ? ",%" PRId64 : "%" PRId64, (int64_t)hash);
    }
    pgw_buf_add_byte(&out, '}');
    *hashes = pgw_arena_keep(reading->arena, &out);
    return verdict;
}
