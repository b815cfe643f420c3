/*
 * endpoint: YDB's PostgreSQL-compatible endpoint as a kind of backend.
 */
#ifndef PX_ENDPOINT_H
#define PX_ENDPOINT_H

#include "proxy/backend/base/backend.h"

extern const px_backend px_backend_ydb;

#endif
