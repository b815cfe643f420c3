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

/* The place behind the message, if it is the next; else `at`. */
static size_t skip(pgw_slice input, size_t at, const char *message, size_t begins, size_t len)
{
    bool is = input.len - at >= len && memcmp(input.ptr + at, message, begins) == 0;
    return is ? at + len : at;
}

px_run px_coming_run(pgw_slice input, size_t bind)
{
    static const char describe[] = "D\0\0\0\6P", execute[] = "E\0\0\0\x09", sync[] = "S\0\0\0\4";
    uint32_t rows;
    size_t described = skip(input, bind, describe, sizeof describe, sizeof describe);
    size_t executed = skip(input, described, execute, sizeof execute, sizeof execute + sizeof rows);
    size_t synced = skip(input, executed, sync, sizeof sync - 1, sizeof sync - 1);
    if (executed == described || synced == executed)
        return (px_run){0};
    memcpy(&rows, input.ptr + executed - sizeof rows, sizeof rows);
    return (px_run){.size = synced, .described = described > bind, .max_rows = be32toh(rows)};
}
