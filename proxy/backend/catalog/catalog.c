#include "proxy/backend/catalog/catalog.h"

#include "proxy/backend/base/dsn.h"
#include "proxy/backend/catalog/reader.h"
#include "proxy/backend/schema/schema.h"
#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <stdlib.h>
#include <string.h>

enum { INCOMPLETE_MS = 1000, FORGOTTEN_MS = 5 * 60 * 1000, USE_MS = 500 };

/* A database, as this worker saw it last. */
typedef struct entry {
    struct entry *next;
    px_database *database; /* a counted reference */
    px_seen seen;
    uint64_t used_at;
} entry;

struct px_catalogs {
    px_worker *worker;
    entry *entries;
    px_question *waiting;       /* questions that sessions of this worker have asked */
    const cfg_config *names_of; /* the configuration that `names` was made from */
    bool one_database;          /* backend.dsn names the database, whatever database clients name */
    rw_catalog names;
    rw_table **planned;
    rw_prefilter filter; /* finds texts that mention none of `names` */
    rw_passed passed;    /* what `filter` said of long texts that came before */
};

static _Atomic unsigned under_way; /* questions under way in the whole process */

/* No question of any worker is under way. */
static bool all_idle(px_worker *worker)
{
    (void)worker;
    return atomic_load(&under_way) == 0;
}

/* ---- names ---- */

static void free_names(struct px_catalogs *catalogs)
{
    for (size_t i = 0; i < catalogs->names.count; i++)
        rw_table_free(catalogs->planned[i]);
    free(catalogs->planned);
    rw_prefilter_free(&catalogs->filter);
    rw_passed_free(&catalogs->passed);
}

static void make_names(struct px_catalogs *catalogs)
{
    const cfg_config *config = catalogs->worker->config;
    size_t count = config->table_count + config->pattern_count;
    free_names(catalogs);
    catalogs->planned = pgw_calloc(count, sizeof(rw_table *));
    for (size_t i = 0; i < count; i++)
        catalogs->planned[i] = px_schema_plan(&config->tables[i]);
    catalogs->names =
        (rw_catalog){.tables = (const rw_table *const *)catalogs->planned, .count = count};
    rw_prefilter_init(&catalogs->filter, &catalogs->names);
    catalogs->names.words = &catalogs->filter.words;
    catalogs->one_database = px_dsn_names(config->backend.dsn, "dbname");
    catalogs->names_of = config;
}

const rw_catalog *px_catalog_names(px_worker *worker)
{
    struct px_catalogs *catalogs = worker->catalogs;
    if (catalogs->names_of != worker->config)
        make_names(catalogs);
    return &catalogs->names;
}

const rw_prefilter *px_catalog_filter(px_worker *worker)
{
    (void)px_catalog_names(worker);
    return &worker->catalogs->filter;
}

bool px_catalog_passes(px_worker *worker, pgw_slice text, unsigned *effects)
{
    const rw_prefilter *filter = px_catalog_filter(worker);
    return rw_passed_passes(&worker->catalogs->passed, text, filter, effects);
}

const struct rw_word_set *px_catalog_words(px_worker *worker, const px_catalog *catalog)
{
    return catalog->config == worker->config ? px_catalog_names(worker)->words : NULL;
}

/* ---- databases ---- */

static const char *name_of(px_worker *worker, const char *database)
{
    px_catalog_names(worker);
    return worker->catalogs->one_database ? "" : database;
}

static entry *find_entry(px_worker *worker, const char *database)
{
    const char *name = name_of(worker, database);
    for (entry *e = worker->catalogs->entries; e != NULL; e = e->next)
        if (strcmp(e->database->name, name) == 0)
            return e;
    return NULL;
}

static entry *find_or_add(px_worker *worker, const char *database)
{
    entry *e = find_entry(worker, database);
    if (e != NULL)
        return e;
    e = pgw_calloc(1, sizeof *e);
    e->database = px_database_take(name_of(worker, database));
    e->used_at = px_worker_now(worker);
    e->next = worker->catalogs->entries;
    worker->catalogs->entries = e;
    return e;
}

static void free_entry(entry *e)
{
    px_catalog_drop(e->seen.catalog);
    px_database_drop(e->database);
    free(e);
}

/* ---- what is known ---- */

/* Whether the snapshot is of the configuration in force, and no older than it may be. */
static bool is_young(const px_worker *worker, const entry *e)
{
    const px_catalog *catalog = e->seen.catalog;
    if (catalog == NULL || catalog->config != worker->config)
        return false;
    uint64_t most = (uint64_t)worker->config->backend.catalog_s * 1000;
    if (catalog->incomplete && most > INCOMPLETE_MS)
        most = INCOMPLETE_MS;
    return px_worker_now(worker) < e->seen.checked_at + most;
}

static bool is_right(const px_worker *worker, const entry *e)
{
    return is_young(worker, e) && e->seen.marks == atomic_load(&e->database->marks);
}

/* Notes that a statement used the snapshot, at most every USE_MS: the reader looks by itself while
 * it is used. */
static void note_use(px_worker *worker, entry *e)
{
    uint64_t now = px_worker_now(worker);
    if (now < e->used_at + USE_MS)
        return;
    e->used_at = now;
    atomic_store(&e->database->used_at, now);
}

px_catalog *px_catalog_now(px_worker *worker, const px_identity *identity)
{
    entry *e = find_entry(worker, identity->database);
    if (e == NULL)
        return NULL;
    bool right = is_right(worker, e);
    if (!right) {
        px_database_look(e->database, &e->seen);
        right = is_right(worker, e);
    }
    if (!right)
        return NULL; /* A snapshot that is not right is not used: the reader waits until it is
                        asked. */
    note_use(worker, e);
    return e->seen.catalog;
}

px_catalog *px_catalog_of_keys(px_worker *worker, const px_identity *identity)
{
    entry *e = find_entry(worker, identity->database);
    if (e == NULL)
        return NULL;
    px_database_look(e->database, &e->seen);
    if (!is_young(worker, e) || e->seen.keys != atomic_load(&e->database->keys))
        return NULL;
    note_use(worker, e);
    return e->seen.catalog;
}

bool px_catalog_has_room(px_worker *worker, const px_identity *identity, uint64_t more)
{
    entry *e = find_entry(worker, identity->database);
    if (worker->config->pattern_count == 0)
        return true;
    if (e == NULL)
        return false;
    px_database_look(e->database, &e->seen);
    uint64_t changes = atomic_load(&e->database->marks) - e->seen.marks + more;
    return is_young(worker, e) && e->seen.catalog->by_pattern + changes < RW_PATTERN_TABLES;
}

px_catalog *px_catalog_last(px_worker *worker, const px_identity *identity)
{
    entry *e = find_or_add(worker, identity->database);
    note_use(worker, e);
    if (!is_right(worker, e))
        px_database_look(e->database, &e->seen);
    px_catalog *last = e->seen.catalog;
    return last != NULL && last->config == worker->config ? last : NULL;
}

px_catalog *px_catalog_by_file(px_worker *worker, const px_identity *identity)
{
    px_seen made;
    px_catalog *last = px_catalog_last(worker, identity);
    if (last != NULL)
        return last;
    entry *e = find_or_add(worker, identity->database);
    px_catalog_drop(px_catalog_before(worker, identity, &made));
    made.catalog = px_catalog_build(worker->config, NULL, NULL);
    e->seen = made; /* set here, for other workers may publish a snapshot of another configuration
                       meanwhile */
    px_catalog_take(made.catalog);
    px_database_publish(e->database, made);
    return e->seen.catalog;
}

bool px_catalog_is_quiet(px_worker *worker, const px_identity *identity)
{
    const entry *e = find_entry(worker, identity->database);
    const px_catalog *catalog = e != NULL ? e->seen.catalog : NULL;
    return catalog != NULL && catalog->count > 0 && (catalog->tables[0]->quiet & RW_EFFECT_RUNS);
}

px_catalog *px_catalog_before(px_worker *worker, const px_identity *identity, px_seen *seen)
{
    entry *e = find_or_add(worker, identity->database);
    px_database_look(e->database, &e->seen);
    *seen = (px_seen){.fingerprint = e->seen.fingerprint,
                      .places = e->seen.places,
                      .marks = atomic_load(&e->database->marks),
                      .keys = atomic_load(&e->database->keys),
                      .checked_at = px_worker_now(worker)};
    return e->seen.catalog;
}

void px_catalog_saw(px_worker *worker, const px_identity *identity, px_seen seen)
{
    px_database_publish(find_or_add(worker, identity->database)->database, seen);
}

void px_catalog_stale(px_worker *worker, const char *database, uint64_t changes)
{
    px_database_mark(name_of(worker, database), changes);
}

void px_catalog_stale_kept(px_worker *worker, const char *database, uint64_t changes)
{
    px_database_mark_kept(name_of(worker, database), changes);
}

uint64_t px_catalog_marks(px_worker *worker, const px_identity *identity)
{
    const entry *e = find_entry(worker, identity->database);
    return e != NULL ? atomic_load(&e->database->marks) : 0;
}

uint64_t px_catalog_resets(px_worker *worker, const px_identity *identity)
{
    const entry *e = find_entry(worker, identity->database);
    return e != NULL ? atomic_load(&e->database->resets) : 0;
}

void px_catalog_reset(px_worker *worker, const char *database)
{
    px_database_reset(name_of(worker, database));
}

void px_catalogs_leave(px_worker *worker, const char *database)
{
    px_reader_leave(worker, name_of(worker, database));
}

/* ---- questions ---- */

static void enlist(px_question **list, px_question *question)
{
    question->later = *list;
    question->place = list;
    if (question->later != NULL)
        question->later->place = &question->later;
    *list = question;
}

static void delist(px_question *question)
{
    *question->place = question->later;
    if (question->later != NULL)
        question->later->place = question->place;
}

static void on_answered(px_worker *worker, px_message *message)
{
    px_question *question = (px_question *)message;
    for (entry *e = worker->catalogs->entries; e != NULL; e = e->next)
        if (e->database == question->database)
            px_database_look(e->database, &e->seen); /* the reader's snapshot may be newer than this
                                                        worker's, though that is still right */
    delist(question);
    px_database_drop(question->database);
    px_identity_drop(question->identity);
    atomic_fetch_sub(&under_way, 1);
    if (question->who != NULL)
        question->loaded(question->who,
                         question->error.sqlstate[0] != '\0' ? &question->error : NULL);
    free(question);
}

static px_question *new_question(px_worker *worker, px_catalog_loaded *loaded, void *who)
{
    px_question *question = pgw_alloc(sizeof *question);
    *question = (px_question){.asker = worker,
                              .error = PGW_ERROR_NONE,
                              .answered = on_answered,
                              .loaded = loaded,
                              .who = who};
    enlist(&worker->catalogs->waiting, question);
    atomic_fetch_add(&under_way, 1);
    return question;
}

void px_catalog_load(px_worker *worker, px_identity *identity, bool inside,
                     px_catalog_loaded *loaded, void *who)
{
    px_question *question = new_question(worker, loaded, who);
    question->inside = inside;
    question->database = px_database_again(find_or_add(worker, identity->database)->database);
    question->identity = px_identity_take(identity);
    px_reader_ask(question);
}

void px_catalog_tell(px_worker *worker, px_catalog_loaded *loaded, void *who,
                     const pgw_error *error)
{
    px_question *question = new_question(worker, loaded, who);
    if (error != NULL)
        question->error = *error;
    question->message.run = on_answered;
    px_worker_send(worker, &question->message);
}

void px_catalog_forget(px_worker *worker, void *who)
{
    for (px_question *q = worker->catalogs->waiting; q != NULL; q = q->later)
        if (q->who == who)
            q->who = NULL;
}

/* ---- life ---- */

struct px_catalogs *px_catalogs_new(px_worker *worker)
{
    struct px_catalogs *catalogs = pgw_calloc(1, sizeof *catalogs);
    catalogs->worker = worker;
    return catalogs;
}

static void forget_unused(px_worker *worker)
{
    uint64_t now = px_worker_now(worker);
    for (entry **at = &worker->catalogs->entries; *at != NULL;) {
        entry *e = *at;
        if (now < e->used_at + FORGOTTEN_MS) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        free_entry(e);
    }
}

static void tick(px_worker *worker)
{
    forget_unused(worker);
    px_readers_tick(worker);
}

static void end(px_worker *worker)
{
    struct px_catalogs *catalogs = worker->catalogs;
    px_readers_free(worker);
    while (catalogs->entries != NULL) {
        entry *e = catalogs->entries;
        catalogs->entries = e->next;
        free_entry(e);
    }
    free_names(catalogs);
    worker->catalogs = NULL;
    free(catalogs);
}

const px_tenant px_catalogs_tenant = {
    .tick = tick, .yield = px_readers_yield, .idle = all_idle, .end = end};
