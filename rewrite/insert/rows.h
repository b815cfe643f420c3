/*
 * rows: the rows behind VALUES: their cells, their number, and whether the hash of each can
 * be computed.
 */
#ifndef RW_ROWS_H
#define RW_ROWS_H

#include "rewrite/insert/parser.h"

/* Parses the rows from the first '(' behind VALUES to the end of the last, and `depth` more ')'. */
PGW_MUST_CHECK rw_outcome rw_parse_rows(rw_parser *parser, size_t depth);

#endif
