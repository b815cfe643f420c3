/*
 * yql: prints CREATE TABLE in YQL, YDB's own language: the hash in front of the key, how the table
 * is cut and goes on being cut, its indexes and its TTL, which the PostgreSQL endpoint cannot say.
 */
#ifndef PX_COMMAND_YQL_H
#define PX_COMMAND_YQL_H

#include <stdio.h>

#include "config/config.h"
#include "rewrite/hash/table.h"

typedef struct px_yql {
    const rw_table *table;
    const cfg_ydb *settings;
    const cfg_capabilities *capabilities;
    const char *margin; /* stands before each line: "" or "-- " */
} px_yql;

/* The type of a column in YQL, as px_yql_print() writes it; NULL: none is known. */
const char *px_yql_type(const rw_table *table, const rw_column *column);
/* Prints a name in backquotes, as YQL writes it. */
void px_yql_name_print(const char *name, FILE *out);
/* Prints a comment with a column's default, an SQL expression, which YQL would read as something
 * else; `text` NULL: nothing. */
void px_yql_default_print(const char *text, FILE *out);
/* Prints the setting TTL of WITH, with `before` in front; nothing, if the table has none. */
void px_yql_ttl_print(const cfg_ydb *settings, const char *before, FILE *out);
void px_yql_print(const px_yql *yql, FILE *out);

#endif
