/*
 * write group: what must commit together: one client's rows, their keys, and what became of them.
 * It is made by a session, travels to the worker that owns its rows, and comes home with its
 * outcome.
 */
#ifndef PX_WRITE_GROUP_H
#define PX_WRITE_GROUP_H

#include "config/config.h"
#include "protocol/error.h"
#include "proxy/backend/base/identity.h"
#include "proxy/loop/worker.h"

#include <stdatomic.h>

/* How the rows of a write group came, and so how they travel (rules: "How rows travel to
 * PostgreSQL"). */
typedef enum px_write_group_kind {
    PX_WRITE_GROUP_ROWS,  /* text rows, as `head` VALUES row, row … `tail` */
    PX_WRITE_GROUP_TEXT,  /* whole statements, joined by ';' in one Query */
    PX_WRITE_GROUP_PARAMS /* a Bind and an Execute for each statement, under one Sync */
} px_write_group_kind;

typedef enum px_write_group_outcome {
    PX_WRITE_GROUP_COMMITTED,
    PX_WRITE_GROUP_FAILED,  /* `error` says why; `completed` statements came through before it */
    PX_WRITE_GROUP_REROUTED /* nothing was written: the session is to run the write group on its own
                               link */
} px_write_group_outcome;

/* Why a write group failed: by an error of the backend, or in keyspread. */
typedef enum px_write_group_failure {
    PX_FAILED_BY_ERROR, /* the backend answered the write group with an error */
    PX_FAILED_UNSENT,   /* no link could be opened for the write group */
    PX_FAILED_UNKNOWN,  /* 08007: the link was lost after the write group was sent */
    PX_FAILED_EXPIRED,  /* the deadline passed while the write group was queued */
    PX_FAILED_WITHDRAWN /* the client cancelled or left while the write group was queued */
} px_write_group_failure;

/* The most tables, and the most prepared statements, that one write group may have. */
enum { PX_WRITE_GROUP_MOST = 64 };

/* A table that rows of a write group go into. */
typedef struct px_write_group_table {
    const cfg_table *config;
    char *name;          /* the table's label, in the write group's arena */
    uint32_t partitions; /* how many partitions the table has */
    uint32_t oid;        /* pg_class.oid; 0: the backend does not say it */
    uint32_t filled_by;  /* function of keyspread's own trigger (pg_proc.oid); 0: no trigger */
    struct px_key_table *keys; /* set by keylocks: the locks of the table's keys */
} px_write_group_table;

/* The label by which a table's rows are counted: one for all tables of a pattern, for those may be
 * any number. */
static inline const char *px_write_group_table_counted(const char *name, const cfg_table *config)
{
    return config != NULL && config->pattern ? cfg_table_label(config) : name;
}

/* A statement that is prepared on batch links, and that statements of a write group execute. */
typedef struct px_write_group_prepared {
    struct px_prepared_memory *of; /* where all of it is, for all who have it. Counted; NULL: it is
                                      its maker's, who outlives this */
    pgw_slice name;                /* made of a hash of the text */
    pgw_slice text;                /* the text as it was rewritten */
    const uint32_t *types;         /* parameter types, for Parse */
    size_t type_count;
    pgw_slice columns; /* the body of the RowDescription that the client was told; empty: none */
    bool stores_all;   /* the statement stores each of its rows or fails: no DO NOTHING, no WHERE */
} px_write_group_prepared;

/* What the write group of a text is written from when it is sent. It belongs to `home`, and does
 * not change while the write group is under way, so that any worker may call it. */
typedef struct px_write_group_source {
    void *of; /* NULL: the write group was not made of a text */
    /* ROWS: appends the rows of one statement, "(1, 2),(3, 4)" */
    void (*write_rows)(const void *of, size_t statement, pgw_buf *out);
    /* Appends the text of the client's Query, rewritten. */
    void (*write_alone)(const void *of, pgw_buf *out);
    void (*drop)(void *of); /* frees `of`, on the thread of `home`, when the write group is freed */
} px_write_group_source;

/* The only row of a text as parameters of the prepared statement that can stand for the text. */
typedef struct px_write_group_lifted {
    const pgw_slice *values; /* values in text format, {NULL, 0} for NULL; NULL: the text itself is
                                to be sent, for nothing was lifted, or it has failed */
    size_t count;
    bool returns; /* the statement returns rows, which are to be described to the client */
} px_write_group_lifted;

/* The key of one row, as far as it takes to see whether two rows may be equal. */
typedef struct px_write_group_key {
    uint64_t hash;        /* all 64 bits of the row's hash, also where the table stores buckets */
    uint64_t fingerprint; /* equal for equal primary keys, and seldom equal for others; meaningless
                             if !constant */
    bool constant;        /* all columns of the primary key are known */
    uint16_t table;       /* index into the write group's `tables` */
    uint32_t partition;
} px_write_group_key;

/* A write group: what must commit together, one client's statement, Query or Sync group. The
 * session fills the write group and gives it away. All pointers are into `arena`, but for counted
 * references. The write group comes back through `done`, on the thread of `home`, and is freed
 * there by px_write_group_free(). */
typedef struct px_write_group {
    px_message message; /* the batcher sends the write group between workers with it */
    px_write_group_kind kind;
    px_identity *identity;
    px_write_group_table *tables; /* tables in the order of their first rows; the batch settings of
                              tables[0] hold for the write group */
    size_t table_count;
    uint64_t epoch; /* epoch of the catalog's picture that the write group was made with */
    bool several_partitions;
    uint32_t partition; /* the only partition, if not several_partitions */
    pgw_arena arena;

    /* The merge key: write groups with equal merge keys, identities, kinds, epochs and tables may
     * share a batch. ROWS: head, tail and conditions. PARAMS: the prepared statements. TEXT: empty.
     */
    pgw_slice head, tail; /* ROWS: "INSERT INTO t (…) VALUES ", and the text behind the rows */
    bool guarded; /* ROWS: each statement checks the table's columns, which takes some time */
    pgw_slice conditions; /* ROWS: conditions under which rows may be merged, each behind " and " */
    px_write_group_prepared *prepared; /* PARAMS: in the order of the first executions; ROWS, TEXT:
                                   the statement that `lifted` executes */
    size_t prepared_count;
    uint64_t merge_hash; /* a hash of kind, epoch, merge key, identity and the tables' names */

    /* The write group's statements, in the client's order. */
    size_t statement_count;
    struct px_write_group_statement {
        pgw_slice messages; /* PARAMS: Bind and Execute */
        size_t bytes;       /* bytes that the statement takes in a batch, or a few more */
        uint32_t rows;      /* rows in the statement's VALUES */
        size_t prepared;    /* PARAMS: index into `prepared` of the statement it executes */
        uint64_t tag;       /* out: rows that CommandComplete counted; of merged rows: `rows` */
        bool bound;      /* out, PARAMS: BindComplete came, also for a statement that failed then */
        bool suspended;  /* out, PARAMS: PortalSuspended came instead of a tag */
        size_t returned; /* out: where the statement's part of the write group's `returned` ends */
        size_t noticed;  /* out: where the statement's part of the write group's `notices` ends */
    } * statements;
    px_write_group_source source; /* ROWS, TEXT */
    px_write_group_lifted lifted; /* ROWS, TEXT */

    px_write_group_key *keys; /* one for each row, not sorted */
    size_t row_count;
    bool told; /* the client was told the statements' tags: the write group must store all rows or
                  fail */
    bool upserts;    /* a statement of the write group has ON CONFLICT */
    bool repeated;   /* the write group was made anew, after a try with an older picture of the
                        catalog */
    bool own_link;   /* the session has an own link: the write group can be rerouted at once */
    bool send_alone; /* the write group is to have a batch of its own, for one before it failed or
                      * was slow
                      */
    size_t bytes;    /* bytes that count against the queue's budgets */
    uint64_t
        deadline; /* px_worker_now() scale: a write group that is queued longer fails with 57014 */

    /* The outcome. */
    px_write_group_outcome outcome;
    px_write_group_failure failure;
    pgw_buf error;    /* the body of an ErrorResponse */
    pgw_buf notices;  /* whole NoticeResponse messages that came for this write group alone */
    pgw_buf returned; /* whole messages: the rows that the statements returned; of texts the
                         descriptions, too */
    bool slow;        /* the write group took long alone, longer than others of its queue */
    bool suspected; /* the write group's batch took long: the session's next write group goes alone
                     */
    size_t completed; /* statements whose CommandComplete came before the error */

    px_worker *home;
    void *session; /* the px_submitter that `done` tells; the batcher does not look at it */
    uint64_t ticket;
    void (*done)(struct px_write_group *write_group);

    /* The batcher's part. */
    struct px_write_group *next, *previous;
    struct px_queue *queue;
    struct px_key_table **locked; /* keys of all tables, in locking order */
    struct px_key_claim *claims;
    size_t claim_count;
    _Atomic size_t claims_missing; /* claims not granted yet; atomic, for each table has a mutex */
    size_t batch_bytes; /* bytes of all statements, which count against a batch's limit */
    px_write_group_key
        least; /* the first key by (hash, fingerprint), which orders the write groups of a batch */
    uint64_t arrived, submitted; /* `submitted` is by px_worker_clock() of `home` */
    uint64_t tried;     /* px_worker_now() scale: when the write group was first sent; 0: not yet */
    uint32_t locked_ms; /* ms of waiting for locks in batches, and for keys of other write groups */
    unsigned attempts;  /* attempts that failed for the backend's reasons, such as a conflict */
    unsigned stumbles;  /* attempts that failed, perhaps by the write group's own fault */
    size_t company;     /* most write groups of a batch that this one is in; 0: any number */
    uint64_t again_at;  /* px_worker_now() scale: when the write group's pause is over */
    bool renewed;       /* the write group's prepared statements were prepared again once */
    bool withdrawn;     /* the client gave the write group up, perhaps while it was on a link */
    int state;          /* px_write_group_state of queue.h; only `owner` touches it */
    px_worker *owner;   /* the worker that owns the write group's queue */
    struct px_write_group
        *registered; /* home's: the next write group in the same slot of px_register */
    unsigned pins;   /* home's: messages about a withdrawal that still refer to the write group */
    bool came_back;  /* home's: the write group has its outcome, and waits for its `pins` */
} px_write_group;

/* The same statement, to be kept: with a reference of its memory, or in memory of its own if it is
 * its maker's. */
px_write_group_prepared px_write_group_keep_prepared(const px_write_group_prepared *what);
/* Gives its memory back, on any thread. */
void px_write_group_drop_prepared(const px_write_group_prepared *what);
/* Whether both would be prepared, and described, by the same messages. */
bool px_write_group_same_prepared(const px_write_group_prepared *a,
                                  const px_write_group_prepared *b);

px_write_group *
px_write_group_new(px_worker *home); /* all zero but `home`, and a deadline far away */
void px_write_group_free(px_write_group *write_group);
/* Clears what the statements gave, before the write group is sent for the first time or again. */
void px_write_group_reset(px_write_group *write_group);
/* Appends statement `i` as it stands in a batch: ROWS: "(1, 2),(3, 4)"; PARAMS: messages. */
void px_write_group_write_statement(const px_write_group *write_group, size_t i, pgw_buf *out);
/* Appends the write group of a text as the client sent it. */
void px_write_group_write_alone(const px_write_group *write_group, pgw_buf *out);
/* Makes the write group FAILED with an error of keyspread's own. */
void px_write_group_fail(px_write_group *write_group, const pgw_error *error);

/* Fills 08007: the link was lost before the backend said whether the transaction is committed. */
void px_unknown_outcome(pgw_error *error);

#endif
