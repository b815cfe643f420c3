#include "proxy/client/link/glance.h"

#include "protocol/utf8.h"
#include "proxy/backend/catalog/catalog.h"
#include "proxy/client/core/session.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/standing/dirty.h"
#include "rewrite/statement/words/prefilter.h"
#include "rewrite/statement/words/spelling.h"

static px_glance refuse(const px_session *session, pgw_error *error)
{
    pgw_fail(error, "0A000", "a configured table cannot be named in this client_encoding");
    if (session->who.written.recoded)
        pgw_error_hint(error, "SET client_encoding TO 'UTF8'.");
    else
        pgw_error_hint(error, "Write names in quotes, or in the case that they are stored in.");
    return PX_GLANCE_REFUSED;
}

/* Whether what is under way may change the encoding, and is not answered. */
static bool is_moving(const px_session *session)
{
    bool open = session->pending.replies.count > 0 || session->own.unsynced;
    return open &&
           (session->pending.zone_moving || (session->known.dirty & px_state_boundless) != 0);
}

/* LOOK says that names of tables are what they seem. */
static px_glance look_at_tables(px_session *session, pgw_slice text, px_step *wait,
                                pgw_error *error)
{
    if (!px_catalog_filter(session->worker)->beyond_ascii || pgw_is_ascii(text))
        return PX_GLANCE_LOOK;
    const rw_catalog *names = px_catalog_names(session->worker);
    *wait = is_moving(session) ? px_sync_state_now(session) : PX_STEP_DONE;
    if (*wait != PX_STEP_DONE)
        return PX_GLANCE_WAITS;
    bool conforming = session->who.identity->env.conforming;
    return rw_may_spell_table(&session->who.written, text, names, conforming)
               ? refuse(session, error)
               : PX_GLANCE_LOOK;
}

/* LOOK says that names of columns are what they seem, too, and that the text can be taken apart
 * byte by byte. */
static px_glance look_at_parts(px_session *session, pgw_slice text, pgw_error *error)
{
    const rw_catalog *names = px_catalog_names(session->worker);
    const rw_script_encoding *how = &session->who.written;
    if (rw_may_spell_part(how, text, names, session->who.identity->env.conforming))
        return refuse(session, error);
    if (!how->recoded || !rw_encoding_hides_marks(how->encoding, text))
        return PX_GLANCE_LOOK;
    return rw_catalog_mentioned(names, text) ? refuse(session, error) : PX_GLANCE_PASSES;
}

px_glance px_glance_at(px_session *session, pgw_slice text, unsigned *effects, px_step *wait,
                       pgw_error *error)
{
    px_glance glance = look_at_tables(session, text, wait, error);
    if (glance != PX_GLANCE_LOOK)
        return glance;
    if (px_catalog_passes(session->worker, text, effects))
        return PX_GLANCE_PASSES;
    *effects = PX_UNREAD;
    return look_at_parts(session, text, error);
}
