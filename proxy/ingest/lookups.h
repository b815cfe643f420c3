/*
 * lookups: a prepared statement that asks for rows by their hash key. The backend has it with a
 * condition on the hash column, and with a further parameter for each hash, which a Bind is given.
 */
#ifndef PX_LOOKUPS_H
#define PX_LOOKUPS_H

#include "protocol/frontend.h"
#include "proxy/backend/catalog.h"
#include "proxy/ingest/plan.h"
#include "rewrite/read/conditions.h"
#include "rewrite/read/statement.h"

/* Counted. */
typedef struct px_lookups {
    unsigned references;
    pgw_arena arena;
    px_catalog *catalog;
    pgw_slice text; /* as its client sent it; the statement begins at `start` */
    size_t start, end;
    pgw_slice rewritten;
    rw_conditions conditions;
    px_declared declared; /* by the client */
    uint32_t *types;      /* of the client's parameters, as the backend takes them … */
    size_t own;           /* … which are as many; the hashes are behind them */
    bool utf8;            /* what positions count: characters, or bytes */
} px_lookups;

/* Those of the only statement of a text. NULL: nothing is put in. */
px_lookups *px_lookups_new(pgw_slice text, const rw_statement *statement, px_catalog *catalog,
                           const pgw_reading *reading, px_declared declared);
void px_lookups_take(px_lookups *lookups);
void px_lookups_drop(px_lookups *lookups); /* NULL is fine */

/* The Parse for the backend; as it was sent (`plain`), or with the conditions. */
void px_lookups_parse(const px_lookups *lookups, pgw_slice name, bool plain, pgw_buf *out);
/* The Bind for the backend, with the hashes. False: a hash cannot be computed, so it has to be one
 * of the plain statement. */
PGW_MUST_CHECK bool px_lookups_bind(const px_lookups *lookups, const pgw_bind *bind,
                                    const pgw_env *env, pgw_buf *out);
/* The body of an ErrorResponse or NoticeResponse about its Parse, with the client's positions. */
void px_lookups_error(const px_lookups *lookups, pgw_slice body, pgw_buf *out);

#endif
