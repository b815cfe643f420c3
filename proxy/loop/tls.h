/*
 * tls: the server's side of TLS to clients: certificate, key and what is asked of clients, loaded
 * once a configuration. Handshakes themselves are part of a stream's reading.
 */
#ifndef PX_TLS_H
#define PX_TLS_H

#include "config/config.h"
#include "protocol/bytes.h"

#include <stdio.h>

typedef struct px_tls px_tls;
struct ssl_st;

/* Loads what client_tls names. On a mistake prints `file:line: what` to `errors`; NULL. */
px_tls *px_tls_load(const cfg_config *config, FILE *errors);
void px_tls_free(px_tls *tls); /* connections that were accepted go on; NULL is fine */

/* A connection on `fd`, before its handshake; the caller calls px_tls_end(). */
struct ssl_st *px_tls_accept(const px_tls *tls, int fd);
/* Says goodbye, if the handshake was done, and frees. */
void px_tls_end(struct ssl_st *ssl);
/* The hash of the certificate that binds a channel to it (tls-server-end-point, RFC 5929); empty if
 * it has none. */
pgw_slice px_tls_binding(const px_tls *tls);
/* The handshake is done. */
bool px_tls_is_up(const struct ssl_st *ssl);
/* The client chose the protocol "postgresql" by ALPN. */
bool px_tls_is_postgresql(const struct ssl_st *ssl);
/* The client showed a certificate (it was verified in the handshake). */
bool px_tls_has_certificate(const struct ssl_st *ssl);
/* … whose common name is `name`. */
bool px_tls_certificate_is(const struct ssl_st *ssl, const char *name);

#endif
