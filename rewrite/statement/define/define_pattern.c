#include "rewrite/statement/define/define_pattern.h"

#include "protocol/types.h"
#include "rewrite/hash/hash.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

/* The most columns that an index, and a table, can have. */
enum { MOST_KEYS = 32, MOST_COLUMNS = 1600, LIKE_INDEXES = 1 << 6 /* CREATE_TABLE_LIKE_INDEXES */ };

/* Why a table that has all that a pattern asks for is made without a hash: its client is warned. */
static const char *const warned[] = {
    "a column of its primary key is of a type or collation that cannot be hashed, or is not written there",
    "a column that the hash would be made of is generated, so that nobody could write it",
    "its primary key has too many columns: there is no room for the hash",
    "it has as many columns as a table can have",
};
enum { UNHASHABLE, GENERATED, FULL_KEY, FULL_TABLE, WARNED };

const char *rw_define_warning(unsigned number)
{
    return warned[number - 1];
}

/* --- columns --- */

static const PgQuery__ColumnDef *column_of(const PgQuery__CreateStmt *create, const char *name)
{
    for (size_t i = 0; i < create->n_table_elts; i++) {
        const PgQuery__Node *node = create->table_elts[i];
        if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF &&
            strcmp(node->column_def->colname, name) == 0)
            return node->column_def;
    }
    return NULL;
}

static uint32_t type_named(const char *name, bool qualified)
{
    static const struct {
        const char *name;
        uint32_t type;
    } serials[] = {{"serial", PGW_INT4},  {"serial4", PGW_INT4}, {"bigserial", PGW_INT8},
                   {"serial8", PGW_INT8}, {"serial2", PGW_INT2}, {"smallserial", PGW_INT2}};
    for (size_t i = 0; !qualified && i < sizeof serials / sizeof *serials; i++)
        if (strcmp(name, serials[i].name) == 0)
            return serials[i].type;
    bool byte = strcmp(name, "char") == 0; /* Only "char" in quotes: else it is bpchar. */
    return byte ? PGW_UNSPECIFIED : pgw_type_by_name(pgw_slice_str(name));
}

/* Whether equality by the collation is certainly by bytes. Other collations may be the database's
 * own. */
static bool is_deterministic(const PgQuery__CollateClause *collation)
{
    static const char *const known[] = {"C", "POSIX", "default", "ucs_basic"};
    if (collation == NULL)
        return true;
    const char *name = rw_node_name(collation->collname[collation->n_collname - 1]);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i]) == 0)
            return true;
    return false;
}

/* The column's type, if it is one of PostgreSQL's own that a key can have; else PGW_UNSPECIFIED. */
static uint32_t key_type(const PgQuery__ColumnDef *column)
{
    const PgQuery__TypeName *written = column->type_name;
    if (written == NULL || written->n_array_bounds > 0 || written->setof || written->n_names == 0 ||
        written->n_names > 2 || !is_deterministic(column->coll_clause))
        return PGW_UNSPECIFIED;
    bool qualified = written->n_names == 2;
    if (qualified && strcmp(rw_node_name(written->names[0]), "pg_catalog") != 0)
        return PGW_UNSPECIFIED;
    uint32_t type = type_named(rw_node_name(written->names[written->n_names - 1]), qualified);
    return pgw_type_is_key(type) ? type : PGW_UNSPECIFIED;
}

/* --- the key --- */

static size_t own_key(const rw_table *pattern, const char **names)
{
    for (size_t i = 0; i < pattern->primary_key_count; i++)
        names[i] = pattern->columns[pattern->primary_key[i]].name;
    return pattern->primary_key_count;
}

/* The columns of the table's key: the pattern's, which the statement's must be, or the statement's.
 * 0: it has none, or another one. */
static size_t key_of(const rw_table *pattern, const rw_written_key *written, const char **names,
                     const char **why)
{
    if (pattern->primary_key_count > 0) {
        bool right = written->key == NULL || rw_key_is_right(pattern, written);
        *why = right ? NULL : "its primary key is not that of the pattern";
        return right ? own_key(pattern, names) : 0;
    }
    size_t count = written->key != NULL ? rw_key_count(written) : 0;
    for (size_t i = 0; i < count && count < MOST_KEYS; i++)
        names[i] = rw_key_column(written, i);
    *why = count == 0           ? "its CREATE TABLE has no primary key"
           : count >= MOST_KEYS ? warned[FULL_KEY]
                                : NULL;
    return *why == NULL ? count : 0;
}

static size_t find(const char *const *names, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

static bool is_generated(const PgQuery__ColumnDef *column)
{
    for (size_t i = 0; i < column->n_constraints; i++)
        if (column->constraints[i]->constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_GENERATED)
            return true;
    return false;
}

static size_t count_columns(const PgQuery__CreateStmt *create)
{
    size_t count = 0;
    for (size_t i = 0; i < create->n_table_elts; i++)
        count += create->table_elts[i]->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF;
    return count;
}

/* Why the hash cannot be made of its key, or has no room beside its columns; NULL: it can. */
static const char *why_without(const rw_table *table, const PgQuery__CreateStmt *create)
{
    uint32_t types[MOST_KEYS];
    pgw_error error = PGW_ERROR_NONE;
    for (size_t i = 0; i < table->primary_key_count; i++) {
        const char *name = table->columns[table->primary_key[i]].name;
        const PgQuery__ColumnDef *column = column_of(create, name);
        if (column == NULL || key_type(column) == PGW_UNSPECIFIED)
            return warned[UNHASHABLE];
    }
    for (size_t i = 0; i < table->hash_key_count; i++) {
        const PgQuery__ColumnDef *column =
            column_of(create, table->columns[table->hash_key[i]].name);
        if (is_generated(column))
            return warned[GENERATED];
        types[i] = key_type(column);
    }
    if (!rw_hash_supports(table->hash_function, types, table->hash_key_count, &error))
        return warned[UNHASHABLE];
    return count_columns(create) >= MOST_COLUMNS ? warned[FULL_TABLE] : NULL;
}

/* --- the table --- */

static char *kept(pgw_arena *arena, const char *text)
{
    return pgw_arena_printf(arena, "%s", text);
}

static const char beyond_ascii[] = "its name, or one in its key, has letters beyond ASCII";

/* Names beyond ASCII may come in other bytes, which a pattern would not be found by. */
static bool is_ascii(const char *name)
{
    while (*name != '\0' && (unsigned char)*name < 0x80)
        name++;
    return *name == '\0';
}

/* Gives the table the columns of the key, and the hash. NULL, or why the hash cannot be made of
 * these. */
static const char *put_key(rw_table *table, const rw_table *pattern, const char *const *names,
                           size_t count, pgw_arena *arena)
{
    table->columns = pgw_arena_alloc(arena, (count + 1) * sizeof *table->columns);
    table->primary_key = pgw_arena_alloc(arena, count * sizeof *table->primary_key);
    table->column_count = count + 1;
    table->primary_key_count = table->hash_column = count;
    for (size_t i = 0; i < count; i++) {
        if (!is_ascii(names[i]))
            return beyond_ascii;
        table->columns[i] = (rw_column){.name = kept(arena, names[i]), .typmod = -1};
        table->primary_key[i] = i;
    }
    const char *hash = pattern->columns[pattern->hash_column].name;
    table->columns[count] = (rw_column){.name = kept(arena, hash), .typmod = -1};
    table->hash_key_count = pattern->hash_key_count > 0 ? pattern->hash_key_count : 1;
    table->hash_key = pgw_arena_alloc(arena, table->hash_key_count * sizeof *table->hash_key);
    table->hash_key[0] = 0;
    for (size_t i = 0; i < pattern->hash_key_count; i++) {
        table->hash_key[i] = find(names, count, pattern->columns[pattern->hash_key[i]].name);
        if (table->hash_key[i] == count)
            return "its primary key has not all columns of hash_key";
    }
    return NULL;
}

/* The schema where the table is made, as far as it is known here: the one that is written, else the
 * pattern's, or, where that has several, the session's. */
static const char *schema_of(const rw_definer *it, const rw_catalog *planned,
                             const rw_table *pattern, const PgQuery__RangeVar *name)
{
    size_t i = 0;
    if (name->schemaname[0] != '\0')
        return kept(it->arena, name->schemaname);
    while (planned->tables[i] != pattern)
        i++;
    pgw_slice place = rw_catalog_place(planned, i);
    return place.len == 0 ? "public"
                          : pgw_arena_printf(it->arena, "%.*s", (int)place.len, place.ptr);
}

static rw_table *table_of(const rw_definer *it, const rw_catalog *planned, const rw_table *pattern,
                          const PgQuery__RangeVar *name, const rw_written_key *written)
{
    const char *names[MOST_KEYS], **why = &it->out->unspread;
    size_t count = key_of(pattern, written, names, why);
    rw_table *table = pgw_arena_alloc(it->arena, sizeof *table);
    *table = *pattern;
    table->schema = (char *)schema_of(it, planned, pattern, name);
    table->schema_written = strcmp(table->schema, "public") != 0;
    table->name = kept(it->arena, name->relname);
    table->pattern = table->schemas = false;
    table->by_pattern = true;
    if (*why == NULL)
        *why = is_ascii(table->name) && is_ascii(table->schema)
                   ? put_key(table, pattern, names, count, it->arena)
                   : beyond_ascii;
    return *why == NULL ? table : NULL;
}

/* --- the statement --- */

/* Whether there are RW_PATTERN_TABLES tables of patterns already. */
static bool is_full(const rw_catalog *catalog)
{
    size_t count = 0;
    for (size_t i = 0; i < catalog->count; i++)
        count += catalog->tables[i]->by_pattern;
    return count >= RW_PATTERN_TABLES;
}

static const rw_table *pattern_of(const rw_catalog *catalog, const PgQuery__RangeVar *name)
{
    bool temporary = name->relpersistence != NULL && name->relpersistence[0] == 't';
    return temporary ? NULL
                     : rw_catalog_pattern(catalog->planned, pgw_slice_str(name->schemaname),
                                          pgw_slice_str(name->relname));
}

bool rw_copies_pattern(const rw_catalog *catalog, const PgQuery__CreateStmt *create,
                       const rw_written_key *written)
{
    const rw_table *pattern = pattern_of(catalog, create->relation);
    if (pattern == NULL || written->key != NULL || create->n_table_elts != 1 ||
        create->table_elts[0]->node_case != PG_QUERY__NODE__NODE_TABLE_LIKE_CLAUSE)
        return false;
    const PgQuery__TableLikeClause *like = create->table_elts[0]->table_like_clause;
    const rw_table *table = rw_define_altered(catalog, like->relation);
    return table != NULL && table->by_pattern && like->options & LIKE_INDEXES &&
           rw_define_is_sure(catalog, table, like->relation) &&
           rw_catalog_pattern(catalog->planned, pgw_slice_str(table->schema),
                              pgw_slice_str(table->name)) == pattern;
}

/* Why the form of the statement can make no table of a pattern; NULL: it can. */
static const char *wrong_form(const rw_catalog *catalog, const PgQuery__CreateStmt *create,
                              const rw_written_key *written)
{
    return create->of_typename != NULL ? "it is made of a type"
           : create->partspec != NULL  ? "it is cut by a PARTITION BY of its own"
           : written->keys > 1         ? "it has several primary keys"
           : is_full(catalog)          ? "there are as many tables of patterns as there may be"
                                       : NULL;
}

const rw_table *rw_define_by_pattern(const rw_definer *it, const rw_catalog *catalog,
                                     const PgQuery__CreateStmt *create,
                                     const rw_written_key *written)
{
    const rw_table *pattern = pattern_of(catalog, create->relation);
    if (pattern == NULL)
        return NULL;
    it->out->unspread = wrong_form(catalog, create, written);
    if (it->out->unspread != NULL)
        return NULL;
    const rw_table *table = table_of(it, catalog->planned, pattern, create->relation, written);
    if (table != NULL)
        it->out->unspread = why_without(table, create);
    for (unsigned i = 0; i < WARNED; i++)
        if (it->out->unspread == warned[i])
            it->out->warning = (unsigned char)(i + 1);
    return it->out->unspread == NULL ? table : NULL;
}

const rw_table *rw_define_by_late_key(const rw_definer *it, const rw_catalog *catalog,
                                      const PgQuery__RangeVar *name, const rw_written_key *written)
{
    const rw_table *pattern = pattern_of(catalog, name);
    if (pattern == NULL || is_full(catalog))
        return NULL;
    const rw_table *table = table_of(it, catalog->planned, pattern, name, written);
    it->out->unspread = NULL; /* The statement makes no table. */
    return table;
}
