/*
 * typmods: "typmods like varchar(20) are not stored in CREATE (read; effect uncertain)" (2 Type
 * names): the CREATE TABLE without them.
 */
#ifndef YE_TYPMODS_H
#define YE_TYPMODS_H

#include "protocol/bytes.h"

#include <pg_query/pg_query.pb-c.h>

/* The text of the CREATE TABLE, the only statement of the tree, without its columns' typmods, and a
 * NUL, in `out`. False: it is another statement, and nothing is written. */
PGW_MUST_CHECK bool ye_typmods_drop(PgQuery__ParseResult *tree, pgw_buf *out);

#endif
