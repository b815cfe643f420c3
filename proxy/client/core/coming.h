/*
 * coming: what the client has sent behind the message at hand, as far as it has come: it tells how
 * much more will be wanted soon.
 */
#ifndef PX_COMING_H
#define PX_COMING_H

#include "protocol/bytes.h"

struct px_session;

/* So many Binds of the statement that the Bind at hand has follow it, with nothing but Describe and
 * Execute between them, and no more than `most`; 0 if none is at hand. */
size_t px_coming_binds(const struct px_session *session, size_t most);

/* A Bind to the unnamed portal that is executed at once: the messages that make a whole group. */
typedef struct px_run {
    size_t size;       /* bytes of Bind, perhaps Describe, Execute and Sync; 0: it is no such group,
                          or not all of it is there */
    bool described;    /* Describe is among them. */
    uint32_t max_rows; /* the most rows to return, as Execute has it; 0: all */
} px_run;

/* The group that `input` begins with, whose Bind is of `bind` bytes. */
px_run px_coming_run(pgw_slice input, size_t bind);

#endif
