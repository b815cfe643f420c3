/*
 * tuples: the binary data of a COPY, cut into tuples, each with the added fields behind its own.
 */
#ifndef PGW_COPY_TUPLES_H
#define PGW_COPY_TUPLES_H

#include "protocol/copy/cut.h"

/* Reads all of the chunk, and appends what the server is to get for it to its `out`. */
void pgw_copy_read_tuples(pgw_copy_chunk *in);

#endif
