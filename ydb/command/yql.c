#include "ydb/command/yql.h"

#include <string.h>

#include "rewrite/hash/hash.h"
#include "rewrite/hash/hash_column.h"
#include "rewrite/hash/partition.h"

enum { MOST_BY_DEFAULT = 50 }; /* AUTO_PARTITIONING_MAX_PARTITIONS_COUNT, as documented */

typedef struct writer {
    const px_yql *yql;
    const rw_table *table;
    FILE *out;
    unsigned settings; /* number of settings of WITH that are written already */
} writer;

void px_yql_name_print(const char *name, FILE *out)
{
    fputc('`', out);
    for (; *name != '\0'; name++) {
        bool ends =
            *name == '\n' || *name == '\r'; /* it would end a comment that the line stands in */
        if (*name == '`' || *name == '\\' || ends)
            fputc('\\', out);
        fputc(!ends ? *name : *name == '\n' ? 'n' : 'r', out);
    }
    fputc('`', out);
}

static void print_name(writer *write, const char *name)
{
    px_yql_name_print(name, write->out);
}

/* -- columns -- */

/* The types of a table whose hash column is int8 are PostgreSQL's throughout, as the PostgreSQL
 * endpoint makes them; with uint64 they are YDB's own. YDB takes no varchar in keys, and stores no
 * lengths of types. */
const char *px_yql_type(const rw_table *table, const rw_column *column)
{
    static const struct {
        uint32_t type;
        const char *pg, *own;
    } types[] = {{PGW_BOOL, "pgbool", "Bool"},
                 {PGW_INT2, "pgint2", "Int16"},
                 {PGW_INT4, "pgint4", "Int32"},
                 {PGW_INT8, "pgint8", "Int64"},
                 {PGW_FLOAT4, "pgfloat4", "Float"},
                 {PGW_FLOAT8, "pgfloat8", "Double"},
                 {PGW_NUMERIC, "pgnumeric", "Decimal(22,9)"},
                 {PGW_TEXT, "pgtext", "Utf8"},
                 {PGW_VARCHAR, "pgtext", "Utf8"},
                 {PGW_BPCHAR, "pgbpchar", "Utf8"},
                 {PGW_NAME, "pgname", "Utf8"},
                 {PGW_BYTEA, "pgbytea", "String"},
                 {PGW_UUID, "pguuid", "Uuid"},
                 {PGW_DATE, "pgdate", "Date32"},
                 {PGW_TIMESTAMP, "pgtimestamp", "Timestamp64"},
                 {PGW_TIMESTAMPTZ, "pgtimestamptz", "Timestamp64"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == column->type)
            return table->hash_type == RW_HASH_INT8 ? types[i].pg : types[i].own;
    return NULL;
}

void px_yql_default_print(const char *text, FILE *out)
{
    if (text == NULL)
        return;
    fputs(" -- set yourself: DEFAULT ", out);
    for (; *text != '\0'; text++) /* the comment ends with its line */
        fputc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
}

static bool in_key(const rw_table *table, size_t column)
{
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (table->primary_key[i] == column)
            return true;
    return false;
}

static void print_column(writer *write, size_t i)
{
    const rw_table *table = write->table;
    const rw_column *column = &table->columns[i];
    const char *type = px_yql_type(table, column);
    fprintf(write->out, "%s    ", write->yql->margin);
    print_name(write, column->name);
    fprintf(write->out, " %s%s,",
            type                               ? type
            : table->hash_type == RW_HASH_INT8 ? "pgtext"
                                               : "Utf8",
            column->not_null || in_key(table, i) ? " NOT NULL" : "");
    if (type == NULL)
        fprintf(write->out, " -- %s: choose a type", column->type_name);
    if (column->has_default) /* the text of a default that the backend tells has the backend's
                                numbers in it */
        px_yql_default_print(
            table->defaults_unknown ? column->default_text : "as the backend has it", write->out);
    fputc('\n', write->out);
}

static const char *type_of_hash(const rw_table *table)
{
    if (table->buckets > 0)
        return strcmp(rw_hash_column_type(table), "integer") == 0 ? "pgint4" : "pgint2";
    return table->hash_type == RW_HASH_INT8 ? "pgint8" : "Uint64";
}

static void print_hash_column(writer *write)
{
    fprintf(write->out, "%s    ", write->yql->margin);
    print_name(write, write->table->columns[write->table->hash_column].name);
    fprintf(write->out, " %s NOT NULL,\n", type_of_hash(write->table));
}

static void print_index(writer *write, const cfg_index *index)
{
    fprintf(write->out, "%s    INDEX ", write->yql->margin);
    print_name(write, index->name);
    fprintf(write->out, " GLOBAL %s ON (", index->sync ? "SYNC" : "ASYNC");
    for (size_t i = 0; i < index->column_count; i++) {
        fputs(i > 0 ? ", " : "", write->out);
        print_name(write, index->columns[i]);
    }
    fputs("),\n", write->out);
}

static void print_key(writer *write)
{
    const rw_table *table = write->table;
    fprintf(write->out, "%s    PRIMARY KEY (", write->yql->margin);
    print_name(write, table->columns[table->hash_column].name);
    for (size_t i = 0; i < table->primary_key_count; i++) {
        fputs(", ", write->out);
        print_name(write, table->columns[table->primary_key[i]].name);
    }
    fputs(")\n", write->out);
}

/* -- WITH -- */

static void begin_setting(writer *write, const char *name)
{
    fprintf(write->out, "%s%s    %s = ", write->settings++ > 0 ? ",\n" : "", write->yql->margin,
            name);
}

static void print_count(writer *write, const char *name, uint32_t count)
{
    begin_setting(write, name);
    fprintf(write->out, "%u", count);
}

static void print_boundaries(writer *write)
{
    pgw_buf text = {0};
    for (uint32_t i = 1; i < write->table->partitions.count; i++) {
        pgw_buf_add_str(&text, i > 1 ? ", " : "(");
        rw_hash_print(write->table, rw_partition_start(write->table, i), &text);
    }
    fprintf(write->out, "%.*s)", (int)text.len, text.ptr);
    pgw_buf_free(&text);
}

/* Prints how the table is cut at first. UNIFORM_PARTITIONS takes Uint64 only, and it is not known
 * whether a key that begins with pgint8 or pgint2 takes boundaries; without them YDB cuts the table
 * as rows come. */
static void print_cut(writer *write)
{
    const rw_partitions *partitions = &write->table->partitions;
    bool own = write->table->hash_type == RW_HASH_UINT64;
    if (partitions->kind == RW_PARTITION_BUCKETS)
        return;
    if (own && partitions->kind == RW_PARTITION_UNIFORM) {
        print_count(write, "UNIFORM_PARTITIONS", partitions->count);
    } else if (partitions->count > 1 &&
               (own || write->yql->capabilities->can[CFG_CAN_PGINT8_BOUNDARIES])) {
        begin_setting(write, "PARTITION_AT_KEYS");
        print_boundaries(write);
    }
}

static void print_splits(writer *write)
{
    const cfg_ydb *settings = write->yql->settings;
    const rw_partitions *partitions = &write->table->partitions;
    uint32_t least = settings->min_partitions, most = settings->max_partitions;
    if (least == 0)
        least = partitions->kind == RW_PARTITION_BUCKETS ? 1 : partitions->count;
    if (most == 0 && least > MOST_BY_DEFAULT)
        most = least * 2; /* room for splits by load */
    if (!settings->by_size) {
        begin_setting(write, "AUTO_PARTITIONING_BY_SIZE");
        fputs("DISABLED", write->out);
    }
    begin_setting(write, "AUTO_PARTITIONING_BY_LOAD");
    fputs(settings->by_load ? "ENABLED" : "DISABLED", write->out);
    if (settings->partition_size_mb > 0)
        print_count(write, "AUTO_PARTITIONING_PARTITION_SIZE_MB", settings->partition_size_mb);
    print_count(write, "AUTO_PARTITIONING_MIN_PARTITIONS_COUNT", least);
    if (most > 0)
        print_count(write, "AUTO_PARTITIONING_MAX_PARTITIONS_COUNT", most);
}

void px_yql_ttl_print(const cfg_ydb *settings, const char *before, FILE *out)
{
    static const char *const units[] = {"", " AS SECONDS", " AS MILLISECONDS", " AS MICROSECONDS",
                                        " AS NANOSECONDS"};
    if (settings->ttl_column == NULL)
        return;
    fprintf(out, "%sTTL = Interval(\"%s\") ON ", before, settings->ttl_after);
    px_yql_name_print(settings->ttl_column, out);
    fputs(units[settings->ttl_unit], out);
}

static void print_ttl(writer *write)
{
    pgw_buf before = {0};
    pgw_buf_addf(&before, "%s%s    ", write->settings > 0 ? ",\n" : "", write->yql->margin);
    pgw_buf_add_byte(&before, '\0');
    px_yql_ttl_print(write->yql->settings, before.ptr, write->out);
    write->settings += write->yql->settings->ttl_column != NULL;
    pgw_buf_free(&before);
}

/* Prints the boundaries that would cut the table as a comment, while YDB is not known to take them.
 */
static void print_unconfirmed(writer *write)
{
    const rw_partitions *partitions = &write->table->partitions;
    if (write->table->hash_type != RW_HASH_INT8 || partitions->kind == RW_PARTITION_BUCKETS ||
        partitions->count < 2 || write->yql->capabilities->can[CFG_CAN_PGINT8_BOUNDARIES])
        return;
    fprintf(write->out,
            "-- The table starts as one partition. Nobody has confirmed that a %s key takes "
            "boundaries; if yours\n-- does, say so (backend.capabilities: { pgint8_boundaries: yes "
            "}), and the table starts cut, by\n-- PARTITION_AT_KEYS = ",
            type_of_hash(write->table));
    print_boundaries(write);
    fputc('\n', write->out);
}

void px_yql_print(const px_yql *yql, FILE *out)
{
    writer write = {yql, yql->table, out, 0};
    print_unconfirmed(&write);
    fprintf(out, "%sCREATE TABLE ", yql->margin);
    print_name(&write, yql->table->name);
    fputs(" (\n", out);
    for (size_t i = 0; i < yql->table->column_count; i++)
        if (i != yql->table->hash_column)
            print_column(&write, i);
    print_hash_column(&write);
    for (size_t i = 0; i < yql->settings->index_count; i++)
        print_index(&write, &yql->settings->indexes[i]);
    print_key(&write);
    fprintf(out, "%s) WITH (\n", yql->margin);
    print_splits(&write);
    print_cut(&write);
    print_ttl(&write);
    fprintf(out, "\n%s);\n", yql->margin);
}
