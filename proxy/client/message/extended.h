/*
 * extended: messages of the extended protocol that concern a configured table: held for a write
 * group, or rewritten for the own link.
 */
#ifndef PX_EXTENDED_H
#define PX_EXTENDED_H

#include "proxy/client/core/session.h"

/* PASS sends it on as it is. */
px_step px_extended(px_session *session, char type, pgw_slice message);
/* Deals with a Bind that is too large to be held, of which `message` is here. DONE: it is relayed,
 * or dropped. PASS: it is of no INSERT into a configured table. */
px_step px_extended_large_bind(px_session *session, pgw_frame frame, pgw_slice message);

#endif
