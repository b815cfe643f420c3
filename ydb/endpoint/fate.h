/*
 * fate: what becomes of a thing that a runner did and that failed: whether it may have been done,
 * whether it is tried again, and when.
 */
#ifndef PX_YDB_FATE_H
#define PX_YDB_FATE_H

#include "ydb/endpoint/runner_state.h"

/* Whether the thing that failed may have been committed all the same. */
bool px_runner_may_be_done(const px_runner *runner);
/* Whether the runner tries the failed thing again: another try may succeed, and comes to the same
 * if the first was done. What a batch link has certainly not done is left to its writer, unless it
 * was overtaken. */
bool px_runner_may_repeat(const px_runner *runner);
/* Whether the thing would be tried again if it had not been cancelled; it is certainly not done. */
bool px_runner_was_stopped(const px_runner *runner);
/* Whether the runner sends ROLLBACK for a transaction that a failure has left open. The owner ends
 * its own transaction itself, unless BEGIN, COMMIT or ROLLBACK failed, or it is done once more. */
bool px_runner_is_to_undo(const px_runner *runner);
/* Whether the program has other texts to try after the refused one; it goes on with those. */
bool px_runner_has_another_way(px_runner *runner);
/* Notes whether another client's row came in between, so that another try may succeed. */
void px_runner_note_overtaking(px_runner *runner);
/* The pause before the next try, in ms (pause.h). */
uint64_t px_runner_pause_ms(const px_runner *runner);
/* Notes that an executor could not be opened, and whether that may pass. */
void px_runner_note_refusal(px_runner *runner, const pgw_error *error);
/* Whether a batch link opens its first executor again: YDB was not there, and rows wait for it. */
bool px_runner_may_be_let_in(const px_runner *runner);
/* Makes the failure 57014: the thing at hand was cancelled, and no more of it is sent to YDB. */
void px_runner_note_cancel(px_runner *runner);
/* Whether the text is too long for a message to YDB, which would close the connection without an
 * error: the failure becomes 54000. */
PGW_MUST_CHECK bool px_runner_refuses_overlong(px_runner *runner, pgw_slice text);
/* Makes the failure 08007: it is not known whether the statement was committed. */
void px_runner_say_unknown(px_runner *runner);
/* Makes the failure 40001: a group's transaction that was done once more gave other results. */
void px_runner_say_differs(px_runner *runner);
/* Gives a cancelled thing PostgreSQL's message: by user request, or by statement_timeout. */
void px_runner_name_cancel(px_runner *runner);
/* Asks for the partitions of tables anew where they are discovered: one that was split or has moved
 * refuses writes for a while (53000, 57P03). */
void px_runner_doubt_maps(const px_runner *runner);

#endif
