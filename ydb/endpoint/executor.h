/*
 * executor: a connection to YDB that runs one text at a time and gives typed rows and a status; all
 * that a conformant PostgreSQL does beside is made above it. By simple Query today (simple.h);
 * YDB's Query service can take its place.
 */
#ifndef PX_YDB_EXECUTOR_H
#define PX_YDB_EXECUTOR_H

#include "proxy/backend/base/link.h"
#include "ydb/endpoint/status.h"

typedef struct px_executor px_executor;

/* What has become of a text. */
typedef struct px_executed {
    bool failed;
    px_ydb_fate fate; /* of what failed */
    pgw_error error;
    bool lost;       /* the connection has ended: the executor is to be closed */
    char block;      /* 'I', 'T' or 'E': the transaction, behind it */
    const char *tag; /* of one that has not failed; without a count, but for SELECT */
} px_executed;

/* How the owner hears of things. In each it may close the executor. */
typedef struct px_executor_ops {
    void (*on_open)(void *owner);
    void (*on_refused)(void *owner, const pgw_error *error); /* not open; it is to be closed */
    void (*on_columns)(void *owner, pgw_slice columns);      /* the body of a RowDescription */
    /* A row, in text; {NULL, 0} is a NULL. */
    void (*on_row)(void *owner, const pgw_slice *cells, size_t count);
    void (*on_executed)(void *owner, const px_executed *executed);
    void (*on_idle_lost)(void *owner); /* nothing was being run */
    void (*on_cancelled)(void *owner); /* px_executor_cancel() was heard */
    void (*on_closed)(void *owner);    /* px_executor_close() is through: it is gone */
} px_executor_ops;

typedef struct px_executor_kind {
    /* Opens what `link` is to be; the answer comes on a later turn. */
    px_executor *(*open)(px_link *link, const px_executor_ops *ops, void *owner);
    /* Frees it, on a later turn, and tells on_closed; nothing else is told any more. */
    void (*close)(px_executor *executor);
    /* Nothing is running. A text of one statement, clean; columns and rows, if it has any, come
     * before on_executed. */
    void (*run)(px_executor *executor, pgw_slice text);
    /* … only its columns. */
    void (*describe)(px_executor *executor, pgw_slice text);
    /* What runs is to end. True: on_cancelled comes, and nothing may be run before. */
    bool (*cancel)(px_executor *executor);
    /* No more rows, until it goes on. Idempotent. In on_row, too. */
    void (*pause)(px_executor *executor);
    void (*resume)(px_executor *executor);
    const char *(*parameter)(const px_executor *executor, const char *name); /* or NULL */
} px_executor_kind;

#endif
