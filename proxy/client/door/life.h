/*
 * life: a session from the moment its client has come to its end: hands on what its client's stream
 * and its own link have to say.
 */
#ifndef PX_LIFE_H
#define PX_LIFE_H

#include "proxy/base/address.h"
#include "proxy/client/door/lobby.h"

struct px_session;

/* A client has come: `fd` is non-blocking; it and its places at `address` (NULL: a Unix socket) and
 * in the lobby belong to the session from now on. */
void px_life_begin(px_worker *worker, int fd, px_address *address, px_guest *guest);

#endif
