/*
 * wording: makes the text that YDB is sent of a client's statement: its parameters become constants
 * or, where it is only described, NULLs of their types.
 */
#ifndef PX_YDB_WORDING_H
#define PX_YDB_WORDING_H

#include "ydb/server/prepared.h"
#include "ydb/plain/infer.h"

/* The text of a portal's statement, in the arena. False, with the error: a parameter is no value of
 * its type, or the text would be longer than `most` bytes (54000). */
PGW_MUST_CHECK bool px_ydb_word(const pgw_portal *portal, size_t most, const pgw_reading *reading,
                                pgw_slice *text);
/* The types of a statement's parameters, and its text with NULLs for them, in the arena. */
PGW_MUST_CHECK bool px_ydb_word_nulls(const pgw_statement *statement, const rw_catalog *catalog,
                                      size_t most, const pgw_reading *reading,
                                      rw_inferred *inferred, pgw_slice *text);

#endif
