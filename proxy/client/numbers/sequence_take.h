/*
 * sequence_take: values of keys that need not be asked for: numbers of a sequence that a block
 * brought (sequence_cache.h), and random uuids.
 */
#ifndef PX_SEQUENCE_TAKE_H
#define PX_SEQUENCE_TAKE_H

#include "proxy/client/numbers/sequence_cache.h"
#include "rewrite/insert/answers.h"

struct px_session;

/* Whether all key values that the statement wants are at hand. */
bool px_sequence_take_has(struct px_session *session, const rw_insert *insert);
/* Takes the values that px_sequence_take_has() has found: one for each wanted cell, with memory
 * from `arena`. */
void px_sequence_take_take(struct px_session *session, const rw_insert *insert, pgw_arena *arena,
                           rw_answer *answers);
/* Takes `count` numbers that nobody got, now that the sequence has ended: their texts, from
 * `arena`. False: there are none, or they are not for a statement of this session. */
bool px_sequence_take_rest(struct px_session *session, uint32_t sequence, size_t count,
                           pgw_arena *arena, rw_answer *answers);
/* Whether the values are on their way, because another session has asked for them. */
bool px_sequence_take_comes(struct px_session *session, const rw_insert *insert);
/* A message of this type has been dealt with: what was drawn for Binds that came with it stays for
 * them, up to their Sync. */
void px_sequence_take_done(struct px_session *session, char type);
/* The statement's question is about to be sent: a block is added to it, for the reserve that is
 * returned (px_sequence_cache_end() is owed), or NULL. */
px_sequence_cache *px_sequence_take_begin(struct px_session *session, const rw_insert *insert,
                                          pgw_arena *arena, rw_question *question);

#endif
