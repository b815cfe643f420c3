/*
 * client_message: a message of the extended protocol as its client sent it, decoded once for all
 * who look at it.
 */
#ifndef PX_CLIENT_MESSAGE_H
#define PX_CLIENT_MESSAGE_H

#include "protocol/large_bind.h"

/* What is still to come of a Bind that is too large to be held. All zero at its beginning, but
 * given, count and bytes. */
typedef struct px_rest {
    size_t
        given; /* how many parameters are here; the message has NULL in the place of the others */
    size_t count;       /* how many parameters the client sends */
    size_t bytes;       /* how many bytes are to come, from parameter `given` on */
    bool awaited;       /* the backend has the beginning, and waits for the rest */
    pgw_buf behind;     /* what the backend gets behind the client's parameters; owned */
    pgw_bind_walk walk; /* where the parameters that come end */
} px_rest;

typedef struct px_client_message {
    char type;
    bool whole; /* the message is well-formed; if not, it is decoded as far as it could be read */
    pgw_slice message; /* the whole message; what was decoded points into it */
    pgw_buf *given;    /* buffer of the message, given away to whoever keeps it; NULL: the bytes are
                          copied */
    px_rest *rest;     /* what is to come of the Bind; NULL: all of it is here */
    union {
        pgw_parse parse;
        pgw_bind bind;
        pgw_target target; /* Describe, Close */
        pgw_execute execute;
    } as;
} px_client_message;

/* Decodes a whole message; Sync and Flush have nothing to decode. Of names there is as much as
 * tells them apart. */
px_client_message px_client_message_of(char type, pgw_slice message);
/* A copy in the arena, with the message. */
const px_client_message *px_client_message_keep(const px_client_message *decoded, pgw_arena *arena);
/* The statement that it names; {NULL, 0}: none. */
pgw_slice px_client_message_statement(const px_client_message *decoded);

#endif
