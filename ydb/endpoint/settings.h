/*
 * settings: a session's settings, which begin as the client's startup parameters say. They are kept
 * here because YDB takes few of them.
 */
#ifndef PX_YDB_SETTINGS_H
#define PX_YDB_SETTINGS_H

#include "proxy/backend/base/link.h"
#include "ydb/plain/session.h"

/* Makes the settings of a link that has opened to a server of this version; freed by
 * rw_variables_free(). NULL: one of the client's startup parameters is refused. */
PGW_MUST_CHECK rw_variables *px_ydb_settings_new(const px_link *link, const char *server_version,
                                                 pgw_error *error);
/* Appends a ParameterStatus for each setting whose value has changed since it was told last. */
void px_ydb_settings_report(rw_variables *variables, pgw_buf *out);

#endif
