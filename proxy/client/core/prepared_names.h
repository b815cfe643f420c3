/*
 * prepared_names: what a session has prepared: its statements, its portals, and what runs that
 * prepares or drops one. Everybody reads the fields; this module alone writes them.
 */
#ifndef PX_PREPARED_NAMES_H
#define PX_PREPARED_NAMES_H

#include "proxy/client/core/statements.h"

/* SQL's PREPARE and EXECUTE that came as Parse. */
typedef struct px_orders {
    px_passthrough prepared; /* what is known of a PREPARE that was parsed (passthrough_writes.h) */
    pgw_buf prepared_text;   /* text of the PREPARE that was parsed; empty if it was not kept */
    pgw_buf executed; /* Parse message of the unnamed statement, if that has EXECUTE run others */
    px_reads *parsed; /* How the Parse at hand reads configured tables; owned; or NULL. */
    /* How the unnamed statement, without lookups, reads configured tables; owned; or NULL. */
    px_reads *unnamed;
} px_orders;

/* What the session has prepared. */
typedef struct px_prepared_names {
    px_statements statements;
    px_statements portals; /* portals of the own link with a plan or lookups, by which their errors
                              are read */
    char *prepares; /* name of a PREPARE that was parsed and may be run later; owned; or NULL */
    struct px_orders *orders; /* owned; NULL: no PREPARE or EXECUTE was ever parsed */
    bool unknown_prepare;     /* A PREPARE may have been run whose name is not known. */
    bool unnamed_on_link;     /* the link has an unnamed statement without a plan */
    bool looked; /* What the unnamed statement executes was looked at, and no Parse, Sync or Flush
                    has come since. */
    char *deallocates;   /* The name of a DEALLOCATE that was parsed, empty for ALL; owned. */
    px_lookups *lookups; /* lookups of the Parse at hand. Counted; NULL: none */
    px_plan *describing; /* plan that this session has the backend describe, while others wait.
                            Counted; or NULL */
} px_prepared_names;

/* `account`: where the bytes of its statements are counted for the process. */
void px_prepared_names_begin(px_prepared_names *names, _Atomic size_t *account);
void px_prepared_names_free(px_prepared_names *names);

/* The record of PREPARE and EXECUTE that were parsed; made if it is not there. */
px_orders *px_prepared_names_orders(px_prepared_names *names);
/* A PREPARE of this name was parsed, and may be run later. Only one is known at a time. */
void px_prepared_names_parse_prepare(px_prepared_names *names, pgw_slice name);
/* The PREPARE that was parsed has been run. */
void px_prepared_names_end_prepare(px_prepared_names *names);
/* A DEALLOCATE of this name was parsed, and may be run later; empty: ALL, as in DISCARD ALL. */
void px_prepared_names_parse_deallocate(px_prepared_names *names, pgw_slice name);
/* The DEALLOCATE that was parsed has been run. */
void px_prepared_names_end_deallocate(px_prepared_names *names);
/* All statements are gone. */
void px_prepared_names_clear(px_prepared_names *names);
/* The Parse at hand has these lookups, which are given away; NULL: none. */
void px_prepared_names_look_up(px_prepared_names *names, px_lookups *lookups);
/* The session has the backend describe `plan`, which is given away; NULL: none any more, and the
 * caller has its reference. */
void px_prepared_names_describe(px_prepared_names *names, px_plan *plan);

/* A PREPARE may be run whose name is not known. */
static inline void px_prepared_names_lose_track(px_prepared_names *names)
{
    names->unknown_prepare = true;
}

/* `on_link`: the link has an unnamed statement without a plan. */
static inline void px_prepared_names_set_unnamed(px_prepared_names *names, bool on_link)
{
    names->unnamed_on_link = on_link;
}

/* `looked`: what the unnamed statement executes was looked at. */
static inline void px_prepared_names_set_looked(px_prepared_names *names, bool looked)
{
    names->looked = looked;
}

#endif
