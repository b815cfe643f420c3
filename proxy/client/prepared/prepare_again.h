/*
 * prepare_again: a statement that was prepared when the schema, settings or names were others gets
 * another plan, unseen, or loses its plan, before it is bound or run.
 */
#ifndef PX_PREPARE_AGAIN_H
#define PX_PREPARE_AGAIN_H

#include "proxy/client/core/session.h"

/* The statement of this name (NULL: there is none) was prepared when the schema, or (if no link has
 * it) the settings, were others: its plan is made anew; or it loses its plan, or has one again.
 * DONE: `*statement` is as it should be, or is another in its place. */
px_step px_prepare_again(px_session *session, pgw_slice name, px_statement **statement);

#endif
