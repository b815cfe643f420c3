/*
 * waiting list: the connections of all workers that have not logged in. When it is full, or an
 * address has more than its share, the one that has been silent for longest gives way, so that
 * nobody shuts the others out by saying nothing. A crowd that comes at once waits in the order in
 * which it came.
 */
#ifndef PX_PREAUTH_H
#define PX_PREAUTH_H

#include "proxy/loop/worker.h"

struct px_address;
struct px_session;
typedef struct px_preauth px_preauth;
typedef struct px_guest px_guest; /* a connection in the waiting list. Counted */

px_preauth *px_preauth_new(void);
void px_preauth_free(px_preauth *preauth); /* all guests have left */

/* Adds a connection from `address` (NULL: a Unix socket), which `worker` is to be told of after
 * this. Whoever must give way for it is told. NULL: the waiting list is full, and no guest can give
 * way.
 */
px_guest *px_preauth_enter(px_worker *worker, struct px_address *address);

/* Whether a connection that is not accepted yet had better stay so for a moment: it is full, nobody
 * has been silent for long enough to give way, and all who are in may become clients. */
PGW_MUST_CHECK bool px_preauth_is_to_be_waited_for(const struct px_server *server);

/* The functions below run on the worker's thread; a NULL guest is none. */

/* Tells the session that the guest is. */
void px_guest_is(px_guest *guest, struct px_session *session);
/* The guest has said something; `served`: its next word is not awaited, for it waits itself. */
void px_guest_heard(px_guest *guest, bool served);
/* The guest has logged in, or gone: it is not to be used any more. */
void px_guest_leave(px_guest *guest);

#endif
