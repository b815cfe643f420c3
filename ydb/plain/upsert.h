/*
 * upsert: INSERT … ON CONFLICT step by step: it asks which rows are there already, inserts the
 * others and updates those, all in one serializable transaction.
 */
#ifndef RW_UPSERT_H
#define RW_UPSERT_H

#include "ydb/plain/conflict.h"

typedef struct rw_upsert rw_upsert;

/* Plans a statement with ON CONFLICT. NULL: it cannot be done, and the error is filled. What
 * belongs to the reading's arena, the subject's text, clauses and options must live as long. */
rw_upsert *rw_upsert_new(const rw_subject *subject);
void rw_upsert_free(rw_upsert *upsert);

/* These functions do what those of program.h with the same names do. */
size_t rw_upsert_bytes(const rw_upsert *upsert); /* bytes without the arena's */
bool rw_upsert_is_single(const rw_upsert *upsert);
bool rw_upsert_is_repeatable(const rw_upsert *upsert);
PGW_MUST_CHECK bool rw_upsert_next(rw_upsert *upsert, rw_step *step);
PGW_MUST_CHECK bool rw_upsert_row(rw_upsert *upsert, const pgw_slice *cells, size_t count,
                                  pgw_error *error);
void rw_upsert_stepped(rw_upsert *upsert);
PGW_MUST_CHECK bool rw_upsert_failed(rw_upsert *upsert, const char *sqlstate);
PGW_MUST_CHECK bool rw_upsert_was_overtaken(rw_upsert *upsert, const char *sqlstate);
void rw_upsert_rewind(rw_upsert *upsert);
/* The number of rows that PostgreSQL's tag counts. */
size_t rw_upsert_count(const rw_upsert *upsert);

#endif
