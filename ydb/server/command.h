/*
 * command: as much of a statement as a server's half of the protocol has to know: what it does to
 * the transaction it stands in, and to the session's statements and cursors. Somebody who reads SQL
 * says which one it is.
 */
#ifndef PGW_COMMAND_H
#define PGW_COMMAND_H

#include "protocol/error.h"

typedef enum pgw_command {
    PGW_COMMAND_EMPTY, /* blanks, comments and semicolons */
    PGW_COMMAND_READ,  /* whatever transaction it runs in, nobody can tell afterwards */
    PGW_COMMAND_WRITE, /* any other statement */
    PGW_COMMAND_ALONE, /* a write that takes effect at once and never is part of a transaction */
    PGW_COMMAND_BEGIN,
    PGW_COMMAND_START, /* START TRANSACTION: another tag */
    PGW_COMMAND_COMMIT,
    PGW_COMMAND_ROLLBACK,
    PGW_COMMAND_SAVEPOINT,
    PGW_COMMAND_RELEASE,
    PGW_COMMAND_ROLLBACK_TO,
    /* Settings: run like a READ, but whoever runs it answers it himself, from what he keeps. What
     * it sets in a group without a transaction is kept or undone by PGW_ASK_SETTLE. */
    PGW_COMMAND_SESSION,
    PGW_COMMAND_PREPARE, /* these have an `order` */
    PGW_COMMAND_EXECUTE,
    PGW_COMMAND_DEALLOCATE,
    PGW_COMMAND_DECLARE,
    PGW_COMMAND_FETCH,
    PGW_COMMAND_MOVE,
    PGW_COMMAND_CLOSE,
    PGW_COMMAND_DISCARD
} pgw_command;

/* What a statement says of the session's statements and cursors. Texts are parts of the text that
 * was cut. */
typedef struct pgw_order {
    pgw_slice name; /* of the statement or cursor, as stored; empty: ALL, where that can be said */
    pgw_slice text; /* PREPARE, DECLARE: the statement … */
    pgw_command command;        /* … which is a READ or a WRITE */
    const uint32_t *types;      /* PREPARE: of its parameters, 0 where none is said */
    const pgw_slice *arguments; /* EXECUTE: expressions, as they are written */
    size_t count;               /* of types or arguments */
    uint32_t rows;              /* FETCH, MOVE: how many; 0: all */
    bool binary;                /* DECLARE BINARY */
    bool all;                   /* DISCARD ALL; DISCARD of anything else changes nothing here */
    const pgw_error *refusal; /* it cannot be done, and is to be told so when its turn comes; NULL:
                                 it can */
} pgw_order;

/* One statement of a text. */
typedef struct pgw_piece {
    pgw_slice text; /* a part of the text that was cut, without the semicolon */
    pgw_command command;
    bool chain; /* COMMIT or ROLLBACK … AND CHAIN */
    bool asks;  /* a WRITE that asks its client for data: it is run before the next message comes */
    pgw_slice name;         /* of a savepoint, as stored; in the arena */
    const pgw_order *order; /* in the arena; NULL: it has none */
} pgw_piece;

typedef struct pgw_script {
    const pgw_piece *pieces; /* none of them EMPTY */
    size_t count;
} pgw_script;

/* What PostgreSQL's raw_parser() does: cuts a text into its statements; the list is in the arena.
 * False if the grammar does not have it: nothing of the text is run then (42601). The same text is
 * cut again when an order in it is carried out. */
typedef bool pgw_cut(void *data, pgw_slice text, pgw_arena *arena, pgw_script *out,
                     pgw_error *error);

/* What a failed transaction still takes (IsTransactionExitStmt). */
bool pgw_command_exits(pgw_command command);
/* BEGIN, COMMIT and their like, savepoints not among them. */
bool pgw_command_controls(pgw_command command);
bool pgw_command_is_savepoint(pgw_command command);
bool pgw_command_has_order(pgw_command command);
/* Its tag where it has one of its own: "COMMIT", "SAVEPOINT" …; else "". */
const char *pgw_command_tag(pgw_command command);

#endif
