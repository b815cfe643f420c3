/*
 * reply: what a session's own link says: matched to what was sent to it, and passed on, swallowed,
 * or told in other words.
 */
#ifndef PX_REPLY_H
#define PX_REPLY_H

struct px_session;

/* Takes what the link has said as far as the client takes it. */
void px_reply_input(struct px_session *session);

#endif
