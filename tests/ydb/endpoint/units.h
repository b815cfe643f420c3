/*
 * units: rows as clients sent them, for what makes YDB's texts of them.
 */
#ifndef TEST_YDB_UNITS_H
#define TEST_YDB_UNITS_H

#include "protocol/frontend.h"
#include "proxy/backend/base/unit.h"
#include "proxy/base/shared.h"
#include "rewrite/hash/table.h"
#include "tests/proxy/unit_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static px_identity unit_identity = {
    .key = "u/d", .env = {.utf8 = true, .zone_known = true, .conforming = true}, .references = 1};

static rw_column unit_columns[] = {
    {.name = "k", .type = 20, .type_name = "int8", .typmod = -1},
    {.name = "v", .type = 25, .type_name = "text", .typmod = -1},
    {.name = "h", .type = 20, .type_name = "int8", .typmod = -1},
};
static size_t unit_key[] = {0};
static const rw_table unit_table = {.schema = "public",
                                    .name = "t",
                                    .columns = unit_columns,
                                    .column_count = 3,
                                    .primary_key = unit_key,
                                    .primary_key_count = 1,
                                    .hash_key = unit_key,
                                    .hash_key_count = 1,
                                    .hash_column = 2};
static const rw_table *const unit_tables[] = {&unit_table};
static const rw_catalog unit_catalog __attribute__((unused)) = {.tables = unit_tables, .count = 1};

static px_unit *unit_of(px_unit_kind kind, size_t statements)
{
    px_unit *unit = px_unit_new(NULL);
    unit->kind = kind;
    unit->identity = px_identity_take(&unit_identity);
    unit->statement_count = statements;
    unit->statements = pgw_arena_alloc(&unit->arena, statements * sizeof *unit->statements);
    memset(unit->statements, 0, statements * sizeof *unit->statements);
    unit->row_count = statements;
    for (size_t i = 0; i < statements; i++)
        unit->statements[i].rows = 1;
    return unit;
}

/* "insert into t values (key)": text, and a row of it. */
static px_unit *row_unit(int key)
{
    px_unit *unit = unit_of(PX_UNIT_ROWS, 1);
    unit->head = PGW_LITERAL("insert into t values ");
    unit->tail = PGW_LITERAL("");
    source_of(unit)->rows[0] = pgw_slice_str(pgw_arena_printf(&unit->arena, "(%d)", key));
    source_of(unit)->alone =
        pgw_slice_str(pgw_arena_printf(&unit->arena, "INSERT INTO t VALUES (%d)", key));
    return unit;
}

/* One execution of `text`, with parameters in text, parted by blanks; "-" is a NULL. */
static px_unit *bound_unit(const char *text, const uint32_t *types, size_t type_count,
                           const char *values)
{
    px_unit *unit = unit_of(PX_UNIT_PARAMS, 1);
    px_unit_prepared *prepared = pgw_arena_alloc(&unit->arena, sizeof *prepared);
    pgw_bind bind = {.statement = PGW_LITERAL("ks_1"), .results = PGW_LITERAL("\0\0")};
    pgw_slice list[8];
    size_t count = 0;
    pgw_buf out = {0};
    *prepared = (px_unit_prepared){.name = PGW_LITERAL("ks_1"),
                                   .text = pgw_slice_str(text),
                                   .types = types,
                                   .type_count = type_count};
    unit->prepared = prepared;
    unit->prepared_count = 1;
    for (char *rest = pgw_arena_printf(&unit->arena, "%s", values), *value;
         (value = strsep(&rest, " ")) != NULL && *value != '\0';)
        list[count++] = strcmp(value, "-") == 0 ? (pgw_slice){NULL, 0} : pgw_slice_str(value);
    pgw_certainly(pgw_write_bind_text(&bind, list, count, &out));
    pgw_write_execute(PGW_LITERAL(""), 0, &out);
    unit->statements[0].messages = pgw_arena_copy(&unit->arena, pgw_slice_buf(&out));
    pgw_buf_free(&out);
    return unit;
}

#endif
