/* A stream over a socket pair: what comes in, what goes out, and what its owner hears of it. */
#define _GNU_SOURCE
#include "proxy/base/shared.h"
#include "proxy/loop/stream.h"
#include "proxy/loop/transport.h"
#include "proxy/loop/worker.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* One end is a stream's, the other one the test's. */
typedef struct end {
    px_stream *stream;
    int fd, peer;
    char first;
    const char *reason; /* of its end */
    unsigned inputs, drained, finished;
    bool closed;
} end;

static struct {
    px_server server;
    px_worker worker;
    cfg_config config;
    end ends[2];
} here;

static void on_hello(px_stream *stream, unsigned char first)
{
    ((end *)px_stream_owner(stream))->first = (char)first;
}

static void on_input(px_stream *stream)
{
    ((end *)px_stream_owner(stream))->inputs++;
}

static void on_drained(px_stream *stream)
{
    ((end *)px_stream_owner(stream))->drained++;
}

static void on_end(px_stream *stream, const char *reason)
{
    ((end *)px_stream_owner(stream))->reason = reason;
}

static void on_finished(px_stream *stream)
{
    ((end *)px_stream_owner(stream))->finished++;
}

static void on_closed(void *owner)
{
    ((end *)owner)->closed = true;
}

static const px_stream_ops client = {.on_hello = on_hello,
                                     .on_input = on_input,
                                     .on_drained = on_drained,
                                     .on_end = on_end,
                                     .on_finished = on_finished};
static const px_stream_ops server = {
    .on_input = on_input, .on_drained = on_drained, .on_end = on_end, .backend = true};
static const px_tenant *const tenants[] = {&px_stream_tenant, NULL};

static void turn(void)
{
    for (int i = 0; i < 3; i++)
        uv_run(&here.worker.loop, UV_RUN_NOWAIT);
}

static int set_up(void **state)
{
    (void)state;
    memset(&here, 0, sizeof here);
    signal(SIGPIPE, SIG_IGN);
    here.server =
        (px_server){.workers = &here.worker, .worker_count = 1, .metrics = px_metrics_new(NULL)};
    px_worker_init(&here.worker, &here.server, 0, tenants);
    here.worker.config = &here.config;
    here.config.limits.unread_bytes = SIZE_MAX;
    for (size_t i = 0; i < 2; i++) {
        int fds[2];
        end *e = &here.ends[i];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
        e->fd = fds[0];
        e->peer = fds[1];
        e->stream = px_stream_open(&here.worker, e->fd, NULL, i == 0 ? &client : &server, e);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        if (here.ends[i].closed)
            continue;
        px_stream_close(here.ends[i].stream, on_closed);
        px_stream_close(here.ends[i].stream, NULL); /* no matter how often */
    }
    turn();
    for (size_t i = 0; i < 2; i++) {
        assert_true(here.ends[i].closed);
        close(here.ends[i].fd);
        close(here.ends[i].peer);
    }
    px_worker_drain(&here.worker);
    uv_run(&here.worker.loop, UV_RUN_DEFAULT);
    px_worker_free(&here.worker);
    px_metrics_free(here.worker.metrics);
    px_metrics_free(here.server.metrics);
    return 0;
}

static void send_to(const end *e, const char *text)
{
    assert_int_equal(send(e->peer, text, strlen(text), 0), strlen(text));
    turn();
}

static void expect_input(const end *e, const char *text)
{
    assert_true(pgw_slice_eq_str(px_stream_input(e->stream), text));
}

/* What the peer gets now. */
static void expect_output(const end *e, const char *text)
{
    char got[4096];
    turn();
    ssize_t n = recv(e->peer, got, sizeof got - 1, MSG_DONTWAIT);
    got[n > 0 ? n : 0] = '\0';
    assert_string_equal(got, text);
}

static void test_input(void **state)
{
    (void)state;
    end *e = &here.ends[0];
    assert_int_equal(px_stream_input(e->stream).len, 0);
    send_to(e, "one");
    assert_int_equal(e->first, 'o');
    assert_int_equal(e->inputs, 1);
    expect_input(e, "one");
    send_to(e, " two");
    expect_input(e, "one two");
    px_stream_consume(e->stream, 4);
    expect_input(e, "two");
    px_stream_consume(e->stream, 3);
    expect_input(e, "");
    send_to(e, "three");
    expect_input(e, "three");
    assert_int_equal(px_number_get(&here.worker.metrics->counters[PX_RECEIVED_CLIENT]), 12);
}

/* A message as large as is expected comes to lie in one run. */
static void test_large_input(void **state)
{
    (void)state;
    enum { LARGE = 150 * 1024 };
    end *e = &here.ends[0];
    char *sent = pgw_alloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        sent[i] = (char)(i * 7 + i / 1000);
    px_stream_expect(e->stream, LARGE);
    for (size_t at = 0; at < LARGE;) {
        ssize_t n = send(e->peer, sent + at, LARGE - at, 0);
        at += n > 0 ? (size_t)n : 0;
        turn();
    }
    turn();
    pgw_slice input = px_stream_input(e->stream);
    assert_int_equal(input.len, LARGE);
    assert_memory_equal(input.ptr, sent, LARGE);
    px_stream_consume(e->stream, LARGE - 3);
    send_to(e, "abc");
    input = px_stream_input(e->stream);
    assert_int_equal(input.len, 6);
    assert_memory_equal(input.ptr, sent + LARGE - 3, 3);
    assert_memory_equal(input.ptr + 3, "abc", 3);
    free(sent);
}

/* Whether something that the loop watches has happened, and will go on to. */
static bool is_stirring(void)
{
    struct pollfd loop = {.fd = uv_backend_fd(&here.worker.loop), .events = POLLIN};
    return poll(&loop, 1, 0) > 0;
}

/* What comes meanwhile wakes the loop once, not again and again; so does the peer's end. */
static void test_pause_rests(void **state)
{
    (void)state;
    end *e = &here.ends[0];
    for (int i = 0; i < 2; i++) {
        px_stream_pause(e->stream);
        turn();
        send_to(e, "more");
        turn();
        px_stream_put(e->stream, "said", 4);
        turn();
        expect_output(e, "said");
        assert_false(is_stirring());
        assert_int_equal(e->inputs, i);
        px_stream_resume(e->stream);
        turn();
        expect_input(e, "more");
        px_stream_consume(e->stream, 4);
    }
    px_stream_pause(e->stream);
    shutdown(e->peer, SHUT_WR);
    turn();
    assert_false(is_stirring());
    assert_null(e->reason);
    px_stream_resume(e->stream);
    turn();
    assert_string_equal(e->reason, "closed by peer");
}

/* Nothing is asked of the kernel where a stream goes on before anything has come. */
static void test_pause_costs_nothing(void **state)
{
    (void)state;
    end *e = &here.ends[0];
    turn();
    px_stream_pause(e->stream);
    turn();
    assert_true(uv_is_active((uv_handle_t *)e->stream));
    send_to(e, "now");
    turn();
    assert_false(uv_is_active((uv_handle_t *)e->stream));
    px_stream_resume(e->stream);
    assert_true(uv_is_active((uv_handle_t *)e->stream));
}

static void test_pause(void **state)
{
    (void)state;
    end *e = &here.ends[0];
    px_stream_pause(e->stream);
    px_stream_pause(e->stream);
    send_to(e, "later");
    shutdown(e->peer, SHUT_WR);
    turn();
    assert_int_equal(e->inputs, 0);
    assert_null(e->reason);
    px_stream_resume(e->stream);
    px_stream_resume(e->stream);
    turn();
    expect_input(e, "later");
    turn();
    assert_string_equal(e->reason, "closed by peer");
    assert_true(px_stream_ended(e->stream));
    px_stream_put(e->stream, "still", 5);
    expect_output(e, "still");
}

static void test_output(void **state)
{
    (void)state;
    end *e = &here.ends[0];
    pgw_buf buf = {0};
    pgw_buf_add_str(&buf, " two");
    px_stream_put(e->stream, "one", 3);
    px_stream_put_buf(e->stream, &buf);
    assert_int_equal(px_stream_pending(e->stream), 7);
    expect_output(e, "one two");
    assert_int_equal(px_stream_pending(e->stream), 0);
    assert_int_equal(px_number_get(&here.worker.metrics->counters[PX_SENT_CLIENT]), 7);
    pgw_buf_free(&buf);
}

/* The first bytes of another's input, few or many, in pieces. */
static void test_passing(void **state)
{
    (void)state;
    end *from = &here.ends[0], *to = &here.ends[1];
    char much[3001], expected[3020];
    memset(much, 'm', sizeof much - 1);
    much[sizeof much - 1] = '\0';
    send_to(from, "few bytes");
    px_stream_pass(to->stream, from->stream, 0);
    px_stream_pass(to->stream, from->stream, 3);
    px_stream_put(to->stream, "-", 1);
    px_stream_pass(to->stream, from->stream, 6);
    assert_int_equal(px_stream_input(from->stream).len, 0);
    expect_output(to, "few- bytes");
    send_to(from, much);
    px_stream_pass(to->stream, from->stream, 1000);
    px_stream_pass(to->stream, from->stream, 500);
    px_stream_put(to->stream, "-", 1);
    px_stream_pass(to->stream, from->stream, 1500);
    px_stream_put(to->stream, "+", 1);
    assert_int_equal(px_stream_pending(to->stream), 3002);
    snprintf(expected, sizeof expected, "%.1500s-%.1500s+", much, much);
    expect_output(to, expected);
    send_to(from, "again");
    expect_input(from, "again");
    assert_int_equal(px_number_get(&here.worker.metrics->counters[PX_SENT_BACKEND]), 3012);
}

/* Who takes nothing holds up what is put, and its owner hears when there is room again. */
static void test_back_pressure(void **state)
{
    (void)state;
    end *e = &here.ends[0];
    static char much[PX_STREAM_HIGH];
    memset(much, 'x', sizeof much);
    size_t put = 0, got = 0;
    for (; px_stream_pending(e->stream) < PX_STREAM_HIGH; put += sizeof much) {
        px_stream_put(e->stream, much, sizeof much);
        turn();
    }
    e->drained = 0; /* the socket itself has taken the first of it */
    static char taken[PX_STREAM_HIGH];
    while (got < put) {
        ssize_t n = recv(e->peer, taken, sizeof taken, MSG_DONTWAIT);
        assert_true(n > 0);
        got += (size_t)n;
        assert_int_equal(taken[0], 'x');
        turn();
        assert_int_equal(e->drained, px_stream_pending(e->stream) < PX_STREAM_LOW);
    }
    assert_int_equal(got, put);
    assert_int_equal(e->drained, 1);
    px_stream_put(e->stream, "little", 6);
    expect_output(e, "little");
    assert_int_equal(e->drained, 1);
}

static void test_finish(void **state)
{
    (void)state;
    end *e = &here.ends[0];
    char byte;
    px_stream_put(e->stream, "last", 4);
    px_stream_finish(e->stream);
    assert_int_equal(e->finished, 0);
    expect_output(e, "last");
    assert_int_equal(e->finished, 1);
    assert_int_equal(recv(e->peer, &byte, 1, MSG_DONTWAIT), 0);
    send_to(e, "heard");
    expect_input(e, "heard");
}

/* The peer has gone: what it said before is heard, what is put for it is dropped. */
static void test_a_peer_that_is_gone(void **state)
{
    (void)state;
    end *e = &here.ends[0];
    assert_int_equal(send(e->peer, "bye", 3, 0), 3);
    close(e->peer);
    e->peer = -1;
    px_stream_put(e->stream, "dropped", 7);
    turn();
    turn();
    expect_input(e, "bye");
    assert_non_null(e->reason);
    assert_int_equal(px_stream_pending(e->stream), 0);
    px_stream_put(e->stream, "dropped", 7);
    assert_int_equal(px_stream_pending(e->stream), 0);
}

/* What was put leaves with the end. */
static void test_close_writes(void **state)
{
    (void)state;
    end *e = &here.ends[0];
    char got[8];
    px_stream_put(e->stream, "last", 4);
    px_stream_close(e->stream, on_closed);
    assert_int_equal(recv(e->peer, got, sizeof got, MSG_DONTWAIT), 4);
    send_to(e, "unheard");
    assert_int_equal(e->inputs, 0);
}

/* ---- the transport alone ---- */

static void test_many_slices_leave_at_once(void **state)
{
    (void)state;
    enum { SLICES = 70, AT_ONCE = 64 };
    px_blocks blocks = {0};
    px_chunks chunks = {0};
    px_block *block = px_block_new(&blocks, PX_BLOCK);
    char got[256], expected[SLICES + 1] = "";
    for (size_t i = 0; i < SLICES; i++) {
        block->bytes[2 * i] = expected[i] = (char)('0' + i);
        px_chunks_share(&chunks, block, 2 * i, 1);
    }
    px_transport transport = {.fd = here.ends[0].fd};
    assert_int_equal(px_transport_send(&transport, &chunks), AT_ONCE);
    assert_int_equal(recv(here.ends[0].peer, got, sizeof got, 0), AT_ONCE);
    assert_memory_equal(got, expected, AT_ONCE);
    px_chunks_consume(&chunks, &blocks, AT_ONCE);
    assert_int_equal(px_transport_send(&transport, &chunks), SLICES - AT_ONCE);
    assert_int_equal(recv(here.ends[0].peer, got, sizeof got, 0), SLICES - AT_ONCE);
    assert_memory_equal(got, expected + AT_ONCE, SLICES - AT_ONCE);
    px_chunks_free(&chunks, &blocks);
    px_block_drop(&blocks, block);
    px_blocks_free(&blocks);
}

static void test_a_first_byte_is_only_looked_at(void **state)
{
    (void)state;
    px_transport transport = {.fd = here.ends[0].fd};
    unsigned char first = 0;
    char got[8];
    assert_int_equal(px_transport_peek(&transport, &first), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(send(here.ends[0].peer, "ab", 2, 0), 2);
    assert_int_equal(px_transport_peek(&transport, &first), 1);
    assert_int_equal(first, 'a');
    assert_int_equal(px_transport_receive(&transport, got, 1), 1);
    assert_int_equal(px_transport_receive(&transport, got + 1, 7), 1);
    assert_memory_equal(got, "ab", 2);
    shutdown(here.ends[0].peer, SHUT_WR);
    assert_int_equal(px_transport_peek(&transport, &first), 0);
    assert_int_equal(px_transport_receive(&transport, got, 1), 0);
    errno = ECONNRESET;
    assert_string_equal(px_transport_failure(), strerror(ECONNRESET));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_input),
                                       TEST(test_large_input),
                                       TEST(test_pause),
                                       TEST(test_pause_rests),
                                       TEST(test_pause_costs_nothing),
                                       TEST(test_output),
                                       TEST(test_passing),
                                       TEST(test_back_pressure),
                                       TEST(test_finish),
                                       TEST(test_a_peer_that_is_gone),
                                       TEST(test_close_writes),
                                       TEST(test_many_slices_leave_at_once),
                                       TEST(test_a_first_byte_is_only_looked_at)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
