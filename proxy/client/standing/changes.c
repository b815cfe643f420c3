#include "proxy/client/standing/changes.h"

#include "proxy/client/core/session.h"

#include <stdlib.h>
#include <string.h>

enum {
    ANSWERED_MS = 1000, /* ms that a message goes by the tables it asked for */
    MADE_MOST = 1024    /* bytes of names that a transaction has made without looking */
};

px_catalog *px_changes_known(px_session *session)
{
    px_catalog *answered = session->hand.answered;
    bool right = answered != NULL && answered->config == session->worker->config &&
                 px_worker_now(session->worker) < session->hand.answered_at + ANSWERED_MS;
    return right ? answered : px_catalog_now(session->worker, session->who.identity);
}

void px_changes_answered(px_session *session)
{
    px_catalog *newest = px_catalog_last(session->worker, session->who.identity);
    px_changes_answer(session, newest != NULL ? px_catalog_take(newest) : NULL);
}

void px_changes_answer(px_session *session, px_catalog *catalog)
{
    px_changes_ask_anew(session);
    session->hand.answered = catalog;
    session->hand.answered_at = px_worker_now(session->worker);
}

void px_changes_ask_anew(px_session *session)
{
    px_catalog_drop(session->hand.answered);
    session->hand.answered = NULL;
}

void px_changes_stale(px_session *session)
{
    px_changes_ask_anew(session);
    px_catalog_stale(session->worker, session->who.identity->database, 1);
}

void px_changes_forget(px_session *session)
{
    px_catalog_drop(session->ddl.catalog);
    session->ddl.catalog = NULL;
    session->ddl.worn = false;
}

static void forget_made(px_session *session)
{
    if (session->ddl.made != NULL)
        pgw_buf_free(session->ddl.made);
    free(session->ddl.made);
    session->ddl.made = NULL;
}

void px_changes_free(px_session *session)
{
    px_changes_forget(session);
    forget_made(session);
}

/* Whether the session's own transaction, or the group at hand, is not over. */
static bool is_inside(const px_session *session)
{
    return session->own.status == 'T' || session->own.unsynced;
}

px_catalog *px_changes_own(const px_session *session)
{
    return is_inside(session) && !session->ddl.worn ? session->ddl.catalog : NULL;
}

/* Whether the text mentions something that the transaction has made since it last looked. */
static bool mentions_made(const px_session *session, pgw_slice text)
{
    const pgw_buf *made = session->ddl.made;
    for (size_t at = 0; made != NULL && at < made->len; at += strlen(made->ptr + at) + 1)
        if (rw_text_mentions(text, made->ptr + at))
            return true;
    return false;
}

px_catalog *px_changes_of_keys(const px_session *session, pgw_slice text)
{
    if (mentions_made(session, text))
        return NULL;
    if (is_inside(session) && session->ddl.catalog != NULL)
        return session->ddl.catalog;
    return session->ddl.keys ? NULL : px_catalog_of_keys(session->worker, session->who.identity);
}

const px_catalog *px_changes_for_errors(const px_session *session)
{
    px_seen seen;
    const px_catalog *own = px_changes_own(session);
    return own != NULL ? own : px_catalog_before(session->worker, session->who.identity, &seen);
}

/* Notes that a statement that may change tables is sent. `kept`: it leaves keys alone. */
static void note(px_session *session, unsigned effects, bool kept)
{
    /* A function may contain anything, be it made unseen or called by what was prepared or declared
     * before. */
    bool calls = effects & (RW_EFFECT_RESUMES | RW_EFFECT_CALLS);
    bool quiet = calls && px_catalog_is_quiet(session->worker, session->who.identity);
    if (effects & RW_EFFECT_RESUMES && !quiet)
        effects |= session->known.touched & RW_EFFECT_CALLS;
    bool ddl = effects & RW_EFFECT_DDL || (effects & RW_EFFECT_CALLS && !quiet);
    if ((ddl && !kept) || effects & RW_EFFECT_TRANSACTION) /* a ROLLBACK TO may take back what was
                                                              seen */
        px_changes_forget(session);
    session->ddl.worn = session->ddl.catalog != NULL && (session->ddl.worn || ddl);
    session->ddl.own = session->ddl.own || ddl;
    session->ddl.unmarked += (effects & RW_EFFECT_DDL) != 0;
    if (effects & RW_EFFECT_RESETS) {
        px_catalog_reset(session->worker, session->who.identity->database);
        session->ddl.resets = true;
    }
    const unsigned telling = RW_EFFECT_DDL | RW_EFFECT_CALLS | RW_EFFECT_RIGHTS;
    session->ddl.seen = session->ddl.seen || effects & telling;
    session->ddl.keys = session->ddl.keys || (effects & telling && !kept);
}

void px_changes_note(px_session *session, unsigned effects)
{
    note(session, effects, false);
}

void px_changes_note_kept(px_session *session, unsigned effects, pgw_slice made)
{
    bool few = session->ddl.made == NULL || session->ddl.made->len < MADE_MOST;
    note(session, effects, few);
    if (made.len == 0 || !few)
        return;
    if (session->ddl.made == NULL)
        session->ddl.made = pgw_calloc(1, sizeof *session->ddl.made);
    pgw_buf_add_slice(session->ddl.made, made);
    pgw_buf_add_byte(session->ddl.made, '\0');
}

void px_changes_note_text(px_session *session, unsigned effects, size_t count)
{
    px_changes_note(session, effects);
    if (effects & RW_EFFECT_DDL)
        session->ddl.unmarked += count - 1;
}

void px_changes_bind(px_session *session, bool named)
{
    if (named) /* a named portal may outlive the Sync */
        session->ddl.portal = true;
    else
        session->ddl.bound = true;
}

void px_changes_execute(px_session *session, unsigned effects)
{
    px_changes_note(session, effects);
    session->ddl.unsynced = session->ddl.unsynced || session->ddl.bound || session->ddl.portal;
}

void px_changes_end_portals(px_session *session)
{
    session->ddl.portal = false;
}

void px_changes_see(px_session *session, px_catalog *catalog)
{
    px_changes_forget(session);
    session->ddl.catalog = catalog;
    session->ddl.keys = session->ddl.keys || session->ddl.made != NULL;
    forget_made(session);
}

void px_changes_recheck_from(px_session *session, uint64_t at)
{
    session->ddl.recheck_from = at;
}

bool px_changes_unseen(const px_session *session)
{
    return session->own.unsynced && (session->ddl.unsynced || session->ddl.own) &&
           px_changes_own(session) == NULL;
}

void px_changes_synced(px_session *session)
{
    session->ddl.unsynced = session->ddl.bound = false;
    if (session->own.status != 'T')
        px_changes_forget(session);
}

void px_changes_end(px_session *session)
{
    void (*stale)(px_worker *, const char *, uint64_t) =
        session->ddl.keys || session->ddl.made != NULL ? px_catalog_stale : px_catalog_stale_kept;
    if (session->ddl.seen) {
        px_changes_ask_anew(session);
        stale(session->worker, session->who.identity->database, 1);
    }
    if (session->ddl.resets)
        px_catalog_reset(session->worker, session->who.identity->database);
    /* More may have been sent already behind what ReadyForQuery answers. */
    if (session->pending.replies.count <= 1) {
        if (session->ddl.unmarked > 1)
            stale(session->worker, session->who.identity->database, session->ddl.unmarked - 1);
        session->ddl.seen = session->ddl.own = session->ddl.unsynced = session->ddl.resets =
            session->ddl.used = session->ddl.keys = false;
        session->ddl.unmarked = 0;
        forget_made(session);
    }
    px_changes_forget(session);
}

void px_changes_use(px_session *session)
{
    session->ddl.used = true;
}
