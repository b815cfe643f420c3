/*
 * names: things by the name that a client gave them. As in PostgreSQL (dynahash with keys of
 * NAMEDATALEN bytes), names that have their first 63 bytes in common are one name.
 */
#ifndef PGW_NAMES_H
#define PGW_NAMES_H

#include "protocol/bytes.h"

/* The first member of what has a name; owned by whoever enters it. */
typedef struct pgw_named {
    struct pgw_named *next;
    pgw_slice name; /* stays where it is while it is entered */
} pgw_named;

/* All zero is an empty one. */
typedef struct pgw_names {
    pgw_named **slots;
    size_t size, count;
} pgw_names;

pgw_named *pgw_names_find(const pgw_names *names, pgw_slice name); /* or NULL */
void pgw_names_enter(pgw_names *names, pgw_named *named);          /* whose name is not there */
void pgw_names_remove(pgw_names *names, pgw_named *named);         /* which is there */
/* The next of all, in no order, NULL behind the last. Start: *slot is 0, `before` NULL. Meanwhile
 * nothing is entered, and only `before` removed, once what follows it is known. */
pgw_named *pgw_names_next(const pgw_names *names, size_t *slot, const pgw_named *before);
void pgw_names_free(pgw_names *names); /* the table, not what is in it */

#endif
