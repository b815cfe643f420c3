/*
 * schema_type: a column's type as the file writes it ("varchar(30)", "numeric(6,2)",
 * "timestamp(3) with time zone"), read into an oid and a typmod as PostgreSQL stores them.
 */
#ifndef PX_SCHEMA_TYPE_H
#define PX_SCHEMA_TYPE_H

#include "rewrite/hash/table.h"

/* Fills type, typmod and type_name of `column`. A type that is not known here is no mistake (its
 * oid is PGW_UNSPECIFIED: it cannot be in a key); a modifier that its type does not take is: false.
 */
bool px_schema_type(const char *text, rw_column *column);

#endif
