/*
 * obstacles: what a new table cannot have, found in the catalog before anything is done.
 */
#ifndef PX_MIGRATE_OBSTACLES_H
#define PX_MIGRATE_OBSTACLES_H

#include <stdbool.h>

/* A kind of obstacle. `sql` reads the views pg_temp.t and pg_temp.fk; each of its rows gives a
 * table's place, the name by which the loss is accepted, and what it is. */
typedef struct px_obstacle {
    const char *advice; /* What to do about it. */
    bool acceptable;    /* --accept=NAME lets it be lost. */
    const char *sql;
} px_obstacle;

/* The list ends with an element without an advice. */
extern const px_obstacle px_obstacles[];

#endif
