#include "tests/ydb_endpoint/control.h"

#include "tests/ydb_endpoint/describe.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned (*handler)(ye_endpoint *endpoint, struct MHD_Connection *connection, pgw_buf *out);

static const char *text_of(struct MHD_Connection *connection, const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    return value == NULL ? "" : value;
}

static long number_of(struct MHD_Connection *connection, const char *name, long otherwise)
{
    const char *value = text_of(connection, name);
    return *value == '\0' ? otherwise : atol(value);
}

static unsigned read_counters(ye_endpoint *endpoint, struct MHD_Connection *connection,
                              pgw_buf *out)
{
    (void)connection;
    ye_counters_write(&endpoint->counters, out);
    return MHD_HTTP_OK;
}

static unsigned reset_counters(ye_endpoint *endpoint, struct MHD_Connection *connection,
                               pgw_buf *out)
{
    ye_counters_reset(&endpoint->counters);
    return read_counters(endpoint, connection, out);
}

static unsigned read_faults(ye_endpoint *endpoint, struct MHD_Connection *connection, pgw_buf *out)
{
    (void)connection;
    ye_faults_write(&endpoint->faults, out);
    return MHD_HTTP_OK;
}

static unsigned clear_faults(ye_endpoint *endpoint, struct MHD_Connection *connection, pgw_buf *out)
{
    ye_faults_clear(&endpoint->faults);
    return read_faults(endpoint, connection, out);
}

static unsigned order_fault(ye_endpoint *endpoint, struct MHD_Connection *connection, pgw_buf *out)
{
    ye_fault fault = {.ms = number_of(connection, "ms", 300),
                      .statement = number_of(connection, "statement", 1),
                      .every = number_of(connection, "every", 0),
                      .times = number_of(connection, "times", 0)};
    snprintf(fault.begins, sizeof fault.begins, "%s", text_of(connection, "begins"));
    if (!ye_fault_named(text_of(connection, "fault"), &fault)) {
        pgw_buf_add_str(out, "there is no such fault\n");
        return MHD_HTTP_BAD_REQUEST;
    }
    if (fault.kind == YE_FAULT_ANSWER && number_of(connection, "done", 0) != 0)
        fault.kind = YE_FAULT_ANSWER_DONE;
    if (!ye_faults_order(&endpoint->faults, &fault)) {
        pgw_buf_add_str(out, "there are too many faults\n");
        return MHD_HTTP_BAD_REQUEST;
    }
    return read_faults(endpoint, connection, out);
}

static unsigned set_latency(ye_endpoint *endpoint, struct MHD_Connection *connection, pgw_buf *out)
{
    atomic_store(&endpoint->latency_us, number_of(connection, "us", 0));
    pgw_buf_addf(out, "%ld\n", atomic_load(&endpoint->latency_us));
    return MHD_HTTP_OK;
}

static unsigned read_partitions(ye_endpoint *endpoint, struct MHD_Connection *connection,
                                pgw_buf *out)
{
    (void)connection;
    ye_map_write(&endpoint->map, out);
    return MHD_HTTP_OK;
}

static unsigned split(ye_endpoint *endpoint, struct MHD_Connection *connection, pgw_buf *out)
{
    if (!ye_map_split(&endpoint->map, text_of(connection, "table"),
                      (size_t)number_of(connection, "partition", 0),
                      number_of(connection, "ms", 500)))
        return MHD_HTTP_BAD_REQUEST;
    return read_partitions(endpoint, connection, out);
}

static unsigned merge(ye_endpoint *endpoint, struct MHD_Connection *connection, pgw_buf *out)
{
    if (!ye_map_merge(&endpoint->map, text_of(connection, "table"),
                      (size_t)number_of(connection, "partition", 0),
                      number_of(connection, "ms", 500)))
        return MHD_HTTP_BAD_REQUEST;
    return read_partitions(endpoint, connection, out);
}

static bool is_true(struct MHD_Connection *connection, const char *name)
{
    const char *value = text_of(connection, name);
    return strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

static unsigned describe(ye_endpoint *endpoint, struct MHD_Connection *connection, pgw_buf *out)
{
    ye_describe_write(endpoint,
                      &(ye_describe){.path = text_of(connection, "path"),
                                     .boundaries = is_true(connection, "boundaries"),
                                     .stats = is_true(connection, "partition_stats"),
                                     .numbers = is_true(connection, "ui64")},
                      out);
    return MHD_HTTP_OK;
}

/* "newer servers also/rather `/viewer/describe`, uncertain". */
static unsigned describe_json(ye_endpoint *endpoint, struct MHD_Connection *connection,
                              pgw_buf *out)
{
    return endpoint->options.plain_describe ? MHD_HTTP_NOT_FOUND
                                            : describe(endpoint, connection, out);
}

static unsigned describe_plain(ye_endpoint *endpoint, struct MHD_Connection *connection,
                               pgw_buf *out)
{
    return endpoint->options.plain_describe ? describe(endpoint, connection, out)
                                            : MHD_HTTP_NOT_FOUND;
}

static handler find(const char *method, const char *path)
{
    static const struct {
        const char *method, *path;
        handler handler;
    } routes[] = {
        {"GET", "/counters", read_counters},
        {"POST", "/counters", reset_counters},
        {"GET", "/faults", read_faults},
        {"DELETE", "/faults", clear_faults},
        {"POST", "/faults", order_fault},
        {"POST", "/latency", set_latency},
        {"GET", "/partitions", read_partitions},
        {"POST", "/split", split},
        {"POST", "/merge", merge},
        {"GET", "/viewer/json/describe", describe_json},
        {"GET", "/viewer/describe", describe_plain},
    };
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (strcmp(routes[i].method, method) == 0 && strcmp(routes[i].path, path) == 0)
            return routes[i].handler;
    return NULL;
}

/* A body, which is not wanted, is read before the answer: the second call is the one. */
static enum MHD_Result on_request(void *owner, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **begun)
{
    (void)version, (void)upload;
    if (*begun == NULL || *upload_size > 0) {
        *begun = owner;
        *upload_size = 0;
        return MHD_YES;
    }
    pgw_buf page = {0};
    const handler answer = find(method, path);
    unsigned status = answer ? answer(owner, connection, &page) : MHD_HTTP_NOT_FOUND;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(page.len, page.ptr, MHD_RESPMEM_MUST_FREE);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

bool ye_control_start(ye_endpoint *endpoint, int fd)
{
    return MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, on_request, endpoint,
                            MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_END) != NULL;
}
