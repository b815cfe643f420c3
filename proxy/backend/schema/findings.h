/*
 * findings: what was found out about a database's configured tables, so that it is told once and
 * not at each reading: why one cannot be worked with, and what a sample of its rows said.
 */
#ifndef PX_FINDINGS_H
#define PX_FINDINGS_H

#include "config/config.h"
#include "proxy/base/metrics.h"
#include "rewrite/hash/table.h"

typedef struct px_finding px_finding;

/* All zero at the start. */
typedef struct px_findings {
    px_finding *first, *last; /* of all; that was asked for */
} px_findings;

void px_findings_free(px_findings *findings);

/* Takes a new picture of a table to heart, and logs why it cannot be worked with, if that is new.
 * True if a sample of its rows is to be read: none was since the table was made and has this hash
 * rule, or what it said would stop all writes and is old. Else what it said is in
 * `table->unusable`. `now` is px_worker_now(). */
bool px_findings_meet(px_findings *findings, const char *label, rw_table *table, uint64_t now);
/* A table has the name of a pattern and is none of it, which is logged once. */
void px_findings_unspread(px_findings *findings, const char *label);
/* A sample is to be read again, whatever has changed or not. */
bool px_findings_old(const px_findings *findings, uint64_t now);
/* All tables that are there were met: what was found of others is forgotten. */
void px_findings_looked(px_findings *findings, uint64_t now);
/* A sample of the table's rows could not be read: what was found before holds. `settled`: it need
 * not be tried again. */
void px_findings_keep(px_findings *findings, const char *label, rw_table *table, bool settled);
/* Of `rows` rows `wrong` have a hash that the rule does not give them. */
void px_findings_judge(px_findings *findings, const char *label, rw_table *table, unsigned rows,
                       unsigned wrong, px_metrics *metrics);

#endif
