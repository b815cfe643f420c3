/*
 * weave: a text made of parts of a client's text and of what is put between them.
 */
#ifndef RW_WEAVE_H
#define RW_WEAVE_H

#include "ydb/plain/cursor.h"

/* Begins as {.client = …}; the owner calls rw_weave_free(). */
typedef struct rw_weave {
    pgw_slice client;
    pgw_buf text;
} rw_weave;

void rw_weave_clear(rw_weave *weave); /* keeps the memory */
void rw_weave_free(rw_weave *weave);
void rw_weave_own(rw_weave *weave, const char *text);
void rw_weave_client(rw_weave *weave, rw_part part);
/* Adds a blank, unless the text is empty or ends with one. */
void rw_weave_blank(rw_weave *weave);
/* Adds a part of the client's text, behind a blank if there is none yet. */
void rw_weave_apart(rw_weave *weave, rw_part part);

#endif
