/*
 * part_names: what PostgreSQL says of a partition, said of the table: an application knows neither
 * events_p7 nor events_p7_pkey, but events and events_pkey.
 */
#ifndef RW_PART_NAMES_H
#define RW_PART_NAMES_H

#include "protocol/error.h"
#include "rewrite/hash/table.h"

/* The table that an error's fields name, or a partition of; NULL: none of these. */
const rw_table *rw_part_table(const rw_table *const *tables, size_t count, pgw_slice body);
/* Rewrites the body of an ErrorResponse or NoticeResponse that names a partition of one of the
 * tables in its fields: these, and the names in its message. False: it names none, and nothing was
 * written. */
bool rw_part_names(const rw_table *const *tables, size_t count, pgw_slice body, pgw_buf *out);

#endif
