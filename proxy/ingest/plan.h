/*
 * plan: what is known of a prepared INSERT into a configured table: parsed, rewritten, and
 * described by the backend.
 */
#ifndef PX_PLAN_H
#define PX_PLAN_H

#include "proxy/backend/base/write_group.h"
#include "proxy/backend/catalog/catalog.h"
#include "rewrite/insert/answers.h"
#include "rewrite/insert/insert.h"
#include "rewrite/insert/key.h"
#include "rewrite/insert/render.h"

typedef struct px_plan {
    unsigned references;
    pgw_arena arena;
    px_catalog *catalog;
    px_identity *identity;
    rw_insert *insert; /* the INSERT; its text is in the arena */
    rw_hash_form form;
    bool hash_at_bind; /* the hashes have no room among the parameters: each Bind has its statement
                          (px_plan_for_bind), and the one that is prepared here stores nothing */
    const pgw_error *refusal; /* the error to tell where a row has no hash; NULL: all have one, or
                                 each Bind has its statement */
    uint64_t *hashes;         /* RW_HASH_CONSTANT: one for each row */
    pgw_slice rewritten;      /* the text for the backend's Parse */
    const rw_insert *asked;   /* the client's statement, if values of its key are to be asked for:
                                 they are parameters of `insert`, behind the client's; or NULL */
    const rw_filled *filled;  /* how `insert` is made of `asked` */
    unsigned effects;         /* flags of rw_effect: what it does to the session that runs it */
    bool infers;              /* parameters have types that the client did not declare */
    rw_insert *batched;       /* `insert` as rendered for batch links */
    pgw_slice batched_text;   /* the text of `batched`; its guard checks inferred types */
    uint32_t *declared;       /* types for the backend's Parse: the client's and the hashes' */
    size_t declared_count;
    size_t client_count; /* how many of `declared` the client declared */
    uint32_t *types;     /* the client's parameters: described, else declared or inferred */
    pgw_slice columns;   /* the body of the RowDescription that the backend gave for it, or clients
                            were told before; empty: none */
    bool described;      /* `types`, and `columns`, are what the backend said */
    bool describing;     /* a session has asked the backend for `types` and `columns` */
    bool awaited;        /* other sessions wait for that answer */
    bool came;           /* px_plan_comes_again() was called before */
    bool types_known;    /* no parameter that feeds a key is of unknown type */
    char name[40];       /* the prepared statement's name on batch links, made of a hash */
    px_write_group_prepared on_links; /* how batch links prepare it, once it was asked for
                                         (px_plan_prepared()); else all zero */
    uint64_t merge_hash;
    bool outdated;          /* the backend says other types by now: px_plan_find() skips it */
    struct px_plan *whole;  /* the plan in whose place this one is run once. Counted */
    struct px_plan *origin; /* the plan whose memory this one uses. Counted */
    size_t left_out;        /* rows of `whole` that are left out, which the client's tag counts */
    bool in_parts;          /* the rows that are left out are committed already */
    struct px_plan *row;    /* the plan of a single row, made when asked for; or NULL. Owned */
    bool row_sought;
    size_t holders; /* prepared statements of sessions that have this plan */
    size_t counted; /* bytes that are counted once for all `holders` */
} px_plan;

void px_plan_take(px_plan *plan);
void px_plan_drop(px_plan *plan); /* NULL is fine */

/* The types of parameters that a client declared in its Parse. */
typedef struct px_declared {
    const uint32_t *types;
    size_t count;
} px_declared;

/* Whether TimeZone makes of the key's parameters what it made when the plan was made. */
bool px_plan_is_in_zone(const px_plan *plan, const px_identity *identity);
/* An empty plan around a statement parsed in `arena` (given away). NULL and the error if its hash
 * is constant and cannot be computed. */
px_plan *px_plan_new(pgw_arena arena, rw_insert *insert, px_catalog *catalog, px_identity *identity,
                     px_declared declared, pgw_error *error);
/* Tells the plan that its INSERT is `asked`, as the client sent it, filled with parameters. */
void px_plan_asks(px_plan *plan, const rw_insert *asked, const rw_filled *filled,
                  size_t client_count);
/* Whether a Bind that was filled for one of the plans fits the other. */
bool px_plan_asks_same(const px_plan *a, const px_plan *b);
/* The statement as its client sent it; how many parameters that has. */
pgw_slice px_plan_client_text(const px_plan *plan);
size_t px_plan_client_parameters(const px_plan *plan);
/* Whether a hash of the plan's rows may depend on TimeZone. */
bool px_plan_needs_zone(const px_plan *plan);
/* The statement that a Bind with these keys (one a row) is of, where it is another: an UPSERT or
 * REPLACE that makes a key twice, without the rows that a later one replaces; one whose hashes have
 * no room among the parameters, with them as constants. The parameters are the same. Counted; NULL:
 * it is the plan's own. */
px_plan *px_plan_for_bind(px_plan *plan, const rw_key *keys);
/* The statement of a Bind whose keys are known before row `row` only: it is to fail there with
 * `error`, if the server finds no other. Counted. */
px_plan *px_plan_refusing(px_plan *plan, const rw_key *keys, size_t row, const pgw_error *error);
/* The statement without these rows (a flag a row), which are committed already. Counted. */
px_plan *px_plan_without(px_plan *plan, const bool *rows);
/* The statement of a single row, if those of `plan` differ in nothing but the numbers of their
 * parameters: row r's are as many as the single one's, from r times as many on. NULL if not. Not
 * counted: it lives as long as `plan`. */
px_plan *px_plan_of_row(px_plan *plan);
/* Takes the types that Describe said (with those of hashes at the end). False: it said others
 * before, which the plan keeps, but it is outdated now. */
bool px_plan_describe(px_plan *plan, const uint32_t *types, size_t count);
/* Takes what Describe said of the rows that the plan returns: the body of a RowDescription, or
 * nothing for NoData. False: it said something else before, and the plan is outdated. */
bool px_plan_describe_rows(px_plan *plan, pgw_slice body);
/* Takes that clients were told that it returns what `was` did, which they prepared before. False:
 * it is known not to. */
PGW_MUST_CHECK bool px_plan_keeps_rows(px_plan *plan, const px_plan *was);
/* Whether the text is likely to come again, so that it is worth describing: it has parameters, or
 * this was asked before. */
bool px_plan_comes_again(px_plan *plan);
/* Whether another look may find other types than it was described with. */
bool px_plan_may_change(const px_plan *plan);
/* A plan to be described anew, of a statement that is prepared already; only its types are of use.
 * Counted. */
px_plan *px_plan_undescribed(px_plan *plan);
/* The plan's statement as batch links prepare it, under its name of now. It lives as long as the
 * plan has that; px_write_group_keep_prepared() makes it last. */
const px_write_group_prepared *px_plan_prepared(px_plan *plan);
/* The types to declare to a backend that is to prepare the statement as it was described: all that
 * are known, and those of hashes. An array of `*count`, in `arena`. */
uint32_t *px_plan_types(const px_plan *plan, size_t *count, pgw_arena *arena);

#endif
