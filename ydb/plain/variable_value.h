/*
 * variable_value: a setting's value as SHOW tells it, if it is one.
 */
#ifndef RW_VARIABLE_VALUE_H
#define RW_VARIABLE_VALUE_H

#include "ydb/plain/variable.h"

/* For printf's "%.*s": a message is cut long before this. */
#define RW_SHOWN(slice) (int)((slice).len < 1024 ? (slice).len : 1024), (slice).ptr

/* Appends it. False: 22023 if PostgreSQL would refuse it, 0A000 if it cannot be had here, 55P02 if
 * the setting cannot be changed; then what was appended is of no use. */
PGW_MUST_CHECK bool rw_variable_read(const rw_variable *variable, pgw_slice value, pgw_buf *shown,
                                     pgw_error *error);
/* The milliseconds of a TIME as it is shown. */
int64_t rw_variable_milliseconds(pgw_slice shown);

#endif
