/*
 * prepare_again: a statement that was prepared when the schema, settings or names were others gets
 * another plan, unseen, or becomes none of ours, before it is bound or run.
 */
#ifndef PX_PREPARE_AGAIN_H
#define PX_PREPARE_AGAIN_H

#include "proxy/client/session.h"

/* A statement of this name was prepared when the schema, or (if no link has it) the settings, were
 * others: its plan is made anew; or it becomes none of ours, or ours again. DONE: it is as it
 * should be. */
px_step px_prepare_again(px_session *session, pgw_slice name);

#endif
