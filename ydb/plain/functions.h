/*
 * functions: what PostgreSQL takes the arguments of its common functions for, where nothing says
 * their types, and what they give.
 */
#ifndef RW_FUNCTIONS_H
#define RW_FUNCTIONS_H

#include "protocol/types.h"

/* The types of a function's call. Before rw_call_types_find(), PGW_UNKNOWN is an argument of which
 * nothing says the type; after it, the type that the argument is taken for, or PGW_UNSPECIFIED. */
typedef struct rw_call_types {
    const char *name;
    uint32_t *arguments;
    size_t count;
    uint32_t result; /* PGW_UNSPECIFIED: the type is not known here */
} rw_call_types;

void rw_call_types_find(rw_call_types *call);

#endif
