/*
 * lexer: PostgreSQL's tokens, one at a time, as offsets into the client's text.
 * Follows scan.l: strings of all kinds, dollar quotes, nested comments, quoted identifiers,
 * parameters, operators. Knows no grammar and never allocates.
 */
#ifndef RW_LEXER_H
#define RW_LEXER_H

#include "protocol/bytes.h"

typedef enum rw_token_kind {
    RW_TOKEN_END,    /* end of the text */
    RW_TOKEN_BAD,    /* unterminated or impossible: the text is not PostgreSQL's */
    RW_TOKEN_WORD,   /* identifier or keyword, unquoted */
    RW_TOKEN_QUOTED, /* "identifier" or U&"identifier" */
    RW_TOKEN_STRING, /* '…' E'…' U&'…' N'…' $…$, continuation over newlines included */
    RW_TOKEN_BITS,   /* B'…' X'…' */
    RW_TOKEN_INTEGER,
    RW_TOKEN_DECIMAL,
    RW_TOKEN_PARAM,    /* $1 */
    RW_TOKEN_OPERATOR, /* a run of operator characters, as PostgreSQL cuts it; also := and => */
    RW_TOKEN_CAST,     /* :: */
    RW_TOKEN_CHAR      /* one of , ; ( ) [ ] . : and other single characters */
} rw_token_kind;

/* A token fits two registers: there are some for each word of each statement. */
typedef struct rw_token {
    rw_token_kind kind;
    uint32_t start, end; /* byte offsets: no message is as long as 4 GiB */
} rw_token;

/* The first tokens of a text that is read more than once. */
enum { RW_TOKENS_NOTED = 256 };
typedef struct rw_noted {
    size_t count;
    rw_token tokens[RW_TOKENS_NOTED];
} rw_noted;

typedef struct rw_lexer {
    pgw_slice text;
    size_t at;
    bool conforming; /* standard_conforming_strings: '…' takes backslashes literally */
    rw_noted *notes; /* where tokens are noted as far as there is room; NULL: nowhere */
    const rw_token *known, *known_end; /* the next tokens, if they were read before */
} rw_lexer;

/* Whether it matters what `conforming` is: there are backslashes, or U&'…'. */
bool rw_lexer_heeds_conforming(pgw_slice text);
void rw_lexer_init(rw_lexer *lexer, pgw_slice text, bool conforming);
/* Begins a text whose first tokens are known. `noted` lives as long as the lexer, and nothing may
 * set the lexer's `at`. */
void rw_lexer_init_noted(rw_lexer *lexer, pgw_slice text, bool conforming, const rw_noted *noted);
/* Makes the tokens noted of a text those of its part from byte `start` to `end`. */
void rw_noted_cut(rw_noted *noted, size_t start, size_t end);
rw_token rw_lexer_read(rw_lexer *lexer); /* Reads a token that is not known yet. */
/* The next token, blanks and comments skipped. After END or BAD the same again. */
static inline rw_token rw_lexer_next(rw_lexer *lexer)
{
    if (lexer->known == lexer->known_end)
        return rw_lexer_read(lexer);
    lexer->at = lexer->known->end;
    return *lexer->known++;
}

/* Whether a number is written as PostgreSQL takes it since version 16 alone: 0x1F, 0o17, 0b11,
 * 1_000. */
bool rw_number_is_newer(pgw_slice number);
/* n of $n, or anything above UINT16_MAX, which is what Bind can carry; 0: it is no parameter. */
uint32_t rw_parameter_number(pgw_slice text, rw_token token);
/* The highest n of a text's $n; 0: it has none. */
uint32_t rw_highest_parameter(pgw_slice text, bool conforming);
/* How often $parameter stands in a text. */
size_t rw_parameter_uses(pgw_slice text, bool conforming, uint32_t parameter);
pgw_slice rw_token_text(pgw_slice text, rw_token token);
/* The tokens of a text, up to its end or to what is no token. */
rw_token *rw_tokens_of(pgw_slice text, bool conforming, pgw_arena *arena, size_t *count);
/* The index of the token that begins at this byte; `count` if none does, or it is negative. */
size_t rw_token_at(const rw_token *tokens, size_t count, int32_t start);
/* Whether a word equals `lower` without case. Never true for a quoted identifier. */
bool rw_word_is(pgw_slice text, rw_token word, const char *lower);
static inline bool rw_token_is(pgw_slice text, rw_token token, const char *lower)
{
    if (token.kind != RW_TOKEN_WORD || (text.ptr[token.start] | 0x20) != lower[0])
        return false;
    if (__builtin_constant_p(__builtin_strlen(lower)) &&
        token.end - token.start != __builtin_strlen(lower))
        return false; /* the lengths differ, which costs no call */
    return rw_word_is(text, token, lower);
}

#endif
