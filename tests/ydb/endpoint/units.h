/*
 * write groups: rows as clients sent them, for what makes YDB's texts of them.
 */
#ifndef TEST_YDB_WRITE_GROUPS_H
#define TEST_YDB_WRITE_GROUPS_H

#include "protocol/frontend.h"
#include "proxy/backend/base/write_group.h"
#include "proxy/base/shared.h"
#include "rewrite/hash/table.h"
#include "tests/proxy/unit_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static px_identity write_group_identity = {
    .key = "u/d", .env = {.utf8 = true, .zone_known = true, .conforming = true}, .references = 1};

static rw_column write_group_columns[] = {
    {.name = "k", .type = 20, .type_name = "int8", .typmod = -1},
    {.name = "v", .type = 25, .type_name = "text", .typmod = -1},
    {.name = "h", .type = 20, .type_name = "int8", .typmod = -1},
};
static size_t write_group_key[] = {0};
static const rw_table write_group_table = {.schema = "public",
                                           .name = "t",
                                           .columns = write_group_columns,
                                           .column_count = 3,
                                           .primary_key = write_group_key,
                                           .primary_key_count = 1,
                                           .hash_key = write_group_key,
                                           .hash_key_count = 1,
                                           .hash_column = 2};
static const rw_table *const write_group_tables[] = {&write_group_table};
static const rw_catalog write_group_catalog
    __attribute__((unused)) = {.tables = write_group_tables, .count = 1};

static px_write_group *write_group_of(px_write_group_kind kind, size_t statements)
{
    px_write_group *write_group = px_write_group_new(NULL);
    write_group->kind = kind;
    write_group->identity = px_identity_take(&write_group_identity);
    write_group->statement_count = statements;
    write_group->statements =
        pgw_arena_alloc(&write_group->arena, statements * sizeof *write_group->statements);
    memset(write_group->statements, 0, statements * sizeof *write_group->statements);
    write_group->row_count = statements;
    for (size_t i = 0; i < statements; i++)
        write_group->statements[i].rows = 1;
    return write_group;
}

/* "insert into t values (key)": text, and a row of it. */
static px_write_group *row_write_group(int key)
{
    px_write_group *write_group = write_group_of(PX_WRITE_GROUP_ROWS, 1);
    write_group->head = PGW_LITERAL("insert into t values ");
    write_group->tail = PGW_LITERAL("");
    source_of(write_group)->rows[0] =
        pgw_slice_str(pgw_arena_printf(&write_group->arena, "(%d)", key));
    source_of(write_group)->alone =
        pgw_slice_str(pgw_arena_printf(&write_group->arena, "INSERT INTO t VALUES (%d)", key));
    return write_group;
}

/* One execution of `text`, with parameters in text, parted by blanks; "-" is a NULL. */
static px_write_group *bound_write_group(const char *text, const uint32_t *types, size_t type_count,
                                         const char *values)
{
    px_write_group *write_group = write_group_of(PX_WRITE_GROUP_PARAMS, 1);
    px_write_group_prepared *prepared = pgw_arena_alloc(&write_group->arena, sizeof *prepared);
    pgw_bind bind = {.statement = PGW_LITERAL("ks_1"), .results = PGW_LITERAL("\0\0")};
    pgw_slice list[8];
    size_t count = 0;
    pgw_buf out = {0};
    *prepared = (px_write_group_prepared){.name = PGW_LITERAL("ks_1"),
                                          .text = pgw_slice_str(text),
                                          .types = types,
                                          .type_count = type_count};
    write_group->prepared = prepared;
    write_group->prepared_count = 1;
    for (char *rest = pgw_arena_printf(&write_group->arena, "%s", values), *value;
         (value = strsep(&rest, " ")) != NULL && *value != '\0';)
        list[count++] = strcmp(value, "-") == 0 ? (pgw_slice){NULL, 0} : pgw_slice_str(value);
    pgw_certainly(pgw_write_bind_text(&bind, list, count, &out));
    pgw_write_execute(PGW_LITERAL(""), 0, &out);
    write_group->statements[0].messages = pgw_arena_copy(&write_group->arena, pgw_slice_buf(&out));
    pgw_buf_free(&out);
    return write_group;
}

#endif
