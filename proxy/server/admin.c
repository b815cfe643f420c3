#include "proxy/server/admin.h"

#include "proxy/base/log.h"
#include "proxy/base/metrics_text.h"
#include "proxy/base/loading.h"
#include "proxy/batch/register.h"
#include "proxy/server/listener.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 64, KEPT = 32, TIMEOUT_S = 10, CONNECTION_BYTES = 16 * 1024 };

/* A connection. The oldest ones are closed for new ones, for a request that has come is answered at
 * once. */
typedef struct peer {
    struct peer *next, *previous;
    int fd;
} peer;

struct px_admin {
    px_server *server;
    struct MHD_Daemon *daemon;
    peer *oldest, *newest; /* only the HTTP server's thread touches the list */
    size_t peers;
    char *path; /* path of the Unix socket; NULL: TCP */
    double started;
};

/* ---- what is told ---- */

static void expect_tables(px_metrics *sum, const cfg_config *config)
{
    for (size_t i = config->table_count; i-- > 0;) {
        const cfg_table *table = &config->tables[i];
        const cfg_partitions *cut = &table->partitions;
        pgw_buf name = {0};
        uint64_t partitions = cut->at_count > 0 ? cut->at_count + 1 : cut->uniform + cut->buckets;
        pgw_buf_addf(&name, "%s.%s", table->schema ? table->schema : "public", table->name);
        pgw_buf_add_byte(&name, '\0');
        px_metrics_expect(sum, name.ptr, partitions, table->batch.rows, table->batch.bytes);
        pgw_buf_free(&name);
    }
}

static void read_gauges(const px_admin *admin, const px_metrics *sum, double gauges[PX_GAUGES])
{
    const px_server *server = admin->server;
    const cfg_config *config = server->config;
    unsigned links = server->seats.links, own = server->seats.session_links;
    gauges[PX_CLIENTS_LOGGED_IN] = server->clients;
    gauges[PX_CLIENTS_LOGGING_IN] = server->unauthenticated;
    gauges[PX_CLIENTS_LIMIT] = config->limits.clients;
    gauges[PX_LINKS_SESSION] = own;
    gauges[PX_LINKS_BATCH] = links > own ? links - own : 0;
    gauges[PX_LINKS_LIMIT] = config->backend.max_links;
    gauges[PX_BACKEND_UP] = !server->unreachable;
    gauges[PX_QUEUE_BYTES] = (double)px_register_bytes();
    gauges[PX_QUEUE_LIMIT] = (double)config->limits.queue_bytes;
    gauges[PX_CATALOG_LOADED] = (double)px_number_get(&sum->catalog_loaded);
    gauges[PX_BUILD_INFO] = 1;
    gauges[PX_START_TIME] = admin->started;
}

static void write_metrics(const px_admin *admin, pgw_buf *out)
{
    const px_server *server = admin->server;
    px_metrics *sum = px_metrics_new(server->metrics);
    double gauges[PX_GAUGES];
    expect_tables(sum, server->config);
    px_metrics_add(sum, server->metrics);
    for (unsigned i = 0; i < server->worker_count; i++)
        px_metrics_add(sum, server->workers[i].metrics);
    read_gauges(admin, sum, gauges);
    px_metrics_write(sum, gauges, KEYSPREAD_VERSION, out);
    px_metrics_free(sum);
}

static unsigned write_health(const px_admin *admin, pgw_buf *out)
{
    bool stopping = admin->server->stopping;
    pgw_buf_add_str(out, stopping ? "stopping\n" : "ok\n");
    if (admin->server->unreachable)
        pgw_buf_add_str(out, "the backend could not be reached at the last try\n");
    return stopping ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK;
}

/* ---- HTTP ---- */

static unsigned write_page(const px_admin *admin, const char *method, const char *path,
                           pgw_buf *out)
{
    bool metrics = strcmp(path, "/metrics") == 0, copies = strcmp(path, "/copies") == 0;
    if (!metrics && !copies && strcmp(path, "/healthz") != 0) {
        pgw_buf_add_str(out, "There are /metrics, /copies and /healthz.\n");
        return MHD_HTTP_NOT_FOUND;
    }
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
        pgw_buf_add_str(out, "Only GET and HEAD are answered.\n");
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    if (copies)
        px_loading_write(admin->server->loading, out);
    else if (metrics)
        write_metrics(admin, out);
    else
        return write_health(admin, out);
    return MHD_HTTP_OK;
}

static enum MHD_Result on_request(void *owner, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **request)
{
    (void)version, (void)upload, (void)upload_size, (void)request;
    pgw_buf page = {0};
    unsigned status = write_page(owner, method, path, &page);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(page.len, page.ptr, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        pgw_buf_free(&page);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            "text/plain; version=0.0.4; charset=utf-8");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static void *add_peer(px_admin *admin, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    peer *p = pgw_calloc(1, sizeof *p);
    p->fd = info->connect_fd;
    p->previous = admin->newest;
    *(p->previous ? &p->previous->next : &admin->oldest) = p;
    admin->newest = p;
    admin->peers++;
    return p;
}

static void remove_peer(px_admin *admin, peer *p)
{
    *(p->previous ? &p->previous->next : &admin->oldest) = p->next;
    *(p->next ? &p->next->previous : &admin->newest) = p->previous;
    admin->peers--;
    free(p);
}

/* Called by the HTTP server's thread, which closes a connection that is shut down here when it
 * finds its end. */
static void on_connection(void *owner, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    px_admin *admin = owner;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        remove_peer(admin, *context);
        return;
    }
    *context = add_peer(admin, connection);
    peer *p = admin->oldest;
    for (size_t more = admin->peers; more > KEPT; more--, p = p->next)
        shutdown(p->fd, SHUT_RDWR);
}

/* ---- life ---- */

static void log_ready(const cfg_listen *where)
{
    if (where->path != NULL)
        px_log(CFG_LOG_INFO, "admin_ready", "listen=%s", where->path);
    else
        px_log(CFG_LOG_INFO, "admin_ready", "listen=%s:%u", where->host, where->port);
}

px_admin *px_admin_start(px_server *server, const cfg_listen *where, char *message, size_t size)
{
    int fd = px_listener_socket(server->config, where, message, size);
    if (fd < 0)
        return NULL;
    px_admin *admin = pgw_calloc(1, sizeof *admin);
    admin->server = server;
    admin->path = where->path != NULL ? pgw_strndup(where->path, strlen(where->path)) : NULL;
    admin->started = (double)time(NULL);
    admin->daemon = MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, on_request, admin, MHD_OPTION_LISTEN_SOCKET,
        fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, admin, MHD_OPTION_END);
    if (admin->daemon != NULL) {
        log_ready(where);
        return admin;
    }
    snprintf(message, size, "the HTTP server cannot be started");
    close(fd);
    px_admin_stop(admin);
    return NULL;
}

void px_admin_stop(px_admin *admin)
{
    if (admin == NULL)
        return;
    if (admin->daemon != NULL)
        MHD_stop_daemon(admin->daemon); /* MHD_stop_daemon() closes the socket, too */
    if (admin->path != NULL)
        unlink(admin->path);
    free(admin->path);
    free(admin);
}
