/*
 * keys: values of keys that only the backend can tell, a sequence's next number or what an
 * expression gives. They are asked for over the own link when the statement that wants them is at
 * hand.
 */
#ifndef PX_KEYS_H
#define PX_KEYS_H

#include "protocol/frontend.h"
#include "proxy/client/core/states.h"
#include "proxy/ingest/plan.h"
#include "rewrite/insert/answers.h"

struct px_session;

/* Whether a value that is wanted may be made of what was written just before it, or its making may
 * write: it belongs into the transaction of its statement. */
bool px_keys_look_around(const rw_insert *insert);
/* What is asked for: the wanted cells of one statement, or of several, one after the other. */
typedef struct px_keys_of {
    const rw_insert *const *inserts;
    size_t count;
    const rw_question *question; /* the question of a lone statement that wants defaults alone;
                                    NULL: it is to be made */
    size_t before;        /* characters of the text before the statement, if it is the only one */
    bool behind;          /* other statements stand before the only one */
    px_plan *plan;        /* The plan of the INSERTs, which has the types of their parameters. */
    const pgw_bind *bind; /* The values of the parameters; NULL: there are none. */
} px_keys_of;

/* The answers for the message at hand, which live as long as it is. NULL: what `*step` waits for
 * comes first; or that is DONE, and the message is to fail with `error`. In a failed transaction
 * they are NULLs: nothing comes of them. */
const rw_answer *px_keys_ask(struct px_session *session, const px_keys_of *of, px_step *step,
                             pgw_error *error);
/* Notes for the group of a Bind what now() gave: the group is one transaction. */
void px_keys_share_now(struct px_session *session, const rw_insert *insert);
/* Writes the client's Bind with the answers behind its own parameters. False: the error. */
PGW_MUST_CHECK bool px_keys_bind(const px_plan *plan, const pgw_bind *bind,
                                 const rw_answer *answers, pgw_buf *out, pgw_error *error);
/* The link's answer: a row, its end, an error in its place. */
void px_keys_row(struct px_session *session, pgw_slice body);
void px_keys_answered(struct px_session *session);
void px_keys_failed(struct px_session *session, pgw_slice body);
/* Why the question has failed, and its transaction with it: an error for the message at hand. NULL:
 * it has not. */
const pgw_error *px_keys_failure(const struct px_session *session);
/* The answers where the question has failed outside of a transaction, for several statements or one
 * behind others, of which those in front are to be done all the same (BEGIN may be one): answers up
 * to wanted cell number `*failed`, NULLs behind it. NULL: it has not failed so. */
const rw_answer *px_keys_in_part(struct px_session *session, size_t *failed);
/* Whether the question has failed, or had no answer, because of a catalog that may be old. */
bool px_keys_may_be_old(const struct px_session *session);
/* The schema of the table whose keys the message at hand was told; NULL: of none. */
const char *px_keys_schema(const struct px_session *session);
/* Whether the catalog has the table of the (first) statement that keys were asked for. */
bool px_keys_are_of(const struct px_session *session, const px_catalog *catalog);
/* Forgets the question and its answers: the message has been dealt with. */
void px_keys_forget(struct px_session *session);

#endif
