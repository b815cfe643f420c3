/*
 * upsert_text: the texts of INSERT … ON CONFLICT on YDB: which rows are there already, the INSERT
 * of those that are not, the UPDATE of the others, and what RETURNING shows of them.
 */
#ifndef RW_UPSERT_TEXT_H
#define RW_UPSERT_TEXT_H

#include "ydb/plain/conflict.h"

/* What becomes of a row. */
typedef enum rw_fate {
    RW_FATE_OPEN,
    RW_FATE_INSERTED,
    RW_FATE_MET, /* it is there already: updated, if WHERE does not leave it out */
    RW_FATE_UPDATED,
    RW_FATE_LEFT
} rw_fate;

/* Of a single row: a row if it is there; 1 or 0, whether WHERE holds. Of several, one each: its
 * number, from 0; the number of the first with the same key; and 1 or 0, whether that is there. */
void rw_weave_met(const rw_conflict *conflict, rw_weave *out);
/* The numbers of those rows from `*at` on that are met and for which WHERE holds; as many as a text
 * holds. Moves `*at` behind them. */
void rw_weave_holding(const rw_conflict *conflict, const unsigned char *fates, size_t *at,
                      rw_weave *out);
/* Moves `*at`, which counts cells row by row, to the next one that is not inserted and whose column
 * may not take it; false: there is none. */
PGW_MUST_CHECK bool rw_skip_to_unsure(const rw_conflict *conflict, const unsigned char *fates,
                                      size_t *at);
/* Such cells from `*at` on, as their columns have them; as many as a text holds. Moves `*at` behind
 * them. */
void rw_weave_check(const rw_conflict *conflict, const unsigned char *fates, size_t *at,
                    rw_weave *out);
/* The INSERT of those whose fate it is; of all, if `fates` is NULL. */
void rw_weave_insert(const rw_conflict *conflict, const unsigned char *fates, rw_weave *out);
/* The UPDATE of the next row from `*at` on whose fate it is, or of as many as a text holds where
 * the endpoint takes FROM. Moves `*at` behind it. */
void rw_weave_update(const rw_conflict *conflict, const unsigned char *fates, size_t *at,
                     rw_weave *out);
/* What RETURNING gives for those that are inserted or updated. */
void rw_weave_shown(const rw_conflict *conflict, const unsigned char *fates, rw_weave *out);

#endif
