/*
 * tail: what stands behind the rows: ON CONFLICT, whose target gains the hash column. What
 * UPSERT and REPLACE mean is added here.
 */
#ifndef RW_TAIL_H
#define RW_TAIL_H

#include "rewrite/insert/parser.h"

/* Parses ON CONFLICT and RETURNING, or adds what UPSERT and REPLACE mean; up to the end. */
PGW_MUST_CHECK rw_outcome rw_parse_tail(rw_parser *parser);

#endif
