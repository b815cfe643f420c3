#include "proxy/backend/catalog/question.h"

#include <string.h>

void px_questions_put(px_question **list, px_question *question)
{
    while (*list != NULL)
        list = &(*list)->next;
    *list = question;
}

static bool same_account(const px_identity *a, const px_identity *b)
{
    bool passwords = a->password != NULL && b->password != NULL;
    return strcmp(a->user, b->user) == 0 && !a->password == !b->password &&
           (!passwords || strcmp(a->password, b->password) == 0);
}

static void answer(px_question *question, const pgw_error *error)
{
    if (error != NULL)
        question->error = *error;
    question->message.run = question->answered;
    px_worker_send(question->asker, &question->message);
}

void px_questions_answer(px_question **list, const px_identity *account, const pgw_error *error)
{
    while (*list != NULL) {
        px_question *question = *list;
        if (account != NULL && !same_account(question->identity, account)) {
            list = &question->next;
            continue;
        }
        *list = question->next;
        answer(question, error);
    }
}

void px_questions_answer_inside(px_question **list, const pgw_error *error)
{
    while (*list != NULL) {
        px_question *question = *list;
        if (!question->inside) {
            list = &question->next;
            continue;
        }
        *list = question->next;
        answer(question, error);
    }
}
