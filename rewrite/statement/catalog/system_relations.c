#include "rewrite/statement/catalog/system_relations.h"

#include "rewrite/statement/catalog/system_sql.h"

/* Columns of an index are counted. */
#define ATTRIBUTE_COLUMNS(name, type, target, not_null, dropped)                                   \
    {"attrelid", NULL}, {"attname", name}, {"atttypid", type}, {"attstattarget", target},          \
        {"attlen", NULL},                                                                          \
        {"attnum", "(attnum - " HASHES_UP_TO("attrelid", "attnum - 1") ")::pg_catalog.int2"},      \
        {"attndims", NULL}, {"attcacheoff", NULL}, {"atttypmod", NULL}, {"attbyval", NULL},        \
        {"attalign", NULL}, {"attstorage", NULL}, {"attcompression", NULL},                        \
        {"attnotnull", not_null}, {"atthasdef", NULL}, {"atthasmissing", NULL},                    \
        {"attidentity", NULL}, {"attgenerated", NULL}, {"attisdropped", dropped},                  \
        {"attislocal", NULL}, {"attinhcount", NULL}, {"attcollation", NULL}, {"attacl", NULL},     \
        {"attoptions", NULL}, {"attfdwoptions", NULL}, {"attmissingval", NULL},                    \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }

static const rw_system_column attribute_columns[] = {
    ATTRIBUTE_COLUMNS(NULL, NULL, NULL, NULL, NULL)};

/* Who numbers columns one by one expects no gap, but one that was dropped. */
#define IS_HASH "attname in %h and (attrelid, attname) in (select t.oid, t.hash from %T t)"
static const rw_system_column dropped_columns[] = {ATTRIBUTE_COLUMNS(
    "case when " IS_HASH " then pg_catalog.concat('........pg.dropped.', attnum, '........')"
    "::pg_catalog.name else attname end",
    "case when " IS_HASH " then 0::pg_catalog.oid else atttypid end",
    "case when " IS_HASH " then attstattarget - attstattarget else attstattarget end",
    "attnotnull and not (" IS_HASH ")", "attisdropped or (" IS_HASH ")")};

static const rw_system_column index_columns[] = {
    {"indexrelid", NULL},
    {"indrelid", NULL},
#define LESS(column)                                                                               \
    "case when " OURS("indrelid") " then (" column " - "                                           \
                                  "pg_catalog.cardinality(pg_catalog.array_positions(indkey::pg_"  \
                                  "catalog.int2[], " HASH(                                         \
                                      "indrelid") ")))::pg_catalog.int2 else " column " end"
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
        "indrelid") " then (select coalesce(pg_catalog.string_agg("                                \
                    "pg_catalog.concat(k.value), ' ' order by k.place), '') from rows from ("      \
                    "pg_catalog.unnest(indkey::pg_catalog.int2[]), pg_catalog.unnest(" column      \
                    "::pg_catalog." element                                                        \
                    "[])) with ordinality k(number, value, place) where k.value is not"            \
                    " null and k.number is distinct from " HASH("indrelid") ")::pg_catalog." type  \
                                                                            " else " column " end"
    {"indkey", VECTOR("indkey", "int2", "int2vector")},
    {"indcollation", VECTOR("indcollation", "oid", "oidvector")},
    {"indclass", VECTOR("indclass", "oid", "oidvector")},
    {"indoption", VECTOR("indoption", "int2", "int2vector")},
    {"indexprs", NULL},
    {"indpred", NULL},
    {NULL, NULL},
};

/* UNIQUEs that are there for foreign keys, and the primary keys of their tables. */
#define REFERRED                                                                                   \
    " from pg_catalog.pg_class o join pg_catalog.pg_index r on r.indexrelid = o.oid"               \
    " left join pg_catalog.pg_index x on x.indrelid = r.indrelid and x.indisprimary"               \
    " where " IS_OURS("o.relname") " order by r.indexrelid"

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
                 ") then (array(select x.indexrelid" REFERRED "))[pg_catalog.array_position("
                 "array(select r.indexrelid" REFERRED "), conindid)] else conindid end"},
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

/* Columns of pg_class, some of which are shown as an ordinary table's where a table is in
 * partitions. */
#define CLASS_COLUMNS(method, kind, subclass)                                                      \
    {"oid", NULL}, {"relname", NULL}, {"relnamespace", NULL}, {"reltype", NULL},                   \
        {"reloftype", NULL}, {"relowner", NULL}, {"relam", method}, {"relfilenode", NULL},         \
        {"reltablespace", NULL}, {"relpages", NULL}, {"reltuples", NULL}, {"relallvisible", NULL}, \
        {"relallfrozen", NULL}, {"reltoastrelid", NULL}, {"relhasindex", NULL},                    \
        {"relisshared", NULL}, {"relpersistence", NULL}, {"relkind", kind},                        \
        {"relnatts",                                                                               \
         "case when relkind in ('i', 'I') then (relnatts - " HASHES_UP_TO(                         \
             "oid", "32767") ")::pg_catalog.int2 when relkind in ('r', 'p') and relnatts "         \
                             "= " HASH("oid") " then (relnatts - 1)::pg_catalog.int2 else "        \
                                              "relnatts end"},                                     \
        {"relchecks",                                                                              \
         "case when relchecks > 0 and " OURS(                                                      \
             "oid") " then (relchecks - "                                                          \
                    "pg_catalog.cardinality(pg_catalog.array_positions(array(select"               \
                    " x.conrelid from pg_catalog.pg_constraint x where x.contype = 'c' "           \
                    "and " IS_CHECK("x.") "), oid)))::pg_catalog.int2 else relchecks end"},        \
        {"relhasrules", NULL}, {"relhastriggers", NULL}, {"relhassubclass", subclass},             \
        {"relrowsecurity", NULL}, {"relforcerowsecurity", NULL}, {"relispopulated", NULL},         \
        {"relreplident", NULL}, {"relispartition", NULL}, {"relrewrite", NULL},                    \
        {"relfrozenxid", NULL}, {"relminmxid", NULL}, {"relacl", NULL}, {"reloptions", NULL},      \
        {"relpartbound", NULL},                                                                    \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }

static const rw_system_column class_columns[] = {CLASS_COLUMNS(NULL, NULL, NULL)};
#define ROOT(kinds) "case when relkind in (" kinds ") and oid = any (" ROOTS ") then "
static const rw_system_column parts_columns[] = {
    CLASS_COLUMNS(ROOT("'p'") "2::pg_catalog.oid else relam end",
                  ROOT("'p', 'I'") "case relkind when 'p' then 'r'::pg_catalog.\"char\""
                                   " else 'i'::pg_catalog.\"char\" end else relkind end",
                  ROOT("'p', 'I'") "false else relhassubclass end")};

static const rw_system_column indexes_columns[] = {
    {"schemaname", NULL},
    {"tablename", NULL},
    {"indexname", NULL},
    {"tablespace", NULL},
    {"indexdef", "case when (schemaname, tablename) in %p then " INDEX_WITHOUT_HASH(
                     "indexdef") " else indexdef end"},
    {NULL, NULL},
};

/* Their constraints that have the hash among their columns. */
#define KEYED                                                                                      \
    " from pg_catalog.pg_constraint x join %T t on t.oid = x.conrelid"                             \
    " where t.number = any (x.conkey) order by x.oid"

static const rw_system_column usage_columns[] = {
    {"constraint_catalog", NULL},
    {"constraint_schema", NULL},
    {"constraint_name", NULL},
    {"table_catalog", NULL},
    {"table_schema", NULL},
    {"table_name", NULL},
    {"column_name", NULL},
    {"ordinal_position",
     "case when ordinal_position > (array(select pg_catalog.array_position(x.conkey, "
     "t.number)" KEYED
     "))[pg_catalog.array_position(array(select pg_catalog.concat(t.schema, pg_catalog.chr(1),"
     " t.name, pg_catalog.chr(1), x.conname)" KEYED "), pg_catalog.concat(table_schema,"
     " pg_catalog.chr(1), table_name, pg_catalog.chr(1), constraint_name))]"
     " then (ordinal_position - 1)::information_schema.cardinal_number else ordinal_position end"},
    {"position_in_unique_constraint", NULL},
    {NULL, NULL},
};

#define IS_NO_HASH "(column_name not in %h or (table_schema, table_name, column_name) not in %t)"
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

#define SEEN_ATTRIBUTES                                                                            \
    "(attname not in %h or (attrelid, attname) not in (select f.oid, f.hash from %F f)"
#define IS_SEEN_ATTRIBUTE SEEN_ATTRIBUTES ") and attrelid <> all (" REFERABLE ")"
/* A row of pg_attribute is shown if it is no hash column, or one that stands before other columns.
 */
#define IS_NUMBERED                                                                                \
    SEEN_ATTRIBUTES " or attrelid = any (array(select t.oid from %T t where t.number < t.last)))"  \
                    " and attrelid <> all (" REFERABLE ")"

/* Conditions on one end of a dependency. */
#define IS_NO_PART_OF(class, object)                                                               \
    "not (" class " = 1259 and " object " = any (" PARTS                                           \
                  ")) and not (" class " = 1247 and " object " = any (" PART_TYPES                 \
                                       ")) and not (" class " = 2606 and " object                  \
                                                            " = any (array(select p.oid from"      \
                                                            " pg_catalog.pg_constraint p where "   \
                                                            "p.conrelid = any (" PARTS "))))"
#define IS_NO_HASH_OF(class, object, number)                                                       \
    "not (" number " > 0 and " class " = 1259 and " OURS(object) " and " number                    \
                                                                 " = " HASH(object) ")"
#define IS_NO_REFERABLE(class, object)                                                             \
    "not (" class " = 1259 and " object " = any (" REFERABLE                                       \
                  ")) and not (" class " = 2606 and " object                                       \
                                       " = any (array(select o.oid from pg_catalog.pg_constraint " \
                                       "o where " IS_OURS("o.conname") ")))"
#define IS_SEEN_END(class, object, number)                                                         \
    IS_NO_PART_OF(class, object)                                                                   \
    " and " IS_NO_HASH_OF(class, object, number) " and " IS_NO_REFERABLE(class, object)

#define IS_NO_CHECK "((table_schema, table_name) not in %p or constraint_name <> all (" CHECKS "))"
#define IN_NO_PART(relation) relation " <> all (" PARTS ")"
#define IS_NO_KEY_OF(index) index " <> all (" REFERABLE ")"
#define DEPENDENCIES                                                                               \
    IS_NO_HASH_OF("classid", "objid", "objsubid")                                                  \
    " and " IS_NO_HASH_OF("refclassid", "refobjid", "refobjsubid") " and " IS_NO_REFERABLE(        \
        "classid", "objid") " and " IS_NO_REFERABLE("refclassid", "refobjid")
#define NO_STATISTICS "not (" OURS("starelid") " and staattnum = " HASH("starelid") ")"
#define NO_STATS "(attname not in %h or (schemaname, tablename, attname) not in %t)"
#define NO_TYPES                                                                                   \
    "(object_schema, object_name, object_type, dtd_identifier) not in"                             \
    " (select t.schema, t.name, 'TABLE', pg_catalog.concat(t.number) from %T t)"

/* A relation that is replaced only while a table is in partitions. */
#define PARTED(schema, name, rows)                                                                 \
    {                                                                                              \
        schema, name, 0, NULL, rows, RW_SYSTEM_PARTS                                               \
    }
/* A relation that is replaced in any case: while a table is in partitions, rows of which `part` is
 * not so are left out as well. */
#define BOTH(schema, name, columns, part, rows)                                                    \
    {schema, name, 0, columns, part " and " rows, RW_SYSTEM_PARTS},                                \
    {                                                                                              \
        schema, name, 0, columns, rows, RW_SYSTEM_ALWAYS                                           \
    }
#define STATISTICS(prefix, name)                                                                   \
    PARTED("pg_catalog", prefix "_all_" name, IN_NO_PART("relid")),                                \
        PARTED("pg_catalog", prefix "_user_" name, IN_NO_PART("relid"))
#define INDEX_STATISTICS(prefix)                                                                   \
    BOTH("pg_catalog", prefix "_all_indexes", NULL, IN_NO_PART("indexrelid"),                      \
         IS_NO_KEY_OF("indexrelid")),                                                              \
        BOTH("pg_catalog", prefix "_user_indexes", NULL, IN_NO_PART("indexrelid"),                 \
             IS_NO_KEY_OF("indexrelid"))
#define INFORMATION(name, rows) BOTH("information_schema", name, NULL, IS_NO_PARTITION, rows)

static const rw_system_relation relations[] = {
    {"pg_catalog", "pg_attribute", 1249, dropped_columns, IS_NUMBERED, RW_SYSTEM_GAPS},
    {"pg_catalog", "pg_attribute", 1249, attribute_columns, IS_SEEN_ATTRIBUTE, RW_SYSTEM_ALWAYS},
    {"pg_catalog", "pg_class", 1259, parts_columns,
     "not (relispartition and oid = any (" PARTS ")) and " IS_NOT_OURS("relname"), RW_SYSTEM_PARTS},
    {"pg_catalog", "pg_class", 1259, class_columns, IS_NOT_OURS("relname"), RW_SYSTEM_ALWAYS},
    {"pg_catalog", "pg_index", 2610, index_columns,
     IN_NO_PART("indexrelid") " and " IS_NO_KEY_OF("indexrelid"), RW_SYSTEM_PARTS},
    {"pg_catalog", "pg_index", 2610, index_columns, IS_NO_KEY_OF("indexrelid"), RW_SYSTEM_ALWAYS},
    {"pg_catalog", "pg_constraint", 2606, constraint_columns,
     IN_NO_PART("conrelid") " and not (" IS_CHECK("") ") and " IS_NOT_OURS("conname"),
     RW_SYSTEM_PARTS},
    {"pg_catalog", "pg_constraint", 2606, constraint_columns,
     "not (" IS_CHECK("") ") and " IS_NOT_OURS("conname"), RW_SYSTEM_ALWAYS},
    PARTED("pg_catalog", "pg_inherits", IN_NO_PART("inhrelid")),
    PARTED("pg_catalog", "pg_partitioned_table", "partrelid <> all (%O)"),
    PARTED("pg_catalog", "pg_tables", IS_NO_PART("schemaname", "tablename")),
    BOTH("pg_catalog", "pg_indexes", indexes_columns, IS_NO_PART("schemaname", "tablename"),
         IS_NOT_OURS("indexname")),
    BOTH("pg_catalog", "pg_stats", NULL, IS_NO_PART("schemaname", "tablename"), NO_STATS),
    BOTH("pg_catalog", "pg_statistic", NULL, IN_NO_PART("starelid"), NO_STATISTICS),
    PARTED("pg_catalog", "pg_type", IN_NO_PART("typrelid") " and typelem <> all (" PART_TYPES ")"),
    PARTED("pg_catalog", "pg_trigger", IN_NO_PART("tgrelid")),
    PARTED("pg_catalog", "pg_attrdef", IN_NO_PART("adrelid")),
    PARTED("pg_catalog", "pg_locks", "(relation is null or " IN_NO_PART("relation") ")"),
    BOTH("pg_catalog", "pg_depend", NULL,
         IS_NO_PART_OF("classid", "objid") " and " IS_NO_PART_OF("refclassid", "refobjid"),
         DEPENDENCIES),
    PARTED("pg_catalog", "pg_shdepend", IS_NO_PART_OF("classid", "objid")),
    STATISTICS("pg_stat", "tables"),
    STATISTICS("pg_stat_xact", "tables"),
    STATISTICS("pg_statio", "tables"),
    INDEX_STATISTICS("pg_stat"),
    INDEX_STATISTICS("pg_statio"),
    PARTED("information_schema", "tables", IS_NO_PARTITION),
    PARTED("information_schema", "table_privileges", IS_NO_PARTITION),
    PARTED("information_schema", "role_table_grants", IS_NO_PARTITION),
    INFORMATION("column_privileges", IS_NO_HASH),
    INFORMATION("role_column_grants", IS_NO_HASH),
    INFORMATION("columns", IS_NO_HASH),
    INFORMATION("column_udt_usage", IS_NO_HASH),
    BOTH("information_schema", "data_type_privileges", NULL,
         IS_NO_PART("object_schema", "object_name"), NO_TYPES),
    PARTED("information_schema", "udt_privileges", IS_NO_PART("udt_schema", "udt_name")),
    PARTED("information_schema", "role_udt_grants", IS_NO_PART("udt_schema", "udt_name")),
    PARTED("information_schema", "triggers",
           IS_NO_PART("event_object_schema", "event_object_table")),
    BOTH("information_schema", "key_column_usage", usage_columns, IS_NO_PARTITION,
         IS_NO_HASH " and " IS_NO_KEY),
    INFORMATION("constraint_column_usage", IS_NO_HASH " and " IS_NO_KEY " and " IS_NO_CHECK),
    INFORMATION("constraint_table_usage", IS_NO_KEY),
    {"information_schema", "referential_constraints", 0, references_columns, NULL,
     RW_SYSTEM_ALWAYS},
    INFORMATION("table_constraints", IS_NO_KEY " and " IS_NO_CHECK),
    {"information_schema", "check_constraints", 0, NULL, "constraint_name <> all (" CHECKS ")",
     RW_SYSTEM_ALWAYS},
};

enum { RELATIONS = sizeof relations / sizeof *relations };

const rw_system_relation *rw_system_relation_at(size_t i)
{
    return i < RELATIONS ? &relations[i] : NULL;
}
