/*
 * startup: what is said before a session (1.1): TLS or not, who it is, in which database, and the
 * greeting.
 */
#ifndef YE_STARTUP_H
#define YE_STARTUP_H

#include "tests/ydb_endpoint/session.h"

/* False: the connection is to be closed; what is to be said is in `out`. */
PGW_MUST_CHECK bool ye_startup(ye_session *session);

#endif
