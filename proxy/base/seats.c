#include "proxy/base/seats.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- lists ---- */

static void unlink_seat(px_seat_list *list, px_seat *seat)
{
    *(seat->previous != NULL ? &seat->previous->next : &list->first) = seat->next;
    *(seat->next != NULL ? &seat->next->previous : &list->last) = seat->previous;
    seat->previous = seat->next = NULL;
}

/* Puts the seat behind those that asked earlier. */
static void link_seat(px_seat_list *list, px_seat *seat)
{
    px_seat *before = list->last;
    while (before != NULL && before->asked > seat->asked)
        before = before->previous;
    seat->previous = before;
    seat->next = before != NULL ? before->next : list->first;
    *(before != NULL ? &before->next : &list->first) = seat;
    *(seat->next != NULL ? &seat->next->previous : &list->last) = seat;
}

/* ---- how many there may be ---- */

static bool is_sessions(px_seat_kind kind)
{
    return kind == PX_SEAT_SESSION || kind == PX_SEAT_BORROWER;
}

/* The own links of sessions leave one link for batches. */
static unsigned most_of(px_seat_kind kind, unsigned most)
{
    return kind == PX_SEAT_SESSION && most > 1 ? most - 1 : most;
}

static bool may_have_one(const px_seats *seats, px_seat_kind kind, unsigned most)
{
    return atomic_load(&seats->links) < most &&
           (!is_sessions(kind) || atomic_load(&seats->session_links) < most_of(kind, most));
}

static void count_in(px_seats *seats, px_seat *seat, px_seat_state state)
{
    seat->state = state;
    atomic_fetch_add(&seats->links, 1);
    if (is_sessions(seat->kind))
        atomic_fetch_add(&seats->session_links, 1);
}

static void count_out(px_seats *seats, px_seat *seat)
{
    seat->state = PX_SEAT_NONE;
    atomic_fetch_sub(&seats->links, 1);
    if (is_sessions(seat->kind))
        atomic_fetch_sub(&seats->session_links, 1);
}

/* ---- who is next ---- */

/* The seat that is next. A kind that may have no link now does not hold up the others. */
static px_seat *next_of(const px_seats *seats, unsigned most)
{
    px_seat *next = NULL;
    for (px_seat_kind kind = PX_SEAT_LOOK; kind < PX_SEAT_KINDS; kind++) {
        px_seat *first = seats->waiting[kind].first;
        if (first == NULL || !may_have_one(seats, kind, most))
            continue;
        if (kind == PX_SEAT_LOOK)
            return first;
        if (next == NULL || first->asked < next->asked)
            next = first;
    }
    return next;
}

/* Gives free links to the seats that wait, and calls their owners, but not that of `asker`. */
static void serve(px_seats *seats, const px_seat *asker, unsigned most)
{
    for (px_seat *next; (next = next_of(seats, most)) != NULL;) {
        unlink_seat(&seats->waiting[next->kind], next);
        count_in(seats, next, PX_SEAT_CALLED);
        link_seat(&seats->called, next);
        if (next != asker)
            next->call(next);
    }
}

static void take_called(px_seats *seats, px_seat *seat)
{
    unlink_seat(&seats->called, seat);
    seat->state = PX_SEAT_TAKEN;
}

bool px_seats_take(px_seats *seats, px_seat *seat, unsigned most)
{
    pthread_mutex_lock(&lock);
    if (seat->state == PX_SEAT_NONE) {
        seat->state = PX_SEAT_WAITING;
        seat->asked = seats->asked++;
        link_seat(&seats->waiting[seat->kind], seat);
    }
    serve(seats, seat, most); /* `most` may have grown */
    if (seat->state == PX_SEAT_CALLED)
        take_called(seats, seat);
    bool taken = seat->state == PX_SEAT_TAKEN;
    pthread_mutex_unlock(&lock);
    return taken;
}

bool px_seats_take_spare(px_seats *seats, px_seat *seat, unsigned some, unsigned most)
{
    pthread_mutex_lock(&lock);
    bool taken = atomic_load(&seats->links) < some && may_have_one(seats, seat->kind, most) &&
                 next_of(seats, most) == NULL;
    if (taken)
        count_in(seats, seat, PX_SEAT_TAKEN);
    pthread_mutex_unlock(&lock);
    return taken;
}

void px_seats_borrow(px_seats *seats, px_seat *seat)
{
    pthread_mutex_lock(&lock);
    bool waiting = seat->state == PX_SEAT_WAITING;
    if (waiting)
        unlink_seat(&seats->waiting[seat->kind], seat);
    seat->kind = PX_SEAT_BORROWER;
    if (waiting)
        link_seat(&seats->waiting[seat->kind], seat);
    pthread_mutex_unlock(&lock);
}

void px_seats_leave(px_seats *seats, px_seat *seat, unsigned most)
{
    pthread_mutex_lock(&lock);
    if (seat->state == PX_SEAT_WAITING)
        unlink_seat(&seats->waiting[seat->kind], seat);
    if (seat->state == PX_SEAT_CALLED)
        unlink_seat(&seats->called, seat);
    if (seat->state == PX_SEAT_CALLED || seat->state == PX_SEAT_TAKEN)
        count_out(seats, seat);
    seat->state = PX_SEAT_NONE;
    serve(seats, NULL, most);
    pthread_mutex_unlock(&lock);
}

px_seat *px_seats_called(px_seats *seats, const void *whose)
{
    pthread_mutex_lock(&lock);
    px_seat *seat = seats->called.first;
    while (seat != NULL && seat->whose != whose)
        seat = seat->next;
    if (seat != NULL)
        take_called(seats, seat);
    pthread_mutex_unlock(&lock);
    return seat;
}

bool px_seats_are_sessions(const px_seats *seats, const px_seat *seat, unsigned most)
{
    return is_sessions(seat->kind) &&
           atomic_load(&seats->session_links) >= most_of(seat->kind, most);
}
