/*
 * returning: RETURNING without the hash column: stars are written out, and where the name of
 * the table stands for a whole row, a row without it stands in its place.
 */
#ifndef RW_RETURNING_H
#define RW_RETURNING_H

#include "rewrite/insert/parser.h"

/* Parses the list behind RETURNING. */
PGW_MUST_CHECK rw_outcome rw_parse_returning(rw_parser *parser);

#endif
