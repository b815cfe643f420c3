/*
 * question: a session waits until the backend was asked for its tables. The question travels to the
 * worker that reads them and home again; here are the lists of those that wait there.
 */
#ifndef PX_QUESTION_H
#define PX_QUESTION_H

#include "protocol/error.h"
#include "proxy/backend/base/identity.h"
#include "proxy/backend/schema/database.h"
#include "proxy/loop/worker.h"

/* The list of the waiting is that of the asker's worker, and `next` belongs to whom it is with. */
typedef struct px_question {
    px_message message;
    px_worker *asker;
    px_database *database; /* counted */
    px_identity *identity; /* counted */
    struct px_question *next;
    pgw_error error; /* the answer; no SQLSTATE: look at the database */
    void (*answered)(px_worker *asker, px_message *question); /* runs there, and frees it */
    void (*loaded)(void *who, const pgw_error *error);
    void *who;                          /* NULL: nobody waits any more */
    struct px_question *later, **place; /* of its worker's list */
} px_question;

/* At the end of the list; those behind it come with it. */
void px_questions_put(px_question **list, px_question *question);
/* Sends those of this account (NULL: all) home, out of the list, with the error, if there is one.
 */
void px_questions_answer(px_question **list, const px_identity *account, const pgw_error *error);

#endif
