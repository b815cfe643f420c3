/*
 * decoding: what writers change in the old tables, by logical decoding: the keys of changed rows
 * are read from the migration's replication slot into the logs that triggers would fill. A
 * migration that logs by triggers has no slot, and nothing is done for it here.
 */
#ifndef PX_MIGRATE_DECODING_H
#define PX_MIGRATE_DECODING_H

#include "proxy/command/migrate/migration.h"

/* Reads the changes of all transactions that the writer's transaction sees, and of no other, into
 * the logs. The writer's transaction is REPEATABLE READ, and also notes how far the slot is read.
 * It takes no longer than the writer waits for a lock. False with a message, but none if `locked`:
 * it would have taken longer. */
PGW_MUST_CHECK bool px_decoding_read(const px_migration *it, bool *locked);
/* Lets the server drop the WAL that is read. The writer's transaction that has noted it is
 * committed. */
PGW_MUST_CHECK bool px_decoding_confirm(const px_migration *it);
/* Reads the changes and confirms them, in a transaction of its own, if `then`, when it last did so,
 * is a minute ago. */
PGW_MUST_CHECK bool px_decoding_keep_up(const px_migration *it, double *then);

#endif
