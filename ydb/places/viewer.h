/*
 * viewer: asks YDB's monitoring for the description of a table over HTTP. It blocks, so that it is
 * for a thread that has nothing else to do.
 */
#ifndef PX_VIEWER_H
#define PX_VIEWER_H

#include "config/config.h"
#include "rewrite/hash/table.h"

#include <stdatomic.h>

typedef struct px_viewer px_viewer;

/* Initializes libcurl; called once, before there are threads. */
void px_viewer_global(void);
/* `url` is http://host:port, `database` as clients call it: "local" is "/local". A question is
 * given up soon after `stopping` has become true. */
px_viewer *px_viewer_new(const char *url, const char *database, const _Atomic bool *stopping);
void px_viewer_free(px_viewer *viewer); /* NULL is fine */

typedef struct px_viewed {
    rw_partitions partitions; /* `at` belongs to the caller */
    bool answered;            /* the server has answered, whatever it said */
    char
        reason[96]; /* why there are no partitions, without anything of the answer; "": there are */
} px_viewed;

void px_viewer_ask(px_viewer *viewer, const cfg_table *table, px_viewed *seen);

#endif
