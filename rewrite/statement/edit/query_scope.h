/*
 * query_scope: what a statement reads, query by query, while it is looked for what it shows: the
 * tables and subqueries of each FROM, the names of each WITH, and what a name means among them.
 */
#ifndef RW_QUERY_SCOPE_H
#define RW_QUERY_SCOPE_H

#include "rewrite/hash/table.h"

#include <pg_query/pg_query.pb-c.h>

/* An item of a FROM, or the table that the statement writes. */
typedef struct rw_query_scope_item {
    struct rw_query_scope_item *next;  /* the next item of the scope */
    struct rw_query_scope_item *older; /* the next configured table of the whole statement */
    const char *called;                /* the name in the statement; "": no name means the item */
    const PgQuery__RangeVar *relation; /* the relation; NULL: the item is none */
    const rw_table *table; /* the configured table whose hash column is hidden; NULL: none */
    bool sampled;          /* TABLESAMPLE stands behind the relation */
    bool written;          /* the statement writes the table */
    bool absent;           /* an outer join may have NULL in the place of its rows */
    bool made;  /* a function gives its rows, of the table's row type: `relation` is made up to name
                   that type */
    bool wraps; /* a star or a row hides the hash only if a subquery stands in the table's place */
    bool stays; /* no subquery may stand in the table's place: a system column is asked for, say */
    bool twin;  /* the FROM has a table of another schema by the same name */
    bool hidden; /* a query further in has an item by the same name, and names this one with its
                    schema */
    bool bare;   /* a row is called by the name alone: a subquery must have that name */
} rw_query_scope_item;

typedef struct rw_query_scope {
    const struct rw_query_scope *outer;
    rw_query_scope_item *items;
    bool odd; /* `*` is more, or less, than the items' columns one after another */
} rw_query_scope;

typedef struct rw_with_item {
    const struct rw_with_item *next;
    const char *name;
} rw_with_item;

/* Where a statement is looked at. */
typedef struct rw_query_scope_place {
    const rw_query_scope *scope; /* the innermost scope */
    const rw_with_item *ctes;
} rw_query_scope_place;

/* Whether a table's hash column is to be unseen in the statement. */
typedef bool (*rw_query_scope_hides)(void *context, const rw_table *table);

/* What is needed to say which table a relation is. */
typedef struct rw_query_scope_world {
    const rw_catalog *catalog;
    pgw_arena *arena;
    rw_query_scope_hides hides;
    void *context;
} rw_query_scope_world;

/* The string of a node that is a name; "" of another one. */
const char *rw_name_of_node(const PgQuery__Node *node);
/* Adds a relation of a FROM, or the one that is written. */
rw_query_scope_item *rw_query_scope_add_relation(const rw_query_scope_world *world,
                                                 const rw_query_scope_place *place,
                                                 rw_query_scope *to,
                                                 const PgQuery__RangeVar *relation);
void rw_query_scope_add_from(const rw_query_scope_world *world, const rw_query_scope_place *place,
                             rw_query_scope *to, const PgQuery__Node *from);
/* Notes which items of a FROM are twins, once all are added. */
void rw_query_scope_note_twins(rw_query_scope *scope);
/* The table that a relation is, if its hash column is to be unseen; NULL. */
const rw_table *rw_query_scope_table(const rw_query_scope_world *world,
                                     const rw_query_scope_place *place,
                                     const PgQuery__RangeVar *relation);
/* What the name means here, or further out, with the schema before it ("": none is written). NULL:
 * nothing that is known. */
rw_query_scope_item *rw_query_scope_find(const rw_query_scope *scope, const char *schema,
                                         const char *name);
/* The item is asked with its schema from `scope`, or a query further in: its name alone may mean
 * another one there. */
void rw_query_scope_note_hidden(const rw_query_scope *scope, rw_query_scope_item *item);
/* The name alone may mean each of them, which is PostgreSQL's to say: nothing stands in their
 * place. */
void rw_query_scope_keep_twins(const rw_query_scope *scope, const char *name);
/* Whether a configured table of this scope or an outer one has a column of this name. */
bool rw_query_scope_has_column(const rw_query_scope *scope, const char *name);
bool rw_is_system_column(const char *name);
/* Whether a subquery of its columns is to stand in the table's place. */
bool rw_query_scope_is_wrapped(const rw_query_scope_item *item);
/* Whether that subquery gets a name of its own: two relations may share a name, subqueries may not.
 */
bool rw_query_scope_is_renamed(const rw_query_scope_item *item);

#endif
