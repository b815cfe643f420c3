/*
 * settings: what a session has set, kept here, for YDB takes little of it; begun as the client's
 * startup parameters say.
 */
#ifndef PX_YDB_SETTINGS_H
#define PX_YDB_SETTINGS_H

#include "proxy/backend/base/link.h"
#include "ydb/plain/session.h"

/* Of a link that has opened to a server of this version; freed by rw_variables_free(). NULL: what
 * the client set at its start is refused. */
PGW_MUST_CHECK rw_variables *px_ydb_settings_new(const px_link *link, const char *server_version,
                                                 pgw_error *error);
/* Appends a ParameterStatus for each that is another than was told last. */
void px_ydb_settings_report(rw_variables *variables, pgw_buf *out);

#endif
