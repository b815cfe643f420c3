/*
 * conversation: clients over socket pairs, and links that are scripts, around one real worker. What
 * everybody says is a line a message: the type, and the body with what cannot be printed escaped.
 */
#ifndef TEST_CONVERSATION_H
#define TEST_CONVERSATION_H

#include "proxy/backend/postgres/postgres.h"
#include "ydb/endpoint/endpoint.h"
#include "tests/proxy/copies.h"
#include "tests/proxy/endpoint.h"
#include "tests/proxy/one_worker.h"
#include "tests/proxy/scripts.h"

#include <sys/mman.h>
#include <sys/stat.h>

/* ---- coming and going ---- */

/* YDB's endpoint is met over sockets, and so is PostgreSQL where the DSN has a folder. */
static void open_backend(void)
{
    char dsn[128];
    bool ydb = here.config->backend.dialect == CFG_DIALECT_YDB;
    here.backend = ydb ? &px_backend_ydb : &px_backend_postgres;
    here.sockets = ydb || strncmp(here.config->backend.dsn, "host=/", 6) == 0;
    if (!here.sockets)
        return;
    endpoint_open();
    snprintf(dsn, sizeof dsn, "host=%s sslmode=disable", endpoint.folder);
    free(here.config->backend.dsn);
    here.config->backend.dsn = pgw_strndup(dsn, strlen(dsn));
}

/* The secrets of a test are no secrets, and everybody may read its files. */
static void hide_users(void)
{
    char path[64], line[256];
    FILE *users = fopen(here.config->auth.users_file, "r");
    int hidden = memfd_create("users", 0);
    assert_non_null(users);
    assert_true(hidden >= 0 && fchmod(hidden, S_IRUSR) == 0);
    while (fgets(line, sizeof line, users) != NULL)
        assert_int_equal(write(hidden, line, strlen(line)), strlen(line));
    fclose(users);
    snprintf(path, sizeof path, "/proc/self/fd/%d", hidden);
    free(here.config->auth.users_file);
    here.config->auth.users_file = pgw_strndup(path, strlen(path));
    here.users = hidden;
}

static void begin(const char *config)
{
    memset(&here, 0, sizeof here);
    copies_begin();
    signal(SIGPIPE, SIG_IGN);
    px_log_level(CFG_LOG_ERROR);
    here.config = px_config_load(config, stderr);
    assert_non_null(here.config);
    open_backend();
    if (here.config->auth.users_file != NULL)
        hide_users();
    here.credentials = px_credentials_load(here.config, NULL, stderr);
    assert_non_null(here.credentials);
    one_worker_begin(&here.server, &here.worker, here.config,
                     here.sockets ? here.backend : &script_backend,
                     px_credentials_take(here.credentials));
    here.server.preauth = px_preauth_new();
    here.server.addresses = px_addresses_new();
    uv_timer_stop(&here.worker.tick);
    uv_stop(
        &here.worker.loop); /* nothing is run yet, but this thread is the worker's from now on */
    px_worker_run(&here.worker);
}

static void pass_time(unsigned ms)
{
    here.ms += ms;
    uv_update_time(&here.worker.loop);
    for (const px_tenant *const *tenant = px_server_tenants; *tenant != NULL; tenant++)
        if ((*tenant)->tick != NULL)
            (*tenant)->tick(&here.worker);
}

static void turn(void)
{
    if (here.sockets)
        endpoint_turn();
    here.running = true;
    for (int i = 0; i < 6; i++)
        uv_run(&here.worker.loop, UV_RUN_NOWAIT);
    here.running = false;
}

/* A startup packet with these parameters. */
static void send_startup(const client *c, const char *parameters)
{
    pgw_buf packet = {0};
    pgw_buf pairs = {0};
    read_bytes(parameters, &pairs);
    pgw_buf_add_i32(&packet, (int32_t)(4 + 4 + pairs.len + 1));
    pgw_buf_add_i32(&packet, 3 << 16);
    pgw_buf_add_slice(&packet, pgw_slice_buf(&pairs));
    pgw_buf_add_byte(&packet, '\0');
    assert_int_equal(send(c->fd, packet.ptr, packet.len, 0), packet.len);
    pgw_buf_free(&packet);
    pgw_buf_free(&pairs);
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
    px_guest *guest = px_preauth_enter(&here.worker, address);
    if (guest == NULL) {
        px_address_leave(address);
        close(fds[1]);
        return;
    }
    atomic_fetch_add(&here.worker.load, 1);
    px_session_io_begin(&here.worker, fds[1], address, guest);
    if (parameters[0] != '\0')
        send_startup(c, parameters);
}

/* All that was said since last time, the links' lines first. Sockets take a part of what is long.
 */
static void take_step(pgw_buf *lines)
{
    do
        turn();
    while (listen_to_all());
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
    copies_print(out);
    pgw_buf_free(&page);
}

static void end(void)
{
    here.ending = true;
    for (size_t i = 0; i < CLIENTS; i++)
        if (here.clients[i].here)
            close(here.clients[i].fd);
    turn();
    if (here.sockets)
        endpoint_close();
    else
        script_lose_all();
    turn();
    one_worker_end(&here.server, &here.worker);
    px_preauth_free(here.server.preauth);
    px_addresses_free(here.server.addresses);
    px_credentials_drop(here.worker.credentials);
    px_credentials_drop(here.credentials);
    if (here.config->auth.users_file != NULL)
        close(here.users);
    cfg_free(here.config);
    for (size_t i = 0; i < LINKS + CLIENTS; i++) {
        party *p = i < LINKS ? &here.links[i] : &here.clients[i - LINKS].party;
        pgw_buf_free(&p->raw);
        pgw_buf_free(&p->lines);
    }
}

#endif
