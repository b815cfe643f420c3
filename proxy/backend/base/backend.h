/*
 * backend: the functions that a kind of backend brings, so that the folders above work with it as
 * with PostgreSQL.
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
    /* Starts with the tables of the configuration in force. */
    struct px_discovery *(*start)(struct px_server *server);
    /* A new configuration is in force; it lives as long as the process. */
    void (*renew)(struct px_discovery *discovery, const cfg_config *config);
    /* From now on workers are told nothing that is found out. */
    void (*refuse)(struct px_discovery *discovery);
    /* After refuse(): ends all work, and frees `discovery`. */
    void (*stop)(struct px_discovery *discovery);
    /* Any thread. The partitions of the table with the label "schema.name" may have changed. */
    void (*doubt)(struct px_discovery *discovery, const char *label);
} px_discovery_kind;

typedef struct px_backend {
    const char *name;
    bool by_file;      /* the configuration file alone says what tables are like: the backend is not
                          asked */
    bool by_partition; /* a transaction costs by the partitions that it writes: batches are better
                          of one partition */
    const struct px_link_kind *link;
    const struct px_writer_kind *writer;
} px_backend;

#endif
