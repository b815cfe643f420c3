/*
 * kept: the INSERTs of a transaction (transactions: lazy) that were answered here, and that no
 * server has heard of: they wait for COMMIT, which makes one write group of them.
 */
#ifndef PX_KEPT_H
#define PX_KEPT_H

#include "proxy/client/core/client_message.h"
#include "proxy/ingest/submitter.h"
#include "proxy/ingest/plan.h"
#include "proxy/ingest/text.h"

/* More are not kept: so many different statements, and so many in all. */
enum { PX_KEPT_MOST = 8192 };

typedef struct px_kept_statement {
    px_text *text; /* The Query whose statement number `at` it came as. Counted; NULL: it came as a
                      Bind. */
    size_t at;
    px_plan *plan; /* The plan of the statement that its Bind names. Counted; NULL: it came as a
                      Query. */
    const px_client_message *bind; /* Its Bind, if it came as one; it lives in the arena of all. */
    px_promised promised;          /* What its client was told; in the arena of all. */
    size_t seen; /* Bytes of what it was shown that the server has sent as well. */
} px_kept_statement;

/* A savepoint that was answered and not sent. */
typedef struct px_kept_savepoint {
    const char *name;
    pgw_slice text; /* SAVEPOINT, as its client wrote it. */
    size_t before;  /* So many of the statements stand before it. */
} px_kept_savepoint;

/* The number of what is sent with kept statements and is none: SAVEPOINT. */
#define PX_KEPT_NONE SIZE_MAX

typedef struct px_kept {
    px_kept_statement *all; /* In the order in which they came; all are texts or all are Binds. */
    size_t count, cap;
    px_kept_savepoint *savepoints; /* Savepoints that are there, in their order. */
    size_t savepoint_count, savepoint_cap;
    bool sent;    /* The kept statements are on their way to the session's own link. */
    size_t bytes; /* Their memory, about; it counts in that of the queues. */
    pgw_arena arena;
} px_kept;

/* Puts a statement behind the others. `*kept` NULL: it is the first one, and the structure is made,
 * which the caller owns. `bytes`: its memory. What its client was told is copied. */
void px_kept_add_text(px_kept **kept, px_text *text, size_t at, px_promised promised, size_t bytes);
void px_kept_add_bind(px_kept **kept, px_plan *plan, const px_client_message *bind,
                      px_promised promised, size_t bytes);
/* Whether the next row that the server returns for the statement is what its client was shown. */
bool px_kept_is_shown(px_kept_statement *statement, pgw_slice row);
/* Keeps a savepoint. A name may be there more than once: the last one counts. */
void px_kept_set_savepoint(px_kept **kept, const char *name, pgw_slice text);
/* Forgets all that stands behind the savepoint. False: there is none of this name. */
bool px_kept_roll_back_to(px_kept *kept, const char *name);
/* Forgets the savepoint and those behind it. False: there is none of this name, or statements stand
 * behind it, whose errors its client waits for. */
bool px_kept_release(px_kept *kept, const char *name);
/* How many statements are kept; `kept` may be NULL. */
static inline size_t px_kept_count(const px_kept *kept)
{
    return kept != NULL ? kept->count : 0;
}
static inline bool px_kept_has_savepoints(const px_kept *kept) /* NULL is fine */
{
    return kept != NULL && kept->savepoint_count > 0;
}
/* How many bytes are kept; `kept` may be NULL. */
size_t px_kept_bytes(const px_kept *kept);
static inline bool px_kept_is_sent(const px_kept *kept) /* NULL is fine */
{
    return kept != NULL && kept->sent;
}
/* NULL is fine. */
void px_kept_free(px_kept *kept);
/* The error where a kept statement stores other rows than its client was told. */
void px_kept_fail_count(pgw_error *error);
/* Writes an error of kept statement number `number` (from 1): the fields of `body` without a
 * position, which would be one in another text, and with the statement's number in its context. */
void px_kept_place(size_t number, pgw_slice body, pgw_buf *out);

#endif
