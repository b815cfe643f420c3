/*
 * store: a link to the PostgreSQL that holds the data. libpq opens it; then messages are exchanged
 * as they are, so that rows go through unread. Every transaction there is SERIALIZABLE. One thread
 * uses it, and waits in it; but ye_store_cancel().
 */
#ifndef YE_STORE_H
#define YE_STORE_H

#include "protocol/error.h"
#include "protocol/frame.h"

#include <libpq-fe.h>

typedef struct ye_store {
    PGconn *conn; /* NULL: not open */
    PGcancel *cancel;
    int fd;
    pgw_buf in;
    size_t taken;
    pgw_buf out; /* messages that ye_store_send() sends */
} ye_store;

/* False: it cannot be reached; `error` says why. */
PGW_MUST_CHECK bool ye_store_open(ye_store *store, const char *conninfo, pgw_error *error);
/* Of one that is not open, too. */
void ye_store_close(ye_store *store);
/* Sends and empties `out`. False: the link is lost. */
PGW_MUST_CHECK bool ye_store_send(ye_store *store);
/* The next message, good until the next call. False: the link is lost. */
PGW_MUST_CHECK bool ye_store_next(ye_store *store, char *type, pgw_slice *body);
/* Runs a statement whose rows nobody wants. False: it failed. */
PGW_MUST_CHECK bool ye_store_do(ye_store *store, const char *sql, pgw_error *error);
/* Runs a query of one number. False: it failed. */
PGW_MUST_CHECK bool ye_store_number(ye_store *store, const char *sql, uint64_t *number,
                                    pgw_error *error);
/* Asks the server to stop what the link does; from any thread. */
void ye_store_cancel(const ye_store *store);

#endif
