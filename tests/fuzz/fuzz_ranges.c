/*
 * Any statement, of tables that a store sorts by (bucket, key): what is made of it is of
 * PostgreSQL's grammar if it was itself, and the same by a memory of its shape.
 */
#include "rewrite/statement/script/conditions.h"
#include "rewrite/statement/script/script.h"
#include "tests/rewrite/tables.h"

#include <pg_query.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1024, TABLES = 3 }; /* libpg_query needs stack in proportion */

static rw_table tables[TABLES];

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool is_grammar(const char *text)
{
    PgQueryProtobufParseResult parsed = pg_query_parse_protobuf(text);
    bool is = parsed.error == NULL;
    pg_query_free_protobuf_parse_result(parsed);
    return is;
}

/* NULL: the statement is refused, or an INSERT. */
static char *sent(pgw_slice text, const rw_catalog *catalog, rw_shape_cache *shapes)
{
    pgw_arena arena = {0};
    rw_script script;
    rw_conditions conditions;
    pgw_error error;
    pgw_buf out = {0};
    rw_script_parse(text, catalog, &test_env, shapes, &arena, &script);
    if (script.count == 1 && script.statements[0].kind == RW_STATEMENT_FORWARD) {
        rw_conditions_of(&script.statements[0], NULL, &(pgw_reading){&test_env, &arena, &error},
                         &conditions);
        rw_conditions_render(&conditions, rw_statement_text(&script.statements[0], text), &out);
        pgw_buf_add_byte(&out, '\0');
    }
    pgw_arena_free(&arena);
    return out.ptr;
}

static rw_catalog ranged_catalog(const rw_table **pointers)
{
    for (size_t i = 0; i < TABLES; i++) {
        tables[i] = test_tables[i * 2];
        tables[i].buckets = 2;
        tables[i].hash_first = true;
        tables[i].oid = 0;
        pointers[i] = &tables[i];
        for (size_t k = 0; k < tables[i].column_count; k++)
            tables[i].columns[k].key_place = 0;
    }
    return (rw_catalog){.tables = pointers, .count = TABLES};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const rw_table *pointers[TABLES];
    rw_catalog catalog = ranged_catalog(pointers);
    size_t len = size < MOST_BYTES ? size : MOST_BYTES;
    char text[MOST_BYTES + 1];
    memcpy(text, data, len);
    text[len] = '\0';
    if (memchr(text, '\0', len) != NULL || !is_grammar(text))
        return 0;
    rw_shape_cache shapes = {0};
    char *first = sent((pgw_slice){text, len}, &catalog, &shapes);
    char *second = sent((pgw_slice){text, len}, &catalog, &shapes);
    require((first == NULL) == (second == NULL));
    require(first == NULL || strcmp(first, second) == 0);
    require(first == NULL || is_grammar(first));
    free(first);
    free(second);
    rw_shape_cache_clear(&shapes);
    return 0;
}
