#include "tests/ydb_endpoint/store.h"

#include "protocol/frontend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Fact 1.5: always serializable. The zone and the forms of values are nobody's to choose. */
static const char settings[] =
    "-c default_transaction_isolation=serializable -c timezone=UTC -c datestyle=ISO "
    "-c client_min_messages=error -c lock_timeout=20s -c extra_float_digits=1";

static bool fail(pgw_error *error)
{
    return pgw_fail(error, "08006", "the store's link is lost");
}

bool ye_store_open(ye_store *store, const char *conninfo, pgw_error *error)
{
    const char *names[] = {"dbname", "options", "client_encoding", "gssencmode", "sslmode", NULL};
    const char *values[] = {conninfo, settings, "UTF8", "disable", "disable", NULL};
    store->conn = PQconnectdbParams(names, values, 1);
    if (PQstatus(store->conn) != CONNECTION_OK)
        return pgw_fail(error, "08006", "%s", PQerrorMessage(store->conn));
    store->cancel = PQgetCancel(store->conn);
    store->fd = PQsocket(store->conn);
    pgw_buf_reserve(&store->in, 65536);
    return fcntl(store->fd, F_SETFL, 0) == 0 || fail(error);
}

void ye_store_close(ye_store *store)
{
    PQfreeCancel(store->cancel);
    PQfinish(store->conn);
    pgw_buf_free(&store->in);
    pgw_buf_free(&store->out);
    *store = (ye_store){0};
}

bool ye_store_send(ye_store *store)
{
    for (size_t at = 0; at < store->out.len;) {
        ssize_t sent = send(store->fd, store->out.ptr + at, store->out.len - at, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return false;
        at += sent > 0 ? (size_t)sent : 0;
    }
    pgw_buf_clear(&store->out);
    return true;
}

static bool fill(ye_store *store)
{
    ssize_t got;
    memmove(store->in.ptr, store->in.ptr + store->taken, store->in.len - store->taken);
    store->in.len -= store->taken;
    store->taken = 0;
    char *end = pgw_buf_reserve(&store->in, 65536);
    do {
        got = recv(store->fd, end, 65536, 0);
    } while (got < 0 && errno == EINTR);
    store->in.len += got > 0 ? (size_t)got : 0;
    return got > 0;
}

bool ye_store_next(ye_store *store, char *type, pgw_slice *body)
{
    for (;;) {
        pgw_frame frame;
        pgw_slice bytes = {store->in.ptr + store->taken, store->in.len - store->taken};
        pgw_frame_result result = pgw_frame_next(bytes, &frame);
        if (result == PGW_FRAME_BAD)
            return false;
        if (result == PGW_FRAME_OK && frame.size <= bytes.len) {
            *type = frame.type;
            *body = pgw_frame_body(bytes, frame);
            store->taken += frame.size;
            return true;
        }
        if (!fill(store))
            return false;
    }
}

bool ye_store_do(ye_store *store, const char *sql, pgw_error *error)
{
    uint64_t ignored;
    return ye_store_number(store, sql, &ignored, error);
}

/* The only column of a row, in text; 0 is what is no number. */
static uint64_t number_of(pgw_slice row)
{
    char text[32] = "";
    pgw_reader reader = pgw_reader_of(row);
    uint16_t columns = pgw_read_u16(&reader);
    int32_t length = (int32_t)pgw_read_u32(&reader);
    if (columns == 1 && length > 0 && (size_t)length < sizeof text && !reader.failed)
        memcpy(text, reader.at, (size_t)length);
    return strtoull(text, NULL, 10);
}

bool ye_store_number(ye_store *store, const char *sql, uint64_t *number, pgw_error *error)
{
    char type = 0;
    pgw_slice body;
    *number = 0;
    *error = PGW_ERROR_NONE;
    pgw_certainly(pgw_write_query(pgw_slice_str(sql), &store->out));
    if (!ye_store_send(store))
        return fail(error);
    while (type != 'Z') {
        if (!ye_store_next(store, &type, &body))
            return fail(error);
        if (type == 'E')
            pgw_error_read(body, error);
        else if (type == 'D')
            *number = number_of(body);
    }
    return error->sqlstate[0] == '\0';
}

void ye_store_cancel(const ye_store *store)
{
    char why[256];
    if (store->cancel != NULL)
        PQcancel(store->cancel, why, sizeof why);
}
