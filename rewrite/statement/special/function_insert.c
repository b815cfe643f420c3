#include "rewrite/statement/special/function_insert.h"

#include "rewrite/insert/parse.h"
#include "rewrite/insert/render.h"
#include "rewrite/lex/lexer_text.h"
#include "rewrite/lex/quote.h"

#include <string.h>

/* Writes the INSERT with SELECT in the place of VALUES, and without the columns that say DEFAULT.
 */
typedef struct reader {
    rw_token_walk *body;
    const rw_catalog *catalog;
    pgw_arena *arena;
    const rw_table *table;
    size_t columns; /* index of the token of the first column */
    pgw_buf out;
} reader;

static bool take_any(rw_token_walk *body, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rw_walk_take(body, words[i]))
            return true;
    return false;
}

/* ---- its table ---- */

/* A name that may mean others by the time that the function runs means none. */
static const rw_table *find(const reader *it, pgw_slice schema, pgw_slice name)
{
    const rw_catalog *catalog = it->catalog;
    const rw_table *table = rw_catalog_find(catalog, schema, name);
    for (size_t i = 0; schema.len == 0 && catalog->unqualified != NULL && i < catalog->count; i++)
        if (catalog->tables[i] == table && catalog->unqualified[i] != RW_MEANS_OURS)
            return NULL;
    return table;
}

/* Written with its schema, whatever search_path is when the function runs. */
static bool read_table(reader *it)
{
    pgw_slice names[2] = {{NULL, 0}, {NULL, 0}};
    for (size_t i = 0; i < 2; i++) {
        rw_token token = rw_walk_next(it->body);
        if (!rw_walk_take_name(it->body))
            return false;
        names[0] = names[1];
        names[1] = rw_token_name(it->body->text, token, it->arena);
        if (!rw_walk_take(it->body, "."))
            break;
    }
    it->table = find(it, names[0], names[1]);
    if (it->table == NULL)
        return false;
    pgw_buf_add_str(&it->out, "INSERT INTO ");
    rw_add_identifier(&it->out, it->table->schema);
    pgw_buf_add_str(&it->out, ".");
    rw_add_identifier(&it->out, it->table->name);
    return true;
}

/* ---- its row ---- */

static bool take_type(rw_token_walk *body)
{
    static const char *const more[] = {"precision", "varying", "with time zone",
                                       "without time zone"};
    if (!rw_walk_take_name(body) || (rw_walk_take(body, ".") && !rw_walk_take_name(body)))
        return false;
    while (take_any(body, more, sizeof more / sizeof *more) || rw_walk_take_brackets(body))
        ;
    return true;
}

static bool take_constant(rw_token_walk *body)
{
    static const char *const words[] = {
        "null", "true", "false", "current_date", "current_timestamp", "localtimestamp"};
    if (rw_walk_take(body, "-"))
        return rw_walk_take_kind(body, RW_TOKEN_INTEGER) ||
               rw_walk_take_kind(body, RW_TOKEN_DECIMAL);
    return rw_walk_take_kind(body, RW_TOKEN_STRING) || rw_walk_take_kind(body, RW_TOKEN_BITS) ||
           rw_walk_take_kind(body, RW_TOKEN_INTEGER) || rw_walk_take_kind(body, RW_TOKEN_DECIMAL) ||
           take_any(body, words, sizeof words / sizeof *words);
}

static bool take_call(rw_token_walk *body)
{
    return rw_walk_take_kind(body, RW_TOKEN_WORD) && rw_walk_take_brackets(body);
}

/* Nothing that means another thing in the list of a SELECT than it does in VALUES. */
static bool take_cell(rw_token_walk *body)
{
    if (!take_constant(body) && !take_call(body))
        return false;
    while (rw_walk_take_kind(body, RW_TOKEN_CAST))
        if (!take_type(body))
            return false;
    return true;
}

/* The next name of the list, if it is one; `column` is at it. */
static bool next_column(rw_token_walk *column, pgw_slice *name)
{
    size_t from = column->at;
    if (!rw_walk_take_name(column))
        return false;
    *name = rw_walk_taken(column, from);
    return rw_walk_take(column, ",") || rw_walk_take(column, ")");
}

static bool read_cells(reader *it, pgw_buf *names, pgw_buf *cells)
{
    rw_token_walk column = *it->body;
    column.at = it->columns;
    do {
        pgw_slice name;
        size_t from = it->body->at;
        if (!next_column(&column, &name))
            return false;
        if (rw_walk_take(it->body, "default"))
            continue;
        if (!take_cell(it->body))
            return false;
        pgw_buf_addf(names, "%s%.*s", names->len == 0 ? "" : ", ", (int)name.len, name.ptr);
        pgw_buf_add_str(cells, cells->len == 0 ? "" : ", ");
        pgw_buf_add_slice(cells, rw_walk_taken(it->body, from));
    } while (rw_walk_take(it->body, ","));
    return rw_walk_take(it->body, ")") && column.at > it->columns && names->len > 0 &&
           column.tokens[column.at - 1].start < it->body->tokens[it->body->at - 1].start &&
           it->body->text.ptr[column.tokens[column.at - 1].start] == ')';
}

/* What VALUES has no room for: aggregates, window functions; there is nothing to be locked. */
#define NO_AGGREGATES " FOR KEY SHARE"

static bool read_row(reader *it)
{
    pgw_buf names = {0}, cells = {0};
    if (rw_walk_next(it->body).kind != RW_TOKEN_CHAR)
        return false;
    it->columns = it->body->at + 1;
    bool read = rw_walk_take_brackets(it->body) && rw_walk_take(it->body, "values (") &&
                read_cells(it, &names, &cells);
    if (read)
        pgw_buf_addf(&it->out, " (%.*s) SELECT %.*s" NO_AGGREGATES, (int)names.len, names.ptr,
                     (int)cells.len, cells.ptr);
    pgw_buf_free(&names);
    pgw_buf_free(&cells);
    return read;
}

/* ---- the whole ---- */

/* ON CONFLICT …, up to RETURNING or the end. */
static bool read_tail(reader *it)
{
    size_t from = it->body->at;
    rw_token_walk ahead = *it->body;
    while (!rw_walk_ends(it->body)) {
        ahead.at = it->body->at;
        if (rw_walk_take(&ahead, ";") || rw_walk_take(&ahead, "returning"))
            break;
        it->body->at++;
    }
    if (it->body->at == from)
        return true;
    pgw_slice tail = rw_walk_taken(it->body, from);
    pgw_buf_addf(&it->out, " %.*s", (int)tail.len, tail.ptr);
    return it->body->tokens[from].kind == RW_TOKEN_WORD &&
           rw_token_is(it->body->text, it->body->tokens[from], "on");
}

/* The INSERT with a hash that the server computes, as for rows of a query. */
static pgw_slice with_hash(pgw_slice statement, const rw_catalog *catalog, const pgw_env *env,
                           pgw_arena *arena)
{
    rw_insert *insert = NULL;
    pgw_error error;
    pgw_buf out = {0};
    if (!rw_insert_parse(statement, catalog, env, arena, &insert, &error) || insert == NULL ||
        !insert->query || insert->param_count > 0)
        return (pgw_slice){NULL, 0};
    rw_render_statement(insert, RW_HASH_CONSTANT, NULL, &out);
    return pgw_arena_keep(arena, &out);
}

pgw_slice rw_function_insert(rw_token_walk *body, const rw_catalog *catalog, const pgw_env *env,
                             pgw_arena *arena, const rw_table **table)
{
    reader it = {.body = body, .catalog = catalog, .arena = arena};
    pgw_slice made = {NULL, 0};
    if (rw_walk_take(body, "insert into") && read_table(&it) && read_row(&it) && read_tail(&it))
        made = with_hash(pgw_arena_copy(arena, pgw_slice_buf(&it.out)), catalog, env, arena);
    pgw_buf_free(&it.out);
    *table = it.table;
    return made;
}
