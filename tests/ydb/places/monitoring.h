/*
 * monitoring: YDB's, as far as it is asked here: a server of HTTP on a thread of its own, which
 * gives to each request the answer that is set for what it contains, and remembers what was asked.
 */
#ifndef TEST_MONITORING_H
#define TEST_MONITORING_H

#include "protocol/bytes.h"

#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { NEVER = 0, HANG_UP = 1, ANSWERS = 4, REQUESTS = 16 };

/* What contains `of` gets this; what gets NEVER is kept waiting, and HANG_UP is no answer either.
 */
typedef struct answer {
    const char *of;
    int status;
    const char *body, *header;
} answer;

static struct {
    int fd;
    char url[64];
    pthread_t thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    answer answers[ANSWERS];
    char requests[REQUESTS][2048];
    size_t asked;
    int waiting; /* a connection that gets no answer */
} monitoring;

static answer answer_to(const char *request)
{
    for (size_t i = 0; i < ANSWERS && monitoring.answers[i].of != NULL; i++)
        if (strstr(request, monitoring.answers[i].of) != NULL)
            return monitoring.answers[i];
    return (answer){.status = 404};
}

static answer take_request(const char *request)
{
    pthread_mutex_lock(&monitoring.lock);
    char *to = monitoring.requests[monitoring.asked % REQUESTS];
    snprintf(to, sizeof monitoring.requests[0], "%s", request);
    monitoring.asked++;
    answer given = answer_to(request);
    pthread_cond_broadcast(&monitoring.changed);
    pthread_mutex_unlock(&monitoring.lock);
    return given;
}

static void send_bytes(int fd, const char *ptr, size_t len)
{
    for (ssize_t n; len > 0; ptr += n, len -= (size_t)n)
        if ((n = send(fd, ptr, len, MSG_NOSIGNAL)) <= 0)
            return; /* who has asked has heard enough */
}

static void send_answer(int fd, answer given)
{
    pgw_buf head = {0};
    const char *body = given.body != NULL ? given.body : "";
    pgw_buf_addf(&head, "HTTP/1.1 %d It\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n",
                 given.status, strlen(body), given.header != NULL ? given.header : "");
    send_bytes(fd, head.ptr, head.len);
    send_bytes(fd, body, strlen(body));
    pgw_buf_free(&head);
}

static void serve(int fd)
{
    char request[2048] = "";
    size_t len = 0;
    for (ssize_t n = 1; n > 0 && strstr(request, "\r\n\r\n") == NULL; len += (size_t)n) {
        if ((n = recv(fd, request + len, sizeof request - 1 - len, 0)) <= 0)
            break;
        request[len + (size_t)n] = '\0';
    }
    answer given = take_request(request);
    if (given.status == NEVER) {
        monitoring.waiting = fd;
        return;
    }
    if (given.status != HANG_UP)
        send_answer(fd, given);
    close(fd);
}

static void *serve_all(void *argument)
{
    (void)argument;
    for (int fd; (fd = accept(monitoring.fd, NULL, NULL)) >= 0;)
        serve(fd);
    return NULL;
}

static void monitoring_start(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    memset(&monitoring, 0, sizeof monitoring);
    monitoring.waiting = -1;
    pthread_mutex_init(&monitoring.lock, NULL);
    pthread_cond_init(&monitoring.changed, NULL);
    monitoring.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(monitoring.fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(monitoring.fd, (struct sockaddr *)&address, &len), 0);
    assert_int_equal(listen(monitoring.fd, 8), 0);
    snprintf(monitoring.url, sizeof monitoring.url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    assert_int_equal(pthread_create(&monitoring.thread, NULL, serve_all, NULL), 0);
}

static void monitoring_stop(void)
{
    shutdown(monitoring.fd, SHUT_RDWR);
    pthread_join(monitoring.thread, NULL);
    close(monitoring.fd);
    if (monitoring.waiting >= 0)
        close(monitoring.waiting);
    pthread_cond_destroy(&monitoring.changed);
    pthread_mutex_destroy(&monitoring.lock);
}

/* The `i`-th answer from now on. */
static void set_answer(size_t i, answer given)
{
    pthread_mutex_lock(&monitoring.lock);
    monitoring.answers[i] = given;
    pthread_mutex_unlock(&monitoring.lock);
}

/* Waits for the `n`-th request, from 1. */
static const char *request(size_t n)
{
    pthread_mutex_lock(&monitoring.lock);
    while (monitoring.asked < n)
        pthread_cond_wait(&monitoring.changed, &monitoring.lock);
    pthread_mutex_unlock(&monitoring.lock);
    return monitoring.requests[(n - 1) % REQUESTS];
}

/* How many there were so far. */
static size_t requests(void)
{
    pthread_mutex_lock(&monitoring.lock);
    size_t asked = monitoring.asked;
    pthread_mutex_unlock(&monitoring.lock);
    return asked;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

#endif
