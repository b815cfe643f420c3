/*
 * spare: links that pools can do without, for pools of this worker or of another one that have
 * none.
 */
#ifndef PX_SPARE_H
#define PX_SPARE_H

#include "proxy/batch/pool_links.h"

/* Closes the pool's idle links that others are to have, and tells the other workers. */
void px_spare_shed(px_pool *pool);
/* Makes room for a link of `pool`, which has none. True: an idle link of this worker was closed and
 * its place claimed. False: another worker may have been asked for one. */
PGW_MUST_CHECK bool px_spare_make_room(px_pool *pool);

#endif
