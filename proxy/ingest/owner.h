/*
 * owner: who rows are from, as far as the makers of units have to know: a session's Query or Sync
 * group. The owner hears how they fared.
 */
#ifndef PX_OWNER_H
#define PX_OWNER_H

#include "proxy/backend/base/classify.h"
#include "proxy/backend/base/unit.h"
#include "proxy/batch/batcher.h"
#include "proxy/ingest/plan.h"
#include "proxy/ingest/text.h"

typedef struct px_owner px_owner;

/* What the client of a statement that is kept (client/core/kept.h) is told of it. */
typedef struct px_told {
    uint64_t rows;
    pgw_slice shown; /* What it returns, as DataRow messages. */
} px_told;

/* How all that was submitted fared. Valid during the call. */
typedef struct px_outcome {
    const struct px_unit_statement *statements;
    size_t statement_count;
    size_t completed;    /* statements that came through; the next is the one that failed */
    pgw_slice notices;   /* whole messages */
    pgw_slice returned;  /* the rows that all statements return: see px_unit */
    const px_told *told; /* Of each statement, all of which are kept. NULL: the server told it. */
    pgw_slice error;     /* body of the ErrorResponse; empty: none failed */
    px_error_kind kind;  /* its */
    px_unit_failure failure; /* where it came from */
    bool stored;             /* some of it is, or may be, committed */
    /* Units of one statement (split.h): how many rows it has, how many are committed, and of how
     * many that is unknown. 0 rows: it was one unit. */
    size_t rows, committed, unknown;
} px_outcome;

/* The notices of statement `i`; behind the last that came through, the rest. */
pgw_slice px_outcome_notices(const px_outcome *outcome, size_t i);
/* The messages with the rows that statement `i` returned; of the one that failed, those that came
 * before its error, which is that of the commit then. */
pgw_slice px_outcome_returned(const px_outcome *outcome, size_t i);

typedef struct px_owner_ops {
    /* False: it is to be tried once more, with the schema as it is now. */
    bool (*answered)(px_owner *owner, const px_outcome *outcome);
    /* Nothing was written but what `text` or the plan is without by now: it waited for a lock. What
     * is left is for the session's own link. */
    void (*rerouted)(px_owner *owner);
} px_owner_ops;

struct px_owner {
    const px_owner_ops *ops;
    px_worker *worker;
    px_unit *unit;          /* under way */
    struct px_split *split; /* … or several of one statement; owned */
    px_text *text;          /* simple protocol: the script they came from. Counted */
    px_plan **plans;        /* extended protocol: the statements that were sent, by their first
                               executions. Counted, and owned */
    size_t plan_count;
    bool repeated; /* what is submitted was tried with an older picture of the schema */
    bool rerouted; /* … is for the own link, whatever it is */

    /* What the statement has waited here, which its timeouts are to count on its own link. */
    uint32_t locked_ms; /* for locks and others' keys, of the unit that waited longest */
    uint64_t since;     /* px_worker_now() scale: it was submitted first; 0: it was not */

    /* What its units did to those that travelled with them. */
    bool slow_before;      /* The last unit that travelled without company took long. */
    bool suspected;        /* The next unit travels without company, to see how long it takes. */
    uint64_t failed_until; /* px_worker_now() scale: they travel without company until then */
    uint64_t slow_until;   /* … are for the own link until then, for they hold up others */
};

/* How a session stands, as far as that decides how its rows may travel. Borrowed. */
typedef struct px_standing {
    px_identity *identity; /* as it is now */
    bool private_session;  /* its settings or its role are not as they came */
    bool output_changed;   /* values may be written as text otherwise than on batch links */
    unsigned touched;      /* of rw_effect: what its own link was ever told */
    bool in_transaction;   /* … and is in */
    bool own_link;         /* … is open */
} px_standing;

/* What is submitted next is another statement. */
void px_owner_go_on(px_owner *owner);
/* Forgets `text` and `plans`. */
void px_owner_drop_statement(px_owner *owner);
/* One more plan; counted. */
void px_owner_add_plan(px_owner *owner, px_plan *plan);
/* The plan of statement `i` of what was submitted as Binds; behind the last, its. */
px_plan *px_outcome_plan(const px_owner *owner, const px_outcome *outcome, size_t i);
/* A unit is back: what it waited for locks. */
void px_owner_note_locks(px_owner *owner, const px_unit *unit);
/* One of its units failed by its own fault, perhaps: the next travel without company for a while.
 */
void px_owner_note_failure(px_owner *owner, const px_unit *unit);
/* A unit is back: whether it held up others, by its time or by what it returned, all of which is
 * here before it is committed. */
void px_owner_note_time(px_owner *owner, const px_unit *unit);

#endif
