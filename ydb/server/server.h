/*
 * server: a server's half of protocol 3.0 behind the login, for a backend that runs one text at a
 * time and has none: the client's messages in, replies and actions out, as PostgreSQL 15 would
 * (src/backend/tcop/postgres.c; protocol documentation, "Message Flow"). Statements, portals, row
 * limits, groups that are one transaction, failed transactions and skipping until Sync are kept
 * here; what SQL says, what values mean and all I/O are others'.
 *
 *     while ((action = pgw_server_next(server)).ask != PGW_ASK_CLOSE)
 *         do it, and answer by exactly one of the calls below; RUN and RESUME: by columns and rows,
 *         as many as are wanted, and then completed or failed;
 *
 * No call needs the answer to another action than the last that was asked. Replies may be sent at
 * any time, and must be when there is nothing else to do. FunctionCall is refused (0A000), and so
 * is ROLLBACK TO SAVEPOINT. What is another
 * than PostgreSQL's: a portal or cursor sees the rows that there are when it is first run, not when
 * it was bound or declared; and what EXECUTE and FETCH run may fail behind its columns and first
 * rows, where PostgreSQL has all rows before it gives any.
 */
#ifndef PGW_SERVER_H
#define PGW_SERVER_H

#include "ydb/server/action.h"

/* Statements and portals together take at most `limit` bytes. Ended by pgw_server_free(). */
pgw_server *pgw_server_new(pgw_cut *cut, void *cut_data, size_t limit);
void pgw_server_free(pgw_server *server); /* at any time; live runs are not told */

/* What is to be done now: until it is answered, always the same. */
PGW_MUST_CHECK pgw_action pgw_server_next(const pgw_server *server);

/* MESSAGE: a whole message; its body stays where it is until the next is asked for. */
void pgw_server_message(pgw_server *server, char type, pgw_slice body);
/* MESSAGE: one that is too long to be looked at; this is the answer, as to a statement. */
void pgw_server_overlong(pgw_server *server, char type, const pgw_error *error);
/* ANALYZE: the types of all parameters, also those that were declared, and the body of a
 * RowDescription (empty: it returns no rows). All are copied. */
void pgw_server_analyzed(pgw_server *server, const uint32_t *types, size_t count,
                         pgw_slice columns);
/* RUN of a Query's statement, in front of its rows: the body of a RowDescription. Any other may say
 * it, too: if it is not what analysis said, the run is refused (0A000), and false returned. */
bool pgw_server_columns(pgw_server *server, pgw_slice columns);
/* RUN, RESUME: a row; {NULL, 0} is a NULL. False: no more rows are wanted, this is the answer. */
PGW_MUST_CHECK bool pgw_server_row(pgw_server *server, const pgw_slice *cells, size_t count);
/* RUN, RESUME: all rows have been given; the tag as PostgreSQL has it. */
void pgw_server_completed(pgw_server *server, const char *tag);
/* RUN of a COPY FROM STDIN: its client is asked for data of so many columns, which comes by PUT
 * until STORE; a failure in between is the answer to the RUN. False: it cannot be so, which was
 * told. */
PGW_MUST_CHECK bool pgw_server_copy_in(pgw_server *server, bool binary, size_t columns);
/* Whether the client's data is awaited, or looked at. */
bool pgw_server_is_copying(const pgw_server *server);
/* RUN of a COPY TO STDOUT: so, instead of columns and rows; what is `bytes` of a row, or of what
 * stands before and behind all rows, is sent as it is. Then completed. */
void pgw_server_copy_out(pgw_server *server, bool binary, size_t columns);
void pgw_server_copy_bytes(pgw_server *server, pgw_slice bytes);
/* BIND, END, BEGIN, MODES, COMMIT, ROLLBACK, SETTLE, PUT. */
void pgw_server_done(pgw_server *server);
/* Any of them cannot be done. A position is one in the text of the action, and is told as one in
 * the client's. A run that failed is over; a COMMIT that failed has closed the transaction. */
void pgw_server_failed(pgw_server *server, const pgw_error *error);
/* … with more fields behind the error's own, each with its code in front and its NUL behind. */
void pgw_server_failed_with(pgw_server *server, const pgw_error *error, pgw_slice fields);

/* The replies: whole messages, to be taken off at will. Whole messages may be put behind them:
 * NoticeResponse, ParameterStatus. */
pgw_buf *pgw_server_output(pgw_server *server);
/* Whole messages to stand in front of a ReadyForQuery, of which one is about to be sent:
 * ParameterStatus. NULL: none. */
void pgw_server_on_ready(pgw_server *server, pgw_report *report, void *data);
/* 'I', 'T' or 'E'. */
char pgw_server_status(const pgw_server *server);

#endif
