/*
 * ydb_endpoint: a fake of YDB's PostgreSQL-compatible endpoint, before a real PostgreSQL that holds
 * the data. It does what is known of YDB's endpoint, weaknesses included, and takes nothing that
 * YDB refuses. Comments and tests cite the notes that it is written from by their sections (1.1
 * startup, 1.2 sizes, 1.3 messages, 1.4 extended protocol, 1.5 simple protocol, 1.6 tags, 1.7
 * errors, 2 SQL, 3 partitions); options.h has what those notes call uncertain.
 *
 *   ydb_endpoint --listen 127.0.0.1:2137 --store "host=127.0.0.1 port=5432 dbname=app"
 *   psql "host=127.0.0.1 port=2137 dbname=/local"
 */
#include "tests/ydb_endpoint/connection.h"
#include "tests/ydb_endpoint/control.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

static int fail(const char *what)
{
    perror(what);
    return 1;
}

static bool read_address(const char *text, struct sockaddr_in *address)
{
    char host[64];
    const char *colon = strrchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof host)
        return false;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(colon + 1))};
    return inet_pton(AF_INET, host, &address->sin_addr) == 1;
}

static SSL_CTX *make_tls(const ye_options *options)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context != NULL && SSL_CTX_use_certificate_chain_file(context, options->certificate) == 1 &&
        SSL_CTX_use_PrivateKey_file(context, options->key, SSL_FILETYPE_PEM) == 1)
        return context;
    fprintf(stderr, "the certificate cannot be used\n");
    exit(1);
}

static int listen_at(const char *text)
{
    struct sockaddr_in address;
    const int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!read_address(text, &address))
        errno = EINVAL;
    else if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
             bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 512) == 0)
        return fd;
    exit(fail(text));
}

static bool take_tables(ye_endpoint *endpoint)
{
    const ye_options *options = &endpoint->options;
    endpoint->map.away = options->away_unavailable ? YE_UNAVAILABLE : YE_OVERLOADED;
    for (size_t i = 0; i < sizeof options->tables / sizeof *options->tables; i++)
        if (options->tables[i] != NULL && !ye_map_add(&endpoint->map, options->tables[i])) {
            fprintf(stderr, "--table %s is not understood\n", options->tables[i]);
            return false;
        }
    return true;
}

int main(int argc, char **argv)
{
    static ye_endpoint endpoint = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                   .faults.lock = PTHREAD_MUTEX_INITIALIZER,
                                   .map.lock = PTHREAD_MUTEX_INITIALIZER,
                                   .texts.lock = PTHREAD_MUTEX_INITIALIZER};
    if (!ye_options_read(argc, argv, &endpoint.options))
        return 2;
    if (!take_tables(&endpoint))
        return 2;
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1); /* of all threads: 50 µs are much of 2 ms */
    if (endpoint.options.certificate != NULL)
        endpoint.tls = make_tls(&endpoint.options);
    const int listener = listen_at(endpoint.options.listen);
    if (endpoint.options.monitoring != NULL &&
        !ye_control_start(&endpoint, listen_at(endpoint.options.monitoring)))
        return fail("HTTP");
    fprintf(stderr, "ready\n");
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            ye_connection_start(&endpoint, fd);
        else if (errno != EINTR && errno != ECONNABORTED)
            return fail("accept");
    }
}
