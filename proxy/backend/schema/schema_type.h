/*
 * schema_type: reads a column's type as the configuration writes it ("varchar(30)", "timestamp(3)
 * with time zone") into an oid and a typmod as PostgreSQL stores them.
 */
#ifndef PX_SCHEMA_TYPE_H
#define PX_SCHEMA_TYPE_H

#include "rewrite/hash/table.h"

/* Fills type, typmod and type_name of `column`. An unknown type is no mistake: its oid is
 * PGW_UNSPECIFIED, and it cannot be in a key. False: the type does not take its modifier. */
bool px_schema_type(const char *text, rw_column *column);

#endif
