/*
 * blame: a cast of ours fails where PostgreSQL would have assigned: how to tell it from the
 * client's own casts.
 */
#ifndef RW_BLAME_H
#define RW_BLAME_H

#include "ydb/plain/cursor.h"

/* Whether a cast that failed with these words ("cannot cast type integer to bytea") may be one that
 * the client has written: its text casts, and names that type, or the words do not say which. */
bool rw_cast_may_be_clients(pgw_slice text, pgw_slice words, bool conforming);

#endif
