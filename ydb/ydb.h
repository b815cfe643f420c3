/*
 * ydb: the door to all that only YDB needs: its backend, CREATE TABLE in YQL, and what its
 * documentation advises. Built without YDB (KEYSPREAD_YDB=OFF), keyspread knows nothing behind it.
 */
#ifndef YDB_H
#define YDB_H

#include <stdio.h>

#include "config/config.h"
#include "proxy/backend/base/backend.h"
#include "rewrite/hash/table.h"

/* NULL: keyspread was built without YDB, and what follows prints nothing. */
const px_backend *px_ydb_backend(void);
/* Asks YDB's monitoring where partitions begin; NULL as above. */
const px_discovery_kind *px_ydb_places(void);

/* CREATE TABLE in YQL, with `margin` ("" or "-- ") in front of each line. */
void px_ydb_print_table(const cfg_config *config, const cfg_table *written, const rw_table *table,
                        const char *margin, FILE *out);
/* CREATE TABLE in YQL of a column-oriented table, and warnings about it. */
void px_ydb_print_columnar(const cfg_config *config, const cfg_table *table, FILE *out,
                           FILE *errors);
/* Warnings about one table, as `file:line: warning: …`. */
void px_ydb_advise_table(const cfg_config *config, const cfg_table *written, const rw_table *table,
                         FILE *errors);
/* Warnings about all tables whose columns are in the file; none unless the dialect is YDB's. */
void px_ydb_advise(const cfg_config *config, FILE *errors);

#endif
