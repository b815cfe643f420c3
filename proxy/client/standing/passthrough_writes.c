#include "proxy/client/standing/passthrough_writes.h"

#include "proxy/client/standing/changes.h"

/* Whether the text may name a table of a pattern that gets its key from whoever makes it, or one
 * that the file names and that has no hash yet. */
static bool names_other(const px_session *session, pgw_slice text, const px_catalog *catalog)
{
    const cfg_config *config = session->worker->config;
    rw_catalog others = *px_catalog_names(session->worker);
    if (!catalog->incomplete) {
        others.tables += config->table_count;
        others.count = config->pattern_count;
        others.words = NULL;
    }
    return others.count > 0 && rw_prefilter_mentions(text, &others);
}

void px_passthrough_writes_note(px_session *session, px_passthrough *passthrough, unsigned effects,
                                pgw_slice text, const px_catalog *catalog)
{
    passthrough->stores = (effects & (RW_EFFECT_WRITES | RW_EFFECT_PREPARE)) != 0;
    bool names =
        passthrough->stores && catalog != px_catalog_none() && names_other(session, text, catalog);
    passthrough->epoch = names ? catalog->epoch : 0;
    passthrough->config = session->worker->config;
    session->known.stores |= passthrough->epoch != 0;
    if (passthrough->stores && session->known.written_by == NULL)
        session->known.written_by = passthrough->config;
}

bool px_passthrough_writes_may(const px_session *session)
{
    const px_state *state = &session->known;
    return state->stores ||
           (state->written_by != NULL && state->written_by != session->worker->config);
}

bool px_passthrough_writes_is_stale(const px_session *session, const px_passthrough *passthrough,
                                    pgw_error *error)
{
    bool unseen = passthrough->stores && passthrough->epoch != 0 && px_changes_unseen(session);
    if (!passthrough->stale && !unseen)
        return false;
    pgw_fail(error, "0A000", "a table that the prepared statement writes to may be another now");
    pgw_error_hint(error, "Prepare it again, behind a Sync.");
    pgw_error_stale(error);
    return true;
}
