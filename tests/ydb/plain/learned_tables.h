/*
 * learned_tables: the tables of programs.h as if their names and types of columns were learned of
 * the server.
 */
#ifndef TEST_LEARNED_TABLES_H
#define TEST_LEARNED_TABLES_H

#include "programs.h"

static const rw_catalog learned = {.others = &catalog};

/* Nothing is hidden in the last table; of what is called odd nobody knows the type. */
static inline void learn(void)
{
    rw_table *table = &tables[catalog.count - 1];
    table->column_count = table->hash_column;
    table->hash_key_count = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, "odd") == 0) {
            free(table->columns[i].type_name);
            table->columns[i].type = 999999;
            table->columns[i].type_name = NULL;
        }
}

static inline void forget(void)
{
    for (size_t i = 0; i < catalog.count; i++) {
        for (size_t c = 0; c < tables[i].hash_column; c++) {
            free(tables[i].columns[c].name);
            free(tables[i].columns[c].type_name);
            free(tables[i].columns[c].default_text);
        }
        free(tables[i].name);
    }
    catalog.count = 0;
}

static inline bool sets_up(const vector_line *line)
{
    const size_t count = catalog.count;
    bool is = is_set_up(line);
    if (catalog.count > count)
        learn();
    return is;
}

#endif
