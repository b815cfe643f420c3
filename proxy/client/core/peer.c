#include "proxy/client/core/peer.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

void px_peer_begin(px_peer *peer, int fd, px_address *address, uint64_t now)
{
    peer->fd = fd;
    peer->address = address;
    peer->started = now;
    if (getrandom(&peer->cancel_key, sizeof peer->cancel_key, 0) != sizeof peer->cancel_key)
        abort(); /* a key that can be guessed is worse than none */
}

void px_peer_enter(px_peer *peer, struct px_guest *guest, struct px_login *login)
{
    peer->guest = guest;
    peer->login = login;
}

struct px_guest *px_peer_take_guest(px_peer *peer)
{
    struct px_guest *guest = peer->guest;
    peer->guest = NULL;
    return guest;
}

struct px_login *px_peer_take_login(px_peer *peer)
{
    struct px_login *login = peer->login;
    peer->login = NULL;
    return login;
}

void px_peer_connect(px_peer *peer, px_stream *stream)
{
    peer->stream = stream;
}

void px_peer_secure(px_peer *peer, const px_tls *tls)
{
    peer->ssl = px_tls_accept(tls, peer->fd);
    px_stream_secure(peer->stream, peer->ssl);
}

void px_peer_identify(px_peer *peer, uint32_t pid, bool real)
{
    peer->pid = pid;
    peer->pid_reported = real;
}

void px_peer_speaks_old(px_peer *peer)
{
    peer->old_protocol = true;
}

void px_peer_takes_long_key(px_peer *peer)
{
    peer->long_key = true;
}

void px_peer_leave(px_peer *peer)
{
    peer->leaving = true;
}

void px_peer_free(px_peer *peer)
{
    if (peer->ssl != NULL)
        px_tls_end(peer->ssl);
    close(peer->fd);
    px_address_leave(peer->address);
}
