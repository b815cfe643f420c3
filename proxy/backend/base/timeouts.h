/*
 * timeouts: those in a startup packet's options ("-c name=value --name=value …"), which make no
 * difference to a batch: the session keeps them, or its own link does.
 */
#ifndef PX_TIMEOUTS_H
#define PX_TIMEOUTS_H

#include "protocol/bytes.h"

/* Appends `options` (NULL = none) without them. */
void px_timeouts_cut(const char *options, pgw_buf *out);
/* Whether they set statement_timeout, which `ms` gets then: 0 = none. */
bool px_timeouts_statement(const char *options, uint64_t *ms);
/* A time as the server reads and shows it where milliseconds are the unit ("1.5 s", "2min", "500");
 * 0 where it is none. */
uint64_t px_timeouts_read(pgw_slice text);

#endif
