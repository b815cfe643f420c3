#include "rewrite/hash/hash_column.h"

#include "protocol/value_text.h"
#include "rewrite/hash/hash.h"
#include "rewrite/hash/partition.h"
#include "rewrite/lex/quote.h"

#include <stdio.h>

static void add_name(const rw_table *table, pgw_buf *out)
{
    rw_add_identifier(out, table->columns[table->hash_column].name);
}

const char *rw_hash_column_type(const rw_table *table)
{
    if (table->buckets == 0)
        return table->hash_type == RW_HASH_INT8 ? "bigint" : "numeric(20,0)";
    bool wide = table->hash_column < table->column_count &&
                table->columns[table->hash_column].type == PGW_INT4;
    return wide ? "integer" : "smallint";
}

void rw_hash_column_define(const rw_table *table, pgw_buf *out)
{
    add_name(table, out);
    pgw_buf_addf(out, " %s NOT NULL", rw_hash_column_type(table));
}

bool rw_hash_column_check(const rw_table *table, pgw_buf *out)
{
    pgw_arena arena = {0};
    const char *expression = rw_hash_expression(table, false, &arena);
    if (expression != NULL) {
        pgw_buf_add_str(out, "CHECK (");
        add_name(table, out);
        pgw_buf_addf(out, " = %s)", expression);
    }
    pgw_arena_free(&arena);
    return expression != NULL;
}

void rw_hash_column_key(const rw_table *table, pgw_slice columns, pgw_buf *out)
{
    if (!table->hash_first) {
        pgw_buf_add_slice(out, columns);
        pgw_buf_add_str(out, ", ");
    }
    add_name(table, out);
    if (table->hash_first) {
        pgw_buf_add_str(out, ", ");
        pgw_buf_add_slice(out, columns);
    }
}

bool rw_table_is_partitioned(const rw_table *table)
{
    return table->partitions.kind != RW_PARTITION_BUCKETS && table->partitions.count > 1;
}

void rw_hash_column_partition_by(const rw_table *table, pgw_buf *out)
{
    pgw_buf_add_str(out, " PARTITION BY RANGE (");
    add_name(table, out);
    pgw_buf_add_byte(out, ')');
}

void rw_hash_column_partition_plain(const rw_table *table, uint32_t number, char *name)
{
    char digits[16];
    int len = snprintf(digits, sizeof digits, "_p%u", number);
    pgw_slice cut = pgw_utf8_cut(pgw_slice_str(table->name), PGW_NAME_MAX - (size_t)len);
    snprintf(name, PGW_NAME_MAX + 1, "%.*s%s", (int)cut.len, cut.ptr, digits);
}

static void add_partition_name(const rw_table *table, uint32_t number, pgw_buf *out)
{
    char name[PGW_NAME_MAX + 1];
    rw_hash_column_partition_plain(table, number, name);
    rw_add_identifier(out, name);
}

static void add_schema(const rw_table *table, pgw_buf *out)
{
    rw_add_identifier(out, table->schema);
    pgw_buf_add_byte(out, '.');
}

static void add_bound(const rw_table *table, uint32_t number, const char *open, pgw_buf *out)
{
    if (number == 0 || number == table->partitions.count)
        pgw_buf_add_str(out, open);
    else
        rw_hash_print(table, rw_partition_start(table, number), out);
}

void rw_hash_column_partition_name(const rw_table *table, uint32_t number, pgw_buf *out)
{
    add_schema(table, out);
    add_partition_name(table, number, out);
}

void rw_hash_column_partition_of(const rw_table *table, uint32_t number, pgw_buf *out)
{
    pgw_buf_add_str(out, " PARTITION OF ");
    add_schema(table, out);
    rw_add_identifier(out, table->name);
    pgw_buf_add_str(out, " FOR VALUES FROM (");
    add_bound(table, number, "MINVALUE", out);
    pgw_buf_add_str(out, ") TO (");
    add_bound(table, number + 1, "MAXVALUE", out);
    pgw_buf_add_byte(out, ')');
}

void rw_hash_column_partition(const rw_table *table, uint32_t number, pgw_buf *out)
{
    pgw_buf_add_str(out, "CREATE TABLE ");
    rw_hash_column_partition_name(table, number, out);
    rw_hash_column_partition_of(table, number, out);
}
