/*
 * wording: a statement of a server's half as the text that YDB is sent: its parameters are
 * constants, or, where it is only described, NULLs of their types.
 */
#ifndef PX_YDB_WORDING_H
#define PX_YDB_WORDING_H

#include "ydb/server/prepared.h"
#include "ydb/plain/infer.h"

/* The text of the statement of a portal. Arena-owned, or the portal's. False: the error is filled:
 * a parameter is no value of its type, or the text is longer than `most` bytes (54000). */
PGW_MUST_CHECK bool px_ydb_word(const pgw_portal *portal, size_t most, const pgw_reading *reading,
                                pgw_slice *text);
/* The types of a statement's parameters, and its text with NULLs for them. */
PGW_MUST_CHECK bool px_ydb_word_nulls(const pgw_statement *statement, const rw_catalog *catalog,
                                      size_t most, const pgw_reading *reading,
                                      rw_inferred *inferred, pgw_slice *text);

#endif
