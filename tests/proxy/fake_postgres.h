/*
 * fake_postgres: a server that speaks PostgreSQL's protocol on a Unix socket, and behaves as the
 * name of the user and the words of the query tell it to; so that the process is tested without
 * one.
 */
#ifndef FAKE_POSTGRES_H
#define FAKE_POSTGRES_H

#include "protocol/backend.h"
#include "protocol/error.h"
#include "protocol/authentication.h"
#include "protocol/frame.h"
#include "protocol/frontend.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { POSTGRES_MOST = 64, POSTGRES_BULK = 1024 };

static struct {
    char folder[64];
    int fd, peers[POSTGRES_MOST];
    pthread_t thread, threads[POSTGRES_MOST];
    size_t count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned waiting, cancels, cancelled, replicas;
} postgres;

/* What the server says to a text that holds these words: lines of cells, which are parted by bars
 * ("~": NULL), behind which it may fail. */
typedef struct postgres_line {
    const char *words, *rows, *fails; /* the last: a SQLSTATE, or NULL */
} postgres_line;

static const postgres_line
    *postgres_lines; /* up to one without words; NULL: it has no part to play */

static bool postgres_read(int fd, void *to, size_t len)
{
    for (ssize_t n; len > 0; to = (char *)to + n, len -= (size_t)n)
        if ((n = recv(fd, to, len, 0)) <= 0)
            return false;
    return true;
}

static void postgres_send(int fd, pgw_buf *out)
{
    for (size_t at = 0; at < out->len;) {
        ssize_t n = send(fd, out->ptr + at, out->len - at, MSG_NOSIGNAL);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    pgw_buf_clear(out);
}

/* Its type, and its body with a NUL behind; 0 at the end. The startup packet has no type: 1. */
static char postgres_message(int fd, bool startup, pgw_buf *body)
{
    unsigned char head[5] = {1};
    pgw_buf_clear(body);
    if (!postgres_read(fd, head + startup, 5 - startup))
        return 0;
    size_t len = ((size_t)head[1] << 24 | head[2] << 16 | head[3] << 8 | head[4]) - 4;
    char *to = pgw_buf_reserve(body, len + 1);
    if (!postgres_read(fd, to, len))
        return 0;
    to[len] = '\0';
    body->len = len;
    return startup ? 1 : (char)head[0];
}

static void postgres_fail(const char *severity, const char *sqlstate, const char *where,
                          pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'E');
    pgw_buf_addf(out, "S%s%cV%s%cC%s%cMthe server's reason%cDits detail%cHits hint%c", severity, 0,
                 severity, 0, sqlstate, 0, 0, 0, 0);
    pgw_buf_addf(out, "Ffile.c%cL1%cR%s%c%c", 0, 0, where, 0, 0);
    pgw_end_small(out, begun);
}

/* What is told of a user whose name begins with the word; others come in. */
static bool postgres_refuses(const char *user, pgw_buf *out)
{
    static const char *const cases[][3] = {
        {"unknown", "28000", "InitializeSessionUserId"},
        {"crowd", "53300", "InitProcess"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strncmp(user, cases[i][0], strlen(cases[i][0])) == 0) {
            postgres_fail("FATAL", cases[i][1], cases[i][2], out);
            return true;
        }
    return false;
}

static void postgres_greet(const char *user, size_t number, pgw_buf *out)
{
    static const char *const values[][2] = {{"server_version", "15.20"},
                                            {"server_encoding", "UTF8"},
                                            {"client_encoding", "UTF8"},
                                            {"DateStyle", "ISO, MDY"},
                                            {"IntervalStyle", "postgres"},
                                            {"TimeZone", "UTC"},
                                            {"standard_conforming_strings", "on"},
                                            {"is_superuser", "off"},
                                            {"reported_by_a_newer_one", "a \"b\" c"}};
    pgw_write_authentication_ok(out);
    pgw_buf_add(out, "N\0\0\0\x16SNOTICE\0Mwelcome\0\0", 23);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        pgw_write_parameter_status(pgw_slice_str(values[i][0]), pgw_slice_str(values[i][1]), out);
    pgw_write_parameter_status(PGW_LITERAL("session_authorization"), pgw_slice_str(user), out);
    pgw_write_key_data((uint32_t)(1000 + number), PGW_LITERAL("\0\0\0*"), out);
    pgw_write_ready('I', out);
}

static void postgres_row(const char *text, size_t len, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'D');
    pgw_buf_add_i16(out, 1);
    pgw_buf_add_i32(out, (int32_t)len);
    pgw_buf_add(out, text, len);
    pgw_end_small(out, begun);
}

static void postgres_wait_for_cancel(void)
{
    pthread_mutex_lock(&postgres.lock);
    postgres.waiting++;
    pthread_cond_broadcast(&postgres.changed);
    while (postgres.cancels == postgres.cancelled)
        pthread_cond_wait(&postgres.changed, &postgres.lock);
    postgres.cancelled++;
    pthread_mutex_unlock(&postgres.lock);
}

/* Until so many have asked for a "select wait". */
__attribute__((unused)) static void postgres_has_waiting(unsigned count)
{
    pthread_mutex_lock(&postgres.lock);
    while (postgres.waiting < count)
        pthread_cond_wait(&postgres.changed, &postgres.lock);
    pthread_mutex_unlock(&postgres.lock);
}

/* Tables that are not there, may not be read, or have no rows. */
static bool postgres_refuses_table(const char *text, pgw_buf *out)
{
    if (strstr(text, "\"missing\"") != NULL)
        postgres_fail("ERROR", "42P01", "parserOpenTable", out);
    else if (strstr(text, "\"secret\"") != NULL)
        postgres_fail("ERROR", "42501", "aclcheck_error", out);
    else
        return false;
    pgw_write_ready('I', out);
    return true;
}

static void postgres_columns(size_t count, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'T');
    pgw_buf_add_i16(out, (int16_t)count);
    for (size_t i = 0; i < count; i++) {
        pgw_buf_addf(out, "c%zu%c", i + 1, 0);
        pgw_buf_add(out, "\0\0\0\0\0\0\0\0\0\x19\xFF\xFF\xFF\xFF\xFF\xFF\0\0", 18);
    }
    pgw_end_small(out, begun);
}

static size_t postgres_cells(const char *line)
{
    size_t count = 1;
    for (; *line != '\0' && *line != '\n'; line++)
        count += *line == '|';
    return count;
}

static const char *postgres_cut_row(const char *line, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'D');
    pgw_buf_add_i16(out, (int16_t)postgres_cells(line));
    for (bool more = true; more;) {
        size_t len = strcspn(line, "|\n");
        bool null = len == 1 && *line == '~';
        pgw_buf_add_i32(out, null ? -1 : (int32_t)len);
        pgw_buf_add(out, line, null ? 0 : len);
        line += len;
        more = *line == '|';
        line += *line != '\0';
    }
    pgw_end_small(out, begun);
    return line;
}

/* False: the part says nothing of such a text. */
static bool postgres_play(const char *text, pgw_buf *out)
{
    const postgres_line *line = postgres_lines;
    while (line != NULL && line->words != NULL && strstr(text, line->words) == NULL)
        line++;
    if (line == NULL || line->words == NULL)
        return false;
    if (line->rows != NULL)
        postgres_columns(postgres_cells(line->rows), out);
    for (const char *row = line->rows; row != NULL && *row != '\0';)
        row = postgres_cut_row(row, out);
    if (line->fails != NULL)
        postgres_fail("ERROR", line->fails, "somewhere", out);
    else
        pgw_write_tag("SELECT", out);
    pgw_write_ready('I', out);
    return true;
}

/* "select rows n" gives n rows of 1 KiB, "select wait" lasts until it is cancelled; all else is
 * given back. */
static void postgres_answer(int fd, const char *text, pgw_buf *out)
{
    if (postgres_play(text, out) || postgres_refuses_table(text, out))
        return;
    unsigned rows = 1;
    char row[POSTGRES_BULK];
    memset(row, 'r', sizeof row);
    bool bulk = sscanf(text, "select rows %u", &rows) == 1;
    bool quiet = strncmp(text, "select s.setdatabase", 20) == 0 || strncmp(text, "set ", 4) == 0 ||
                 strstr(text, "\"empty\"") != NULL;
    if (strcmp(text, "select wait") == 0) {
        postgres_wait_for_cancel();
        postgres_fail("ERROR", "57014", "ProcessInterrupts", out);
    } else {
        size_t begun = pgw_begin(out, 'T');
        pgw_buf_add_i16(out, 1);
        pgw_buf_add(out, "c\0\0\0\0\0\0\0\0\0\0\x19\xFF\xFF\xFF\xFF\xFF\xFF\0\0", 20);
        pgw_end_small(out, begun);
        for (unsigned i = 0; i < rows && !quiet; i++) {
            postgres_row(bulk ? row : text, bulk ? sizeof row : strlen(text), out);
            if (out->len > 64 * 1024)
                postgres_send(fd, out);
        }
        pgw_write_tag("SELECT 1", out);
    }
    pgw_write_ready('I', out);
}

/* A text, and behind it the values that are bound to it, which it may be known by as well. */
static void postgres_answer_bound(int fd, pgw_slice parsed, pgw_buf *out)
{
    pgw_buf text = {0};
    for (size_t i = 0; i < parsed.len; i++)
        if (parsed.ptr[i] >= ' ')
            pgw_buf_add_byte(&text, parsed.ptr[i]);
    pgw_buf_add_byte(&text, '\0');
    pgw_write_parse_complete(out);
    pgw_write_bind_complete(out);
    postgres_answer(fd, text.ptr, out);
    pgw_buf_free(&text);
}

static void postgres_note(const pgw_buf *startup)
{
    static const char replica[] = "replication\0database";
    pthread_mutex_lock(&postgres.lock);
    for (size_t i = 0; i + sizeof replica <= startup->len; i++)
        postgres.replicas += memcmp(startup->ptr + i, replica, sizeof replica) == 0;
    pthread_mutex_unlock(&postgres.lock);
}

/* False: it is to hang up. */
static bool postgres_begin(int fd, size_t number, pgw_buf *in, pgw_buf *out)
{
    if (postgres_message(fd, true, in) == 0)
        return false;
    if (memcmp(in->ptr, "\x04\xD2\x16\x2E", 4) == 0) {
        pthread_mutex_lock(&postgres.lock);
        postgres.cancels++;
        pthread_cond_broadcast(&postgres.changed);
        pthread_mutex_unlock(&postgres.lock);
        return false;
    }
    const char *user = in->ptr + 4 + sizeof "user";
    char *name = pgw_strndup(user, strlen(user));
    bool mute = strncmp(name, "mute", 4) == 0, refused = mute || postgres_refuses(name, out);
    postgres_note(in);
    if (strncmp(name, "secret", 6) == 0) {
        pgw_write_authentication_cleartext(out);
        postgres_send(fd, out);
        refused = postgres_message(fd, false, in) != 'p' || strcmp(in->ptr, "sesame") != 0;
        if (refused)
            postgres_fail("FATAL", "28P01", "auth_failed", out);
    }
    if (!refused)
        postgres_greet(name, number, out);
    free(name);
    postgres_send(fd, out);
    return !refused;
}

static void *postgres_serve(void *argument)
{
    size_t number = (size_t)argument;
    int fd = postgres.peers[number];
    pgw_buf in = {0}, out = {0}, parsed = {0};
    bool open = postgres_begin(fd, number, &in, &out);
    for (char type; open && (type = postgres_message(fd, false, &in)) != 0 && type != 'X';) {
        open = type != 'Q' || strcmp(in.ptr, "select end") != 0;
        if (open && type == 'Q')
            postgres_answer(fd, in.ptr, &out);
        if (type == 'P')
            pgw_buf_clear(&parsed);
        if (type == 'P' || type == 'B')
            pgw_buf_add(&parsed, in.ptr, in.len);
        if (type == 'S')
            postgres_answer_bound(fd, pgw_slice_buf(&parsed), &out);
        postgres_send(fd, &out);
    }
    pgw_buf_free(&parsed);
    shutdown(fd, SHUT_RDWR);
    pgw_buf_free(&in);
    pgw_buf_free(&out);
    return NULL;
}

static void *postgres_accept(void *argument)
{
    (void)argument;
    for (int fd; (fd = accept(postgres.fd, NULL, NULL)) >= 0;) {
        assert_true(postgres.count < POSTGRES_MOST);
        size_t number = postgres.count++;
        postgres.peers[number] = fd;
        pthread_create(&postgres.threads[number], NULL, postgres_serve, (void *)number);
    }
    return NULL;
}

static void postgres_start(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memset(&postgres, 0, sizeof postgres);
    pthread_mutex_init(&postgres.lock, NULL);
    pthread_cond_init(&postgres.changed, NULL);
    strcpy(postgres.folder, "/tmp/keyspread-test-XXXXXX");
    assert_non_null(mkdtemp(postgres.folder));
    snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.5432", postgres.folder);
    postgres.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(postgres.fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(postgres.fd, 64), 0);
    pthread_create(&postgres.thread, NULL, postgres_accept, NULL);
}

/* Whoever is still connected is thrown out. */
static void postgres_stop(void)
{
    char path[128];
    shutdown(postgres.fd, SHUT_RDWR);
    pthread_join(postgres.thread, NULL);
    for (size_t i = 0; i < postgres.count; i++) {
        shutdown(postgres.peers[i], SHUT_RDWR);
        pthread_join(postgres.threads[i], NULL);
        close(postgres.peers[i]);
    }
    close(postgres.fd);
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", postgres.folder);
    unlink(path);
    rmdir(postgres.folder);
}

#endif
