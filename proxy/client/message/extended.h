/*
 * extended: messages of the extended protocol that concern a configured table: held for a write
 * group, or rewritten for the own link.
 */
#ifndef PX_EXTENDED_H
#define PX_EXTENDED_H

#include "proxy/client/core/session.h"

/* PASS sends it on as it is. */
px_step px_extended(px_session *session, char type, pgw_slice message);

#endif
