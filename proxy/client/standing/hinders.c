#include "proxy/client/standing/hinders.h"

#include "proxy/client/core/session.h"
#include "proxy/ingest/blockers.h"

/* Says which settings set the session apart from those that share batches. */
static void say_setting(const px_session *session, const rw_insert *insert, pgw_buf *why)
{
    pgw_slice odd = px_answer_odd(&session->known.now);
    px_standing standing = px_session_standing(session);
    if (session->known.odd && odd.len > 0) {
        pgw_buf_add_str(why, "the session has set ");
        pgw_buf_add_slice(why, odd);
    } else if (session->who.is_private) {
        pgw_buf_add_str(why, "the session has another role");
    } else if (session->who.output_changed && insert->shows) {
        pgw_buf_add_str(why, "the session has changed how values are shown");
    } else if (px_blocker_has_names(&standing, insert)) {
        pgw_buf_add_str(why, "names in it may mean others in this session");
    } else {
        pgw_buf_add_str(why, "the table reads settings, which the session may have changed");
    }
}

void px_hinders(const void *data, const rw_insert *insert, pgw_buf *why)
{
    const px_session *session = data;
    px_standing standing = px_session_standing(session);
    px_counter reason =
        px_blocker(&session->write_groups, &standing, session->who.identity, insert);
    if (session->own.ready && session->own.status != 'I')
        pgw_buf_add_str(why, "it is inside of a transaction");
    else if (reason == PX_UNBATCHED_SETTINGS)
        say_setting(session, insert, why);
    else if (reason == PX_UNBATCHED_ENCODING)
        pgw_buf_add_str(why, session->who.identity->env.conforming
                                 ? "client_encoding is not UTF8"
                                 : "standard_conforming_strings is off");
    else if (reason == PX_UNBATCHED_SLOW)
        pgw_buf_add_str(why, "rows of the session took long a moment ago");
    else if (reason == PX_UNBATCHED_LOCK)
        pgw_buf_add_str(why, "it has waited too long for a lock");
}
