/*
 * timeouts: the timeouts in a startup packet's options ("-c name=value --name=value"). They make no
 * difference to a batch: the session or its own link keeps them.
 */
#ifndef PX_TIMEOUTS_H
#define PX_TIMEOUTS_H

#include "protocol/bytes.h"

/* Appends `options` (NULL: none) without the timeouts. */
void px_timeouts_cut(const char *options, pgw_buf *out);
/* Whether `options` set statement_timeout, which `ms` gets then; 0: no timeout. */
bool px_timeouts_statement(const char *options, uint64_t *ms);
/* A time as the server reads and shows it where milliseconds are the write group ("1.5 s", "2min",
 * "500"); 0 where it is none. */
uint64_t px_timeouts_read(pgw_slice text);

#endif
