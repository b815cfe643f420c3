/*
 * look: one look at a database's configured tables: whether anything has changed since the last
 * look, what the tables are now, and a sample of rows of new ones. No I/O: whoever has a link sends
 * the questions and feeds the replies.
 */
#ifndef PX_LOOK_H
#define PX_LOOK_H

#include "protocol/error.h"
#include "proxy/backend/schema/findings.h"
#include "proxy/backend/schema/snapshot.h"

/* What a look saw. */
typedef struct px_sight {
    px_catalog *catalog; /* a counted reference; NULL: none yet */
    px_fingerprint fingerprint;
    px_fingerprint places; /* hash of the schemas of relations with configured names */
    bool unlimited;        /* neither the role nor the database has a connection limit */
} px_sight;

void px_sight_clear(px_sight *sight);

typedef enum px_look_state {
    PX_LOOK_CHECKING, /* asks whether anything has changed */
    PX_LOOK_LOADING,  /* reads the tables as they are now */
    PX_LOOK_UNSPREAD, /* asks which tables have the name of a pattern and no hash column */
    PX_LOOK_SAMPLING  /* reads a sample of a table's rows */
} px_look_state;

/* What a look has prepared on the reader's link, for planning takes longer than all the rest. All
 * zero: nothing yet. */
typedef struct px_look_plans {
    const cfg_config *check, *load; /* the configurations whose names the two statements ask for */
} px_look_plans;

/* Samples of so many tables are asked for before the first one has come. */
enum { PX_LOOK_SAMPLES = 32 };

typedef struct px_look {
    const cfg_config *config;
    px_look_plans *plans; /* NULL: the look is on a session's own link */
    bool changed; /* The asker's own transaction has changed tables: they are read without asking
                     whether any has changed, and the fingerprints stay empty. */
    bool grouped; /* inside a client's Sync group: Flush, not Sync, stands behind a question */
    const px_sight *last;
    px_findings *findings; /* NULL: no sample is read, and what the last look found of rows holds */
    px_metrics *metrics;
    uint64_t now;

    px_look_state state;
    px_sight sight; /* out: what the look saw; the caller may take it */
    pgw_error error;
    px_schema_rows *rows;
    size_t at; /* the index in the catalog of the next table that may be asked for */
    size_t sampled[PX_LOOK_SAMPLES];    /* a ring of tables that are asked for, by their indexes */
    size_t samples_asked;               /* how many tables were asked for */
    size_t samples_read;                /* how many of their answers are complete */
    unsigned sample_rows, sample_wrong; /* the rows so far of the table whose answer comes */
    bool busy;       /* the table's rows cannot be read just now: a lock, or a timeout */
    bool unreadable; /* the role of the link cannot read the rows */
} px_look;

typedef enum px_look_step {
    PX_LOOK_MORE,  /* more replies are to come; `out` may have a new question */
    PX_LOOK_SAME,  /* the tables are as they were: `sight` holds the last snapshot */
    PX_LOOK_OTHER, /* `sight` holds a new snapshot */
    PX_LOOK_FAILED /* `error` says why */
} px_look_step;

/* Appends the look's first question as a message. Set by the caller, and the caller's own, are
 * config, last, metrics, now and, if there are any, findings, plans, changed and grouped; all else
 * is zero.
 */
void px_look_begin(px_look *look, pgw_buf *out);
/* Takes one message of the backend. ReadyForQuery ends an answer; inside a group the caller gives
 * the answer's last CloseComplete as ReadyForQuery. */
px_look_step px_look_take(px_look *look, char type, pgw_slice body, pgw_buf *out);
/* Frees what the look still has; all zero is fine. */
void px_look_end(px_look *look);

#endif
