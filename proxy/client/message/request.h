/*
 * request: what a client sends, message by message, and which module each message goes to.
 */
#ifndef PX_REQUEST_H
#define PX_REQUEST_H

struct px_session;

/* Looks at what the client has sent as far as it may. */
void px_request_process(struct px_session *session);

#endif
