/*
 * own_state: what is known of what a session has on its own link. dirty.c says what makes it dirty,
 * sync_state.c asks.
 */
#ifndef PX_OWN_STATE_H
#define PX_OWN_STATE_H

#include "proxy/backend/state/state.h"
#include "proxy/client/core/statements.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/words/drawn.h"

/* What a view of the tables was made of: while this is unchanged, the view is. */
typedef struct px_viewed {
    const struct cfg_config *config;
    uint64_t epoch;        /* epoch of the catalog that was viewed */
    unsigned answer;       /* The number of the link's answer; 0: it is not verified. */
    rw_meaning unverified; /* What names are taken for until that is verified. */
    rw_catalog planned;    /* all tables of the configuration, as `plans` has them */
} px_viewed;

/* What is known of a session's own link. `dirty`, `here`, `touched`, `bound` and `loud` are
 * rw_effect bits. */
typedef struct px_state {
    unsigned dirty;   /* effects of what the link was told since it was asked last */
    unsigned here;    /* effects of the link's transaction, whose end may take them back */
    unsigned touched; /* effects of all that the link was told since DISCARD ALL; 0 is no proof that
                         nothing is kept there */
    unsigned bound;   /* effects of the portals whose statements have no plan */
    unsigned asking;  /* statements of a question whose end is awaited; 0: nothing is asked */
    unsigned loud;    /* px_state_loud() of the catalog when the link was asked */
    unsigned answers; /* How many answers `now` has had. */
    unsigned generation; /* grows when names come to mean other tables */
    unsigned made;       /* grows when tables made by the configured names would be others */
    bool known;          /* `now` was answered for the present link, or its kind */
    bool odd;            /* settings that keyspread cannot follow differ from the start */
    bool usual;          /* unqualified names mean what the configuration file says, by `viewed` */
    bool everything;     /* The question that is under way asks for all there is to know. */
    bool failed;         /* The question was answered with an error, which is in `failure`. */
    bool has_drawn;      /* Texts of prepared statements on the link have numbers drawn ahead. */
    /* A prepared statement would write a configured table if a name came to mean that. */
    bool moving;
    bool lookup_bind; /* A prepared statement may have lookups. */
    bool stores;      /* A prepared statement may write to a table that a pattern names. */
    bool keyed;       /* A prepared statement is bound only to what does not change a key. */
    /* The link's last answer, and its answer at the start; `base` empty: not known. */
    px_answer now, base;
    uint64_t epoch, at; /* epoch of the catalog that `now` goes with, 0: none; when `now` came,
                           px_worker_now() */
    const struct cfg_config *config;     /* the configuration whose tables were asked for */
    const struct cfg_config *written_by; /* configuration by which the first statement that writes
                                            rows was read (passthrough_writes.h); NULL: none was */
    px_viewed *viewed; /* what `guess` and `plans` were made of; owned; NULL: they were not made */
    rw_meaning *guess; /* what the names of the tables mean, or `viewed->unverified`; owned */
    rw_meaning *plans; /* what tables made now by the configured names would be; owned */
    uint32_t *asked;   /* oids of the tables that the question asks for because only a pattern names
                          them; owned */
    size_t asked_count;
    pgw_buf failure;       /* body of the ErrorResponse that answered the question */
    px_passthrough parsed; /* what is known of the statement that is being prepared */
    px_passthrough
        unnamed;     /* what is known of an unnamed statement that the map of statements lacks */
    rw_drawn *drawn; /* numbers that others drew for it (drawn.h); owned; NULL: none ever */
    struct px_sequence_call
        *called; /* the sequence asked about last (called.h); owned; NULL: none */
} px_state;

/* Effects that a text may have which was not looked into. */
enum {
    PX_UNREAD = RW_EFFECT_SETTINGS | RW_EFFECT_NAMES | RW_EFFECT_CALLS | RW_EFFECT_RUNS |
                RW_EFFECT_READS | RW_EFFECT_STATE | RW_EFFECT_OUTPUT | RW_EFFECT_WRITES |
                RW_EFFECT_TRANSACTION | RW_EFFECT_DRAWS | RW_EFFECT_RESETS
};

#endif
