/*
 * bind: a Bind as the endpoint misreads it (1.4.3 to 1.4.7), and the Bind that the store gets for
 * it. Pure.
 */
#ifndef YE_BIND_H
#define YE_BIND_H

#include "tests/ydb_endpoint/names.h"

#include "protocol/reader.h"

typedef struct ye_bind {
    pgw_slice portal, statement;
    pgw_slice formats; /* 2 bytes each */
    pgw_slice values;  /* from the first length on, with all that follows */
    unsigned count;    /* of values */
} ye_bind;

/* False: not even names and counts are there. */
PGW_MUST_CHECK bool ye_bind_read(pgw_slice body, ye_bind *bind);
/* Fills in the portal's `bind` and `unusable`. Of a statement with `parameters`; what is more is
 * dropped. Unless types are `inferred`, all values are texts, whatever their format says. */
void ye_bind_write(const ye_bind *bind, size_t parameters, bool inferred, ye_named *portal);

#endif
