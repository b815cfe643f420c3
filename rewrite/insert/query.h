/*
 * query: INSERT … SELECT, TABLE, or VALUES with more than rows. The backend computes the hash of
 * each row, in the statement itself: the client's query becomes a subquery of one that adds it.
 */
#ifndef RW_QUERY_H
#define RW_QUERY_H

#include "rewrite/insert/parser.h"

/* Takes the query that begins at parser->query, up to ON CONFLICT, RETURNING or the end. */
PGW_MUST_CHECK rw_outcome rw_from_a_query(rw_parser *parser);

#endif
