/*
 * errors: what PostgreSQL says of a statement that was changed on its way, as the client is to see
 * it: about its own text, without the hash; or in our words, where it was made to fail.
 */
#ifndef PX_ERRORS_H
#define PX_ERRORS_H

#include "config/config.h"
#include "proxy/client/core/kept.h"
#include "proxy/client/core/replies.h"

/* Writes what is told in the place of the server's error, if the statement failed because the table
 * has other columns than were known. */
bool px_error_changed(const char *table, pgw_slice body, pgw_error *error);
/* Writes into the error how many of the statement's rows are committed, where others met it. */
void px_error_count_rows(pgw_error *error, size_t committed, size_t rows);
/* Writes the body of an ErrorResponse or NoticeResponse about a text as the client may see it;
 * about statement `at` of the text, if it has no position. */
void px_error_of_text(const px_text *text, size_t at, pgw_slice body, pgw_buf *out);
/* Writes the body of an error or notice about a prepared statement. */
void px_error_of_plan(const px_plan *plan, pgw_slice body, pgw_buf *out);
/* Writes an error about a statement that asks for rows by their hash key, or changes it. */
void px_error_of_lookups(const px_lookups *lookups, pgw_slice body, pgw_buf *out);
/* Writes an error about a prepared statement that ran in a batch; its client calls the portal
 * `portal`. */
void px_error_of_portal(const px_plan *plan, pgw_slice portal, pgw_slice body, pgw_buf *out);
/* Writes an error about kept statement number `number` (from 1) of a transaction, without a
 * position. */
void px_error_of_kept(const px_kept_statement *statement, size_t number, pgw_slice body,
                      pgw_buf *out);
/* Writes an error about a statement that went as it was: it may name a configured table, of
 * `catalog` (NULL: none is known). */
void px_error_of_others(const px_catalog *catalog, pgw_slice body, pgw_buf *out);
/* Adds a hint to the body of an ErrorResponse that comes from a configured table's own guard (a row
 * came without its hash), or is about the right to write it (`wrote`: by what was sent with a
 * hash). Says of such a table what the body says of a partition of it, and never advises to name
 * its hash column. `catalog`: as above. */
void px_error_explain(px_worker *worker, const px_identity *identity, const px_catalog *catalog,
                      bool wrote, pgw_buf *body);
/* The error that is to be told in the place of the server's, where that is the one which was asked
 * for; NULL: the server's own. `reply`: what it answers (may be NULL). */
const pgw_error *px_error_refusal(const px_reply *reply, pgw_slice body);

#endif
