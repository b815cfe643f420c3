/*
 * rule: a table's hash rule decides where its rows are, for ever. A configuration with another rule
 * for a table may come into force only if the backend says that the table has no rows.
 */
#ifndef PX_RULE_H
#define PX_RULE_H

#include "config/config.h"

#include <uv.h>

/* `refused` is the first table of `fresh` whose rule may not change, and `reason` says why; NULL:
 * all is well. */
typedef void px_rule_judged(void *owner, const cfg_table *refused, const char *reason);

/* Calls `judged` on the loop's thread: at once if no rule changed, else when the backend, asked on
 * libuv's thread pool, has answered. `fresh` stays the caller's, and must live until then. If the
 * backend cannot be asked, the change is refused. */
void px_rule_judge(uv_loop_t *loop, const cfg_config *old, const cfg_config *fresh,
                   px_rule_judged *judged, void *owner);

#endif
