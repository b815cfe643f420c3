/*
 * fate: what becomes of a thing that a runner did and that failed: whether it may have been done,
 * whether it is tried again, and when.
 */
#ifndef PX_YDB_FATE_H
#define PX_YDB_FATE_H

#include "ydb/endpoint/runner_state.h"

/* Of the runner's failure: nobody knows whether it has been committed. */
bool px_runner_may_be_done(const px_runner *runner);
/* What is not done, and may be another time, and is the runner's to repeat: not on a link for
 * batches. */
bool px_runner_may_repeat(const px_runner *runner);
/* Nothing else than a cancel kept it from that: it is not done, and not tried again for its sake.
 */
bool px_runner_was_stopped(const px_runner *runner);
/* A transaction is open behind what has failed, and ROLLBACK is the runner's to say. The owner of
 * one says it itself, but for what it does not hear of. */
bool px_runner_is_to_undo(const px_runner *runner);
/* The program has another way, where this one was refused, and goes it from now on. */
bool px_runner_has_another_way(px_runner *runner);
/* Whether the failure is that another client's row came in between: it passes then. */
void px_runner_note_overtaking(px_runner *runner);
/* The pause until then. Twice as long each time, less up to a half of it: what collided shall not
 * do so again. */
uint64_t px_runner_pause_ms(const px_runner *runner);
/* No executor is to be had: nobody is there just now, or not for us. */
void px_runner_note_refusal(px_runner *runner, const pgw_error *error);
/* … the first one, for rows that wait for it: nobody was there, and somebody may be soon. */
bool px_runner_may_be_let_in(const px_runner *runner);
/* What is at hand was cancelled, and YDB not asked for any more of it. */
void px_runner_note_cancel(px_runner *runner);
/* The text is longer than a message to YDB may be, and not to be sent: 54000. YDB would close the
 * connection without a word. */
PGW_MUST_CHECK bool px_runner_refuses_overlong(px_runner *runner, pgw_slice text);
/* The failure becomes 08007. */
void px_runner_say_unknown(px_runner *runner);
/* … 40001: a group's transaction that was done once more has not come out as before. */
void px_runner_say_differs(px_runner *runner);
/* What has been cancelled says so in PostgreSQL's words, for somebody or because it took too long.
 */
void px_runner_name_cancel(px_runner *runner);
/* Partitions that were split or have moved refuse what is sent them, for a while: where tables'
 * partitions are discovered, they are asked for. */
void px_runner_doubt_maps(const px_runner *runner);

#endif
