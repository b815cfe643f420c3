#include "proxy/backend/catalog/reader.h"

#include "proxy/backend/base/databases.h"

#include "protocol/frontend.h"
#include "proxy/backend/base/backend.h"
#include "proxy/backend/base/classify.h"
#include "proxy/backend/base/dsn.h"
#include "proxy/backend/base/link.h"
#include "proxy/backend/schema/audit.h"
#include "proxy/backend/schema/look.h"
#include "proxy/base/log.h"
#include "proxy/base/shared.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

enum {
    KEPT_MS = 60 * 1000,     /* an idle link to a database with configured tables and sessions */
    KEPT_BARE_MS = 3 * 1000, /* an idle link to any other database */
    SILENCE_MS = 30 * 1000,  /* a backend that does not answer for so long is gone */
    DEAF_MS = 5 * 60 * 1000  /* nobody is believed who says that tables are switched, behind one who
                                had the lock for too long */
};

/* Options that override all settings of a role, a database or the connection string. What is asked
 * is planned once, perhaps when there are few tables: without enable_seqscan=off it would read
 * whole relations for each of those that are made later. */
#define OPTIONS                                                                                    \
    PX_AUDIT_OPTIONS " -c role=none -c search_path=pg_catalog -c statement_timeout=0"              \
                     " -c lock_timeout=0 -c row_security=off -c jit=off -c random_page_cost=1"     \
                     " -c enable_seqscan=off"                                                      \
                     " -c standard_conforming_strings=on"                                          \
                     " -c default_transaction_isolation=read\\ committed"                          \
                     " -c default_transaction_deferrable=off"

/* default_transaction_read_only is no option of the link: libpq would take the server for
 * read-only, and refuse it under target_session_attrs=read-write. On a standby LISTEN fails and
 * undoes the SET, but a standby is read-only by itself. */
#define BEGINNING "set default_transaction_read_only = on; listen " PX_DDL_CHANNEL

/* `keyspread migrate` has this lock while it switches tables. Who waits for a look, waits for it,
 * and not for longer than that takes: anybody can have the lock. */
#define HOLD                                                                                       \
    "set local lock_timeout = '10s'; select "                                                      \
    "pg_catalog.pg_advisory_xact_lock_shared(" PX_SWITCH_LOCK ")"

typedef enum reader_state {
    CLOSED,
    OPENING,
    LISTENING, /* BEGINNING was sent; LISTEN fails on a standby */
    IDLE,
    HELD, /* HOLD was sent */
    LOOKING
} reader_state;

struct px_reader {
    px_reader *next;
    px_worker *worker;
    px_database *database; /* a counted reference */
    reader_state state;
    px_link *link;          /* NULL in the state CLOSED */
    px_identity *identity;  /* identity that the link logs in as; a counted reference */
    px_question *waiting;   /* questions for the next look */
    px_question *answering; /* questions that the look under way answers */
    px_look look;
    px_look_plans plans; /* statements that the look has prepared on the link */
    px_sight sight;      /* what the last look saw */
    uint64_t marks;      /* database->marks before the last look began */
    uint64_t keys;       /* database->keys before the last look began */
    uint64_t looked_at;  /* when the last look began */
    uint64_t asked_at;   /* when the last question came */
    uint64_t moved_at;   /* when the backend was last sent a message, or ended an answer */
    bool leaving;        /* the link is to be closed when the look is done */
    bool held;           /* a switch of tables was announced: the next look begins behind it */
    uint64_t deaf_until; /* until then such an announcement is not believed: px_worker_now() */
    bool lost_one;       /* a link was lost in a look, and none has succeeded since */
    px_findings findings;
};

static void go_on(px_reader *reader);

/* ---- questions ---- */

/* Puts the questions of the look under way before those for the next one. */
static void wait_again(px_reader *reader)
{
    px_questions_put(&reader->answering, reader->waiting);
    reader->waiting = reader->answering;
    reader->answering = NULL;
}

/* ---- the link ---- */

static void close_link(px_reader *reader)
{
    if (reader->link != NULL)
        px_link_close(reader->link);
    reader->link = NULL;
    reader->plans = (px_look_plans){0};
    reader->leaving = reader->held = false;
    reader->state = CLOSED;
    px_look_end(&reader->look);
}

static void say(px_reader *reader, pgw_buf *message)
{
    reader->moved_at = px_worker_now(reader->worker);
    px_link_send_buf(reader->link, message);
    pgw_buf_free(message);
}

/* A transaction may hold locks that the switch waits for: it sees the tables by its own link. */
static void let_transactions_go(px_reader *reader)
{
    pgw_error error;
    pgw_fail(&error, "40001", "the tables are being switched by keyspread migrate");
    pgw_error_hint(&error, "Run the transaction again.");
    px_questions_answer_inside(&reader->waiting, &error);
}

static void hold(px_reader *reader)
{
    pgw_buf message = {0};
    reader->state = HELD;
    reader->held = false;
    let_transactions_go(reader);
    if (pgw_write_query(PGW_LITERAL(HOLD), &message))
        say(reader, &message);
}

static void start_look(px_reader *reader)
{
    pgw_buf message = {0};
    if (reader->held) {
        hold(reader);
        return;
    }
    reader->state = LOOKING;
    reader->answering = reader->waiting;
    reader->waiting = NULL;
    reader->marks = atomic_load(&reader->database->marks);
    reader->keys = atomic_load(&reader->database->keys);
    reader->looked_at = px_worker_now(reader->worker);
    reader->look = (px_look){.config = reader->worker->config,
                             .plans = &reader->plans,
                             .last = &reader->sight,
                             .findings = &reader->findings,
                             .metrics = reader->worker->metrics,
                             .now = reader->looked_at};
    px_look_begin(&reader->look, &message);
    say(reader, &message);
}

/* ---- how a look ends ---- */

static void publish(px_reader *reader)
{
    px_database_publish(reader->database,
                        (px_seen){.catalog = px_catalog_take(reader->sight.catalog),
                                  .marks = reader->marks,
                                  .keys = reader->keys,
                                  .fingerprint = reader->sight.fingerprint,
                                  .places = reader->sight.places,
                                  .checked_at = reader->looked_at});
    atomic_store(&reader->worker->metrics->catalog_loaded, (uint64_t)time(NULL));
}

/* Whether the connections are so few that an idle link must not be kept. */
static bool is_scarce(const px_reader *reader)
{
    return reader->leaving || !reader->sight.unlimited ||
           atomic_load(&reader->worker->server->seats.links) >=
               reader->worker->config->backend.max_links;
}

static void succeed(px_reader *reader, bool other)
{
    px_sight_clear(&reader->sight);
    reader->sight = reader->look.sight;
    reader->look.sight = (px_sight){0};
    px_look_end(&reader->look);
    reader->state = IDLE;
    reader->lost_one = false;
    if (other)
        px_log(CFG_LOG_INFO, "catalog", "database=%s tables=%zu epoch=%llu",
               reader->identity->database, reader->sight.catalog->count,
               (unsigned long long)reader->sight.catalog->epoch);
    publish(reader);
    if (reader->held) /* The tables may be others when the questions could be answered. */
        wait_again(reader);
    px_questions_answer(&reader->answering, NULL, NULL);
    if (is_scarce(reader))
        close_link(reader);
    go_on(reader);
}

/* Whether the error is not the asker's own: all links log in as one user, or it is the server's,
 * the network's or keyspread's. */
static bool is_everybodys(const px_reader *reader, const pgw_error *error)
{
    return px_error_is_servers(error) || px_dsn_names(reader->worker->config->backend.dsn, "user");
}

/* Answers the questions that the error concerns; for the others a link is opened as their own user.
 */
static void fail(px_reader *reader, const pgw_error *error)
{
    px_count(reader->worker->metrics, PX_CATALOG_LOADS_FAILED, 1);
    wait_again(reader);
    px_questions_answer(&reader->waiting, is_everybodys(reader, error) ? NULL : reader->identity,
                        error);
    close_link(reader);
    reader->lost_one = false;
    go_on(reader);
}

/* A kept link may have been closed for any reason: another one is tried, once. */
static void lose(px_reader *reader, const char *reason)
{
    pgw_error error;
    bool idle = reader->state == IDLE;
    if (!idle && reader->lost_one) {
        pgw_fail(&error, "08006",
                 "the connection to the backend was lost while the schema was read: %s", reason);
        fail(reader, &error);
        return;
    }
    reader->lost_one = !idle;
    wait_again(reader);
    close_link(reader);
    go_on(reader);
}

/* ---- what the link tells ---- */

static void on_link_ready(px_link *link)
{
    px_reader *reader = px_link_owner(link);
    pgw_buf message = {0};
    reader->state = LISTENING;
    if (pgw_write_query(PGW_LITERAL(BEGINNING), &message))
        say(reader, &message);
}

static void on_failed(px_link *link, const pgw_error *error)
{
    px_reader *reader = px_link_owner(link);
    reader->link = NULL;
    fail(reader, error);
}

/* A NOTIFY says that tables were changed, or are about to be switched: looks at once, so that few
 * sessions have to wait. */
static void on_notified(px_reader *reader, pgw_slice body)
{
    static const char announced[] = PX_DDL_CHANNEL "\0" PX_SWITCH_NOTICE;
    atomic_fetch_add(&reader->database->keys, 1);
    atomic_fetch_add(&reader->database->marks, 1);
    if (body.len == 4 + sizeof announced && memcmp(body.ptr + 4, announced, sizeof announced) == 0)
        reader->held = px_worker_now(reader->worker) >= reader->deaf_until;
    if (reader->state == IDLE)
        start_look(reader);
}

static void take_message(px_reader *reader, char type, pgw_slice body)
{
    if (type == 'Z') /* Other answers may be on their way still. */
        reader->moved_at = px_worker_now(reader->worker);
    if (type == 'A') {
        on_notified(reader, body);
        return;
    }
    if (reader->state == LISTENING && type == 'Z') {
        reader->state = IDLE;
        go_on(reader);
        return;
    }
    if (reader->state == HELD && type == 'E')
        reader->deaf_until = px_worker_now(reader->worker) + DEAF_MS;
    if (reader->state == HELD && type == 'Z') {
        start_look(reader);
        return;
    }
    if (reader->state != LOOKING)
        return;
    pgw_buf more = {0};
    px_look_step step = px_look_take(&reader->look, type, body, &more);
    if (more.len > 0)
        say(reader, &more);
    if (step == PX_LOOK_FAILED) {
        pgw_error error = reader->look.error;
        fail(reader, &error);
    } else if (step != PX_LOOK_MORE) {
        succeed(reader, step == PX_LOOK_OTHER);
    }
}

static void on_message(px_link *link)
{
    px_reader *reader = px_link_owner(link);
    pgw_frame frame;
    pgw_slice message;
    /* take_message() may close the link, and open another one in its place. */
    while (reader->state > OPENING &&
           px_link_message(link, SIZE_MAX, &frame, &message) == PGW_FRAME_OK) {
        take_message(reader, frame.type, pgw_frame_body(message, frame));
        if (reader->state > OPENING)
            px_link_consume(link, frame.size);
    }
}

static void on_drained(px_link *link)
{
    (void)link;
}

static void on_lost(px_link *link, const char *reason)
{
    lose(px_link_owner(link), reason);
}

/* Idle links give way to the reader, for without a snapshot no rows can be batched. */
static bool on_refused(px_link *link)
{
    (void)link;
    return true;
}

static const px_link_ops link_ops = {on_link_ready, on_failed, on_message,
                                     on_drained,    on_lost,   on_refused};

/* Opens a link as the user of the question that has waited longest, without that session's
 * settings. */
static void open_link(px_reader *reader)
{
    const px_identity *asker = reader->waiting->identity;
    px_identity_drop(reader->identity);
    reader->identity = px_identity_of(&(px_identity){.user = asker->user,
                                                     .database = asker->database,
                                                     .options = (char *)"",
                                                     .application = (char *)"keyspread",
                                                     .password = asker->password});
    reader->state = OPENING;
    reader->link =
        px_link_open(reader->worker, PX_LINK_CATALOG, reader->identity, OPTIONS, &link_ops, reader);
}

/* The backend cannot be asked: the tables are what the file says. */
static void take_file(px_reader *reader)
{
    px_catalog *now = px_catalog_build(reader->worker->config, NULL, NULL);
    bool same = px_catalog_same(reader->sight.catalog, now);
    if (same) {
        px_catalog_drop(now);
    } else {
        px_catalog_drop(reader->sight.catalog);
        reader->sight.catalog = now;
    }
    reader->marks = atomic_load(&reader->database->marks);
    reader->keys = atomic_load(&reader->database->keys);
    reader->looked_at = px_worker_now(reader->worker);
    publish(reader);
    px_questions_answer(&reader->waiting, NULL, NULL);
}

static void go_on(px_reader *reader)
{
    if (reader->waiting == NULL)
        return;
    if (reader->worker->server->backend->by_file)
        take_file(reader);
    else if (reader->state == CLOSED)
        open_link(reader);
    else if (reader->state == IDLE)
        start_look(reader);
}

/* ---- the readers of a worker ---- */

static px_worker *owner_of(px_worker *worker, const char *database)
{
    uint64_t hash = XXH3_64bits(database, strlen(database));
    return &worker->server->workers[hash % worker->server->worker_count];
}

static px_reader *find_reader(px_worker *worker, const char *database)
{
    px_reader *reader = worker->readers;
    while (reader != NULL && strcmp(reader->database->name, database) != 0)
        reader = reader->next;
    return reader;
}

static px_reader *find_or_add(px_worker *worker, px_database *database)
{
    px_reader *reader = find_reader(worker, database->name);
    if (reader != NULL)
        return reader;
    reader = pgw_calloc(1, sizeof *reader);
    reader->worker = worker;
    reader->database = px_database_again(database);
    reader->next = worker->readers;
    worker->readers = reader;
    return reader;
}

static void on_question(px_worker *worker, px_message *message)
{
    px_question *question = (px_question *)message;
    px_reader *reader = find_or_add(worker, question->database);
    reader->asked_at = px_worker_now(worker);
    question->next = NULL;
    px_questions_put(&reader->waiting, question);
    if (reader->state == HELD)
        let_transactions_go(reader);
    go_on(reader);
}

void px_reader_ask(px_question *question)
{
    question->message.run = on_question;
    px_worker_send(owner_of(question->asker, question->database->name), &question->message);
}

typedef struct leave_message {
    px_message message;
    char database[];
} leave_message;

static px_yield yield(px_reader *reader)
{
    if (reader->state == CLOSED || (reader->state == OPENING && !px_link_is_opening(reader->link)))
        return PX_YIELD_NEVER; /* the reader has no connection to give */
    reader->leaving = reader->state != IDLE;
    if (!reader->leaving)
        close_link(reader);
    return reader->leaving ? PX_YIELD_LATER : PX_YIELD_NOW;
}

static void on_leave(px_worker *worker, px_message *message)
{
    leave_message *leave = (leave_message *)message;
    px_reader *reader = find_reader(worker, leave->database);
    if (reader != NULL)
        yield(reader);
    free(leave);
}

bool px_readers_yield(px_worker *worker, px_plea *plea)
{
    bool given = false;
    for (px_reader *reader = worker->readers; reader != NULL && !given; reader = reader->next)
        given = reader->link != NULL && plea->slot != PX_SLOT_OF_SESSION &&
                px_plea_concerns(plea, reader->identity) && px_plea_note(plea, yield(reader));
    return given;
}

void px_reader_leave(px_worker *worker, const char *database)
{
    leave_message *leave = pgw_alloc(sizeof *leave + strlen(database) + 1);
    leave->message.run = on_leave;
    strcpy(leave->database, database);
    px_worker_send(owner_of(worker, database), &leave->message);
}

/* ---- time ---- */

static uint64_t last_use(const px_reader *reader)
{
    uint64_t used = atomic_load(&reader->database->used_at);
    return used > reader->asked_at ? used : reader->asked_at;
}

/* Whether a snapshot in use was marked as perhaps wrong, or has half of the age that it may have.
 */
static bool is_due(const px_reader *reader, uint64_t now)
{
    uint64_t half = (uint64_t)reader->worker->config->backend.catalog_s * 500;
    if (atomic_load(&reader->database->used_at) <= reader->looked_at)
        return false;
    return atomic_load(&reader->database->marks) != reader->marks ||
           now >= reader->looked_at + half;
}

static bool has_tables(const px_reader *reader)
{
    const px_catalog *catalog = reader->sight.catalog;
    return catalog != NULL && catalog->count + catalog->ordinary_count > 0;
}

/* Whether a link is worth keeping: it would keep an unused database from being dropped. */
static bool is_of_use(const px_reader *reader)
{
    const char *name = reader->database->name; /* "" if backend.dsn names the database */
    return has_tables(reader) &&
           (name[0] == '\0' || px_databases_used(reader->worker->server->databases, name));
}

static void tick(px_reader *reader, uint64_t now)
{
    if (reader->state == IDLE &&
        (is_scarce(reader) ||
         now >= last_use(reader) + (is_of_use(reader) ? KEPT_MS : KEPT_BARE_MS)))
        close_link(reader);
    else if (reader->state == IDLE && is_due(reader, now))
        start_look(reader);
    else if (reader->state >= LISTENING && reader->state != IDLE &&
             now >= reader->moved_at + SILENCE_MS)
        lose(reader, "it does not answer");
}

static void free_reader(px_reader *reader)
{
    close_link(reader);
    px_sight_clear(&reader->sight);
    px_identity_drop(reader->identity);
    px_database_drop(reader->database);
    px_findings_free(&reader->findings);
    free(reader);
}

/* Whether the reader can be freed: its database has no configured tables, so it has no findings to
 * keep, and no tables that have lost their hash by `keyspread migrate --back`. */
static bool is_useless(const px_reader *reader)
{
    return reader->state == CLOSED && reader->waiting == NULL && !has_tables(reader);
}

/* Closes the link and answers all questions, for the process is about to end and has no sessions
 * any more. */
static void end_all(px_reader *reader)
{
    close_link(reader);
    px_questions_answer(&reader->answering, NULL, NULL);
    px_questions_answer(&reader->waiting, NULL, NULL);
}

void px_readers_tick(px_worker *worker)
{
    uint64_t now = px_worker_now(worker);
    bool end = worker->draining && px_workers_load(worker->server) == 0;
    for (px_reader **at = &worker->readers; *at != NULL;) {
        px_reader *reader = *at;
        if (end)
            end_all(reader);
        else
            tick(reader, now);
        if (!is_useless(reader)) {
            at = &reader->next;
            continue;
        }
        *at = reader->next;
        free_reader(reader);
    }
}

void px_readers_free(px_worker *worker)
{
    while (worker->readers != NULL) {
        px_reader *reader = worker->readers;
        worker->readers = reader->next;
        free_reader(reader);
    }
}
