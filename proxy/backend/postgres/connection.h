/*
 * connection: a link to a PostgreSQL. libpq opens it (addresses, passwords, TLS), then its socket
 * is taken over and its bytes pass as they are; libpq only cancels and closes.
 */
#ifndef PX_CONNECTION_H
#define PX_CONNECTION_H

#include "proxy/backend/base/link.h"

extern const px_link_kind px_postgres_link;

#endif
