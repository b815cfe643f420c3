/*
 * load: a COPY whose rows are stored in batches, each a COPY of its own that commits by itself:
 * rows are gathered by their partitions, and several batches are on their way at a time, over links
 * that are the load's alone. Nothing counts as committed before the server is ready for the next
 * query.
 */
#ifndef PX_LOAD_H
#define PX_LOAD_H

#include "proxy/backend/base/identity.h"
#include "proxy/loop/worker.h"

typedef struct px_load px_load;

enum {
    PX_LOAD_MOST = 24 << 20
}; /* bytes of rows that are not committed; more are not to be given then */

/* Functions that a load calls, which do not free it. */
typedef struct px_load_ops {
    void (*moved)(
        void *submitter); /* A batch was answered: it may be settled, or take more rows. */
    void (*notice)(void *submitter,
                   pgw_slice body); /* The server says something of a batch (NoticeResponse). */
} px_load_ops;

/* `statement` is the COPY as the server is to get it, copied; rows go to `partitions` places at
 * most. */
px_load *px_load_new(px_worker *worker, px_identity *identity, pgw_slice statement,
                     size_t partitions, const px_load_ops *ops, void *submitter);
/* Before any rows: each link runs `create` first, and `statement` has an INSERT behind its COPY,
 * whose tag counts. Batches of a partition are written one after the other, in the order of their
 * rows. */
void px_load_stage(px_load *load, pgw_slice create, pgw_slice statement);
/* Batches that are on their way are given up with their links. NULL is fine. */
void px_load_free(px_load *load);

/* What each batch begins and ends with, copied; `head` is `head_lines` lines. */
void px_load_frame(px_load *load, pgw_slice head, size_t head_lines, pgw_slice tail);
/* Bytes of the data for this partition, whose last line is number `line` of the client's data, and
 * which are `lines` lines. `begin`: so many bytes in front, the end of the line before, are left
 * away at the beginning of a batch. */
void px_load_add(px_load *load, size_t partition, pgw_slice bytes, size_t begin, uint64_t line,
                 uint64_t lines);
/* Adds what the server is to judge at the end of the data: a batch of its own, without the tail. */
void px_load_add_last(px_load *load, pgw_slice bytes, size_t begin, uint64_t line, uint64_t lines);
/* No more rows come: those that are gathered are written. May be called again. */
void px_load_finish(px_load *load);
/* Fails the load by an error of keyspread's, of which this is the body; `line` is the first that is
 * missing because of it. */
void px_load_refuse(px_load *load, pgw_slice body, uint64_t line);

bool px_load_is_full(const px_load *load);
/* Whether no batch is on its way, and none will be. */
bool px_load_is_settled(const px_load *load);
/* The body of the ErrorResponse by which the load has failed; empty: it has not. */
pgw_slice px_load_error(const px_load *load);
uint64_t px_load_committed(const px_load *load); /* rows */
/* The first line of the client's data of which it is not certain that all rows up to it are
 * committed; 0: all that were given are. */
uint64_t px_load_missing(const px_load *load);
/* The line of the client's data that is line `line` of the batch whose error, or notice, is at
 * hand. */
uint64_t px_load_line(const px_load *load, uint64_t line);

#endif
