/*
 * catalog: what a worker's sessions ask of the configured tables. One snapshot a database serves
 * all workers; it is believed until something is marked that may have changed it, and for
 * backend.catalog_s at most. Then its reader asks the backend.
 */
#ifndef PX_CATALOG_H
#define PX_CATALOG_H

#include "protocol/error.h"
#include "proxy/backend/base/identity.h"
#include "proxy/backend/schema/database.h"
#include "proxy/loop/worker.h"
#include "rewrite/statement/words/passed.h"

struct px_catalogs *px_catalogs_new(px_worker *worker);
extern const px_tenant px_catalogs_tenant; /* which frees them */

/* The tables and patterns by the file alone, in its order, as px_schema_plan() has them: enough to
 * see that a text is none of ours, and to make one of them. */
const rw_catalog *px_catalog_names(px_worker *worker);
/* … and what sees that in the least time. */
const rw_prefilter *px_catalog_filter(px_worker *worker);
/* The same as rw_prefilter_passes(), which long texts that come again need not be asked. */
PGW_MUST_CHECK bool px_catalog_passes(px_worker *worker, pgw_slice text, unsigned *effects);
/* The names of all tables of the snapshot, and more; NULL: it is of another configuration. */
const struct rw_word_set *px_catalog_words(px_worker *worker, const px_catalog *catalog);
/* The snapshot to use now; NULL if the backend must be asked first. Not counted: take it to keep
 * it. */
px_catalog *px_catalog_now(px_worker *worker, const px_identity *identity);
/* … however long ago it was right, and whichever worker heard of it; NULL: nothing is known yet, or
 * of another configuration. For who writes to a backend whose tables the file alone describes. */
px_catalog *px_catalog_last(px_worker *worker, const px_identity *identity);
/* … of this one, made and told to all if need be. */
px_catalog *px_catalog_by_file(px_worker *worker, const px_identity *identity);
/* Has the backend asked, over a link opened as `identity` if there is none, and calls back on a
 * later turn: look again (NULL), or the error that this identity would get. */
typedef void px_catalog_loaded(void *waiter, const pgw_error *error);
void px_catalog_load(px_worker *worker, px_identity *identity, px_catalog_loaded *loaded,
                     void *waiter);
/* The newest snapshot, right or not, or NULL, with its fingerprints; and what a look that begins
 * now is to be called. */
px_catalog *px_catalog_before(px_worker *worker, const px_identity *identity, px_seen *seen);
/* A session has looked by itself. `seen` is given away. */
void px_catalog_saw(px_worker *worker, const px_identity *identity, px_seen seen);
/* Calls back on a later turn. */
void px_catalog_tell(px_worker *worker, px_catalog_loaded *loaded, void *waiter,
                     const pgw_error *error);
/* `waiter` is not called any more. */
void px_catalog_forget(px_worker *worker, void *waiter);
/* What the database stores certainly changes neither sessions nor the schema. */
bool px_catalog_is_quiet(px_worker *worker, const px_identity *identity);
/* Something was seen after which the snapshot may be wrong: no worker uses it again before the
 * backend was asked. */
void px_catalog_stale(px_worker *worker, const char *database);
/* How often something was. */
uint64_t px_catalog_marks(px_worker *worker, const px_identity *identity);
/* How often a sequence of the session's database may have been made to go on from elsewhere, as far
 * as anybody of this process has done that. */
uint64_t px_catalog_resets(px_worker *worker, const px_identity *identity);
void px_catalog_reset(px_worker *worker, const char *database);
/* The database is to be dropped or copied: the link that is kept there is closed, soon. */
void px_catalogs_leave(px_worker *worker, const char *database);

#endif
