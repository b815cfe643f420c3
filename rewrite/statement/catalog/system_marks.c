#include "rewrite/statement/catalog/system_marks.h"

#include "rewrite/lex/quote.h"
#include "rewrite/statement/define/referable.h"

#include <string.h>

/* --- tables --- */

static bool hides(const rw_table *table)
{
    return !table->shows_hash && !table->listed && table->hash_column < table->column_count;
}

bool rw_system_hides(const rw_catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++)
        if (hides(catalog->tables[i]))
            return true;
    return false;
}

static const char *hash_of(const rw_table *table)
{
    return table->columns[table->hash_column].name;
}

static bool is_strict(const rw_table *table)
{
    return hides(table) && table->strict;
}

static bool needs(const rw_table *table, rw_system_need need)
{
    switch (need) {
    case RW_SYSTEM_PARTS:
        return hides(table) && table->in_parts;
    case RW_SYSTEM_GAPS:
        return hides(table) && rw_table_has_gap(table);
    case RW_SYSTEM_STRICT:
        return is_strict(table);
    default:
        return true;
    }
}

bool rw_system_is_needed(const rw_catalog *catalog, rw_system_need need)
{
    bool needed = need == RW_SYSTEM_ALWAYS;
    for (size_t i = 0; i < catalog->count && !needed; i++)
        needed = needs(catalog->tables[i], need);
    return needed;
}

/* --- names --- */

/* Adds a name as quote_ident() writes it, for a regular expression in E'…'. */
static void add_pattern(pgw_buf *out, const char *name)
{
    pgw_buf_add_str(out, "\"?");
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        bool plain =
            c >= 128 || c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
        pgw_buf_add_str(out, plain       ? ""
                             : c == '"'  ? "\""
                             : c == '\'' ? "'"
                             : c == '\\' ? "\\\\\\"
                                         : "\\\\");
        pgw_buf_add_byte(out, *name);
    }
    pgw_buf_add_str(out, "\"?");
}

static void add_constants(pgw_buf *out, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pgw_buf_add_str(out, i > 0 ? ", " : "");
        rw_add_name_constant(out, pgw_slice_str(names[i]));
    }
}

static void add_names(pgw_buf *out, char mark, const rw_table *table)
{
    const char *names[] = {table->schema, table->name, hash_of(table)};
    if (mark == 'q') {
        add_pattern(out, names[2]);
    } else if (mark == 'h') {
        add_constants(out, names + 2, 1);
    } else {
        pgw_buf_add_byte(out, '(');
        add_constants(out, names, mark == 'p' ? 2 : 3);
        pgw_buf_add_byte(out, ')');
    }
}

/* Names of hash columns that were added. Most tables have one of a few, so that no more are looked
 * for, and a name may be there twice. */
typedef struct known {
    const char *names[8];
    size_t count;
} known;

static bool is_known(known *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->names[i], name) == 0)
            return true;
    if (all->count < sizeof all->names / sizeof *all->names)
        all->names[all->count++] = name;
    return false;
}

static void add_list(pgw_buf *out, char mark, const rw_catalog *catalog)
{
    known all = {.count = 0};
    const char *between = mark == 'q' ? "(?:" : "(";
    for (size_t i = 0; i < catalog->count; i++) {
        const rw_table *table = catalog->tables[i];
        if (mark == 's' ? !is_strict(table) : !hides(table))
            continue;
        if ((mark == 'h' || mark == 'q') && is_known(&all, hash_of(table)))
            continue;
        pgw_buf_add_str(out, between);
        add_names(out, mark, table);
        between = mark == 'q' ? "|" : ", ";
    }
    pgw_buf_add_byte(out, ')');
}

/* --- sets --- */

/* An element of an array that is written as text. */
static void add_element(pgw_buf *out, const char *name)
{
    pgw_buf_add_byte(out, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"' || *name == '\\')
            pgw_buf_add_byte(out, '\\');
        pgw_buf_add_byte(out, *name);
    }
    pgw_buf_add_byte(out, '"');
}

static const char *name_of(const rw_table *table)
{
    return table->name;
}

static const char *schema_of(const rw_table *table)
{
    return table->schema;
}

typedef const char *of_table(const rw_table *table);

/* What a column of g is of each table. A constant, for the planner counts the rows that unnest()
 * makes of it, and it is read at once. */
static void add_unnested(pgw_buf *out, of_table *of, const rw_catalog *catalog)
{
    pgw_buf text = {0};
    char between = '{';
    for (size_t i = 0; i < catalog->count; i++) {
        if (!hides(catalog->tables[i]))
            continue;
        pgw_buf_add_byte(&text, between);
        add_element(&text, of(catalog->tables[i]));
        between = ',';
    }
    pgw_buf_add_byte(&text, '}');
    pgw_buf_add_str(out, "pg_catalog.unnest(");
    rw_add_name_constant(out, pgw_slice_buf(&text));
    pgw_buf_add_str(out, "::pg_catalog.name[])");
    pgw_buf_free(&text);
}

/* What all of them have; NULL: they differ. */
static const char *common(const rw_catalog *catalog, of_table *of)
{
    const char *first = NULL;
    for (size_t i = 0; i < catalog->count; i++) {
        const char *own = hides(catalog->tables[i]) ? of(catalog->tables[i]) : first;
        if (first != NULL && strcmp(own, first) != 0)
            return NULL;
        first = own;
    }
    return first;
}

/* The names that are looked for, as a table in a FROM. Most tables are in one schema and have hash
 * columns of one name: by constants the indexes find them sooner. */
static void add_names_of_all(pgw_buf *out, const rw_catalog *catalog)
{
    const char *schema = common(catalog, schema_of), *hash = common(catalog, hash_of);
    bool alike = schema != NULL && hash != NULL;
    pgw_buf_add_str(out, alike ? "(select " : "rows from (");
    if (alike)
        rw_add_name_constant(out, pgw_slice_str(schema));
    else
        add_unnested(out, schema_of, catalog);
    pgw_buf_add_str(out, alike ? "::pg_catalog.name, u.name, " : ", ");
    if (alike)
        rw_add_name_constant(out, pgw_slice_str(hash));
    pgw_buf_add_str(out, alike ? "::pg_catalog.name from " : "");
    add_unnested(out, name_of, catalog);
    pgw_buf_add_str(out, alike ? " u(name)" : ", ");
    if (!alike)
        add_unnested(out, hash_of, catalog);
    pgw_buf_add_str(out, ") g(schema, name, hash)");
}

/* A list is an array of `type`, else it is a table in a FROM. */
static const struct {
    char mark;
    rw_system_need need;
    const char *name, *type, *sql;
} sets[] = {
    {'T', RW_SYSTEM_ALWAYS, "keyspread.tables", NULL,
     "select c.oid, n.oid as space, n.nspname as schema, c.relname as name, h.attname as hash,"
     " h.attnum as number, c.relnatts as last"
     " from %G join pg_catalog.pg_namespace n on n.nspname = g.schema"
     " join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = g.name"
     " join pg_catalog.pg_attribute h on h.attrelid = c.oid and h.attname = g.hash"},
#define FAMILY                                                                                     \
    "select t.oid, t.hash, false as part from %T t union all select x.indexrelid, t.hash, false"   \
    " from pg_catalog.pg_index x join %T t on t.oid = x.indrelid"
    /* The bounds are those of all numbers: with them the planner expects a few, where it would
     * count ten times the tables else. */
    {'F', RW_SYSTEM_PARTS, "keyspread.family", NULL,
     "with recursive f(oid, hash, part) as (select b.oid, b.hash, b.part from (" FAMILY ") b"
     " union all select p.inhrelid, f.hash, true from f cross join lateral"
     " (select i.inhrelid from pg_catalog.pg_inherits i join pg_catalog.pg_class k"
     " on k.oid = i.inhrelid and k.relispartition where i.inhparent = f.oid offset 0) p"
     " where f.oid > 0 and f.oid < 4294967295) select f.oid, f.hash, f.part from f"},
    {'F', RW_SYSTEM_ALWAYS, "keyspread.family", NULL, FAMILY},
    {'O', RW_SYSTEM_ALWAYS, "keyspread.oids", "oid", "select t.oid from %T t order by t.oid"},
    {'N', RW_SYSTEM_ALWAYS, "keyspread.numbers", "int2",
     "select t.number from %T t order by t.oid"},
    {'X', RW_SYSTEM_ALWAYS, "keyspread.indexes", "oid",
     "select x.indexrelid from pg_catalog.pg_index x join %T t on t.oid = x.indrelid"},
    {'P', RW_SYSTEM_ALWAYS, "keyspread.places", "int8",
     "select x.indexrelid::pg_catalog.int8 * 65536 + k.place from pg_catalog.pg_index x"
     " join %T t on t.oid = x.indrelid cross join lateral"
     " pg_catalog.unnest(x.indkey::pg_catalog.int2[]) with ordinality k(number, place)"
     " where k.number = t.number order by 1"},
    {'C', RW_SYSTEM_ALWAYS, "keyspread.constraints", "oid",
     "select x.oid from pg_catalog.pg_constraint x join %T t on t.oid = x.conrelid"},
    {'A', RW_SYSTEM_ALWAYS, "keyspread.all", "oid", "select f.oid from %F f"},
    {'B', RW_SYSTEM_ALWAYS, "keyspread.parts", "oid", "select f.oid from %F f where f.part"},
    {'R', RW_SYSTEM_ALWAYS, "keyspread.roots", "oid", "select f.oid from %F f where not f.part"},
    {'Y', RW_SYSTEM_ALWAYS, "keyspread.part_types", "oid",
     "select p.reltype from pg_catalog.pg_class p where p.reltype <> 0 and p.oid = any (%B)"},
    {'V', RW_SYSTEM_ALWAYS, "keyspread.part_names", "text",
     "select pg_catalog.concat(n.nspname, pg_catalog.chr(1), c.relname) from pg_catalog.pg_class c"
     " join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = any (%B)"},
    {'K', RW_SYSTEM_ALWAYS, "keyspread.keys", "oid",
     "select o.oid from pg_catalog.pg_class o where o.relname >= '" RW_REFERABLE_PREFIX
     "' and o.relname < 'keyspread_key_of`'"},
};

enum { SETS = sizeof sets / sizeof *sets };

/* The first one of the mark that is needed; SETS: there is none. */
static size_t set_of(char mark, const rw_catalog *catalog)
{
    size_t i = 0;
    while (i < SETS && (sets[i].mark != mark || !rw_system_is_needed(catalog, sets[i].need)))
        i++;
    return i;
}

/* A query in place of a table, or an array of what it returns. */
static void add_query(pgw_buf *out, size_t set, const rw_system_marks *marks)
{
    pgw_buf_add_str(out, sets[set].type != NULL ? "array(" : "(");
    rw_system_add(out, sets[set].sql, marks);
    pgw_buf_add_byte(out, ')');
}

static void add_set(pgw_buf *out, size_t set, const rw_system_marks *marks)
{
    const char *type = sets[set].type;
    if (marks->shared == NULL) {
        add_query(out, set, marks);
        return;
    }
    *marks->shared |= 1U << set;
    pgw_buf_add_str(out, type != NULL ? "(select l.list from " : "");
    rw_add_quoted(out, sets[set].name);
    if (type != NULL)
        pgw_buf_addf(out, " l)::pg_catalog.%s[]", type);
}

/* Appends a set that stands in WITH, and is a list in its only row. */
static void add_shared(pgw_buf *out, size_t set, const rw_system_marks *marks)
{
    bool list = sets[set].type != NULL;
    rw_add_quoted(out, sets[set].name);
    pgw_buf_add_str(out, list ? " as materialized (select " : " as materialized ");
    add_query(out, set, marks);
    pgw_buf_add_str(out, list ? " as list)" : "");
}

/* Sets are made of those before them, which become known as they are written. */
bool rw_system_add_shared(pgw_buf *out, const rw_catalog *catalog, unsigned shared)
{
    const rw_system_marks marks = {.catalog = catalog, .shared = &shared};
    pgw_buf queries[SETS] = {{0}};
    const char *between = "";
    for (size_t i = SETS; i-- > 0;)
        if (shared & 1U << i)
            add_shared(&queries[i], i, &marks);
    for (size_t i = 0; i < SETS; i++) {
        if (queries[i].len > 0)
            pgw_buf_add_str(out, between);
        if (queries[i].len > 0)
            between = ", ";
        pgw_buf_add_slice(out, pgw_slice_buf(&queries[i]));
        pgw_buf_free(&queries[i]);
    }
    return shared != 0;
}

/* --- marks --- */

static void add_mark(pgw_buf *out, char mark, const rw_system_marks *marks)
{
    size_t set = set_of(mark, marks->catalog);
    if (set < SETS)
        add_set(out, set, marks);
    else if (mark == 'G')
        add_names_of_all(out, marks->catalog);
    else if (mark >= '1' && mark <= '0' + RW_SYSTEM_ARGUMENTS)
        pgw_buf_add_slice(out, marks->arguments[mark - '1']);
    else
        add_list(out, mark, marks->catalog);
}

void rw_system_add(pgw_buf *out, const char *sql, const rw_system_marks *marks)
{
    for (; *sql != '\0'; sql++)
        if (*sql == '%')
            add_mark(out, *++sql, marks);
        else
            pgw_buf_add_byte(out, *sql);
}
