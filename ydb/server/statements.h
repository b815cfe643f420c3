/*
 * statements: makes a text a statement of the session, for Parse, PREPARE and DECLARE: cuts,
 * analyzes and enters it under its name.
 */
#ifndef PGW_STATEMENTS_H
#define PGW_STATEMENTS_H

#include "ydb/server/machine.h"

/* The one statement of a text; EMPTY if it has none. False, refused: it has more, or wrong grammar.
 */
PGW_MUST_CHECK bool pgw_cut_one(pgw_server *server, pgw_slice source, pgw_piece *out);
/* Asks for the types and columns of server->parsed, where it can have any; `then` follows. */
void pgw_analyze(pgw_server *server, pgw_then *then);
/* Takes the answer to ANALYZE, as server.h describes it. */
void pgw_analyzed(pgw_server *server, const uint32_t *types, size_t count, pgw_slice columns);
/* Enters server->parsed under its name. False, refused: the name is taken. */
PGW_MUST_CHECK bool pgw_enter_parsed(pgw_server *server);
/* Whether EXECUTE may run the statement: transaction control, savepoints and orders may not. */
bool pgw_statement_can_be_executed(const pgw_statement *statement);
/* The statement that gives the rows of an EXECUTE or FETCH, if it is there already; else NULL. */
pgw_statement *pgw_statement_ordered(const pgw_server *server, const pgw_order *order,
                                     pgw_command command);
/* The statement of this name; NULL, refused, if there is none. */
pgw_statement *pgw_statement_of(pgw_server *server, pgw_slice name);

#endif
