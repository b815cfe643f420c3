#include "proxy/backend/base/slots.h"

#include "proxy/backend/base/dsn.h"
#include "proxy/base/shared.h"

#include <string.h>

enum { VANISHING_MS = 1000 }; /* ms that the server may still count the backend of a closed link */

bool px_plea_concerns(const px_plea *plea, const px_identity *identity)
{
    switch (plea->slot) {
    case PX_SLOT_OF_ROLE:
        return plea->any_role || strcmp(plea->identity->user, identity->user) == 0;
    case PX_SLOT_OF_DATABASE:
        return plea->any_database || strcmp(plea->identity->database, identity->database) == 0;
    case PX_SLOT_OF_ANY:
    case PX_SLOT_OF_SESSION:
        break;
    }
    return true;
}

bool px_plea_note(px_plea *plea, px_yield yield)
{
    plea->given = yield == PX_YIELD_NOW;
    plea->later = plea->later || yield == PX_YIELD_LATER;
    return plea->given;
}

static bool ask_here(px_worker *worker, px_plea *plea)
{
    for (const px_tenant *const *tenant = worker->tenants; *tenant != NULL; tenant++)
        if ((*tenant)->yield != NULL && (*tenant)->yield(worker, plea))
            return true;
    return false;
}

static bool is_any_vanishing(px_worker *worker)
{
    uint64_t left = atomic_load(&worker->server->link_left);
    return left > 0 && px_worker_now(worker) < left + VANISHING_MS;
}

static void go_home(px_worker *worker, px_plea *plea)
{
    atomic_fetch_sub(&worker->server->errands, 1);
    plea->answered(plea, plea->given || plea->later || is_any_vanishing(worker));
}

static void visit(px_worker *worker, px_message *message)
{
    px_plea *plea = (px_plea *)message;
    px_server *server = worker->server;
    if (plea->given || plea->visited++ == server->worker_count) {
        go_home(worker, plea);
        return;
    }
    bool last = ask_here(worker, plea) || plea->visited == server->worker_count;
    px_worker *next = &server->workers[(worker->index + 1) % server->worker_count];
    px_worker_send(last ? plea->home : next, message);
}

void px_slots_plead(px_plea *plea)
{
    const char *dsn = plea->home->config->backend.dsn;
    plea->message.run = visit;
    plea->visited = 0;
    plea->given = plea->later = false;
    plea->any_role = px_dsn_names(dsn, "user");
    plea->any_database = px_dsn_names(dsn, "dbname");
    atomic_fetch_add(&plea->home->server->errands, 1);
    px_worker_send(plea->home, &plea->message);
}
