/*
 * error_holds: what must be true of every error that a client is told about its text.
 */
#ifndef TEST_ERROR_HOLDS_H
#define TEST_ERROR_HOLDS_H

#include "protocol/error.h"
#include "protocol/utf8.h"

#include "word_deleted.h"

/* An error that a client can read: a SQLSTATE of an error, a sentence without a full stop, and a
 * position in the text. */
static inline void holds_of_error(const pgw_error *error, pgw_slice text, bool utf8)
{
    static const char state[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t len = strlen(error->message);
    bool broken = strchr(error->message, '\n') != NULL && memchr(text.ptr, '\n', text.len) == NULL;
    word_deleted_holds(strlen(error->sqlstate) == 5 && strspn(error->sqlstate, state) == 5,
                       "an error has a SQLSTATE");
    word_deleted_holds(strncmp(error->sqlstate, "00", 2) != 0, "an error is no success");
    word_deleted_holds(len > 0 && error->message[0] != ' ' && error->message[len - 1] != '.',
                       "an error has a message, without a full stop");
    word_deleted_holds(!broken, "an error has no line breaks but the client's");
    word_deleted_holds(error->position <= pgw_characters(text, text.len, utf8) + 1,
                       "an error's position is in the text");
}

/* An error in keyspread's own words about a table: the client can do something about it. */
static inline void holds_of_refusal(const pgw_error *error, pgw_slice text, bool utf8)
{
    holds_of_error(error, text, utf8);
    word_deleted_holds(strncmp(error->sqlstate, "XX", 2) != 0, "a refusal is no internal error");
    word_deleted_holds(strncmp(error->sqlstate, "0A", 2) != 0 || error->hint[0] != '\0' ||
                           error->detail[0] != '\0',
                       "who is told that something is not supported is told what to do");
}

#endif
