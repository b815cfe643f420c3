/*
 * split: a statement whose rows may commit partition by partition (atomicity: partition): a write
 * group for each partition that it touches, one outcome. Rows that wait for a lock go on without
 * the others, on the session's own link.
 */
#ifndef PX_SPLIT_H
#define PX_SPLIT_H

#include "proxy/ingest/submitter.h"
#include "proxy/ingest/write_groups.h"
#include "rewrite/insert/key.h"

/* If the statement touches several partitions and the table lets it commit partition by partition:
 * submits a write group for each. False: it is to stay whole, nothing was done. */
bool px_split_script(px_submitter *submitter, const px_standing *standing, px_text *text);
/* px_split_script() for a statement that is bound and executed once. */
bool px_split_bound(px_submitter *submitter, const px_standing *standing,
                    const px_execution *execution, const rw_key *keys);
/* Withdraws all write groups of the split: those that are queued come back soon. */
void px_split_withdraw(px_submitter *submitter);
/* Withdraws all write groups, whose outcome no session is told, as the submitter goes away. */
void px_split_leave(px_submitter *submitter);

#endif
