/*
 * spelling: names beyond ASCII in a text whose bytes are not those of the configuration: it is in
 * another encoding, or the server folds its letters. What a name's letters are there is not known;
 * how many there are, and where, is.
 */
#ifndef RW_SPELLING_H
#define RW_SPELLING_H

#include "rewrite/hash/table.h"
#include "rewrite/lex/encoding.h"

/* How the texts of a session are written. */
typedef struct rw_script_encoding {
    rw_encoding encoding; /* client_encoding */
    bool recoded;         /* client_encoding is not UTF8, so that names have other bytes than in the
                             configuration */
    bool folded;          /* the server may fold letters beyond ASCII in names without quotes */
} rw_script_encoding;

/* Whether a name of the catalog's tables, or of what makes their key, is beyond ASCII. */
bool rw_names_beyond_ascii(const rw_catalog *names);
/* Whether an identifier in `text` may mean a table of `names` though its bytes are others. False is
 * certain. */
PGW_MUST_CHECK bool rw_may_spell_table(const rw_script_encoding *how, pgw_slice text,
                                       const rw_catalog *names, bool conforming);
/* Whether any part of a text, wherever its letters stand, may spell a table. */
PGW_MUST_CHECK bool rw_part_may_spell_table(const rw_script_encoding *how, pgw_slice part,
                                            const rw_catalog *names);
/* Whether a table is named by its own bytes, in a way that its schema or columns of its key may be
 * named by others. */
PGW_MUST_CHECK bool rw_may_spell_part(const rw_script_encoding *how, pgw_slice text,
                                      const rw_catalog *names, bool conforming);

#endif
