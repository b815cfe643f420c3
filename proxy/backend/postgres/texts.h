/*
 * texts: rows that travel as text: the Query of an attempt, in which they are merged into one
 * statement, or keep statements of their own.
 */
#ifndef PX_POSTGRES_TEXTS_H
#define PX_POSTGRES_TEXTS_H

#include "proxy/backend/base/writer.h"

/* What each statement of the unit brings along: rows, or messages. */
void px_write_statements(const px_unit *unit, const char *separator, pgw_buf *out);
/* All rows in one VALUES list, of a statement that fails unless they are all stored: else their
 * tags would be lies. */
void px_write_merged(const px_attempt *attempt, pgw_buf *out);
/* One Query for the texts of all. A comment may end a text. */
void px_write_texts(px_unit *const *units, size_t count, pgw_buf *out);

#endif
