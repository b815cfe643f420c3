/*
 * known: the trees of INSERT … VALUES that were let through, so that one that differs from them in
 * the values of its constants alone is not parsed and judged again. What is allowed depends on no
 * constant's value. YDB compiles each such text anew; that is charged (cost.h), not done.
 */
#ifndef YE_KNOWN_H
#define YE_KNOWN_H

#include "protocol/bytes.h"

#include <pg_query/pg_query.pb-c.h>

enum { YE_KNOWN = 1024 };

/* All zero is an empty one. Of one session: not locked. */
typedef struct ye_known {
    struct ye_known_tree *trees[YE_KNOWN]; /* by their shapes' hashes: a new one takes its place */
    pgw_buf values;                        /* of the tree that was found last */
} ye_known;

/* The tree of `text`, made of a known one; NULL: there is none. It lives until the next is asked
 * for, or kept. */
PgQuery__ParseResult *ye_known_find(ye_known *known, pgw_slice text);
/* Keeps the tree of a text that was let through, if it is one of those; then `arena`, which holds
 * it, is taken over, and the tree lives until the next one is kept. */
void ye_known_keep(ye_known *known, pgw_slice text, PgQuery__ParseResult *tree, pgw_arena *arena);
void ye_known_free(ye_known *known);

#endif
