/*
 * fields: a field of text or csv as PostgreSQL's COPY reads it, escapes and quotes taken away.
 */
#ifndef PGW_COPY_FIELDS_H
#define PGW_COPY_FIELDS_H

#include "protocol/copy/rows.h"

/* Reads `raw` in place: the result is no longer, and lies in the same bytes. `force` is of csv. */
pgw_copy_field pgw_copy_field_text(const pgw_copy_options *options, char *raw, size_t len);
pgw_copy_field pgw_copy_field_csv(const pgw_copy_options *options, unsigned force, char *raw, size_t len);

#endif
