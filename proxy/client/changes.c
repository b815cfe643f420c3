#include "proxy/client/changes.h"

#include "proxy/backend/catalog.h"
#include "proxy/client/session.h"

void px_changes_forget(px_session *session)
{
    px_catalog_drop(session->own_catalog);
    session->own_catalog = NULL;
}

void px_changes_note(px_session *session, unsigned effects)
{
    /* A function may contain anything, also one that was made where nobody saw it. */
    bool quiet = px_catalog_is_quiet(session->worker, session->identity);
    bool ddl = effects & RW_EFFECT_DDL || (effects & RW_EFFECT_CALLS && !quiet);
    if (ddl || effects & RW_EFFECT_TRANSACTION) /* ROLLBACK TO */
        px_changes_forget(session);
    session->ddl_own = session->ddl_own || ddl;
    session->ddl_seen = session->ddl_seen || effects & (RW_EFFECT_DDL | RW_EFFECT_CALLS);
}

/* Behind ReadyForQuery there may already be more. */
void px_changes_end(px_session *session)
{
    if (session->ddl_seen)
        px_catalog_stale(session->worker, session->identity->database);
    if (session->replies.count <= 1)
        session->ddl_seen = session->ddl_own = session->ddl_unsynced = false;
    px_changes_forget(session);
}
