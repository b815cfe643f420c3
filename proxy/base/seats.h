/*
 * seats: the links to the backend that the process may have, of all workers: how many there are,
 * and who waits for one. What becomes free goes to who has waited longest, at once, so that nobody
 * who comes later is faster.
 */
#ifndef PX_SEATS_H
#define PX_SEATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Whose link it is to be for, in whose order: who looks at tables comes first, for all others wait
 * for that. */
typedef enum px_seat_kind {
    PX_SEAT_LOOK,
    PX_SEAT_BATCH,
    PX_SEAT_BORROWER, /* a session that only asks: it may have the one that others leave */
    PX_SEAT_SESSION,  /* they leave one for batches */
    PX_SEAT_KINDS
} px_seat_kind;

typedef enum px_seat_state {
    PX_SEAT_NONE,
    PX_SEAT_WAITING,
    PX_SEAT_CALLED, /* it is had, and its owner has not seen that yet */
    PX_SEAT_TAKEN
} px_seat_state;

/* One that somebody has, or waits for. Set are `kind`, `whose` and `call`; all else is zero.
 * Nothing else is looked at but by functions of this file. */
typedef struct px_seat {
    px_seat_kind kind;
    void *whose; /* whoever takes what was called */
    /* Has `whose` ask px_seats_called() soon. Any thread, which must not come back to here. */
    void (*call)(struct px_seat *seat);
    px_seat_state state;
    uint64_t asked; /* the order */
    struct px_seat *previous, *next;
} px_seat;

typedef struct px_seat_list {
    px_seat *first, *last;
} px_seat_list;

/* All zero: nobody has one. */
typedef struct px_seats {
    _Atomic unsigned links;         /* that are had */
    _Atomic unsigned session_links; /* of them, sessions' own */
    uint64_t asked;
    px_seat_list waiting[PX_SEAT_KINDS], called;
} px_seats;

/* Any thread, each. `most` is how many there may be in all. */

/* Takes one of `most`, or waits for one from now on, or goes on waiting. */
bool px_seats_take(px_seats *seats, px_seat *seat, unsigned most);
/* Takes one if there are less than `some` and nobody waits; else nothing happens. */
bool px_seats_take_spare(px_seats *seats, px_seat *seat, unsigned some, unsigned most);
/* A session's that only asks: it is a PX_SEAT_BORROWER from now on, where it stands. */
void px_seats_borrow(px_seats *seats, px_seat *seat);
/* Gives it back, or waits no longer. Idempotent. */
void px_seats_leave(px_seats *seats, px_seat *seat, unsigned most);
/* The next one of `whose` that was called, taken now; NULL: there is none. */
px_seat *px_seats_called(px_seats *seats, const void *whose);
/* Sessions have all of them but for those that wait; more of others do not help. */
bool px_seats_are_sessions(const px_seats *seats, const px_seat *seat, unsigned most);

#endif
