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

/* What a link is for. A look at the tables comes first, for all others wait for it. */
typedef enum px_seat_kind {
    PX_SEAT_LOOK,
    PX_SEAT_BATCH,
    PX_SEAT_BORROWER, /* a session that only asks; it may take the last link as well */
    PX_SEAT_SESSION,  /* a session's own link; one link is left for batches */
    PX_SEAT_KINDS
} px_seat_kind;

typedef enum px_seat_state {
    PX_SEAT_NONE,
    PX_SEAT_WAITING,
    PX_SEAT_CALLED, /* the seat is the owner's, which has not seen that yet */
    PX_SEAT_TAKEN
} px_seat_state;

/* A seat that its owner has, or waits for. The owner sets `kind`, `whose` and `call`; all else is
 * zero at first and used by this module alone. */
typedef struct px_seat {
    px_seat_kind kind;
    void *whose; /* the owner, which takes the seat once it is called */
    /* Has `whose` call px_seats_called() soon. Called on any thread, and must not come back to this
     * module. */
    void (*call)(struct px_seat *seat);
    px_seat_state state;
    uint64_t asked; /* number in the order of asking */
    struct px_seat *previous, *next;
} px_seat;

typedef struct px_seat_list {
    px_seat *first, *last;
} px_seat_list;

/* The seats of the process. All zero: no seat is taken. */
typedef struct px_seats {
    _Atomic unsigned links;         /* seats that are called or taken */
    _Atomic unsigned session_links; /* sessions' seats that are called or taken */
    uint64_t asked;
    px_seat_list waiting[PX_SEAT_KINDS], called;
} px_seats;

/* Any thread may call these functions. `most` is how many links there may be in all. */

/* Takes a seat, or waits for one from now on, or goes on waiting; true if it is taken. */
bool px_seats_take(px_seats *seats, px_seat *seat, unsigned most);
/* Takes a seat if there are fewer than `some` links and no other seat could have this one; else
 * does nothing. */
bool px_seats_take_spare(px_seats *seats, px_seat *seat, unsigned some, unsigned most);
/* Makes a session's seat a PX_SEAT_BORROWER; it keeps its place in the order. */
void px_seats_borrow(px_seats *seats, px_seat *seat);
/* Gives the seat back, or stops waiting for one. Idempotent. */
void px_seats_leave(px_seats *seats, px_seat *seat, unsigned most);
/* Takes the next called seat of `whose`; NULL if there is none. */
px_seat *px_seats_called(px_seats *seats, const void *whose);
/* Whether sessions have all links that they may have, so that the seat must wait for one of theirs.
 */
bool px_seats_are_sessions(const px_seats *seats, const px_seat *seat, unsigned most);

#endif
