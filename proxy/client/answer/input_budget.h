/*
 * input_budget: memory for what clients have sent and cannot be dealt with yet: messages that must
 * be whole to be understood, groups up to their Sync. All of it together is
 * limits.incomplete_bytes, for the process; a session that finds no room is not read on, but one
 * may always go beyond.
 */
#ifndef PX_INPUT_BUDGET_H
#define PX_INPUT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct px_session;
struct px_worker;

enum { PX_INPUT_BUDGET_FREE = 64 * 1024 }; /* bytes of each session that are not counted */

/* Counts what the session holds now; false: more was read than there is room for, so it is not to
 * be read on until px_input_budget_tick() wakes it. */
bool px_input_budget_take(struct px_session *session);
/* Counts less if it holds less. */
void px_input_budget_settle(struct px_session *session);
/* Counts nothing any more for a session that is closed. */
void px_input_budget_leave(struct px_session *session);
/* Has sessions that wait try again; the largest of those that do not move is given up, with 53200,
 * if a session waits for longer than link_wait_ms. */
void px_input_budget_tick(struct px_worker *worker);

#endif
