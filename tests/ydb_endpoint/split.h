/*
 * split: how the endpoint cuts the text of a Query into pieces before anything parses it: like
 * psql, with psql's commands and variables, and with its own idea of where things end (1.5). Pure.
 */
#ifndef YE_SPLIT_H
#define YE_SPLIT_H

#include "protocol/bytes.h"

typedef enum ye_split_state {
    YE_IN_STATEMENT,
    YE_AFTER_STATEMENT, /* behind the `;`, in the same line */
    YE_IN_LINE_COMMENT,
    YE_IN_BLOCK_COMMENT,
    YE_IN_NAME,    /* "…" */
    YE_IN_STRING,  /* '…' */
    YE_IN_ESCAPES, /* E'…' */
    YE_IN_DOLLARS, /* $tag$…$tag$ */
    YE_IN_LINE,    /* \command or :variable, to the end of the line */
    YE_IN_COPY     /* data behind FROM STDIN; up to a line of \. */
} ye_split_state;

typedef struct ye_split {
    pgw_slice text;
    size_t at;
    size_t begun;         /* where the piece began */
    ye_split_state state; /* … */
    ye_split_state outer; /* what a comment stands in: YE_IN_STATEMENT or YE_AFTER_STATEMENT */
    unsigned depth;       /* of comments */
    bool fresh;           /* no string and no quoted name yet: `\` and `:` mean something */
    pgw_slice tag;        /* of the dollar quotes, both dollars included */
} ye_split;

ye_split ye_split_of(pgw_slice text);
/* The next piece, its `;` and a line feed at the end included, empty lines not. False: that was
 * all. */
bool ye_split_next(ye_split *split, pgw_buf *piece);

#endif
