/* What a backend is asked about tables and sessions, to the letter, as in
 * vectors/schema/questions.txt: that these questions are right is for the integration tests to say,
 * which ask a PostgreSQL. With --again it prints the file anew. */
#include "proxy/backend/schema/quiet.h"
#include "proxy/backend/schema/schema.h"
#include "proxy/backend/schema/schema_query.h"
#include "proxy/backend/state/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *key[] = {(char *)"a"};
static cfg_table tables[] = {
    {.name = (char *)"t", .hash_column = (char *)"a_hash"},
    {.schema = (char *)"it's", .name = (char *)"back\\slash'", .hash_column = (char *)"h"},
    {.name = (char *)"log_100%!", .hash_column = (char *)"keyspread_hash"},
    {.schema = (char *)"app",
     .name = (char *)"ev",
     .hash_column = (char *)"h",
     .hash_type = CFG_HASH_UINT64,
     .primary_key = key,
     .primary_key_count = 1},
};

enum { CONFIGS = 3, ENTRIES = 4 };

/* Of tables; of a table and a pattern; of patterns alone. */
static cfg_config config_of(size_t i)
{
    static const size_t first[CONFIGS] = {0, 1, 2}, count[CONFIGS] = {2, 1, 0},
                        patterns[CONFIGS] = {0, 1, 2};
    return (cfg_config){
        .tables = tables + first[i], .table_count = count[i], .pattern_count = patterns[i]};
}

/* Where there are patterns, two tables of theirs are asked for by their oids. */
static void add_state(const cfg_config *config, bool everything, pgw_buf *out)
{
    static const uint32_t oids[] = {16384, 4294967295};
    rw_table built[ENTRIES] = {{0}};
    const rw_table *list[ENTRIES];
    size_t count = config->table_count + config->pattern_count;
    for (size_t i = 0; i < count; i++) {
        const cfg_table *from = &config->tables[i];
        built[i] = (rw_table){.schema = from->schema != NULL ? from->schema : (char *)"public",
                              .name = from->name,
                              .pattern = i >= config->table_count};
        list[i] = &built[i];
    }
    const rw_catalog catalog = {.tables = list, .count = count};
    const px_asked asked = {
        .names = &catalog, .oids = oids, .oid_count = config->pattern_count > 0 ? 2 : 0};
    px_state_question(&asked, everything, out);
}

static void add_questions(pgw_buf *out)
{
    for (size_t i = 0; i < CONFIGS; i++) {
        const cfg_config config = config_of(i);
        px_schema_query(&config, out);
        pgw_buf_add_byte(out, '\n');
        px_schema_fingerprint_query(&config, out);
        pgw_buf_add_byte(out, '\n');
        add_state(&config, i % 2 == 0, out);
        pgw_buf_add_byte(out, '\n');
    }
    px_quiet_expression(out);
    pgw_buf_add_byte(out, '\n');
    px_reads_settings_condition(out);
    pgw_buf_add_byte(out, '\n');
    pgw_buf_add_byte(out, '\0');
}

static void questions_are_as_they_are_written_down(void **state)
{
    (void)state;
    pgw_buf asked = {0};
    char *line = NULL, *at;
    size_t size = 0, number = 0;
    FILE *file = fopen(VECTORS "/schema/questions.txt", "r");
    assert_non_null(file);
    add_questions(&asked);
    at = asked.ptr;
    while (getline(&line, &size, file) > 0) {
        size_t len = strlen(line);
        number++;
        if (strncmp(at, line, len) != 0)
            fail_msg("line %zu is another; --again prints the file anew: %.*s", number,
                     (int)strcspn(at, "\n"), at);
        at += len;
    }
    assert_string_equal(at, "");
    assert_true(number > 3 * CONFIGS);
    fclose(file);
    free(line);
    pgw_buf_free(&asked);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--again") == 0) {
        pgw_buf asked = {0};
        add_questions(&asked);
        fputs(asked.ptr, stdout);
        pgw_buf_free(&asked);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_are_as_they_are_written_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
