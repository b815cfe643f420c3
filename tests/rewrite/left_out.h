/*
 * left_out: statements with one of their words left out, or twice.
 */
#ifndef TEST_LEFT_OUT_WORDS_H
#define TEST_LEFT_OUT_WORDS_H

#include "rewrite/lex/lexer.h"
#include "tests/protocol/left_out.h"

enum { LEFT_OUT_WORDS = 400 };

/* With each `every`th word from the `first` (from 0) on left out, and twice. */
static inline void left_out_some(pgw_slice text, size_t first, size_t every,
                                 left_out_describe *describe, pgw_buf *line)
{
    pgw_arena arena = {0};
    size_t count;
    const rw_token *words = rw_tokens_of(text, true, &arena, &count);
    pgw_buf whole = {0};
    pgw_buf_add_slice(&whole, text);
    left_out_text(&whole, describe, line);
    for (size_t i = first; i < count && i < LEFT_OUT_WORDS; i += every)
        for (int twice = 0; twice < 2; twice++)
            left_out_variant(text, (left_out_span){words[i].start, words[i].end}, twice, " ",
                             describe, line);
    pgw_buf_free(&whole);
    pgw_arena_free(&arena);
}

static inline void left_out_variants(pgw_slice text, size_t every, left_out_describe *describe,
                                     pgw_buf *line)
{
    left_out_some(text, 0, every, describe, line);
}

/* Each line of a file is a text; a line is added for it, behind this title and its number. */
static inline void left_out_lines(const char *path, const char *title, size_t first, size_t every,
                                  left_out_describe *describe, pgw_buf *out)
{
    char *text = left_out_read(path), *rest;
    size_t number = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        pgw_buf_addf(out, "%s %zu", title, ++number);
        left_out_some(pgw_slice_str(line), first, every, describe, out);
        pgw_buf_add_byte(out, '\n');
    }
    free(text);
}

#endif
