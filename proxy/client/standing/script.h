/*
 * script: what a client's text does to its session when it is sent to the own link.
 */
#ifndef PX_SCRIPT_H
#define PX_SCRIPT_H

#include "proxy/ingest/plan.h"
#include "rewrite/statement/script/script.h"

struct px_session;

/* The effects of a script, DDL among them only if it may change a configured table. What calls a
 * function that sets something may do whatever functions do. */
unsigned px_script_changes(const struct px_session *session, pgw_slice text,
                           const rw_script *script);
/* Notes that a script is sent; `alone`: its only statement is answered before anything else. */
void px_script_note(struct px_session *session, const rw_script *script, bool alone);
/* px_plan_new() of an INSERT in `arena`, with its effects. */
px_plan *px_script_plan(struct px_session *session, pgw_arena arena, const rw_statement *statement,
                        px_catalog *catalog, px_declared declared, pgw_error *error);
/* Notes that a Bind or Execute of the plan is sent. */
void px_script_note_plan(struct px_session *session, const px_plan *plan);

#endif
