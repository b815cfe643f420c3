#include "ydb/plain/table_answer.h"

#include "ydb/plain/described.h"
#include "ydb/plain/pg_type.h"
#include "rewrite/statement/script/types.h"

#include <stdlib.h>
#include <string.h>

/* --- columns --- */

enum { FLOAT4 = 700 };

static const struct {
    uint32_t type;
    int16_t length;
    const char *constant; /* a constant field's value, or NULL; NULL in all other fields */
} of_field[] = {
    [RW_TABLE_SCHEMA] = {PGW_NAME, 64, NULL},
    [RW_TABLE_NAME] = {PGW_NAME, 64, NULL},
    [RW_TABLE_COLUMN] = {PGW_NAME, 64, NULL},
    [RW_TABLE_TYPE] = {RW_OID, 4, NULL},
    [RW_TABLE_TYPMOD] = {PGW_INT4, 4, NULL},
    [RW_TABLE_LENGTH] = {PGW_INT2, 2, NULL},
    [RW_TABLE_NOT_NULL] = {PGW_BOOL, 1, NULL},
    [RW_TABLE_DEFAULT] = {PGW_TEXT, -1, NULL},
    [RW_TABLE_PLACE] = {PGW_INT8, 8, NULL},
    [RW_TABLE_INDEX] = {PGW_NAME, 64, NULL},
    [RW_TABLE_INDEX_PLACE] = {PGW_INT4, 4, NULL},
    [RW_TABLE_NOT_UNIQUE] = {PGW_BOOL, 1, NULL},
    [RW_TABLE_INDEX_COLUMN] = {PGW_TEXT, -1, NULL},
    [RW_TABLE_NO_TEXT] = {PGW_TEXT, -1, NULL},
    [RW_TABLE_NO_CHAR] = {RW_CHAR, 1, NULL},
    [RW_TABLE_NO_NAME] = {PGW_NAME, 64, NULL},
    [RW_TABLE_NO_NUMBER] = {PGW_INT4, 4, NULL},
    [RW_TABLE_NO_TYPMOD] = {PGW_INT4, 4, "-1"},
    [RW_TABLE_NO_BASE] = {RW_OID, 4, "0"},
    [RW_TABLE_BASE_KIND] = {RW_CHAR, 1, "b"},
    [RW_TABLE_OTHER_INDEX] = {PGW_INT4, 4, "3"},
    [RW_TABLE_ASCENDING] = {PGW_TEXT, -1, "A"},
    [RW_TABLE_NO_ESTIMATE] = {FLOAT4, 4, "-1"},
    [RW_TABLE_NO_PAGES] = {PGW_INT4, 4, "0"},
    [RW_TABLE_KEY_COLUMNS_MOST] = {PGW_TEXT, -1, "32"},
};

static size_t width_of(const rw_table_question *question)
{
    size_t width = 0;
    while (question->columns[width].field != RW_TABLE_END)
        width++;
    return width;
}

void rw_table_columns(const rw_table_question *question, pgw_buf *out)
{
    size_t width = width_of(question);
    pgw_buf_add_i16(out, (int16_t)width);
    for (size_t i = 0; i < width; i++) {
        rw_table_field field = question->columns[i].field;
        rw_add_described(out, question->columns[i].name, of_field[field].type,
                         of_field[field].length);
    }
}

/* --- rows --- */

typedef struct answer {
    const rw_table_question *question;
    const rw_known_value *values;
    const rw_catalog *catalog;
    pgw_arena *arena;
    pgw_buf cells; /* an array of pgw_slice, row by row */
    size_t width, rows;
} answer;

/* What a row is about. */
typedef struct subject {
    pgw_slice schema;
    const rw_table *table;
    size_t column;
    const char *index; /* the index's name */
    size_t place;      /* the column's place in the index, or among those that are shown; from 1 */
    bool unique;
} subject;

static pgw_slice print(const answer *it, long long number)
{
    return pgw_slice_str(pgw_arena_printf(it->arena, "%lld", number));
}

static pgw_slice print_bool(bool value)
{
    return value ? PGW_LITERAL("t") : PGW_LITERAL("f");
}

static pgw_slice print_text(const char *text)
{
    return text != NULL ? pgw_slice_str(text) : (pgw_slice){NULL, 0};
}

/* Prints a default; `null`, by which the configuration says that a column has none, is a NULL. */
static pgw_slice print_default(const char *text)
{
    pgw_slice known = print_text(text);
    return pgw_slice_ieq_str(known, "null") ? print_text(NULL) : known;
}

static pgw_slice print_length(const answer *it, uint32_t oid)
{
    rw_pg_type type;
    return print(it, rw_pg_type_of(oid, &type) ? type.length : -1);
}

static pgw_slice cell_of_column(const answer *it, rw_table_field field, const rw_column *column)
{
    switch (field) {
    case RW_TABLE_COLUMN:
    case RW_TABLE_INDEX_COLUMN:
        return pgw_slice_str(column->name);
    case RW_TABLE_TYPE:
        return print(it, column->type);
    case RW_TABLE_TYPMOD:
        return print(it, column->typmod);
    case RW_TABLE_LENGTH:
        return print_length(it, column->type);
    case RW_TABLE_NOT_NULL:
        return print_bool(column->not_null);
    default:
        return print_default(column->default_text);
    }
}

static pgw_slice cell(const answer *it, rw_table_field field, const subject *of)
{
    if (field > RW_TABLE_CONSTANTS)
        return print_text(of_field[field].constant);
    switch (field) {
    case RW_TABLE_SCHEMA:
        return of->schema;
    case RW_TABLE_NAME:
        return pgw_slice_str(of->table->name);
    case RW_TABLE_PLACE:
    case RW_TABLE_INDEX_PLACE:
        return print(it, (long long)of->place);
    case RW_TABLE_INDEX:
        return pgw_slice_str(of->index);
    case RW_TABLE_NOT_UNIQUE:
        return print_bool(!of->unique);
    default:
        return cell_of_column(it, field, &of->table->columns[of->column]);
    }
}

static void add_row(answer *it, const subject *of)
{
    for (size_t i = 0; i < it->width; i++) {
        pgw_slice made = cell(it, it->question->columns[i].field, of);
        pgw_buf_add(&it->cells, &made, sizeof made);
    }
    it->rows++;
}

static void add_columns(answer *it, subject *of)
{
    const rw_table *table = of->table;
    for (size_t i = 0; i < table->column_count; i++) {
        if (i == table->hash_column && !table->shows_hash)
            continue;
        of->column = i;
        of->place++;
        if (rw_column_is_asked(it->values, pgw_slice_str(table->columns[i].name)))
            add_row(it, of);
    }
}

static bool is_of_key(const rw_table *table, size_t column)
{
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (table->primary_key[i] == column)
            return true;
    return false;
}

static void add_key_columns(answer *it, subject *of)
{
    for (of->column = 0; of->column < of->table->column_count; of->column++)
        if (is_of_key(of->table, of->column))
            add_row(it, of);
}

enum { NAME_MOST = 63, SUFFIX = sizeof "_pkey" - 1 };

/* The name of the primary key; if none is known, the one that PostgreSQL makes up. */
static const char *key_name(const answer *it, const rw_table *table)
{
    if (table->key_name != NULL)
        return table->key_name;
    return pgw_arena_printf(it->arena, "%.*s_pkey", NAME_MOST - SUFFIX, table->name);
}

static void add_key(answer *it, subject *of)
{
    of->index = key_name(it, of->table);
    of->unique = true;
    for (size_t i = 0; i < of->table->primary_key_count; i++) {
        of->column = of->table->primary_key[i];
        of->place = i + 1;
        add_row(it, of);
    }
}

static void add_index(answer *it, subject *of, const rw_index *index)
{
    of->index = index->name;
    of->unique = false;
    for (size_t i = 0; i < index->column_count; i++) {
        of->column = index->columns[i];
        of->place = i + 1;
        add_row(it, of);
    }
}

static void add_table(answer *it, const rw_table *table)
{
    subject of = {.schema = pgw_slice_str(table->schema), .table = table};
    switch (it->question->search) {
    case RW_TABLE_COLUMNS:
        add_columns(it, &of);
        return;
    case RW_TABLE_KEY_COLUMNS:
        add_key_columns(it, &of);
        return;
    default:
        add_key(it, &of);
    }
    for (size_t i = 0; i < table->index_count && it->question->search == RW_TABLE_INDEXES; i++)
        add_index(it, &of, &table->indexes[i]);
}

static int compare_tables(const void *a, const void *b)
{
    const rw_table *left = *(const rw_table *const *)a, *right = *(const rw_table *const *)b;
    int schemas = strcmp(left->schema, right->schema);
    return schemas != 0 ? schemas : strcmp(left->name, right->name);
}

static void add_tables(answer *it)
{
    size_t count = 0;
    const rw_table **asked =
        pgw_arena_alloc(it->arena, (it->catalog->count + 1) * sizeof(const rw_table *));
    for (size_t i = 0; i < it->catalog->count; i++)
        if (rw_table_is_asked(it->question, it->values, it->catalog->tables[i]))
            asked[count++] = it->catalog->tables[i];
    qsort(asked, count, sizeof *asked, compare_tables);
    for (size_t i = 0; i < count; i++)
        add_table(it, asked[i]);
}

static void add_schemas(answer *it)
{
    static const char *const all[] = {"information_schema", "pg_catalog", "public"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        subject of = {.schema = pgw_slice_str(all[i])};
        if (rw_schema_is_asked(it->question, it->values, of.schema))
            add_row(it, &of);
    }
}

static void add_rows(answer *it)
{
    switch (it->question->search) {
    case RW_TABLE_SCHEMAS:
        add_schemas(it);
        return;
    case RW_TABLE_NOTHING:
        return;
    case RW_TABLE_ONCE:
        add_row(it, &(subject){0});
        return;
    default:
        add_tables(it);
    }
}

void rw_table_answer(const rw_table_question *question,
                     const rw_known_value values[RW_KNOWN_VALUES], const rw_catalog *catalog,
                     pgw_arena *arena, rw_said *out)
{
    answer it = {question, values, catalog, arena, {0}, width_of(question), 0};
    add_rows(&it);
    *out = (rw_said){.rows = it.rows, .width = it.width};
    out->tag = pgw_arena_printf(arena, "SELECT %zu", it.rows);
    out->cells = (const pgw_slice *)pgw_arena_keep(arena, &it.cells).ptr;
}
