/*
 * postgres: PostgreSQL as a kind of backend.
 */
#ifndef PX_POSTGRES_H
#define PX_POSTGRES_H

#include "proxy/backend/base/backend.h"

extern const px_backend px_backend_postgres;

#endif
