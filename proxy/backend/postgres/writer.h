/*
 * writer of PostgreSQL: rows that came as text travel in one Query, merged into one statement where
 * that pays; those that came with parameters as a pipeline under one Sync.
 */
#ifndef PX_POSTGRES_WRITER_H
#define PX_POSTGRES_WRITER_H

#include "proxy/backend/base/writer.h"

extern const px_writer_kind px_postgres_writer;

#endif
