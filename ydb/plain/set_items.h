/*
 * set_items: the assignments of UPDATE … SET and DO UPDATE SET.
 */
#ifndef RW_SET_ITEMS_H
#define RW_SET_ITEMS_H

#include "ydb/plain/values.h"

typedef struct rw_set_item {
    rw_part whole; /* column = value */
    rw_part value;
    pgw_slice column;   /* as stored; empty: it sets more than one, or a part of one */
    pgw_slice excluded; /* the value is EXCLUDED.name and nothing more: the name as stored */
} rw_set_item;

typedef struct rw_set_items {
    rw_set_item *list;
    size_t count;
} rw_set_items;

/* Memory from the reading's arena. */
void rw_set_items_read(const rw_subject *subject, rw_part set, rw_set_items *out);
/* The assignment of a column; NULL: none, or none alone. */
const rw_set_item *rw_set_item_of(const rw_set_items *items, const char *column);
/* Whether one sets several columns, or a part of one. */
bool rw_set_items_are_simple(const rw_set_items *items);
/* Of an UPDATE, without aliases: adds what of `rest` ends with its last DEFAULT, and takes it off;
 * in the place of the word stands the default itself. False: one is not known (0A000). */
PGW_MUST_CHECK bool rw_weave_set_defaults(const rw_subject *subject, rw_part *rest, rw_weave *out);

#endif
