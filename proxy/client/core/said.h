/*
 * said: a message of the extended protocol as its client sent it, decoded once for all who look at
 * it.
 */
#ifndef PX_SAID_H
#define PX_SAID_H

#include "protocol/frontend.h"

typedef struct px_said {
    char type;
    bool whole;        /* it is well-formed; else what could be read of it */
    pgw_slice message; /* all of it; what was decoded points into it */
    pgw_buf *given;    /* its bytes are given away to who keeps them; NULL: they are copied */
    union {
        pgw_parse parse;
        pgw_bind bind;
        pgw_target target; /* Describe, Close */
        pgw_execute execute;
    } as;
} px_said;

/* Decodes a whole message; Sync and Flush have nothing to decode. Of names there is as much as
 * tells them apart. */
px_said px_said_of(char type, pgw_slice message);
/* In the arena, the message with it. */
const px_said *px_said_keep(const px_said *said, pgw_arena *arena);
/* The statement that it names; {NULL, 0}: none. */
pgw_slice px_said_statement(const px_said *said);

#endif
