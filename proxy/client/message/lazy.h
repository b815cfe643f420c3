/*
 * lazy: keeps a transaction (transactions: lazy) of INSERTs that could be batched: each is read,
 * hashed and answered at once, and COMMIT makes one write group of them. Anything else makes it
 * ordinary: BEGIN and what was kept go to the own link (px_session_need_link()).
 */
#ifndef PX_LAZY_H
#define PX_LAZY_H

#include "protocol/frame.h"
#include "proxy/client/core/session.h"
#include "proxy/ingest/template.h"
#include "rewrite/statement/words/transaction.h"

/* Whether any transaction of the session may be kept, as far as its settings and the tables' say.
 */
bool px_lazy_is_wanted(const px_session *session);
/* Whether the transaction that begins now may be kept, as far as its BEGIN and the session's
 * settings say. `ordinary`: as rw_transaction has it. */
bool px_lazy_begins(const px_session *session, bool ordinary);
/* Whether INSERTs may be kept now: it is such a transaction, and nothing is under way. */
bool px_lazy_may(const px_session *session);
/* Whether this INSERT, which could be batched, may be kept in a transaction that keeps INSERTs. */
bool px_lazy_takes(const px_session *session, const rw_insert *insert, const px_catalog *catalog);
/* Keeps and answers a Query of such INSERTs, whose hashes are known. False: it is to go its
 * ordinary way. */
bool px_lazy_keeps_text(px_session *session, px_text *text);
/* Keeps and answers a Query like those of a template, without looking into it. False: it is to be
 * looked into. */
bool px_lazy_keeps_alike(px_session *session, px_likeness *of);
/* Keeps and answers the INSERTs that the session's group executes. False: they go their ordinary
 * way. */
bool px_lazy_keeps_group(px_session *session);
/* Sets a savepoint among what is kept, or returns to one or releases one of them; `text` is the
 * statement. The caller answers. False: it is to go its ordinary way. */
bool px_lazy_keeps_savepoint(px_session *session, const rw_transaction *decoded, pgw_slice text);
/* Whether the messages at hand, all here up to their Sync, only parse a statement that has a name,
 * or describe it, or both: the server is asked in the transaction, and INSERTs stay kept. Anything
 * else in such a group would need the kept ones sent, and that is impossible in its middle. */
bool px_lazy_asks(const px_session *session);
/* Submits what was kept, for its COMMIT is at hand, which the outcome answers (outcome.h). False:
 * it is to be sent, with that COMMIT behind it. */
PGW_MUST_CHECK bool px_lazy_commits(px_session *session);
/* Answers whatever is at hand with the error of a kept INSERT that has failed on the session's own
 * link. False: none has. */
bool px_lazy_tells(px_session *session, pgw_frame frame);
/* Sends what was kept to the own link (ready), with a Sync (px_session_io). */
void px_lazy_send(px_session *session);

#endif
