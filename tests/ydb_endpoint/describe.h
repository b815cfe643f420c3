/*
 * describe: a table as YDB's viewer describes it, in JSON: columns, key, and where its partitions
 * end (3.1). Assembled, as the notes are, from YDB's code, and never compared with a running one.
 */
#ifndef YE_DESCRIBE_H
#define YE_DESCRIBE_H

#include "tests/ydb_endpoint/session.h"

typedef struct ye_describe {
    const char *path;
    bool boundaries; /* SplitBoundary is wanted … */
    bool stats;      /* … TablePartitionStats … */
    bool numbers;    /* … 64-bit integers as numbers, not as strings */
} ye_describe;

void ye_describe_write(ye_endpoint *endpoint, const ye_describe *wanted, pgw_buf *out);

#endif
