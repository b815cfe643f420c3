/*
 * hide: what PostgreSQL says about a configured table, less the hash column that the client does
 * not know of: error details, positions, parameter descriptions.
 */
#ifndef RW_HIDE_H
#define RW_HIDE_H

#include "rewrite/insert.h"

/* Rewrites the body of an ErrorResponse or NoticeResponse: `Key (h, k)=(1, 1)` and
 * `Failing row contains (…)` lose the hash where they parse safely (else the detail is kept as it
 * is), and P is mapped by rw_render_position (where a Query held several statements, `before` =
 * characters of the client's text before this one; `rendered_before` = those of the sent text).
 * `hash_position` is the hash column's ordinal among the table's live columns (for Failing row). */
void rw_hide_error(pgw_slice body, const rw_insert *insert, rw_hash_form form,
                   const uint64_t *hashes, size_t before, size_t rendered_before, pgw_buf *out);

#endif
