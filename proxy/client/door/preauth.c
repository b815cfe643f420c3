#include "proxy/client/door/preauth.h"

#include "proxy/base/address.h"
#include "proxy/base/claim.h"
#include "proxy/base/shared.h"
#include "proxy/client/core/session.h"
#include "proxy/loop/worker.h"

#include <stdlib.h>

/* How long no guest is called silent: a crowd that comes at once is accepted at once, and has not
 * had its turn to speak. */
enum { GRACE_NS = 200 * 1000 * 1000 };

typedef enum bench {       /* where a guest sits, the longest silent first */
                     MUTE, /* the guest has said nothing */
                     BEGUN,
                     SERVED, /* the guest is on no list and does not give way */
                     BENCHES = SERVED
} bench;

struct px_guest {
    px_guest *next, *previous; /* neighbours on its bench */
    bench bench;
    bool asked; /* the guest was asked to give way, and has said nothing since */
    uint64_t since;
    px_preauth *preauth;
    px_worker *worker;
    struct px_address *address;
    struct px_session *session; /* the worker's thread alone looks at it */
    _Atomic unsigned references;
};

struct px_preauth {
    pthread_mutex_t lock;
    px_guest *first[BENCHES], *last[BENCHES];
};

px_preauth *px_preauth_new(void)
{
    px_preauth *preauth = pgw_calloc(1, sizeof *preauth);
    pthread_mutex_init(&preauth->lock, NULL);
    return preauth;
}

void px_preauth_free(px_preauth *preauth)
{
    pthread_mutex_destroy(&preauth->lock);
    free(preauth);
}

static void drop(px_guest *guest)
{
    if (atomic_fetch_sub(&guest->references, 1) == 1)
        free(guest);
}

/* ---- the benches; the lock is held ---- */

static void stand_up(px_guest *guest)
{
    px_preauth *preauth = guest->preauth;
    if (guest->bench == SERVED)
        return;
    *(guest->previous ? &guest->previous->next : &preauth->first[guest->bench]) = guest->next;
    *(guest->next ? &guest->next->previous : &preauth->last[guest->bench]) = guest->previous;
    guest->bench = SERVED;
}

static void sit_down(px_guest *guest, bench where)
{
    px_preauth *preauth = guest->preauth;
    guest->bench = where;
    guest->since = uv_hrtime();
    guest->next = NULL;
    guest->previous = preauth->last[where];
    *(guest->previous ? &guest->previous->next : &preauth->first[where]) = guest;
    preauth->last[where] = guest;
}

static px_guest *longest_silent(const px_preauth *preauth)
{
    uint64_t before = uv_hrtime() - GRACE_NS;
    for (bench b = MUTE; b < BENCHES; b++)
        if (preauth->first[b] != NULL && preauth->first[b]->since <= before)
            return preauth->first[b];
    return NULL;
}

static px_guest *longest_silent_of(const px_preauth *preauth, const struct px_address *address)
{
    uint64_t before = uv_hrtime() - GRACE_NS;
    for (bench b = MUTE; b < BENCHES; b++)
        for (px_guest *g = preauth->first[b]; g != NULL && g->since <= before; g = g->next)
            if (g->address == address)
                return g;
    return NULL;
}

/* ---- giving way ---- */

typedef struct request {
    px_message message;
    px_guest *guest;
} request;

/* Whether the client has said something that was not read yet: it was not silent, the worker was
 * busy. */
static bool has_spoken(const px_session *session)
{
    char byte;
    return recv(session->peer.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static void on_request(px_worker *worker, px_message *message);

static bool give_way(px_guest *guest)
{
    if (guest == NULL)
        return false;
    stand_up(guest);
    guest->asked = true;
    atomic_fetch_add(&guest->references, 1);
    request *r = pgw_alloc(sizeof *r);
    *r = (request){.message.run = on_request, .guest = guest};
    px_worker_send(guest->worker, &r->message);
    return true;
}

static void hear(px_guest *guest, bool served)
{
    stand_up(guest);
    guest->asked = false;
    if (!served)
        sit_down(guest, BEGUN);
}

/* Whether the guest must go. False: it was not silent after all, and the next that has said nothing
 * is asked in its place. */
static bool must_go(px_guest *guest)
{
    px_preauth *preauth = guest->preauth;
    pthread_mutex_lock(&preauth->lock);
    if (guest->asked && has_spoken(guest->session))
        hear(guest, false);
    bool goes = guest->asked;
    if (!goes)
        give_way(preauth->first[MUTE]);
    pthread_mutex_unlock(&preauth->lock);
    return goes;
}

static void on_request(px_worker *worker, px_message *message)
{
    (void)worker;
    px_guest *guest = ((request *)message)->guest;
    px_session *session = guest->session;
    if (session != NULL && must_go(guest)) {
        pgw_error error;
        pgw_fail(&error, "53300", "too many connections are logging in");
        px_session_fatal(session, &error);
    }
    drop(guest);
    free(message);
}

/* ---- coming and going ---- */

bool px_preauth_is_to_be_waited_for(const px_server *server)
{
    px_preauth *preauth = server->preauth;
    const cfg_config *config = server->config;
    unsigned guests = atomic_load(&server->unauthenticated);
    if (guests < config->limits.unauthenticated ||
        guests + atomic_load(&server->clients) >= config->limits.clients)
        return false;
    pthread_mutex_lock(&preauth->lock);
    bool silent = longest_silent(preauth) != NULL;
    pthread_mutex_unlock(&preauth->lock);
    return !silent;
}

px_guest *px_preauth_enter(px_worker *worker, struct px_address *address)
{
    px_server *server = worker->server;
    px_preauth *preauth = server->preauth;
    const cfg_config *config = server->config;
    px_guest *guest = pgw_calloc(1, sizeof *guest);
    *guest = (px_guest){.bench = SERVED, .preauth = preauth, .worker = worker, .address = address};
    atomic_init(&guest->references, 1);
    pthread_mutex_lock(&preauth->lock);
    unsigned of_address = px_address_add_guests(address, 1);
    bool gives = of_address > config->limits.unauthenticated_per_address &&
                 give_way(longest_silent_of(preauth, address));
    bool room = px_claim(&server->unauthenticated, config->limits.unauthenticated);
    if (!room && (gives || give_way(longest_silent(preauth)))) {
        atomic_fetch_add(&server->unauthenticated, 1); /* until the other has gone */
        room = true;
    }
    if (room)
        sit_down(guest, MUTE);
    else
        px_address_add_guests(address, -1);
    pthread_mutex_unlock(&preauth->lock);
    if (!room)
        drop(guest);
    return room ? guest : NULL;
}

void px_guest_is(px_guest *guest, struct px_session *session)
{
    if (guest != NULL)
        guest->session = session;
}

void px_guest_heard(px_guest *guest, bool served)
{
    if (guest == NULL)
        return;
    pthread_mutex_lock(&guest->preauth->lock);
    hear(guest, served);
    pthread_mutex_unlock(&guest->preauth->lock);
}

void px_guest_leave(px_guest *guest)
{
    if (guest == NULL)
        return;
    pthread_mutex_lock(&guest->preauth->lock);
    stand_up(guest);
    px_address_add_guests(guest->address, -1);
    pthread_mutex_unlock(&guest->preauth->lock);
    guest->session = NULL;
    drop(guest);
}
