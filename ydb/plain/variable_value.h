/*
 * variable_value: reads a setting's value, and shows it as SHOW does.
 */
#ifndef RW_VARIABLE_VALUE_H
#define RW_VARIABLE_VALUE_H

#include "ydb/plain/variable.h"

/* Arguments for printf's "%.*s": a message is cut long before this length. */
#define RW_SHOWN(slice) (int)((slice).len < 1024 ? (slice).len : 1024), (slice).ptr

/* Appends the value as SHOW tells it. False: 22023 if PostgreSQL would refuse it, 0A000 if it
 * cannot be had here, 55P02 if the setting cannot be changed; then what was appended is of no
 * use. */
PGW_MUST_CHECK bool rw_variable_read(const rw_variable *variable, pgw_slice value, pgw_buf *shown,
                                     pgw_error *error);
/* The milliseconds of a TIME as SHOW tells it. */
int64_t rw_variable_milliseconds(pgw_slice shown);

#endif
