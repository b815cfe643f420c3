/*
 * assigned: which types PostgreSQL assigns to which others (pg_cast,
 * src/backend/parser/parse_coerce.c), so that arguments of EXECUTE are refused as PostgreSQL does:
 * a cast would take more types.
 */
#ifndef RW_ASSIGNED_H
#define RW_ASSIGNED_H

#include "protocol/value.h"

/* Whether PostgreSQL assigns EXECUTE's arguments, as they are written, to parameters of these
 * types; else 42804. An argument that is no expression, or of a type that is not known here, is
 * left to the database. Needs up to 64 MiB of stack. */
PGW_MUST_CHECK bool rw_arguments_fit(const pgw_slice *arguments, const uint32_t *types,
                                     size_t count, const pgw_reading *reading);

#endif
