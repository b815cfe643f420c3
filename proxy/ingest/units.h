/*
 * units: makes units of a text's rows, and of what is bound to a prepared statement: all of them in
 * one unit, or some of them (split.h).
 */
#ifndef PX_UNITS_H
#define PX_UNITS_H

#include "proxy/ingest/bind.h"
#include "proxy/ingest/owner.h"

/* The rows of a statement that go into a unit, in their order. */
typedef struct px_chosen {
    const size_t *rows; /* NULL: all but those that a later one supersedes */
    size_t count;
} px_chosen;

/* A unit of the chosen rows of a script's statement, or of all rows of several statements. It is
 * rendered when it travels. The caller is to set `done`. */
px_unit *px_unit_of_text(px_owner *owner, const px_standing *standing, px_text *text,
                         px_chosen chosen);

/* A unit of one statement into `table`, to which its keys are given. The caller is to say how it
 * travels, and to set `done`. */
px_unit *px_unit_of_rows(px_owner *owner, const px_standing *standing, const rw_table *table,
                         const px_catalog *catalog);
/* Gives the unit the keys of all its rows, which are in its arena. */
void px_unit_set_keys(px_unit *unit, px_unit_key *keys, size_t count);
/* What a row takes in a batch, beside its own bytes. */
enum { PX_UNIT_HASH_ROOM = 24 }; /* bytes of a hash, with commas */

/* A unit with room for so many executions of prepared statements, the first of which is of `plan`.
 * The caller is to set `done`. */
px_unit *px_unit_of_plan(px_owner *owner, const px_standing *standing, const px_plan *plan,
                         size_t executions, size_t rows);

/* The place of the plan among the unit's prepared statements, to which it is added if it is new. */
size_t px_unit_prepare(px_unit *unit, px_plan *plan);

/* A Bind that is executed. */
typedef struct px_execution {
    px_plan *plan; /* the plan of the statement that is bound */
    const pgw_bind *bind;
    uint32_t max_rows; /* the most rows to return, as Execute has it */
} px_execution;

/* Adds one more execution. False: the Bind would be too large. */
PGW_MUST_CHECK bool px_unit_add_bound(px_unit *unit, px_execution execution, const px_bound *bound,
                                      pgw_error *error);

#endif
