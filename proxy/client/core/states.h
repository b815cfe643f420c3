/*
 * states: of a session: what it is in, what it waits for, and which of these, and of the facts
 * about it, exclude each other. Tables alone: session.c holds every session to them.
 */
#ifndef PX_STATES_H
#define PX_STATES_H

#include <stdbool.h>

typedef enum px_session_state {
    PX_STARTUP, /* the client's first packet has not come whole */
    PX_LOGIN,   /* the client was asked for its password */
    PX_WELCOME, /* the session waits for the link of the first of its kind, or for its own */
    PX_READY,
    PX_CLOSING,
    PX_STATES
} px_session_state;

/* What becomes of a message of the client that is looked at; or what the session waits for before
 * the message is looked at (again). Only sessions in PX_READY wait so. */
typedef enum px_step {
    PX_STEP_DONE, /* the message was dealt with: consume it; or what it needs is there */
    PX_WAIT_NOTHING = PX_STEP_DONE,
    PX_STEP_PASS, /* keyspread does not handle the message: forward it as it is */
    PX_STEP_MORE, /* the message's rest, or the batches of its COPY, must come first; or the session
                     has ended */
    PX_WAIT_LINK, /* the own link is being opened */
    PX_WAIT_CATALOG,
    PX_WAIT_STATE,       /* the own link says what the session has there */
    PX_WAIT_DESCRIBE,    /* the backend describes a new statement */
    PX_WAIT_IDLE,        /* everything before must be answered first */
    PX_WAIT_WRITE_GROUP, /* the outcome of a write group is awaited */
    PX_WAIT_ROOM,        /* the client's message is large, and there is no room for more of it
                            (input_budget.h) */
    PX_WAIT_DATABASES,   /* keyspread leaves the databases that the statement is about */
    PX_WAIT_TURN,        /* another session describes the statement, or the queues are full */
    PX_STEPS
} px_step;

static inline bool px_step_waits(px_step step)
{
    return step > PX_STEP_MORE;
}

/* Facts about a session; several may hold at once. */
typedef enum px_fact {
    PX_FACT_LINK = 1 << 0,  /* the own link is there, ready or not */
    PX_FACT_READY = 1 << 1, /* the own link is ready */
    PX_FACT_OWED = 1 << 2,  /* the link owes answers */
    PX_FACT_ASKED = 1 << 3, /* the link owes the answer to a question of keyspread's own */
    PX_FACT_UNSYNCED = 1 << 4,
    PX_FACT_IN_TRANSACTION = 1 << 5,
    PX_FACT_COPY_IN = 1 << 6,
    PX_FACT_STREAMING = 1 << 7,   /* a message of the client is on its way to the link, in parts */
    PX_FACT_WRITE_GROUP = 1 << 8, /* write groups of the session are under way */
    PX_FACTS = 1 << 9
} px_fact;

bool px_state_may_follow(px_session_state from, px_session_state to);
bool px_wait_may_follow(px_step from, px_step to);
/* Whether a session that is ready may begin to wait for this, when these are the facts. */
bool px_wait_may_begin(px_step wait, unsigned facts);
/* Whether all this can be so at one time. */
bool px_facts_agree(unsigned facts);

#endif
