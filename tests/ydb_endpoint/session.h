/*
 * session: one client's link from its login to its end, as the thread that serves it knows it; and
 * the endpoint, which all of them share.
 */
#ifndef YE_SESSION_H
#define YE_SESSION_H

#include "tests/ydb_endpoint/compile.h"
#include "tests/ydb_endpoint/names.h"
#include "tests/ydb_endpoint/options.h"
#include "tests/ydb_endpoint/socket.h"
#include "tests/ydb_endpoint/store.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct ye_endpoint {
    ye_options options;
    SSL_CTX *tls; /* NULL: none */
    pthread_mutex_t lock;
    struct ye_session *sessions; /* under `lock`: those a CancelRequest finds */
    uint32_t made;               /* … */
} ye_endpoint;

typedef struct ye_session {
    ye_endpoint *endpoint;
    struct ye_session *next;
    uint32_t number;
    ye_socket socket;
    ye_store store; /* where statements are executed */
    ye_store aside; /* opened when needed: what must not be part of a transaction */
    ye_settings settings;
    pgw_buf out;
    char status;  /* of the transaction: I, T or E */
    char shown;   /* what ReadyForQuery says, which may lag behind */
    bool doomed;  /* a conflict is kept for the COMMIT */
    bool lost;    /* a cancelled statement took the transaction along */
    bool closing; /* once `out` is written */
    atomic_bool cancelled;
    ye_named *statements; /* of Parse */
    ye_named *portals;    /* of Bind */
} ye_session;

/* In and out of the list of those that can be cancelled. */
void ye_session_enter(ye_session *session);
void ye_session_leave(ye_session *session);
/* CancelRequest, from any thread. */
void ye_session_cancel(ye_endpoint *endpoint, uint32_t number);
/* Writes what is in `out`. False: the client is gone. */
PGW_MUST_CHECK bool ye_session_flush(ye_session *session);

#endif
