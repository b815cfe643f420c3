/*
 * variable_name: the names of settings that are not PostgreSQL's.
 */
#ifndef RW_VARIABLE_NAME_H
#define RW_VARIABLE_NAME_H

#include "protocol/error.h"

/* Whether a custom setting can have this name: two or more identifiers with dots; else 42602, or
 * 42704 if it has no dot. */
PGW_MUST_CHECK bool rw_variable_may_be(pgw_slice name, pgw_error *error);

#endif
