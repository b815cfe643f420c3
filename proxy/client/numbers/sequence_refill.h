/*
 * sequence_refill: a session that has taken numbers of a reserve asks for the next block over its
 * own link, unseen, while its row is under way or its client thinks: nobody waits for it.
 */
#ifndef PX_SEQUENCE_REFILL_H
#define PX_SEQUENCE_REFILL_H

#include "proxy/client/numbers/sequence_cache.h"
#include "rewrite/hash/table.h"

struct px_session;

/* The reserve, of numbers for this column, is half empty: a block is to be asked for soon. */
void px_sequence_refill_want(struct px_session *session, px_sequence_cache *reserve,
                             const rw_table *table, size_t column);
/* Asks for the block that is wanted, if the link is there and idle. */
void px_sequence_refill_ask(struct px_session *session);
/* Whether a block was asked for, and the answer has not come. */
bool px_sequence_refill_is_asked(const struct px_session *session);
/* A row of the answer to the question for a block. */
void px_sequence_refill_row(struct px_session *session, pgw_slice body);
/* The end of the answer, or an error in its place; not `answered`: the link or the session is lost.
 */
void px_sequence_refill_end(struct px_session *session, bool answered);

#endif
