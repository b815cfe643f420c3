/*
 * names: the statements and portals of a session, by their names.
 */
#ifndef YE_NAMES_H
#define YE_NAMES_H

#include "protocol/bytes.h"

/* What Parse or Bind made: a statement, or a portal, which is a copy with values. */
typedef struct ye_named {
    struct ye_named *next;
    char *name;
    pgw_buf text;      /* a NUL is its last byte */
    pgw_buf types;     /* a ParameterDescription's body; empty: no parameters */
    pgw_buf row;       /* a RowDescription's body; empty: no rows */
    size_t parameters; /* how many */
    pgw_buf bind;      /* of a portal: the Bind for the store */
    char unusable[96]; /* of a portal: why its values cannot be used; "": they can */
} ye_named;

/* NULL: there is none. */
ye_named *ye_named_find(ye_named *list, pgw_slice name);
/* Puts `named` into the list, in the place of one of the same name. */
void ye_named_put(ye_named **list, ye_named *named);
void ye_named_remove(ye_named **list, pgw_slice name);
/* An empty one, which is in no list. */
ye_named *ye_named_new(pgw_slice name, pgw_slice text);
void ye_named_free(ye_named *named);

#endif
