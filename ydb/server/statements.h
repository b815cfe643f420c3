/*
 * statements: how a text becomes a statement of the session's: cut, analyzed, entered under its
 * name. Parse does it, and so do PREPARE and DECLARE.
 */
#ifndef PGW_STATEMENTS_H
#define PGW_STATEMENTS_H

#include "ydb/server/machine.h"

/* The one statement of a text; EMPTY if it has none. False, refused, if it has more, or is none. */
PGW_MUST_CHECK bool pgw_cut_one(pgw_server *server, pgw_slice source, pgw_piece *out);
/* Asks for the types and columns of `parsed`, where it can have any; `then` follows. */
void pgw_analyze(pgw_server *server, pgw_then *then);
/* The answer to ANALYZE, as server.h has it. */
void pgw_analyzed(pgw_server *server, const uint32_t *types, size_t count, pgw_slice columns);
/* `parsed` gets its name; false, refused, if that is taken. */
PGW_MUST_CHECK bool pgw_enter_parsed(pgw_server *server);
/* What transactions begin or end with, and what is an order itself, is not run by another. */
bool pgw_statement_can_be_executed(const pgw_statement *statement);
/* The statement that an EXECUTE's or FETCH's rows come from, as far as that can be told now; NULL:
 * there is none. */
pgw_statement *pgw_statement_ordered(const pgw_server *server, const pgw_order *order,
                                     pgw_command command);
/* What there is by a name; NULL, refused, if there is nothing. */
pgw_statement *pgw_statement_of(pgw_server *server, pgw_slice name);

#endif
