/*
 * peer: the client's side of a session: its connection, how far it has logged in, and how it is
 * spoken to. Everybody reads the fields; peer.c alone writes them.
 */
#ifndef PX_PEER_H
#define PX_PEER_H

#include "proxy/base/address.h"
#include "proxy/loop/stream.h"
#include "proxy/loop/tls.h"

struct px_guest;
struct px_login;

/* The client's connection. */
typedef struct px_peer {
    px_stream *stream;
    int fd;
    px_address *address;    /* the client's address; NULL: a Unix socket */
    struct px_guest *guest; /* place in the waiting list until the session is ready; may be NULL */
    struct ssl_st *ssl;     /* the TLS connection; NULL: no TLS */
    struct px_login *login; /* login until the session is ready; owned; NULL after that */
    uint64_t started;
    uint32_t pid;        /* process id in BackendKeyData; 0 until the client is greeted */
    uint32_t cancel_key; /* keyspread's own, for libpq hides the backend's: px_cancel_key() */
    bool pid_reported; /* `pid` is that of its link's backend, so that no other link can replace the
                          link */
    bool old_protocol; /* the client asked for a protocol before 3.0, and is refused in its form */
    bool long_key; /* The client asked for protocol 3.2 or newer, and is told a key of 32 bytes. */
    bool leaving;  /* the client has said goodbye, and nothing it sends is looked at any more */
} px_peer;

/* The peer of a connection that was accepted, with a cancel key that cannot be guessed. Takes `fd`
 * and `address` (may be NULL), which px_peer_free() gives back; `now`: px_worker_now(). */
void px_peer_begin(px_peer *peer, int fd, px_address *address, uint64_t now);
/* The client waits in the waiting list (`guest` may be NULL) and logs in; the caller gets both
 * back. */
void px_peer_enter(px_peer *peer, struct px_guest *guest, struct px_login *login);
struct px_guest *px_peer_take_guest(px_peer *peer); /* NULL from the second time on */
struct px_login *px_peer_take_login(px_peer *peer); /* NULL from the second time on */
/* Gives the peer its stream, which the caller closes before px_peer_free(). */
void px_peer_connect(px_peer *peer, px_stream *stream);
/* The connection's next byte is TLS. */
void px_peer_secure(px_peer *peer, const px_tls *tls);
/* What the client is told in BackendKeyData; `real`: the process id is that of its link. */
void px_peer_identify(px_peer *peer, uint32_t pid, bool real);
/* The protocol that the client asked for is older than 3.0. */
void px_peer_speaks_old(px_peer *peer);
/* The client may be told a key of 32 bytes. */
void px_peer_takes_long_key(px_peer *peer);
/* The client has said goodbye. */
void px_peer_leave(px_peer *peer);
/* Closes the connection. The login and the guest have been taken. */
void px_peer_free(px_peer *peer);

#endif
