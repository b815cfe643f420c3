/*
 * backend: a kind of backend: what it brings for the rooms above to work with it as they do with
 * PostgreSQL.
 */
#ifndef PX_BACKEND_H
#define PX_BACKEND_H

#include "config/config.h"

#include <stdbool.h>

struct px_link_kind;
struct px_writer_kind;
struct px_server;
struct px_discovery;

/* Finds out where the partitions of tables begin. For the main thread only, but for doubt(). */
typedef struct px_discovery_kind {
    /* Begins with the tables of the configuration in force. */
    struct px_discovery *(*start)(struct px_server *server);
    /* There is a new configuration in force, which lives as long as the process. */
    void (*renew)(struct px_discovery *discovery, const cfg_config *config);
    /* Nothing that is found out is told to workers from now on. */
    void (*refuse)(struct px_discovery *discovery);
    /* After refuse(): ends all, and frees it. */
    void (*stop)(struct px_discovery *discovery);
    /* Any thread. The table, by its label "schema.name", may have been cut otherwise. */
    void (*doubt)(struct px_discovery *discovery, const char *label);
} px_discovery_kind;

typedef struct px_backend {
    const char *name;
    bool by_file; /* its tables are what the file says: it cannot be asked */
    const struct px_link_kind *link;
    const struct px_writer_kind *writer;
} px_backend;

#endif
