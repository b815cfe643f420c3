/*
 * keys: values of keys that only the backend can tell, a sequence's next number or what an
 * expression gives. They are asked for over the own link when the statement that wants them is at
 * hand.
 */
#ifndef PX_KEYS_H
#define PX_KEYS_H

#include "protocol/frontend.h"
#include "proxy/ingest/plan.h"
#include "rewrite/insert/answers.h"

struct px_session;

/* Whether a value that is wanted may be made of what was written just before it, or its making may
 * write: it belongs into the transaction of its statement. */
bool px_keys_look_around(const rw_insert *insert);
/* What is asked for: the wanted cells of a statement; or of several, one after the other. */
typedef struct px_keys_of {
    const rw_insert *const *inserts;
    size_t count;
    const rw_question
        *question; /* what is asked for a lone statement of defaults; NULL: it is to be made */
    size_t before; /* characters of the text that stand before the only one */
    bool behind;   /* other statements do */
    px_plan *plan; /* The plan of the INSERTs, which has the types of their parameters. */
    const pgw_bind *bind; /* The values of the parameters; NULL: there are none. */
} px_keys_of;

/* The answers for the message at hand, which live as long as it is. NULL: it is to
 * fail with `error`; or, where
 * `*later`, the session waits, and the message is looked at again. In a failed transaction they are
 * NULLs: nothing comes of them. */
const rw_answer *px_keys_ask(struct px_session *session, const px_keys_of *of, bool *later,
                             pgw_error *error);
/* A Bind for which this was asked is held: what now() gave is that of all its group, which is one
 * transaction. */
void px_keys_share_now(struct px_session *session, const rw_insert *insert);
/* The client's Bind with the answers behind its own parameters. False: the error. */
PGW_MUST_CHECK bool px_keys_bind(const px_plan *plan, const pgw_bind *bind,
                                 const rw_answer *answers, pgw_buf *out, pgw_error *error);
/* A row of the link's answer; its end; an error in its place. */
void px_keys_row(struct px_session *session, pgw_slice body);
void px_keys_answered(struct px_session *session);
void px_keys_failed(struct px_session *session, pgw_slice body);
/* Why the question has failed, and its transaction with it: it is for the message at hand. NULL: it
 * has not. */
const pgw_error *px_keys_failure(const struct px_session *session);
/* It has, outside of a transaction, for several statements, or one behind others, of which those in
 * front are to be done all the same (BEGIN may be one): the answers up to wanted cell number
 * `*failed`, and NULLs behind it. */
const rw_answer *px_keys_in_part(struct px_session *session, size_t *failed);
/* Whether it has failed, or no answer has come, for what the catalog said, which may be old. */
bool px_keys_may_be_old(const struct px_session *session);
/* The message has been dealt with. */
/* The schema of the table whose keys the message at hand was told; NULL: of none. */
const char *px_keys_told_in(const struct px_session *session);
void px_keys_forget(struct px_session *session);

#endif
