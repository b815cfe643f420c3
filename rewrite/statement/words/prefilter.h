/*
 * prefilter: the quick look of the hot path. One pass over the words of a text, blind to strings
 * and comments: what it takes for a word too many only costs the slower way. Names count as whole
 * words: a table `events` does not make `events_archive` suspicious. What it costs does not depend
 * on how many tables there are.
 */
#ifndef RW_PREFILTER_H
#define RW_PREFILTER_H

#include "rewrite/lex/word_set.h"
#include "rewrite/statement/words/statement.h"

/* What texts are searched for. */
typedef struct rw_prefilter {
    rw_word_set
        words; /* words that keep a text from passing: tables' names, the catalog's, `into`,
                  `set_config`; if one begins with no letter (`unlettered`), no text passes */
    rw_word_set harmless; /* harmless functions (calls.h) whose names are no longer than a key */
    bool tables;          /* there are configured tables */
    bool beyond_ascii;    /* rw_names_beyond_ascii() is true of the catalog */
} rw_prefilter;

/* Makes the filter of all names of the catalog, which is not needed again. Freed by
 * rw_prefilter_free(). */
void rw_prefilter_init(rw_prefilter *filter, const rw_catalog *catalog);
void rw_prefilter_free(rw_prefilter *filter);

/* A quick answer for the hot path: true if `text` is certainly one statement that names no
 * configured table (a read, or a write elsewhere), so that it passes without being parsed.
 * `effects` then gets those of CALLS, RUNS, RESUMES, WRITES, READS, STATE, DRAWS and RESETS that it
 * may have, rather too many than too few; it has no others. */
PGW_MUST_CHECK bool rw_prefilter_passes(pgw_slice text, const rw_prefilter *filter,
                                        unsigned *effects);

/* Whether a configured table may be named at all: a word of the text, wherever it stands, is its
 * name in any case. False is certain. */
bool rw_prefilter_mentions(pgw_slice text, const rw_catalog *catalog);
/* Whether what PostgreSQL's own catalog says of the tables may be asked. False is certain. */
bool rw_prefilter_asks(pgw_slice text, const rw_catalog *catalog);

#endif
