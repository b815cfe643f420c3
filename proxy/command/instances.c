#include "proxy/command/instances.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/backend/schema/audit.h"
#include "proxy/backend/schema/schema.h"
#include "proxy/backend/schema/pattern.h"
#include "rewrite/lex/quote.h"
#include "rewrite/statement/tree/made_columns.h"
#include "rewrite/statement/script/script.h"

/* Makes room for `count` more tables, which the caller fills in. */
static void make_room(px_tables *tables, size_t count)
{
    count += tables->count;
    tables->tables = pgw_realloc(tables->tables, count * sizeof(rw_table *));
    tables->written = pgw_realloc(tables->written, count * sizeof(const cfg_table *));
}

void px_instances_ask(px_tables *tables, FILE *errors)
{
    px_schema_rows *rows = px_backend_rows(tables->config, errors);
    if (rows == NULL) {
        fputs("keyspread: of tables of patterns those alone are known that the text makes\n",
              errors);
        return;
    }
    make_room(tables, px_pattern_most(tables->config, rows));
    tables->count += px_pattern_tables(tables->config, rows, 0, tables->tables + tables->count,
                                       tables->written + tables->count);
    px_schema_rows_free(rows);
}

/* -- made by the text -- */

typedef struct maker {
    px_tables *tables;
    pgw_arena *arena;
    pgw_slice statement;
    const rw_table *made; /* table that the statement makes, with its names alone */
} maker;

static bool is_key(const rw_table *table, const char *name)
{
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (strcmp(table->columns[table->primary_key[i]].name, name) == 0)
            return true;
    return false;
}

static cfg_column *columns_of(const maker *it, const rw_made_column *made, size_t count)
{
    cfg_column *columns = pgw_arena_alloc(it->arena, (count + 1) * sizeof *columns);
    for (size_t i = 0; i < count; i++)
        columns[i] = (cfg_column){.name = made[i].name,
                                  .type = made[i].type,
                                  .not_null = made[i].not_null || is_key(it->made, made[i].name)};
    return columns;
}

/* The next number of a column's own sequence, as SQL. */
static char *next_number(const rw_table *table, const rw_column *column)
{
    pgw_buf name = {0}, quoted = {0}, text = {0};
    pgw_buf_addf(&name, "%s_%s_seq", table->name, column->name);
    pgw_buf_add_byte(&name, '\0');
    rw_add_quoted(&quoted, name.ptr);
    pgw_buf_add_str(&text, "nextval(");
    rw_add_constant(&text, pgw_slice_buf(&quoted));
    pgw_buf_add_str(&text, "::regclass)");
    char *copy = pgw_strndup(text.ptr, text.len);
    pgw_buf_free(&name);
    pgw_buf_free(&quoted);
    pgw_buf_free(&text);
    return copy;
}

/* Notes which columns draw from a sequence. Other defaults are not known, as of a table with
 * columns in the file. */
static void put_sequences(rw_table *table, const rw_made_column *made, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = rw_table_column(table, pgw_slice_str(made[i].name));
        if (!made[i].serial || at == table->column_count)
            continue;
        rw_column *column = &table->columns[at];
        column->has_default = column->sequence = true;
        column->default_text = next_number(table, column);
    }
}

static char **names_of(const maker *it, const size_t *columns, size_t count)
{
    char **names = pgw_arena_alloc(it->arena, count * sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = it->made->columns[columns[i]].name;
    return names;
}

/* Adds the table as if the file had an entry with its columns. */
static void make(const maker *it)
{
    const rw_table *made = it->made;
    const cfg_table *pattern = cfg_find_pattern(it->tables->config, made->schema, made->name);
    if (pattern == NULL)
        return;
    cfg_table entry = *pattern;
    pgw_error ignored = PGW_ERROR_NONE;
    entry.schema = made->schema;
    entry.name = entry.label = made->name;
    entry.pattern = entry.schemas = false;
    rw_made_column *columns;
    entry.column_count = rw_made_columns(it->statement, &px_plain_env, it->arena, &columns);
    entry.columns = columns_of(it, columns, entry.column_count);
    entry.primary_key = names_of(it, made->primary_key, made->primary_key_count);
    entry.primary_key_count = made->primary_key_count;
    entry.hash_key = names_of(it, made->hash_key, made->hash_key_count);
    entry.hash_key_count = made->hash_key_count;
    rw_table *table = px_schema_build(&entry, NULL, 0, &ignored);
    if (table == NULL)
        return;
    put_sequences(table, columns, entry.column_count);
    make_room(it->tables, 1);
    it->tables->written[it->tables->count] = pattern;
    it->tables->tables[it->tables->count++] = table;
}

static bool is_there(const px_tables *tables, const rw_table *made)
{
    for (size_t i = 0; i < tables->count; i++)
        if (strcmp(tables->tables[i]->name, made->name) == 0 &&
            strcmp(tables->tables[i]->schema, made->schema) == 0)
            return true;
    return false;
}

void px_instances_make(px_tables *tables, const rw_catalog *planned, pgw_slice text)
{
    pgw_arena arena = {0};
    rw_script script;
    rw_catalog none = {.planned = planned, .apart = true};
    rw_script_parse(text, &none, &px_plain_env, NULL, &arena, &script);
    for (size_t i = 0; i < script.count; i++) {
        const rw_statement *it = &script.statements[i];
        if (it->made != NULL && !is_there(tables, it->made))
            make(&(maker){tables, &arena, rw_statement_text(it, text), it->made});
    }
    pgw_arena_free(&arena);
}
