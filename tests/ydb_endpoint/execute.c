#include "tests/ydb_endpoint/execute.h"

#include "tests/ydb_endpoint/cost.h"
#include "tests/ydb_endpoint/transaction.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"

#include <ctype.h>
#include <string.h>

enum { FLUSH_ABOVE = 1 << 20, ATTEMPTS = 20 };

void ye_write_columns(pgw_slice body, pgw_buf *out)
{
    const size_t begun = pgw_begin(out, 'T');
    const size_t at = out->len;
    pgw_reader reader = pgw_reader_of(body);
    pgw_buf_add_slice(out, body);
    for (unsigned left = pgw_read_u16(&reader); left > 0; left--) {
        pgw_read_string(&reader);
        char *column = out->ptr + at + (reader.at - body.ptr);
        pgw_read_bytes(&reader, 18);
        if (reader.failed)
            break;
        memset(column, 0, 6);      /* table and number in it */
        memset(column + 16, 0, 2); /* format */
    }
    pgw_certainly(pgw_end(out, begun));
}

/* "Tag = PostgreSQL's CreateCommandName …: no numbers at all. Only SELECT gets a count" (1.6). */
static void write_tag(pgw_slice body, pgw_buf *out)
{
    char tag[64] = "";
    size_t length = strnlen(body.ptr, body.len < sizeof tag ? body.len : sizeof tag - 1);
    memcpy(tag, body.ptr, length);
    for (size_t i = 1; strncmp(tag, "SELECT", 6) != 0 && tag[i - 1] != '\0'; i++)
        if (tag[i - 1] == ' ' && isdigit((unsigned char)tag[i]))
            tag[i - 1] = '\0';
    pgw_write_tag(tag, out);
}

/* --- the store --- */

static bool ask(ye_store *link, const ye_request *request)
{
    if (request->bind == NULL) {
        pgw_certainly(pgw_write_query(request->text, &link->out));
    } else {
        pgw_certainly(pgw_write_parse((pgw_slice){"", 0}, request->text, NULL, 0, &link->out));
        pgw_buf_add_slice(&link->out, pgw_slice_buf(request->bind));
        pgw_write_execute((pgw_slice){"", 0}, 0, &link->out);
        pgw_write_sync(&link->out);
    }
    return ye_store_send(link);
}

static bool pass(ye_session *session, char type, pgw_slice body, pgw_error *error)
{
    switch (type) {
    case 'T':
        ye_write_columns(body, &session->out);
        return true;
    case 'D': {
        size_t begun = pgw_begin(&session->out, type);
        pgw_buf_add_slice(&session->out, body);
        pgw_certainly(pgw_end(&session->out, begun));
        return session->out.len < FLUSH_ABOVE || ye_session_flush(session);
    }
    case 'C':
        session->rows = pgw_tag_rows(body);
        write_tag(body, &session->out);
        return true;
    case 'E':
        pgw_error_read(body, error);
        return true;
    default:
        return true;
    }
}

static bool lose(ye_session *session, ye_failure *failure)
{
    session->closing = true;
    return ye_fail(failure, YE_UNAVAILABLE, 2005, "The store's link is lost");
}

/* False, with the reply taken back as far as it was not sent yet: it failed. */
static bool exchange(ye_session *session, ye_store *link, const ye_request *request,
                     pgw_error *error, ye_failure *failure)
{
    const size_t mark = session->out.len;
    char type = 0;
    pgw_slice body;
    *error = PGW_ERROR_NONE;
    session->rows = 0;
    if (!ask(link, request))
        return lose(session, failure);
    ye_sleep_until(session->until);
    while (type != 'Z')
        if (!ye_store_next(link, &type, &body) || !pass(session, type, body, error))
            return lose(session, failure);
    if (error->sqlstate[0] == '\0')
        return true;
    if (session->out.len > mark)
        session->out.len = mark;
    ye_failure_of(error, &session->endpoint->options, failure);
    return false;
}

bool ye_open_aside(ye_session *session, ye_failure *failure)
{
    pgw_error error;
    if (session->aside.conn != NULL ||
        ye_store_open(&session->aside, session->endpoint->options.store, &error))
        return true;
    return ye_fail(failure, YE_UNAVAILABLE, 2005, "%s", error.message);
}

/* "executed outside the transaction" (1.5). */
static bool run_scheme(ye_session *session, const ye_request *request, ye_failure *failure)
{
    pgw_error error;
    if (session->status == 'I')
        return exchange(session, &session->store, request, &error, failure);
    if (!ye_open_aside(session, failure) ||
        !exchange(session, &session->aside, request, &error, failure))
        return false;
    if (session->endpoint->options.ddl_ends_transaction)
        ye_transaction_end(session, 'I');
    return true;
}

/* A conflict that is to be told at COMMIT alone: the transaction goes on in another one, which will
 * never commit. What it has written so far is not seen there. */
static bool doom(ye_session *session, const pgw_error *error)
{
    pgw_error ignored;
    if (!session->endpoint->options.commit_conflicts || session->status != 'T' ||
        (!pgw_error_is(error, "40001") && !pgw_error_is(error, "40P01")))
        return false;
    session->doomed = true;
    return ye_store_do(&session->store, "ROLLBACK", &ignored) &&
           ye_store_do(&session->store, "BEGIN", &ignored);
}

static bool run_data(ye_session *session, const ye_request *request, ye_failure *failure)
{
    pgw_error error;
    if (session->lost)
        return ye_fail(failure, YE_NOT_FOUND, 2015, "Transaction not found");
    for (int i = 0; i < ATTEMPTS; i++) {
        if (exchange(session, &session->store, request, &error, failure))
            return true;
        if (session->closing || !doom(session, &error))
            return false;
    }
    return false;
}

bool ye_execute(ye_session *session, const ye_request *request, ye_failure *failure)
{
    if (ye_is_scheme(request->text))
        return run_scheme(session, request, failure);
    return run_data(session, request, failure);
}
