/*
 * set_items: the assignments of UPDATE … SET and DO UPDATE SET.
 */
#ifndef RW_SET_ITEMS_H
#define RW_SET_ITEMS_H

#include "ydb/plain/values.h"

typedef struct rw_set_item {
    rw_part whole; /* column = value */
    rw_part value;
    pgw_slice column;   /* the column as stored; empty: not one whole column */
    pgw_slice excluded; /* NAME as stored, if the value is EXCLUDED.NAME and nothing more */
} rw_set_item;

typedef struct rw_set_items {
    rw_set_item *list;
    size_t count;
} rw_set_items;

/* Reads the assignments of SET; memory is the reading's arena's. */
void rw_set_items_read(const rw_subject *subject, rw_part set, rw_set_items *out);
/* The assignment of this column; NULL: there is none, or none of the column alone. */
const rw_set_item *rw_set_item_of(const rw_set_items *items, const char *column);
/* Whether each assignment sets one whole column. */
bool rw_set_items_are_simple(const rw_set_items *items);
/* Adds the part of `rest` up to the last DEFAULT of an UPDATE's SET, without aliases and with each
 * default itself in the place of the word, and takes the part off `rest`. False: a default is not
 * known (0A000). */
PGW_MUST_CHECK bool rw_weave_set_defaults(const rw_subject *subject, rw_part *rest, rw_weave *out);

#endif
