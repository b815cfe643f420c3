#include "proxy/client/numbers/sequence_call.h"

#include "proxy/client/core/session.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/dirty.h"

#include <stdlib.h>
#include <string.h>

/* How long an answer is believed: changes made past keyspread are not noticed meanwhile. */
enum { BELIEVED_MS = 10 * 1000 };

struct px_sequence_call {
    uint32_t sequence;
    unsigned answers; /* px_state.answers then: after another answer names may mean others */
    uint64_t marks;   /* px_catalog_marks() then: after another mark names may mean others */
    uint64_t at;      /* when the link was asked; px_worker_now() */
    bool own;
    char name[];
};

static void forget(px_session *session)
{
    free(session->known.called);
    session->known.called = NULL;
}

void px_sequence_call_ask(px_session *session, const rw_insert *insert, size_t i, pgw_buf *sql)
{
    pgw_slice name = rw_sequence_name(insert, i);
    uint32_t sequence = insert->table->columns[insert->wanted[i].column].draws_from;
    forget(session);
    px_sequence_call *called = session->known.called = pgw_calloc(1, sizeof *called + name.len + 1);
    *called = (px_sequence_call){.sequence = sequence,
                                 .answers = session->known.answers,
                                 .marks = px_catalog_marks(session->worker, session->who.identity),
                                 .at = px_worker_now(session->worker)};
    memcpy(called->name, name.ptr, name.len);
    rw_sequence_question(name, sequence, sql);
}

void px_sequence_call_own(px_session *session)
{
    if (session->known.called != NULL)
        session->known.called->own = true;
}

/* Whether nothing has happened since the question by which the name could mean another. */
static bool is_right(px_session *session, const px_sequence_call *called)
{
    const px_catalog *catalog = px_changes_known(session);
    return called->own && called->answers == session->known.answers && catalog != NULL &&
           px_state_reduced(session->known.dirty, catalog) == 0 &&
           called->marks == px_catalog_marks(session->worker, session->who.identity) &&
           px_worker_now(session->worker) < called->at + BELIEVED_MS;
}

bool px_sequence_call_is_own(px_session *session, const rw_insert *insert, size_t i)
{
    const px_sequence_call *called = session->known.called;
    if (!insert->wanted[i].draws || called == NULL || !is_right(session, called))
        return false;
    return called->sequence == insert->table->columns[insert->wanted[i].column].draws_from &&
           pgw_slice_eq_str(rw_sequence_name(insert, i), called->name);
}
