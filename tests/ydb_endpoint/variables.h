/*
 * variables: SET and SHOW: most of what drivers set is taken and forgotten, the rest refused (2).
 */
#ifndef YE_VARIABLES_H
#define YE_VARIABLES_H

#include "tests/ydb_endpoint/compile.h"

PGW_MUST_CHECK bool ye_variable_set(const PgQuery__VariableSetStmt *set, ye_settings *settings,
                                    ye_failure *failure);
/* Fills in the value. */
PGW_MUST_CHECK bool ye_variable_show(const char *name, const ye_options *options,
                                     const ye_settings *settings, ye_compiled *compiled,
                                     ye_failure *failure);

#endif
