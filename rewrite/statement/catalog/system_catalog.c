#include "rewrite/statement/catalog/system_catalog.h"

#include "rewrite/statement/catalog/system_sql.h"

#include <stdio.h>
#include <string.h>

/* --- functions --- */

/* Adds to an index's column number %2, as clients count, the hashes that stand before it. Arguments
 * are read where no name of the SQL around them hides one of theirs. */
#define HASHES_BEFORE(cast)                                                                        \
    1, "(",                                                                                        \
        ") + (select " HASHES_UP_TO(                                                               \
            "g.index",                                                                             \
            "greatest(least(g.number, 32767), 0)") " from (select (%1)" cast                       \
                                                   "::pg_catalog.oid, (%2)::pg_catalog.int4) "     \
                                                   "g(index, number))"
/* HASHES_BEFORE for arguments that can be read twice: no query is counted for each row. */
#define PLAIN_HASHES_BEFORE(cast)                                                                  \
    1, "(",                                                                                        \
        ") + " HASHES_UP_TO("(%1)" cast "::pg_catalog.oid",                                        \
                            "greatest(least((%2)::pg_catalog.int4, 32767), 0)")
/* Puts NULL in the place of the oid of one of the tables, or of an index or a partition of it. */
#define UNKNOWN_OF(type)                                                                           \
    "(select case when a.a = any (%A) then null else a.a end"                                      \
    " from (select (",                                                                             \
        ")::pg_catalog." type ") a(a))"
/* The number of a hash column becomes one that no table has a column of. */
#define NO_HASH(argument, mark, class, table)                                                      \
    NULL, NULL, argument, "(",                                                                     \
        ") + (select case when g.class = 1259 and g." OURS("relation") " and g.number = " HASH(    \
            "g.relation") " then 2000 else 0 end from (select (" class ")::pg_catalog.oid, "       \
                                                                       "(" table                   \
                                                                       ")::pg_catalog.oid, (" mark \
                                                                       ")::pg_catalog.int4) "      \
                                                                       "g(class, relation, "       \
                                                                       "number))"
/* A table that has no column of the name, in the place of one whose hash column is called so. */
#define NO_SUCH(mark)                                                                              \
    "(select case when exists (select from" NAMED(                                                 \
        "c") " where c.oid = g.relation and (n.nspname,"                                           \
             " c.relname, g.name) in %s) then "                                                    \
             "'pg_catalog.pg_am'::pg_catalog.regclass::pg_catalog.oid"                             \
             " else g.relation end from (select pg_catalog.regclassin(pg_catalog.textout((",       \
        ")::text)), (" mark ")::text) g(relation, name))"
#define SHOWN(name, ours, text)                                                                    \
    name, false,                                                                                   \
        " (select case when " ours " then " text " else k.shown end as " name " from (select ",    \
        ", (%1)::pg_catalog.oid) k(shown, id)) "
/* SHOWN for arguments that can be read twice, by patterns that match nothing of other tables. A
 * column without an alias gets its name from what stands behind ELSE. */
#define WITHOUT_HASH_OPENS "pg_catalog.regexp_replace(pg_catalog.regexp_replace("
#define WITHOUT_HASH_CLOSES(start, ours)                                                           \
    ", case when " ours " then E'(" start "[(])%q, ' else '(?!)' end, E'\\\\1'), case when " ours  \
    " then E'(" start "[(].*?), %q(?=[,)])' else '(?!)' end, E'\\\\1')"
#define IS_INDEX "(%1)::pg_catalog.oid = any (%X)"

static const rw_system_function functions[] = {
    {"pg_get_indexdef", true,
     " (case when true then " WITHOUT_HASH_OPENS "pg_catalog.regexp_replace(",
     ", case when " IS_INDEX " then ' ON ONLY ' else '(?!)' end, ' ON ')" WITHOUT_HASH_CLOSES(
         INDEX_START, IS_INDEX) " else pg_catalog.pg_get_indexdef(null::pg_catalog.oid) end) ",
     PLAIN_HASHES_BEFORE(""), 0, RW_SYSTEM_ALWAYS},
    {SHOWN("pg_get_indexdef", "k.id = any (%X)", INDEX_WITHOUT_HASH("k.shown")), HASHES_BEFORE(""),
     0, RW_SYSTEM_ALWAYS},
    {"pg_get_constraintdef", true, " (case when true then " WITHOUT_HASH_OPENS,
     WITHOUT_HASH_CLOSES(KEY_START,
                         "(%1)::pg_catalog.oid = any (%C)") " else "
                                                            "pg_catalog.pg_get_constraintdef(null::"
                                                            "pg_catalog.oid) end) ",
     0, NULL, NULL, 0, RW_SYSTEM_ALWAYS},
    {SHOWN("pg_get_constraintdef", "k.id = any (%C)", KEY_WITHOUT_HASH("k.shown")), 0, NULL, NULL,
     0, RW_SYSTEM_ALWAYS},
    {"pg_index_column_has_property", true, NULL, NULL, PLAIN_HASHES_BEFORE("::pg_catalog.regclass"),
     0, RW_SYSTEM_ALWAYS},
    {"pg_index_column_has_property", false, NULL, NULL, HASHES_BEFORE("::pg_catalog.regclass"), 0,
     RW_SYSTEM_ALWAYS},
    /* Functions of partitions, to which a spread table in partitions looks like an ordinary one. */
    {"pg_get_partkeydef", false, NULL, NULL, 0, UNKNOWN_OF("oid"), 0, RW_SYSTEM_PARTS},
    {"pg_partition_tree", false, NULL, NULL, 0, UNKNOWN_OF("regclass"), 0, RW_SYSTEM_PARTS},
    {"pg_partition_root", false, NULL, NULL, 0, UNKNOWN_OF("regclass"), 0, RW_SYSTEM_PARTS},
    {"pg_partition_ancestors", false, NULL, NULL, 0, UNKNOWN_OF("regclass"), 0, RW_SYSTEM_PARTS},
    /* Functions that are given the number of a column. */
    {"col_description", false, NO_HASH(1, "%2", "1259", "%1"), 0, RW_SYSTEM_ALWAYS},
    {"pg_describe_object", false, NO_HASH(2, "%3", "%1", "%2"), 0, RW_SYSTEM_ALWAYS},
    {"pg_identify_object", false, NO_HASH(2, "%3", "%1", "%2"), 0, RW_SYSTEM_ALWAYS},
    {"pg_identify_object_as_address", false, NO_HASH(2, "%3", "%1", "%2"), 0, RW_SYSTEM_ALWAYS},
    /* Functions that are given the name of a column. */
    {"has_column_privilege", false, NULL, NULL, 0, NO_SUCH("%2"), 3, RW_SYSTEM_STRICT},
    {"has_column_privilege", false, NULL, NULL, 1, NO_SUCH("%3"), 4, RW_SYSTEM_STRICT},
};

/* --- names --- */

enum { FUNCTIONS = sizeof functions / sizeof *functions };

const char *rw_system_name(size_t i)
{
    if (i < FUNCTIONS)
        return functions[i].name;
    const rw_system_relation *relation = rw_system_relation_at(i - FUNCTIONS);
    return relation != NULL ? relation->name : NULL;
}

bool rw_system_names(pgw_slice word)
{
    if (word.len < 7)
        return false;
    char first = (char)(word.ptr[0] | 32);
    if (first == 'i')
        return pgw_slice_ieq_str(word, "information_schema");
    if (first == 'p' ? word.ptr[2] != '_' : (first != 'c' && first != 'h') || word.ptr[3] != '_')
        return false;
    for (size_t i = 0; rw_system_name(i) != NULL; i++)
        if (pgw_slice_ieq_str(word, rw_system_name(i)))
            return true;
    return false;
}

bool rw_system_informs(pgw_slice word)
{
    const rw_system_relation *it;
    for (size_t i = 0; (it = rw_system_relation_at(i)) != NULL; i++)
        if (pgw_slice_ieq_str(word, it->name) && strcmp(it->schema, "information_schema") == 0)
            return true;
    return false;
}

static bool is_in(const rw_catalog *catalog, const char *schema, const char *written)
{
    bool found_without = catalog->informs || strcmp(schema, "pg_catalog") == 0;
    return written[0] == '\0' ? found_without : strcmp(schema, written) == 0;
}

const rw_system_function *rw_system_function_of(const rw_catalog *catalog, const char *schema,
                                                const char *name, size_t count, bool plain)
{
    for (size_t i = 0; i < FUNCTIONS; i++) {
        const rw_system_function *it = &functions[i];
        if (strcmp(it->name, name) == 0 && is_in(catalog, "pg_catalog", schema) &&
            (plain || !it->plain) && (it->count == 0 || it->count == count) &&
            rw_system_is_needed(catalog, it->need))
            return it;
    }
    return NULL;
}

const rw_system_relation *rw_system_relation_of(const rw_catalog *catalog, const char *schema,
                                                const char *name, bool gaps)
{
    const rw_system_relation *it = NULL;
    for (size_t i = 0; (it = rw_system_relation_at(i)) != NULL; i++)
        if (strcmp(it->name, name) == 0 && is_in(catalog, it->schema, schema) &&
            rw_system_is_needed(catalog, it->need) && (gaps || it->need != RW_SYSTEM_GAPS))
            break;
    return it;
}

/* --- columns --- */

/* The columns of the system catalog as a table has them, `1259.oid 1259.relname`; NULL: not known.
 */
static const char *known_columns(const rw_catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++)
        if (catalog->tables[i]->system_columns != NULL)
            return catalog->tables[i]->system_columns;
    return NULL;
}

static pgw_slice next_word(const char **at)
{
    *at += strspn(*at, " ");
    pgw_slice word = {*at, strcspn(*at, " ")};
    *at += word.len;
    return word;
}

bool rw_system_next_column(const rw_catalog *catalog, const rw_system_relation *relation,
                           const char **at, pgw_slice *name)
{
    char prefix[16];
    int len = snprintf(prefix, sizeof prefix, "%u.", relation->oid);
    *at = *at == NULL ? known_columns(catalog) : *at;
    while (*at != NULL && **at != '\0') {
        pgw_slice word = next_word(at);
        if (word.len <= (size_t)len || memcmp(word.ptr, prefix, (size_t)len) != 0)
            continue;
        *name = (pgw_slice){word.ptr + len, word.len - (size_t)len};
        return true;
    }
    return false;
}

bool rw_system_knows_columns(const rw_catalog *catalog, const rw_system_relation *relation)
{
    const char *at = NULL;
    pgw_slice name;
    return relation->columns == NULL || relation->oid == 0 ||
           rw_system_next_column(catalog, relation, &at, &name);
}

/* Columns that are also likely as aliases, of relations all of whose columns are shown as they are.
 */
static const char *const usual[] = {
    "oid",          "schemaname",   "tablename",   "typname",         "tgname",
    "relid",        "relname",      "indexrelid",  "indexrelname",    "inhparent",
    "inhrelid",     "attname",      "objid",       "classid",         "deptype",
    "table_schema", "table_name",   "column_name", "constraint_name", "constraint_type",
    "data_type",    "trigger_name", "grantee",     "privilege_type",  "udt_name"};

bool rw_system_has_column(const rw_catalog *catalog, const rw_system_relation *relation,
                          const char *name)
{
    const char *at = NULL;
    pgw_slice own;
    while (relation->oid != 0 && rw_system_next_column(catalog, relation, &at, &own))
        if (pgw_slice_eq_str(own, name))
            return true;
    for (const rw_system_column *it = relation->columns; it != NULL && it->name != NULL; it++)
        if (strcmp(it->name, name) == 0)
            return true;
    for (size_t i = 0; relation->columns == NULL && i < sizeof usual / sizeof *usual; i++)
        if (strcmp(usual[i], name) == 0)
            return true;
    return false;
}

const char *rw_system_shown(const rw_system_relation *relation, pgw_slice name)
{
    for (const rw_system_column *it = relation->columns; it != NULL && it->name != NULL; it++)
        if (pgw_slice_eq_str(name, it->name))
            return it->shown;
    return NULL;
}
