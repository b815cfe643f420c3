/*
 * constants: those of a prepared INSERT, which are read by DateStyle, IntervalStyle and TimeZone
 * when it is prepared, and are to stay so whatever is set later.
 */
#ifndef PX_CONSTANTS_H
#define PX_CONSTANTS_H

#include "proxy/client/core/statements.h"

struct px_session;

/* Prepared anew it would read them otherwise, be it for what others have done to other tables. */
bool px_constants_are_others(const struct px_session *session, const px_statement *statement);
/* What the link has is right still: its table is what it was, and its name means it. */
bool px_constants_stay(const struct px_session *session, const px_statement *statement,
                       const px_catalog *catalog);
/* Else the statement is to be prepared again by its client. */
void px_constants_refuse(pgw_error *error);

#endif
