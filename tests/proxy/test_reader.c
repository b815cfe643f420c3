/* A reader, before a backend that takes its time. The link and the worker's clock are doubles. */
#include "proxy/backend/catalog/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/backend/base/backend.h"
#include "proxy/backend/base/link.h"
#include "proxy/backend/schema/look.h"
#include "proxy/base/shared.h"
#include "tests/proxy/logged.h"

static char *key[] = {(char *)"k"};
static cfg_table tables[PX_LOOK_SAMPLES];
static char names[PX_LOOK_SAMPLES][8], labels[PX_LOOK_SAMPLES][16];
static const cfg_config config = {
    .tables = tables, .table_count = PX_LOOK_SAMPLES, .backend.max_links = 10};
static const px_backend backend;

static struct {
    px_worker worker;
    px_server server;
    uint64_t now;
    px_link link;
    pgw_buf input; /* what the reader has not taken */
    bool closed;
    unsigned opened;
    unsigned answered;
} t;

/* --- doubles --- */

uint64_t px_worker_now(const px_worker *worker)
{
    (void)worker;
    return t.now;
}

void px_worker_send(px_worker *worker, px_message *message)
{
    message->run(worker, message);
}

px_link *px_link_open(px_worker *worker, px_link_role role, px_identity *identity,
                      const char *options, const px_link_ops *ops, void *owner)
{
    (void)worker, (void)role, (void)identity, (void)options;
    t.link.owner = owner;
    t.link.ops = ops;
    t.closed = false;
    t.opened++;
    return &t.link;
}

void px_link_close(px_link *link)
{
    (void)link;
    pgw_buf_free(&t.input);
    t.closed = true;
}

bool px_link_is_opening(const px_link *link)
{
    (void)link;
    return false;
}

void *px_link_owner(const px_link *link)
{
    return link->owner;
}

void px_link_send_buf(px_link *link, const pgw_buf *buf)
{
    (void)link, (void)buf;
}

pgw_frame_result px_link_message(px_link *link, size_t most, pgw_frame *frame, pgw_slice *message)
{
    (void)link, (void)most;
    *message = pgw_slice_buf(&t.input);
    return pgw_frame_next(*message, frame);
}

void px_link_consume(px_link *link, size_t len)
{
    (void)link;
    assert_true(len <= t.input.len); /* one message is there at a time */
    pgw_buf_clear(&t.input);
}

unsigned px_workers_load(const px_server *server)
{
    (void)server;
    return 0;
}

/* --- the backend --- */

static void feed(char type, const pgw_buf *body)
{
    pgw_buf_add_byte(&t.input, type);
    pgw_buf_add_i32(&t.input, (int32_t)(4 + body->len));
    pgw_buf_add_slice(&t.input, pgw_slice_buf(body));
    t.link.ops->on_message(&t.link);
}

static void ready(void)
{
    pgw_buf body = {0};
    pgw_buf_add_byte(&body, 'I');
    feed('Z', &body);
    pgw_buf_free(&body);
}

/* A DataRow; cells are parted by '|', and ~ is NULL. */
static void row(const char *cells)
{
    pgw_buf body = {0};
    size_t count = 1;
    for (const char *c = cells; *c != '\0'; c++)
        count += *c == '|';
    pgw_buf_add_i16(&body, (int16_t)count);
    for (const char *at = cells; count > 0; count--) {
        size_t len = strcspn(at, "|");
        bool null = len == 1 && *at == '~';
        pgw_buf_add_i32(&body, null ? -1 : (int32_t)len);
        if (!null)
            pgw_buf_add(&body, at, len);
        at += len + (at[len] == '|');
    }
    feed('D', &body);
    pgw_buf_free(&body);
}

/* --- a question --- */

static void on_answered(px_worker *asker, px_message *message)
{
    (void)asker;
    px_question *question = (px_question *)message;
    px_database_drop(question->database);
    px_identity_drop(question->identity);
    free(question);
    t.answered++;
}

static void ask(void)
{
    px_question *question = pgw_calloc(1, sizeof *question);
    question->asker = &t.worker;
    question->database = px_database_take("");
    question->identity = px_identity_of(&(px_identity){.user = (char *)"u",
                                                       .database = (char *)"",
                                                       .options = (char *)"",
                                                       .application = (char *)""});
    question->answered = on_answered;
    px_reader_ask(question);
}

static void tell_table(size_t i)
{
    char text[512];
    snprintf(text, sizeof text,
             "public|%s|%zu|r|0|f|f|f|f|f|k|1|20|-1|it|f|t|f|f|f|t|f|2|f||0|t|f|~|~", names[i],
             16384 + i);
    row(text);
    snprintf(text, sizeof text,
             "public|%s|%zu|r|0|f|f|f|f|f|h|2|20|-1|bigint|f|t|f|f|f|t|f|1|f||0|t|f|p0\1p0_pkey\1t_"
             "pkey|~",
             names[i], 16384 + i);
    row(text);
}

/* Asks, and goes on until samples of all tables are asked for. */
static void ask_samples(void)
{
    ask();
    t.link.ops->on_ready(&t.link);
    ready();
    row("f1|t|p1");
    ready();
    for (size_t i = 0; i < PX_LOOK_SAMPLES; i++)
        tell_table(i);
    ready();
    assert_int_equal(t.answered, 0);
}

static int setup(void **state)
{
    memset(&t, 0, sizeof t);
    for (size_t i = 0; i < PX_LOOK_SAMPLES; i++) {
        snprintf(names[i], sizeof names[i], "t%zu", i);
        snprintf(labels[i], sizeof labels[i], "public.t%zu", i);
        tables[i] = (cfg_table){.name = names[i],
                                .label = labels[i],
                                .primary_key = key,
                                .primary_key_count = 1,
                                .hash_key = key,
                                .hash_key_count = 1,
                                .hash_column = (char *)"h",
                                .partitions = {.uniform = 1}};
    }
    t.now = 1000;
    t.server = (px_server){.workers = &t.worker, .worker_count = 1, .backend = &backend};
    t.worker.server = &t.server;
    t.worker.config = &config;
    t.worker.metrics = px_metrics_new(NULL);
    return redirect_log(state);
}

static int teardown(void **state)
{
    t.worker.draining = true; /* questions are answered */
    px_readers_tick(&t.worker);
    px_readers_free(&t.worker);
    px_metrics_free(t.worker.metrics);
    return restore_log(state);
}

/* --- tests --- */

/* Samples that each take as long as they may: the last one comes long after all were asked for. */
static void slow_samples(void **state)
{
    (void)state;
    ask_samples();
    for (size_t i = 0; i < PX_LOOK_SAMPLES; i++) {
        assert_int_equal(t.answered, 0);
        t.now += 5000;
        px_readers_tick(&t.worker);
        assert_false(t.closed);
        ready();
    }
    assert_int_equal(t.answered, 1);
    assert_int_equal(t.opened, 1);
}

/* Another link is opened, once, in the place of one on which nothing comes any more. */
static void silence(void **state)
{
    (void)state;
    ask_samples();
    t.now += 5000;
    ready();
    t.now += 29999;
    px_readers_tick(&t.worker);
    assert_int_equal(t.opened, 1);
    t.now++;
    px_readers_tick(&t.worker);
    assert_int_equal(t.opened, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slow_samples, setup, teardown),
        cmocka_unit_test_setup_teardown(silence, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
