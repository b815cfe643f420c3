/*
 * slots: what happens when the backend has no more connections for a role, for a database, or at
 * all: a link of any worker that can be done without is closed, and the refused one tries again.
 */
#ifndef PX_SLOTS_H
#define PX_SLOTS_H

#include "proxy/backend/base/identity.h"
#include "proxy/loop/worker.h"

typedef enum px_slot { /* what the server has no more connections for */
                       PX_SLOT_OF_ANY,
                       PX_SLOT_OF_ROLE,
                       PX_SLOT_OF_DATABASE,
                       PX_SLOT_OF_SESSION /* max_links, not the server's limit, are used up by
                                             sessions' own links */
} px_slot;

/* A request to give way, which travels round the workers until a link does, and home again. */
typedef struct px_plea {
    px_message message;
    px_worker *home;
    const px_identity *identity; /* whose link was refused; kept by the asker */
    px_slot slot;
    /* Runs at home. `hope`: a link was closed, or may be soon. */
    void (*answered)(struct px_plea *plea, bool hope);
    unsigned visited;
    bool given, later;
    bool any_role, any_database; /* backend.dsn names the user, the database, of all links */
} px_plea;

/* Sends the plea on its way. The asker owns it; it must live until it is answered. */
void px_slots_plead(px_plea *plea);

/* ---- for owners of links ---- */

typedef enum px_yield {                 /* what becomes of a link that another needs more */
                        PX_YIELD_NOW,   /* the link is closed */
                        PX_YIELD_LATER, /* the link is in use just now, and free soon */
                        PX_YIELD_NEVER
} px_yield;

/* Whether closing a link of this identity would help the plea. */
bool px_plea_concerns(const px_plea *plea, const px_identity *identity);
/* Notes what became of a link. True: a link was closed, so no other is to be asked. */
bool px_plea_note(px_plea *plea, px_yield yield);

#endif
