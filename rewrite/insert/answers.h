/*
 * answers: the statement with what the backend answered (question.h) in the place of the wanted
 * cells of its key, as if its client had written them.
 */
#ifndef RW_ANSWERS_H
#define RW_ANSWERS_H

#include "rewrite/insert/question.h"

/* A piece of the filled text that replaces bytes of the client's text. */
typedef struct rw_edit {
    size_t at, removed; /* bytes of the client's text */
    size_t added;       /* bytes of the filled text */
} rw_edit;

/* A statement whose wanted cells are all filled. */
typedef struct rw_filled {
    pgw_slice text; /* a NUL stands behind it */
    rw_edit *edits; /* edits in the order of the text */
    size_t count;
    size_t *cells; /* offset of the parameter for each wanted cell; NULL: constants stand there */
    pgw_slice client; /* the statement's text as the client sent it */
} rw_filled;

/* Drops the wanted cells that are constants, where errors in them must come before any value is
 * asked for; hashes of their rows then cannot be computed. */
void rw_forgo_constants(rw_insert *insert);
/* Fills the statement with an answer for each wanted cell, as constants. False: a column cannot be
 * assigned its answer, and `error` says so. */
PGW_MUST_CHECK bool rw_fill(const rw_insert *insert, const rw_answer *answers, pgw_arena *arena,
                            rw_filled *out, pgw_error *error);
/* Fills the wanted cells with parameters $first, $first + 1, … of their columns' types. */
void rw_fill_parameters(const rw_insert *insert, size_t first, pgw_arena *arena, rw_filled *out);
/* Maps byte `at` of the filled text to a byte offset in the client's text. */
size_t rw_filled_offset(const rw_filled *filled, size_t at);
/* Maps a position (characters, from 1) in the filled text to the client's; 0 stays 0. */
size_t rw_filled_position(const rw_filled *filled, size_t position, bool utf8);

#endif
