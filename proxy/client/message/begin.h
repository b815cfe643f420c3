/*
 * begin: BEGIN is answered here, and sent with what comes next (core/begun.h); COMMIT and ROLLBACK
 * behind nothing are answered here, too, and nothing was sent. Only what certainly gives neither an
 * error nor a warning is.
 */
#ifndef PX_BEGIN_H
#define PX_BEGIN_H

#include "protocol/frame.h"
#include "proxy/client/core/session.h"

#include <stdint.h>

/* Whether a text may begin a transaction, by its first two letters; most do not. It is that of a
 * Query, or of an unnamed Parse. */
static inline bool px_begin_is_likely(char type, pgw_slice message)
{
    if (type != 'Q' && type != 'P')
        return false;
    size_t at = PGW_HEADER + (type == 'P');
    if (message.len < at + 2)
        return false;
    char first = message.ptr[at] | 0x20, second = message.ptr[at + 1] | 0x20;
    return (first == 'b' && second == 'e') || (first == 's' && second == 't');
}
/* The message at hand begins a transaction, alone or with its group. DONE: it was answered and
 * consumed. PASS: it goes its way. */
px_step px_begin_begins(px_session *session, pgw_frame frame, pgw_slice message);
/* The message at hand, alone or with its group, ends a transaction of which the server knows
 * nothing, or is about a savepoint in it: DONE: it was answered and consumed. It waits if it
 * commits what was kept, or that goes to the link first. PASS: it goes its way. */
px_step px_begin_ends(px_session *session, pgw_frame frame, pgw_slice message);
/* The message at hand comes while a BEGIN is on its way. DONE: it may go on. */
px_step px_begin_meet(px_session *session, pgw_frame frame, pgw_slice message);
enum { PX_BEGIN_ROOM = 1 << 20 /* Bytes of kept rows that a worker sends in a tick, about. */ };

/* Sends a BEGIN that nothing follows; or what was kept, if rows take too much memory and there is
 * room. `now`: px_worker_now(). `room`: what of PX_BEGIN_ROOM this tick has left, less what is
 * sent; the last transaction may have more. */
void px_begin_tick(px_session *session, uint64_t now, size_t *room);

#endif
