/*
 * question: a session waits until the backend was asked for its tables. The question travels to the
 * worker whose reader asks, and home again; here are the reader's lists of questions.
 */
#ifndef PX_QUESTION_H
#define PX_QUESTION_H

#include "protocol/error.h"
#include "proxy/backend/base/identity.h"
#include "proxy/backend/schema/database.h"
#include "proxy/loop/worker.h"

/* One question. The asker's worker lists it by `later`, the reader that has it by `next`. */
typedef struct px_question {
    px_message message;
    px_worker *asker;
    px_database *database; /* a counted reference */
    px_identity *identity; /* a counted reference */
    struct px_question *next;
    bool inside; /* The asker is in a transaction: while `keyspread migrate` switches tables it gets
                    an error at once, for the switch waits for transactions. */
    pgw_error error; /* the answer; no SQLSTATE: no error, the snapshot is to be looked at again */
    /* Runs on the thread of `asker`, and frees the question. */
    void (*answered)(px_worker *asker, px_message *question);
    void (*loaded)(void *who, const pgw_error *error);
    void *who;                          /* the waiter that `loaded` tells; NULL: it has gone */
    struct px_question *later, **place; /* links of the asker's worker's list */
} px_question;

/* Appends the question, and those that are chained to it, to the list. */
void px_questions_put(px_question **list, px_question *question);
/* Takes the questions of this account (NULL: of all) out of the list and sends them home, with the
 * error, if there is one. */
void px_questions_answer(px_question **list, const px_identity *account, const pgw_error *error);
/* Takes the questions with `inside`, of all accounts, out of the list and sends them home with the
 * error. */
void px_questions_answer_inside(px_question **list, const pgw_error *error);

#endif
