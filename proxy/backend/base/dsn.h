/*
 * dsn: what backend.dsn, a connection string of libpq, says of links before any is opened.
 */
#ifndef PX_DSN_H
#define PX_DSN_H

#include "protocol/bytes.h"

#include <stdbool.h>

/* A connection string gives a value to `keyword` ("user"). False if it cannot be parsed. */
bool px_dsn_names(const char *dsn, const char *keyword);
/* The value of `keyword`, which the caller frees; NULL if there is none. */
PGW_MUST_CHECK char *px_dsn_value(const char *dsn, const char *keyword);

#endif
