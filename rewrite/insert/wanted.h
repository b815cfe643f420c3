/*
 * wanted: cells of the key whose value only the backend can tell: defaults (a sequence's next
 * number, a random uuid, the time) and expressions. Here they are found; answers.h asks for them.
 */
#ifndef RW_WANTED_H
#define RW_WANTED_H

#include "rewrite/insert/parser.h"

/* Notes that the backend is to be asked for a column of the hash_key in row `row`, which is no
 * known constant there. False: it cannot be asked. */
PGW_MUST_CHECK bool rw_want(rw_parser *parser, size_t row, size_t column);
/* Refuses several rows of which one calls lastval(): numbers for all rows are drawn before the
 * statement runs. */
PGW_MUST_CHECK rw_outcome rw_check_last(rw_parser *parser);
/* Takes DEFAULT VALUES, one row of nothing but defaults. */
PGW_MUST_CHECK rw_outcome rw_want_defaults(rw_parser *parser);

#endif
