/*
 * endpoint: the backend of a conversation over real sockets: links are opened by libpq, and what
 * they say and hear travels. All is done by the one thread, but for cancels, which are waited for.
 */
#ifndef TEST_ENDPOINT_H
#define TEST_ENDPOINT_H

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "tests/proxy/parties.h"

#include <poll.h>
#include <sys/un.h>

enum {
    STRANGERS = 16,
    STARTUP = 1024,
    CANCEL_CODE = 80877102,
    PATIENCE_MS = 10000,
    PATIENCE = 100
};

typedef struct stranger { /* who has not said yet what he wants */
    int fd;
    size_t len;
    char packet[STARTUP];
} stranger;

static struct {
    char folder[64];
    int fd;
    stranger strangers[STRANGERS];
    size_t stranger_count;
    int links[LINKS], cancels[LINKS]; /* 0: none */
    unsigned cancel_count;
} endpoint;

static void endpoint_path(struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "%s/.s.PGSQL.5432", endpoint.folder);
}

static void endpoint_open(void)
{
    struct sockaddr_un address;
    memset(&endpoint, 0, sizeof endpoint);
    strcpy(endpoint.folder, "/tmp/keyspread-test-XXXXXX");
    assert_non_null(mkdtemp(endpoint.folder));
    endpoint_path(&address);
    endpoint.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(endpoint.fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(endpoint.fd, STRANGERS), 0);
}

static void endpoint_lose(size_t number)
{
    if (endpoint.links[number] > 0)
        close(endpoint.links[number]);
    endpoint.links[number] = 0;
}

static void endpoint_hear_cancel(size_t number)
{
    assert_true(endpoint.cancels[number] > 0);
    close(endpoint.cancels[number]);
    endpoint.cancels[number] = 0;
    endpoint.cancel_count--;
    while (here.worker.cancels > endpoint.cancel_count)
        uv_run(&here.worker.loop, UV_RUN_ONCE);
}

static void endpoint_close(void)
{
    struct sockaddr_un address;
    for (size_t i = 0; i < LINKS; i++) {
        endpoint_lose(i);
        if (endpoint.cancels[i] > 0)
            endpoint_hear_cancel(i);
    }
    for (size_t i = 0; i < endpoint.stranger_count; i++)
        close(endpoint.strangers[i].fd);
    assert_int_equal(here.worker.cancels, 0);
    close(endpoint.fd);
    endpoint_path(&address);
    unlink(address.sun_path);
    rmdir(endpoint.folder);
}

/* ---- what comes ---- */

static uint32_t word_at(const char *packet, size_t at)
{
    pgw_reader reader = pgw_reader_of((pgw_slice){packet + at, 4});
    return pgw_read_u32(&reader);
}

/* What it wants of its server, in the order of libpq. */
static void welcome(stranger *s)
{
    assert_true(here.link_count < LINKS);
    size_t number = here.link_count++;
    party *p = &here.links[number];
    p->name = (char)('1' + number);
    endpoint.links[number] = s->fd;
    pgw_buf_addf(&p->lines, "%c+ ", p->name);
    print_bytes((pgw_slice){s->packet + 8, s->len - 8}, false, &p->lines);
    pgw_buf_add_byte(&p->lines, '\n');
    if (here.on_open != NULL)
        here.on_open(number, s->packet + 8);
}

static void take_cancel(const stranger *s)
{
    size_t number = word_at(s->packet, 8) - FIRST_PID;
    assert_true(number < here.link_count && endpoint.cancels[number] == 0);
    assert_int_equal(word_at(s->packet, 12), number);
    endpoint.cancels[number] = s->fd;
    endpoint.cancel_count++;
    take_messages(&here.links[number], '<', false);
    add_line(&here.links[number], "x");
}

/* True: he has said it, and is none any more. */
static bool hear_stranger(stranger *s)
{
    ssize_t n = recv(s->fd, s->packet + s->len, sizeof s->packet - s->len, MSG_DONTWAIT);
    s->len += n > 0 ? (size_t)n : 0;
    if (n == 0)
        close(s->fd);
    if (n == 0 || s->len < 8 || word_at(s->packet, 0) > s->len)
        return n == 0;
    (word_at(s->packet, 4) == CANCEL_CODE ? take_cancel : (void (*)(const stranger *))welcome)(s);
    return true;
}

static void hear_link(size_t number)
{
    party *p = &here.links[number];
    for (ssize_t n = 1; n > 0;) {
        char *to = pgw_buf_reserve(&p->raw, 65536);
        n = recv(endpoint.links[number], to, 65536, MSG_DONTWAIT);
        p->raw.len += n > 0 ? (size_t)n : 0;
        if (n > 0 && here.on_send != NULL)
            here.on_send(number, to, (size_t)n);
        if (n == 0) {
            take_messages(p, '<', false);
            add_line(p, "-");
            endpoint_lose(number);
        }
    }
}

static void endpoint_hear(void)
{
    for (int fd; (fd = accept(endpoint.fd, NULL, NULL)) >= 0;) {
        assert_true(endpoint.stranger_count < STRANGERS);
        endpoint.strangers[endpoint.stranger_count++] = (stranger){.fd = fd};
    }
    for (size_t i = 0; i < endpoint.stranger_count;) {
        if (hear_stranger(&endpoint.strangers[i]))
            memmove(&endpoint.strangers[i], &endpoint.strangers[i + 1],
                    (--endpoint.stranger_count - i) * sizeof(stranger));
        else
            i++;
    }
    for (size_t i = 0; i < here.link_count; i++)
        if (endpoint.links[i] > 0)
            hear_link(i);
}

/* Until nobody has anything more to say: a byte goes to and fro at most so many times. */
static void endpoint_turn(void)
{
    for (int i = 0; i < 24; i++) {
        uv_run(&here.worker.loop, UV_RUN_NOWAIT);
        endpoint_hear();
    }
    for (unsigned ms = 0; here.worker.cancels > endpoint.cancel_count; ms++) {
        assert_true(ms < PATIENCE_MS);
        struct pollfd wait = {.fd = endpoint.fd, .events = POLLIN};
        poll(&wait, 1, 1);
        endpoint_hear();
    }
}

/* ---- what it says ---- */

/* More than the socket takes at once is read meanwhile, if need be, to the last byte of the
 * clients'.
 */
static void endpoint_say(size_t number, pgw_slice bytes)
{
    int waited = 0;
    for (ssize_t n; bytes.len > 0; bytes.ptr += n, bytes.len -= (size_t)n)
        if ((n = send(endpoint.links[number], bytes.ptr, bytes.len, MSG_DONTWAIT)) < 0) {
            assert_true(waited++ < PATIENCE);
            n = 0;
            endpoint_turn();
            listen_to_all();
        } else {
            waited = 0;
        }
}

static void endpoint_greet(size_t number)
{
    static const char *const values[][2] = {{"server_version", "14.5 (ydb stable-23-4)"},
                                            {"server_encoding", "UTF8"},
                                            {"client_encoding", "UTF8"},
                                            {"DateStyle", "ISO, MDY"},
                                            {"integer_datetimes", "on"},
                                            {"standard_conforming_strings", "on"}};
    pgw_buf out = {0};
    pgw_write_authentication_ok(&out);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        pgw_write_parameter_status(pgw_slice_str(values[i][0]), pgw_slice_str(values[i][1]), &out);
    const char key[] = {0, 0, 0, (char)number};
    pgw_write_key_data((uint32_t)(FIRST_PID + number), (pgw_slice){key, sizeof key}, &out);
    pgw_write_ready('I', &out);
    endpoint_say(number, pgw_slice_buf(&out));
    pgw_buf_free(&out);
}

static void endpoint_refuse(size_t number, const pgw_error *error)
{
    pgw_buf out = {0};
    pgw_error_write(error, "FATAL", &out);
    endpoint_say(number, pgw_slice_buf(&out));
    pgw_buf_free(&out);
    endpoint_lose(number);
}

/* "1! ready" and what else becomes of a link. */
static void endpoint_happen(size_t number, const char *what)
{
    pgw_error error;
    char code[6];
    if (strcmp(what, "ready") == 0) {
        endpoint_greet(number);
    } else if (strcmp(what, "lost") == 0) {
        endpoint_lose(number);
    } else if (strcmp(what, "cancelled") == 0) {
        endpoint_hear_cancel(number);
    } else {
        assert_int_equal(sscanf(what, "failed %5s", code), 1);
        pgw_fail(&error, code, "by the transcript");
        endpoint_refuse(number, &error);
    }
}

#endif
