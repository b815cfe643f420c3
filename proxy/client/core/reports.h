/*
 * reports: what the server reports of settings while a Query is sent in parts. PostgreSQL tells a
 * client once, in front of ReadyForQuery, and only what has another value by then.
 */
#ifndef PX_REPORTS_H
#define PX_REPORTS_H

#include "protocol/bytes.h"

typedef struct px_report {
    char *name;
    char *before; /* value before the first report; NULL: not known */
    char *now;
} px_report;

typedef struct px_reports {
    px_report *all; /* one for each setting */
    size_t count;
} px_reports;

/* Keeps that `name` has become `now`. `before`: what its client was told last, which counts when it
 * is the first report of this setting; NULL: it is not known, unless it is one of on and off. */
void px_reports_keep(px_reports *reports, pgw_slice name, const char *before, pgw_slice now);
/* Appends a ParameterStatus for each setting that ends otherwise than it began, or that is not
 * known to end as it began. */
void px_reports_write(const px_reports *reports, pgw_buf *out);
void px_reports_free(px_reports *reports);

#endif
