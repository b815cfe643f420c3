/*
 * system_sql: SQL about the tables whose hash columns are unseen, of which what is put in the place
 * of PostgreSQL's own relations and functions is made. It names tables, and looks their numbers up:
 * a table that is dropped and made again is found again, also by what was prepared before. Marks:
 * %p stands for the tables' schemas and names, %t for these with their hash columns, %s for those
 * of them that are strict, %h for the hash columns, %q for a pattern of them, %1 and %2 for the
 * arguments of a call. Tables are an ARRAY(…) or a scalar each, which the planner asks once, and
 * which leave the order of joins, and hence of rows, as it was.
 */
#ifndef RW_SYSTEM_SQL_H
#define RW_SYSTEM_SQL_H

#include "rewrite/statement/define/referable.h"

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

/* A definition whose list of columns begins as `start` matches, without the hash wherever it stands
 * in it. Both take the shortest match, for more may stand behind the list. */
#define WITHOUT_HASH(text, start)                                                                  \
    "pg_catalog.regexp_replace(pg_catalog.regexp_replace(" text ", E'(" start "[(])%q, ',"         \
    " E'\\\\1'), E'(" start "[(].*?), %q(?=[,)])', E'\\\\1')"
#define KEY_WITHOUT_HASH(text) WITHOUT_HASH(text, "^(?:PRIMARY|UNIQUE|FOREIGN)[A-Z ]*?")
#define INDEX_WITHOUT_HASH(text)                                                                   \
    WITHOUT_HASH("pg_catalog.regexp_replace(" text ", ' ON ONLY ', ' ON ')", " USING [^ ]+? ")

#endif
