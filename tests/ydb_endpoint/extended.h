/*
 * extended: Parse, Bind, Describe, Execute and Close as the endpoint serves them (1.3, 1.4): each
 * on its own, whatever became of the one before.
 */
#ifndef YE_EXTENDED_H
#define YE_EXTENDED_H

#include "tests/ydb_endpoint/session.h"

/* False: there is something wrong with the message itself, and the connection is to be closed. */
PGW_MUST_CHECK bool ye_extended(ye_session *session, char type, pgw_slice body);
/* Forgets all statements and portals. */
void ye_extended_free(ye_session *session);

#endif
