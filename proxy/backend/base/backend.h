/*
 * backend: a kind of backend: what it brings for the rooms above to work with it as they do with
 * PostgreSQL.
 */
#ifndef PX_BACKEND_H
#define PX_BACKEND_H

#include <stdbool.h>

struct px_link_kind;
struct px_writer_kind;

typedef struct px_backend {
    const char *name;
    bool by_file; /* its tables are what the file says: it cannot be asked */
    const struct px_link_kind *link;
    const struct px_writer_kind *writer;
} px_backend;

#endif
