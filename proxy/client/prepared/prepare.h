/*
 * prepare: makes a plan of a Parse; or the Parse passes as it is, is refused, or must wait. With
 * what all messages of the extended protocol share.
 */
#ifndef PX_PREPARE_H
#define PX_PREPARE_H

#include "protocol/frontend.h"
#include "proxy/client/core/session.h"

/* The plan of a Parse, counted; NULL where it passes as it is (PX_STEP_PASS), was refused
 * (PX_STEP_DONE), or must wait. `*plan` comes as the one that the statement had
 * until now: then what it does is noted already, and the link is not needed for it; NULL: none. */
px_step px_prepare(px_session *session, const pgw_parse *parse, px_plan **plan);
/* The types that a Parse declares, pgw_parse.type_count of them; allocated. To PostgreSQL "unknown"
 * is no type, either. */
uint32_t *px_prepare_types(const pgw_parse *parse);

/* Sends what is held to the own link, for what comes next follows: DONE when that is ready. */
PGW_MUST_CHECK px_step px_prepare_link(px_session *session);
/* Refuses the message at hand. `parsed`: the name that a refused Parse gives, else NULL: one that
 * fails has destroyed the unnamed statement all the same. */
px_step px_prepare_refuse(px_session *session, const pgw_slice *parsed, const pgw_error *error);

/* What the table of an INSERT is like by then cannot be asked before Sync: it is refused, with the
 * name that a refused Parse gives, or NULL. */
bool px_prepare_is_unsynced(const px_session *session);
px_step px_prepare_refuse_unsynced(px_session *session, const pgw_slice *parsed);

#endif
