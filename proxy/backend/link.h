/*
 * link: one connection to the backend. libpq opens it (addresses, passwords, TLS), then its socket
 * is taken over and everything is read and written by our own codec; libpq only cancels and closes.
 */
#ifndef PX_LINK_H
#define PX_LINK_H

#include "protocol/error.h"
#include "proxy/backend/identity.h"
#include "proxy/loop/stream.h"

struct px_worker;
typedef struct px_link px_link;

typedef struct px_link_ops {
    /* Ready for queries: px_link_stream() is there. */
    void (*on_ready)(px_link *link);
    /* Could not be opened: the server's own FATAL, or 08006 with the reason, or 53300 when
     * max_links are in use for longer than link_wait_ms. The link is freed after this call. */
    void (*on_failed)(px_link *link, const pgw_error *error);
    /* Then as a stream's owner: */
    void (*on_input)(px_link *link);
    void (*on_drained)(px_link *link);
    void (*on_lost)(px_link *link, const char *reason); /* the owner calls px_link_close() */
} px_link_ops;

/* Starts opening; the answer comes on a later turn. Links with `extra_options` are the proxy's own
 * and may be any of backend.max_links; sessions' leave backend.batch_links of them free.
 * `extra_options` ("-c lock_timeout=200") stand behind the identity's own; NULL for none. */
px_link *px_link_open(struct px_worker *worker, px_identity *identity, const char *extra_options,
                      const px_link_ops *ops, void *owner);
/* A session's own, if less than `most` links of the process are in use; else NULL. */
px_link *px_link_open_of(struct px_worker *worker, unsigned most, px_identity *identity,
                         const px_link_ops *ops, void *owner);
/* Terminates politely if it was ready; also ends an opening. Frees later; no callback comes any
 * more. */
void px_link_close(px_link *link);
/* The last message on it stays in parts: px_link_close() says no Terminate then. */
void px_link_leave_unfinished(px_link *link);

void *px_link_owner(const px_link *link);
px_stream *px_link_stream(px_link *link);
px_identity *px_link_identity(const px_link *link);
/* What it has inherited from its role and its database (px_inheritance_read()); 0: not known. */
uint64_t px_link_settings(const px_link *link);
/* Both reported the same when they opened, but for application_name. */
bool px_link_is_like(const px_link *link, const px_link *other);
/* The process id of its backend, as that told it. */
uint32_t px_link_pid(const px_link *link);
/* The server asked for the password of the link's identity, and took it. */
bool px_link_used_password(const px_link *link);
/* The server has let the role in, also if the link failed thereafter. */
bool px_link_was_admitted(const px_link *link);
/* NoticeResponses that came as it opened; they live as long as the link. */
pgw_slice px_link_notices(const px_link *link);
/* A setting the server reported when the link opened; NULL if it did not. */
const char *px_link_parameter(const px_link *link, const char *name);
extern const char *const px_link_parameters[]; /* the names asked for, NULL at the end */
/* Cancels what runs there, on a thread of its own. Nothing may be written to the link until
 * px_link_cancelling() is false again; then on_drained is called. */
void px_link_cancel(px_link *link);
bool px_link_cancelling(const px_link *link);

#endif
