/*
 * weave: a text made of parts of a client's text and of what is put between them; and the way back
 * from a position in it to the client's.
 */
#ifndef RW_WEAVE_H
#define RW_WEAVE_H

#include "rewrite/plain/cursor.h"

/* Bytes of the woven text that are the client's own. */
typedef struct rw_strand {
    size_t at, from, length;
} rw_strand;

/* Begins as {.client = …}; the owner calls rw_weave_free(). */
typedef struct rw_weave {
    pgw_slice client;
    pgw_buf text;
    rw_strand *strands;
    size_t count, cap;
} rw_weave;

void rw_weave_clear(rw_weave *weave); /* keeps the memory */
void rw_weave_free(rw_weave *weave);
void rw_weave_own(rw_weave *weave, const char *text);
/* What was added behind the first `length` bytes is gone. */
void rw_weave_cut(rw_weave *weave, size_t length);
void rw_weave_client(rw_weave *weave, rw_part part);
/* Adds a blank, if there is none. */
void rw_weave_blank(rw_weave *weave);
/* … behind a blank, if there is none. */
void rw_weave_apart(rw_weave *weave, rw_part part);
/* Where in the client's text stands what is at this position (both in characters, from 1); 0: the
 * client did not write it. */
size_t rw_weave_position(const rw_weave *weave, size_t position, bool utf8);

#endif
