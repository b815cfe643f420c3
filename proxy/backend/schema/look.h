/*
 * look: one look at a database's configured tables: has anything changed since the last one; if so,
 * what is there now; and of tables that are new, a sample of rows. No I/O: whoever has a link sends
 * what it asks, and feeds the replies.
 */
#ifndef PX_LOOK_H
#define PX_LOOK_H

#include "protocol/error.h"
#include "proxy/backend/schema/findings.h"
#include "proxy/backend/schema/snapshot.h"

/* What the last look saw. */
typedef struct px_sight {
    px_catalog *catalog; /* counted; NULL: nothing yet */
    px_fingerprint fingerprint;
    px_fingerprint places; /* of that, where relations of the configured names are found */
    bool unlimited;        /* the role and the database may have any number of connections */
} px_sight;

void px_sight_clear(px_sight *sight);

typedef enum px_look_state {
    PX_LOOK_CHECKING, /* whether anything has changed */
    PX_LOOK_LOADING,  /* what there is now */
    PX_LOOK_UNSPREAD, /* which have the name of a pattern, and no hash */
    PX_LOOK_SAMPLING  /* rows of a table */
} px_look_state;

/* What a link that is kept has prepared: planning takes longer than all the rest. All zero: nothing
 * yet. */
typedef struct px_look_plans {
    const cfg_config *check, *load; /* the configurations whose names are asked for */
} px_look_plans;

typedef struct px_look {
    const cfg_config *config;
    px_look_plans *plans; /* NULL: the link is not ours … */
    bool grouped;         /* … and is in the middle of a group: Flush stands behind a question */
    const px_sight *last;
    px_findings *findings; /* NULL: no sample is read: what the last look said of rows holds */
    px_metrics *metrics;
    uint64_t now;

    px_look_state state;
    px_sight sight; /* out: what is there now; taken by px_look_taken() */
    pgw_error error;
    px_schema_rows *rows;
    size_t at; /* the table that is sampled */
    unsigned sample_rows, sample_wrong;
    bool busy;       /* its rows cannot be read just now … */
    bool unreadable; /* … or by this role */
} px_look;

typedef enum px_look_step {
    PX_LOOK_MORE,  /* more replies, to what was asked or is in `out` now */
    PX_LOOK_SAME,  /* all is as it was: `sight` holds the last snapshot */
    PX_LOOK_OTHER, /* `sight` holds a new one */
    PX_LOOK_FAILED /* `error` says why */
} px_look_step;

/* Appends the first question, as a message, of a look whose config, last, metrics, now and, where
 * there are any, findings and plans are set, which stay the caller's; all else is zero. */
void px_look_begin(px_look *look, pgw_buf *out);
/* One message of the backend. ReadyForQuery is the answer's end: in a group its last CloseComplete
 * is given as that. */
px_look_step px_look_take(px_look *look, char type, pgw_slice body, pgw_buf *out);
/* Frees what a look has that was not taken out of it; all zero is fine. */
void px_look_end(px_look *look);

#endif
