/*
 * blame: tells a failed cast that keyspread wrote, where PostgreSQL would have assigned, from a
 * cast of the client's own.
 */
#ifndef RW_BLAME_H
#define RW_BLAME_H

#include "ydb/plain/cursor.h"

/* Whether a cast that failed with these words ("cannot cast type integer to bytea") may be one of
 * the client's: its text casts to that type, or the words do not say which type it is. */
bool rw_cast_may_be_clients(pgw_slice text, pgw_slice words, bool conforming);

#endif
