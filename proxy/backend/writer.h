/*
 * dialect: how units become bytes on a link and how its replies become outcomes. An attempt is what
 * is on a link at one time: units in one transaction (shared), or each in its own.
 */
#ifndef PX_DIALECT_H
#define PX_DIALECT_H

#include "proxy/backend/prepared.h"
#include "proxy/backend/unit.h"

typedef enum px_verdict {
    PX_VERDICT_COMMITTED,
    PX_VERDICT_FAILED, /* unit->error says why */
    PX_VERDICT_REPEAT, /* wrote nothing, is to be sent again alone */
    PX_VERDICT_REROUTE /* wrote nothing, waits for a lock: its session's own link is the place */
} px_verdict;

typedef enum px_progress {
    PX_PROGRESS_MORE,
    PX_PROGRESS_DONE,  /* every unit was answered: the link is free */
    PX_PROGRESS_BROKEN /* the backend did not keep to the protocol: the link is of no use */
} px_progress;

typedef struct px_attempt {
    px_unit **units;
    size_t count;
    bool shared;           /* one transaction; false: each unit has its own */
    bool joined;           /* rows that share it keep statements of their own */
    px_prepared *prepared; /* names on this link */
    void (*answered)(struct px_attempt *attempt, px_unit *unit, px_verdict verdict);

    /* The dialect's own; zero at the start but for the buffers, which are empty. */
    size_t at;             /* the unit that is being answered */
    bool merged;           /* all rows are in one statement */
    bool preparing;        /* the answer to a Parse under its own Sync is to come first */
    bool parsing;          /* ParseComplete is to come */
    bool refused_size;     /* out: 54000, of all together or of a unit alone */
    unsigned tags;         /* of a merged statement */
    uint64_t notices;      /* of merged statements */
    pgw_buf error;         /* body of this segment's ErrorResponse */
    pgw_buf prepare_error; /* of the segment before the first */
    char fatal[6];         /* SQLSTATE of a FATAL error */
} px_attempt;

typedef struct px_dialect {
    const char *name;
    /* Writes the whole attempt; its units' `completed` and tags are reset. */
    void (*write)(px_attempt *attempt, pgw_buf *out);
    /* Takes one message of the backend. */
    px_progress (*reply)(px_attempt *attempt, char type, pgw_slice message);
} px_dialect;

/* Units before this one have their outcome, whatever happens to the link. */
static inline size_t px_attempt_answered(const px_attempt *attempt)
{
    return attempt->shared ? 0 : attempt->at;
}

extern const px_dialect px_dialect_postgres;

#endif
