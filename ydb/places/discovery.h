/*
 * discovery: asks YDB's monitoring again and again where the partitions of tables begin, on a
 * thread of its own. A table whose answer never came, or is not understood, has the buckets of the
 * file.
 */
#ifndef PX_DISCOVERY_H
#define PX_DISCOVERY_H

#include "proxy/backend/base/backend.h"

extern const px_discovery_kind px_ydb_discovery;

/* px_ydb_discovery.doubt(): the table is asked for soon. From any thread; `discovery` may be NULL.
 */
void px_discovery_doubt(struct px_discovery *discovery, const char *label);

#endif
