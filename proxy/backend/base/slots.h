/*
 * slots: what the backend has no more of: connections of a role, to a database, or at all. What
 * keyspread has open there and can do without gives way, in any worker, to whoever was refused, and
 * tries again then.
 */
#ifndef PX_SLOTS_H
#define PX_SLOTS_H

#include "proxy/backend/base/identity.h"
#include "proxy/loop/worker.h"

typedef enum px_slot { /* of what there are no more connections */
                       PX_SLOT_OF_ANY,
                       PX_SLOT_OF_ROLE,
                       PX_SLOT_OF_DATABASE,
                       PX_SLOT_OF_SESSION /* not of the server: max_links are used up by sessions'
                                             own */
} px_slot;

/* Goes round the workers until somebody gives way, and home again. */
typedef struct px_plea {
    px_message message;
    px_worker *home;
    const px_identity *identity; /* who was refused; the asker keeps it */
    px_slot slot;
    /* Runs at home. `hope`: one of ours was closed, or may be soon. */
    void (*answered)(struct px_plea *plea, bool hope);
    unsigned visited;
    bool given, later;
    bool any_role, any_database; /* the connection string names those of all links */
} px_plea;

/* The plea is the asker's, and must live until it is answered. */
void px_slots_plead(px_plea *plea);

/* ---- for those who have links ---- */

typedef enum px_yield {                 /* what becomes of a link that another needs more */
                        PX_YIELD_NOW,   /* it is closed */
                        PX_YIELD_LATER, /* in use just now, and free soon */
                        PX_YIELD_NEVER
} px_yield;

/* A link of this identity is in the way. */
bool px_plea_concerns(const px_plea *plea, const px_identity *identity);
/* True: nobody else is to be asked. */
bool px_plea_note(px_plea *plea, px_yield yield);

#endif
