/*
 * server: a state machine for the server side of protocol 3.0 after the login, for a backend that
 * runs one text at a time. It takes the client's messages and gives replies and actions, as
 * PostgreSQL 15 would (src/backend/tcop/postgres.c; protocol documentation, "Message Flow").
 */
#ifndef PGW_SERVER_H
#define PGW_SERVER_H

#include "ydb/server/action.h"

/*
 * Statements, portals, row limits, groups that are one transaction, failed transactions and
 * skipping until Sync are kept here; the caller reads SQL and values, and does all I/O:
 *
 *     while ((action = pgw_server_next(server)).ask != PGW_ASK_CLOSE)
 *         do it, and answer by exactly one of the calls below; RUN and RESUME: by columns and rows,
 *         as many as are wanted, and then completed or failed;
 *
 * Every call answers the action that was asked last. Replies may be sent at any time, and must be
 * when there is nothing else to do. FunctionCall and ROLLBACK TO SAVEPOINT are refused (0A000).
 * Other than in PostgreSQL, a portal or cursor sees the rows that there are when it is first run,
 * not when it was bound or declared; and a statement that EXECUTE or FETCH runs may fail after its
 * columns and first rows, where PostgreSQL has all rows before it gives any.
 */

/* Statements and portals together take at most `limit` bytes. Freed by pgw_server_free(). */
pgw_server *pgw_server_new(pgw_cut *cut, void *cut_data, size_t limit);
/* Allowed at any time; PGW_ASK_END does not come for runs that are live. */
void pgw_server_free(pgw_server *server);

/* The action to be done now; it stays the same until it is answered. */
PGW_MUST_CHECK pgw_action pgw_server_next(const pgw_server *server);

/* Answers MESSAGE with a whole message; its body must not move until the next is asked for. */
void pgw_server_message(pgw_server *server, char type, pgw_slice body);
/* Answers MESSAGE for one that is too long to be looked at: the client is told this error. */
void pgw_server_overlong(pgw_server *server, char type, const pgw_error *error);
/* Answers ANALYZE with the types of all parameters, also those that were declared, and the body of
 * a RowDescription (empty: the statement returns no rows). All are copied. */
void pgw_server_analyzed(pgw_server *server, const uint32_t *types, size_t count,
                         pgw_slice columns);
/* Tells the body of a RowDescription, for RUN of a Query's statement before its rows. Another RUN
 * may tell it, too. False: it is not what analysis said, and the run was refused (0A000). */
bool pgw_server_columns(pgw_server *server, pgw_slice columns);
/* Gives a row for RUN or RESUME; {NULL, 0} is a NULL. False: the action is answered, for no more
 * rows are wanted, or the row was refused. */
PGW_MUST_CHECK bool pgw_server_row(pgw_server *server, const pgw_slice *cells, size_t count);
/* Answers RUN or RESUME when all rows have been given; the tag is PostgreSQL's. */
void pgw_server_completed(pgw_server *server, const char *tag);
/* Answers RUN of a COPY FROM STDIN: the client is asked for data of so many columns, which comes by
 * PUT until STORE; a failure in between fails the RUN. False: it was refused. */
PGW_MUST_CHECK bool pgw_server_copy_in(pgw_server *server, bool binary, size_t columns);
/* Whether the data of a COPY FROM STDIN is awaited, or a part of it is being taken. */
bool pgw_server_is_copying(const pgw_server *server);
/* RUN of a COPY TO STDOUT tells copy_out instead of columns and copy_bytes instead of rows, and
 * then completed. `bytes` are a row, or a header or trailer, and are sent as they are. */
void pgw_server_copy_out(pgw_server *server, bool binary, size_t columns);
void pgw_server_copy_bytes(pgw_server *server, pgw_slice bytes);
/* Answers BIND, END, BEGIN, MODES, COMMIT, ROLLBACK, SETTLE and PUT. */
void pgw_server_done(pgw_server *server);
/* Answers any action but CLOSE, and MESSAGE only while a COPY's data is awaited: it failed. A
 * position is one in the action's text, and is told as one in the client's. A failed run is over,
 * and a failed COMMIT ends the transaction. */
void pgw_server_failed(pgw_server *server, const pgw_error *error);
/* As pgw_server_failed(), with more fields after the error's own, each with its code and NUL. */
void pgw_server_failed_with(pgw_server *server, const pgw_error *error, pgw_slice fields);

/* The replies, whole messages, which the caller takes off. It may append whole messages, such as
 * NoticeResponse and ParameterStatus. */
pgw_buf *pgw_server_output(pgw_server *server);
/* `report` is called before each ReadyForQuery, and may append whole messages such as
 * ParameterStatus. NULL: none. */
void pgw_server_on_ready(pgw_server *server, pgw_report *report, void *data);
/* The transaction status that ReadyForQuery tells: 'I', 'T' or 'E'. */
char pgw_server_status(const pgw_server *server);

#endif
