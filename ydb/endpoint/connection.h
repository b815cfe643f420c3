/*
 * connection: a link to YDB's endpoint: what it is sent are messages for a server's half of the
 * protocol that lives here (session.h), and what it says is that half's output.
 */
#ifndef PX_YDB_CONNECTION_H
#define PX_YDB_CONNECTION_H

#include "proxy/backend/base/link.h"

extern const px_link_kind px_ydb_link;

#endif
