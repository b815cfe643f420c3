/*
 * texts: rows that travel as text: the Query of an attempt, in which they are merged into one
 * statement, or keep statements of their own.
 */
#ifndef PX_POSTGRES_TEXTS_H
#define PX_POSTGRES_TEXTS_H

#include "proxy/backend/base/writer.h"

/* Appends each statement of the write group as it stands in a batch: its rows, or its messages. */
void px_write_statements(const px_write_group *write_group, const char *separator, pgw_buf *out);
/* Appends a Query that merges all rows into one VALUES list. It fails unless all are stored, so
 * that each write group's tag may be counted from its rows. */
void px_write_merged(const px_attempt *attempt, pgw_buf *out);
/* Appends one Query with the texts of all write groups. A text may end in a comment. */
void px_write_texts(px_write_group *const *write_groups, size_t count, pgw_buf *out);

#endif
