/*
 * shorten: an INSERT of a query, with <hash> for the expression of the hash, which is long, and
 * tested elsewhere.
 */
#ifndef TEST_SHORTEN_H
#define TEST_SHORTEN_H

#include "protocol/bytes.h"

#include <string.h>

static inline void test_shorten(pgw_buf *out)
{
    pgw_buf_add_byte(out, '\0');
    char *from = strstr(out->ptr, ", case when cast("),
         *to = strstr(out->ptr, " FROM (SELECT \"keys");
    assert_true(from != NULL && to > from);
    pgw_buf shorter = {0};
    pgw_buf_addf(&shorter, "%.*s, <hash>%s", (int)(from - out->ptr), out->ptr, to);
    pgw_buf_free(out);
    *out = shorter;
}

#endif
