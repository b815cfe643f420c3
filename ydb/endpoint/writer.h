/*
 * writer of YDB: the rows of an attempt travel as one INSERT, parameters as constants; where they
 * cannot, and where units are sent alone, as their clients sent them. The link, which speaks
 * PostgreSQL's protocol, sees to transactions, tags and errors.
 */
#ifndef PX_YDB_WRITER_H
#define PX_YDB_WRITER_H

#include "proxy/backend/base/writer.h"

extern const px_writer_kind px_ydb_writer;

#endif
