#include "rewrite/insert/spell.h"

#include "protocol/value_in.h"
#include "protocol/value_time.h"
#include "rewrite/lex/quote.h"

#include <string.h>

/* The settings of a session whose TimeZone is not known. */
static const pgw_env anywhere = {.utf8 = true, .conforming = true};

void rw_spell_time(const pgw_value *value, pgw_buf *out)
{
    pgw_time_out(value, out);
}

static bool is_of_time(uint32_t type)
{
    return type == PGW_TIMESTAMPTZ || type == PGW_TIMESTAMP || type == PGW_DATE;
}

bool rw_text_heeds_zone(uint32_t type, pgw_slice text)
{
    pgw_error ignored;
    pgw_value value;
    pgw_arena none = {0};
    pgw_reading reading = {&anywhere, &none, &ignored};
    bool heeds = type == PGW_TIMESTAMPTZ &&
                 pgw_value_from_text(type, -1, text, &reading, &value) == PGW_UNKNOWABLE;
    pgw_arena_free(&none);
    return heeds;
}

bool rw_cell_heeds_zone(const rw_cell *cell, const rw_column *column, pgw_arena *arena)
{
    pgw_error ignored;
    pgw_value value;
    pgw_reading reading = {&anywhere, arena, &ignored};
    return rw_cell_value(cell, column, RW_NO_PARAMS, &reading, &value) == PGW_UNKNOWABLE;
}

/* The offset behind the cell that begins at `at`. */
static size_t end_of_cell(const rw_insert *insert, size_t at)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, insert->text, true); /* there are no backslashes in a time */
    lexer.at = at;
    int depth = 0;
    for (;;) {
        rw_token token = rw_lexer_next(&lexer);
        char c = token.kind == RW_TOKEN_CHAR ? insert->text.ptr[token.start] : '\0';
        bool ends = token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD;
        if (ends || (depth == 0 && (c == ',' || c == ')')))
            return at;
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        at = token.end;
    }
}

/* Has `constant` rendered in the place of these bytes of a cell. */
static void put(rw_insert *insert, size_t from, size_t to, pgw_buf *constant, pgw_arena *arena)
{
    size_t count = insert->spelled_count;
    if ((count & (count - 1)) == 0) { /* the list has room for the next power of two */
        rw_spelled *more = pgw_arena_alloc(arena, (count == 0 ? 1 : count * 2) * sizeof *more);
        if (count > 0)
            memcpy(more, insert->spelled, count * sizeof *more);
        insert->spelled = more;
    }
    size_t i = insert->spelled_count++;
    for (; i > 0 && insert->spelled[i - 1].from > from; i--)
        insert->spelled[i] = insert->spelled[i - 1]; /* a row's cells are in the key's order */
    insert->spelled[i] = (rw_spelled){from, to, pgw_arena_keep(arena, constant)};
}

/* Has a time rendered in the place of the cell, and returns it without its quotes. */
static pgw_slice put_time(rw_insert *insert, const rw_cell *cell, const pgw_value *value,
                          pgw_arena *arena)
{
    pgw_buf text = {0}, constant = {0};
    rw_spell_time(value, &text);
    rw_add_constant(&constant, pgw_slice_buf(&text));
    put(insert, cell->position, end_of_cell(insert, cell->position), &constant, arena);
    return pgw_arena_keep(arena, &text);
}

static rw_token string_of(const rw_insert *insert, const rw_cell *cell, bool conforming)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, insert->text, conforming);
    lexer.at = cell->position;
    rw_token token;
    do {
        token = rw_lexer_next(&lexer);
    } while (token.kind != RW_TOKEN_STRING && token.kind != RW_TOKEN_END &&
             token.kind != RW_TOKEN_BAD);
    return token;
}

static bool is_keyed(const rw_insert *insert, size_t column)
{
    const rw_table *table = insert->table;
    bool keyed = insert->verb != RW_VERB_INSERT &&
                 insert->row_count > 1; /* UPSERT and REPLACE leave out rows of equal keys */
    for (size_t h = 0; h < table->hash_key_count && !keyed; h++)
        keyed = table->hash_key[h] == column;
    return keyed;
}

bool rw_spells_column(const rw_insert *insert, size_t column)
{
    return is_keyed(insert, column) && is_of_time(insert->table->columns[column].type);
}

static bool is_spelled(const rw_insert *insert, size_t row, size_t k, pgw_arena *arena)
{
    const rw_cell *cell = &insert->rows[row].key[k];
    size_t column = insert->table->primary_key[k];
    return cell->kind == RW_CELL_STRING && rw_spells_column(insert, column) &&
           rw_cell_heeds_zone(cell, &insert->table->columns[column], arena);
}

typedef struct speller {
    rw_insert *insert;
    const pgw_env *env;
    pgw_arena *arena;
    bool backslashes; /* the text has backslashes, in an encoding whose escapes can be read here */
} speller;

static speller spell(rw_insert *insert, const pgw_env *env, pgw_arena *arena)
{
    bool any = memchr(insert->text.ptr, '\\', insert->text.len) != NULL;
    bool moves = env->conforming || !env->settled; /* the server warns of backslashes otherwise */
    return (speller){insert, env, arena, any && moves && (env->utf8 || env->conforming)};
}

/* Spells out a constant '…' that has a backslash; its casts stay. */
static void spell_backslashes(const speller *it, size_t row, size_t k)
{
    const rw_cell *cell = &it->insert->rows[row].key[k];
    if (!it->backslashes || cell->kind != RW_CELL_STRING ||
        !is_keyed(it->insert, it->insert->table->primary_key[k]))
        return;
    rw_token token = string_of(it->insert, cell, it->env->conforming);
    pgw_slice text = rw_token_text(it->insert->text, token);
    if (token.kind != RW_TOKEN_STRING || text.ptr[0] != '\'' ||
        memchr(text.ptr, '\\', text.len) == NULL)
        return;
    pgw_buf constant = {0};
    rw_add_constant(&constant, cell->text);
    put(it->insert, token.start, token.end, &constant, it->arena);
}

static void spell_by_key(const speller *it, size_t row, size_t k, const rw_key *key)
{
    if (key->known == NULL || !key->known[k] || key->values[k].null)
        return;
    if (is_spelled(it->insert, row, k, it->arena))
        (void)put_time(it->insert, &it->insert->rows[row].key[k], &key->values[k], it->arena);
    else
        spell_backslashes(it, row, k);
}

void rw_spell_keys(rw_insert *insert, const rw_key *keys, const pgw_env *env, pgw_arena *arena)
{
    speller it = spell(insert, env, arena);
    if (insert->spelled_count > 0)
        return;
    for (size_t r = 0; r < insert->row_count; r++)
        for (size_t k = 0; k < insert->table->primary_key_count; k++)
            spell_by_key(&it, r, k, &keys[r]);
}

static void spell_constant(const speller *it, size_t row, size_t k)
{
    rw_cell *cell = &it->insert->rows[row].key[k];
    const rw_table *table = it->insert->table;
    pgw_error ignored;
    pgw_value value;
    pgw_reading reading = {it->env, it->arena, &ignored};
    if (!is_spelled(it->insert, row, k, it->arena)) {
        spell_backslashes(it, row, k);
    } else if (rw_cell_value(cell, &table->columns[table->primary_key[k]], RW_NO_PARAMS, &reading,
                             &value) == PGW_KNOWN) {
        /* The row's hash is the same from now on. */
        cell->text = put_time(it->insert, cell, &value, it->arena);
        cell->cast_count = 0;
    }
}

void rw_spell_constants(rw_insert *insert, const pgw_env *env, pgw_arena *arena)
{
    speller it = spell(insert, env, arena);
    for (size_t r = 0; r < insert->row_count; r++)
        for (size_t k = 0; k < insert->table->primary_key_count; k++)
            spell_constant(&it, r, k);
}

/* Whether TimeZone decides a cast to a time type: it is from or to timestamptz, or from a type that
 * is not known here. */
static bool is_zoned_cast(uint32_t from, uint32_t to)
{
    return from != to && is_of_time(to) &&
           (from == PGW_TIMESTAMPTZ || to == PGW_TIMESTAMPTZ || from == PGW_UNSPECIFIED);
}

static bool cell_casts(const rw_cell *cell, const rw_column *column, uint32_t type)
{
    bool heeds = false;
    for (size_t i = 0; i < cell->cast_count; i++) {
        heeds = heeds || is_zoned_cast(type, cell->casts[i].type);
        type = cell->casts[i].type;
    }
    return heeds || is_zoned_cast(type, column->type);
}

bool rw_casts_heed_zone(const rw_insert *insert, const uint32_t *types)
{
    const rw_table *table = insert->table;
    for (size_t r = 0; r < insert->row_count; r++)
        for (size_t k = 0; k < table->primary_key_count; k++) {
            const rw_cell *cell = &insert->rows[r].key[k];
            if (cell->kind == RW_CELL_PARAM && cell->parameter <= insert->param_count &&
                rw_spells_column(insert, table->primary_key[k]) &&
                cell_casts(cell, &table->columns[table->primary_key[k]],
                           types[cell->parameter - 1]))
                return true;
        }
    return false;
}
