/*
 * rows: the rows of a migrated table on their way from the old table to the new one: copied in
 * ranges of the key, caught up with what writers changed meanwhile, and compared.
 */
#ifndef PX_MIGRATE_ROWS_H
#define PX_MIGRATE_ROWS_H

#include "proxy/command/migrate/migration.h"

/* Copies all rows of all tables that are not copied yet, range after range; each range is committed
 * together with the note that it is done. Prints progress. */
PGW_MUST_CHECK bool px_rows_copy(const px_migration *it);

/* What has come of taking over changes. */
typedef struct px_caught {
    uint64_t keys; /* How many keys the logs had. */
    double read;   /* So many seconds it took to read a slot, which does not depend on how many. */
    bool locked;   /* It has failed, for somebody held a lock for longer than the link waits. */
} px_caught;

/* Takes over what the logs have, of all tables, as of one moment, so that all constraints that hold
 * in the old tables hold in the new ones; and compares the rows that it wrote. It is one
 * transaction of the writer's, which it leaves open if `open`; then no writer may be at work, and
 * the caller has begun it (REPEATABLE READ). False with a message, but none if a lock is the
 * reason. */
PGW_MUST_CHECK bool px_rows_catch_up(const px_migration *it, bool open, px_caught *caught);
/* Does so again and again until the logs are short. */
PGW_MUST_CHECK bool px_rows_catch_up_soon(const px_migration *it);

/* Compares all rows of the old and the new tables as of one moment: how many, and a digest. The
 * logs must be taken over as of the same moment: so before the cutover it catches up itself.
 * `switched`: the new tables have the names. False with a message: they differ. */
PGW_MUST_CHECK bool px_rows_compare(const px_migration *it, bool switched);

#endif
