/* A stream behind TLS: records that carry nothing for us do not hold up the loop, nor what follows;
 * and what is sent comes as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/loop/stream.h"
#include "tests/fuzz/login_setup.h"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum {
    KEY_UPDATES = 150, /* what a Unix socket holds, unread */
    MUCH = 600 * 1000
};

typedef struct pair {
    setup setup;
    px_stream *stream;
    SSL_CTX *context;
    SSL *ours, *client;
    int fd, client_fd;
    bool came, closed;
} pair;

static void on_input(px_stream *stream)
{
    pair *p = px_stream_owner(stream);
    p->came = true;
    px_stream_consume(stream, px_stream_input(stream).len);
}

static void on_drained(px_stream *stream)
{
    (void)stream;
}

static void on_end(px_stream *stream, const char *reason)
{
    (void)stream;
    fail_msg("lost: %s", reason);
}

static const px_stream_ops ops = {.on_input = on_input, .on_drained = on_drained, .on_end = on_end};

static void turn(pair *p)
{
    uv_run(&p->setup.worker.loop, UV_RUN_NOWAIT);
}

static int unread(const pair *p)
{
    int bytes = -1;
    assert_int_equal(ioctl(p->fd, FIONREAD, &bytes), 0);
    return bytes;
}

static void connect_client(pair *p)
{
    p->context = SSL_CTX_new(TLS_client_method());
    p->client = SSL_new(p->context);
    SSL_set_fd(p->client, p->client_fd);
    SSL_set_connect_state(p->client);
    while (SSL_do_handshake(p->client) != 1) {
        assert_int_equal(SSL_get_error(p->client, -1), SSL_ERROR_WANT_READ);
        turn(p);
    }
    while (!px_tls_is_up(p->ours))
        turn(p);
}

static void on_closed(void *owner)
{
    ((pair *)owner)->closed = true;
}

static void meet(pair *p)
{
    int fds[2];
    setup_make(&p->setup);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    p->fd = fds[0];
    p->client_fd = fds[1];
    p->ours = px_tls_accept(p->setup.rules[CFG_TLS_PREFER][CFG_AUTH_TRUST].credentials->tls, p->fd);
    p->stream = px_stream_open(&p->setup.worker, p->fd, p->ours, &ops, p);
    connect_client(p);
}

static void part(pair *p)
{
    px_stream_close(p->stream, on_closed);
    while (!p->closed)
        turn(p);
    px_tls_end(p->ours);
    SSL_free(p->client);
    SSL_CTX_free(p->context);
    close(p->fd);
    close(p->client_fd);
}

static void test_key_updates(void **state)
{
    (void)state;
    static pair p;
    meet(&p);
    for (int i = 0; i < KEY_UPDATES; i++) {
        assert_int_equal(SSL_key_update(p.client, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
        assert_int_equal(SSL_do_handshake(p.client), 1);
    }
    assert_int_equal(SSL_write(p.client, "x", 1), 1);
    turn(&p);
    assert_true(unread(&p) > 0); /* others have had their turn meanwhile */
    assert_false(p.came);
    for (int i = 0; i < 2 * KEY_UPDATES && !p.came; i++)
        turn(&p);
    assert_true(p.came);
    part(&p);
}

/* However its bytes lie, and however much a record takes of them. */
static void test_much_output(void **state)
{
    (void)state;
    static pair p;
    static char sent[MUCH], came[MUCH];
    size_t lens[] = {1, 100, PX_BLOCK - 7, PX_BLOCK, 3, 2 * PX_BLOCK + 1, 20}, at = 0, got = 0;
    for (size_t i = 0; i < MUCH; i++)
        sent[i] = (char)(i * 31 + i / 251);
    meet(&p);
    for (size_t i = 0; at < MUCH; i++) {
        size_t len = lens[i % 7] < MUCH - at ? lens[i % 7] : MUCH - at;
        px_stream_put(p.stream, sent + at, len);
        at += len;
    }
    while (got < MUCH) {
        turn(&p);
        for (int n; got < MUCH && (n = SSL_read(p.client, came + got, (int)(MUCH - got))) > 0;)
            got += (size_t)n;
    }
    assert_memory_equal(came, sent, MUCH);
    part(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_key_updates),
                                       cmocka_unit_test(test_much_output)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
