/*
 * submit: a client's rows become units, which go to the batcher; their owner hears how they fared,
 * on a later turn.
 */
#ifndef PX_SUBMIT_H
#define PX_SUBMIT_H

#include "proxy/ingest/alike.h"
#include "proxy/ingest/bind.h"
#include "proxy/ingest/owner.h"
#include "proxy/ingest/units.h"

/* Submits a script of batchable INSERTs, whose hashes are known: as one unit, or as one for each
 * partition, where the table says so. */
void px_submit_script(px_owner *owner, const px_standing *standing, px_text *text);

/* Submits a text that is like an earlier one, without parsing it. `asked`: what was filled to get
 * it; NULL: its client sent it so. False: the text is to be parsed, and nothing was done. */
PGW_MUST_CHECK bool px_submit_alike(px_owner *owner, const px_standing *standing, px_likeness *of,
                                    const px_alike_asked *asked, const pgw_env *env);

/* How prepared INSERTs are executed, one behind the other; at most PX_UNIT_MOST of them. */
typedef struct px_executions {
    const px_execution *all;
    size_t count;
} px_executions;

/* Why executions are no unit. */
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

px_submission px_submit_bound(px_owner *owner, const px_standing *standing,
                              const px_executions *executions, px_unfit *unfit);

/* Whether units of the owner are under way. */
bool px_submitted(const px_owner *owner);
/* Withdraws the owner's units that are under way. */
void px_submit_withdraw(px_owner *owner);
/* Withdraws the owner's units, of which it hears no more: the owner goes away. */
void px_submit_leave(px_owner *owner);

#endif
