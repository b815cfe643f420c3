/*
 * log: one line an event to stderr, logfmt. Never statement text, parameters, passwords or what
 * the backend said: SQLSTATE, table and counts are what an operator needs.
 */
#ifndef PX_LOG_H
#define PX_LOG_H

#include "config/config.h"

void px_log_level(cfg_log_level level); /* atomic; before it is called, info */
/* px_log(CFG_LOG_INFO, "ready", "listen=%s workers=%u", …) prints
 * `time=2026-01-01T00:00:00.000Z level=info event=ready listen=… workers=…`. One write a line.
 * The format is of fields `key=value` with a blank between two, of printf's conversions has %s %u
 * %d %zu %ld %lu %llu %.1f, and needs no quotes: whatever a value is made of, it is quoted and
 * escaped where it must be, and cannot end its field or the line. */
void px_log(cfg_log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
