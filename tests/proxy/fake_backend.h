/*
 * fake_backend: test doubles of workers, and a kind of backend whose links are scripts of replies,
 * so that the batcher is tested without sockets, threads or clocks.
 */
#ifndef FAKE_BACKEND_H
#define FAKE_BACKEND_H

#include "protocol/backend.h"
#include "protocol/error.h"
#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "proxy/backend/base/backend.h"
#include "proxy/backend/base/databases.h"
#include "proxy/backend/base/link.h"
#include "proxy/backend/catalog/catalog.h"
#include "proxy/backend/postgres/writer.h"
#include "proxy/batch/batcher.h"
#include "proxy/batch/keylocks.h"
#include "proxy/batch/register.h"
#include "proxy/server/server.h"
#include "tests/proxy/unit_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define UNUSED __attribute__((unused)) /* each test uses some of it */

enum { FAKE_LINKS = 2048, FAKE_WORKERS = 2 };

/* A link that is a script: what it was sent lies in `out`, what the backend is to say in `in`. */
typedef struct fake_link {
    px_link *link; /* until it is closed */
    px_worker *worker;
    char options[128];
    pgw_buf in, out;
    size_t in_start;
    bool ready, closed, unlike; /* the last: it reported something else */
    uint64_t settings;
    const char *dates; /* DateStyle, as it reports it; NULL: not at all */
} fake_link;

/* The batcher's end of it. */
typedef struct fake_end {
    px_link link;
    fake_link *script;
} fake_end;

static struct {
    px_server server;
    px_worker workers[FAKE_WORKERS];
    cfg_config config;
    cfg_table table;
    px_identity identity;
    uint64_t now;
    fake_link *links[FAKE_LINKS]; /* all that were ever opened */
    size_t link_count;
    pthread_mutex_t links_lock;
    _Atomic unsigned stale; /* times the schema was said to be another */
} fake;

/* ---- the doubles ---- */

void px_worker_send(px_worker *worker, px_message *message)
{
    message->next = NULL;
    pthread_mutex_lock(&worker->inbox_lock);
    *worker->inbox_tail = message;
    worker->inbox_tail = &message->next;
    pthread_mutex_unlock(&worker->inbox_lock);
}

/* Runs what was sent to a worker; false if there was nothing. */
UNUSED static bool fake_receive(px_worker *worker)
{
    pthread_mutex_lock(&worker->inbox_lock);
    px_message *message = worker->inbox;
    worker->inbox = NULL;
    worker->inbox_tail = &worker->inbox;
    pthread_mutex_unlock(&worker->inbox_lock);
    bool any = message != NULL;
    for (px_message *next; message != NULL; message = next) {
        next = message->next;
        message->run(worker, message);
    }
    return any;
}

uint64_t px_worker_now(const px_worker *worker)
{
    (void)worker;
    return fake.now;
}

uint64_t px_worker_clock(px_worker *worker)
{
    return px_worker_now(worker) * 1000000;
}

/* Even partitions belong to the first worker, odd ones to the second. */
px_worker *px_worker_owner(px_worker *worker, const char *table, uint32_t partition)
{
    (void)worker;
    (void)table;
    return &fake.workers[partition == UINT32_MAX ? 0 : partition % FAKE_WORKERS];
}

void px_catalog_stale(px_worker *worker, const char *database, uint64_t changes)
{
    (void)worker;
    (void)database;
    (void)changes;
    fake.stale++;
}

/* ---- a kind of backend ---- */

static fake_link *fake_script(const px_link *link)
{
    return ((const fake_end *)link)->script;
}

static void fake_link_open(px_link *link)
{
    fake_link *script = pgw_calloc(1, sizeof *script);
    script->link = link;
    script->worker = link->worker;
    snprintf(script->options, sizeof script->options, "%s", link->options);
    ((fake_end *)link)->script = script;
    pthread_mutex_lock(&fake.links_lock);
    assert_true(fake.link_count < FAKE_LINKS);
    fake.links[fake.link_count++] = script;
    pthread_mutex_unlock(&fake.links_lock);
}

static void fake_link_close(px_link *link)
{
    fake_link *script = fake_script(link);
    if (script != NULL) {
        assert_false(script->closed);
        script->closed = true;
        script->link = NULL;
    }
    px_link_end(link);
}

static void fake_link_send(px_link *link, const void *ptr, size_t len)
{
    assert_true(fake_script(link)->ready);
    pgw_buf_add(&fake_script(link)->out, ptr, len);
}

static pgw_slice fake_link_input(const px_link *link)
{
    const fake_link *script = fake_script(link);
    if (script->in.ptr == NULL)
        return (pgw_slice){NULL, 0};
    return (pgw_slice){script->in.ptr + script->in_start, script->in.len - script->in_start};
}

static void fake_link_consume(px_link *link, size_t len)
{
    fake_script(link)->in_start += len;
}

static void fake_link_expect(px_link *link, size_t len)
{
    assert_true(len > fake_link_input(link).len);
}

static bool fake_link_cancelling(const px_link *link)
{
    (void)link;
    return false;
}

static const char *fake_link_parameter(const px_link *link, const char *name)
{
    const fake_link *script = fake_script(link);
    if (strcmp(name, "DateStyle") == 0)
        return script->dates;
    bool other = script->unlike && strcmp(name, "TimeZone") == 0;
    return other ? "Elsewhere" : NULL;
}

static const px_link_kind fake_link_kind = {
    .size = sizeof(fake_end),
    .open = fake_link_open,
    .close = fake_link_close,
    .send = fake_link_send,
    .cancelling = fake_link_cancelling,
    .input = fake_link_input,
    .consume = fake_link_consume,
    .expect = fake_link_expect,
    .parameter = fake_link_parameter,
};

static const px_backend fake_backend = {
    .name = "fake", .link = &fake_link_kind, .writer = &px_postgres_writer};

/* ---- setting up ---- */

UNUSED static void fake_turn(void)
{
    for (bool busy = true; busy;) {
        busy = false;
        for (size_t i = 0; i < FAKE_WORKERS; i++)
            busy |= fake_receive(&fake.workers[i]);
        for (size_t i = 0; i < FAKE_WORKERS; i++)
            px_batcher_turn(fake.workers[i].batcher);
    }
}

UNUSED static int fake_setup(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.now = 1000000;
    pthread_mutex_init(&fake.links_lock, NULL);
    fake.server.workers = fake.workers;
    fake.server.metrics = px_metrics_new(NULL);
    fake.server.worker_count = FAKE_WORKERS;
    fake.server.backend = &fake_backend;
    fake.server.greetings = px_greetings_new();
    fake.server.databases = px_databases_new();
    fake.config.backend.max_links = 90;
    fake.config.backend.link_age_s = 600;
    fake.config.backend.batch_links = 2 * FAKE_WORKERS;
    fake.config.limits.queue_bytes = 1024 * 1024;
    fake.table.batch = (cfg_batch){.rows = 100,
                                   .bytes = 1024 * 1024,
                                   .target_ms = 50,
                                   .lock_wait_ms = 200,
                                   .max_wait_ms = 30000};
    fake.identity = (px_identity){.user = "u", .database = "d", .key = "u/d", .references = 1};
    for (unsigned i = 0; i < FAKE_WORKERS; i++) {
        px_worker *worker = &fake.workers[i];
        worker->index = i;
        worker->server = &fake.server;
        worker->config = &fake.config;
        worker->inbox_tail = &worker->inbox;
        worker->metrics = px_metrics_new(fake.server.metrics);
        pthread_mutex_init(&worker->inbox_lock, NULL);
        uv_loop_init(&worker->loop);
        worker->batcher = px_batcher_new(worker);
    }
    return 0;
}

UNUSED static int fake_teardown(void **state)
{
    (void)state;
    assert_true(px_register_all_idle());
    for (unsigned i = 0; i < FAKE_WORKERS; i++) {
        px_batcher_free(fake.workers[i].batcher);
        uv_run(&fake.workers[i].loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&fake.workers[i].loop), 0);
        px_metrics_free(fake.workers[i].metrics);
    }
    for (size_t i = 0; i < fake.link_count; i++) {
        pgw_buf_free(&fake.links[i]->in);
        pgw_buf_free(&fake.links[i]->out);
        free(fake.links[i]);
    }
    assert_int_equal(fake.identity.references, 1);
    px_keylocks_free();
    px_databases_free(fake.server.databases);
    px_greetings_free(fake.server.greetings);
    px_metrics_free(fake.server.metrics);
    return 0;
}

/* ---- the backend's part ---- */

/* On its worker's thread. */
UNUSED static void fake_be_ready(fake_link *link)
{
    link->ready = true;
    link->link->settings = link->settings;
    px_link_be_ready(link->link);
}

UNUSED static fake_link *fake_open(size_t i)
{
    assert_true(i < fake.link_count);
    fake_link *link = fake.links[i];
    fake_be_ready(link);
    fake_turn();
    return link;
}

/* The types of the messages written since last time; the Query texts behind them go to `text`. */
UNUSED static const char *fake_read(fake_link *link, pgw_buf *text)
{
    static char types[1024];
    size_t count = 0;
    pgw_slice out = pgw_slice_buf(&link->out);
    pgw_frame frame;
    if (text != NULL)
        pgw_buf_clear(text);
    while (pgw_frame_next(out, &frame) == PGW_FRAME_OK && frame.size <= out.len) {
        assert_true(count < sizeof types - 1);
        types[count++] = frame.type;
        if (frame.type == 'Q' && text != NULL)
            pgw_buf_add(text, out.ptr + PGW_HEADER, frame.size - PGW_HEADER - 1);
        out.ptr += frame.size;
        out.len -= frame.size;
    }
    assert_int_equal(out.len, 0);
    types[count] = '\0';
    pgw_buf_clear(&link->out);
    return types;
}

UNUSED static void fake_error(fake_link *link, const char *severity, const char *sqlstate)
{
    pgw_error error;
    pgw_fail(&error, sqlstate, "message of %s", sqlstate);
    pgw_error_write(&error, severity, &link->in);
}

/* Puts replies into the link: "C3" is a tag INSERT 0 3, "E23505" an error, "F57P01" a fatal one,
 * N a notice, 1 2 3 Z as on the wire. Nothing is read before fake_hear(). */
UNUSED static void fake_say(fake_link *link, const char *replies)
{
    pgw_buf *in = &link->in;
    char word[16], tag[40];
    for (int used; sscanf(replies, "%15s%n", word, &used) == 1; replies += used)
        switch (word[0]) {
        case 'C':
            snprintf(tag, sizeof tag, "INSERT 0 %s", word + 1);
            pgw_write_tag(tag, in);
            break;
        case 'E':
            fake_error(link, "ERROR", word + 1);
            break;
        case 'F':
            fake_error(link, "FATAL", word + 1);
            break;
        case 'N':
            pgw_buf_add(in, "N\0\0\0\x10SNOTICE\0M!\0", 17);
            break;
        case '1':
            pgw_write_parse_complete(in);
            break;
        case '2':
            pgw_write_bind_complete(in);
            break;
        case '3':
            pgw_write_close_complete(in);
            break;
        case 'Z':
            pgw_write_ready(word[1] != '\0' ? word[1] : 'I', in);
            break;
        default:
            fail_msg("no reply %s", word);
        }
}

UNUSED static void fake_hear(fake_link *link)
{
    link->link->ops->on_message(link->link);
    fake_turn();
}

UNUSED static void fake_answer(fake_link *link, const char *replies)
{
    fake_say(link, replies);
    fake_hear(link);
}

UNUSED static void fake_lose(fake_link *link)
{
    link->link->ops->on_lost(link->link, "test");
    fake_turn();
}

/* ---- write groups ---- */

/* What a write group came back with; freed write groups are looked at here. */
typedef struct told {
    bool back, slow, suspected;
    px_write_group_outcome outcome;
    char sqlstate[6];
    size_t completed, notices;
    uint64_t tags[4];
    px_write_group *write_group; /* while it is under way */
} told;

static _Atomic uint64_t fake_tickets;

static void fake_done(px_write_group *write_group)
{
    told *t = write_group->session;
    assert_false(t->back);
    t->back = true;
    t->outcome = write_group->outcome;
    t->completed = write_group->completed;
    t->slow = write_group->slow;
    t->suspected = write_group->suspected;
    t->notices = write_group->notices.len;
    pgw_slice code = pgw_error_field(pgw_slice_buf(&write_group->error), 'C');
    memcpy(t->sqlstate, code.len == 5 ? code.ptr : "-----", 5);
    for (size_t i = 0; i < write_group->statement_count && i < 4; i++)
        t->tags[i] = write_group->statements[i].tag;
    t->write_group = NULL;
    px_write_group_free(write_group);
}

/* One more table that its rows go into. */
static void fake_table(px_write_group *write_group, const char *name)
{
    px_write_group_table *tables = pgw_arena_alloc(
        &write_group->arena, (write_group->table_count + 1) * sizeof *write_group->tables);
    if (write_group->table_count > 0)
        memcpy(tables, write_group->tables, write_group->table_count * sizeof *tables);
    tables[write_group->table_count++] = (px_write_group_table){
        .config = &fake.table, .name = pgw_arena_printf(&write_group->arena, "%s", name)};
    write_group->tables = tables;
}

static px_write_group *fake_write_group(told *t, px_write_group_kind kind, uint32_t partition,
                                        size_t statements)
{
    px_write_group *write_group = px_write_group_new(&fake.workers[0]);
    *t = (told){.write_group = write_group};
    write_group->kind = kind;
    write_group->identity = px_identity_take(&fake.identity);
    fake_table(write_group, "t");
    write_group->partition = partition;
    write_group->merge_hash = 77 + kind;
    write_group->statement_count = statements;
    write_group->statements =
        pgw_arena_alloc(&write_group->arena, statements * sizeof *write_group->statements);
    write_group->keys =
        pgw_arena_alloc(&write_group->arena, statements * sizeof *write_group->keys);
    write_group->row_count = statements;
    write_group->session = t;
    write_group->ticket = ++fake_tickets;
    write_group->done = fake_done;
    return write_group;
}

static void fake_key(px_write_group *write_group, size_t i, uint64_t hash, uint64_t fingerprint)
{
    write_group->keys[i] = (px_write_group_key){.hash = hash,
                                                .fingerprint = fingerprint,
                                                .constant = true,
                                                .partition = write_group->partition};
}

/* "insert into t values (key)": one row, ROWS. */
UNUSED static px_write_group *rows_write_group(told *t, uint32_t partition, uint64_t key)
{
    px_write_group *write_group = fake_write_group(t, PX_WRITE_GROUP_ROWS, partition, 1);
    write_group->guarded = true; /* Even few rows are merged then. */
    write_group->head = PGW_LITERAL("insert into t values ");
    const char *row = pgw_arena_printf(&write_group->arena, "(%d)", (int)key);
    source_of(write_group)->rows[0] = pgw_slice_str(row);
    write_group->statements[0].bytes = strlen(row);
    write_group->statements[0].rows = 1;
    fake_key(write_group, 0, key, key);
    source_of(write_group)->alone =
        pgw_slice_str(pgw_arena_printf(&write_group->arena, "INSERT INTO t VALUES (%d)", (int)key));
    write_group->bytes = 100;
    return write_group;
}

/* `statements` inserts of one row each, TEXT. */
UNUSED static px_write_group *text_write_group(told *t, uint32_t partition, uint64_t key,
                                               size_t statements)
{
    px_write_group *write_group = fake_write_group(t, PX_WRITE_GROUP_TEXT, partition, statements);
    pgw_buf all = {0};
    for (size_t i = 0; i < statements; i++) {
        const char *text = pgw_arena_printf(&write_group->arena, "i%d", (int)(key + i));
        write_group->statements[i].rows = 1;
        fake_key(write_group, i, key + i, key + i);
        pgw_buf_addf(&all, "%s%s", i > 0 ? "; " : "", text);
    }
    source_of(write_group)->alone = pgw_arena_copy(&write_group->arena, pgw_slice_buf(&all));
    pgw_buf_free(&all);
    return write_group;
}

/* One more statement that is prepared for it. */
UNUSED static void fake_prepared(px_write_group *write_group, pgw_slice name)
{
    static const uint32_t types[] = {20};
    px_write_group_prepared *prepared =
        pgw_arena_alloc(&write_group->arena, (write_group->prepared_count + 1) * sizeof *prepared);
    if (write_group->prepared_count > 0)
        memcpy(prepared, write_group->prepared, write_group->prepared_count * sizeof *prepared);
    prepared[write_group->prepared_count++] =
        (px_write_group_prepared){.name = name,
                                  .text = PGW_LITERAL("insert into t values ($1)"),
                                  .types = types,
                                  .type_count = 1};
    write_group->prepared = prepared;
}

/* Bind and Execute of one prepared insert, PARAMS. */
UNUSED static px_write_group *params_write_group(told *t, uint32_t partition, uint64_t key,
                                                 size_t statements)
{
    px_write_group *write_group = fake_write_group(t, PX_WRITE_GROUP_PARAMS, partition, statements);
    fake_prepared(write_group, PGW_LITERAL("ks_1"));
    for (size_t i = 0; i < statements; i++) {
        pgw_buf out = {0};
        pgw_bind bind = {0};
        int64_t value = (int64_t)(key + i);
        bind.results = PGW_LITERAL("\0\0");
        pgw_certainly(
            pgw_write_bind(&bind, PGW_LITERAL(""), write_group->prepared->name, &value, 1, &out));
        pgw_write_execute(PGW_LITERAL(""), 0, &out);
        write_group->statements[i].messages =
            pgw_arena_copy(&write_group->arena, pgw_slice_buf(&out));
        write_group->statements[i].bytes = out.len;
        write_group->statements[i].rows = 1;
        fake_key(write_group, i, key + i, key + i);
        pgw_buf_free(&out);
    }
    return write_group;
}

/* rows_unit() of a text that can also be an execution of params_unit()'s statement. */
UNUSED static px_write_group *lifted_write_group(told *t, uint32_t partition, uint64_t key)
{
    px_write_group *write_group = rows_write_group(t, partition, key);
    pgw_slice *value = pgw_arena_alloc(&write_group->arena, sizeof *value);
    fake_prepared(write_group, PGW_LITERAL("ks_1"));
    *value = pgw_slice_str(pgw_arena_printf(&write_group->arena, "%d", (int)key));
    write_group->lifted = (px_write_group_lifted){.values = value, .count = 1};
    return write_group;
}

UNUSED static void expect_committed(const told *t, uint64_t tag)
{
    assert_true(t->back);
    assert_int_equal(t->outcome, PX_WRITE_GROUP_COMMITTED);
    assert_int_equal(t->tags[0], tag);
}

UNUSED static void expect_failed(const told *t, const char *sqlstate)
{
    assert_true(t->back);
    assert_int_equal(t->outcome, PX_WRITE_GROUP_FAILED);
    assert_string_equal(t->sqlstate, sqlstate);
}

#endif
