/*
 * lookup_from: what stands in a FROM while a statement is looked for lookups, and which table's
 * column a name is there, if that is certain.
 */
#ifndef RW_LOOKUP_FROM_H
#define RW_LOOKUP_FROM_H

#include "rewrite/hash/table.h"

#include <pg_query/pg_query.pb-c.h>

enum { RW_FROM_ITEMS = 16, RW_FROM_CTES = 32, RW_NO_TABLE = -1 };

typedef struct rw_from_item {
    const char *called;
    const char *schema; /* the schema that may stand before `called`; "": none may */
    int table; /* index of the configured table in the catalog; RW_NO_TABLE: the item is not
                  certainly one */
    int32_t location;
    const PgQuery__Alias *alias; /* the alias, which may rename the first columns; NULL: none */
    bool bare;                   /* the statement names the table without its schema */
} rw_from_item;

/* A join by USING or NATURAL: its items on the left, and behind them those on the right. */
typedef struct rw_from_merge {
    const PgQuery__JoinExpr *join;
    size_t left, right, end;
} rw_from_merge;

typedef struct rw_from {
    const rw_catalog *catalog;
    rw_from_item items[RW_FROM_ITEMS];
    size_t count;
    rw_from_merge merges[RW_FROM_ITEMS]; /* joins by USING and NATURAL, whose merged columns belong
                                            to neither table */
    size_t merge_count;
    bool outer; /* a join of the FROM is no inner join */
    bool all;   /* `table` is set even for tables in which no hash is looked up */
    bool overflows;
} rw_from;

/* The names of a statement's WITH, which hide tables' names. */
typedef struct rw_from_ctes {
    const char *names[RW_FROM_CTES];
    size_t count;
} rw_from_ctes;

/* Notes the names of all WITHs of the statement. False: there are too many. */
PGW_MUST_CHECK bool rw_from_note_ctes(rw_from_ctes *ctes, const PgQuery__Node *statement);
void rw_from_add_relation(rw_from *in, const rw_from_ctes *ctes, const PgQuery__RangeVar *relation);
void rw_from_add(rw_from *in, const rw_from_ctes *ctes, const PgQuery__Node *from);

/* Whether the item is a configured table, and no other item of the FROM has its name. */
bool rw_from_is_ours(const rw_from *in, const rw_from_item *of);
/* What the statement calls a column of the item. */
const char *rw_from_column(const rw_from *in, const rw_from_item *of, size_t column);
/* What the statement calls column `i` of the hash key of the item. */
const char *rw_from_key(const rw_from *in, const rw_from_item *of, size_t i);
/* Whether `column` is the column `name` of an item. A name without a table that is another's as
 * well is ambiguous to PostgreSQL. */
bool rw_from_is_column(const rw_from *in, const rw_from_item *of, const PgQuery__Node *column,
                       const char *name);
/* Whether `column`, which may be another item's, equals column `i` of the hash key of `of` in all
 * rows, by inner joins with USING or NATURAL alone, and is of its type. */
bool rw_from_equals_key(const rw_from *in, const rw_from_item *of, size_t i,
                        const PgQuery__Node *column);
/* Whether a join by USING or NATURAL merges column `i` of the hash keys of both items. */
bool rw_from_merges_keys(const rw_from *in, const rw_from_item *one, const rw_from_item *other,
                         size_t i);

#endif
