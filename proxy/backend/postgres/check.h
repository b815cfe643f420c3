/*
 * check: a statement behind rows whose clients were told already how many are stored: it fails if a
 * trigger or a rule may have left some out. The INSERTs hold locks against new triggers and rules.
 */
#ifndef PX_CHECK_H
#define PX_CHECK_H

#include "proxy/backend/base/write_group.h"

/* Whether any of the write groups needs the check (px_write_group.told). */
bool px_check_wanted(px_write_group *const *write_groups, size_t count);
/* Appends the check as a statement for the tables of the write groups, which all have the same
 * tables. It fails with the error that px_error_is_changed() knows. */
void px_check_write_text(px_write_group *const *write_groups, size_t count, pgw_buf *out);
/* Appends Bind and Execute of the check that is prepared on the link; `prepares`: its Parse first.
 */
void px_check_write_piped(px_write_group *const *write_groups, size_t count, bool prepares,
                          pgw_buf *out);

#endif
