/*
 * plan: all statements of a migration, made of PostgreSQL's catalog before the first of them runs.
 * They are kept in the database's schema `keyspread`, with what is done of them.
 */
#ifndef PX_MIGRATE_PLAN_H
#define PX_MIGRATE_PLAN_H

#include "proxy/command/migrate/migration.h"

/* Makes the plan, in temporary tables of the writer's transaction, which must be open, and says on
 * standard error what the new tables cannot have. False: something of it is not accepted, or the
 * database could not be asked; the transaction is to be rolled back. */
PGW_MUST_CHECK bool px_plan_make(const px_migration *it);
/* Prints the plan that px_plan_make() has made, as SQL with comments. */
PGW_MUST_CHECK bool px_plan_print(const px_migration *it);
/* Keeps that plan as the migration's state. */
PGW_MUST_CHECK bool px_plan_keep(const px_migration *it);
/* Makes the plan again, and compares it with the one that is kept. `version` gets what
 * px_plan_version() says now. False with a message: the tables were changed since. */
PGW_MUST_CHECK bool px_plan_still_fits(const px_migration *it, char **version);
/* A text that changes with whatever the plan is made of, in the writer's transaction if it is in
 * one: it is asked for in a fraction of the time that a plan takes. To be freed; NULL with a
 * message. */
char *px_plan_version(const px_migration *it);
/* Statements that take the state away; the schema as well, if nothing else is in it. */
extern const char px_plan_forget[];

/* Runs the statements of a phase that have not run, each in a transaction of its own that also
 * notes that it is done. */
PGW_MUST_CHECK bool px_plan_run(const px_migration *it, const char *phase);
/* All statements of a phase, with a semicolon behind each, to be freed; NULL with a message. */
char *px_plan_statements(const px_migration *it, const char *phase);

#endif
