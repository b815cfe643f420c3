/*
 * client_message: a message of the extended protocol as its client sent it, decoded once for all
 * who look at it.
 */
#ifndef PX_CLIENT_MESSAGE_H
#define PX_CLIENT_MESSAGE_H

#include "protocol/frontend.h"

typedef struct px_client_message {
    char type;
    bool whole; /* the message is well-formed; if not, it is decoded as far as it could be read */
    pgw_slice message; /* the whole message; what was decoded points into it */
    pgw_buf *given;    /* buffer of the message, given away to whoever keeps it; NULL: the bytes are
                          copied */
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
