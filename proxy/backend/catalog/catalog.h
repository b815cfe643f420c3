/*
 * catalog: what a worker's sessions know of the configured tables. One snapshot for each database
 * serves all workers. It is believed until a change is marked, and for backend.catalog_s at most;
 * then the database's reader asks the backend.
 */
#ifndef PX_CATALOG_H
#define PX_CATALOG_H

#include "protocol/error.h"
#include "proxy/backend/base/identity.h"
#include "proxy/backend/schema/database.h"
#include "proxy/loop/worker.h"
#include "rewrite/statement/words/passed.h"

struct px_catalogs *px_catalogs_new(px_worker *worker);
extern const px_tenant px_catalogs_tenant; /* frees px_worker.catalogs at the end */

/* The tables and patterns as the file has them, in its order, made by px_schema_plan(): enough to
 * see that a text names no configured table, or that it makes one. */
const rw_catalog *px_catalog_names(px_worker *worker);
/* The filter that sees in the least time that a text names no configured table. */
const rw_prefilter *px_catalog_filter(px_worker *worker);
/* What rw_prefilter_passes() says, which is remembered for long texts that come again. */
PGW_MUST_CHECK bool px_catalog_passes(px_worker *worker, pgw_slice text, unsigned *effects);
/* The names of all tables of the snapshot, and more; NULL: the snapshot is of another
 * configuration. */
const struct rw_word_set *px_catalog_words(px_worker *worker, const px_catalog *catalog);
/* The snapshot to use now; NULL if the backend must be asked first. Not counted: take it to keep
 * it. */
px_catalog *px_catalog_now(px_worker *worker, const px_identity *identity);
/* The snapshot whose names, columns and primary keys are right, though all else may be wrong; NULL:
 * there is none. Not counted. */
px_catalog *px_catalog_of_keys(px_worker *worker, const px_identity *identity);
/* Whether the database certainly has fewer tables of patterns than there may be, though each change
 * since the newest snapshot, and `more` that are not marked, may have made one. */
bool px_catalog_has_room(px_worker *worker, const px_identity *identity, uint64_t more);
/* The newest snapshot of the configuration in force, right or not; NULL: there is none. For writers
 * to a backend whose tables the file alone describes. */
px_catalog *px_catalog_last(px_worker *worker, const px_identity *identity);
/* The snapshot of the configuration in force, made of the file alone and published to all workers
 * if there is none. */
px_catalog *px_catalog_by_file(px_worker *worker, const px_identity *identity);
/* Has the backend asked, over a link opened as `identity` if the reader has none, and calls back on
 * a later turn. NULL: look again; else the error that `identity` would get. `inside`: the waiter
 * has begun a transaction; then it gets an error at once while `keyspread migrate` switches tables,
 * which waits for transactions. */
typedef void px_catalog_loaded(void *waiter, const pgw_error *error);
void px_catalog_load(px_worker *worker, px_identity *identity, bool inside,
                     px_catalog_loaded *loaded, void *waiter);
/* The newest snapshot, right or not, or NULL. `seen` gets its fingerprints, and the marks and the
 * time of a look that begins now. */
px_catalog *px_catalog_before(px_worker *worker, const px_identity *identity, px_seen *seen);
/* Publishes what a session has read of the catalog by itself; takes `seen` over. */
void px_catalog_saw(px_worker *worker, const px_identity *identity, px_seen seen);
/* Calls `loaded` back on a later turn, with a copy of `error`. */
void px_catalog_tell(px_worker *worker, px_catalog_loaded *loaded, void *waiter,
                     const pgw_error *error);
/* Callbacks for `waiter` are not called any more. */
void px_catalog_forget(px_worker *worker, void *waiter);
/* Whether the database's functions, views and defaults certainly change neither sessions nor the
 * schema. */
bool px_catalog_is_quiet(px_worker *worker, const px_identity *identity);
/* Marks that the snapshot of the database may be wrong for so many changes, at least 1: no worker
 * uses it again before the backend was asked. */
void px_catalog_stale(px_worker *worker, const char *database, uint64_t changes);
/* Marks the same for changes that have left alone the names, columns and primary keys of tables. */
void px_catalog_stale_kept(px_worker *worker, const char *database, uint64_t changes);
/* How often the snapshot of the identity's database was marked as perhaps wrong. */
uint64_t px_catalog_marks(px_worker *worker, const px_identity *identity);
/* How often a client of this process may have changed where a sequence of the database goes on
 * (setval(), ALTER SEQUENCE); reset() counts one more. */
uint64_t px_catalog_resets(px_worker *worker, const px_identity *identity);
void px_catalog_reset(px_worker *worker, const char *database);
/* Closes the reader's link to the database soon, for the database is to be dropped or copied. */
void px_catalogs_leave(px_worker *worker, const char *database);

#endif
