/*
 * findings: what was found out about a database's configured tables, so that it is logged once and
 * not at each look: why a table cannot be worked with, and what a sample of its rows said.
 */
#ifndef PX_FINDINGS_H
#define PX_FINDINGS_H

#include "config/config.h"
#include "proxy/base/metrics.h"
#include "rewrite/hash/table.h"

typedef struct px_finding px_finding;

/* The findings about one database; all zero at the start. */
typedef struct px_findings {
    px_finding *first, *last; /* the list; the finding asked for last */
} px_findings;

void px_findings_free(px_findings *findings);

/* Takes a new picture of a table, and logs why the table cannot be worked with, if that is new.
 * True: a sample of its rows is to be read, for none was read of this table with this hash rule, or
 * its verdict stops all writes and is old. False: the verdict is in `table->unusable`. `now` is
 * px_worker_now(). */
bool px_findings_meet(px_findings *findings, const char *label, rw_table *table, uint64_t now);
/* Logs once that a table has the name of a pattern and no hash column in its primary key. */
void px_findings_unspread(px_findings *findings, const char *label);
/* Whether a sample is to be read again, also if no table has changed. */
bool px_findings_old(const px_findings *findings, uint64_t now);
/* All tables that exist were met: findings about others are forgotten. */
void px_findings_looked(px_findings *findings, uint64_t now);
/* A sample of the table's rows could not be read: what was found before holds. `settled`: reading
 * is not tried again. */
void px_findings_keep(px_findings *findings, const char *label, rw_table *table, bool settled);
/* Judges a sample of `rows` rows, of which `wrong` have another hash than the hash rule gives them.
 */
void px_findings_judge(px_findings *findings, const char *label, rw_table *table, unsigned rows,
                       unsigned wrong, px_metrics *metrics);

#endif
