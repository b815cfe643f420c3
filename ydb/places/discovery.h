/*
 * discovery: asks YDB's monitoring where the partitions of tables begin, again and again, on a
 * thread of its own. What it does not understand, and nobody there to ask, leave the tables with
 * the buckets that the file gives them.
 */
#ifndef PX_DISCOVERY_H
#define PX_DISCOVERY_H

#include "proxy/backend/base/backend.h"

extern const px_discovery_kind px_ydb_discovery;

/* Any thread: px_ydb_discovery.doubt(), also where `discovery` is NULL. */
void px_discovery_doubt(struct px_discovery *discovery, const char *label);

#endif
