/*
 * submit: a client's rows become write groups, which go to the batcher; their submitter hears how
 * they fared, on a later turn.
 */
#ifndef PX_SUBMIT_H
#define PX_SUBMIT_H

#include "proxy/ingest/alike.h"
#include "proxy/ingest/bind.h"
#include "proxy/ingest/submitter.h"
#include "proxy/ingest/write_groups.h"

/* Submits a script of batchable INSERTs, whose hashes are known: as one write group, or as one for
 * each partition, where the table says so. */
void px_submit_script(px_submitter *submitter, const px_standing *standing, px_text *text);

/* Submits a text that is like an earlier one, without parsing it. `asked`: what was filled to get
 * it; NULL: its client sent it so. False: the text is to be parsed, and nothing was done. */
PGW_MUST_CHECK bool px_submit_alike(px_submitter *submitter, const px_standing *standing,
                                    px_likeness *of, const px_alike_asked *asked,
                                    const pgw_env *env);

/* How prepared INSERTs are executed, one behind the other; at most PX_WRITE_GROUP_MOST of them. */
typedef struct px_executions {
    const px_execution *all;
    size_t count;
} px_executions;

/* Why executions are no write group. */
typedef struct px_unfit {
    pgw_error error;
    size_t execution; /* the first execution that cannot be done */
    bool at_bind;     /* the execution fails already when it is bound */
} px_unfit;

typedef enum px_submission {
    PX_SUBMITTED,
    PX_SUBMIT_ON_LINK, /* executions are for the own link after all; `unfit` may say why */
    PX_SUBMIT_REFUSED  /* `unfit` says why */
} px_submission;

px_submission px_submit_bound(px_submitter *submitter, const px_standing *standing,
                              const px_executions *executions, px_unfit *unfit);

/* Whether write groups of the submitter are under way. */
bool px_submitted(const px_submitter *submitter);
/* Withdraws the submitter's write groups that are under way. */
void px_submit_withdraw(px_submitter *submitter);
/* Withdraws the submitter's write groups, of which it hears no more: the submitter goes away. */
void px_submit_leave(px_submitter *submitter);

#endif
