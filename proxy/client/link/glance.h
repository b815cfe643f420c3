/*
 * glance: the first look at a client's text: whether it may pass as it is. What may name a
 * configured table in an encoding that is not the configuration's is refused.
 */
#ifndef PX_GLANCE_H
#define PX_GLANCE_H

#include "protocol/bytes.h"
#include "protocol/error.h"

struct px_session;

typedef enum px_glance {
    PX_GLANCE_PASSES, /* with these effects on the session */
    PX_GLANCE_LOOK,   /* it is to be taken apart */
    PX_GLANCE_LATER,  /* the session waits: its encoding may be changing */
    PX_GLANCE_REFUSED /* the error says so */
} px_glance;

/* `effects`: of a text that passes. */
px_glance px_glance_at(struct px_session *session, pgw_slice text, unsigned *effects,
                       pgw_error *error);

#endif
