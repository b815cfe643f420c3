/*
 * mutants: a text with other constants in the place of its own, of the same kind to the grammar.
 */
#ifndef TEST_MUTANTS_H
#define TEST_MUTANTS_H

#include "rewrite/lex/lexer.h"

#include <string.h>

enum { MUTANTS = 6 };

/* What comes in the place of a token in turn `turn`; NULL: the token stays. */
static inline const char *other_constant(pgw_slice token, rw_token_kind kind, bool conforming,
                                         unsigned turn)
{
    static const char *const small[] = {"0", "54", "2147483647", "00007", "1", "02147483647"};
    static const char *const large[] = {"2147483648",           "1.5", "1e3",
                                        "99999999999999999999", ".5",  "1.e-7"};
    static const char *const strings[] = {"''",         "'it''s; UPDATE events SET userid = 1 --'",
                                          "'off'",      "'userid'''",
                                          "'$1 $$ /*'", "'!!'"};
    bool int4 = token.len < 10 || (token.len == 10 && memcmp(token.ptr, "2147483647", 10) <= 0);
    if (kind == RW_TOKEN_INTEGER && int4)
        return small[turn % MUTANTS];
    if (kind == RW_TOKEN_INTEGER || kind == RW_TOKEN_DECIMAL)
        return large[turn % MUTANTS];
    if (kind != RW_TOKEN_STRING || token.ptr[0] != '\'')
        return NULL;
    return turn % MUTANTS == 5 && conforming ? "'\\'" : strings[turn % MUTANTS];
}

/* Appends the text with every constant replaced. */
static inline void add_mutant(pgw_slice text, bool conforming, unsigned turn, pgw_buf *out)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, conforming);
    size_t from = 0;
    for (rw_token token = rw_lexer_next(&lexer);
         token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD; token = rw_lexer_next(&lexer)) {
        const char *other =
            other_constant(rw_token_text(text, token), token.kind, conforming, turn++);
        if (other == NULL)
            continue;
        pgw_buf_add(out, text.ptr + from, token.start - from);
        pgw_buf_add_str(out, other);
        from = token.end;
    }
    pgw_buf_add(out, text.ptr + from, text.len - from);
}

#endif
