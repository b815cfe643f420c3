/*
 * told_value: how the backend is asked to tell a value of a column, so that it is read back
 * exactly.
 */
#ifndef RW_TOLD_VALUE_H
#define RW_TOLD_VALUE_H

#include "rewrite/hash/table.h"

/* The text before and behind the value, which is then told alike whatever DateStyle and
 * extra_float_digits are: dates and times in ISO form, real numbers as a record's bytes. */
const char *rw_told_before(const rw_column *column);
const char *rw_told_behind(const rw_column *column);

#endif
