/*
 * coming: what the client has sent behind the message at hand, as far as it has come: it tells how
 * much more will be wanted soon.
 */
#ifndef PX_COMING_H
#define PX_COMING_H

#include <stddef.h>

struct px_session;

/* So many Binds of the statement that the Bind at hand has follow it, with nothing but Describe and
 * Execute between them, and no more than `most`; 0 if none is at hand. */
size_t px_coming_binds(const struct px_session *session, size_t most);

#endif
