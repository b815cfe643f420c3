/*
 * strike: a deed (a statement, a COMMIT), as it is, late, or struck by a fault that was ordered.
 */
#ifndef YE_STRIKE_H
#define YE_STRIKE_H

#include "tests/ydb_endpoint/session.h"

typedef struct ye_deed {
    pgw_slice text;
    bool commits; /* something that was written */
    bool (*act)(ye_session *session, const void *context, ye_failure *failure);
    const void *context;
} ye_deed;

/* False: `failure` is to be told. */
PGW_MUST_CHECK bool ye_strike(ye_session *session, const ye_deed *deed, ye_failure *failure);

#endif
