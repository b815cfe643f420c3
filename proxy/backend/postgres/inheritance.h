/*
 * inheritance: the settings that a link has inherited from its role and its database (ALTER ROLE,
 * ALTER DATABASE … SET), and those of the server that say how constants are read, as one number:
 * rows travel only over links that have inherited the same.
 */
#ifndef PX_INHERITANCE_H
#define PX_INHERITANCE_H

#include "proxy/backend/base/link.h"

typedef enum px_inheritance {
    PX_INHERITANCE_MORE,  /* the answer has not come whole */
    PX_INHERITANCE_KNOWN, /* the link is ready for queries */
    PX_INHERITANCE_BROKEN /* the backend broke the protocol */
} px_inheritance;

/* Asks a link that has just opened; `server_version` as libpq has it. A `shared` link gets
 * idle_session_timeout = 0, and is not asked for timeouts. */
void px_inheritance_ask(px_link *link, int server_version, bool shared);
/* Takes the answer: link->settings, 1 at first, is 0 in the end if the server does not say;
 * link->statement_timeout, user_timeout and has_modes are filled where the link is not `shared`. */
PGW_MUST_CHECK px_inheritance px_inheritance_read(px_link *link);

#endif
