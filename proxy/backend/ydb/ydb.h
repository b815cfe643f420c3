/*
 * ydb: YDB's PostgreSQL-compatible endpoint as a kind of backend.
 */
#ifndef PX_YDB_H
#define PX_YDB_H

#include "proxy/backend/base/backend.h"

extern const px_backend px_backend_ydb;

#endif
