/*
 * faults: what was ordered to go wrong, and at which statement. Orders come from tests, through
 * control.h; the threads of clients ask whether one is for them.
 */
#ifndef YE_FAULTS_H
#define YE_FAULTS_H

#include "tests/ydb_endpoint/status.h"

#include <pthread.h>

typedef enum ye_fault_kind {
    YE_FAULT_ANSWER,      /* a status, instead of the statement */
    YE_FAULT_ANSWER_DONE, /* a status, after the statement was executed */
    YE_FAULT_STALL,       /* `ms` later, or never (0) */
    YE_FAULT_DROP_BEFORE, /* the link ends, and nothing was committed */
    YE_FAULT_DROP_AFTER,  /* the link ends, and all was committed */
    YE_FAULT_COMMIT_LATE  /* the link ends, and `ms` later all is committed */
} ye_fault_kind;

typedef struct ye_fault {
    ye_fault_kind kind;
    ye_status status; /* of an answer */
    long ms;
    long statement;  /* the first that it strikes: the n-th from the order on that it may strike */
    long every;      /* … and then each of as many; 0: no more */
    long times;      /* at most; 0: without end */
    char begins[64]; /* statements that begin with it, without case; "": all */
    long seen, done;
} ye_fault;

typedef struct ye_faults {
    pthread_mutex_t lock;
    ye_fault orders[32];
    size_t count;
} ye_faults;

/* The kind of that name, and for the name of a status YE_FAULT_ANSWER. False: there is none. */
bool ye_fault_named(const char *name, ye_fault *fault);
/* False: there are too many already. */
bool ye_faults_order(ye_faults *faults, const ye_fault *fault);
void ye_faults_clear(ye_faults *faults);
/* As a JSON array: what was ordered, and how often it has struck. */
void ye_faults_write(ye_faults *faults, pgw_buf *out);
/* Whether one strikes this statement; those that drop links strike what `commits` alone. */
bool ye_faults_next(ye_faults *faults, pgw_slice text, bool commits, ye_fault *fault);

#endif
