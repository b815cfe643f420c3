/*
 * opening: how libpq makes a connection without blocking the loop: the host's name is resolved on
 * the thread pool, the rest is PQconnectPoll driven by uv_poll.
 */
#ifndef PX_OPENING_H
#define PX_OPENING_H

#include "protocol/error.h"
#include "proxy/backend/base/link.h"

#include <libpq-fe.h>

typedef struct px_opening px_opening;

/* Opens what `link` is to be; `done` is called once, on a later turn: with a connection that is
 * ready, idle and not watched by anybody, which is its owner's from then on; or with NULL and the
 * server's FATAL or 08006. */
px_opening *px_opening_start(const px_link *link,
                             void (*done)(void *owner, PGconn *conn, const pgw_error *error),
                             void *owner);
/* Each is for while `done` is called: whether the server had let the role in, whatever came then;
 * what it said beside, as NoticeResponses; and, with 53300, of what it has no more. */
bool px_opening_was_admitted(const px_opening *opening);
pgw_slice px_opening_notices(const px_opening *opening);
px_slot px_opening_missing(const px_opening *opening);
/* Gives up: `done` will not be called. */
void px_opening_abandon(px_opening *opening);

#endif
