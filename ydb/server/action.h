/*
 * action: what the server machine asks its caller to do. One action is under way at a time, and is
 * answered with a call of server.h.
 */
#ifndef PGW_ACTION_H
#define PGW_ACTION_H

#include "ydb/server/prepared.h"

/* Appends whole messages that stand in front of a ReadyForQuery. */
typedef void pgw_report(void *data, pgw_buf *out);

/* The server machine of one session; its callers use server.h only. */
typedef struct pgw_server pgw_server;

/* Actions; pgw_server_done() answers those for which no other answer is named. */
typedef enum pgw_asked {
    PGW_ASK_MESSAGE, /* gives the client's next message: pgw_server_message() */
    PGW_ASK_ANALYZE, /* tells the types and columns of `statement`: pgw_server_analyzed() */
    PGW_ASK_BIND,    /* checks that the types of `portal` take its parameters */
    /* Runs the statement of `portal`, with its parameters, in the transaction that is open, else by
     * itself: columns (a Query's only), rows in the formats that the portal asks for, completed.
     * Each RUN or RESUME may ask for other formats (FETCH). If the portal has `arguments`, they are
     * its parameters.
     * After `limit` rows (0: all) no more are taken; the run is kept for RESUME or END, and
     * anything else may be asked before that: a caller with one link must then read the rest into
     * memory. */
    PGW_ASK_RUN,
    PGW_ASK_RESUME, /* gives up to `limit` rows more; answered as RUN */
    /* Ends a run of `portal`: no more rows are wanted. A write has its effect all the same: it
     * comes before the transaction ends, and if it fails now, then so does COMMIT. */
    PGW_ASK_END,
    /* Opens a transaction, in the modes of the BEGIN in `text`, if there is one; if `chain`, in the
     * modes of the transaction before, which has ended AND CHAIN. */
    PGW_ASK_BEGIN,
    PGW_ASK_MODES,    /* gives the open transaction the modes of another BEGIN, `text` */
    PGW_ASK_COMMIT,   /* commits the transaction */
    PGW_ASK_ROLLBACK, /* undoes the transaction, even if the backend has ended it by itself */
    PGW_ASK_PUT,      /* takes `text`, data of the COPY under way, cut anywhere */
    PGW_ASK_STORE,    /* runs the COPY of `portal` to its end, for its data has ended: as RUN */
    PGW_ASK_CLOSE,    /* closes the connection once the output has been sent; nothing follows */
    /* Keeps, if `keep`, or undoes what SESSIONs have set in a group that ends without a
     * transaction. If BEGIN makes such a group a transaction, COMMIT or ROLLBACK settles it
     * instead. */
    PGW_ASK_SETTLE
} pgw_asked;

typedef struct pgw_action {
    pgw_asked ask;
    const pgw_statement *statement; /* ANALYZE; an action's data lives until it is answered */
    pgw_portal *portal;             /* BIND, RUN, RESUME, STORE, END */
    uint32_t limit;                 /* RUN, RESUME */
    pgw_slice text;                 /* BEGIN, MODES, PUT */
    bool chain;                     /* BEGIN */
    bool keep;                      /* SETTLE */
} pgw_action;

#endif
