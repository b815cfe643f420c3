#include "proxy/catalog.h"

#include "protocol/backend.h"
#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "proxy/audit.h"
#include "proxy/classify.h"
#include "proxy/link.h"
#include "proxy/log.h"
#include "proxy/plan.h"
#include "proxy/schema.h"
#include "proxy/server.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRESH_MS = 60000, INCOMPLETE_MS = 1000, KEPT_MS = 1000, MAX_CELLS = 64, AUDITED_ROWS = 100 };

typedef struct waiter {
    struct waiter *next;
    px_identity *identity;
    px_catalog_loaded *loaded;
    void *who;
} waiter;

/* One database's snapshot and the load under way. */
typedef struct entry {
    struct entry *next;
    px_worker *worker;
    char *database;
    px_catalog *current;                      /* counted */
    uint64_t asked_at, loaded_at, kept_until; /* the first: what is being loaded */
    bool stale, was_stale;                    /* the latter when the load began */
    px_link *link;                            /* while loading */
    px_identity *asker;                       /* as whom */
    waiter *waiters;
    px_schema_rows *rows;
    px_catalog *fresh; /* built, and being audited */
    size_t audited;    /* of its tables */
    unsigned audit_rows, audit_wrong;
    pgw_error error;
} entry;

struct px_catalogs {
    px_worker *worker;
    entry *entries;
    uint64_t epoch;
    const cfg_config *names_of; /* the configuration that `names` was made from */
    rw_catalog names;
    rw_table *stubs;
    const rw_table **pointers;
};

void px_catalog_take(px_catalog *catalog)
{
    catalog->references++;
}

void px_catalog_drop(px_catalog *catalog)
{
    if (catalog == NULL || --catalog->references > 0)
        return;
    for (size_t i = 0; i < catalog->count; i++)
        rw_table_free(catalog->tables[i]);
    free(catalog->tables);
    free(catalog->configs);
    free(catalog);
}

const cfg_table *px_catalog_config(const px_catalog *catalog, const rw_table *table)
{
    for (size_t i = 0; i < catalog->count; i++)
        if (catalog->tables[i] == table)
            return catalog->configs[i];
    return NULL;
}

/* ---- building a snapshot ---- */

static px_catalog *build(entry *e, uint64_t epoch)
{
    const cfg_config *config = e->worker->config;
    px_catalog *catalog = pgw_calloc(1, sizeof *catalog);
    catalog->references = 1;
    catalog->epoch = epoch;
    catalog->tables = pgw_calloc(config->table_count, sizeof *catalog->tables);
    catalog->configs = pgw_calloc(config->table_count, sizeof *catalog->configs);
    for (size_t i = 0; i < config->table_count; i++) {
        pgw_error error = PGW_ERROR_NONE;
        rw_table *table = px_schema_build(&config->tables[i], e->rows, epoch, &error);
        if (table == NULL) {
            catalog->incomplete = true;
            continue;
        }
        if (table->unusable != NULL)
            px_log(CFG_LOG_ERROR, "table_unusable", "table=%s reason=%s",
                   cfg_table_label(&config->tables[i]), table->unusable);
        catalog->configs[catalog->count] = &config->tables[i];
        catalog->tables[catalog->count++] = table;
    }
    return catalog;
}

static bool same(const px_catalog *a, const px_catalog *b)
{
    if (a == NULL || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->configs[i] != b->configs[i] || !px_schema_same(a->tables[i], b->tables[i]))
            return false;
    return true;
}

/* An unchanged schema keeps its epoch, so that plans and batches go on. */
static bool unchanged(entry *e)
{
    if (!same(e->current, e->fresh))
        return false;
    e->current->incomplete = e->fresh->incomplete;
    px_catalog_drop(e->fresh);
    e->fresh = NULL;
    return true;
}

static void adopt(entry *e)
{
    px_catalog_drop(e->current);
    e->current = e->fresh;
    e->fresh = NULL;
    px_log(CFG_LOG_INFO, "catalog", "database=%s worker=%u tables=%zu epoch=%llu", e->database,
           e->worker->index, e->current->count, (unsigned long long)e->current->epoch);
}

/* ---- loading ---- */

static void start(entry *e, px_identity *identity);

static void free_waiter(waiter *w)
{
    px_identity_drop(w->identity);
    free(w);
}

/* The asker was not let in: others may be. */
static bool is_personal(const pgw_error *error)
{
    return error != NULL && px_error_is_personal(error);
}

/* Takes the waiters whom the end of this load concerns off the list: all, but if the asker could
 * not log in, only those who would log in the same way. */
static waiter *take_waiters(entry *e, const pgw_error *error)
{
    bool personal = is_personal(error);
    waiter *taken = NULL;
    for (waiter **at = &e->waiters; *at != NULL;) {
        waiter *w = *at;
        if (personal && strcmp(w->identity->key, e->asker->key) != 0) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        w->next = taken;
        taken = w;
    }
    return taken;
}

/* Who is not let in any more, by a new password, goes on with what was read before. */
static bool keep(entry *e, const pgw_error *error)
{
    if (!is_personal(error) || e->current == NULL || e->stale)
        return false;
    e->kept_until = px_worker_now(e->worker) + KEPT_MS;
    return true;
}

static void finish(entry *e, const pgw_error *error)
{
    if (e->link != NULL)
        px_link_close(e->link);
    e->link = NULL;
    px_schema_rows_free(e->rows);
    e->rows = NULL;
    px_catalog_drop(e->fresh);
    e->fresh = NULL;
    if (error != NULL)
        px_count(e->worker->metrics, PX_CATALOG_LOADS_FAILED, 1);
    e->stale = e->stale || (error != NULL && e->was_stale);
    waiter *w = take_waiters(e, error);
    px_identity_drop(e->asker);
    e->asker = NULL;
    if (keep(e, error))
        error = NULL;
    while (w != NULL) {
        waiter *next = w->next;
        px_catalog_loaded *loaded = w->loaded;
        void *who = w->who;
        free_waiter(w);
        loaded(who, error);
        w = next;
    }
    if (e->waiters != NULL && e->link == NULL)
        start(e, e->waiters->identity);
}

static void finish_well(entry *e)
{
    px_metrics *metrics = e->worker->metrics;
    px_count(metrics, PX_CATALOG_LOADS_OK, 1);
    atomic_store(&metrics->catalog_loaded, (uint64_t)time(NULL));
    e->loaded_at = e->asked_at;
    finish(e, NULL);
}

static void ask(entry *e, const pgw_buf *sql)
{
    pgw_buf message = {0};
    pgw_certainly(pgw_write_query(pgw_slice_buf(sql), &message));
    px_stream_put_buf(px_link_stream(e->link), &message);
    pgw_buf_free(&message);
}

static void on_ready(px_link *link)
{
    entry *e = px_link_owner(link);
    pgw_buf sql = {0};
    px_schema_query(e->worker->config, &sql);
    ask(e, &sql);
    pgw_buf_free(&sql);
}

static void on_failed(px_link *link, const pgw_error *error)
{
    entry *e = px_link_owner(link);
    e->link = NULL;
    finish(e, error);
}

static void on_row(entry *e, pgw_slice body)
{
    pgw_slice cells[MAX_CELLS];
    bool nulls[MAX_CELLS];
    int count = pgw_data_row_decode(body, cells, nulls, MAX_CELLS);
    if (count <= 0 || count > MAX_CELLS)
        return;
    if (e->fresh == NULL) {
        px_schema_rows_add(e->rows, cells, nulls, (size_t)count);
        return;
    }
    const rw_table *table = e->fresh->tables[e->audited];
    e->audit_rows++;
    e->audit_wrong += (size_t)count == table->hash_key_count + 1 &&
                      px_audit_row(table, cells, nulls, NULL) != PX_AUDIT_RIGHT;
}

/* A table filled by another rule, or by nobody's: rows that this one adds would be found, the
 * others not. */
static void end_audit(entry *e)
{
    rw_table *table = e->fresh->tables[e->audited++];
    if (e->audit_wrong == 0)
        return;
    pgw_buf why = {0};
    pgw_buf_addf(&why, "it has rows whose hash is wrong: %u of the first %u", e->audit_wrong,
                 e->audit_rows);
    table->unusable = pgw_strndup(why.ptr, why.len);
    pgw_buf_free(&why);
    px_log(CFG_LOG_ERROR, "table_unusable", "table=%s rows=%u wrong=%u", table->name, e->audit_rows,
           e->audit_wrong);
}

/* Asks for rows of the next table that can be used; false if there is none left. */
static bool audit_next(entry *e)
{
    while (e->audited < e->fresh->count && e->fresh->tables[e->audited]->unusable != NULL)
        e->audited++;
    if (e->audited == e->fresh->count)
        return false;
    pgw_buf sql = {0};
    px_audit_query(e->fresh->tables[e->audited], AUDITED_ROWS, &sql);
    ask(e, &sql);
    pgw_buf_free(&sql);
    e->audit_rows = e->audit_wrong = 0;
    return true;
}

/* ReadyForQuery: of the schema, or of a table's rows. True if that was the end. */
static bool on_answered(entry *e)
{
    if (e->fresh != NULL) {
        end_audit(e);
    } else if (e->error.sqlstate[0] != '\0') {
        pgw_error error = e->error;
        finish(e, &error);
        return true;
    } else {
        e->asked_at = px_worker_now(e->worker);
        e->fresh = build(e, ++e->worker->catalogs->epoch);
        e->audited = 0;
        if (unchanged(e)) {
            finish_well(e);
            return true;
        }
    }
    if (audit_next(e))
        return false;
    adopt(e);
    finish_well(e);
    return true;
}

/* True if that was the end. */
static bool on_message(entry *e, char type, pgw_slice body)
{
    if (type == 'D')
        on_row(e, body);
    if (type == 'E' && e->fresh == NULL)
        pgw_error_read(body, &e->error); /* rows that cannot be read are not judged */
    return type == 'Z' && on_answered(e);
}

static void on_input(px_link *link)
{
    entry *e = px_link_owner(link);
    px_stream *stream = px_link_stream(link);
    pgw_frame frame;
    for (;;) {
        pgw_slice input = px_stream_input(stream);
        if (pgw_frame_next(input, &frame) != PGW_FRAME_OK)
            return;
        if (input.len < frame.size) {
            px_stream_expect(stream, frame.size);
            return;
        }
        if (on_message(e, frame.type, pgw_frame_body(input, frame)))
            return;
        px_stream_consume(stream, frame.size);
    }
}

static void on_drained(px_link *link)
{
    (void)link;
}

static void on_lost(px_link *link, const char *reason)
{
    entry *e = px_link_owner(link);
    pgw_error error;
    pgw_fail(&error, "08006",
             "the connection to the backend was lost while the schema was read: %s", reason);
    finish(e, &error);
}

static const px_link_ops link_ops = {on_ready, on_failed, on_input, on_drained, on_lost};

static entry *find(px_worker *worker, const char *database)
{
    for (entry *e = worker->catalogs->entries; e != NULL; e = e->next)
        if (strcmp(e->database, database) == 0)
            return e;
    return NULL;
}

static void start(entry *e, px_identity *identity)
{
    e->was_stale = e->stale;
    e->stale = false; /* what is heard from now on is not in this load */
    e->error = PGW_ERROR_NONE;
    e->rows = px_schema_rows_new();
    e->asker = px_identity_take(identity);
    e->link = px_link_open(e->worker, identity, PX_AUDIT_OPTIONS, &link_ops, e);
}

void px_catalog_load(px_worker *worker, px_identity *identity, px_catalog_loaded *loaded, void *who)
{
    entry *e = find(worker, identity->database);
    if (e == NULL) {
        e = pgw_calloc(1, sizeof *e);
        e->worker = worker;
        e->database = pgw_strndup(identity->database, strlen(identity->database));
        e->next = worker->catalogs->entries;
        worker->catalogs->entries = e;
    }
    waiter *w = pgw_alloc(sizeof *w);
    *w = (waiter){
        .next = e->waiters, .identity = px_identity_take(identity), .loaded = loaded, .who = who};
    e->waiters = w;
    if (e->link == NULL)
        start(e, identity);
}

void px_catalog_forget(px_worker *worker, void *who)
{
    for (entry *e = worker->catalogs->entries; e != NULL; e = e->next)
        for (waiter **at = &e->waiters; *at != NULL;) {
            waiter *w = *at;
            if (w->who != who) {
                at = &w->next;
                continue;
            }
            *at = w->next;
            free_waiter(w);
        }
}

px_catalog *px_catalog_now(px_worker *worker, const px_identity *identity)
{
    entry *e = find(worker, identity->database);
    if (e == NULL || e->current == NULL || e->stale || e->link != NULL)
        return NULL;
    uint64_t now = px_worker_now(worker);
    uint64_t fresh = e->current->incomplete ? INCOMPLETE_MS : FRESH_MS;
    return now - e->loaded_at < fresh || now < e->kept_until ? e->current : NULL;
}

/* ---- staleness, told to every worker ---- */

typedef struct stale_message {
    px_message message;
    char database[];
} stale_message;

static void on_stale(px_worker *worker, px_message *message)
{
    stale_message *stale = (stale_message *)message;
    entry *e = worker->catalogs != NULL ? find(worker, stale->database) : NULL;
    if (e != NULL)
        e->stale = true;
    free(stale);
}

void px_catalog_stale(px_worker *worker, const char *database)
{
    entry *own = find(worker, database);
    if (own != NULL)
        own->stale = true;
    for (unsigned i = 0; i < worker->server->worker_count; i++) {
        px_worker *other = &worker->server->workers[i];
        if (other == worker)
            continue;
        stale_message *stale = pgw_alloc(sizeof *stale + strlen(database) + 1);
        stale->message.run = on_stale;
        strcpy(stale->database, database);
        px_worker_send(other, &stale->message);
    }
}

/* ---- names ---- */

static void make_names(struct px_catalogs *catalogs)
{
    const cfg_config *config = catalogs->worker->config;
    free(catalogs->stubs);
    free(catalogs->pointers);
    catalogs->stubs = pgw_calloc(config->table_count, sizeof *catalogs->stubs);
    catalogs->pointers = pgw_calloc(config->table_count, sizeof *catalogs->pointers);
    for (size_t i = 0; i < config->table_count; i++) {
        const cfg_table *table = &config->tables[i];
        catalogs->stubs[i].schema = table->schema ? table->schema : (char *)"public";
        catalogs->stubs[i].name = table->name;
        catalogs->pointers[i] = &catalogs->stubs[i];
    }
    catalogs->names = (rw_catalog){.tables = catalogs->pointers, .count = config->table_count};
    catalogs->names_of = config;
}

const rw_catalog *px_catalog_names(px_worker *worker)
{
    struct px_catalogs *catalogs = worker->catalogs;
    if (catalogs->names_of != worker->config) {
        make_names(catalogs);
        for (entry *e = catalogs->entries; e != NULL; e = e->next)
            e->stale = true; /* another file, another rule */
    }
    return &catalogs->names;
}

/* ---- life ---- */

struct px_catalogs *px_catalogs_new(px_worker *worker)
{
    struct px_catalogs *catalogs = pgw_calloc(1, sizeof *catalogs);
    catalogs->worker = worker;
    return catalogs;
}

void px_catalogs_free(struct px_catalogs *catalogs)
{
    while (catalogs->entries != NULL) {
        entry *e = catalogs->entries;
        catalogs->entries = e->next;
        while (e->waiters != NULL) {
            waiter *next = e->waiters->next;
            free_waiter(e->waiters);
            e->waiters = next;
        }
        finish(e, NULL);
        px_catalog_drop(e->current);
        free(e->database);
        free(e);
    }
    free(catalogs->stubs);
    free(catalogs->pointers);
    catalogs->worker->catalogs = NULL;
    free(catalogs);
}
