/*
 * names: statements by name on a session's own link: what was prepared here is prepared there when
 * it is first needed, and closed there when it is gone. The client never sent any of it.
 */
#ifndef PX_NAMES_H
#define PX_NAMES_H

#include "proxy/client/core/replies.h"

struct px_session;

/* The link must be ready for each of these. */

/* Prepares a statement that the link has not seen yet, for it was recorded here or prepared on a
 * link that was lost; nothing if it has. */
void px_names_prepare(struct px_session *session, pgw_slice name);
/* Prepares a statement that is only to be described, or to clash; nothing if the link has a draft
 * of it. */
void px_names_claim(struct px_session *session, pgw_slice name);
/* Whether the link has the statement as a draft (raw_parse.h). */
bool px_names_is_raw_parse(const struct px_session *session, pgw_slice name);
/* Prepares the statements that PREPARE and DEALLOCATE name: one clashes, one is dropped. They have
 * a Sync of their own, and their errors are not shown. */
void px_names_of_script(struct px_session *session, const rw_script *script);
/* Makes a statement that asks for rows by their key what its client wrote; it is prepared as that
 * when it is needed. */
void px_names_forget_lookups(struct px_session *session, pgw_slice name);
/* Prepares what EXECUTE names, as px_names_of_script() does; may_execute: whether there may be one.
 * `text` ends with NUL. */
bool px_names_may_execute(const struct px_session *session, pgw_slice text);
void px_names_of_execute(struct px_session *session, pgw_slice text);
/* The text of a statement that was parsed and executes others; empty: it was not kept. */
pgw_slice px_names_executed(const struct px_session *session, pgw_slice name);
/* Sends a Parse of the plan's statement. */
px_reply *px_names_parse(struct px_session *session, pgw_slice name, px_plan *plan, bool swallow);
/* `reply` answers a Parse of what is none of keyspread's: remembered by its name, for names clash,
 * as known.parsed says. */
void px_names_passthrough(struct px_session *session, px_reply *reply, pgw_slice name,
                          pgw_slice message);
/* `reply` answers a Parse that asks for the rows of session->names.lookups; the statement is
 * remembered with these, and with the message that was sent. */
void px_names_lookup_bind(struct px_session *session, px_reply *reply, pgw_slice name,
                          pgw_slice message);
/* A prepared statement may have lookups. */
void px_names_note_lookup_bind(struct px_session *session);
/* Statement `i` of a text has been carried out: a PREPARE, which is remembered with the conditions
 * that it was sent with. */
void px_names_sql_execute(struct px_session *session, const px_text *text, size_t i);
/* Notes how the Parse at hand reads configured tables (NULL: it does not); `reads` is given away.
 */
void px_names_read(struct px_session *session, px_reads *reads);
/* How the statement of a Bind (NULL: the unnamed one) reads configured tables; NULL: it reads none,
 * or that is not known. */
const px_reads *px_names_reads(const struct px_session *session, const px_statement *statement,
                               pgw_slice name);
/* The PREPARE that was parsed has been carried out. */
void px_names_prepared(struct px_session *session);
/* Closes a statement. */
void px_names_close(struct px_session *session, pgw_slice name);
/* Closes a statement in a group that goes on. */
void px_names_close_unsynced(struct px_session *session, pgw_slice name);

/* The unnamed statement is gone, on the link, too, if there is one. */
void px_names_drop_unnamed(struct px_session *session);
/* Keeps a statement that begins or ends a transaction by the name in this Parse message, which is
 * free; the link gets it when it is needed there. */
void px_names_end(struct px_session *session, pgw_slice parse);
/* The client's unnamed statement is gone; nothing is sent, and where the link has one it is closed
 * later. */
void px_names_forget_unnamed(struct px_session *session);

#endif
