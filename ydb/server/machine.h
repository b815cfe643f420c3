/*
 * machine: the state of one session's server machine, and its elementary moves: to ask for an
 * action and go on when it has been done, to refuse, to be ready. query, extended and transaction
 * lead it from message to message.
 */
#ifndef PGW_MACHINE_H
#define PGW_MACHINE_H

#include "ydb/server/action.h"
#include "ydb/server/savepoints.h"

typedef void pgw_then(pgw_server *server);

/* The transaction: its status as the client sees it, and whether one is open at the backend. */
typedef enum pgw_block {
    PGW_BLOCK_NONE,     /* 'I': no transaction is open */
    PGW_BLOCK_IMPLICIT, /* 'I': one was opened for a group of statements, and ends with it */
    PGW_BLOCK_EXPLICIT, /* 'T': the client's transaction is open */
    PGW_BLOCK_FAILED    /* 'E': the client's transaction failed, and is rolled back already */
} pgw_block;

struct pgw_server {
    pgw_cut *cut;
    void *cut_data;
    pgw_prepared prepared;
    pgw_report *report; /* appends what is told in front of a ReadyForQuery; NULL: nothing */
    void *report_data;
    pgw_buf out; /* replies */

    pgw_action action;
    pgw_then *then;   /* called when the action is done */
    pgw_then *after;  /* called when a transaction has been opened, changed or ended */
    pgw_then *finish; /* called when the message is through; NULL: the next is asked for */

    pgw_block block;
    pgw_savepoints savepoints; /* savepoints of the client's transaction */
    bool extended; /* the message belongs to the extended protocol: its error skips to Sync */
    bool skipping; /* messages are skipped until Sync */
    char type;     /* type of the message; its body is the caller's until the next is asked for */
    pgw_slice body;
    pgw_error overlong; /* the error for a message that was too long to be looked at */

    pgw_statement *parsed; /* the statement under analysis, not entered yet */
    pgw_portal *bound;     /* the portal of a Bind whose parameters are being checked */
    pgw_portal *held; /* the portal of an Execute that waits for the next message (extended.h) */
    uint32_t held_limit;

    pgw_portal *running; /* the portal that is run; NULL: none */
    uint64_t rows;       /* rows that this Execute has given */

    const pgw_order *order; /* the order that is carried out (orders.h) */
    pgw_portal *orderer;    /* the portal whose statement is `order` */
    pgw_then *ordered;      /* called when `order` is carried out */
    uint32_t fetch_limit;   /* most rows of this Execute of a FETCH; 0: all */
    pgw_portal *fetched;    /* the cursor that a FETCH or MOVE runs, in the FETCH's formats */
    pgw_slice lent_results; /* the own result formats of `fetched`, which it gets back */
    bool moving;            /* MOVE: rows of `fetched` are passed over */

    bool copying;      /* the data of a COPY FROM STDIN is awaited, or taken (copying.h) */
    bool gives_data;   /* the portal that runs is a COPY TO STDOUT */
    pgw_then *copied;  /* called when the COPY FROM STDIN has been stored */
    pgw_slice details; /* more fields for the next ErrorResponse (pgw_server_failed_with()) */

    bool piped;     /* an Execute has been done in the transaction or group */
    bool unsettled; /* a SESSION was run while no transaction was open */

    pgw_piece control; /* the BEGIN, COMMIT or ROLLBACK under way */
    const char *control_tag;

    pgw_arena arena;   /* memory of the message at hand */
    pgw_script script; /* statements of the Query at hand */
    size_t at;         /* place in `script` of the statement that is run */
    pgw_portal lone;   /* the portal of that statement */
    pgw_statement lone_statement;
};

/* Asks for an action; `then` is called when it is done. The caller fills in the rest of it. */
void pgw_ask(pgw_server *server, pgw_asked ask, pgw_then *then);
void pgw_finish(pgw_server *server); /* the message is through */
void pgw_ready(pgw_server *server);  /* ReadyForQuery, and the message is through */
/* Keeps or undoes what SESSIONs have set without a transaction; `then` follows. */
void pgw_settle(pgw_server *server, bool keep, pgw_then *then);
/* Writes an ErrorResponse, rolls back an open transaction, and skips the rest of the group. Nothing
 * may be done with the message after it. */
void pgw_refuse(pgw_server *server, const pgw_error *error);
void pgw_refuse_malformed(pgw_server *server); /* 08P01 */
void pgw_refuse_failed(pgw_server *server);    /* 25P02 */
/* Lends a cursor to a FETCH or MOVE, whose formats it gets, until pgw_take_back(). */
void pgw_lend(pgw_server *server, pgw_portal *cursor, pgw_slice results, bool moving);
void pgw_take_back(pgw_server *server);
void pgw_warn(pgw_server *server, const char *sqlstate, const char *message);
/* Whether a text is valid UTF-8; else it is refused (22021). */
PGW_MUST_CHECK bool pgw_is_text(pgw_server *server, pgw_slice text);

#endif
