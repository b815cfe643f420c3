/*
 * write groups: makes write groups of a text's rows, and of what is bound to a prepared statement:
 * all of them in one write group, or some of them (split.h).
 */
#ifndef PX_WRITE_GROUPS_H
#define PX_WRITE_GROUPS_H

#include "proxy/ingest/bind.h"
#include "proxy/ingest/submitter.h"

/* The rows of a statement that go into a write group, in their order. */
typedef struct px_chosen {
    const size_t *rows; /* NULL: all but those that a later one supersedes */
    size_t count;
} px_chosen;

/* A write group of the chosen rows of a script's statement, or of all rows of several statements.
 * It is rendered when it travels. The caller is to set `done`. */
px_write_group *px_write_group_of_text(px_submitter *submitter, const px_standing *standing,
                                       px_text *text, px_chosen chosen);

/* A write group of one statement into `table`, to which its keys are given. The caller is to say
 * how it travels, and to set `done`. */
px_write_group *px_write_group_of_rows(px_submitter *submitter, const px_standing *standing,
                                       const rw_table *table, const px_catalog *catalog);
/* Gives the write group the keys of all its rows, which are in its arena. */
void px_write_group_set_keys(px_write_group *write_group, px_write_group_key *keys, size_t count);
/* What a row takes in a batch, beside its own bytes. */
enum { PX_WRITE_GROUP_HASH_ROOM = 24 }; /* bytes of a hash, with commas */

/* A write group with room for so many executions of prepared statements, the first of which is of
 * `plan`. The caller is to set `done`. */
px_write_group *px_write_group_of_plan(px_submitter *submitter, const px_standing *standing,
                                       const px_plan *plan, size_t executions, size_t rows);

/* The place of the plan among the write group's prepared statements, to which it is added if it is
 * new. */
size_t px_write_group_prepare(px_write_group *write_group, px_plan *plan);

/* A Bind that is executed. */
typedef struct px_execution {
    px_plan *plan; /* the plan of the statement that is bound */
    const pgw_bind *bind;
    uint32_t max_rows; /* the most rows to return, as Execute has it */
} px_execution;

/* Adds one more execution. False: the Bind would be too large. */
PGW_MUST_CHECK bool px_write_group_add_bound(px_write_group *write_group, px_execution execution,
                                             const px_bound *bound, pgw_error *error);

#endif
