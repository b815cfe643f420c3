/*
 * lookups: a prepared statement that asks for rows by their hash key. The backend has it with a
 * condition on the hash column, and with a further parameter for each hash, which a Bind is given.
 */
#ifndef PX_LOOKUPS_H
#define PX_LOOKUPS_H

#include "protocol/frontend.h"
#include "proxy/backend/catalog/catalog.h"
#include "proxy/ingest/plan.h"
#include "rewrite/statement/errors/hide.h"
#include "rewrite/statement/script/conditions.h"
#include "rewrite/statement/words/statement.h"

/* Counted. */
typedef struct px_lookups {
    unsigned references;
    pgw_arena arena;
    px_catalog *catalog; /* that it was made with … */
    px_catalog *alike;   /* … and the last one that it is right by. Both counted */
    pgw_slice text;      /* as its client sent it; the statement begins at `start` */
    size_t start, end;
    pgw_slice rewritten;
    pgw_slice plain;          /* the same without conditions on hashes */
    pgw_slice before, behind; /* statements of ours that are run with it; empty: none */
    rw_conditions conditions;
    const rw_read_map *reads;     /* how it reads configured tables; NULL: it reads none */
    const rw_copy *copy;          /* a COPY … FROM STDIN of a configured table; NULL: it is none */
    rw_key_change change;         /* without its list; its table NULL: it changes no key */
    const pgw_error *refusal;     /* what is told should the backend meet RW_REFUSAL in it; NULL */
    struct px_lookups *otherwise; /* for a Bind that changes the key; NULL: none. Counted */
    px_declared declared;         /* by the client */
    uint32_t *types;              /* of the client's parameters, as the backend takes them … */
    size_t own;                   /* … which are as many; the hashes are behind them */
    bool retyped; /* its tables have keys of other types by now, and it must not be run as it is */
    bool asked;   /* the backend is being asked for the types of its parameters */
    bool by_sql; /* SQL's PREPARE keeps it, with the conditions in it that its hashes are made in */
    bool defines; /* it makes or alters a table, by whatever that is like */
    bool utf8;    /* what positions count: characters, or bytes */
} px_lookups;

/* Those of the only statement of a text. NULL: nothing is put in, or run with it. */
px_lookups *px_lookups_new(pgw_slice text, const rw_statement *statement, px_catalog *catalog,
                           const pgw_reading *reading, px_declared declared);
/* Those of what a PREPARE keeps, which was sent with these conditions. */
px_lookups *px_lookups_kept(const rw_statement *statement, const rw_conditions *conditions,
                            px_catalog *catalog, bool utf8);
void px_lookups_take(px_lookups *lookups);
void px_lookups_drop(px_lookups *lookups); /* NULL is fine */

/* Whether its hashes are those of the rows, and no row is lost by asking for them, as `now` is what
 * is known of the tables. If not, it has to go as its client wrote it. */
PGW_MUST_CHECK bool px_lookups_hold(px_lookups *lookups, px_catalog *now);
/* Whether all that is against it is that columns of keys have other types: it is the backend that
 * has to say whether the statement is still one. */
PGW_MUST_CHECK bool px_lookups_retyped(const px_lookups *lookups, const px_catalog *now);
/* Whether the types of all of its client's parameters are known; if not, the backend tells them. */
PGW_MUST_CHECK bool px_lookups_know_types(const px_lookups *lookups);
/* What the backend took the client's parameters for, `own` types. */
void px_lookups_learn(px_lookups *lookups, const uint32_t *types);
/* Whether columns stand in it for a star of its client's. */
bool px_lookups_show(const px_lookups *lookups);
/* A Parse for the backend; `query` is `rewritten`, `plain` or `text`. What is parsed behind a
 * change of its key's types declares those that the parameters had before. */
void px_lookups_parse(const px_lookups *lookups, pgw_slice name, pgw_slice query, pgw_buf *out);
/* The Bind for the backend, with the hashes. False: a hash cannot be computed, so it has to be one
 * of the plain statement. */
PGW_MUST_CHECK bool px_lookups_bind(const px_lookups *lookups, const pgw_bind *bind,
                                    const pgw_env *env, pgw_buf *out);
/* How it was sent, as errors are to be shown. */
rw_sent px_lookups_sent(const px_lookups *lookups);

#endif
