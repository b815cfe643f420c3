#include "proxy/backend/base/link.h"

#include "proxy/backend/base/backend.h"
#include "proxy/backend/base/classify.h"
#include "proxy/base/log.h"
#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { RETRY_MS = 20, PAUSE_MS = 320, COLLISIONS_MS = 1000, BATCH_WAIT_NS = 1000 * 1000 * 1000 };

/* ---- the end ---- */

static unsigned most_links(const px_link *link)
{
    return link->worker->config->backend.max_links;
}

static void leave_seat(px_link *link)
{
    px_seats_leave(&link->worker->server->seats, &link->seat, most_links(link));
}

/* Frees the link when nothing refers to it any more. */
static void finish_if_quiet(px_link *link)
{
    if (!link->ended || link->timed || link->pleading)
        return;
    px_identity_drop(link->identity);
    pgw_buf_free(&link->notices);
    free(link->options);
    free(link->refusal);
    free(link);
}

/* Another link may have the place at once, also if this one cannot be freed yet. */
void px_link_end(px_link *link)
{
    px_worker *worker = link->worker;
    link->ended = true;
    if (link->pid != 0 || link->opening) /* the server may still count the connection */
        atomic_store(&worker->server->link_left, px_worker_now(worker));
    leave_seat(link);
    finish_if_quiet(link);
}

static void on_wait_closed(uv_handle_t *handle)
{
    px_link *link = handle->data;
    link->timed = false;
    finish_if_quiet(link);
}

void px_link_close(px_link *link)
{
    if (link->closing)
        return;
    link->closing = true;
    if (link->timed)
        uv_close((uv_handle_t *)&link->wait, on_wait_closed);
    if (!link->was_open)
        leave_seat(link);
    link->kind->close(link);
}

/* ---- opening ---- */

static void on_wait(uv_timer_t *timer);

static void wait(px_link *link, uint64_t ms)
{
    if (!link->timed)
        uv_timer_init(&link->worker->loop, &link->wait);
    link->wait.data = link;
    link->timed = true;
    uv_timer_start(&link->wait, on_wait, ms, RETRY_MS);
}

static void give_up(px_link *link, const pgw_error *error)
{
    link->ops->on_failed(link, error);
    px_link_close(link);
}

static void open_now(px_link *link)
{
    link->opening = true;
    link->refusals_before = atomic_load(&link->worker->server->link_refusals);
    link->kind->open(link);
}

static void fail(px_link *link, const pgw_error *error)
{
    atomic_store(&link->worker->server->unreachable, px_error_is_absence(error));
    px_count(link->worker->metrics, PX_LINK_FAILURES, 1);
    give_up(link, error);
}

/* ---- no connection is left for a link ---- */

/* The server counts backends until they are gone, also those that it refuses: several tries may be
 * refused for each other's sake though there is room for one. */
static bool collides(const px_link *link)
{
    unsigned refusals = atomic_load(&link->worker->server->link_refusals) - link->refusals_before;
    return refusals > 1 && px_worker_now(link->worker) < link->collides_until;
}

static void on_pleaded(px_plea *plea, bool hope)
{
    px_link *link = (px_link *)((char *)plea - offsetof(px_link, plea));
    link->pleading = false;
    hope = hope || collides(link);
    if (link->role == PX_LINK_CATALOG && plea->later && !plea->given)
        hope = false; /* the busy session can read the catalog by itself */
    if (link->closing)
        finish_if_quiet(link);
    else if (link->refusal != NULL && hope)
        wait(link, link->pause);
    else if (link->refusal != NULL)
        fail(link, link->refusal);
}

/* Asks other links to give way; false if that is of no use. */
static bool plead(px_link *link, px_slot slot)
{
    uint64_t now = px_worker_now(link->worker);
    if (now >= link->wait_until || link->ops->on_refused == NULL || !link->ops->on_refused(link))
        return false;
    if (link->pleading)
        return true;
    uint32_t pause = link->pause == 0 ? RETRY_MS : link->pause * 2;
    link->pause = pause < PAUSE_MS ? pause : PAUSE_MS;
    link->plead_at = now + link->pause;
    link->pleading = true;
    link->plea = (px_plea){
        .home = link->worker, .identity = link->identity, .slot = slot, .answered = on_pleaded};
    px_slots_plead(&link->plea);
    return true;
}

/* Whether opening is tried again after 53300. A batch link does not wait long: its rows can go over
 * sessions' own links. */
static bool tries_again(px_link *link, const pgw_error *error)
{
    bool late =
        link->role == PX_LINK_BATCH && px_worker_clock(link->worker) - link->asked > BATCH_WAIT_NS;
    if (!px_error_is_full(error))
        return false;
    atomic_fetch_add(&link->worker->server->link_refusals, 1);
    if (late || !plead(link, link->missing))
        return false;
    if (link->refusal == NULL) {
        link->refusal = pgw_alloc(sizeof *link->refusal);
        link->collides_until = px_worker_now(link->worker) + COLLISIONS_MS;
    }
    *link->refusal = *error;
    return true;
}

void px_link_fail(px_link *link, const pgw_error *error)
{
    link->opening = false;
    if (link->closing)
        return;
    if (tries_again(link, error))
        pgw_buf_clear(&link->notices);
    else
        fail(link, error);
}

/* ---- opened ---- */

/* What the link reported, but for parameters set by its own options: these say nothing about other
 * links. */
static px_reported reported(const px_link *link)
{
    px_reported said = {.settings = link->settings,
                        .statement_timeout = link->statement_timeout,
                        .user_timeout = link->user_timeout};
    for (size_t i = 0; px_greeting_name(i) != NULL; i++) {
        const char *name = px_greeting_name(i);
        bool given = link->options != NULL && strstr(link->options, name) != NULL;
        said.values[i] = given ? NULL : px_link_parameter(link, name);
    }
    return said;
}

void px_link_be_ready(px_link *link)
{
    px_worker *worker = link->worker;
    link->opening = false;
    if (link->closing)
        return;
    atomic_store(&worker->server->unreachable, false);
    if (link->role == PX_LINK_SESSION)
        px_observe(worker->metrics, PX_LINK_WAIT_SESSION, px_worker_clock(worker) - link->asked);
    px_greeting_compare(worker, link->identity, reported(link));
    link->ops->on_ready(link);
}

/* Opens a link that has a place of max_links. */
static void open_there(px_link *link)
{
    const px_seats *seats = &link->worker->server->seats;
    if (link->seat.kind == PX_SEAT_BORROWER && !link->was_open)
        link->borrowed = atomic_load(&seats->session_links) == most_links(link);
    link->was_open = true;
    open_now(link);
}

static bool try_open(px_link *link)
{
    bool may = px_seats_take(&link->worker->server->seats, &link->seat, most_links(link));
    if (may)
        open_there(link);
    return may;
}

/* ---- a link that has waited gets a place ---- */

static void open_called(px_worker *worker, px_message *message)
{
    (void)message;
    atomic_store(&worker->called, false);
    for (px_seat *seat; (seat = px_seats_called(&worker->server->seats, worker)) != NULL;) {
        px_link *link = (px_link *)((char *)seat - offsetof(px_link, seat));
        uv_timer_stop(&link->wait);
        open_there(link);
    }
}

/* Has the worker open links that were given a place. It runs as long as one of its links waits. */
static void call(px_seat *seat)
{
    px_worker *worker = seat->whose;
    if (atomic_exchange(&worker->called, true))
        return;
    worker->call.run = open_called;
    px_worker_send(worker, &worker->call);
}

/* Asks other links to give way, for max_links are in use. */
static void wait_for_one(px_link *link)
{
    bool sessions =
        px_seats_are_sessions(&link->worker->server->seats, &link->seat, most_links(link));
    if (px_worker_now(link->worker) >= link->plead_at)
        plead(link, sessions ? PX_SLOT_OF_SESSION : PX_SLOT_OF_ANY);
}

static void on_wait(uv_timer_t *timer)
{
    px_link *link = timer->data;
    const cfg_config *config = link->worker->config;
    bool over = px_worker_now(link->worker) >= link->wait_until;
    bool opens = try_open(link);
    if (opens || over)
        uv_timer_stop(timer);
    if (!opens && !over)
        wait_for_one(link);
    if (opens || !over)
        return;
    pgw_error error;
    pgw_fail(&error, "53300", "no connection to the backend is free: backend.max_links is %u",
             config->backend.max_links);
    pgw_error_hint(&error, "Raise backend.max_links (and the server's max_connections), or "
                           "backend.link_wait_ms.");
    px_log(CFG_LOG_WARN, "links_exhausted", "max_links=%u", config->backend.max_links);
    give_up(link, &error);
}

static const px_seat_kind seat_kinds[] = {[PX_LINK_SESSION] = PX_SEAT_SESSION,
                                          [PX_LINK_BATCH] = PX_SEAT_BATCH,
                                          [PX_LINK_CATALOG] = PX_SEAT_LOOK};

static px_link *make_link(px_worker *worker, px_link_role role, px_identity *identity,
                          const px_link_ops *ops, void *owner)
{
    const px_link_kind *kind = worker->server->backend->link;
    px_link *link = pgw_calloc(1, kind->size);
    link->kind = kind;
    link->worker = worker;
    link->role = role;
    link->seat = (px_seat){.kind = seat_kinds[role], .whose = worker, .call = call};
    link->identity = px_identity_take(identity);
    link->ops = ops;
    link->owner = owner;
    link->wait_until = px_worker_now(worker) + worker->config->backend.link_wait_ms;
    link->asked = px_worker_clock(worker);
    return link;
}

px_link *px_link_open(px_worker *worker, px_link_role role, px_identity *identity,
                      const char *options, const px_link_ops *ops, void *owner)
{
    px_link *link = make_link(worker, role, identity, ops, owner);
    if (options != NULL)
        link->options = pgw_strndup(options, strlen(options));
    if (!try_open(link))
        wait(link, 0);
    return link;
}

void px_link_borrow(px_link *link)
{
    px_seats_borrow(&link->worker->server->seats, &link->seat);
}

px_link *px_link_open_of(px_worker *worker, unsigned most, px_identity *identity,
                         const px_link_ops *ops, void *owner)
{
    px_link *link = make_link(worker, PX_LINK_SESSION, identity, ops, owner);
    if (!px_seats_take_spare(&worker->server->seats, &link->seat, most, most_links(link))) {
        px_link_close(link);
        return NULL;
    }
    open_there(link);
    return link;
}

void px_link_leave_unfinished(px_link *link)
{
    link->unfinished = true;
}

void px_link_finish(px_link *link)
{
    link->kind->finish(link);
}

/* ---- what is sent and received ---- */

void px_link_send(px_link *link, const void *ptr, size_t len)
{
    link->kind->send(link, ptr, len);
}

void px_link_send_buf(px_link *link, const pgw_buf *buf)
{
    link->kind->send(link, buf->ptr, buf->len);
}

void px_link_give(px_link *link, pgw_buf *buf)
{
    if (link->kind->give != NULL) {
        link->kind->give(link, buf);
        return;
    }
    size_t len = px_block_len(buf);
    link->kind->send(link, buf->ptr + buf->len - len, len);
    pgw_buf_free(buf);
}

void px_link_pass(px_link *link, px_stream *from, size_t len)
{
    link->kind->pass(link, from, len);
}

size_t px_link_pending(const px_link *link)
{
    return link->kind->pending(link);
}

void px_link_cancel(px_link *link)
{
    if (!link->closing && !px_link_cancelling(link))
        link->kind->cancel(link);
}

bool px_link_cancelling(const px_link *link)
{
    return link->kind->cancelling(link);
}

pgw_slice px_link_input(const px_link *link)
{
    return link->kind->input(link);
}

void px_link_consume(px_link *link, size_t len)
{
    link->kind->consume(link, len);
}

void px_link_expect(px_link *link, size_t len)
{
    link->kind->expect(link, len);
}

pgw_frame_result px_link_message(px_link *link, size_t most, pgw_frame *frame, pgw_slice *message)
{
    pgw_slice input = px_link_input(link);
    pgw_frame_result result = pgw_frame_next(input, frame);
    if (result != PGW_FRAME_OK)
        return result;
    if (frame->size > most)
        return PGW_FRAME_BAD;
    *message = (pgw_slice){input.ptr, frame->size};
    if (input.len >= frame->size)
        return PGW_FRAME_OK;
    px_link_expect(link, frame->size);
    return PGW_FRAME_MORE;
}

void px_link_pass_on(px_link *link, px_stream *to, size_t len)
{
    link->kind->pass_on(link, to, len);
}

void px_link_pause(px_link *link)
{
    link->kind->pause(link);
}

void px_link_resume(px_link *link)
{
    link->kind->resume(link);
}

/* ---- what is known of a link ---- */

bool px_link_is_borrowed(const px_link *link)
{
    return link->borrowed;
}

bool px_link_is_opening(const px_link *link)
{
    return link->opening;
}

void *px_link_owner(const px_link *link)
{
    return link->owner;
}

uint64_t px_link_settings(const px_link *link)
{
    return link->settings;
}

uint64_t px_link_timeout(const px_link *link)
{
    return link->statement_timeout;
}

uint64_t px_link_user_timeout(const px_link *link)
{
    return link->user_timeout;
}

bool px_link_has_modes(const px_link *link)
{
    return link->has_modes;
}

bool px_link_is_like(const px_link *link, const px_link *other)
{
    for (size_t i = 0; px_greeting_name(i) != NULL; i++) {
        const char *a = px_link_parameter(link, px_greeting_name(i));
        const char *b = px_link_parameter(other, px_greeting_name(i));
        bool own = strcmp(px_greeting_name(i), "application_name") == 0;
        if (!own && strcmp(a != NULL ? a : "", b != NULL ? b : "") != 0)
            return false;
    }
    return true;
}

uint32_t px_link_pid(const px_link *link)
{
    return link->pid;
}

bool px_link_was_admitted(const px_link *link)
{
    return link->admitted;
}

pgw_slice px_link_notices(const px_link *link)
{
    return pgw_slice_buf(&link->notices);
}

bool px_link_used_password(const px_link *link)
{
    return link->used_password;
}

const char *px_link_parameter(const px_link *link, const char *name)
{
    return link->kind->parameter(link, name);
}

bool px_link_is_primary(const px_link *link)
{
    const char *standby = px_link_parameter(link, "in_hot_standby");
    return standby != NULL && strcmp(standby, "off") == 0;
}

px_greeting *px_link_greeting(const px_link *link)
{
    return px_greeting_keep(link->worker, link->identity, reported(link));
}
