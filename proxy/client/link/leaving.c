#include "proxy/client/link/leaving.h"

#include "proxy/backend/base/dsn.h"
#include "proxy/backend/catalog/catalog.h"
#include "proxy/base/shared.h"
#include "proxy/batch/pool.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/sessions.h"
#include "proxy/client/link/own_link.h"
#include "proxy/loop/worker.h"
#include "rewrite/ddl/admin.h"

#include <stdlib.h>
#include <string.h>

/* A message that goes round the workers and home again. */
typedef struct leave {
    px_message message;
    px_worker *home;
    size_t slot;
    uint64_t ticket; /* ticket of the session that waits */
    size_t visited;
    size_t count;
    char *databases[RW_ADMIN_DATABASES];
} leave;

static bool names(const leave *l, const char *database)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->databases[i], database) == 0)
            return true;
    return false;
}

static void leave_here(px_worker *worker, const leave *l)
{
    /* A database that the DSN names is that of all links. */
    char *fixed = px_dsn_value(worker->config->backend.dsn, "dbname");
    for (px_pool *pool = worker->pools->first; pool != NULL; pool = pool->next)
        if (names(l, fixed != NULL ? fixed : pool->identity->database))
            px_pool_leave(pool);
    for (size_t i = 0; i < px_sessions_slots(worker); i++) {
        px_session *session = px_sessions_at(worker, i);
        bool asks = worker == l->home && i == l->slot;
        if (session != NULL && !asks && session->state == PX_READY &&
            names(l, fixed != NULL ? fixed : session->who.identity->database))
            px_own_link_leave(session);
    }
    free(fixed);
}

static void go_home(px_worker *worker, leave *l)
{
    px_session *session = px_sessions_at(worker, l->slot);
    bool waits = session != NULL && session->ticket == l->ticket && session->state == PX_READY;
    for (size_t i = 0; i < l->count; i++)
        free(l->databases[i]);
    free(l);
    atomic_fetch_sub(&worker->server->errands, 1);
    if (!waits)
        return;
    session->hand.databases_left = true;
    px_session_wake(session, PX_WAIT_DATABASES);
}

static void run_leave(px_worker *worker, px_message *message)
{
    leave *l = (leave *)message;
    px_server *server = worker->server;
    if (l->visited++ == server->worker_count) {
        go_home(worker, l);
        return;
    }
    leave_here(worker, l);
    bool last = l->visited == server->worker_count;
    px_worker *next = &server->workers[(worker->index + 1) % server->worker_count];
    px_worker_send(last ? l->home : next, message);
}

static void begin(px_session *session, const rw_admin *admin)
{
    leave *l = pgw_calloc(1, sizeof *l);
    l->message.run = run_leave;
    l->home = session->worker;
    l->slot = session->slot;
    l->ticket = session->ticket;
    l->count = admin->database_count;
    for (size_t i = 0; i < l->count; i++) {
        l->databases[i] = pgw_strndup(admin->databases[i].ptr, admin->databases[i].len);
        px_catalogs_leave(session->worker, l->databases[i]);
    }
    atomic_fetch_add(&session->worker->server->errands, 1);
    px_worker_send(session->worker, &l->message);
}

px_step px_leaving_first(px_session *session, pgw_slice text)
{
    pgw_arena arena = {0};
    rw_admin admin;
    rw_admin_read(text, session->who.identity->env.conforming, &arena, &admin);
    bool go_on = admin.database_count == 0 || session->hand.databases_left;
    session->hand.databases_left = false;
    px_own_note_alters(&session->own, admin.settings);
    if (!go_on)
        begin(session, &admin);
    pgw_arena_free(&arena);
    return go_on ? PX_STEP_DONE : PX_WAIT_DATABASES;
}
