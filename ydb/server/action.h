/*
 * action: what a server's half of the protocol wants done. One action is under way at a time;
 * whoever does it answers with a call of server.h.
 */
#ifndef PGW_ACTION_H
#define PGW_ACTION_H

#include "ydb/server/prepared.h"

/* Adds whole messages. */
typedef void pgw_report(void *data, pgw_buf *out);

/* One session's. Whoever drives it knows no more of it than server.h. */
typedef struct pgw_server pgw_server;

typedef enum pgw_asked {
    PGW_ASK_MESSAGE, /* the client's next message: pgw_server_message() */
    PGW_ASK_ANALYZE, /* the types and columns of `statement`: pgw_server_analyzed() */
    PGW_ASK_BIND,    /* whether the types of `portal` take its parameters: done */
    /* The statement of `portal`, with its parameters, in the transaction that is open, else by
     * itself: columns (a Query's only), rows in the formats that the portal asks for, completed.
     * Each RUN or RESUME may ask for other formats (FETCH). If the portal has `arguments`, they are
     * its parameters.
     * After `limit` rows (0: all) no more are taken; the run is kept for RESUME or END, and
     * anything else may be asked before that: whoever has one link must then read the rest into
     * memory. */
    PGW_ASK_RUN,
    PGW_ASK_RESUME, /* up to `limit` rows more */
    /* No more rows of `portal` are wanted: done. A write has its effect all the same: it comes
     * before the transaction ends, and if it fails now, then so does COMMIT. */
    PGW_ASK_END,
    /* Opens a transaction, as `text` says; empty: nobody said; of the `chain` that the one before
     * has ended with, with the modes of that one: done. */
    PGW_ASK_BEGIN,
    PGW_ASK_MODES,    /* `text`, a BEGIN, has met a transaction, whose modes are to be its: done */
    PGW_ASK_COMMIT,   /* done */
    PGW_ASK_ROLLBACK, /* done. Also where the backend has closed the transaction by itself */
    /* `text` is data of the COPY that the RUN at hand is, cut anywhere: done. */
    PGW_ASK_PUT,
    PGW_ASK_STORE, /* the data has ended, and `portal` is to be run to its end: as RUN */
    PGW_ASK_CLOSE, /* the connection, once the output has been sent; nothing follows */
    /* The end of a group in which a SESSION was run while no transaction was open: what it has set
     * stays, if `keep`, or is undone: done. Such a group may become a transaction by BEGIN, whose
     * end settles it then. */
    PGW_ASK_SETTLE
} pgw_asked;

typedef struct pgw_action {
    pgw_asked ask;
    const pgw_statement *statement; /* ANALYZE; what is of an action lives until it is answered */
    pgw_portal *portal;             /* BIND, RUN, RESUME, STORE, END */
    uint32_t limit;                 /* RUN, RESUME */
    pgw_slice text;                 /* BEGIN, MODES, PUT */
    bool chain;                     /* BEGIN */
    bool keep;                      /* SETTLE */
} pgw_action;

#endif
