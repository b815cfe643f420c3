/*
 * splitter: a text split into its statements at the semicolons that PostgreSQL would cut at, and
 * for each the words that matter for what it may do. Knows no more grammar than that.
 */
#ifndef RW_SPLITTER_H
#define RW_SPLITTER_H

#include "rewrite/lex/lexer.h"

/* Words found behind the first one, outside strings and comments. */
typedef enum rw_piece_mark {
    RW_MARK_WRITE = 1 << 0,     /* INSERT, UPDATE, DELETE, MERGE, UPSERT, REPLACE, COPY */
    RW_MARK_INTO = 1 << 1,      /* INTO not behind such a word: SELECT … INTO */
    RW_MARK_TEMPORARY = 1 << 2, /* CREATE TEMP …, INTO TEMP …, pg_temp where something is made */
    RW_MARK_SET_CONFIG = 1 << 3, /* the name set_config */
    RW_MARK_ADVISORY = 1 << 4,   /* names such as pg_advisory_lock, pg_try_advisory_lock */
    RW_MARK_HOLD = 1 << 5,       /* WITH HOLD */
    RW_MARK_ATOMIC = 1 << 6,     /* BEGIN ATOMIC: semicolons inside did not cut */
    RW_MARK_OPAQUE = 1 << 7,   /* a token that is not PostgreSQL's, or a name written as U&"…" */
    RW_MARK_SETTINGS = 1 << 8, /* pg_settings, which can be updated */
    RW_MARK_CALLS = 1 << 9,    /* a call of a function that is not known to be harmless */
    RW_MARK_KEEPS = 1 << 10,   /* a call that leaves something in the link: setseed, currval */
    RW_MARK_DRAWS = 1 << 11,   /* a call that uses a sequence: currval, nextval, setval */
    RW_MARK_RESETS = 1 << 12,  /* a call that sets a sequence: setval */
    RW_MARK_WHERE = 1 << 13    /* WHERE */
} rw_piece_mark;

typedef struct rw_piece {
    size_t start, end; /* bytes from the first token's begin to the last one's end */
    size_t tokens;
    unsigned marks;
} rw_piece;

/* The next statement that is not empty; false at the end. Behind a token that is not PostgreSQL's
 * everything belongs to the last piece. */
PGW_MUST_CHECK bool rw_split_next(rw_lexer *lexer, rw_piece *piece);

#endif
