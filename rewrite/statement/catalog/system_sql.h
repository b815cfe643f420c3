/*
 * system_sql: SQL about the tables whose hash columns are unseen, of which what is put in the place
 * of PostgreSQL's own relations and functions is made. It names tables, and looks their numbers up:
 * a table that is dropped and made again is found again, also by what was prepared before. Marks:
 * those of system_marks.h, %p for the tables' schemas and names, %t for these with their hash
 * columns, %s for those of them that are strict, %h for the hash columns, %q for a pattern of them,
 * %1 and %2 for the arguments of a call.
 *
 * What is asked of each row is asked of an ARRAY(…), or is in a list that is hashed. The planner
 * has these made once and takes them for cheap, as they are, and the order of joins, and hence of
 * rows, stays as it was. A query for each row it would count for all of them, also behind a CASE
 * that leads to it for a few: then it takes a statement for a long one and has it compiled (jit).
 */
#ifndef RW_SYSTEM_SQL_H
#define RW_SYSTEM_SQL_H

#include "rewrite/statement/define/referable.h"

#define NAMED(alias)                                                                               \
    " pg_catalog.pg_class " alias " join pg_catalog.pg_namespace n on n.oid = " alias              \
    ".relnamespace"
#define OURS(oid) oid " = any (%O)"
/* The number of the hash column of a table whose hash is hidden. */
#define HASH(oid) "(%N)[pg_catalog.array_position(%O, " oid ")]"
/* How many columns of an index, up to one by its number, from 0 to 32767, are a hash. */
#define PLACED(index, number)                                                                      \
    "pg_catalog.width_bucket(" index "::pg_catalog.int8 * 65536 + " number ", %P)"
#define HASHES_UP_TO(index, number) "(" PLACED(index, number) " - " PLACED(index, "0") ")"

/* Names of UNIQUEs that are there for foreign keys alone; no other begins so. */
#define IS_OURS(name) name " >= '" RW_REFERABLE_PREFIX "' and " name " < 'keyspread_key_of`'"
#define IS_NOT_OURS(name)                                                                          \
    "(" name " < '" RW_REFERABLE_PREFIX "' or " name " >= 'keyspread_key_of`')"
#define REFERABLE "%K"

#define PARTS "%B"
#define ROOTS "%R"
#define PART_TYPES "%Y"
#define IS_NO_PART(schema, table)                                                                  \
    "pg_catalog.concat(" schema ", pg_catalog.chr(1), " table ") <> all (%V)"
/* Constraints that are about nothing but a hash column. */
#define IS_CHECK(relation)                                                                         \
    relation "contype in ('c', 'n') and " OURS(relation "conrelid") " and " HASH(                  \
        relation "conrelid") " = any (" relation "conkey)"
#define CHECKS                                                                                     \
    "array(select pg_catalog.concat(t.space, '_', t.oid, '_', t.number, '_not_null')"              \
    "::pg_catalog.name from %T t union all select x.conname from pg_catalog.pg_constraint x"       \
    " where " IS_CHECK("x.") ")"

/* A definition whose list of columns begins as `start` matches, without the hash wherever it stands
 * in it. Both take the shortest match, for more may stand behind the list. */
#define WITHOUT_HASH(text, start)                                                                  \
    "pg_catalog.regexp_replace(pg_catalog.regexp_replace(" text ", E'(" start "[(])%q, ',"         \
    " E'\\\\1'), E'(" start "[(].*?), %q(?=[,)])', E'\\\\1')"
#define KEY_START "^(?:PRIMARY|UNIQUE|FOREIGN)[A-Z ]*?"
#define INDEX_START " USING [^ ]+? "
#define KEY_WITHOUT_HASH(text) WITHOUT_HASH(text, KEY_START)
#define INDEX_WITHOUT_HASH(text)                                                                   \
    WITHOUT_HASH("pg_catalog.regexp_replace(" text ", ' ON ONLY ', ' ON ')", INDEX_START)

#endif
