/*
 * frame: a stream of bytes cut into messages. Only headers are looked at: a body may be larger than
 * any buffer, and can be passed on as it comes.
 */
#ifndef PGW_FRAME_H
#define PGW_FRAME_H

#include "protocol/bytes.h"

typedef enum pgw_frame_result {
    PGW_FRAME_OK,   /* header complete; the body may not be there yet */
    PGW_FRAME_MORE, /* fewer bytes than a header */
    PGW_FRAME_BAD   /* the length is impossible */
} pgw_frame_result;

typedef struct pgw_frame {
    char type;
    size_t size; /* bytes of the whole message on the wire, header included */
} pgw_frame;

enum {
    PGW_HEADER = 5,            /* type and length */
    PGW_MAX_BODY = 0x3ffffffe, /* MaxAllocSize - 1: the longest that PostgreSQL can build or send */
    /* PostgreSQL takes less from a client: its limits count the four bytes of the length. */
    PGW_MAX_LARGE_BODY = 0x3ffffffe - 4, /* PQ_LARGE_MESSAGE_LIMIT (libpq.h) */
    PGW_MAX_SMALL_BODY = 10000 - 4,      /* PQ_SMALL_MESSAGE_LIMIT */
    PGW_MAX_AUTH_BODY = 65535 - 4,       /* PG_MAX_AUTH_TOKEN_LENGTH (auth.h) */
    PGW_MAX_STARTUP = 10000 + 4 /* MAX_STARTUP_PACKET_LENGTH, which does not count the length */
};

/* The message that begins at the start of `bytes`. */
PGW_MUST_CHECK static inline pgw_frame_result pgw_frame_next(pgw_slice bytes, pgw_frame *frame)
{
    if (bytes.len < PGW_HEADER)
        return PGW_FRAME_MORE;
    const unsigned char *at = (const unsigned char *)bytes.ptr;
    uint32_t length = (uint32_t)at[1] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 8 | at[4];
    *frame = (pgw_frame){.type = bytes.ptr[0], .size = (size_t)length + 1};
    return length < 4 || length - 4 > PGW_MAX_BODY ? PGW_FRAME_BAD : PGW_FRAME_OK;
}
/* Whether a client may send this type outside of startup and authentication. */
bool pgw_frame_is_frontend(char type);
/* The longest body PostgreSQL takes for this type of client message (SocketBackend of postgres.c,
 * and auth.c for 'p'). A longer one is a framing error there: the connection ends. */
size_t pgw_frame_limit(char type);
/* Whether a server may send this type. */
bool pgw_frame_is_backend(char type);
/* The body of a message that is wholly there. */
pgw_slice pgw_frame_body(pgw_slice bytes, pgw_frame frame);

#endif
