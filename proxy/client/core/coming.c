#include "proxy/client/core/coming.h"

#include "proxy/client/core/session.h"

#include <string.h>

/* The statement that a whole Bind names. False: the message is none. */
static bool statement_of(pgw_slice message, pgw_slice *name)
{
    size_t portal = PGW_HEADER + strnlen(message.ptr + PGW_HEADER, message.len - PGW_HEADER) + 1;
    if (portal > message.len)
        return false;
    *name = (pgw_slice){message.ptr + portal, strnlen(message.ptr + portal, message.len - portal)};
    return true;
}

/* The next message, if it is there as a whole. */
static bool take_message(pgw_slice *rest, pgw_slice *message)
{
    pgw_frame frame;
    if (pgw_frame_next(*rest, &frame) != PGW_FRAME_OK || frame.size > rest->len)
        return false;
    *message = (pgw_slice){rest->ptr, frame.size};
    *rest = (pgw_slice){rest->ptr + frame.size, rest->len - frame.size};
    return true;
}

size_t px_coming_binds(const px_session *session, size_t most)
{
    pgw_slice rest = px_stream_input(session->peer.stream), message, name, other;
    size_t count = 0;
    if (session->hand.frame.size == 0 || session->hand.frame.type != 'B' ||
        !take_message(&rest, &message) || !statement_of(message, &name))
        return 0;
    while (count < most && take_message(&rest, &message) && strchr("BDE", message.ptr[0]) != NULL) {
        if (message.ptr[0] != 'B')
            continue;
        if (!statement_of(message, &other) || !pgw_slice_eq(other, name))
            break; /* the other statement draws its numbers before later Binds do */
        count++;
    }
    return count;
}
