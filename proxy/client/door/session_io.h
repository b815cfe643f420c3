/*
 * session_io: a session from the moment its client has come to its end: hands on what its client's
 * stream and its own link have to say.
 */
#ifndef PX_SESSION_IO_H
#define PX_SESSION_IO_H

#include "proxy/base/address.h"
#include "proxy/client/door/preauth.h"

struct px_session;

/* A client has come: `fd` is non-blocking; it and its places at `address` (NULL: a Unix socket) and
 * in the waiting list belong to the session from now on. */
void px_session_io_begin(px_worker *worker, int fd, px_address *address, px_guest *guest);

#endif
