/*
 * glance: the first look at a client's text: whether it may pass as it is. What may name a
 * configured table in an encoding that is not the configuration's is refused.
 */
#ifndef PX_GLANCE_H
#define PX_GLANCE_H

#include "protocol/bytes.h"
#include "protocol/error.h"
#include "proxy/client/core/states.h"

struct px_session;

typedef enum px_glance {
    PX_GLANCE_PASSES, /* the text passes as it is, with `effects` on the session */
    PX_GLANCE_LOOK,   /* the text is to be taken apart */
    PX_GLANCE_WAITS,  /* the session waits for `*wait`, for its encoding may be changing */
    PX_GLANCE_REFUSED /* the text is refused with the error */
} px_glance;

/* Looks at a text. `effects`: those of a text that passes. */
px_glance px_glance_at(struct px_session *session, pgw_slice text, unsigned *effects, px_step *wait,
                       pgw_error *error);

#endif
