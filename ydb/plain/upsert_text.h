/*
 * upsert_text: the texts of INSERT … ON CONFLICT on YDB: the question which rows are there already,
 * the INSERT of the others, the UPDATE, and what RETURNING shows.
 */
#ifndef RW_UPSERT_TEXT_H
#define RW_UPSERT_TEXT_H

#include "ydb/plain/conflict.h"

/* What becomes of a row. */
typedef enum rw_fate {
    RW_FATE_OPEN,
    RW_FATE_INSERTED,
    RW_FATE_MET, /* the row is there already: updated, if WHERE does not leave it out */
    RW_FATE_UPDATED,
    RW_FATE_LEFT
} rw_fate;

/* Asks which rows are there already. For a single row, the answer is a row if it is there: 1 or 0,
 * whether WHERE holds. For several, it is a row for each: its number, from 0; the number of the
 * first with the same key; and 1 or 0, whether that is there. */
void rw_weave_met(const rw_conflict *conflict, rw_weave *out);
/* Asks for the numbers of the rows from `*at` on that are met and for which WHERE holds; as many as
 * a text holds. Moves `*at` behind them. */
void rw_weave_holding(const rw_conflict *conflict, const unsigned char *fates, size_t *at,
                      rw_weave *out);
/* Moves `*at`, which counts cells row by row, to the next cell that only a check evaluates: its row
 * is not inserted, and its column may not take it. False: there is none. */
PGW_MUST_CHECK bool rw_skip_to_unsure(const rw_conflict *conflict, const unsigned char *fates,
                                      size_t *at);
/* Evaluates such cells from `*at` on, as their columns have them; as many as a text holds. Moves
 * `*at` behind them. */
void rw_weave_check(const rw_conflict *conflict, const unsigned char *fates, size_t *at,
                    rw_weave *out);
/* Weaves the INSERT of the rows with RW_FATE_INSERTED; of all rows, if `fates` is NULL. */
void rw_weave_insert(const rw_conflict *conflict, const unsigned char *fates, rw_weave *out);
/* Weaves the UPDATE of the row at `*at`, or of as many rows with RW_FATE_UPDATED as a text holds
 * where the endpoint takes FROM. Moves `*at` behind them. */
void rw_weave_update(const rw_conflict *conflict, const unsigned char *fates, size_t *at,
                     rw_weave *out);
/* Weaves the query that gives RETURNING's rows: those that are inserted or updated. */
void rw_weave_shown(const rw_conflict *conflict, const unsigned char *fates, rw_weave *out);

#endif
