/*
 * clean: one statement of a client's text without what stands around it; its kind; and the words of
 * transactions in one spelling.
 */
#ifndef RW_CLEAN_H
#define RW_CLEAN_H

#include "rewrite/lex/lexer.h"
#include "rewrite/statement/words/statement.h"

typedef enum rw_clean_kind {
    RW_CLEAN_READ, /* the statement names no table to write; its functions may write */
    RW_CLEAN_WRITE,
    RW_CLEAN_DDL,     /* CREATE, GRANT and the like, and SELECT … INTO a table */
    RW_CLEAN_SESSION, /* settings, cursors, prepared statements, notifications, locks */
    RW_CLEAN_BEGIN,
    RW_CLEAN_COMMIT,
    RW_CLEAN_ROLLBACK,
    RW_CLEAN_SAVEPOINT,
    RW_CLEAN_RELEASE,
    RW_CLEAN_ROLLBACK_TO,
    RW_CLEAN_TWO_PHASE, /* PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED */
    RW_CLEAN_WRONG      /* PostgreSQL's grammar refuses it: the error is filled */
} rw_clean_kind;

typedef struct rw_clean {
    rw_clean_kind kind;
    pgw_slice text; /* the statement in the client's text; or the word COMMIT, ROLLBACK or BEGIN, if
                       it names no mode of its transaction */
    size_t start;   /* where the statement begins in the client's text */
    unsigned marks; /* marks of splitter.h for the words behind the statement's first one */
    pgw_slice name; /* a savepoint's name as stored; arena-owned */
    bool chain;     /* COMMIT or ROLLBACK AND CHAIN */
    pgw_error *error; /* the error of RW_CLEAN_WRONG; arena-owned */
} rw_clean;

/* The next statement of the lexer's text that is not empty; false at the end. May use libpg_query,
 * as rw_script_parse() does. */
PGW_MUST_CHECK bool rw_clean_next(rw_lexer *lexer, const pgw_env *env, pgw_arena *arena,
                                  rw_clean *out);

#endif
