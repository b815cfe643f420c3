/*
 * session: one client's link from its login to its end, as the thread that serves it knows it; and
 * the endpoint, which all of them share.
 */
#ifndef YE_SESSION_H
#define YE_SESSION_H

#include "tests/ydb_endpoint/compile.h"
#include "tests/ydb_endpoint/counters.h"
#include "tests/ydb_endpoint/faults.h"
#include "tests/ydb_endpoint/names.h"
#include "tests/ydb_endpoint/options.h"
#include "tests/ydb_endpoint/partitions.h"
#include "tests/ydb_endpoint/socket.h"
#include "tests/ydb_endpoint/store.h"

#include <pthread.h>
#include <stdatomic.h>

enum { YE_TEXTS = 1 << 18 };

/* Texts that were compiled, by their hashes. */
typedef struct ye_texts {
    pthread_mutex_t lock;
    uint64_t met[YE_TEXTS];
} ye_texts;

typedef struct ye_endpoint {
    ye_options options;
    SSL_CTX *tls; /* NULL: none */
    pthread_mutex_t lock;
    struct ye_session *sessions; /* under `lock`: those a CancelRequest finds */
    uint32_t made;               /* … */
    ye_faults faults;
    ye_counters counters;
    ye_map map;
    ye_texts texts;
    atomic_long latency_us; /* that every statement takes longer */
} ye_endpoint;

typedef struct ye_session {
    ye_endpoint *endpoint;
    struct ye_session *next;
    uint32_t number;
    ye_socket socket;
    ye_store store; /* where statements are executed */
    ye_store aside; /* opened when needed: what must not be part of a transaction */
    ye_settings settings;
    ye_known known; /* statements that were let through */
    pgw_buf out;
    char status;     /* of the transaction: I, T or E */
    char shown;      /* what ReadyForQuery says, which may lag behind */
    bool doomed;     /* a conflict is kept for the COMMIT */
    bool lost;       /* a cancelled statement took the transaction along */
    bool closing;    /* once `out` is written */
    bool leaving;    /* … at the next message, which is not read any more */
    bool severed;    /* nothing more reaches the client */
    pgw_buf ranges;  /* ye_range's: what the statement touches … */
    int64_t begun;   /* … from when it has come: ns of the monotonic clock … */
    int64_t until;   /* … to here, at least */
    pgw_buf written; /* … and what the transaction has written */
    uint64_t rows;   /* of the last statement, as its tag had them */
    atomic_bool cancelled;
    ye_named *statements; /* of Parse */
    ye_named *portals;    /* of Bind */
} ye_session;

/* In and out of the list of those that can be cancelled. */
void ye_session_enter(ye_session *session);
void ye_session_leave(ye_session *session);
/* CancelRequest, from any thread. */
void ye_session_cancel(ye_endpoint *endpoint, uint32_t number);
/* Its link ends behind what it has said so far. */
void ye_session_drop(ye_session *session);
/* Ends the client's link at once, and keeps from it what is in `out`. */
void ye_session_sever(ye_session *session);
/* Waits. False: the client has left or has had its statement cancelled. */
PGW_MUST_CHECK bool ye_session_wait(ye_session *session, long ms);
/* Writes what is in `out`. False: the client is gone. */
PGW_MUST_CHECK bool ye_session_flush(ye_session *session);

#endif
