/*
 * executor: the interface of a connection to YDB, which runs one text at a time and gives typed
 * rows and a status. simple.h implements it by simple Query; YDB's Query service can take its
 * place.
 */
#ifndef PX_YDB_EXECUTOR_H
#define PX_YDB_EXECUTOR_H

#include "proxy/backend/base/link.h"
#include "ydb/endpoint/status.h"

typedef struct px_executor px_executor;

/* How the run of a text has ended. */
typedef struct px_executed {
    bool failed;
    px_ydb_fate fate; /* only of a text that failed */
    pgw_error error;
    bool lost;       /* the connection has ended: the executor is to be closed */
    char block;      /* status of the transaction after the text: 'I', 'T' or 'E' */
    const char *tag; /* command tag of a text that succeeded; only SELECT's has a count */
} px_executed;

/* Callbacks of the owner, which may close the executor in each of them. */
typedef struct px_executor_ops {
    void (*on_open)(void *owner);
    void (*on_refused)(void *owner,
                       const pgw_error *error);         /* opening failed: the owner closes it */
    void (*on_columns)(void *owner, pgw_slice columns); /* the body of a RowDescription */
    /* A row, in text; {NULL, 0} is a NULL. */
    void (*on_row)(void *owner, const pgw_slice *cells, size_t count);
    void (*on_executed)(void *owner, const px_executed *executed);
    void (*on_idle_lost)(void *owner); /* lost while no text ran */
    void (*on_cancelled)(void *owner); /* the cancel request is through */
    void (*on_closed)(void *owner);    /* the executor is freed */
} px_executor_ops;

typedef struct px_executor_kind {
    /* Opens a connection for `link`; on_open or on_refused comes on a later turn. */
    px_executor *(*open)(px_link *link, const px_executor_ops *ops, void *owner);
    /* Closes the executor; on_closed comes when it is freed, perhaps at once, and no other callback
     * any more. */
    void (*close)(px_executor *executor);
    /* Runs a clean text of one statement, while no other runs; its columns and rows, if it has any,
     * come before on_executed. */
    void (*run)(px_executor *executor, pgw_slice text);
    /* Asks for the columns of a text without running it; they come before on_executed. */
    void (*describe)(px_executor *executor, pgw_slice text);
    /* Asks YDB to end the text that runs. True: on_cancelled comes, and nothing may be run before.
     */
    bool (*cancel)(px_executor *executor);
    /* Stops and resumes rows; both are idempotent, and allowed in on_row. */
    void (*pause)(px_executor *executor);
    void (*resume)(px_executor *executor);
    /* A setting that YDB reported at the login; NULL: it did not. */
    const char *(*parameter)(const px_executor *executor, const char *name);
} px_executor_kind;

#endif
