/*
 * command: what the server machine has to know of a statement: what it does to its transaction, and
 * to the session's prepared statements and cursors. A pgw_cut, which reads SQL, says it.
 */
#ifndef PGW_COMMAND_H
#define PGW_COMMAND_H

#include "protocol/error.h"

typedef enum pgw_command {
    PGW_COMMAND_EMPTY, /* only blanks, comments and semicolons */
    PGW_COMMAND_READ,  /* a read, which leaves no trace in any transaction */
    PGW_COMMAND_WRITE, /* any other statement */
    PGW_COMMAND_ALONE, /* a write that takes effect at once and never is part of a transaction */
    PGW_COMMAND_BEGIN,
    PGW_COMMAND_START, /* START TRANSACTION: another tag */
    PGW_COMMAND_COMMIT,
    PGW_COMMAND_ROLLBACK,
    PGW_COMMAND_SAVEPOINT,
    PGW_COMMAND_RELEASE,
    PGW_COMMAND_ROLLBACK_TO,
    /* A statement about settings: run as a READ is, but answered by the machine's caller instead of
     * the backend. What it sets in a group without a transaction is kept or undone by
     * PGW_ASK_SETTLE. */
    PGW_COMMAND_SESSION,
    PGW_COMMAND_PREPARE, /* the first command that has an `order`, as all below have */
    PGW_COMMAND_EXECUTE,
    PGW_COMMAND_DEALLOCATE,
    PGW_COMMAND_DECLARE,
    PGW_COMMAND_FETCH,
    PGW_COMMAND_MOVE,
    PGW_COMMAND_CLOSE,
    PGW_COMMAND_DISCARD
} pgw_command;

/* What a statement such as PREPARE or FETCH says of the session's prepared statements and cursors.
 * Texts are parts of the text that was cut. */
typedef struct pgw_order {
    pgw_slice name;             /* the prepared statement or cursor, as stored; empty: ALL */
    pgw_slice text;             /* PREPARE, DECLARE: the inner statement */
    pgw_command command;        /* PREPARE, DECLARE: READ or WRITE, as the inner statement is */
    const uint32_t *types;      /* PREPARE: types of the parameters, 0 where none is declared */
    const pgw_slice *arguments; /* EXECUTE: expressions, as they are written */
    size_t count;               /* number of types or arguments */
    uint32_t rows;              /* FETCH, MOVE: number of rows; 0: all */
    bool binary;                /* DECLARE BINARY */
    bool all;                   /* DISCARD ALL; DISCARD of anything else changes nothing here */
    const pgw_error *refusal;   /* the error to be told when its turn comes; NULL: it can be done */
} pgw_order;

/* One statement of a text. */
typedef struct pgw_piece {
    pgw_slice text; /* a part of the text that was cut, without the semicolon */
    pgw_command command;
    bool chain; /* COMMIT AND CHAIN or ROLLBACK AND CHAIN */
    bool asks;  /* a WRITE that asks its client for data: it is run before the next message comes */
    pgw_slice name;         /* the name of a savepoint, as stored; in the arena */
    const pgw_order *order; /* what PREPARE and the like say, in the arena; NULL: another command */
} pgw_piece;

typedef struct pgw_script {
    const pgw_piece *pieces; /* none of them EMPTY */
    size_t count;
} pgw_script;

/* Cuts a text into its statements, as PostgreSQL's raw_parser() does; the list is in the arena.
 * False: refused, usually by the grammar (42601), and nothing of the text is run. The same text is
 * cut again when an order in it is carried out. */
typedef bool pgw_cut(void *data, pgw_slice text, pgw_arena *arena, pgw_script *out,
                     pgw_error *error);

/* Whether a failed transaction still takes the command (PostgreSQL: IsTransactionExitStmt). */
bool pgw_command_exits(pgw_command command);
/* Whether it is BEGIN, START, COMMIT or ROLLBACK; savepoint commands are none of these. */
bool pgw_command_controls(pgw_command command);
bool pgw_command_is_savepoint(pgw_command command);
bool pgw_command_has_order(pgw_command command);
/* The tag of a command that has a constant one, such as "COMMIT"; else "". */
const char *pgw_command_tag(pgw_command command);

#endif
