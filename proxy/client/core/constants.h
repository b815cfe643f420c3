/*
 * constants: the constants of a prepared INSERT, which are read by DateStyle, IntervalStyle and
 * TimeZone when it is prepared, and are to stay so whatever is set later.
 */
#ifndef PX_CONSTANTS_H
#define PX_CONSTANTS_H

#include "proxy/client/core/statements.h"

struct px_session;

/* Whether the statement, prepared anew, would read its constants otherwise, even if only other
 * tables have changed. */
bool px_constants_are_others(const struct px_session *session, const px_statement *statement);
/* Whether what the link has is still right: its table is what it was, and its name means it. */
bool px_constants_stay(const struct px_session *session, const px_statement *statement,
                       const px_catalog *catalog);
/* Fills the error by which the client has to prepare the statement again. */
void px_constants_refuse(pgw_error *error);

#endif
