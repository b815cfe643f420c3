#include "proxy/command/base/named.h"

#include <string.h>

#include "proxy/command/base/tables.h"

enum { MOST_KEYS = 32 }; /* columns of an index in PostgreSQL */

/* The columns of the backend's answer about the tables, which has a row for each column of a key,
 * or one for a table without; in order. */
enum { SCHEMA, TABLE, HASHED, COLUMN };

/* $1 schema, $2 name, $3 whether it is only how names begin, $4 the hash column, $5 whether $1 is
 * only how schemas begin. */
static const char question[] =
    "select n.nspname::pg_catalog.text, c.relname::pg_catalog.text, exists (select from "
    "pg_catalog.pg_attribute h where "
    "h.attrelid = c.oid"
    " and h.attname = $4 and h.attnum > 0 and not h.attisdropped)::pg_catalog.text, "
    "a.attname::pg_catalog.text"
    " from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace"
    " left join pg_catalog.pg_index i on i.indrelid = c.oid and i.indisprimary"
    " left join lateral pg_catalog.unnest(i.indkey) with ordinality k(attnum, place)"
    " on k.place <= i.indnkeyatts"
    " left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum"
    " where (n.nspname = $1 or ($5::pg_catalog.bool and"
    " pg_catalog.starts_with(n.nspname::pg_catalog.text, $1::pg_catalog.text)))"
    " and (c.relname = $2"
    " or ($3::pg_catalog.bool and pg_catalog.starts_with(c.relname::pg_catalog.text, "
    "$2::pg_catalog.text)))"
    " and c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence <> 't'"
    " order by n.nspname, c.relname, k.place";

typedef struct finder {
    px_named *named;
    const cfg_config *config;
    const cfg_table *pattern;
    FILE *errors;
} finder;

static const char *schema_of(const cfg_table *table)
{
    return table->schema != NULL ? table->schema : "public";
}

static char *kept(px_named *named, const char *text)
{
    return pgw_arena_printf(&named->arena, "%s", text);
}

/* --- one table --- */

static bool has_entry(const finder *it, const char *schema, const char *name)
{
    for (size_t i = 0; i < it->config->table_count; i++)
        if (strcmp(it->config->tables[i].name, name) == 0 &&
            strcmp(schema_of(&it->config->tables[i]), schema) == 0)
            return true;
    return false;
}

static bool holds(const cfg_table *table, const char *column)
{
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (strcmp(table->primary_key[i], column) == 0)
            return true;
    return false;
}

/* Takes the hash column out of the key, wherever it stands there; whether it did. */
static bool take_hash(char **key, size_t *count, const char *hash)
{
    size_t at = 0;
    while (at < *count && strcmp(key[at], hash) != 0)
        at++;
    if (at == *count)
        return false;
    memmove(key + at, key + at + 1, (--*count - at) * sizeof *key);
    return true;
}

/* The pattern's own key, or that of the table, `key`, without the hash column. */
static bool take_key(finder *it, cfg_table *table, char **key, size_t count)
{
    if (table->primary_key_count > 0)
        return true;
    table->primary_key = key;
    table->primary_key_count = count;
    if (table->primary_key_count == 0) {
        fprintf(
            it->errors,
            "keyspread: table %s has no primary key, which its hash is made of: give it one, or "
            "leave it as it is (`except` in the configuration)\n",
            table->label);
        return false;
    }
    for (size_t i = 0; i < table->hash_key_count; i++)
        if (!holds(table, table->hash_key[i])) {
            fprintf(it->errors,
                    "%s:%u: the primary key of table %s has no column %s, which hash_key names\n",
                    it->config->path, table->line, table->label, table->hash_key[i]);
            return false;
        }
    if (table->hash_key_count == 0) {
        table->hash_key = table->primary_key;
        table->hash_key_count = 1;
    }
    return true;
}

/* Rows from…to are of one table. False: it cannot have a hash, which was told. */
static bool take_table(finder *it, const PGresult *rows, int from, int to)
{
    px_named *named = it->named;
    char **key = pgw_arena_alloc(&named->arena, MOST_KEYS * sizeof *key);
    size_t count = 0, at = named->config.table_count;
    for (int row = from; row < to && count < MOST_KEYS; row++)
        if (!PQgetisnull(rows, row, COLUMN))
            key[count++] = kept(named, PQgetvalue(rows, row, COLUMN));
    cfg_table table = *it->pattern;
    table.schema = kept(named, PQgetvalue(rows, from, SCHEMA));
    table.name = kept(named, PQgetvalue(rows, from, TABLE));
    table.label = pgw_arena_printf(&named->arena, "%s.%s", table.schema, table.name);
    table.pattern = table.schemas = false;
    bool keyless = count == 0, hashed = take_hash(key, &count, table.hash_column);
    if (!take_key(it, &table, key, count))
        return false;
    named->spread[at] = PQgetvalue(rows, from, HASHED)[0] == 't' &&
                        (hashed || (keyless && it->pattern->primary_key_count > 0));
    named->config.tables[at] = table;
    named->config.table_count++;
    return true;
}

/* --- all that a pattern has --- */

/* The row behind those of the table of row `from`. */
static int end_of_table(const PGresult *rows, int from)
{
    int to = from + 1;
    while (to < PQntuples(rows) &&
           strcmp(PQgetvalue(rows, to, SCHEMA), PQgetvalue(rows, from, SCHEMA)) == 0 &&
           strcmp(PQgetvalue(rows, to, TABLE), PQgetvalue(rows, from, TABLE)) == 0)
        to++;
    return to;
}

/* False: one that was asked for by its name cannot have a hash. */
static bool take_tables(finder *it, const PGresult *rows)
{
    int count = PQntuples(rows);
    px_named *named = it->named;
    named->config.tables =
        pgw_arena_alloc(&named->arena, (size_t)count * sizeof *named->config.tables);
    named->spread = pgw_arena_alloc(&named->arena, (size_t)count * sizeof *named->spread);
    for (int from = 0, to; from < count; from = to) {
        const char *schema = PQgetvalue(rows, from, SCHEMA);
        const char *name = PQgetvalue(rows, from, TABLE);
        to = end_of_table(rows, from);
        bool ours = !has_entry(it, schema, name) &&
                    cfg_find_pattern(it->config, schema, name) == it->pattern;
        if (ours && !take_table(it, rows, from, to) && !named->pattern)
            return false;
    }
    return true;
}

/* `schema` NULL: all of the pattern's schemas. */
static bool ask(finder *it, const char *schema, const char *name, PGconn *link)
{
    bool all = schema == NULL && it->pattern->schemas;
    const char *const values[] = {schema != NULL ? schema : schema_of(it->pattern), name,
                                  it->named->pattern ? "t" : "f", it->pattern->hash_column,
                                  all ? "t" : "f"};
    PGresult *rows = PQexecParams(link, question, 5, NULL, values, NULL, NULL, 0);
    bool good = PQresultStatus(rows) == PGRES_TUPLES_OK;
    if (!good)
        px_backend_failed(it->config, "the backend could not be asked for its tables",
                          PQerrorMessage(link), it->errors);
    good = good && take_tables(it, rows);
    PQclear(rows);
    return good;
}

/* --- the name --- */

/* The part of the name that is the table's, if it may be of the pattern, or NULL. Sets *schema to
 * the part before it, or to the schema that a name without one means. */
static const char *name_in(finder *it, const char *name, const char **schema)
{
    for (const char *dot = strchr(name, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        *schema = pgw_arena_printf(&it->named->arena, "%.*s", (int)(dot - name), name);
        if (cfg_find_pattern(it->config, *schema, dot + 1) == it->pattern)
            return dot + 1;
    }
    *schema = it->pattern->schemas ? "public" : schema_of(it->pattern);
    return cfg_find_pattern(it->config, *schema, name) == it->pattern ? name : NULL;
}

static bool is_label(const cfg_table *pattern, const char *name)
{
    const char *label = cfg_table_label(pattern);
    return strcmp(name, label) == 0 ||
           (pattern->schema == NULL && strncmp(name, "public.", 7) == 0 &&
            strcmp(name + 7, label) == 0);
}

static void say_unknown(const cfg_config *config, const char *name, bool may_be, FILE *errors)
{
    size_t count = config->table_count + config->pattern_count;
    if (may_be) {
        fprintf(errors, "keyspread: the backend of backend.dsn has no table \"%s\"\n", name);
        return;
    }
    fprintf(errors, "keyspread: %s has no table \"%s\"", config->path, name);
    for (size_t i = 0; i < count; i++)
        fprintf(errors, "%s%s", i == 0 ? ": its tables are " : ", ",
                cfg_table_label(&config->tables[i]));
    fputc('\n', errors);
}

/* Finds tables of a pattern. Of a name without a schema the one in public counts, as it does of
 * entries. */
static bool find_by_pattern(finder *it, const char *name, PGconn **link)
{
    const cfg_table *patterns = it->config->tables + it->config->table_count;
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < it->config->pattern_count; i++) {
            it->pattern = &patterns[i];
            it->named->pattern = is_label(it->pattern, name);
            const char *schema = NULL;
            const char *table = it->named->pattern ? it->pattern->name : name_in(it, name, &schema);
            bool is_other = !it->pattern->schemas && strcmp(schema_of(it->pattern), "public") != 0;
            if (table == NULL || is_other != (others == 1))
                continue;
            if (*link == NULL && (*link = px_backend_open(it->config, it->errors)) == NULL)
                return false;
            if (!ask(it, schema, table, *link))
                return false;
            if (it->named->config.table_count > 0 || it->named->pattern)
                return true;
        }
    say_unknown(it->config, name, *link != NULL, it->errors);
    return false;
}

bool px_named_find(px_named *named, const cfg_config *config, const char *name, FILE *errors)
{
    const cfg_table *entry = cfg_find_table(config, name);
    *named = (px_named){.config = *config};
    named->config.pattern_count = 0;
    named->config.table_count = 0;
    if (entry != NULL) {
        named->spread = pgw_arena_alloc(&named->arena, sizeof *named->spread);
        named->spread[0] = true;
        named->config.tables = (cfg_table *)entry;
        named->config.table_count = 1;
        return true;
    }
    PGconn *link = NULL;
    finder it = {.named = named, .config = config, .errors = errors};
    bool found = find_by_pattern(&it, name, &link);
    PQfinish(link);
    return found;
}

void px_named_free(px_named *named)
{
    pgw_arena_free(&named->arena);
    *named = (px_named){0};
}
