#include "proxy/client/numbers/sequence_refill.h"

#include "protocol/backend.h"
#include "proxy/client/core/ask.h"
#include "rewrite/insert/block.h"

#include <stdlib.h>

struct px_sequence_refill {
    px_sequence_cache *reserve; /* counted in its `held` */
    size_t count;
    pgw_buf question; /* the question to be sent; empty: it was sent */
};

void px_sequence_refill_want(px_session *session, px_sequence_cache *reserve, const rw_table *table,
                             size_t column)
{
    size_t count = px_sequence_cache_size(session->worker, reserve, table->block, 0);
    if (count == 0 || session->own.refill != NULL)
        return;
    struct px_sequence_refill *refill = session->own.refill = pgw_calloc(1, sizeof *refill);
    refill->reserve = reserve;
    refill->count = count;
    rw_block_question(table, column, (rw_block){.count = count}, &refill->question);
    reserve->held++;
}

static bool may_ask(const px_session *session)
{
    bool waits = session->wait != PX_WAIT_NOTHING && session->wait != PX_WAIT_WRITE_GROUP;
    return !waits && session->own.ready && session->own.status == 'I' && !session->own.unsynced &&
           session->pending.replies.count == 0 && !session->own.copy_in &&
           !px_link_cancelling(session->own.link);
}

void px_sequence_refill_ask(px_session *session)
{
    struct px_sequence_refill *refill = session->own.refill;
    if (refill == NULL || refill->question.len == 0 || !may_ask(session))
        return;
    if (refill->reserve->asking) { /* Another session has asked meanwhile. */
        px_sequence_refill_end(session, false);
        return;
    }
    /* Numbers that are older than what the session drew itself are not for it. In front of newer
     * ones they would stand in its way for ever. */
    if (refill->reserve->since <= session->own.drew_apart)
        px_sequence_cache_keep(refill->reserve, 0);
    pgw_buf out = {0};
    px_sequence_cache_begin(session->worker, refill->reserve, refill->count, false);
    px_ask(session, pgw_slice_buf(&refill->question), PX_ASKS_AHEAD, &out);
    px_ask_send(session, PX_ASKS_AHEAD, &out);
    pgw_buf_free(&refill->question);
}

bool px_sequence_refill_is_asked(const px_session *session)
{
    return session->own.refill != NULL && session->own.refill->question.len == 0;
}

void px_sequence_refill_row(px_session *session, pgw_slice body)
{
    if (session->own.refill != NULL)
        px_sequence_cache_row(session, session->own.refill->reserve, body);
}

void px_sequence_refill_end(px_session *session, bool answered)
{
    struct px_sequence_refill *refill = session->own.refill;
    if (refill == NULL)
        return;
    session->own.refill = NULL;
    if (refill->question.len == 0)
        px_sequence_cache_end(session->worker, refill->reserve, answered);
    refill->reserve->held--;
    pgw_buf_free(&refill->question);
    free(refill);
}
