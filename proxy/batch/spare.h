/*
 * spare: links that pools can do without, for pools of this worker or of another one that have
 * none.
 */
#ifndef PX_SPARE_H
#define PX_SPARE_H

#include "proxy/batch/pool_links.h"

/* Closes what others are to have, and tells them. */
void px_spare_shed(px_pool *pool);
/* Some idle link gives way to `pool`, which has none: true, and its place is claimed; or another
 * worker is asked for one, which comes in a while. */
PGW_MUST_CHECK bool px_spare_make_room(px_pool *pool);

#endif
