/*
 * variable_list: the table of settings, as PostgreSQL 15's guc.c has them. Some defaults are
 * others, because the database differs: every transaction is serializable there.
 */
#ifndef RW_VARIABLE_LIST_H
#define RW_VARIABLE_LIST_H

#include "ydb/plain/variable.h"

enum { RW_VARIABLES = 73 };
/* The settings in the order of SHOW ALL; those without a description are not told there. */
extern const rw_variable rw_variable_list[RW_VARIABLES];
/* The setting of this name, in any case; NULL: there is none. */
const rw_variable *rw_variable_named(pgw_slice name);

#endif
