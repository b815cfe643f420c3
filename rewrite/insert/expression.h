/*
 * expression: a cell of a VALUES row. Constants, parameters and casts are understood; of the rest
 * it is only found where it ends and whether rows that hold it may be merged.
 */
#ifndef RW_EXPRESSION_H
#define RW_EXPRESSION_H

#include "rewrite/insert/parser.h"

/* Parses the cell that begins here, up to its ',' or ')'. `wanted`: the value's text, too. */
PGW_MUST_CHECK rw_outcome rw_parse_cell(rw_parser *parser, bool wanted, rw_cell *cell);

#endif
