/*
 * check: what a transaction looks at behind its rows whose clients were told already how many they
 * store: whether a trigger or a rule may have left some out. Their INSERTs hold locks by which
 * nobody makes one meanwhile.
 */
#ifndef PX_CHECK_H
#define PX_CHECK_H

#include "proxy/backend/base/unit.h"

/* Whether the clients of any of them were told. */
bool px_check_wanted(px_unit *const *units, size_t count);
/* Appends the statement for the tables of the units, which all have the same. It fails as one that
 * met other columns does (px_error_is_changed()). */
void px_check_write_text(px_unit *const *units, size_t count, pgw_buf *out);
/* Appends Bind and Execute of the one that is prepared on the link; `prepares`: a Parse first. */
void px_check_write_piped(px_unit *const *units, size_t count, bool prepares, pgw_buf *out);

#endif
