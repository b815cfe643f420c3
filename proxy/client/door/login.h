/*
 * login: a client from its first byte to its first ReadyForQuery: encryption, the startup packet,
 * the password, the greeting. What is needed in between only is freed when the session is ready.
 */
#ifndef PX_LOGIN_H
#define PX_LOGIN_H

struct px_session;
struct px_worker;
typedef struct px_login px_login;

px_login *px_login_new(const struct px_worker *worker);
void px_login_free(px_login *login); /* NULL is fine */

/* The first byte, not read yet: 0x16 begins a TLS handshake that was not asked for. */
void px_login_hello(struct px_session *session, unsigned char first);
/* What became of the login. */
typedef enum px_login_outcome {
    PX_LOGIN_GOES_ON,
    PX_LOGIN_GREETED /* the client was greeted and counted: its session is ready */
} px_login_outcome;

/* Looks at what has come as far as it may. */
px_login_outcome px_login_input(struct px_session *session);
/* The session's link is ready, or is not needed yet: greets the client if it is known what with. */
px_login_outcome px_login_greet(struct px_session *session);
/* Greets a client whose link waits for a place among max_links, by what others have learnt
 * meanwhile; its link is not waited for any longer. */
px_login_outcome px_login_without_link(struct px_session *session);
/* limits.startup_ms are over. */
void px_login_late(struct px_session *session);

#endif
