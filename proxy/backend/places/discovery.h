/*
 * discovery: asks YDB's monitoring where the partitions of tables begin, again and again, on a
 * thread of its own. What it does not understand, and nobody there to ask, leave the tables with
 * the buckets that the file gives them.
 */
#ifndef PX_DISCOVERY_H
#define PX_DISCOVERY_H

#include "proxy/base/shared.h"

typedef struct px_discovery px_discovery;

/* Begins with the tables of the configuration in force. For the main thread only, as is all but
 * px_discovery_doubt(). */
px_discovery *px_discovery_start(px_server *server);
/* There is a new configuration in force, which lives as long as the process. */
void px_discovery_renew(px_discovery *discovery, const cfg_config *config);
/* No map is sent from now on. */
void px_discovery_refuse(px_discovery *discovery);
/* After that: ends the thread and frees all. What it waits for is given up. */
void px_discovery_stop(px_discovery *discovery);

/* Any thread. The table, by its label "schema.name", may have been cut otherwise: it is asked for
 * soon. `discovery` NULL is fine. */
void px_discovery_doubt(px_discovery *discovery, const char *label);

#endif
