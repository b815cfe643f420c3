/*
 * timeouts: those in a startup packet's options ("-c name=value --name=value …"), which make no
 * difference to a batch: the session keeps them, or its own link does.
 */
#ifndef PX_TIMEOUTS_H
#define PX_TIMEOUTS_H

#include "protocol/bytes.h"

/* Appends `options` (NULL = none) without them. */
void px_timeouts_cut(const char *options, pgw_buf *out);
/* The statement_timeout that they set, in milliseconds; 0 = none. */
uint64_t px_timeouts_statement(const char *options);

#endif
