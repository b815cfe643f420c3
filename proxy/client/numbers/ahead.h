/*
 * ahead: values of keys that need not be asked for: numbers of a sequence that a block brought
 * (reserve.h), and random uuids.
 */
#ifndef PX_AHEAD_H
#define PX_AHEAD_H

#include "proxy/client/numbers/reserve.h"
#include "rewrite/insert/answers.h"

struct px_session;

/* Whether all key values that the statement wants are at hand. */
bool px_ahead_has(struct px_session *session, const rw_insert *insert);
/* Takes the values that px_ahead_has() has found: one for each wanted cell, with memory from
 * `arena`. */
void px_ahead_take(struct px_session *session, const rw_insert *insert, pgw_arena *arena,
                   rw_answer *answers);
/* Takes `count` numbers that nobody got, now that the sequence has ended: their texts, from
 * `arena`. False: there are none, or they are not for a statement of this session. */
bool px_ahead_rest(struct px_session *session, uint32_t sequence, size_t count, pgw_arena *arena,
                   rw_answer *answers);
/* Whether the values are on their way, because another session has asked for them. */
bool px_ahead_comes(struct px_session *session, const rw_insert *insert);
/* A message of this type has been dealt with: what was drawn for Binds that came with it stays for
 * them, up to their Sync. */
void px_ahead_done(struct px_session *session, char type);
/* The statement's question is about to be sent: a block is added to it, for the reserve that is
 * returned (px_reserve_end() is owed), or NULL. */
px_reserve *px_ahead_begin(struct px_session *session, const rw_insert *insert, pgw_arena *arena,
                           rw_question *question);

#endif
