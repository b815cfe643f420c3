/*
 * names: a hash table of statements or portals by the name that a client gave them. As in
 * PostgreSQL (dynahash with keys of NAMEDATALEN bytes), names that agree in their first 63 bytes
 * are one name.
 */
#ifndef PGW_NAMES_H
#define PGW_NAMES_H

#include "protocol/bytes.h"

/* The first member of a struct that has a name; the struct stays the property of its maker. */
typedef struct pgw_named {
    struct pgw_named *next;
    pgw_slice name; /* must not move while the struct is entered */
} pgw_named;

/* All zero: an empty table. */
typedef struct pgw_names {
    pgw_named **slots;
    size_t size, count;
} pgw_names;

pgw_named *pgw_names_find(const pgw_names *names, pgw_slice name); /* NULL: no such name */
void pgw_names_enter(pgw_names *names, pgw_named *named);          /* the name must be new */
void pgw_names_remove(pgw_names *names, pgw_named *named);         /* `named` must be entered */
/* The entry that follows `before`, in no order; NULL behind the last. Begin with *slot 0 and
 * `before` NULL. Between calls nothing is entered, and only `before` removed, once the entry that
 * follows it is known. */
pgw_named *pgw_names_next(const pgw_names *names, size_t *slot, const pgw_named *before);
void pgw_names_free(pgw_names *names); /* frees the table, not its entries */

#endif
