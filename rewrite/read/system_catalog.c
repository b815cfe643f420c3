/*
 * What is put in names tables, and looks their numbers up: a table that is dropped and made again
 * is found again, also by what was prepared before. Marks: %p stands for the tables' schemas and
 * names, %t for these with their hash columns, %h for the hash columns, %q for a pattern of them,
 * %1 and %2 for the arguments of a call.
 * Tables are an ARRAY(…) or a scalar each, which the planner asks once, and which leave the order
 * of joins, and hence of rows, as it was.
 */
#include "rewrite/read/system_catalog.h"

#include "rewrite/lex/quote.h"
#include "rewrite/read/referable.h"

#include <string.h>

/* --- tables --- */

#define NAMED(alias)                                                                               \
    " pg_catalog.pg_class " alias " join pg_catalog.pg_namespace n on n.oid = " alias              \
    ".relnamespace"
#define TABLES                                                                                     \
    "(select c.oid from" NAMED("c") " join pg_catalog.pg_attribute h on h.attrelid = c.oid"        \
                                    " where (n.nspname, c.relname, h.attname) in %t)"
#define OURS(oid) oid " = any (array" TABLES ")"
/* The number of the hash column of one of them. */
#define HASH(oid)                                                                                  \
    "(select h.attnum from pg_catalog.pg_attribute h join" NAMED(                                  \
        "c") " on c.oid = h.attrelid"                                                              \
             " where h.attrelid = " oid " and (n.nspname, c.relname, h.attname) in %t)"
#define INDEXES "(select x.indexrelid from pg_catalog.pg_index x where x." OURS("indrelid") ")"
/* With what belongs to them: indexes, and partitions of both. */
#define FAMILY(columns, condition)                                                                 \
    "(with recursive t(oid, hash) as (select c.oid, h.attname from" NAMED(                         \
        "c") " join pg_catalog.pg_attribute h on h.attrelid = c.oid"                               \
             " where (n.nspname, c.relname, h.attname) in %t),"                                    \
             " f(oid, hash, part) as (select oid, hash, false from t union all"                    \
             " select x.indexrelid, t.hash, false from pg_catalog.pg_index x join t on t.oid = "   \
             "x.indrelid"                                                                          \
             " union all select p.inhrelid, f.hash, true from f cross join lateral"                \
             " (select i.inhrelid from pg_catalog.pg_inherits i join pg_catalog.pg_class k"        \
             " on k.oid = i.inhrelid and k.relispartition where i.inhparent = f.oid offset 0) p)"  \
             " select " columns " from f" condition ")"

/* Names of UNIQUEs that are there for foreign keys alone; no other begins so. */
#define IS_OURS(name) name " >= '" RW_REFERABLE_PREFIX "' and " name " < 'keyspread_key_of`'"
#define IS_NOT_OURS(name)                                                                          \
    "(" name " < '" RW_REFERABLE_PREFIX "' or " name " >= 'keyspread_key_of`')"
#define REFERABLE "array(select o.oid from pg_catalog.pg_class o where " IS_OURS("o.relname") ")"

#define PARTS "array" FAMILY("oid", " where part")
#define ROOTS "array" FAMILY("oid", " where not part")
/* Schemas and names of partitions, in one text each. */
#define IS_NO_PART(schema, table)                                                                  \
    "pg_catalog.concat(" schema ", pg_catalog.chr(1), " table                                      \
    ") <> all (array(select pg_catalog.concat(n.nspname, pg_catalog.chr(1), c.relname) "           \
    "from" NAMED("c") " where c.oid = any (" PARTS ")))"
/* Constraints that are about nothing but a hash column. */
#define IS_CHECK(relation)                                                                         \
    relation "contype in ('c', 'n') and " OURS(relation "conrelid") " and " HASH(                  \
        relation "conrelid") " = any (" relation "conkey)"
#define CHECKS                                                                                     \
    "array(select pg_catalog.concat(n.oid, '_', c.oid, '_', h.attnum, '_not_null')"                \
    "::pg_catalog.name from" NAMED(                                                                \
        "c") " join pg_catalog.pg_attribute h on h.attrelid = c.oid"                               \
             " where (n.nspname, c.relname, h.attname) in %t union all select x.conname from"      \
             " pg_catalog.pg_constraint x where " IS_CHECK("x.") ")"

/* --- relations --- */

static const rw_system_column attribute_columns[] = {
    {"attrelid", NULL},
    {"attname", NULL},
    {"atttypid", NULL},
    {"attstattarget", NULL},
    {"attlen", NULL},
    /* Columns of an index are counted. */
    {"attnum", "case when attrelid = any (array" INDEXES ") then (attnum - (select"
               " pg_catalog.count(*) from pg_catalog.pg_attribute h where h.attrelid ="
               " pg_attribute.attrelid and h.attname in %h and h.attnum < pg_attribute.attnum))"
               "::pg_catalog.int2 else attnum end"},
    {"attndims", NULL},
    {"attcacheoff", NULL},
    {"atttypmod", NULL},
    {"attbyval", NULL},
    {"attalign", NULL},
    {"attstorage", NULL},
    {"attcompression", NULL},
    {"attnotnull", NULL},
    {"atthasdef", NULL},
    {"atthasmissing", NULL},
    {"attidentity", NULL},
    {"attgenerated", NULL},
    {"attisdropped", NULL},
    {"attislocal", NULL},
    {"attinhcount", NULL},
    {"attcollation", NULL},
    {"attacl", NULL},
    {"attoptions", NULL},
    {"attfdwoptions", NULL},
    {"attmissingval", NULL},
    {NULL, NULL},
};

static const rw_system_column index_columns[] = {
    {"indexrelid", NULL},
    {"indrelid", NULL},
#define LESS(column)                                                                               \
    "case when " OURS(                                                                             \
        "indrelid") " then (" column " - (select pg_catalog.count(*) from"                         \
                    " pg_catalog.unnest(indkey::pg_catalog.int2[]) k where k = " HASH(             \
                        "indrelid") "))::pg_catalog.int2 else " column " end"
    {"indnatts", LESS("indnatts")},
    {"indnkeyatts", LESS("indnkeyatts")},
    {"indisunique", NULL},
    {"indnullsnotdistinct", NULL},
    {"indisprimary", NULL},
    {"indisexclusion", NULL},
    {"indimmediate", NULL},
    {"indisclustered", NULL},
    {"indisvalid", NULL},
    {"indcheckxmin", NULL},
    {"indisready", NULL},
    {"indislive", NULL},
    {"indisreplident", NULL},
#define VECTOR(column, element, type)                                                              \
    "case when " OURS(                                                                             \
        "indrelid") " then (select coalesce(pg_catalog.string_agg(" column                         \
                    "[o]::text, ' ' order by o), '') from pg_catalog.generate_subscripts(" column  \
                    "::pg_catalog." element "[], 1) o where indkey[o] is distinct from " HASH(     \
                        "indrelid") ")::pg_catalog." type " else " column " end"
    {"indkey", VECTOR("indkey", "int2", "int2vector")},
    {"indcollation", VECTOR("indcollation", "oid", "oidvector")},
    {"indclass", VECTOR("indclass", "oid", "oidvector")},
    {"indoption", VECTOR("indoption", "int2", "int2vector")},
    {"indexprs", NULL},
    {"indpred", NULL},
    {NULL, NULL},
};

static const rw_system_column constraint_columns[] = {
    {"oid", NULL},
    {"conname", NULL},
    {"connamespace", NULL},
    {"contype", NULL},
    {"condeferrable", NULL},
    {"condeferred", NULL},
    {"conenforced", NULL},
    {"convalidated", NULL},
    {"conrelid", NULL},
    {"contypid", NULL},
    /* A foreign key leans on the primary key. */
    {"conindid", "case when contype = 'f' and conindid = any (" REFERABLE
                 ") then (select x.indexrelid from pg_catalog.pg_index x where x.indrelid ="
                 " confrelid and x.indisprimary) else conindid end"},
    {"conparentid", NULL},
    {"confrelid", NULL},
    {"confupdtype", NULL},
    {"confdeltype", NULL},
    {"confmatchtype", NULL},
    {"conislocal", NULL},
    {"coninhcount", NULL},
    /* A partitioned table's key is inherited, an ordinary one's is not. */
    {"connoinherit",
     "case when contype in ('p', 'u') and " OURS("conrelid") " then true else connoinherit end"},
    {"conperiod", NULL},
#define KEY(column, table)                                                                         \
    "case when " OURS(table) " then pg_catalog.array_remove(" column                               \
                             ", " HASH(table) ") else " column " end"
    {"conkey", KEY("conkey", "conrelid")},
    {"confkey", KEY("confkey", "confrelid")},
    {"conpfeqop", NULL},
    {"conppeqop", NULL},
    {"conffeqop", NULL},
    {"confdelsetcols", NULL},
    {"conexclop", NULL},
    {"conbin", NULL},
    {NULL, NULL},
};

static const rw_system_column class_columns[] = {
    {"oid", NULL},
    {"relname", NULL},
    {"relnamespace", NULL},
    {"reltype", NULL},
    {"reloftype", NULL},
    {"relowner", NULL},
#define ROOT(kinds) "case when relkind in (" kinds ") and oid = any (" ROOTS ") then "
    {"relam", ROOT("'p'") "2::pg_catalog.oid else relam end"},
    {"relfilenode", NULL},
    {"reltablespace", NULL},
    {"relpages", NULL},
    {"reltuples", NULL},
    {"relallvisible", NULL},
    {"relallfrozen", NULL},
    {"reltoastrelid", NULL},
    {"relhasindex", NULL},
    {"relisshared", NULL},
    {"relpersistence", NULL},
    {"relkind", ROOT("'p', 'I'") "case relkind when 'p' then 'r'::pg_catalog.\"char\""
                                 " else 'i'::pg_catalog.\"char\" end else relkind end"},
    {"relnatts",
     ROOT("'r', 'p', 'i', 'I'") "(select case when relkind in ('i', 'I') then pg_catalog.count(*)"
                                " else pg_catalog.max(a.attnum) end from pg_catalog.pg_attribute a "
                                "where"
                                " a.attrelid = pg_class.oid and a.attnum > 0 and a.attname not in "
                                "%h)::pg_catalog.int2"
                                " else relnatts end"},
    {"relchecks",
     "case when relchecks > 0 and " OURS(
         "oid") " then (relchecks - (select pg_catalog.count(*) from pg_catalog.pg_constraint x"
                " where x.conrelid = pg_class.oid and x.contype = 'c' and " HASH(
                    "pg_class.oid") " = any (x.conkey)))::pg_catalog.int2 else relchecks end"},
    {"relhasrules", NULL},
    {"relhastriggers", NULL},
    {"relhassubclass", ROOT("'p', 'I'") "false else relhassubclass end"},
    {"relrowsecurity", NULL},
    {"relforcerowsecurity", NULL},
    {"relispopulated", NULL},
    {"relreplident", NULL},
    {"relispartition", NULL},
    {"relrewrite", NULL},
    {"relfrozenxid", NULL},
    {"relminmxid", NULL},
    {"relacl", NULL},
    {"reloptions", NULL},
    {"relpartbound", NULL},
    {NULL, NULL},
};

#define FIRST_OF_KEY(text, start)                                                                  \
    "pg_catalog.regexp_replace(" text ", E'(" start ")%q, ', E'\\\\1')"
#define FIRST_OF_INDEX(text)                                                                       \
    FIRST_OF_KEY("pg_catalog.regexp_replace(" text ", ' ON ONLY ', ' ON ')", " USING [^ ]+ "       \
                                                                             "\\\\(")

static const rw_system_column indexes_columns[] = {
    {"schemaname", NULL},
    {"tablename", NULL},
    {"indexname", NULL},
    {"tablespace", NULL},
    {"indexdef", "case when (schemaname, tablename) in %p then " FIRST_OF_INDEX(
                     "indexdef") " else indexdef end"},
    {NULL, NULL},
};

static const rw_system_column usage_columns[] = {
    {"constraint_catalog", NULL},
    {"constraint_schema", NULL},
    {"constraint_name", NULL},
    {"table_catalog", NULL},
    {"table_schema", NULL},
    {"table_name", NULL},
    {"column_name", NULL},
    {"ordinal_position",
     "case when (table_schema, table_name) in %p then (ordinal_position - (select"
     " pg_catalog.count(*) from information_schema.key_column_usage u where"
     " u.constraint_schema = key_column_usage.constraint_schema and"
     " u.constraint_name = key_column_usage.constraint_name and"
     " (u.table_schema, u.table_name, u.column_name) in %t and"
     " u.ordinal_position < key_column_usage.ordinal_position))"
     "::information_schema.cardinal_number else ordinal_position end"},
    {"position_in_unique_constraint", NULL},
    {NULL, NULL},
};

#define IS_NO_HASH "(table_schema, table_name, column_name) not in %t"
#define IS_NO_PARTITION IS_NO_PART("table_schema", "table_name")
#define IS_NO_KEY IS_NOT_OURS("constraint_name")

static const rw_system_column references_columns[] = {
    {"constraint_catalog", NULL},
    {"constraint_schema", NULL},
    {"constraint_name", NULL},
    {"unique_constraint_catalog", NULL},
    {"unique_constraint_schema", NULL},
    {"unique_constraint_name",
     "case when " IS_OURS(
         "unique_constraint_name") " then (select p.conname from pg_catalog.pg_constraint u"
                                   " join pg_catalog.pg_constraint p on p.conrelid = u.conrelid"
                                   " and p.contype = 'p' join pg_catalog.pg_namespace n"
                                   " on n.oid = u.connamespace where u.contype = 'u'"
                                   " and u.conname = unique_constraint_name"
                                   " and n.nspname = unique_constraint_schema)"
                                   "::information_schema.sql_identifier"
                                   " else unique_constraint_name end"},
    {"match_option", NULL},
    {"update_rule", NULL},
    {"delete_rule", NULL},
    {NULL, NULL},
};

static const rw_system_relation relations[] = {
    {"pg_catalog", "pg_attribute", attribute_columns, false,
     "(attname not in %h or (attrelid, attname) not in " FAMILY(
         "oid, hash", "") ") and attrelid <> all (" REFERABLE ")"},
    {"pg_catalog", "pg_class", class_columns, false,
     "not (relispartition and oid = any (" PARTS ")) and " IS_NOT_OURS("relname")},
    {"pg_catalog", "pg_index", index_columns, false,
     "indexrelid <> all (" PARTS ") and indexrelid <> all (" REFERABLE ")"},
    {"pg_catalog", "pg_constraint", constraint_columns, false,
     "conrelid <> all (" PARTS ") and not (" IS_CHECK("") ") and " IS_NOT_OURS("conname")},
    {"pg_catalog", "pg_inherits", NULL, false, "inhrelid <> all (" PARTS ")"},
    {"pg_catalog", "pg_partitioned_table", NULL, false, "partrelid <> all (array" TABLES ")"},
    {"pg_catalog", "pg_tables", NULL, false, IS_NO_PART("schemaname", "tablename")},
    {"pg_catalog", "pg_indexes", indexes_columns, true,
     IS_NO_PART("schemaname", "tablename") " and " IS_NOT_OURS("indexname")},
    {"pg_catalog", "pg_stats", NULL, false,
     "(schemaname, tablename, attname) not in %t and " IS_NO_PART("schemaname", "tablename")},
    {"information_schema", "tables", NULL, false, IS_NO_PARTITION},
    {"information_schema", "table_privileges", NULL, false, IS_NO_PARTITION},
    {"information_schema", "role_table_grants", NULL, false, IS_NO_PARTITION},
    {"information_schema", "column_privileges", NULL, false, IS_NO_HASH " and " IS_NO_PARTITION},
    {"information_schema", "role_column_grants", NULL, false, IS_NO_HASH " and " IS_NO_PARTITION},
    {"information_schema", "columns", NULL, false, IS_NO_HASH " and " IS_NO_PARTITION},
    {"information_schema", "key_column_usage", usage_columns, true,
     IS_NO_HASH " and " IS_NO_PARTITION " and " IS_NO_KEY},
    {"information_schema", "constraint_column_usage", NULL, false,
     IS_NO_HASH " and " IS_NO_PARTITION " and " IS_NO_KEY},
    {"information_schema", "constraint_table_usage", NULL, false,
     IS_NO_PARTITION " and " IS_NO_KEY},
    {"information_schema", "referential_constraints", references_columns, true, NULL},
    {"information_schema", "table_constraints", NULL, false,
     IS_NO_PARTITION " and " IS_NO_KEY
                     " and ((table_schema, table_name) not in %p or constraint_name <> all (" CHECKS
                     "))"},
    {"information_schema", "check_constraints", NULL, false, "constraint_name <> all (" CHECKS ")"},
};

/* --- functions --- */

#define SHOWN(name, ours, text)                                                                    \
    name, " (select case when " ours " then " text " else k.shown end as " name " from (select ",  \
        ", (%1)::pg_catalog.oid) k(shown, id)) "

static const rw_system_function functions[] = {
    {SHOWN("pg_get_indexdef", "k.id = any (array" INDEXES ")", FIRST_OF_INDEX("k.shown")),
     " + (select pg_catalog.count(*)::pg_catalog.int4 from pg_catalog.pg_attribute h where"
     " h.attrelid = (%1)::pg_catalog.oid and h.attrelid = any (array" INDEXES
     ") and h.attname in %h and h.attnum <= (%2))"},
    {SHOWN("pg_get_constraintdef",
           "exists (select from pg_catalog.pg_constraint x where x.oid = k.id and " OURS(
               "x.conrelid") ")",
           FIRST_OF_KEY("k.shown", "^[A-Z ]+ \\\\(")),
     NULL},
};

/* --- names --- */

enum {
    RELATIONS = sizeof relations / sizeof *relations,
    FUNCTIONS = sizeof functions / sizeof *functions
};

const char *rw_system_name(size_t i)
{
    if (i < RELATIONS)
        return relations[i].name;
    if (i < RELATIONS + FUNCTIONS)
        return functions[i - RELATIONS].name;
    return NULL;
}

bool rw_system_names(pgw_slice word)
{
    if (word.len < 8)
        return false;
    char first = (char)(word.ptr[0] | 32);
    if (first == 'i')
        return pgw_slice_ieq_str(word, "information_schema");
    if (first != 'p' || word.ptr[2] != '_')
        return false;
    for (size_t i = 0; rw_system_name(i) != NULL; i++)
        if (pgw_slice_ieq_str(word, rw_system_name(i)))
            return true;
    return false;
}

static bool is_in(const char *schema, const char *written)
{
    bool found_without = strcmp(schema, "pg_catalog") == 0;
    return written[0] == '\0' ? found_without : strcmp(schema, written) == 0;
}

const rw_system_relation *rw_system_relation_of(const char *schema, const char *name)
{
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        if (strcmp(relations[i].name, name) == 0 && is_in(relations[i].schema, schema))
            return &relations[i];
    return NULL;
}

const rw_system_function *rw_system_function_of(const char *schema, const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0 && is_in("pg_catalog", schema))
            return &functions[i];
    return NULL;
}

/* --- marks --- */

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

/* For a regular expression in E'…', as quote_ident() writes it. */
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
    const char *names[] = {table->schema, table->name, table->columns[table->hash_column].name};
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

static void add_mark(pgw_buf *out, char mark, const rw_catalog *catalog)
{
    const char *between = mark == 'q' ? "(?:" : "(";
    for (size_t i = 0; i < catalog->count; i++) {
        if (!hides(catalog->tables[i]))
            continue;
        pgw_buf_add_str(out, between);
        add_names(out, mark, catalog->tables[i]);
        between = mark == 'q' ? "|" : ", ";
    }
    pgw_buf_add_byte(out, ')');
}

void rw_system_add(pgw_buf *out, const char *sql, const rw_system_marks *marks)
{
    for (; *sql != '\0'; sql++) {
        if (*sql != '%')
            pgw_buf_add_byte(out, *sql);
        else if (*++sql == '1' || *sql == '2')
            pgw_buf_add_slice(out, marks->arguments[*sql - '1']);
        else
            add_mark(out, *sql, marks->catalog);
    }
}
