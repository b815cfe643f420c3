/*
 * token_edits: how a statement is to be written so that what it shows of a configured table is
 * without the hash column: `*` becomes a list of columns.
 */
#ifndef RW_TOKEN_EDITS_H
#define RW_TOKEN_EDITS_H

#include "rewrite/lex/lexer.h"

/* `text` comes at byte `at` of a statement, in the place of `cut` bytes of it. */
typedef struct rw_change {
    size_t at, cut;
    pgw_slice text;
    size_t from; /* the byte, from 1, of the statement that an error in `text` is reported at; 0:
                    `at` */
    bool moved;  /* `text` is the client's own text that begins at `from` */
    uint32_t undeclared; /* made only if this parameter, from 1, has no declared type; 0: always */
} rw_change;

/* A change by tokens: the text stands in the place of the tokens from `from` up to `to`, counted
 * from 0. */
typedef struct rw_token_edit {
    uint32_t from, to;
    uint32_t wraps; /* 1 + the token of a table's name, if the text ends the subquery in its place;
                       0: it does not */
    uint32_t text, len; /* place in the bytes behind the list; a blank at either end of the text may
                           be left out */
} rw_token_edit;

/* All changes of a statement, in the order of the text, found in its tree (hidden_stars.h), the
 * same for each text of its shape. The map has no pointers, so that it can be kept. */
typedef struct rw_token_edits {
    size_t size; /* bytes, with the texts behind the list */
    uint32_t count;
    rw_token_edit list[];
} rw_token_edits;

/* A copy of the map, freed by free(). */
rw_token_edits *rw_token_edits_copy(const rw_token_edits *map);
/* Whether a subquery stands in the place of the table whose name begins with this token; then, the
 * last of those in the subquery. `map` NULL: none does. */
bool rw_token_edits_wrap(const rw_token_edits *map, uint32_t name, uint32_t *last);
/* What is changed in a statement, at whose begin the lexer is, that has this map. Allocated in
 * `arena`, with its texts. */
size_t rw_token_edits_read(const rw_token_edits *map, rw_lexer lexer, pgw_arena *arena,
                           rw_change **out);

#endif
