/*
 * connection: a link to YDB's endpoint. The messages sent to it are taken by a server machine in
 * this process (ydb/endpoint/session.h), whose output are the link's replies.
 */
#ifndef PX_YDB_CONNECTION_H
#define PX_YDB_CONNECTION_H

#include "proxy/backend/base/link.h"

extern const px_link_kind px_ydb_link;

#endif
