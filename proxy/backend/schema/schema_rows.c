#include "proxy/backend/schema/schema_rows.h"

#include <stdlib.h>
#include <string.h>

px_schema_rows *px_schema_rows_new(void)
{
    return pgw_calloc(1, sizeof(px_schema_rows));
}

void px_schema_rows_free(px_schema_rows *rows)
{
    if (rows == NULL)
        return;
    pgw_arena_free(&rows->arena);
    free(rows->rows);
    free(rows);
}

void px_schema_rows_add(px_schema_rows *rows, const pgw_slice *cells, const bool *nulls, size_t n)
{
    if (n != PX_SCHEMA_CELLS)
        return;
    if (rows->count == rows->cap) {
        rows->cap = rows->cap ? rows->cap * 2 : 16;
        rows->rows = pgw_realloc(rows->rows, rows->cap * sizeof *rows->rows);
    }
    for (size_t i = 0; i < n; i++) {
        pgw_slice cell = nulls[i] ? (pgw_slice){NULL, 0} : cells[i];
        rows->rows[rows->count][i] = (char *)pgw_arena_copy(&rows->arena, cell).ptr;
    }
    rows->count++;
}

bool px_schema_row_is_of(char *const *row, const char *schema, const char *table)
{
    return strcmp(row[PX_SCHEMA_SCHEMA], schema) == 0 && strcmp(row[PX_SCHEMA_TABLE], table) == 0;
}

bool px_schema_rows_next(const px_schema_rows *rows, px_schema_part *part)
{
    if (rows == NULL || part->to == rows->count)
        return false;
    char *const *first = rows->rows[part->to];
    *part = (px_schema_part){first[PX_SCHEMA_SCHEMA], first[PX_SCHEMA_TABLE], part->to, part->to};
    while (part->to < rows->count &&
           px_schema_row_is_of(rows->rows[part->to], part->schema, part->table))
        part->to++;
    return true;
}

const char *px_schema_rows_cell(const px_schema_rows *rows, size_t row, px_schema_cell cell)
{
    return rows->rows[row][cell];
}

px_schema_rows px_schema_rows_of(const px_schema_rows *rows, px_schema_part part)
{
    return (px_schema_rows){.rows = rows->rows + part.from, .count = part.to - part.from};
}
