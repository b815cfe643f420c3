/*
 * hide: what PostgreSQL says about a configured table, less the hash column that the client does
 * not know of: error details, positions, parameter descriptions.
 */
#ifndef RW_HIDE_H
#define RW_HIDE_H

#include "rewrite/insert/answers.h"
#include "rewrite/insert/insert.h"
#include "rewrite/insert/render.h"
#include "rewrite/statement/script/conditions.h"

/* How a statement was sent. */
typedef struct rw_sent {
    const rw_insert *insert; /* the INSERT that was sent; NULL: another statement */
    const rw_table *table;   /* table that the error is about, if `insert` is NULL; NULL: none */
    rw_hash_form form;
    const uint64_t *hashes;
    const rw_filled *filled; /* how `insert` was made of the client's; NULL: it is the client's */
    const rw_conditions *conditions; /* conditions that were put into `text`; NULL: none */
    pgw_slice text;
    bool utf8;     /* positions in `text` count characters; else bytes */
    size_t asked;  /* parameters of `insert` for keys that were asked for; they stand before the
                      hashes */
    size_t before; /* characters of the client's text before this statement of a Query */
    size_t rendered_before; /* characters of the text that was sent before this statement */
} rw_sent;

/* Rewrites the body of an ErrorResponse or NoticeResponse: `Key (h, k)=(1, 1)` and `Failing row
 * contains (…)` lose the hash where they parse safely (else the detail is kept as it is), `portal
 * with parameters: …` loses the parameters that keyspread added, and P becomes a position in the
 * client's text. */
void rw_hide_error(pgw_slice body, const rw_sent *sent, pgw_buf *out);

#endif
