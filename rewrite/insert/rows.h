/*
 * rows: the rows behind VALUES: their cells, their number, and whether the hash of each can
 * be computed.
 */
#ifndef RW_ROWS_H
#define RW_ROWS_H

#include "rewrite/insert/parser.h"

/* From the '(' of the first row behind VALUES to behind the last, and `depth` more ')'. */
PGW_MUST_CHECK rw_outcome rw_parse_rows(rw_parser *parser, size_t depth);

#endif
