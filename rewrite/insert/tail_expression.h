/*
 * tail_expression: expressions behind the rows, in SET, WHERE and RETURNING: where they end, and
 * what they do to merging.
 */
#ifndef RW_TAIL_EXPRESSION_H
#define RW_TAIL_EXPRESSION_H

#include "rewrite/insert/parser.h"

/* Takes one token, and notes a query, or a function not known here, which would see another state
 * in a merged statement. */
void rw_skip_tail_token(rw_parser *parser);
/* Takes tokens up to a word of the clause, or a ',' if `commas`, outside of brackets; false if
 * brackets do not pair. */
PGW_MUST_CHECK bool rw_skip_tail_expression(rw_parser *parser, bool commas);

#endif
