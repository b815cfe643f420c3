#include "rewrite/hash/table.h"

#include "protocol/value_text.h"

#include <stdlib.h>
#include <string.h>

size_t rw_table_column(const rw_table *table, pgw_slice name)
{
    name = pgw_name_cut(name);
    size_t i = 0;
    while (i < table->column_count && !pgw_slice_eq_str(name, table->columns[i].name))
        i++;
    return i;
}

bool rw_table_is_hash_input(const rw_table *table, pgw_slice column)
{
    size_t index = rw_table_column(table, column);
    if (index == table->column_count)
        return false;
    for (size_t i = 0; i < table->hash_key_count; i++)
        if (table->hash_key[i] == index)
            return true;
    return index == table->hash_column;
}

bool rw_table_has_own_casts(const rw_table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].own_casts != RW_NO_OWN_CASTS)
            return true;
    return false;
}

bool rw_table_has_own_signs(const rw_table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].own_signs)
            return true;
    return false;
}

bool rw_table_defaults_to_null(const rw_table *table, size_t column)
{
    return !table->columns[column].has_default && !table->defaults_unknown && !table->changes_rows;
}

bool rw_table_hashes_null(const rw_table *table, size_t column)
{
    return table->allow_null_key || (table->columns[column].not_null && !table->changes_rows);
}

/* Whether the column is compared by PostgreSQL's own =, as the hash is made; all who may read it
 * may read the hash; and nothing changes it without the hash. */
static bool compares_by_value(const rw_column *column)
{
    return !column->nondeterministic && !column->own_equals && !column->granted &&
           !column->cascaded && pgw_type_is_key(column->type);
}

bool rw_table_is_looked_up(const rw_table *table)
{
    bool sure = table->looked_up && table->unusable == NULL && !table->changes_rows &&
                !table->moves_keys && !table->forward_uncomputable &&
                table->hash_column < table->column_count;
    for (size_t i = 0; i < table->hash_key_count && sure; i++)
        sure = compares_by_value(&table->columns[table->hash_key[i]]);
    return sure;
}

bool rw_table_shares_rule(const rw_table *a, const rw_table *b)
{
    bool shares = a->hash_function == b->hash_function && a->hash_type == b->hash_type &&
                  a->buckets == b->buckets && a->hash_key_count == b->hash_key_count;
    for (size_t i = 0; i < a->hash_key_count && shares; i++) {
        const rw_column *one = &a->columns[a->hash_key[i]], *other = &b->columns[b->hash_key[i]];
        shares =
            one->type == other->type && (one->type != PGW_BPCHAR || one->typmod == other->typmod);
    }
    return shares;
}

bool rw_table_hashes_alike(const rw_table *a, const rw_table *b)
{
    bool alike = rw_table_shares_rule(a, b) &&
                 strcmp(a->columns[a->hash_column].name, b->columns[b->hash_column].name) == 0;
    for (size_t i = 0; i < a->hash_key_count && alike; i++)
        alike = strcmp(a->columns[a->hash_key[i]].name, b->columns[b->hash_key[i]].name) == 0;
    return alike;
}

bool rw_table_keeps_hashes(const rw_table *a, const rw_table *b)
{
    bool keeps = rw_table_hashes_alike(a, b) &&
                 a->columns[a->hash_column].attnum == b->columns[b->hash_column].attnum;
    for (size_t i = 0; i < a->hash_key_count && keeps; i++)
        keeps = a->columns[a->hash_key[i]].attnum == b->columns[b->hash_key[i]].attnum;
    return keeps;
}

bool rw_table_shifts(const rw_table *table)
{
    return table->hash_column + 1 < table->column_count;
}

bool rw_table_begins_with_hash(const rw_table *table)
{
    int16_t place =
        table->hash_column < table->column_count ? table->columns[table->hash_column].key_place : 0;
    return place > 0 ? place == 1 : table->hash_first;
}

bool rw_table_has_gap(const rw_table *table)
{
    return table->columns[table->hash_column].attnum < table->last;
}

void rw_table_free(rw_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->column_count; i++) {
        free(table->columns[i].name);
        free(table->columns[i].type_name);
        free(table->columns[i].default_text);
    }
    for (size_t i = 0; i < table->index_count; i++) {
        free(table->indexes[i].name);
        free(table->indexes[i].columns);
    }
    free(table->indexes);
    free(table->columns);
    free(table->primary_key);
    free(table->hash_key);
    free(table->partitions.at);
    free(table->schema);
    free(table->name);
    for (size_t i = 0; i < table->exception_count; i++) {
        free(table->exceptions[i].schema);
        free(table->exceptions[i].name);
    }
    free(table->exceptions);
    free(table->part_names);
    free(table->key_name);
    free(table->system_columns);
    free(table->unusable);
    free(table);
}

/* Whether the table's name may mean it where no schema is written. */
static bool is_meant(const rw_catalog *catalog, size_t table)
{
    return catalog->unqualified != NULL ? catalog->unqualified[table] != RW_MEANS_OTHERS
                                        : !catalog->tables[table]->schema_written;
}

/* Whether the table's name certainly means it where no schema is written. */
static bool is_certain(const rw_catalog *catalog, size_t table)
{
    return catalog->unqualified == NULL || catalog->unqualified[table] == RW_MEANS_OURS;
}

/* Whether the table may be meant where `schema` (empty: not written) stands before a name. */
static bool is_here(const rw_catalog *catalog, size_t table, pgw_slice schema)
{
    return schema.len == 0 ? is_meant(catalog, table)
                           : pgw_slice_eq_str(schema, catalog->tables[table]->schema);
}

const rw_table *rw_catalog_find(const rw_catalog *catalog, pgw_slice schema, pgw_slice name)
{
    const rw_table *possible = NULL;
    name = pgw_name_cut(name);
    schema = pgw_name_cut(schema);
    for (size_t i = 0; i < catalog->count; i++) {
        const rw_table *table = catalog->tables[i];
        if (table->pattern || !is_here(catalog, i, schema) || !pgw_slice_eq_str(name, table->name))
            continue;
        if (schema.len > 0 || is_certain(catalog, i))
            return table;
        possible = possible != NULL ? possible : table;
    }
    return possible;
}

/* Whether a name is `own`, or begins with that. */
static bool fits(const char *own, bool beginning, pgw_slice name)
{
    size_t len = strlen(own);
    return (beginning ? name.len >= len : name.len == len) && memcmp(name.ptr, own, len) == 0;
}

pgw_slice rw_catalog_place(const rw_catalog *planned, size_t pattern)
{
    if (!planned->tables[pattern]->schemas)
        return pgw_slice_str(planned->tables[pattern]->schema);
    if (planned->unqualified == NULL)
        return PGW_LITERAL("public");
    return planned->unqualified[pattern] == RW_MEANS_OURS ? planned->here : (pgw_slice){NULL, 0};
}

bool rw_pattern_covers(const rw_table *pattern, pgw_slice schema, pgw_slice name)
{
    bool covers = fits(pattern->name, true, name) &&
                  (schema.len == 0 || fits(pattern->schema, pattern->schemas, schema));
    for (size_t i = 0; covers && i < pattern->exception_count; i++) {
        const rw_exception *one = &pattern->exceptions[i];
        bool here =
            one->schema == NULL || (schema.len > 0 && fits(one->schema, one->schemas, schema));
        covers = !(here && fits(one->name, one->pattern, name));
    }
    return covers;
}

/* Whether the first pattern counts before the other, where both cover a table. */
static bool is_closer(const rw_table *one, const rw_table *other)
{
    size_t len = strlen(one->schema), other_len = strlen(other->schema);
    if (one->schemas != other->schemas)
        return other->schemas;
    return one->schemas && len != other_len ? len > other_len
                                            : strlen(one->name) > strlen(other->name);
}

const rw_table *rw_catalog_pattern(const rw_catalog *catalog, pgw_slice schema, pgw_slice name)
{
    const rw_table *found = NULL;
    name = pgw_name_cut(name);
    schema = pgw_name_cut(schema);
    for (size_t i = 0; i < catalog->count; i++) {
        const rw_table *table = catalog->tables[i];
        if (table->pattern && (schema.len > 0 || is_meant(catalog, i)) &&
            rw_pattern_covers(table, schema.len > 0 ? schema : rw_catalog_place(catalog, i),
                              name) &&
            (found == NULL || is_closer(table, found)))
            found = table;
    }
    return found;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Whether `name` stands in `text` without regard to the case of ASCII letters. */
static bool holds(pgw_slice text, pgw_slice name)
{
    if (name.len == 0 || text.len < name.len)
        return name.len == 0;
    char first = lower(name.ptr[0]);
    const char *last = text.ptr + (text.len - name.len);
    for (const char *at = text.ptr; at <= last; at++) {
        if (lower(*at) != first)
            continue;
        size_t i = 1;
        while (i < name.len && lower(at[i]) == lower(name.ptr[i]))
            i++;
        if (i == name.len)
            return true;
    }
    return false;
}

/* The part of a name before a quote, for a quote is written as two. */
static pgw_slice searchable(const char *name)
{
    return (pgw_slice){name, strcspn(name, "\"")};
}

bool rw_text_mentions(pgw_slice text, const char *name)
{
    return holds(text, searchable(name));
}

/* U&"…" can spell a name in any way. */
static bool holds_unicode_name(pgw_slice text)
{
    for (size_t at = 0; at + 2 < text.len; at++) {
        const char *mark = memchr(text.ptr + at, '&', text.len - at - 1);
        if (mark == NULL)
            return false;
        at = (size_t)(mark - text.ptr);
        if (mark[1] == '"' && at > 0 && lower(mark[-1]) == 'u')
            return true;
    }
    return false;
}

bool rw_catalog_mentioned(const rw_catalog *catalog, pgw_slice text)
{
    if (catalog->count == 0)
        return false;
    for (size_t i = 0; i < catalog->count; i++)
        if (rw_text_mentions(text, catalog->tables[i]->name))
            return true;
    return holds_unicode_name(text);
}
