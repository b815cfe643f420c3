/*
 * word_deleted: statements with one of their words left out, or twice.
 */
#ifndef TEST_WORD_DELETED_WORDS_H
#define TEST_WORD_DELETED_WORDS_H

#include "rewrite/lex/lexer.h"
#include "tests/protocol/word_deleted.h"

enum { DELETED_WORDS = 400 };

/* The whole text, and with each `every`th word from the `first` (from 0) on left out, and twice. */
static inline void word_deleted_some(pgw_slice text, size_t first, size_t every,
                                     word_deleted_judge *judge)
{
    pgw_arena arena = {0};
    size_t count;
    const rw_token *words = rw_tokens_of(text, true, &arena, &count);
    pgw_buf whole = {0};
    pgw_buf_add_slice(&whole, text);
    word_deleted_text(&whole, judge);
    for (size_t i = first; i < count && i < DELETED_WORDS; i += every)
        for (int twice = 0; twice < 2; twice++)
            word_deleted_variant(text, (word_deleted_span){words[i].start, words[i].end}, twice,
                                 " ", judge);
    pgw_buf_free(&whole);
    pgw_arena_free(&arena);
}

/* Each line of a file is a text, maybe of several statements. */
static inline void word_deleted_lines(const char *path, size_t first, size_t every,
                                      word_deleted_judge *judge)
{
    char *text = word_deleted_read(path), *rest;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        word_deleted_some(pgw_slice_str(line), first, every, judge);
    free(text);
}

#endif
