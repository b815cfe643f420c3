/*
 * hash_groups: GROUP BY of a table's key as the application knows it. PostgreSQL lets other columns
 * of the row be shown beside the primary key, so the hash, which is in that, is grouped by as well.
 */
#ifndef RW_HASH_GROUPS_H
#define RW_HASH_GROUPS_H

#include "rewrite/statement/edit/query_scope.h"
#include "rewrite/statement/edit/edit_writer.h"

/* Where the hash of an item's table is to be put. */
typedef struct rw_hash_group {
    const struct rw_hash_group *next;
    int32_t location; /* location of the element of GROUP BY that the hash is put behind */
    size_t tokens;    /* length of that element in tokens */
    const rw_query_scope_item *item;
} rw_hash_group;

/* All places of a statement where a hash is put into GROUP BY. */
typedef struct rw_hash_groups {
    const rw_hash_group *list; /* places, in the arena */
    bool by_value;             /* a constant decides: GROUP BY 1 */
} rw_hash_groups;

/* Adds the places of one query. `scope`: its FROM. */
void rw_hash_groups_find(const PgQuery__SelectStmt *select, const rw_query_scope *scope,
                         pgw_arena *arena, rw_hash_groups *groups);
/* Puts the hashes in, once it is known where subqueries stand. */
void rw_hash_groups_put(const rw_hash_groups *groups, rw_edit_writer *texts);

#endif
