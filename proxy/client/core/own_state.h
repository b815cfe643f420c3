/*
 * own_state: what is known of what a session has on its own link. doubt.c says what leaves doubt of
 * it, settle.c asks.
 */
#ifndef PX_OWN_STATE_H
#define PX_OWN_STATE_H

#include "proxy/backend/state/state.h"
#include "proxy/client/core/statements.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/words/drawn.h"

/* What a view of the tables was made of: while that is so, it is as it was. */
typedef struct px_viewed {
    const struct cfg_config *config;
    uint64_t epoch;      /* of the catalog */
    unsigned answer;     /* The number of the link's answer; 0: there is doubt. */
    rw_meaning in_doubt; /* What names are taken for while there is doubt. */
    rw_catalog planned;  /* all tables of the configuration, as `plans` has them */
} px_viewed;

/* `doubt` and its kin are of rw_effect. */
typedef struct px_state {
    unsigned doubt;   /* what the link was told since it was asked last */
    unsigned here;    /* what it was told in this transaction, whose end may take it back */
    unsigned touched; /* what it was ever told (since DISCARD ALL): no proof that nothing is kept */
    unsigned bound;   /* what the portals do that are none of ours */
    unsigned asking;  /* statements whose end is awaited, the question's last; 0: none */
    unsigned loud;    /* what the catalog said when it was asked (px_state_loud()) */
    unsigned answers; /* How often `now` was answered. */
    unsigned generation; /* grows when names come to mean others */
    unsigned made;       /* grows when what is made by them comes to be others */
    bool known;          /* `now` was answered */
    bool odd;            /* settings that cannot be followed are not as at the start */
    bool usual;          /* by `viewed` names mean what the file says */
    bool everything;     /* The question that is under way asks for all there is to know. */
    bool failed;         /* It was answered with an error, which is in `failure`. */
    bool told;           /* Prepared statements were told of what was drawn ahead. */
    bool moving;         /* A prepared statement would write a configured table if a name came to mean that. */
    bool by_key;         /* A prepared statement may have lookups. */
    bool stores;         /* A prepared statement may write to a table that a pattern names. */
    bool keyed;          /* A prepared statement is bound only to what does not change a key. */
    px_answer now, base; /* the latter: as at the start; empty: not known */
    uint64_t epoch, at;  /* of the catalog that it goes with, 0: of none; px_worker_now() scale */
    const struct cfg_config *config;     /* whose tables were asked for */
    const struct cfg_config *written_by; /* by which the first of the statements that write rows was
                                            read (stores.h); NULL: there is none */
    px_viewed *viewed; /* what `guess` and `plans` were made of; owned. NULL: there are none */
    rw_meaning *guess; /* in doubt: what could be ours is taken for ours; owned */
    rw_meaning *plans; /* what all tables would be if they were made now; owned */
    uint32_t *asked;   /* what is being asked of tables that only a pattern names: oids; owned */
    size_t asked_count;
    pgw_buf failure;    /* the ErrorResponse that came instead */
    px_foreign parsed;  /* the statement that is being prepared */
    px_foreign unnamed; /* the unnamed one */
    rw_drawn *drawn;    /* ahead for it, which its own link knows nothing of; NULL: nothing ever */
    struct px_called *called; /* a sequence that it names (called.h); owned, one block; or NULL */
} px_state;

/* What a text may do that nobody has looked into. */
enum {
    PX_UNREAD = RW_EFFECT_SETTINGS | RW_EFFECT_NAMES | RW_EFFECT_CALLS | RW_EFFECT_RUNS |
                RW_EFFECT_READS | RW_EFFECT_STATE | RW_EFFECT_OUTPUT | RW_EFFECT_WRITES |
                RW_EFFECT_TRANSACTION | RW_EFFECT_DRAWS | RW_EFFECT_RESETS
};

#endif
