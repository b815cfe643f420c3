#include "proxy/backend/schema/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/backend/schema/schema_index.h"
#include "proxy/backend/schema/schema_type.h"
#include "rewrite/hash/hash.h"
#include "rewrite/hash/hash_column.h"
#include "rewrite/statement/script/written_type.h"
#include "rewrite/statement/words/statement.h"

static bool is_true(const char *cell)
{
    return cell[0] == 't';
}

static char *copy(const char *text)
{
    return pgw_strndup(text, strlen(text));
}

/* Sets why the table cannot be worked with. The first reason stays, for later ones often follow
 * from it. */
static void refuse(rw_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void refuse(rw_table *table, const char *format, ...)
{
    char text[512];
    if (table->unusable != NULL)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    table->unusable = copy(text);
}

static rw_column *add_column(rw_table *table)
{
    size_t size = (table->column_count + 1) * sizeof *table->columns;
    table->columns = pgw_realloc(table->columns, size);
    rw_column *column = &table->columns[table->column_count++];
    *column = (rw_column){.typmod = -1};
    return column;
}

/* -- columns -- */

/* The oid of the sequence whose next number the default is, in the form that px_schema_query()
 * gives it; 0: another default. */
static uint32_t draws_from(const rw_column *column)
{
    static const char before[] = "pg_catalog.nextval('", behind[] = "'::pg_catalog.regclass)";
    const char *text = column->default_text;
    bool integer = column->type == PGW_INT2 || column->type == PGW_INT4 || column->type == PGW_INT8;
    if (!integer || text == NULL || strncmp(text, before, sizeof before - 1) != 0)
        return 0;
    char *end;
    unsigned long oid = strtoul(text + sizeof before - 1, &end, 10);
    return strcmp(end, behind) == 0 ? (uint32_t)oid : 0;
}

static rw_own_casts own_casts_for(const char *equality)
{
    const char *more = strchr(equality, ' ');
    return more == NULL     ? RW_NO_OWN_CASTS
           : more[1] == 'i' ? RW_OWN_CASTS_INTO
                            : RW_OWN_CASTS_ELSEWHERE;
}

/* Adds a column. A domain's type is the domain's oid, which is no key type, for domains have checks
 * and perhaps an equality of their own. */
static void column_from_row(rw_table *table, char *const *row)
{
    rw_column *column = add_column(table);
    *column = (rw_column){
        .name = copy(row[PX_SCHEMA_COLUMN]),
        .attnum = (int16_t)strtol(row[PX_SCHEMA_NUMBER], NULL, 10),
        .type = (uint32_t)strtoul(row[PX_SCHEMA_TYPE], NULL, 10),
        .typmod = (int32_t)strtol(row[PX_SCHEMA_TYPMOD], NULL, 10),
        .type_name = copy(row[PX_SCHEMA_TYPE_NAME]),
        .not_null = is_true(row[PX_SCHEMA_NOT_NULL]),
        .has_default = is_true(row[PX_SCHEMA_DEFAULT]),
        .sequence = is_true(row[PX_SCHEMA_SEQUENCE]),
        .generated = is_true(row[PX_SCHEMA_GENERATED]),
        .nondeterministic = row[PX_SCHEMA_EQUALITY][0] == 'f',
        .own_equals = row[PX_SCHEMA_EQUALITY][0] == 'o',
        .own_casts = own_casts_for(row[PX_SCHEMA_EQUALITY]),
        .own_names = strchr(row[PX_SCHEMA_EQUALITY], '+') != NULL,
        .own_rows = strchr(row[PX_SCHEMA_EQUALITY], '~') != NULL,
        .own_signs = strchr(row[PX_SCHEMA_EQUALITY], '-') != NULL,
        .granted = row[PX_SCHEMA_EQUALITY][0] == 'g',
        .cascaded = row[PX_SCHEMA_EQUALITY][0] == 'c',
        .computed = is_true(row[PX_SCHEMA_COMPUTED]),
        .always = row[PX_SCHEMA_IDENTITY][0] == 'a',
        .identity = row[PX_SCHEMA_IDENTITY][0] == 'a' || row[PX_SCHEMA_IDENTITY][0] == 'd',
        .default_text =
            row[PX_SCHEMA_EXPRESSION][0] != '\0' ? copy(row[PX_SCHEMA_EXPRESSION]) : NULL,
        .default_hash = strtoll(row[PX_SCHEMA_EXPRESSED], NULL, 10),
        .key_place = (int16_t)strtol(row[PX_SCHEMA_KEY], NULL, 10),
        .leads = strchr(row[PX_SCHEMA_IDENTITY], '+') != NULL,
    };
    column->draws_from = draws_from(column);
}

static unsigned quiet_for(char cell)
{
    return cell == 't' ? RW_EFFECT_RUNS | RW_EFFECT_READS : cell == 'r' ? RW_EFFECT_READS : 0;
}

static void relation_from_row(rw_table *table, char *const *row)
{
    char kind = row[PX_SCHEMA_RELKIND][0];
    table->oid = (uint32_t)strtoul(row[PX_SCHEMA_OID], NULL, 10);
    char *filled_by;
    table->triggers = (uint32_t)strtoul(row[PX_SCHEMA_TRIGGER_COUNT], &filled_by, 10);
    table->filled_by = (uint32_t)strtoul(filled_by, NULL, 10);
    table->quiet = quiet_for(row[PX_SCHEMA_QUIET][0]);
    table->expressions_run = strchr(row[PX_SCHEMA_QUIET], '+') != NULL;
    table->casts_run = table->expressions_run || strchr(row[PX_SCHEMA_QUIET], '~') != NULL;
    const char *types = strchr(row[PX_SCHEMA_QUIET], ' ');
    table->own_types = types != NULL ? strtoll(types + 1, NULL, 10) : 0;
    table->overloads = row[PX_SCHEMA_QUIET][0] == 'f';
    table->own_calls = strchr(row[PX_SCHEMA_QUIET], '=') != NULL;
    table->reads_settings = is_true(row[PX_SCHEMA_READS]);
    table->mergeable = (kind == 'r' || kind == 'p') && !is_true(row[PX_SCHEMA_TRIGGERS]) &&
                       !is_true(row[PX_SCHEMA_RULES]) && !is_true(row[PX_SCHEMA_ROW_SECURITY]);
    table->changes_rows = (kind != 'r' && kind != 'p') || is_true(row[PX_SCHEMA_CHANGES]);
    table->moves_keys = row[PX_SCHEMA_CHANGES][0] == 'u';
    table->heeds_updates = is_true(row[PX_SCHEMA_UPDATES]);
    table->defers_updates = row[PX_SCHEMA_UPDATES][0] == 'd';
    table->in_parts = kind == 'p';
    table->migrated = row[PX_SCHEMA_RELKIND][0] != '\0' && row[PX_SCHEMA_RELKIND][1] == '+';
    table->part_names = row[PX_SCHEMA_PARTS][0] != '\0' ? copy(row[PX_SCHEMA_PARTS]) : NULL;
    table->last = (int16_t)strtol(row[PX_SCHEMA_SYSTEM], NULL, 10);
    const char *system = strchr(row[PX_SCHEMA_SYSTEM], ' ');
    table->system_columns = system != NULL ? copy(system + 1) : NULL;
    if (kind == 'v' || kind == 'm')
        refuse(table, "%s.%s is a view: configure the table behind it", table->schema, table->name);
}

/* The name of the primary key that the column is in; NULL: the column is in none. */
static char *key_name(char *const *row)
{
    const char *blank = strchr(row[PX_SCHEMA_KEY], ' ');
    return blank != NULL ? copy(blank + 1) : NULL;
}

static void columns_from_rows(rw_table *table, const px_schema_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        char *const *row = rows->rows[i];
        if (!px_schema_row_is_of(row, table->schema, table->name))
            continue;
        if (table->column_count == 0)
            relation_from_row(table, row);
        column_from_row(table, row);
        if (table->key_name == NULL)
            table->key_name = key_name(row);
    }
}

static void default_from_file(rw_table *table, rw_column *column, const cfg_column *written)
{
    if (written->by_default == NULL)
        return;
    if (!rw_is_expression(written->by_default))
        refuse(table, "default \"%s\" of column %s is no expression: write it as in CREATE TABLE",
               written->by_default, written->name);
    column->has_default = true;
    column->default_text = copy(written->by_default);
    column->sequence = rw_text_mentions(pgw_slice_str(written->by_default), "nextval");
}

/* YDB's Uint64 has no like in PostgreSQL; the number travels as a numeric constant. */
static void column_from_file(rw_table *table, const cfg_column *written)
{
    rw_column *column = add_column(table);
    bool uint64 = pgw_slice_ieq_str(pgw_slice_str(written->type), "uint64");
    if (!px_schema_type(uint64 ? "numeric(20,0)" : written->type, column))
        refuse(table,
               "type \"%s\" of column %s is not understood: write it as in CREATE TABLE, such as "
               "bigint, varchar(30) or numeric(6,2)",
               written->type, written->name);
    if (column->type == PGW_UNSPECIFIED) /* parameters may have types that no key has */
        column->type = rw_written_type(written->type);
    column->name = copy(written->name);
    column->not_null = written->not_null;
    default_from_file(table, column, written);
}

/* Refuses the table if a column in the file is another one in the backend, for hashes would be
 * wrong. */
static void compare_with_file(rw_table *table, const cfg_table *config)
{
    for (size_t i = 0; i < config->column_count; i++) {
        const cfg_column *written = &config->columns[i];
        size_t at = rw_table_column(table, pgw_slice_str(written->name));
        rw_column typed = {0};
        px_schema_type(written->type, &typed);
        if (at == table->column_count)
            refuse(table,
                   "column %s of the configuration does not exist in the backend: correct "
                   "`columns`, or remove it so that the backend is asked",
                   written->name);
        else if (typed.type != PGW_UNSPECIFIED && (typed.type != table->columns[at].type ||
                                                   typed.typmod != table->columns[at].typmod))
            refuse(table,
                   "column %s is %s in the backend and %s in the configuration: correct "
                   "`columns`, or remove it so that the backend is asked",
                   written->name, table->columns[at].type_name, written->type);
        free(typed.type_name);
    }
}

/* -- key and hash -- */

/* The index of a key column; a missing column is appended, so that the index holds. */
static size_t key_column(rw_table *table, const char *name)
{
    size_t at = rw_table_column(table, pgw_slice_str(name));
    if (at == table->column_count) {
        refuse(table,
               "key column %s does not exist: correct primary_key and hash_key in the "
               "configuration",
               name);
        rw_column *column = add_column(table);
        column->name = copy(name);
        column->type_name = copy("unknown");
    }
    return at;
}

static void check_key_column(rw_table *table, const rw_column *column)
{
    if (column->nondeterministic)
        refuse(table,
               "key column %s has a nondeterministic collation: values that are equal could have "
               "two hashes; use a deterministic collation",
               column->name);
    else if (!pgw_type_is_key(column->type))
        refuse(
            table,
            "key column %s is of type %s, which cannot be hashed: smallint, integer, bigint, text, "
            "varchar, char, bytea, uuid, boolean, date, timestamp, timestamptz, numeric and double "
            "precision can",
            column->name, column->type_name);
}

static size_t *key_columns(rw_table *table, char *const *names, size_t count)
{
    size_t *key = pgw_calloc(count, sizeof *key);
    for (size_t i = 0; i < count; i++) {
        key[i] = key_column(table, names[i]);
        check_key_column(table, &table->columns[key[i]]);
    }
    return key;
}

static void add_hash_column(rw_table *table, const char *name)
{
    const char *type = rw_hash_column_type(table);
    rw_column *column = add_column(table);
    px_schema_type(type, column);
    column->name = copy(name);
    column->not_null = true;
}

static bool holds_hash(const rw_table *table, const rw_column *column)
{
    if (table->buckets > 0)
        return column->type == PGW_INT2 || column->type == PGW_INT4;
    if (table->hash_type == RW_HASH_INT8)
        return column->type == PGW_INT8;
    int32_t typmod = column->typmod < 0 ? 0 : column->typmod - 4;
    return column->type == PGW_NUMERIC &&
           (column->typmod < 0 || ((typmod & 0x7ff) == 0 && typmod >> 16 >= 20));
}

static void set_hash_column(rw_table *table, const char *name, bool asked)
{
    table->hash_column = rw_table_column(table, pgw_slice_str(name));
    if (table->hash_column == table->column_count) {
        add_hash_column(table, name);
        if (asked)
            refuse(table, "hash column %s does not exist: `keyspread ddl` prints the table with it",
                   name);
        return;
    }
    const rw_column *column = &table->columns[table->hash_column];
    if (!holds_hash(table, column) && table->buckets > 0)
        refuse(table, "hash column %s is %s: with hash_buckets it must be smallint or integer",
               name, column->type_name);
    else if (!holds_hash(table, column))
        refuse(table, "hash column %s is %s: for hash_type %s it must be %s", name,
               column->type_name, table->hash_type == RW_HASH_INT8 ? "int8" : "uint64",
               table->hash_type == RW_HASH_INT8 ? "bigint" : "numeric(20,0) or numeric");
    else if (column->generated || column->sequence)
        refuse(table, "hash column %s is filled by the backend: it must be an ordinary column",
               name);
}

static void check_function(rw_table *table)
{
    uint32_t types[64];
    pgw_error error = PGW_ERROR_NONE;
    if (table->unusable != NULL || table->hash_key_count > 64)
        return;
    for (size_t i = 0; i < table->hash_key_count; i++)
        types[i] = table->columns[table->hash_key[i]].type;
    if (!rw_hash_supports(table->hash_function, types, table->hash_key_count, &error))
        refuse(table, "%s", error.message);
}

/* -- the table -- */

static void set_rules(rw_table *table, const cfg_table *config)
{
    static const rw_hash_function functions[] = {[CFG_XXH3] = RW_XXH3,
                                                 [CFG_NUMERIC_HASH] = RW_NUMERIC_HASH,
                                                 [CFG_CITYHASH64] = RW_CITYHASH64,
                                                 [CFG_PG_HASH] = RW_PG_HASH};
    table->hash_function = functions[config->hash_function];
    table->hash_type = config->hash_type == CFG_HASH_INT8 ? RW_HASH_INT8 : RW_HASH_UINT64;
    table->buckets = config->hash_buckets;
    table->hash_first = config->key_order == CFG_HASH_FIRST;
    table->sorted = config->sorted;
    table->forward_uncomputable = config->uncomputable == CFG_UNCOMPUTABLE_FORWARD;
    table->allow_null_key = config->null_key == CFG_NULL_KEY_ALLOW;
    table->shows_hash = config->hide == CFG_HIDE_NO;
    table->strict = config->hide == CFG_HIDE_STRICT;
    table->listed = !config->hide_in_catalog;
    table->looked_up = config->lookups;
    static const rw_copy_conflict conflicts[] = {
        [CFG_COPY_CONFLICT_ERROR] = RW_COPY_CONFLICT_ERROR,
        [CFG_COPY_CONFLICT_NOTHING] = RW_COPY_CONFLICT_NOTHING,
        [CFG_COPY_CONFLICT_UPDATE] = RW_COPY_CONFLICT_UPDATE};
    table->copied_apart = config->copy == CFG_COPY_PARTITION;
    table->copy_conflict = conflicts[config->copy_on_conflict];
    table->lazy = config->transactions == CFG_TRANSACTIONS_LAZY;
    table->ignore_sequences = config->sequences == CFG_SEQUENCES_IGNORE;
    table->repeats_upserts = config->repeat_upserts;
    table->block = config->block;
}

static void set_partitions(rw_partitions *partitions, const cfg_partitions *config)
{
    if (config->at_count > 0) {
        size_t size = config->at_count * sizeof *partitions->at;
        *partitions = (rw_partitions){.kind = RW_PARTITION_AT,
                                      .count = (uint32_t)config->at_count + 1,
                                      .at = memcpy(pgw_alloc(size), config->at, size)};
    } else if (config->buckets > 0) {
        *partitions = (rw_partitions){
            .kind = RW_PARTITION_BUCKETS, .count = config->buckets, .discovered = config->discover};
    } else {
        *partitions = (rw_partitions){.kind = RW_PARTITION_UNIFORM,
                                      .count = config->uniform > 0 ? config->uniform : 1};
    }
}

static rw_table *not_found(rw_table *table, const cfg_table *config, bool asked, pgw_error *error)
{
    if (asked) {
        pgw_fail(error, "42P01", "table %s does not exist in the backend", cfg_table_label(config));
        pgw_error_hint(
            error, "Create it; keyspread ddl prints the statement if `columns` are in the file.");
    } else {
        pgw_fail(error, "42P01", "the columns of table %s are not known", cfg_table_label(config));
        pgw_error_hint(error, "List them in the configuration under columns.");
    }
    rw_table_free(table);
    return NULL;
}

static void fill_columns(rw_table *table, const cfg_table *config, const px_schema_rows *rows)
{
    if (rows != NULL) {
        columns_from_rows(table, rows);
        if (table->column_count > 0)
            compare_with_file(table, config);
        return;
    }
    /* A backend that is not asked stores no code. */
    table->quiet = RW_EFFECT_RUNS | RW_EFFECT_READS;
    table->mergeable = table->defaults_unknown = true;
    for (size_t i = 0; i < config->column_count; i++)
        column_from_file(table, &config->columns[i]);
    px_schema_index_fill(table, &config->ydb);
}

static rw_exception exception_of(const cfg_exception *one)
{
    return (rw_exception){.schema = one->schema != NULL ? copy(one->schema) : NULL,
                          .schemas = one->schemas,
                          .name = copy(one->name),
                          .pattern = one->pattern};
}

/* Makes a table with its names and rules, but without columns. */
static rw_table *new_table(const cfg_table *config)
{
    rw_table *table = pgw_calloc(1, sizeof *table);
    table->schema = copy(config->schema ? config->schema : "public");
    table->name = copy(config->name);
    table->pattern = config->pattern;
    table->schemas = config->schemas;
    table->exception_count = config->exception_count;
    table->exceptions = pgw_calloc(config->exception_count, sizeof *table->exceptions);
    for (size_t i = 0; i < config->exception_count; i++)
        table->exceptions[i] = exception_of(&config->exceptions[i]);
    table->schema_written = strcmp(table->schema, "public") != 0;
    set_rules(table, config);
    set_partitions(&table->partitions, &config->partitions);
    return table;
}

static void add_planned(rw_table *table, const char *name)
{
    if (rw_table_column(table, pgw_slice_str(name)) == table->column_count)
        add_column(table)->name = copy(name);
}

static size_t *planned_key(rw_table *table, char *const *names, size_t count)
{
    size_t *key = pgw_calloc(count, sizeof *key);
    for (size_t i = 0; i < count; i++) {
        add_planned(table, names[i]);
        key[i] = rw_table_column(table, pgw_slice_str(names[i]));
    }
    return key;
}

rw_table *px_schema_plan(const cfg_table *config)
{
    rw_table *table = new_table(config);
    table->primary_key_count = config->primary_key_count;
    table->primary_key = planned_key(table, config->primary_key, config->primary_key_count);
    table->hash_key_count = config->hash_key_count;
    table->hash_key = planned_key(table, config->hash_key, config->hash_key_count);
    table->hash_column = table->column_count;
    add_planned(table, config->hash_column);
    return table;
}

rw_table *px_schema_build(const cfg_table *config, const px_schema_rows *rows, uint64_t epoch,
                          pgw_error *error)
{
    rw_table *table = new_table(config);
    table->epoch = epoch;
    fill_columns(table, config, rows);
    if (table->column_count == 0)
        return not_found(table, config, rows != NULL, error);
    table->primary_key_count = config->primary_key_count;
    table->primary_key = key_columns(table, config->primary_key, config->primary_key_count);
    for (size_t i = 0; i < table->primary_key_count; i++)
        table->key_unfolds =
            table->key_unfolds || table->columns[table->primary_key[i]].type == PGW_NUMERIC;
    table->hash_key_count = config->hash_key_count;
    table->hash_key = key_columns(table, config->hash_key, config->hash_key_count);
    set_hash_column(table, config->hash_column, rows != NULL);
    check_function(table);
    return table;
}

rw_table *px_schema_build_part(const cfg_table *config, const px_schema_rows *rows,
                               px_schema_part part, uint64_t epoch)
{
    pgw_error error = PGW_ERROR_NONE;
    px_schema_rows own = px_schema_rows_of(rows, part);
    return px_schema_build(config, &own, epoch, &error);
}

/* -- comparison -- */

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_column(const rw_column *a, const rw_column *b)
{
    return same_text(a->name, b->name) && a->attnum == b->attnum && a->type == b->type &&
           a->typmod == b->typmod && same_text(a->type_name, b->type_name) &&
           a->not_null == b->not_null && a->has_default == b->has_default &&
           a->sequence == b->sequence && a->generated == b->generated &&
           a->nondeterministic == b->nondeterministic && a->computed == b->computed &&
           a->always == b->always && a->identity == b->identity &&
           same_text(a->default_text, b->default_text) && a->default_hash == b->default_hash &&
           a->own_equals == b->own_equals && a->own_casts == b->own_casts &&
           a->own_names == b->own_names && a->own_rows == b->own_rows &&
           a->own_signs == b->own_signs && a->granted == b->granted && a->cascaded == b->cascaded &&
           a->key_place == b->key_place && a->leads == b->leads;
}

static bool same_indexes(const size_t *a, size_t a_count, const size_t *b, size_t b_count)
{
    return a_count == b_count && memcmp(a, b, a_count * sizeof *a) == 0;
}

static bool same_partitions(const rw_partitions *a, const rw_partitions *b)
{
    if (a->kind != b->kind || a->count != b->count || a->discovered != b->discovered)
        return false;
    return a->at == NULL || memcmp(a->at, b->at, (a->count - 1) * sizeof *a->at) == 0;
}

bool px_schema_same(const rw_table *a, const rw_table *b)
{
    if (!same_text(a->schema, b->schema) || !same_text(a->name, b->name) ||
        a->schema_written != b->schema_written || a->column_count != b->column_count ||
        !same_text(a->unusable, b->unusable) || a->sample != b->sample ||
        a->mergeable != b->mergeable || a->changes_rows != b->changes_rows ||
        a->looked_up != b->looked_up || a->copied_apart != b->copied_apart || a->lazy != b->lazy ||
        a->heeds_updates != b->heeds_updates || a->defers_updates != b->defers_updates ||
        a->moves_keys != b->moves_keys || a->in_parts != b->in_parts || a->quiet != b->quiet ||
        a->overloads != b->overloads || a->own_calls != b->own_calls ||
        a->expressions_run != b->expressions_run || a->casts_run != b->casts_run ||
        a->own_types != b->own_types || a->reads_settings != b->reads_settings ||
        a->oid != b->oid || a->triggers != b->triggers || a->filled_by != b->filled_by ||
        !same_text(a->part_names, b->part_names) || !same_text(a->key_name, b->key_name) ||
        a->last != b->last || !same_text(a->system_columns, b->system_columns))
        return false;
    for (size_t i = 0; i < a->column_count; i++)
        if (!same_column(&a->columns[i], &b->columns[i]))
            return false;
    return same_indexes(a->primary_key, a->primary_key_count, b->primary_key,
                        b->primary_key_count) &&
           same_indexes(a->hash_key, a->hash_key_count, b->hash_key, b->hash_key_count) &&
           a->hash_column == b->hash_column && a->hash_function == b->hash_function &&
           a->hash_type == b->hash_type && a->buckets == b->buckets &&
           a->hash_first == b->hash_first && same_partitions(&a->partitions, &b->partitions) &&
           a->forward_uncomputable == b->forward_uncomputable &&
           a->allow_null_key == b->allow_null_key && a->ignore_sequences == b->ignore_sequences &&
           a->repeats_upserts == b->repeats_upserts && a->block == b->block &&
           px_schema_index_same(a, b);
}
