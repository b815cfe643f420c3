#include "tests/ydb_endpoint/session.h"

#include <poll.h>
#include <sys/socket.h>

void ye_session_enter(ye_session *session)
{
    ye_endpoint *endpoint = session->endpoint;
    pthread_mutex_lock(&endpoint->lock);
    session->number = ++endpoint->made;
    session->next = endpoint->sessions;
    endpoint->sessions = session;
    pthread_mutex_unlock(&endpoint->lock);
}

void ye_session_leave(ye_session *session)
{
    ye_endpoint *endpoint = session->endpoint;
    pthread_mutex_lock(&endpoint->lock);
    ye_session **at = &endpoint->sessions;
    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
    pthread_mutex_unlock(&endpoint->lock);
}

void ye_session_cancel(ye_endpoint *endpoint, uint32_t number)
{
    pthread_mutex_lock(&endpoint->lock);
    for (ye_session *session = endpoint->sessions; session != NULL; session = session->next)
        if (session->number == number) {
            atomic_store(&session->cancelled, true);
            ye_store_cancel(&session->store);
        }
    pthread_mutex_unlock(&endpoint->lock);
}

void ye_session_drop(ye_session *session)
{
    if (session->endpoint->options.drop_late)
        session->leaving = true;
    else
        session->closing = true;
}

void ye_session_sever(ye_session *session)
{
    pgw_buf_clear(&session->out);
    session->severed = session->closing = true;
    shutdown(session->socket.fd, SHUT_RDWR);
}

bool ye_session_wait(ye_session *session, long ms)
{
    enum { STEP_MS = 5 }; /* how late a cancel may be noticed */
    struct pollfd client = {.fd = session->socket.fd, .events = POLLRDHUP};
    for (; ms > 0; ms -= STEP_MS)
        if (atomic_load(&session->cancelled) ||
            poll(&client, 1, ms < STEP_MS ? (int)ms : STEP_MS) > 0)
            return false;
    return true;
}

bool ye_session_flush(ye_session *session)
{
    if (session->severed) {
        pgw_buf_clear(&session->out);
        return false;
    }
    return ye_socket_write(&session->socket, &session->out);
}
