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
    const rw_insert *insert; /* NULL: as it was */
    const rw_table *table;   /* … that the error is about; NULL: none of ours */
    rw_hash_form form;
    const uint64_t *hashes;
    const rw_filled *filled; /* how `insert` was made of what the client sent; NULL: it is that */
    const rw_conditions *conditions; /* that were put into `text`; NULL: none */
    pgw_slice text;
    bool utf8;     /* what positions in it count: characters, or bytes */
    size_t asked;  /* parameters of `insert` that are none of the client's, before the hashes */
    size_t before; /* in a Query of several: characters of the client's text before this one */
    size_t rendered_before; /* … of the text that was sent */
} rw_sent;

/* Rewrites the body of an ErrorResponse or NoticeResponse: `Key (h, k)=(1, 1)` and
 * `Failing row contains (…)` lose the hash where they parse safely (else the detail is kept as it
 * is), `portal with parameters: …` loses ours, and P is mapped by rw_render_position. */
void rw_hide_error(pgw_slice body, const rw_sent *sent, pgw_buf *out);

#endif
