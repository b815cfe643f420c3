/*
 * cutter: cuts a client's text into the statements that the server machine runs one by one.
 */
#ifndef PX_YDB_CUTTER_H
#define PX_YDB_CUTTER_H

#include "ydb/server/command.h"
#include "protocol/value.h"

/* A pgw_cut; `data` is the px_ydb_session whose text it is, or NULL. May use libpg_query (clean.h).
 */
bool px_ydb_cut(void *data, pgw_slice text, pgw_arena *arena, pgw_script *out, pgw_error *error);

#endif
