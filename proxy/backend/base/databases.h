/*
 * databases: what the process knows of each database that clients named: how many sessions it has,
 * and whether rows of configured tables were written there.
 */
#ifndef PX_DATABASES_H
#define PX_DATABASES_H

#include <stdbool.h>

typedef struct px_databases px_databases;

px_databases *px_databases_new(void);
void px_databases_free(px_databases *databases); /* NULL is fine */

/* Any thread. */

void px_databases_enter(px_databases *databases, const char *name); /* a session has come */
void px_databases_leave(px_databases *databases, const char *name); /* a session has ended */
bool px_databases_used(px_databases *databases, const char *name);  /* a session is there */
/* A write group writes to a configured table of the database. */
void px_databases_write(px_databases *databases, const char *name);
bool px_databases_written(px_databases *databases, const char *name);

#endif
