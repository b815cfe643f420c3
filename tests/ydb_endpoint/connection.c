#include "tests/ydb_endpoint/connection.h"

#include "tests/ydb_endpoint/extended.h"
#include "tests/ydb_endpoint/query.h"
#include "tests/ydb_endpoint/startup.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* False: "invalid message", connection closed, no error sent (1.3). */
static bool handle(ye_session *session, char type, pgw_slice body)
{
    pgw_slice text;
    switch (type) {
    case 'Q':
        if (!pgw_query_decode(body, &text))
            return false;
        ye_query(session, text);
        return true;
    case 'P':
    case 'B':
    case 'D':
    case 'E':
    case 'C':
        return ye_extended(session, type, body);
    case 'H':
        return true;
    case 'S':
        pgw_write_ready(session->shown, &session->out);
        return true;
    default:
        return false;
    }
}

/* "responses are flushed as produced": at the latest before the next message is waited for. */
static void converse(ye_session *session)
{
    char type;
    pgw_slice body;
    while (!session->closing &&
           (ye_socket_has_message(&session->socket) || ye_session_flush(session)) &&
           ye_socket_message(&session->socket, &type, &body) && !session->leaving)
        if (!handle(session, type, body))
            break;
}

static void *serve(void *argument)
{
    ye_session *session = argument;
    prctl(PR_SET_TIMERSLACK, 1000); /* ns, for sleeps of µs */
    ye_session_enter(session);
    if (ye_startup(session))
        converse(session);
    (void)!ye_session_flush(session);
    ye_session_leave(session);
    ye_extended_free(session);
    ye_store_close(&session->store);
    ye_store_close(&session->aside);
    ye_socket_close(&session->socket);
    pgw_buf_free(&session->out);
    pgw_buf_free(&session->ranges);
    pgw_buf_free(&session->written);
    ye_known_free(&session->known);
    free(session);
    return NULL;
}

/* What compile.c calls DEEPEST needs; none of it is there before it is needed. */
static const size_t STACK = (size_t)256 << 20;

void ye_connection_start(ye_endpoint *endpoint, int fd)
{
    pthread_t thread;
    pthread_attr_t attributes;
    ye_session *session = pgw_calloc(1, sizeof *session);
    session->endpoint = endpoint;
    session->status = session->shown = 'I';
    strcpy(session->settings.search_path, "public");
    ye_socket_init(&session->socket, fd, endpoint->options.idle_ms);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_attr_setstacksize(&attributes, STACK) != 0 ||
        pthread_create(&thread, &attributes, serve, session) != 0)
        abort();
    pthread_attr_destroy(&attributes);
}
