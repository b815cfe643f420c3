/*
 * tls: the server's side of TLS to clients: certificate, key and what clients must show, loaded
 * once for each configuration. Handshakes are part of a stream's reading.
 */
#ifndef PX_TLS_H
#define PX_TLS_H

#include "config/config.h"
#include "protocol/bytes.h"

#include <stdio.h>

typedef struct px_tls px_tls;
struct ssl_st;

/* Loads the files that client_tls names; on a mistake prints `file:line: what` to `errors` and
 * returns NULL. */
px_tls *px_tls_load(const cfg_config *config, FILE *errors);
void px_tls_free(px_tls *tls); /* accepted connections go on; NULL is fine */

/* Makes the TLS of a connection on `fd`, before its handshake; the caller calls px_tls_end(). */
struct ssl_st *px_tls_accept(const px_tls *tls, int fd);
/* Sends close_notify, if the handshake is done, and frees `ssl`. */
void px_tls_end(struct ssl_st *ssl);
/* The hash of the certificate for channel binding (tls-server-end-point, RFC 5929); empty if the
 * certificate has none. */
pgw_slice px_tls_binding(const px_tls *tls);
/* The handshake is done. */
bool px_tls_is_up(const struct ssl_st *ssl);
/* The client chose the protocol "postgresql" by ALPN. */
bool px_tls_is_postgresql(const struct ssl_st *ssl);
/* The client showed a certificate, which was verified in the handshake. */
bool px_tls_has_certificate(const struct ssl_st *ssl);
/* The client showed a certificate whose common name is `name`. */
bool px_tls_certificate_is(const struct ssl_st *ssl, const char *name);

#endif
