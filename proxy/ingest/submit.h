/*
 * submit: what the makers of units share: submit.c, a unit for a script or a held group, and
 * split.c, a unit for each partition that a statement touches.
 */
#ifndef PX_SUBMIT_H
#define PX_SUBMIT_H

#include "protocol/frontend.h"
#include "proxy/backend/classify.h"
#include "proxy/client/session.h"

/* A unit of the session's, without statements. */
px_unit *px_submit_unit(px_session *session, const rw_table *table, px_catalog *catalog,
                        px_identity *identity);
/* Counts a row in: its key, and whether the unit still touches one partition. There must be room in
 * unit->keys. */
void px_submit_key(px_unit *unit, const rw_table *table, const rw_key *key);
/* Moves the bytes into the unit's arena, where they count. */
pgw_slice px_submit_keep(px_unit *unit, pgw_buf *buf);
/* A part of a text INSERT, rendered and kept. */
pgw_slice px_submit_render(px_unit *unit, const rw_insert *insert,
                           void (*render)(const rw_insert *, pgw_buf *));
/* Under which rows like those of `insert` may be merged (ROWS). */
void px_submit_conditions(px_unit *unit, const rw_insert *insert);
uint64_t px_submit_merge_hash(const px_unit *unit); /* ROWS and TEXT */
/* The unit is one of this prepared statement. */
void px_submit_statement(px_unit *unit, const px_plan *plan);

/* The unit failed by its session's own fault, perhaps: the session sends alone for a while. */
void px_submit_note_failure(px_session *session, const px_unit *unit);
/* The statement failed so, and wrote nothing. If that is because the schema is another than it was
 * thought to be, it is to be tried once more: true, and the message is to be looked at again. */
bool px_submit_repeat(px_session *session, px_error_kind kind);
/* Ends the answer to a Query. */
void px_submit_end_query(px_session *session, pgw_buf *out);
/* The message that made the units is answered: on to the next. */
void px_submit_finish(px_session *session);

/* ---- split.c ---- */

/* If the statement touches several partitions and the table lets it commit partition by partition
 * (atomicity: partition): submits a unit for each. False: it is to stay whole, nothing was done. */
bool px_split_script(px_session *session, px_text *text);
/* The same for session->unit_plan, the only statement that the held group binds and executes. */
bool px_split_group(px_session *session, const pgw_bind *bind, const rw_key *keys);
/* A unit of session->split has come back. */
void px_split_done(px_session *session, px_unit *unit);
void px_split_withdraw(px_session *session);
/* Lets its units go on without anybody to tell. */
void px_split_leave(px_session *session);

#endif
