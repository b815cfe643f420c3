/*
 * ydb: the only way to the code that only YDB needs: its backend, CREATE TABLE in YQL, and the
 * advice of its documentation. Without YDB (KEYSPREAD_YDB=OFF), ydb/without takes its place.
 */
#ifndef YDB_H
#define YDB_H

#include <stdio.h>

#include "config/config.h"
#include "proxy/backend/base/backend.h"
#include "rewrite/hash/table.h"

/* The kind of backend; NULL: keyspread was built without YDB, and the functions below do nothing.
 */
const px_backend *px_ydb_backend(void);
/* Discovers partitions by YDB's monitoring; NULL: keyspread was built without YDB. */
const px_discovery_kind *px_ydb_places(void);

/* Prints CREATE TABLE in YQL, with `margin` ("" or "-- ") in front of each line. */
void px_ydb_print_table(const cfg_config *config, const cfg_table *written, const rw_table *table,
                        const char *margin, FILE *out);
/* Prints CREATE TABLE in YQL of a column-oriented table, and warnings about it. */
void px_ydb_print_columnar(const cfg_config *config, const cfg_table *table, FILE *out,
                           FILE *errors);
/* Prints warnings about one table, such as `file:line: warning: table t: reason`. */
void px_ydb_advise_table(const cfg_config *config, const cfg_table *written, const rw_table *table,
                         FILE *errors);
/* Prints warnings about all tables whose columns are in the file; none unless the dialect is YDB's.
 */
void px_ydb_advise(const cfg_config *config, FILE *errors);

#endif
