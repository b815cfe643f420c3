/*
 * kept: the INSERTs of a transaction (transactions: lazy) that were answered here, and that no
 * server has heard of: they wait for COMMIT, which makes one unit of them.
 */
#ifndef PX_KEPT_H
#define PX_KEPT_H

#include "proxy/client/core/said.h"
#include "proxy/ingest/plan.h"
#include "proxy/ingest/text.h"

/* More are not kept: so many different statements, and so many in all. */
enum { PX_KEPT_MOST = 8192 };

typedef struct px_kept_statement {
    px_text *text; /* It came as a Query's statement number `at`. Counted; NULL: it did not. */
    size_t at;
    px_plan *plan;       /* It came as a Bind to this one. Counted; NULL: it did not. */
    const px_said *bind; /* Its Bind, if it came as one; it lives in the arena of all. */
    uint64_t told;       /* Rows that its client was told. */
} px_kept_statement;

typedef struct px_kept {
    px_kept_statement *all; /* In the order in which they came; all are texts or all are Binds. */
    size_t count, cap;
    bool sent;    /* They are on their way to the session's own link. */
    size_t bytes; /* Their memory, about; it counts in that of the queues. */
    pgw_arena arena;
} px_kept;

/* Puts a statement behind the others. `*kept` NULL: it is the first one, and the structure is made,
 * which the caller owns. `bytes`: its memory. */
void px_kept_add_text(px_kept **kept, px_text *text, size_t at, size_t bytes);
void px_kept_add_bind(px_kept **kept, px_plan *plan, const px_said *bind, uint64_t told,
                      size_t bytes);
/* How many bytes are kept; `kept` may be NULL. */
size_t px_kept_bytes(const px_kept *kept);
static inline bool px_kept_is_sent(const px_kept *kept) /* NULL is fine */
{
    return kept != NULL && kept->sent;
}
/* NULL is fine. */
void px_kept_free(px_kept *kept);
/* What is told where a kept statement stores another number of rows than its client was told. */
void px_kept_fail_count(pgw_error *error);
/* Writes an error of kept statement number `number` (from 1): the fields of `body` without a
 * position, which would be one in another text, and with the statement's number in its context. */
void px_kept_place(size_t number, pgw_slice body, pgw_buf *out);

#endif
