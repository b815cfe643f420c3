/* The process as its clients, its administrator and its service manager meet it, with a pretended
 * PostgreSQL behind it. */
#define _GNU_SOURCE
#include "tests/proxy/fake_postgres.h"

#include "proxy/server/config.h"
#include "proxy/server/server.h"
#include "proxy/server/signals.h"
#include "tests/proxy/certificate.h"
#include "tests/proxy/logged.h"

#include <libpq-fe.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/stat.h>

static struct {
    char folder[64], socket[128];
    unsigned port;
    int manager;
    const char *first_hosts; /* of the DSN; NULL: none */
    bool ydb;                /* the dialect that the file has */
    pthread_t thread;
    cfg_config *config;
    int code;
} process;

/* ---- files ---- */

static FILE *create(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", process.folder, name);
    unlink(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fchmod(fileno(file), 0600), 0);
    return file;
}

static void write_certificate(void)
{
    FILE *certificate = create("crt"), *key = create("key");
    assert_true(certificate_write(certificate, key));
    fclose(certificate);
    fclose(key);
}

/* `more` is what is not the same in all. */
static void write_config(const char *more)
{
    const char *first = process.first_hosts != NULL ? process.first_hosts : "";
    FILE *file = create("yaml");
    fprintf(file,
            "listen: [\"127.0.0.1:%u\", \"%s/.s.PGSQL.6432\"]\n"
            "admin: { listen: \"%s/admin\" }\n"
            "backend: { dsn: \"host=%s%s port=%s5432 sslmode=disable\", link_wait_ms: 1%s }\n%s",
            process.port, process.folder, process.folder, first, postgres.folder,
            process.first_hosts != NULL ? "1,1,1," : "", process.ydb ? ", dialect: ydb" : "", more);
    fclose(file);
}

static void remove_files(void)
{
    static const char *const names[] = {"yaml", "crt", "key", "users"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", process.folder, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(process.folder), 0); /* its sockets are gone */
}

/* ---- the service manager ---- */

static void open_manager(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t len = sizeof address;
    process.manager = socket(AF_UNIX, SOCK_DGRAM, 0);
    assert_int_equal(bind(process.manager, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
    assert_int_equal(getsockname(process.manager, (struct sockaddr *)&address, &len), 0);
    address.sun_path[0] = '@';
    address.sun_path[len - offsetof(struct sockaddr_un, sun_path)] = '\0';
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
}

static void assert_told(const char *expected)
{
    char told[256];
    ssize_t n = recv(process.manager, told, sizeof told - 1, 0);
    told[n > 0 ? n : 0] = '\0';
    char *time = strstr(told, "\nMONOTONIC_USEC=");
    if (time != NULL)
        *time = '\0';
    assert_string_equal(told, expected);
}

#define READY "READY=1\nSTATUS=clients are served"
#define RELOADING "RELOADING=1\nSTATUS=the configuration is being read"
#define STOPPING "STOPPING=1\nSTATUS=what is under way is being finished"

/* ---- the process ---- */

static unsigned free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static cfg_config *load(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/yaml", process.folder);
    cfg_config *config = px_config_load(path, stderr);
    assert_non_null(config);
    return config;
}

static void *run(void *argument)
{
    process.code = px_run(argument, stderr);
    return NULL;
}

static int set_up(void **state)
{
    redirect_log(state);
    memset(&process, 0, sizeof process);
    postgres_start();
    strcpy(process.folder, "/tmp/keyspread-test-XXXXXX");
    assert_non_null(mkdtemp(process.folder));
    process.port = free_port();
    open_manager();
    return 0;
}

static void start(const char *more)
{
    write_config(more);
    pthread_create(&process.thread, NULL, run, load());
    assert_told(READY);
}

static void stop(void)
{
    kill(getpid(), SIGTERM);
    assert_told(STOPPING);
    pthread_join(process.thread, NULL);
    assert_int_equal(process.code, 0);
}

static int tear_down(void **state)
{
    postgres_stop();
    remove_files();
    close(process.manager);
    unsetenv("NOTIFY_SOCKET");
    return restore_log(state);
}

/* ---- clients ---- */

static PGconn *come(const char *user, const char *more)
{
    char dsn[512];
    snprintf(dsn, sizeof dsn, "host=%s port=6432 dbname=d user=%s gssencmode=disable %s",
             process.folder, user, more);
    return PQconnectdb(dsn);
}

static PGconn *come_by_tcp(const char *user, const char *more)
{
    char dsn[512];
    snprintf(dsn, sizeof dsn, "host=127.0.0.1 port=%u dbname=d user=%s gssencmode=disable %s",
             process.port, user, more);
    return PQconnectdb(dsn);
}

static void assert_in(PGconn *conn)
{
    if (PQstatus(conn) != CONNECTION_OK)
        print_error("%s", PQerrorMessage(conn));
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    PQfinish(conn);
}

static void assert_out(PGconn *conn, const char *message)
{
    assert_int_equal(PQstatus(conn), CONNECTION_BAD);
    if (strstr(PQerrorMessage(conn), message) == NULL)
        assert_string_equal(PQerrorMessage(conn), message);
    PQfinish(conn);
}

static void assert_answer(PGconn *conn, const char *query, int rows, const char *value)
{
    PGresult *result = PQexec(conn, query);
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    assert_int_equal(PQntuples(result), rows);
    if (value != NULL)
        assert_string_equal(PQgetvalue(result, rows - 1, 0), value);
    PQclear(result);
}

static void assert_error(PGresult *result, const char *sqlstate)
{
    assert_string_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), sqlstate);
    PQclear(result);
}

static void test_clients_are_served(void **state)
{
    (void)state;
    start("");
    PGconn *one = come("app", ""), *other = come_by_tcp("app", "application_name=x");
    assert_string_equal(PQparameterStatus(one, "server_version"), "15.20");
    assert_string_equal(PQparameterStatus(one, "session_authorization"), "app");
    assert_string_equal(PQparameterStatus(one, "reported_by_a_newer_one"), "a \"b\" c");
    assert_int_not_equal(PQbackendPID(one), PQbackendPID(other));
    assert_answer(one, "select 1", 1, "select 1");
    assert_answer(other, "select rows 4000", 4000, NULL);
    assert_answer(one, "select 2", 1, "select 2");
    PQfinish(one);
    PQfinish(other);
    stop();
    const char *log = logged();
    assert_non_null(strstr(log, "event=ready listen=127.0.0.1:"));
    assert_non_null(strstr(log, "event=stopping signal=15 clients="));
    assert_non_null(strstr(log, "event=stopped "));
}

static void test_a_query_is_cancelled(void **state)
{
    (void)state;
    char reason[256];
    start("");
    PGconn *conn = come("app", "");
    assert_int_equal(PQsendQuery(conn, "select wait"), 1);
    PGcancel *cancel = PQgetCancel(conn);
    postgres_has_waiting(1);
    assert_int_equal(PQcancel(cancel, reason, sizeof reason), 1);
    assert_error(PQgetResult(conn), "57014");
    assert_null(PQgetResult(conn));
    PQfreeCancel(cancel);
    assert_answer(conn, "select 1", 1, "select 1");
    PQfinish(conn);
    stop();
}

static void test_a_link_is_lost(void **state)
{
    (void)state;
    start("");
    PGconn *conn = come("app", "");
    assert_int_equal(PQsendQuery(conn, "select end"), 1);
    assert_error(PQgetResult(conn), "08006");
    PQfinish(conn);
    stop();
}

static void test_the_server_refuses(void **state)
{
    (void)state;
    start("");
    assert_out(come("unknown", ""),
               "FATAL:  the server's reason\nDETAIL:  its detail\nHINT:  its hint");
    assert_out(come("crowd", ""), "FATAL:  the server's reason");
    assert_out(come("mute", ""), "FATAL:  cannot reach the backend");
    assert_in(come("app", ""));
    stop();
}

/* Those that do not answer are passed over: addresses, names, and sockets that are not there. */
static void test_the_first_host_that_answers_is_taken(void **state)
{
    (void)state;
    process.first_hosts = "127.0.0.1,localhost,/nowhere,";
    start("");
    PGconn *conn = come("app", "");
    assert_answer(conn, "select 1", 1, "select 1");
    PQfinish(conn);
    stop();
}

static void test_a_replica_is_passed_on(void **state)
{
    (void)state;
    start("");
    PGconn *conn = come("app", "replication=database");
    assert_answer(conn, "select 1", 1, "select 1");
    assert_int_equal(postgres.replicas, 1);
    assert_in(come("app", ""));
    assert_int_equal(postgres.replicas, 1);
    PQfinish(conn);
    stop();
}

/* The reason is the system's own; where the server is, is nobody's business. */
static void test_the_server_is_gone(void **state)
{
    (void)state;
    char path[128];
    start("");
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", postgres.folder);
    unlink(path);
    assert_out(come("app", ""), "FATAL:  cannot reach the backend: No such file or directory");
    stop();
}

/* ---- who may come in ---- */

/* Somebody who says nothing is told so, and the connection ends. */
static void assert_turned_away(const char *severity, const char *message)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)process.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char told[512];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    ssize_t n = recv(fd, told, sizeof told, MSG_WAITALL);
    assert_true(n > PGW_HEADER && told[0] == 'E');
    pgw_slice body = {told + PGW_HEADER, (size_t)n - PGW_HEADER};
    assert_true(pgw_slice_eq_str(pgw_error_field(body, 'S'), severity));
    assert_true(pgw_slice_eq_str(pgw_error_field(body, 'M'), message));
    close(fd);
}

static void test_a_crowd(void **state)
{
    (void)state;
    start("limits: { clients: 2, clients_per_address: 1 }\n");
    PGconn *first = come("app", ""), *second = come_by_tcp("app", "");
    assert_int_equal(PQstatus(second), CONNECTION_OK);
    assert_out(come("app", ""), "FATAL:  sorry, too many clients already");
    assert_turned_away("FATAL", "too many connections from this address");
    PQfinish(first);
    PQfinish(second);
    stop();
}

static void test_passwords(void **state)
{
    (void)state;
    write_certificate();
    FILE *users = create("users");
    fprintf(users, "\"app\" \"its password\"\n");
    fclose(users);
    start("auth: { mode: scram, users_file: users }\n"
          "client_tls: { mode: require, cert: crt, key: key }\n");
    const char *tls = "sslmode=require password='its password'";
    PGconn *conn = come_by_tcp("app", tls);
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    assert_int_equal(PQsslInUse(conn), 1);
    assert_answer(conn, "select rows 4000", 4000, NULL);
    assert_answer(conn, "select 1", 1, "select 1");
    PQfinish(conn);
    assert_out(come_by_tcp("app", "sslmode=require password=wrong"),
               "FATAL:  password authentication failed for user \"app\"");
    assert_out(come_by_tcp("none", tls),
               "FATAL:  password authentication failed for user \"none\"");
    assert_out(come_by_tcp("app", "sslmode=disable password='its password'"),
               "FATAL:  this server takes connections with TLS only");
    assert_in(come("app", "password='its password'"));
    assert_in(
        come_by_tcp("app", "sslmode=require channel_binding=require password='its password'"));
    stop();
}

static void test_passwords_are_forwarded(void **state)
{
    (void)state;
    write_certificate();
    start("auth: { mode: forward }\nclient_tls: { cert: crt, key: key }\n");
    assert_in(come("secret", "password=sesame"));
    assert_out(come("secret", "password=wrong"), "FATAL:  the server's reason");
    assert_out(come("app", "password=sesame"), "FATAL:  the backend asked for no password");
    assert_out(come_by_tcp("secret", "password=sesame sslmode=disable"),
               "FATAL:  the password is asked for over TLS or a Unix socket only");
    stop();
}

/* ---- the administrator ---- */

/* The answer to one request. */
static void ask(const char *method, const char *path, char *answer, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char request[256];
    size_t len = 0;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/admin", process.folder);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    int used = snprintf(request, sizeof request,
                        "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", method, path);
    assert_int_equal(send(fd, request, (size_t)used, MSG_NOSIGNAL), used);
    for (ssize_t n = 1; n > 0 && len + 1 < size; len += n > 0 ? (size_t)n : 0)
        n = recv(fd, answer + len, size - len - 1, 0);
    answer[len] = '\0';
    close(fd);
}

static void assert_page(const char *method, const char *path, const char *status,
                        const char *content)
{
    static char answer[256 * 1024];
    ask(method, path, answer, sizeof answer);
    assert_memory_equal(answer, status, strlen(status));
    if (strstr(answer, content) == NULL) {
        print_message("no %s in %s", content, answer); /* stderr is the log's */
        fail();
    }
}

static void test_the_administrator_asks(void **state)
{
    (void)state;
    start(
        "workers: 2\nlimits: { clients: 77 }\n"
        "tables: [{ name: t, primary_key: [a], hash_function: xxh3, partitions: { uniform: 4 } },\n"
        "  { name: x.u, primary_key: [a], hash_function: xxh3, partitions: { at: [0, 5] } }]\n");
    PGconn *conn = come("app", "");
    assert_page("GET", "/healthz", "HTTP/1.1 200", "\r\n\r\nok\n");
    assert_page("HEAD", "/healthz", "HTTP/1.1 200", "text/plain; version=0.0.4; charset=utf-8");
    assert_page("POST", "/healthz", "HTTP/1.1 405", "Allow: GET, HEAD");
    assert_page("GET", "/", "HTTP/1.1 404", "There are /metrics, /copies and /healthz.\n");
    assert_page("GET", "/metrics", "HTTP/1.1 200", "\nkeyspread_clients{state=\"logged_in\"} 1\n");
    assert_page("GET", "/metrics", "HTTP/1.1 200", "\nkeyspread_clients_limit 77\n");
    static const char *const lines[] = {"\nkeyspread_backend_up 1\n",
                                        "\nkeyspread_clients{state=\"logging_in\"} 0\n",
                                        "\nkeyspread_links{kind=\"session\"} 1\n",
                                        "\nkeyspread_links{kind=\"batch\"} 0\n",
                                        "\nkeyspread_links_limit 90\n",
                                        "\nkeyspread_queue_bytes 0\n",
                                        "\nkeyspread_queue_limit_bytes 268435456\n",
                                        "\nkeyspread_logins_total{result=\"ok\"} 1\n",
                                        "\nkeyspread_build_info{version=\""};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_page("GET", "/metrics", "HTTP/1.1 200", lines[i]);
    assert_page("GET", "/metrics", "HTTP/1.1 200", "table=\"public.t\"");
    assert_page("GET", "/metrics", "HTTP/1.1 200", "table=\"x.u\"");
    assert_out(come("mute", ""), "FATAL");
    assert_page("GET", "/healthz", "HTTP/1.1 200",
                "ok\nthe backend could not be reached at the last try\n");
    assert_page("GET", "/metrics", "HTTP/1.1 200", "\nkeyspread_backend_up 0\n");
    PQfinish(conn);
    stop();
}

static void reload(const char *told)
{
    kill(getpid(), SIGHUP);
    assert_told(RELOADING);
    assert_told(told);
}

static void test_the_file_is_read_again(void **state)
{
    (void)state;
    start("workers: 1\nlimits: { clients: 77 }\n");
    write_config("workers: 2\nlimits: { clients: 78 }\n");
    reload(READY);
    const char *log = logged();
    assert_non_null(strstr(log, "event=restart_needed keys=workers\n"));
    assert_non_null(strstr(log, "event=reloaded file="));
    assert_page("GET", "/metrics", "HTTP/1.1 200", "\nkeyspread_clients_limit 78\n");
    write_config("limits: { clients: none }\n");
    reload(READY "; the last reload failed, its reason is logged");
    assert_non_null(strstr(logged(), "event=reload_failed file="));
    assert_page("GET", "/metrics", "HTTP/1.1 200", "\nkeyspread_clients_limit 78\n");
    write_config("workers: 1\nlimits: { clients: 78 }\n");
    reload(READY);
    assert_null(strstr(logged(), "restart_needed"));
    assert_in(come("app", ""));
    stop();
}

/* A backend of another kind is not put in the place of the one that was started. */
static void test_another_dialect_needs_a_restart(void **state)
{
    (void)state;
    start("");
    process.ydb = true;
    write_config("");
    reload(READY);
    assert_non_null(strstr(logged(), "event=restart_needed keys=backend.dialect\n"));
    process.ydb = false;
    write_config("");
    reload(READY);
    assert_null(strstr(logged(), "restart_needed"));
    stop();
}

/* What says the same is the configuration in force. */
static void test_the_file_says_the_same(void **state)
{
    (void)state;
    setenv("PGOPTIONS", "-c nonsense=1", 1);
    start("");
    assert_null(getenv("PGOPTIONS")); /* of libpq, and so of links */
    reload(READY);
    const char *log = logged();
    assert_non_null(strstr(log, "event=reloaded file="));
    assert_null(strstr(log, "restart_needed"));
    assert_in(come("app", ""));
    stop();
}

/* Somebody else has this address of it. */
static void cannot_listen(const char *name, const char *logs)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", process.folder, name);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    write_config("");
    pthread_create(&process.thread, NULL, run, load());
    assert_told(STOPPING);
    pthread_join(process.thread, NULL);
    assert_int_equal(process.code, 1);
    assert_non_null(strstr(logged(), logs));
    close(fd);
    start(""); /* nobody answers there any more */
    stop();
}

static void test_clients_have_no_way_in(void **state)
{
    (void)state;
    cannot_listen(".s.PGSQL.6432", "level=error event=listen_failed reason=");
}

static void test_the_administrator_has_no_way_in(void **state)
{
    (void)state;
    cannot_listen("admin", "event=listen_failed key=admin.listen");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    px_signals_block(); /* the test's own threads were there before */
    const struct CMUnitTest tests[] = {TEST(test_clients_are_served),
                                       TEST(test_a_query_is_cancelled),
                                       TEST(test_a_link_is_lost),
                                       TEST(test_the_server_refuses),
                                       TEST(test_the_first_host_that_answers_is_taken),
                                       TEST(test_a_replica_is_passed_on),
                                       TEST(test_the_server_is_gone),
                                       TEST(test_a_crowd),
                                       TEST(test_passwords),
                                       TEST(test_passwords_are_forwarded),
                                       TEST(test_the_administrator_asks),
                                       TEST(test_the_file_is_read_again),
                                       TEST(test_another_dialect_needs_a_restart),
                                       TEST(test_the_file_says_the_same),
                                       TEST(test_clients_have_no_way_in),
                                       TEST(test_the_administrator_has_no_way_in)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
