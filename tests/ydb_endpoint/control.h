/*
 * control: HTTP by which a test reads the endpoint's counters and orders faults:
 *
 *   GET /counters        POST /counters (back to 0)
 *   GET /faults          DELETE /faults
 *   POST /faults?fault=ABORTED&statement=3&every=5&times=50&begins=INSERT&done=1&ms=300
 *   POST /latency?us=500
 *   GET /partitions
 *   POST /split?table=events&partition=3&ms=500     POST /merge?table=…: it and the next
 *
 * and what YDB's monitoring port serves: GET /viewer/json/describe (or, by an option, without
 * `json`) with path, boundaries, partition_stats and ui64.
 */
#ifndef YE_CONTROL_H
#define YE_CONTROL_H

#include "tests/ydb_endpoint/session.h"

/* Listens on `fd`, with a thread of its own, for as long as the process lives. */
PGW_MUST_CHECK bool ye_control_start(ye_endpoint *endpoint, int fd);

#endif
