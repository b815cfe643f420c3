/*
 * admin: health, metrics and COPYs under way over HTTP, served by libmicrohttpd on a thread of its
 * own, which reads the workers' counters and touches nothing else of theirs.
 */
#ifndef PX_ADMIN_H
#define PX_ADMIN_H

#include "proxy/base/shared.h"

typedef struct px_admin px_admin;

/* Listens at `where` and answers until px_admin_stop(). NULL and a message on failure. The server's
 * workers must have been initialized, and outlive it. */
px_admin *px_admin_start(px_server *server, const cfg_listen *where, char *message, size_t size);
void px_admin_stop(px_admin *admin); /* NULL is fine */

#endif
