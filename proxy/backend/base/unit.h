/*
 * unit: what must commit together: one client's rows, their keys, and what became of them. It is
 * made by a session, travels to the worker that owns its rows, and comes home with its outcome.
 */
#ifndef PX_UNIT_H
#define PX_UNIT_H

#include "config/config.h"
#include "protocol/error.h"
#include "proxy/backend/base/identity.h"
#include "proxy/loop/worker.h"

#include <stdatomic.h>

/* How the rows of a unit came, and so how they travel (rules: "How rows travel to PostgreSQL"). */
typedef enum px_unit_kind {
    PX_UNIT_ROWS,  /* text rows: head VALUES row, row … tail */
    PX_UNIT_TEXT,  /* whole statements, joined by ';' in one Query */
    PX_UNIT_PARAMS /* Bind + Execute a statement, one prepared statement, one Sync */
} px_unit_kind;

typedef enum px_unit_outcome {
    PX_UNIT_COMMITTED,
    PX_UNIT_FAILED,  /* `error` is its own, `completed` statements came through before it */
    PX_UNIT_REROUTED /* nothing was written: the session is to run it on its own link */
} px_unit_outcome;

/* Why a unit failed: the backend's error, or what became of it here. */
typedef enum px_unit_failure {
    PX_FAILED_BY_ERROR, /* its own, of the backend */
    PX_FAILED_UNSENT,   /* no link could be opened for it */
    PX_FAILED_UNKNOWN,  /* 08007 */
    PX_FAILED_EXPIRED,  /* its deadline, while it was queued */
    PX_FAILED_WITHDRAWN /* cancelled, or its client left, while it was queued */
} px_unit_failure;

/* A unit of more statements to be prepared, or of more tables, is none. */
enum { PX_UNIT_MOST = 64 };

/* A table that rows of a unit go into. */
typedef struct px_unit_table {
    const cfg_table *config;
    char *name;                /* its label, in the arena */
    uint32_t partitions;       /* that it has */
    uint32_t oid;              /* 0: the backend does not say it */
    uint32_t filled_by;        /* the function of keyspread's own trigger on it; 0: it has none */
    struct px_key_table *keys; /* keylocks': where the claims of its rows stand */
} px_unit_table;

/* What its rows are counted by: all tables of a pattern together, for they may be any number. */
static inline const char *px_unit_table_counted(const char *name, const cfg_table *config)
{
    return config != NULL && config->pattern ? cfg_table_label(config) : name;
}

/* A statement that is prepared on links, of which a unit's are executions. */
typedef struct px_unit_prepared {
    void *of; /* what has its text, and does not change it (px_unit.let_go); NULL: the unit has */
    pgw_slice name;        /* made of a hash of it */
    pgw_slice text;        /* rewritten */
    const uint32_t *types; /* for Parse */
    size_t type_count;
    pgw_slice columns; /* what its client was told that it returns (the body of a RowDescription);
                          empty: nothing */
    bool stores_all;   /* each of its rows, or it fails: no DO NOTHING, no WHERE */
} px_unit_prepared;

/* What a text's unit is rendered from, in the form in which it travels, when it does. It is
 * `home`'s, and does not change while the unit is under way, so that any worker may have it
 * written. */
typedef struct px_unit_source {
    void *of; /* NULL: the unit is no text's */
    /* ROWS: "(…),(…)", those of a statement of the unit's */
    void (*write_rows)(const void *of, size_t statement, pgw_buf *out);
    /* a Query's text, as the client sent it (rewritten) */
    void (*write_alone)(const void *of, pgw_buf *out);
    void (*drop)(void *of); /* on the thread of `home`, when the unit is freed */
} px_unit_source;

/* A text's lone row as parameters of the prepared statement that can stand for it. */
typedef struct px_unit_lifted {
    const pgw_slice *values; /* in text; {NULL, 0} is NULL. NULL: there are none, or they have
                                failed, which is to be told of the text */
    size_t count;
    bool returns; /* rows, which its client is to have described */
} px_unit_lifted;

/* One row's place among the keys: what "possibly equal" needs. */
typedef struct px_unit_key {
    uint64_t hash;        /* all 64 bits of the row's hash, also where the table stores buckets */
    uint64_t fingerprint; /* the same for equal primary keys, and mostly another for others;
                             meaningless if !constant */
    bool constant;        /* every primary key column is known */
    uint16_t table;       /* of the unit's */
    uint32_t partition;
} px_unit_key;

/* What must commit together: one client's statement or Sync group. Filled by the session that makes
 * it, which then gives it away; it owns all it needs (every pointer is into `arena` or `bytes`, but
 * for the references). It comes back through `done`, on the thread of `home`, and is freed there by
 * px_unit_free(). */
typedef struct px_unit {
    px_message message; /* for travelling between workers; used by the batcher */
    px_unit_kind kind;
    px_identity *identity;
    px_unit_table *tables; /* by their first rows; the settings of the first hold */
    size_t table_count;
    uint64_t epoch; /* of the schema it was made with */
    bool several_partitions;
    uint32_t partition; /* when not several */
    pgw_arena arena;

    /* Merge key: units with equal ones (and equal identity, kind, epoch, tables) may share a batch.
       ROWS: head, tail and conditions. PARAMS: the prepared statements. TEXT: empty. */
    pgw_slice head, tail; /* ROWS: "INSERT INTO t (…) VALUES " and what stands behind the rows */
    bool guarded; /* ROWS: each statement looks at the table's columns, which costs it something */
    pgw_slice conditions;       /* ROWS: under which they may be merged, each behind " and " */
    px_unit_prepared *prepared; /* PARAMS: in the order of their first executions; others: the one
                                   that is `lifted` */
    size_t prepared_count;
    void (*let_go)(void *of); /* of what is prepared, on the thread of `home`, when the unit is
                                 freed; NULL: nothing is to be done */
    uint64_t merge_hash; /* of all of the above, identity and epoch: equal keys have equal hashes */

    /* Its statements, in order. */
    size_t statement_count;
    struct px_unit_statement {
        pgw_slice messages; /* PARAMS: Bind + Execute */
        size_t bytes;       /* that it takes in a batch, or a few more */
        uint32_t rows;      /* in its VALUES */
        size_t prepared;    /* PARAMS: which of them it executes */
        uint64_t tag;       /* out: rows its CommandComplete counted (ROWS: `rows`) */
        bool bound;         /* out, PARAMS: BindComplete came (for the one that failed) */
        bool suspended;     /* out, PARAMS: it gave all rows it was asked for, and no tag */
        size_t returned;    /* out: bytes in the unit's `returned` up to its end … */
        size_t noticed;     /* … and in its `notices` */
    } * statements;
    px_unit_source source; /* ROWS, TEXT */
    px_unit_lifted lifted; /* ROWS, TEXT */

    px_unit_key *keys; /* one a row, sorted by nobody */
    size_t row_count;
    bool told; /* Its client was told how many rows each statement stores, which is to be so or to
                  fail. */
    bool upserts;      /* one of its statements has ON CONFLICT */
    bool repeated;     /* it was made anew with the schema as it is now */
    bool own_link;     /* the session has one: the unit can be rerouted at once */
    bool send_alone;   /* the session had a failed unit lately: no company */
    size_t bytes;      /* what counts against the budgets */
    uint64_t deadline; /* px_worker_now() scale; 57014 while queued */

    /* Outcome. */
    px_unit_outcome outcome;
    px_unit_failure failure;
    pgw_buf error;    /* body of an ErrorResponse */
    pgw_buf notices;  /* whole NoticeResponse messages that are this unit's alone */
    pgw_buf returned; /* whole messages: the rows that its statements returned; of texts their
                         descriptions, too */
    bool slow;        /* alone it took long, as others of its queue do not */
    bool suspected;   /* it was in company that took long */
    size_t completed; /* statements whose CommandComplete came before the error */

    px_worker *home;
    void *session; /* the session's ticket: owner of `done`; not looked at by the batcher */
    uint64_t ticket;
    void (*done)(struct px_unit *unit);

    /* The batcher's own. */
    struct px_unit *next, *previous;
    struct px_queue *queue;
    struct px_key_table **locked; /* those of its tables, in the order in which they are locked */
    struct px_key_claim *claims;
    size_t claim_count;
    _Atomic size_t claims_missing; /* each of `locked` is about some */
    size_t batch_bytes;            /* of its statements, which count against a batch's limit */
    px_unit_key least;             /* by (hash, fingerprint): its place in a batch */
    uint64_t arrived, submitted;   /* the latter by px_worker_clock() of `home` */
    uint64_t tried;                /* px_worker_now() scale: first sent; 0: not yet */
    uint32_t locked_ms;         /* It waited so long for locks in batches, and for others' keys. */
    unsigned attempts;          /* that the backend did not do for reasons of its own */
    unsigned stumbles;          /* attempts whose failure may be the unit's own fault */
    size_t company;             /* at most so many units are sent in one batch; 0: any */
    uint64_t again_at;          /* px_worker_now() scale: its pause is over */
    bool renewed;               /* its prepared statement was made anew once */
    bool withdrawn;             /* asked for while it could not be taken out */
    int state;                  /* px_unit_state of queue.h; the owner's */
    px_worker *owner;           /* of its queue */
    struct px_unit *registered; /* home's: the next under way in one slot */
    unsigned pins;              /* home's: withdrawals on their way, which still look at the unit */
    bool came_back;             /* home's: … and for which it waits */
} px_unit;

px_unit *px_unit_new(px_worker *home); /* all zero but home; with a deadline far away */
void px_unit_free(px_unit *unit);
/* Nothing has come of its statements: before it is sent, at first or once more. */
void px_unit_reset(px_unit *unit);
/* Appends what its statement `i` is in a batch: ROWS: "(…),(…)"; PARAMS: messages. */
void px_unit_write_statement(const px_unit *unit, size_t i, pgw_buf *out);
/* Appends a text's unit as its client sent it. */
void px_unit_write_alone(const px_unit *unit, pgw_buf *out);
/* Makes the unit FAILED with an error of our own. */
void px_unit_fail(px_unit *unit, const pgw_error *error);

/* Fills 08007: the link was lost before it said whether what was sent is committed. */
void px_unknown_outcome(pgw_error *error);

#endif
