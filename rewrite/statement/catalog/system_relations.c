#include "rewrite/statement/catalog/system_relations.h"

#include "rewrite/statement/catalog/system_sql.h"

/* Columns of an index are counted. */
#define ATTRIBUTE_COLUMNS(name, type, target, not_null, dropped)                                   \
    {"attrelid", NULL}, {"attname", name}, {"atttypid", type}, {"attstattarget", target},          \
        {"attlen", NULL},                                                                          \
        {"attnum",                                                                                 \
         "case when attrelid = any (array" INDEXES ") then (attnum - (select"                      \
         " pg_catalog.count(*) from pg_catalog.pg_attribute h where h.attrelid ="                  \
         " pg_attribute.attrelid and h.attname in %h and h.attnum < pg_attribute.attnum))"         \
         "::pg_catalog.int2 else attnum end"},                                                     \
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
#define IS_HASH                                                                                    \
    "attname in %h and (attrelid, attname) in (select c.oid, h.attname from" NAMED(                \
        "c") " join pg_catalog.pg_attribute h on h.attrelid = c.oid"                               \
             " where (n.nspname, c.relname, h.attname) in %t)"
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
        "indrelid") " then (select coalesce(pg_catalog.string_agg(pg_catalog.concat(" column       \
                    "[o]), ' ' order by o), '') from pg_catalog.generate_subscripts(" column       \
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

static const rw_system_column indexes_columns[] = {
    {"schemaname", NULL},
    {"tablename", NULL},
    {"indexname", NULL},
    {"tablespace", NULL},
    {"indexdef", "case when (schemaname, tablename) in %p then " INDEX_WITHOUT_HASH(
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

#define SEEN_ATTRIBUTES "(attname not in %h or (attrelid, attname) not in " FAMILY("oid, hash", "")
#define IS_SEEN_ATTRIBUTE SEEN_ATTRIBUTES ") and attrelid <> all (" REFERABLE ")"
/* … or stands before another one. */
#define IS_NUMBERED                                                                                \
    SEEN_ATTRIBUTES " or (" OURS("attrelid") " and exists (select from pg_catalog.pg_attribute l"  \
                                             " where l.attrelid = pg_attribute.attrelid and "      \
                                             "l.attnum > pg_attribute.attnum)))"                   \
                                             " and attrelid <> all (" REFERABLE ")"

/* Types of the rows of partitions. */
#define PART_TYPES                                                                                 \
    "array(select p.reltype from pg_catalog.pg_class p where p.reltype <> 0 and p.oid = any "      \
    "(" PARTS "))"

/* One end of a dependency. */
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
#define IN_NO_PART "relid <> all (" PARTS ")"
#define BY_NO_PART "indexrelid <> all (" PARTS ") and indexrelid <> all (" REFERABLE ")"

#define STATISTICS(prefix, name)                                                                   \
    {"pg_catalog", prefix "_all_" name, 0, NULL, IN_NO_PART, RW_SYSTEM_PARTS},                     \
    {                                                                                              \
        "pg_catalog", prefix "_user_" name, 0, NULL, IN_NO_PART, RW_SYSTEM_PARTS                   \
    }
#define INDEX_STATISTICS(prefix)                                                                   \
    {"pg_catalog", prefix "_all_indexes", 0, NULL, BY_NO_PART, RW_SYSTEM_ALWAYS},                  \
    {                                                                                              \
        "pg_catalog", prefix "_user_indexes", 0, NULL, BY_NO_PART, RW_SYSTEM_ALWAYS                \
    }
#define ALWAYS(schema, name, rows)                                                                 \
    {                                                                                              \
        schema, name, 0, NULL, rows, RW_SYSTEM_ALWAYS                                              \
    }
#define DEPENDENCIES                                                                               \
    IS_NO_HASH_OF("classid", "objid", "objsubid")                                                  \
    " and " IS_NO_HASH_OF("refclassid", "refobjid", "refobjsubid") " and " IS_NO_REFERABLE(        \
        "classid", "objid") " and " IS_NO_REFERABLE("refclassid", "refobjid")

static const rw_system_relation relations[] = {
    {"pg_catalog", "pg_attribute", 1249, dropped_columns, IS_NUMBERED, RW_SYSTEM_GAPS},
    {"pg_catalog", "pg_attribute", 1249, attribute_columns, IS_SEEN_ATTRIBUTE, RW_SYSTEM_ALWAYS},
    {"pg_catalog", "pg_class", 1259, class_columns,
     "not (relispartition and oid = any (" PARTS ")) and " IS_NOT_OURS("relname"),
     RW_SYSTEM_ALWAYS},
    {"pg_catalog", "pg_index", 2610, index_columns, BY_NO_PART, RW_SYSTEM_ALWAYS},
    {"pg_catalog", "pg_constraint", 2606, constraint_columns,
     "conrelid <> all (" PARTS ") and not (" IS_CHECK("") ") and " IS_NOT_OURS("conname"),
     RW_SYSTEM_ALWAYS},
    ALWAYS("pg_catalog", "pg_inherits", "inhrelid <> all (" PARTS ")"),
    ALWAYS("pg_catalog", "pg_partitioned_table", "partrelid <> all (array" TABLES ")"),
    ALWAYS("pg_catalog", "pg_tables", IS_NO_PART("schemaname", "tablename")),
    {"pg_catalog", "pg_indexes", 0, indexes_columns,
     IS_NO_PART("schemaname", "tablename") " and " IS_NOT_OURS("indexname"), RW_SYSTEM_ALWAYS},
    ALWAYS("pg_catalog", "pg_stats",
           "(schemaname, tablename, attname) not in %t and " IS_NO_PART("schemaname", "tablename")),
    ALWAYS("pg_catalog", "pg_statistic",
           "starelid <> all (" PARTS
           ") and not (" OURS("starelid") " and staattnum = " HASH("starelid") ")"),
    {"pg_catalog", "pg_type", 0, NULL,
     "typrelid <> all (" PARTS ") and typelem <> all (" PART_TYPES ")", RW_SYSTEM_PARTS},
    {"pg_catalog", "pg_trigger", 0, NULL, "tgrelid <> all (" PARTS ")", RW_SYSTEM_PARTS},
    {"pg_catalog", "pg_attrdef", 0, NULL, "adrelid <> all (" PARTS ")", RW_SYSTEM_PARTS},
    {"pg_catalog", "pg_locks", 0, NULL, "(relation is null or relation <> all (" PARTS "))",
     RW_SYSTEM_PARTS},
    {"pg_catalog", "pg_depend", 0, NULL,
     IS_NO_PART_OF("classid", "objid") " and " IS_NO_PART_OF("refclassid",
                                                             "refobjid") " and " DEPENDENCIES,
     RW_SYSTEM_PARTS},
    ALWAYS("pg_catalog", "pg_depend", DEPENDENCIES),
    {"pg_catalog", "pg_shdepend", 0, NULL, IS_NO_PART_OF("classid", "objid"), RW_SYSTEM_PARTS},
    STATISTICS("pg_stat", "tables"),
    STATISTICS("pg_stat_xact", "tables"),
    STATISTICS("pg_statio", "tables"),
    INDEX_STATISTICS("pg_stat"),
    INDEX_STATISTICS("pg_statio"),
    ALWAYS("information_schema", "tables", IS_NO_PARTITION),
    ALWAYS("information_schema", "table_privileges", IS_NO_PARTITION),
    ALWAYS("information_schema", "role_table_grants", IS_NO_PARTITION),
    ALWAYS("information_schema", "column_privileges", IS_NO_HASH " and " IS_NO_PARTITION),
    ALWAYS("information_schema", "role_column_grants", IS_NO_HASH " and " IS_NO_PARTITION),
    ALWAYS("information_schema", "columns", IS_NO_HASH " and " IS_NO_PARTITION),
    ALWAYS("information_schema", "column_udt_usage", IS_NO_HASH " and " IS_NO_PARTITION),
    ALWAYS(
        "information_schema", "data_type_privileges",
        IS_NO_PART("object_schema",
                   "object_name") " and (object_schema, object_name,"
                                  " object_type, dtd_identifier) not in (select n.nspname, "
                                  "c.relname, 'TABLE',"
                                  " pg_catalog.concat(h.attnum) from" NAMED(
                                      "c") " join pg_catalog.pg_attribute h on h.attrelid = c.oid"
                                           " where (n.nspname, c.relname, h.attname) in %t)"),
    {"information_schema", "udt_privileges", 0, NULL, IS_NO_PART("udt_schema", "udt_name"),
     RW_SYSTEM_PARTS},
    {"information_schema", "role_udt_grants", 0, NULL, IS_NO_PART("udt_schema", "udt_name"),
     RW_SYSTEM_PARTS},
    {"information_schema", "triggers", 0, NULL,
     IS_NO_PART("event_object_schema", "event_object_table"), RW_SYSTEM_PARTS},
    {"information_schema", "key_column_usage", 0, usage_columns,
     IS_NO_HASH " and " IS_NO_PARTITION " and " IS_NO_KEY, RW_SYSTEM_ALWAYS},
    ALWAYS("information_schema", "constraint_column_usage",
           IS_NO_HASH " and " IS_NO_PARTITION " and " IS_NO_KEY " and " IS_NO_CHECK),
    ALWAYS("information_schema", "constraint_table_usage", IS_NO_PARTITION " and " IS_NO_KEY),
    {"information_schema", "referential_constraints", 0, references_columns, NULL,
     RW_SYSTEM_ALWAYS},
    ALWAYS("information_schema", "table_constraints",
           IS_NO_PARTITION " and " IS_NO_KEY " and " IS_NO_CHECK),
    ALWAYS("information_schema", "check_constraints", "constraint_name <> all (" CHECKS ")"),
};

enum { RELATIONS = sizeof relations / sizeof *relations };

const rw_system_relation *rw_system_relation_at(size_t i)
{
    return i < RELATIONS ? &relations[i] : NULL;
}
