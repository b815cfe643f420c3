/*
 * transaction: the statements that begin and end a transaction, or set savepoints in it, read as a
 * whole: only what means one of them and nothing else, in forms of which it is known what a server
 * says to them.
 */
#ifndef RW_TRANSACTION_H
#define RW_TRANSACTION_H

#include "protocol/bytes.h"

typedef enum rw_transaction_word {
    RW_TRANSACTION_NONE, /* something else, or a form that is not read in full (AND CHAIN) */
    RW_TRANSACTION_BEGIN,
    RW_TRANSACTION_START,    /* START TRANSACTION: as BEGIN, with a tag of its own */
    RW_TRANSACTION_COMMIT,   /* COMMIT or END */
    RW_TRANSACTION_ROLLBACK, /* ROLLBACK or ABORT */
    RW_TRANSACTION_SAVEPOINT,
    RW_TRANSACTION_ROLLBACK_TO, /* ROLLBACK TO a savepoint */
    RW_TRANSACTION_RELEASE
} rw_transaction_word;

typedef struct rw_transaction {
    rw_transaction_word word;
    bool primary;  /* READ WRITE or SERIALIZABLE, which a server in recovery refuses */
    bool ordinary; /* The transaction is READ COMMITTED and READ WRITE, as far as its modes say. */
    char
        savepoint[64]; /* The name of the savepoint as the server knows it; empty: there is none. */
} rw_transaction;

/* What a text is: one statement, semicolons and comments behind it. */
rw_transaction rw_transaction_of(pgw_slice text, bool conforming);
/* The tag of its CommandComplete; NULL for NONE. */
const char *rw_transaction_tag(rw_transaction_word word);

#endif
