/*
 * prefilter: the quick look of the hot path. One loop over the words of a text, blind to strings
 * and comments: what it takes for a word too many only costs the slower way. Names count as whole
 * words: a table `events` does not make `events_archive` suspicious.
 */
#ifndef RW_PREFILTER_H
#define RW_PREFILTER_H

#include "rewrite/read/statement.h"

/* A quick answer for the hot path: true if `text` is certainly one statement that names no
 * configured table (a read, or a write elsewhere), so that it passes without being parsed. Its
 * `effects` are then no more than CALLS, RUNS, RESUMES, WRITES, STATE, DRAWS and RESETS, on the
 * side of too many. */
PGW_MUST_CHECK bool rw_prefilter_passes(pgw_slice text, const rw_catalog *catalog,
                                        unsigned *effects);

/* Whether a configured table may be named at all: a word of the text, wherever it stands, is its
 * name in any case. False is certain. */
bool rw_prefilter_mentions(pgw_slice text, const rw_catalog *catalog);
/* Whether what PostgreSQL's own catalog says of the tables may be asked. False is certain. */
bool rw_prefilter_asks(pgw_slice text, const rw_catalog *catalog);

#endif
