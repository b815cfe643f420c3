/*
 * writer of YDB: sends the rows of an attempt as one INSERT with constants or, where they cannot be
 * merged or a write group is alone, as the clients sent them. The link, which speaks PostgreSQL's
 * protocol, sees to transactions, tags and errors.
 */
#ifndef PX_YDB_WRITER_H
#define PX_YDB_WRITER_H

#include "proxy/backend/base/writer.h"

extern const px_writer_kind px_ydb_writer;

#endif
