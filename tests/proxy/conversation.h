/*
 * conversation: clients over socket pairs, and links that are scripts, around one real worker. What
 * everybody says is a line a message: the type, and the body with what cannot be printed escaped.
 */
#ifndef TEST_CONVERSATION_H
#define TEST_CONVERSATION_H

#include "protocol/error.h"
#include "protocol/frame.h"
#include "proxy/backend/backend.h"
#include "proxy/backend/catalog.h"
#include "proxy/backend/databases.h"
#include "proxy/backend/kinds.h"
#include "proxy/backend/pids.h"
#include "proxy/backend/postgres/writer.h"
#include "proxy/base/address.h"
#include "proxy/base/log.h"
#include "proxy/base/metrics_text.h"
#include "proxy/base/shared.h"
#include "proxy/client/cancel.h"
#include "proxy/client/credentials.h"
#include "proxy/client/life.h"
#include "proxy/client/lobby.h"
#include "proxy/client/session.h"
#include "proxy/client/sessions.h"
#include "proxy/client/watch.h"
#include "proxy/ingest/plan_cache.h"
#include "proxy/server/config.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
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
    px_credentials *credentials;
    party links[LINKS];
    script *scripts[LINKS]; /* NULL: closed */
    size_t link_count;
    client clients[CLIENTS];
    uint64_t ms;
    bool ending; /* time passes by itself */
    char names[NAMES][NAME];
    void (*on_open)(size_t link); /* of who records */
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

/* ---- a kind of backend ---- */

static script *script_of(const px_link *link)
{
    return (script *)link;
}

static size_t number_of(const script *s)
{
    return (size_t)(s->party - here.links);
}

static void script_open(px_link *link)
{
    static const char *const roles[] = {"session", "batch", "catalog"};
    assert_true(here.link_count < LINKS);
    script *s = script_of(link);
    s->party = &here.links[here.link_count];
    s->party->name = (char)('1' + here.link_count);
    here.scripts[here.link_count++] = s;
    link->pid = FIRST_PID + (uint32_t)number_of(s);
    const char *own =
        link->role == PX_LINK_SESSION ? link->identity->options : link->identity->shared;
    add_line(s->party, "+ %s of %s in %s:%s%s%s%s", roles[link->role], link->identity->user,
             link->identity->database, own[0] != '\0' ? " " : "", own,
             link->options != NULL ? " " : "", link->options != NULL ? link->options : "");
    if (here.on_open != NULL)
        here.on_open(number_of(s));
}

static void script_close(px_link *link)
{
    script *s = script_of(link);
    if (s->party != NULL) {
        take_messages(s->party, '<', false);
        add_line(s->party, "-");
        here.scripts[number_of(s)] = NULL;
    }
    pgw_buf_free(&s->in);
    px_link_end(link);
}

static void script_finish(px_link *link)
{
    take_messages(script_of(link)->party, '<', false);
    add_line(script_of(link)->party, ".");
}

static void script_send(px_link *link, const void *ptr, size_t len)
{
    script *s = script_of(link);
    pgw_buf_add(&s->party->raw, ptr, len);
    if (here.on_send != NULL)
        here.on_send(number_of(s), ptr, len);
}

static void script_pass(px_link *link, px_stream *from, size_t len)
{
    script_send(link, px_stream_input(from).ptr, len);
    px_stream_consume(from, len);
}

static size_t script_pending(const px_link *link)
{
    (void)link;
    return 0;
}

static void script_cancel(px_link *link)
{
    script_of(link)->cancelling = true;
    take_messages(script_of(link)->party, '<', false);
    add_line(script_of(link)->party, "x");
}

static bool script_cancelling(const px_link *link)
{
    return script_of(link)->cancelling;
}

static pgw_slice script_input(const px_link *link)
{
    const script *s = script_of(link);
    return (pgw_slice){s->in.ptr + s->start, s->in.len - s->start};
}

static void script_consume(px_link *link, size_t len)
{
    script_of(link)->start += len;
}

static void script_expect(px_link *link, size_t len)
{
    assert_true(len > script_input(link).len);
}

static void script_pass_on(px_link *link, px_stream *to, size_t len)
{
    px_stream_put(to, script_input(link).ptr, len);
    script_consume(link, len);
}

static void script_pause(px_link *link)
{
    (void)link;
}

static const char *script_parameter(const px_link *link, const char *name)
{
    static const char *const values[][2] = {{"application_name", ""},
                                            {"client_encoding", "UTF8"},
                                            {"DateStyle", "ISO, MDY"},
                                            {"IntervalStyle", "postgres"},
                                            {"server_encoding", "UTF8"},
                                            {"server_version", "15.20"},
                                            {"standard_conforming_strings", "on"},
                                            {"TimeZone", "UTC"}};
    if (strcmp(name, "session_authorization") == 0)
        return link->identity->user;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i][0], name) == 0)
            return values[i][1];
    return NULL;
}

static const px_link_kind script_kind = {.size = sizeof(script),
                                         .open = script_open,
                                         .close = script_close,
                                         .finish = script_finish,
                                         .send = script_send,
                                         .pass = script_pass,
                                         .pending = script_pending,
                                         .cancel = script_cancel,
                                         .cancelling = script_cancelling,
                                         .input = script_input,
                                         .consume = script_consume,
                                         .expect = script_expect,
                                         .pass_on = script_pass_on,
                                         .pause = script_pause,
                                         .resume = script_pause,
                                         .parameter = script_parameter};
static const px_backend script_backend = {
    .name = "script", .link = &script_kind, .writer = &px_postgres_writer};

/* ---- coming and going ---- */

static const px_tenant *const here_tenants[] = {&px_batcher_tenant, &px_sessions_tenant,
                                                &px_catalogs_tenant, &px_stream_tenant, NULL};

static void begin(const char *config)
{
    memset(&here, 0, sizeof here);
    signal(SIGPIPE, SIG_IGN);
    px_log_level(CFG_LOG_ERROR);
    here.config = px_config_load(config, stderr);
    assert_non_null(here.config);
    here.credentials = px_credentials_load(here.config, NULL, stderr);
    assert_non_null(here.credentials);
    here.server = (px_server){.workers = &here.worker,
                              .worker_count = 1,
                              .config = here.config,
                              .backend = &script_backend,
                              .pids = px_pids_new(),
                              .databases = px_databases_new(),
                              .greetings = px_greetings_new(),
                              .lobby = px_lobby_new(),
                              .addresses = px_addresses_new(),
                              .metrics = px_metrics_new(NULL)};
    px_worker_init(&here.worker, &here.server, 0, here_tenants);
    here.worker.config = here.config;
    here.worker.credentials = px_credentials_take(here.credentials);
    here.worker.plans = pgw_calloc(1, sizeof *here.worker.plans);
    here.worker.catalogs = px_catalogs_new(&here.worker);
    here.worker.batcher = px_batcher_new(&here.worker);
    uv_timer_stop(&here.worker.tick);
    uv_stop(
        &here.worker.loop); /* nothing is run yet, but this thread is the worker's from now on */
    px_worker_run(&here.worker);
}

static void pass_time(unsigned ms)
{
    here.ms += ms;
    uv_update_time(&here.worker.loop);
    for (const px_tenant *const *tenant = here_tenants; *tenant != NULL; tenant++)
        if ((*tenant)->tick != NULL)
            (*tenant)->tick(&here.worker);
}

static void turn(void)
{
    for (int i = 0; i < 6; i++)
        uv_run(&here.worker.loop, UV_RUN_NOWAIT);
}

/* A startup packet with these parameters. */
static void send_startup(const client *c, const char *parameters)
{
    pgw_buf packet = {0};
    pgw_buf_add_i32(&packet, 0);
    pgw_buf_add_i32(&packet, 3 << 16);
    read_bytes(parameters, &packet);
    pgw_buf_add_byte(&packet, '\0');
    packet.ptr[3] = (char)packet.len;
    assert_int_equal(send(c->fd, packet.ptr, packet.len, 0), packet.len);
    pgw_buf_free(&packet);
}

/* "@7 …" comes from 192.0.2.7, others by a Unix socket; who has no parameters says nothing. */
static px_address *address_of(const char **parameters)
{
    unsigned last, count;
    int used = 0;
    struct sockaddr_storage from = {.ss_family = AF_UNIX};
    struct sockaddr_in *ip = (struct sockaddr_in *)&from;
    if (sscanf(*parameters, "@%u%n", &last, &used) == 1) {
        ip->sin_family = AF_INET;
        ip->sin_addr.s_addr = htonl(0xC0000200 + last);
        *parameters += used + ((*parameters)[used] == ' ');
    }
    return px_address_enter(here.server.addresses, &from, &count);
}

static void come(client *c, char name, const char *parameters)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    c->fd = fds[0];
    c->here = true;
    c->party.name = name;
    px_address *address = address_of(&parameters);
    px_guest *guest = px_lobby_enter(&here.worker, address);
    if (guest == NULL) {
        px_address_leave(address);
        close(fds[1]);
        return;
    }
    atomic_fetch_add(&here.worker.load, 1);
    px_life_begin(&here.worker, fds[1], address, guest);
    if (parameters[0] != '\0')
        send_startup(c, parameters);
}

static void listen_to(client *c)
{
    for (ssize_t n = 1; c->here && n > 0;) {
        char *to = pgw_buf_reserve(&c->party.raw, 4096);
        n = recv(c->fd, to, 4096, MSG_DONTWAIT);
        c->party.raw.len += n > 0 ? (size_t)n : 0;
        if (n == 0) {
            take_messages(&c->party, '<', false);
            add_line(&c->party, "<");
            close(c->fd);
            c->here = false;
        }
    }
    take_messages(&c->party, '<', false);
}

/* All that was said since last time, the links' lines first. */
static void take_step(pgw_buf *lines)
{
    turn();
    for (size_t i = 0; i < CLIENTS; i++)
        listen_to(&here.clients[i]);
    for (size_t i = 0; i < LINKS + CLIENTS; i++) {
        party *p = i < LINKS ? &here.links[i] : &here.clients[i - LINKS].party;
        if (i < LINKS)
            take_messages(p, '<', false);
        pgw_buf_add_slice(lines, pgw_slice_buf(&p->lines));
        pgw_buf_clear(&p->lines);
    }
}

/* What the worker has counted, as an administrator would see it; durations and bytes are chance. */
static void print_counts(pgw_buf *out)
{
    static const char *const chance[] = {"_seconds", "_bytes", "_bucket",
                                         "_info",    "_limit", "_up "};
    const double gauges[PX_GAUGES] = {0};
    pgw_buf page = {0};
    px_metrics_write(here.worker.metrics, gauges, "x", &page);
    pgw_buf_add_byte(&page, '\0');
    for (char *line = strtok(page.ptr, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        bool shown = line[0] != '#' && strcmp(strrchr(line, ' '), " 0") != 0;
        for (size_t i = 0; i < sizeof chance / sizeof *chance; i++)
            shown = shown && strstr(line, chance[i]) == NULL;
        if (shown)
            pgw_buf_addf(out, "= %s\n", line);
    }
    pgw_buf_free(&page);
}

static void lose_links(void)
{
    for (size_t i = 0; i < here.link_count; i++)
        if (here.scripts[i] != NULL && !here.scripts[i]->link.opening)
            here.scripts[i]->link.ops->on_lost(&here.scripts[i]->link, "the end");
}

static void end(void)
{
    here.ending = true;
    for (size_t i = 0; i < CLIENTS; i++)
        if (here.clients[i].here)
            close(here.clients[i].fd);
    turn();
    lose_links();
    turn();
    px_worker_drain(&here.worker);
    uv_run(&here.worker.loop, UV_RUN_DEFAULT);
    px_plan_cache_clear(here.worker.plans);
    free(here.worker.plans);
    px_kinds_free(&here.worker);
    px_worker_free(&here.worker);
    px_metrics_free(here.worker.metrics);
    px_metrics_free(here.server.metrics);
    px_pids_free(here.server.pids);
    px_databases_free(here.server.databases);
    px_greetings_free(here.server.greetings);
    px_lobby_free(here.server.lobby);
    px_addresses_free(here.server.addresses);
    px_credentials_drop(here.worker.credentials);
    px_credentials_drop(here.credentials);
    cfg_free(here.config);
    for (size_t i = 0; i < LINKS + CLIENTS; i++) {
        party *p = i < LINKS ? &here.links[i] : &here.clients[i - LINKS].party;
        pgw_buf_free(&p->raw);
        pgw_buf_free(&p->lines);
    }
}

#endif
