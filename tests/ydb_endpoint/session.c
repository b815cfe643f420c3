#include "tests/ydb_endpoint/session.h"

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

bool ye_session_flush(ye_session *session)
{
    return ye_socket_write(&session->socket, &session->out);
}
