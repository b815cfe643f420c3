#include "tests/ydb_endpoint/describe.h"

#include "protocol/base64.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

enum { PG_TYPE = 12288, UINT64_TYPE = 4 };

/* name, type, number in the table, place in the key (or NULL) */
static const char columns[] =
    "select a.attname, t.typname, a.attnum, array_position(i.indkey::int2[], a.attnum) "
    "from pg_attribute a join pg_type t on t.oid = a.atttypid "
    "left join pg_index i on i.indrelid = a.attrelid and i.indisprimary "
    "where a.attrelid = to_regclass('public.' || quote_ident($1)) and a.attnum > 0 "
    "and not a.attisdropped order by a.attnum";

typedef struct writer {
    const ye_options *options;
    const ye_describe *wanted;
    const ye_table *table;
    pgw_buf *out;
} writer;

static void add_string(pgw_buf *out, const char *text)
{
    pgw_buf_add_byte(out, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            pgw_buf_add_byte(out, '\\');
        pgw_buf_add_byte(out, *text);
    }
    pgw_buf_add_byte(out, '"');
}

/* "64-bit ints are JSON strings unless ui64=true". */
static void add_u64(const writer *write, uint64_t number)
{
    const char *quote = write->wanted->numbers ? "" : "\"";
    pgw_buf_addf(write->out, "%s%lu%s", quote, number, quote);
}

/* --- boundaries --- */

/* The value of the hash column that an ordinal is, in its first 8 bytes, or 2. */
static uint64_t value_of(const ye_table *table, uint64_t ordinal)
{
    return table->is_unsigned ? ordinal : ordinal ^ (uint64_t)1 << 63;
}

static size_t size_of_value(const writer *write)
{
    return write->table->buckets > 0 ? sizeof(int16_t) : sizeof(int64_t);
}

/* "Names of the inner value for pg types (Optional/Bytes/Text) uncertain". */
static void add_value(const writer *write, uint64_t value)
{
    const char *form = write->table->is_unsigned   ? "Uint64"
                       : write->table->buckets > 0 ? "Int16"
                                                   : "Int64";
    const char *quote = write->wanted->numbers || write->table->buckets > 0 ? "" : "\"";
    switch (write->table->is_unsigned ? 0 : write->options->boundary_values) {
    case 1:
        pgw_buf_addf(write->out, "{\"Text\": \"%ld\"}", (long)value);
        return;
    case 2:
        pgw_buf_add_str(write->out, "{\"Bytes\": \"");
        pgw_base64_encode((const uint8_t *)&value, size_of_value(write), write->out);
        pgw_buf_add_str(write->out, "\"}");
        return;
    default:
        pgw_buf_addf(write->out, "{\"%s\": %s", form, quote);
        if (write->table->is_unsigned)
            pgw_buf_addf(write->out, "%lu", value);
        else
            pgw_buf_addf(write->out, "%ld", (long)value);
        pgw_buf_addf(write->out, "%s}", quote);
    }
}

/* "N-1 items, exclusive ends; a boundary may be only a prefix of the key". */
static void add_boundaries(const writer *write)
{
    pgw_buf_add_str(write->out, ", \"SplitBoundary\": [");
    for (size_t i = 1; i < write->table->count; i++) {
        pgw_buf_add_str(write->out, i == 1 ? "" : ", ");
        pgw_buf_add_str(write->out, "{\"KeyPrefix\": {\"Tuple\": [{\"Optional\": ");
        add_value(write, value_of(write->table, write->table->partitions[i].begin));
        pgw_buf_add_str(write->out, "}]}}");
    }
    pgw_buf_add_byte(write->out, ']');
}

/* A TSerializedCellVec of one cell: its count in 2 bytes, its size in 4, and its bytes. */
static void add_cells(const writer *write, uint64_t value)
{
    enum { HEAD = 6 };
    const size_t size = size_of_value(write);
    uint8_t cells[HEAD + sizeof value] = {1, 0, (uint8_t)size, 0, 0, 0};
    memcpy(cells + HEAD, &value, size);
    pgw_base64_encode(cells, HEAD + size, write->out);
}

/* "the last partition has an empty end = +inf". */
static void add_partitions(const writer *write)
{
    const ye_table *table = write->table;
    pgw_buf_add_str(write->out, ", \"TablePartitions\": [");
    for (size_t i = 0; i < table->count; i++) {
        pgw_buf_addf(write->out, "%s{\"DatashardId\": ", i == 0 ? "" : ", ");
        add_u64(write, 72075186224037888 + table->partitions[i].id);
        pgw_buf_add_str(write->out, ", \"IsPoint\": false, \"IsInclusive\": false, "
                                    "\"EndOfRangeKeyPrefix\": \"");
        if (i + 1 < table->count)
            add_cells(write, value_of(table, table->partitions[i + 1].begin));
        pgw_buf_add_str(write->out, "\"}");
    }
    pgw_buf_add_byte(write->out, ']');
}

static void add_stats(const writer *write)
{
    pgw_buf_add_str(write->out, ", \"TablePartitionStats\": [");
    for (size_t i = 0; i < write->table->count; i++) {
        pgw_buf_addf(write->out, "%s{\"RowUpdates\": ", i == 0 ? "" : ", ");
        add_u64(write, write->table->partitions[i].rows);
        pgw_buf_add_byte(write->out, '}');
    }
    pgw_buf_add_byte(write->out, ']');
}

/* --- columns --- */

static void add_columns(const writer *write, const PGresult *rows)
{
    pgw_buf_add_str(write->out, "\"Columns\": [");
    for (int i = 0; i < PQntuples(rows); i++) {
        const bool number =
            write->table->is_unsigned && strcmp(PQgetvalue(rows, i, 0), write->table->column) == 0;
        pgw_buf_add_str(write->out, i == 0 ? "{\"Name\": " : ", {\"Name\": ");
        add_string(write->out, PQgetvalue(rows, i, 0));
        pgw_buf_addf(write->out, ", \"Type\": \"%s%s\", \"TypeId\": %d, \"Id\": %s}",
                     number ? "" : "pg", number ? "Uint64" : PQgetvalue(rows, i, 1),
                     number ? UINT64_TYPE : PG_TYPE, PQgetvalue(rows, i, 2));
    }
    pgw_buf_add_byte(write->out, ']');
}

/* The row of the column that is the key's i-th; -1: the key ends before. */
static int key_column(const PGresult *rows, int i)
{
    for (int j = 0; j < PQntuples(rows); j++)
        if (!PQgetisnull(rows, j, 3) && atoi(PQgetvalue(rows, j, 3)) == i)
            return j;
    return -1;
}

static void add_key(const writer *write, const PGresult *rows)
{
    int row;
    pgw_buf_add_str(write->out, ", \"KeyColumnNames\": [");
    for (int i = 0; (row = key_column(rows, i)) >= 0; i++) {
        pgw_buf_add_str(write->out, i == 0 ? "" : ", ");
        add_string(write->out, PQgetvalue(rows, row, 0));
    }
    pgw_buf_add_str(write->out, "], \"KeyColumnIds\": [");
    for (int i = 0; (row = key_column(rows, i)) >= 0; i++)
        pgw_buf_addf(write->out, "%s%s", i == 0 ? "" : ", ", PQgetvalue(rows, row, 2));
    pgw_buf_add_byte(write->out, ']');
}

static void add_description(const writer *write, const char *name, const PGresult *rows)
{
    pgw_buf_add_str(write->out, "{\"Status\": \"StatusSuccess\", \"Path\": ");
    add_string(write->out, write->wanted->path);
    pgw_buf_add_str(write->out, ", \"PathDescription\": {\"Self\": {\"Name\": ");
    add_string(write->out, name);
    pgw_buf_add_str(write->out, ", \"PathType\": \"EPathTypeTable\"}, \"Table\": {\"Name\": ");
    add_string(write->out, name);
    pgw_buf_add_str(write->out, ", ");
    add_columns(write, rows);
    add_key(write, rows);
    if (write->wanted->boundaries)
        add_boundaries(write);
    pgw_buf_add_byte(write->out, '}');
    add_partitions(write);
    if (write->wanted->stats)
        add_stats(write);
    pgw_buf_add_str(write->out, "}}\n");
}

static const char *table_of(const ye_endpoint *endpoint, const char *path)
{
    const size_t length = strlen(endpoint->options.database);
    bool inside = strncmp(path, endpoint->options.database, length) == 0 && path[length] == '/';
    return inside ? path + length + 1 : "";
}

void ye_describe_write(ye_endpoint *endpoint, const ye_describe *wanted, pgw_buf *out)
{
    static const char missing[] = "{\"Status\": \"StatusPathDoesNotExist\", \"Reason\": \"Path not "
                                  "found\"}\n";
    const char *name = table_of(endpoint, wanted->path);
    PGconn *conn = PQconnectdb(endpoint->options.store);
    PGresult *rows = PQexecParams(conn, columns, 1, NULL, &name, NULL, NULL, 0);
    ye_table *table = pgw_calloc(1, sizeof *table);
    const writer write = {&endpoint->options, wanted, table, out};
    if (PQntuples(rows) > 0 && ye_map_copy(&endpoint->map, name, table))
        add_description(&write, name, rows);
    else
        pgw_buf_add_str(out, missing);
    free(table);
    PQclear(rows);
    PQfinish(conn);
}
