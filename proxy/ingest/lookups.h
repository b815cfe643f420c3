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

/* A statement with what is put into it, which is counted by references. */
typedef struct px_lookups {
    unsigned references;
    pgw_arena arena;
    px_catalog *catalog; /* the catalog that it was made with; counted */
    px_catalog *alike;   /* the last catalog by which it was found right; counted */
    pgw_slice text;      /* the client's text; the statement is from `start` to `end` */
    size_t start, end;
    pgw_slice rewritten;
    pgw_slice plain;          /* the text without conditions on hashes */
    pgw_slice before, behind; /* keyspread's statements that are run with it; empty: none */
    rw_conditions conditions;
    const rw_read_map *reads; /* how the statement reads configured tables; NULL: it reads none */
    const rw_copy *copy;      /* the COPY from STDIN into a configured table; NULL: it is none */
    rw_key_change change;     /* the change of a key, without its list; no table: none */
    const pgw_error *refusal; /* the error to tell should the backend meet RW_REFUSAL; or NULL */
    struct px_lookups *otherwise; /* lookups of a Bind that changes the key; or NULL. Counted */
    px_declared declared;         /* the types of parameters that the client declared */
    uint32_t *types;              /* the types that the backend takes the client's parameters for */
    size_t own;                   /* how many parameters are the client's; those of hashes follow */
    bool retyped;     /* the tables have keys of other types by now: it must not be run as it is */
    bool asked;       /* the backend is being asked for the types of the parameters */
    bool sql_execute; /* SQL's PREPARE keeps the statement, whose conditions compute hashes */
    bool defines;     /* the statement makes or alters a table, whatever that is like */
    bool utf8;        /* error positions count characters, not bytes */
} px_lookups;

/* The lookups of the only statement of a text. NULL: nothing is put in it, or run with it. */
px_lookups *px_lookups_new(pgw_slice text, const rw_statement *statement, px_catalog *catalog,
                           const pgw_reading *reading, px_declared declared);
/* The lookups of what a PREPARE keeps, which was sent with these conditions. */
px_lookups *px_lookups_kept(const rw_statement *statement, const rw_conditions *conditions,
                            px_catalog *catalog, bool utf8);
void px_lookups_take(px_lookups *lookups);
void px_lookups_drop(px_lookups *lookups); /* NULL is fine */

/* Whether the hashes are those of the rows, and no row is lost by asking for them, with tables as
 * in `now`. If not, the statement has to go as its client wrote it. */
PGW_MUST_CHECK bool px_lookups_hold(px_lookups *lookups, px_catalog *now);
/* Whether px_lookups_hold() fails only because columns of keys have other types: the backend has to
 * say whether the statement still is one. */
PGW_MUST_CHECK bool px_lookups_retyped(const px_lookups *lookups, const px_catalog *now);
/* Whether the types of all client's parameters are known; if not, the backend tells them. */
PGW_MUST_CHECK bool px_lookups_know_types(const px_lookups *lookups);
/* Takes the `own` types that the backend took the client's parameters for. */
void px_lookups_learn(px_lookups *lookups, const uint32_t *types);
/* Whether columns stand in the statement for a star of its client's. */
bool px_lookups_show(const px_lookups *lookups);
/* A Parse for the backend; `query` is `rewritten`, `plain` or `text`. What is parsed behind a
 * change of its key's types declares those that the parameters had before. */
void px_lookups_parse(const px_lookups *lookups, pgw_slice name, pgw_slice query, pgw_buf *out);
/* Writes the Bind for the backend, with the hashes. False: a hash cannot be computed, so the Bind
 * has to be of the plain statement. */
PGW_MUST_CHECK bool px_lookups_bind(const px_lookups *lookups, const pgw_bind *bind,
                                    const pgw_env *env, pgw_buf *out);
/* How the statement was sent, by which errors are shown. */
rw_sent px_lookups_sent(const px_lookups *lookups);

#endif
