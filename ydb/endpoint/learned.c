#include "ydb/endpoint/learned.h"

#include "protocol/reader.h"
#include "rewrite/lex/quote.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 256, BEHIND_NAME = 18 };

static void remove_at(px_ydb_learned *learned, size_t i)
{
    size_t behind = learned->count - i - 1;
    rw_table_free(learned->tables[i]);
    memmove(&learned->tables[i], &learned->tables[i + 1], behind * sizeof *learned->tables);
    memmove(&learned->until[i], &learned->until[i + 1], behind * sizeof *learned->until);
    learned->count--;
}

const rw_catalog *px_ydb_learned_now(px_ydb_learned *learned, uint64_t now)
{
    for (size_t i = learned->count; i-- > 0;)
        if (learned->until[i] <= now)
            remove_at(learned, i);
    learned->catalog =
        (rw_catalog){.tables = (const rw_table *const *)learned->tables, .count = learned->count};
    return &learned->catalog;
}

const rw_relation *px_ydb_learned_lacks(const px_ydb_learned *learned, const rw_relation *list)
{
    const rw_catalog all = {.tables = (const rw_table *const *)learned->tables,
                            .count = learned->count};
    for (size_t i = 0; i < MOST && list != NULL; i++, list = list->next)
        if (rw_catalog_find(&all, pgw_slice_str(list->schema), pgw_slice_str(list->name)) == NULL)
            return list;
    return NULL;
}

void px_ydb_learned_ask(const rw_relation *relation, pgw_buf *text)
{
    pgw_buf_add_str(text, "SELECT * FROM ");
    if (relation->schema[0] != '\0') {
        rw_add_identifier(text, relation->schema);
        pgw_buf_add_byte(text, '.');
    }
    rw_add_identifier(text, relation->name);
}

static char *copy(pgw_slice text)
{
    return pgw_strndup(text.ptr, text.len);
}

/* A table without a hash column: `hash_column` is no column's number. */
static rw_table *table_of(const rw_relation *relation, pgw_slice columns)
{
    pgw_reader reader = pgw_reader_of(columns);
    size_t count = columns.len > 0 ? pgw_read_u16(&reader) : 0;
    rw_table *table = pgw_calloc(1, sizeof *table);
    bool plain = relation->schema[0] == '\0';
    table->schema = copy(pgw_slice_str(plain ? "public" : relation->schema));
    table->name = copy(pgw_slice_str(relation->name));
    table->columns = pgw_calloc(count + 1, sizeof *table->columns);
    for (size_t i = 0; i < count; i++) {
        pgw_slice name = pgw_read_string(&reader);
        pgw_reader rest = pgw_reader_of(pgw_read_bytes(&reader, BEHIND_NAME));
        pgw_read_bytes(&rest, 6);
        table->columns[i] =
            (rw_column){.name = copy(name), .type = pgw_read_u32(&rest), .typmod = -1};
    }
    table->schema_written = strcmp(table->schema, "public") != 0;
    table->hash_column = table->column_count = count;
    table->defaults_unknown = true;
    return table;
}

void px_ydb_learned_add(px_ydb_learned *learned, const rw_relation *relation, pgw_slice columns,
                        uint64_t until)
{
    if (learned->tables == NULL) {
        learned->tables = pgw_calloc(MOST, sizeof *learned->tables);
        learned->until = pgw_calloc(MOST, sizeof *learned->until);
    }
    if (learned->count == MOST)
        remove_at(learned, 0);
    learned->tables[learned->count] = table_of(relation, columns);
    learned->until[learned->count++] = until;
}

void px_ydb_learned_forget(px_ydb_learned *learned)
{
    while (learned->count > 0)
        remove_at(learned, learned->count - 1);
    free(learned->tables);
    free(learned->until);
    *learned = (px_ydb_learned){0};
}
