/*
 * machine: the state of one session's server half, and its elementary moves: to ask for an action
 * and go on when it has been done, to refuse, to be ready. What leads from message to message is
 * above it (query, extended, transaction).
 */
#ifndef PGW_MACHINE_H
#define PGW_MACHINE_H

#include "ydb/server/action.h"
#include "ydb/server/savepoints.h"

typedef void pgw_then(pgw_server *server);

/* The transaction, as the client sees it and as it is behind. */
typedef enum pgw_block {
    PGW_BLOCK_NONE,     /* 'I', none is open */
    PGW_BLOCK_IMPLICIT, /* 'I', one was opened for a group of statements, and ends with it */
    PGW_BLOCK_EXPLICIT, /* 'T', open */
    PGW_BLOCK_FAILED    /* 'E', and rolled back already: none is open */
} pgw_block;

struct pgw_server {
    pgw_cut *cut;
    void *cut_data;
    pgw_prepared prepared;
    pgw_report *report; /* what is told in front of a ReadyForQuery */
    void *report_data;
    pgw_buf out; /* replies */

    pgw_action action;
    pgw_then *then;   /* what follows the action */
    pgw_then *after;  /* what follows the steps of a transaction */
    pgw_then *finish; /* what follows the message */

    pgw_block block;
    pgw_savepoints savepoints; /* of the client's transaction */
    bool extended; /* the message belongs to the extended protocol: its error skips to Sync */
    bool skipping;
    char type; /* the message; its body is the caller's until the next is asked for */
    pgw_slice body;
    pgw_error overlong; /* what is said of a message that was not looked at */

    pgw_statement *parsed; /* under analysis */
    pgw_portal *bound;     /* its parameters are being looked at */
    pgw_portal *held;      /* an Execute that waits for the next message, see extended.h */
    uint32_t held_limit;

    pgw_portal *running;
    uint64_t rows; /* that this Execute has given */

    const pgw_order *order; /* under way, see orders.h */
    pgw_portal *orderer;    /* that it is of */
    pgw_then *ordered;      /* what follows it */
    uint32_t fetch_limit;   /* of the Execute of a FETCH */
    pgw_portal *fetched;    /* whose rows are lent to a FETCH, which has its own … */
    pgw_slice lent_results; /* … formats instead of these */
    bool moving;            /* they are passed, not given */

    bool copying;      /* the data of a COPY FROM STDIN is awaited, or looked at (copying.h) */
    bool gives_data;   /* what runs is a COPY TO STDOUT */
    pgw_then *copied;  /* what follows the COPY */
    pgw_slice details; /* more fields for the error that is to be told */

    bool piped;     /* an Execute has been done in the transaction or group */
    bool unsettled; /* a SESSION was run while no transaction was open */

    pgw_piece control; /* BEGIN, COMMIT … under way */
    const char *control_tag;

    pgw_arena arena; /* of the message */
    pgw_script script;
    size_t at; /* the statement of the Query that is run */
    pgw_portal lone;
    pgw_statement lone_statement;
};

/* `then` is called when the action has been done; the caller fills in what else it is about. */
void pgw_ask(pgw_server *server, pgw_asked ask, pgw_then *then);
void pgw_finish(pgw_server *server); /* with this message */
void pgw_ready(pgw_server *server);  /* ReadyForQuery, and finish */
/* What SESSIONs have set without a transaction is kept or undone, and `then` follows. */
void pgw_settle(pgw_server *server, bool keep, pgw_then *then);
/* ErrorResponse; what is open is rolled back; the rest of the group is skipped. Nothing may be done
 * with the message after it. */
void pgw_refuse(pgw_server *server, const pgw_error *error);
void pgw_refuse_malformed(pgw_server *server); /* 08P01 */
void pgw_refuse_failed(pgw_server *server);    /* 25P02 */
/* A FETCH or MOVE runs the portal of a cursor; pgw_take_back() ends that. */
void pgw_lend(pgw_server *server, pgw_portal *cursor, pgw_slice results, bool moving);
void pgw_take_back(pgw_server *server);
void pgw_warn(pgw_server *server, const char *sqlstate, const char *message);
/* Whether a text can be a text at all; else it is refused (22021). */
PGW_MUST_CHECK bool pgw_is_text(pgw_server *server, pgw_slice text);

#endif
