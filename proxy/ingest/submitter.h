/*
 * submitter: the session that submits write groups, as far as their makers have to know it. The
 * submitter hears how its write groups fared.
 */
#ifndef PX_SUBMITTER_H
#define PX_SUBMITTER_H

#include "proxy/backend/base/classify.h"
#include "proxy/backend/base/write_group.h"
#include "proxy/batch/batcher.h"
#include "proxy/ingest/plan.h"
#include "proxy/ingest/text.h"

typedef struct px_submitter px_submitter;

/* What the client of a statement that is kept (client/core/kept.h) is told of it. */
typedef struct px_promised {
    uint64_t rows;
    pgw_slice shown; /* The rows that the statement returns, as DataRow messages. */
} px_promised;

/* How all write groups that were submitted fared. Valid during the call. */
typedef struct px_outcome {
    const struct px_write_group_statement *statements;
    size_t statement_count;
    size_t completed;            /* statements that came through; the next is the one that failed */
    pgw_slice notices;           /* whole messages */
    pgw_slice returned;          /* the rows that all statements return: see px_write_group */
    const px_promised *promised; /* one a statement, if all are kept; NULL: the server told it */
    pgw_slice error;             /* body of the ErrorResponse; empty: no statement failed */
    px_error_kind kind;          /* the kind of the error */
    px_write_group_failure failure; /* The place that the error came from. */
    bool stored;                    /* some rows are, or may be, committed */
    /* If a statement was split (split.h): its rows, those that are committed, and those of which
     * that is unknown. 0 rows: it was one write group. */
    size_t rows, committed, unknown;
} px_outcome;

/* The notices of statement `i`; behind the last that came through, the rest. */
pgw_slice px_outcome_notices(const px_outcome *outcome, size_t i);
/* The messages with the rows that statement `i` returned; of the one that failed, those that came
 * before its error, which is that of the commit then. */
pgw_slice px_outcome_returned(const px_outcome *outcome, size_t i);

typedef struct px_submitter_ops {
    /* Takes the outcome. False: the statement is to be tried once more, with the schema as it is
     * now. */
    bool (*answered)(px_submitter *submitter, const px_outcome *outcome);
    /* A write group waited for a lock. Rows that are committed were taken out of `text` or the
     * plan; the rest is for the session's own link. */
    void (*rerouted)(px_submitter *submitter);
} px_submitter_ops;

struct px_submitter {
    const px_submitter_ops *ops;
    px_worker *worker;
    px_write_group *write_group; /* the write group that is under way, or NULL */
    struct px_split *split; /* the write groups of one statement that was split, or NULL; owned */
    px_text *text;          /* simple protocol: the script that the write groups are of. Counted */
    px_plan **plans; /* extended protocol: the statements that were sent, in order of their first
                        executions. Counted; the array is owned */
    size_t plan_count;
    px_plan *lone; /* `plans`, where they are one */
    bool repeated; /* the statement was tried before with an older picture of the catalog */
    bool rerouted; /* the statement is for the own link, even if it could be batched */

    /* What the statement has waited here, which its timeouts are to count on its own link. */
    uint32_t locked_ms; /* the longest wait of a write group for locks and others' keys */
    uint64_t since;     /* px_worker_now() scale: when it was first submitted; 0: it was not */

    /* What write groups of this submitter did to those that travelled with them. */
    bool slow_before; /* The last write group that travelled without company took long. */
    bool suspected;   /* The next write group travels without company, to see how long it takes. */
    uint64_t
        failed_until;    /* px_worker_now() scale: until then write groups travel without company */
    uint64_t slow_until; /* px_worker_now() scale: until then rows go over the own link, as they
                            hold up others */
};

/* How a session stands, as far as that decides how its rows may travel. Borrowed. */
typedef struct px_standing {
    px_identity *identity; /* the session's identity as it is now */
    bool private_session;  /* the session's settings or role cannot be shared */
    bool output_changed;   /* values may be written as text otherwise than on batch links */
    unsigned touched;      /* flags of rw_effect: what statements on the own link may have done */
    bool in_transaction;   /* the own link is in a transaction */
    bool own_link;         /* the own link is open */
} px_standing;

/* Forgets how the last statement was tried: what is submitted next is another one. */
void px_submitter_go_on(px_submitter *submitter);
/* What is submitted next is the same statement, by a newer picture of the catalog. */
static inline void px_submitter_repeat(px_submitter *submitter)
{
    submitter->repeated = true;
}
/* `reroutes`: the statement is for the own link, even if it could be batched. */
static inline void px_submitter_note_reroute(px_submitter *submitter, bool reroutes)
{
    submitter->rerouted = submitter->rerouted || reroutes;
}
/* When the statement was first submitted, px_worker_now(), which is forgotten; 0: it was not. */
static inline uint64_t px_submitter_take_since(px_submitter *submitter)
{
    uint64_t since = submitter->since;
    submitter->since = 0;
    return since;
}
/* The statement has gone to the own link, or is given up. */
static inline void px_submitter_end_reroute(px_submitter *submitter)
{
    submitter->rerouted = false;
}
/* Forgets `text` and `plans`. */
void px_submitter_drop_statement(px_submitter *submitter);
/* Adds a plan to `plans`, with a reference to it. */
void px_submitter_add_plan(px_submitter *submitter, px_plan *plan);
/* The plan of statement `i` of what was submitted as Binds; behind the last, the last one's. */
px_plan *px_outcome_plan(const px_submitter *submitter, const px_outcome *outcome, size_t i);
/* Notes how long a write group that is back waited for locks. */
void px_submitter_note_locks(px_submitter *submitter, const px_write_group *write_group);
/* Notes that a write group failed, perhaps by its own fault: the next travel without company for a
 * while. */
void px_submitter_note_failure(px_submitter *submitter, const px_write_group *write_group);
/* Notes whether a write group that is back held up others, by its time or by the rows that it
 * returned, all of which are read before it is committed. */
void px_submitter_note_time(px_submitter *submitter, const px_write_group *write_group);

#endif
