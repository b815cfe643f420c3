/*
 * parties: those who talk in a conversation, and what they say, a line a message: the type, and the
 * body with what cannot be printed escaped. And a clock that stands still.
 */
#ifndef TEST_PARTIES_H
#define TEST_PARTIES_H

#include "protocol/error.h"
#include "protocol/frame.h"
#include "proxy/backend/base/backend.h"
#include "proxy/backend/base/databases.h"
#include "proxy/backend/base/pids.h"
#include "proxy/backend/catalog/catalog.h"
#include "proxy/backend/postgres/writer.h"
#include "proxy/backend/state/kinds.h"
#include "proxy/base/address.h"
#include "proxy/base/log.h"
#include "proxy/base/metrics_text.h"
#include "proxy/base/shared.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/sessions.h"
#include "proxy/client/door/cancel.h"
#include "proxy/client/door/credentials.h"
#include "proxy/client/door/session_io.h"
#include "proxy/client/door/preauth.h"
#include "proxy/client/door/session_timeouts.h"
#include "proxy/ingest/plan_cache.h"
#include "proxy/server/config.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    LINKS = 9,
    CLIENTS = 4,
    FIRST_PID = 4711,
    WHOLE = 600,
    HEAD = 100,
    TAIL = 60,
    NAMES = 64,
    SIZES = 64,
    REPORTS = 4,
    NAME = 3 + 32
};

/* One who talks: what came from him and is no message yet, and the lines of this step. */
typedef struct party {
    char name;
    pgw_buf raw, lines;
} party;

typedef struct script {
    px_link link;
    party *party;
    pgw_buf in; /* said by the backend */
    size_t start;
    bool cancelling;
    char reports[REPORTS][64]; /* "name=value", otherwise than others do */
} script;

typedef struct client {
    party party;
    int fd;
    bool here;
} client;

static struct {
    px_server server;
    px_worker worker;
    cfg_config *config;
    int users; /* the file of those who may come in */
    px_credentials *credentials;
    party links[LINKS];
    script *scripts[LINKS]; /* NULL: closed */
    size_t link_count;
    client clients[CLIENTS];
    uint64_t ms;
    unsigned drawn[SIZES]; /* bytes by chance, by how many were wanted at once */
    bool ending;           /* time passes by itself */
    bool running;          /* it is keyspread that does what is done, and nobody here */
    char names[NAMES][NAME];
    bool sockets;                                      /* links are real ones: endpoint.h */
    const px_backend *backend;                         /* … of this kind */
    void (*on_open)(size_t link, const char *startup); /* of who records */
    void (*on_send)(size_t link, const void *ptr, size_t len);
} here;

/* ---- the clock ---- */

/* Of everybody in the process: it stands still until the transcript says otherwise. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    here.ms += here.ending;
    *time = (struct timespec){.tv_sec = 100000 + (time_t)(here.ms / 1000),
                              .tv_nsec = (long)(here.ms % 1000) * 1000000};
    return 0;
}

/* ---- chance ---- */

/* Numbers that nobody could guess: here everybody could, so that what is made of them is the same
 * each time. */
ssize_t getrandom(void *ptr, size_t len, unsigned flags)
{
    (void)flags;
    unsigned *drawn = &here.drawn[len < SIZES ? len : 0];
    for (size_t i = 0; i < len; i++)
        ((unsigned char *)ptr)[i] = (unsigned char)(++*drawn * 37);
    return (ssize_t)len;
}

/* ---- lines ---- */

/* A statement's name for batches is made by chance: which of them it is. */
static size_t print_name(pgw_slice name, pgw_buf *out)
{
    size_t i = 0;
    while (i < NAMES && here.names[i][0] != '\0' && memcmp(here.names[i], name.ptr, NAME) != 0)
        i++;
    assert_true(i < NAMES);
    memcpy(here.names[i], name.ptr, NAME);
    pgw_buf_addf(out, "ks_%zu", i + 1);
    return NAME;
}

static bool is_name(pgw_slice text)
{
    return text.len > NAME && memcmp(text.ptr, "ks_", 3) == 0 &&
           strspn(text.ptr + 3, "0123456789abcdef") == NAME - 3;
}

/* `bytes` in print; with `whole` false, what is very long is cut in its middle. */
static void print_bytes(pgw_slice bytes, bool whole, pgw_buf *out)
{
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char c = (unsigned char)bytes.ptr[i];
        if (!whole && bytes.len > WHOLE && i == HEAD) {
            pgw_buf_add_str(out, " … ");
            i = bytes.len - TAIL - 1;
        } else if (!whole && is_name((pgw_slice){bytes.ptr + i, bytes.len - i})) {
            i += print_name((pgw_slice){bytes.ptr + i, NAME}, out) - 1;
        } else if (c == '\0') {
            pgw_buf_add_str(out, "\\0");
        } else if (c == '\n') {
            pgw_buf_add_str(out, "\\n");
        } else if (c == '\\') {
            pgw_buf_add_str(out, "\\\\");
        } else if (c < ' ' || c > '~') {
            pgw_buf_addf(out, "\\x%02X", c);
        } else {
            pgw_buf_add_byte(out, (char)c);
        }
    }
}

/* The reverse; \s7; and \l7; are integers of 16 and 32 bits, \r7;x is seven times x. */
static void read_bytes(const char *text, pgw_buf *out)
{
    for (; *text != '\0'; text++) {
        unsigned value;
        int used = 0;
        if (*text != '\\') {
            pgw_buf_add_byte(out, *text);
        } else if (sscanf(text, "\\s%u;%n", &value, &used) == 1 && used > 0) {
            pgw_buf_add_i16(out, (int16_t)value);
            text += used - 1;
        } else if (sscanf(text, "\\l%u;%n", &value, &used) == 1 && used > 0) {
            pgw_buf_add_i32(out, (int32_t)value);
            text += used - 1;
        } else if (sscanf(text, "\\r%u;%n", &value, &used) == 1 && used > 0) {
            memset(pgw_buf_reserve(out, value), text[used], value);
            out->len += value;
            text += used;
        } else if (sscanf(text, "\\x%2X", &value) == 1) {
            pgw_buf_add_byte(out, (char)value);
            text += 3;
        } else {
            pgw_buf_add_byte(out, (char)(text[1] == '0' ? '\0' : text[1] == 'n' ? '\n' : text[1]));
            text++;
        }
    }
}

/* "Q select 1\0": a message; "=Q\l99;sel": bytes, which may be the beginning of one. */
static void read_message(const char *line, pgw_buf *out)
{
    if (line[0] == '=') {
        read_bytes(line + 1, out);
        return;
    }
    size_t begun = pgw_begin(out, line[0]);
    if (line[1] == ' ')
        read_bytes(line + 2, out);
    pgw_end_small(out, begun);
}

__attribute__((format(printf, 2, 3))) static void add_line(party *p, const char *format, ...)
{
    va_list args;
    char line[1024];
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pgw_buf_addf(&p->lines, "%c%s\n", p->name, line);
}

/* Messages that are there as a whole become lines behind `sign`. */
static void take_messages(party *p, char sign, bool whole)
{
    pgw_slice rest = pgw_slice_buf(&p->raw);
    pgw_frame frame;
    while (pgw_frame_next(rest, &frame) == PGW_FRAME_OK && frame.size <= rest.len) {
        pgw_slice body = pgw_frame_body(rest, frame);
        pgw_buf_addf(&p->lines, "%c%c %c%s", p->name, sign, frame.type, body.len > 0 ? " " : "");
        if (frame.type == 'K' && sign == '<') /* chosen by chance */
            pgw_buf_add_str(&p->lines, "*");
        else
            print_bytes(body, whole, &p->lines);
        pgw_buf_add_byte(&p->lines, '\n');
        rest.ptr += frame.size;
        rest.len -= frame.size;
    }
    if (rest.len > 0)
        memmove(p->raw.ptr, rest.ptr, rest.len);
    p->raw.len = rest.len;
}

/* True: something came. */
static bool listen_to(client *c)
{
    size_t before = c->party.raw.len;
    for (ssize_t n = 1; c->here && n > 0;) {
        char *to = pgw_buf_reserve(&c->party.raw, 4096);
        n = recv(c->fd, to, 4096, MSG_DONTWAIT);
        c->party.raw.len += n > 0 ? (size_t)n : 0;
        if (n == 0) {
            take_messages(&c->party, '<', false);
            add_line(&c->party, "<");
            close(c->fd);
            c->here = false;
            return true;
        }
    }
    bool any = c->party.raw.len > before;
    take_messages(&c->party, '<', false);
    return any;
}

static bool listen_to_all(void)
{
    bool any = false;
    for (size_t i = 0; i < CLIENTS; i++)
        any = listen_to(&here.clients[i]) || any;
    return any;
}

#endif
