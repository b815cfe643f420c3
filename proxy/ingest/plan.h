/*
 * plan: what is known of a prepared INSERT into a configured table: parsed, rewritten, and
 * described by the backend.
 */
#ifndef PX_PLAN_H
#define PX_PLAN_H

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
    rw_insert *insert; /* its text is the client's, in the arena */
    rw_hash_form form;
    bool hash_at_bind; /* the hashes have no room among the parameters: each Bind has its statement
                          (px_plan_for_bind), and the one that is prepared here stores nothing */
    const pgw_error *refusal; /* the error to tell where a row is unhashed; NULL: none is, or each
                                 Bind has its statement */
    uint64_t *hashes;         /* CONSTANT: one a row */
    pgw_slice rewritten;      /* the text for the backend's Parse */
    const rw_insert *asked;   /* the client's statement, if values of its key are to be asked for:
                                 they are parameters of `insert`, behind the client's; or NULL */
    const rw_filled *filled;  /* … how `insert` is made of it */
    unsigned effects;         /* of rw_effect: what it does to the session that runs it */
    bool infers;              /* parameters have types that the client did not declare */
    rw_insert *batched;       /* `insert`, as it is rendered for links for batches, which have it */
    pgw_slice batched_text; /* … prepared for others: there it asks for the columns it infers of */
    uint32_t *declared;     /* for the backend's Parse: the client's, padded, and ours */
    size_t declared_count;
    size_t client_count; /* of them, those the client declared */
    uint32_t *types;     /* of the client's parameters: described, else declared or inferred */
    pgw_slice columns;   /* of what it returns: the body of the RowDescription that the backend gave
                            for it, or clients were told before; empty: none */
    bool described;      /* `types`, and `columns`, are what the backend said */
    bool describing;     /* a session has asked the backend … */
    bool awaited;        /* … and others wait for the answer */
    bool came;           /* it was asked whether it comes again */
    bool types_known;    /* no parameter that feeds a key is of unknown type */
    char name[40]; /* of the prepared statement on batch links: made of the cache key's hash */
    uint64_t merge_hash;
    bool outdated;          /* the backend says other types by now: nobody is to find it again */
    struct px_plan *whole;  /* the statement in whose place this one is run once. Counted */
    struct px_plan *origin; /* whose memory this one uses. Counted */
    size_t left_out;        /* how many of its rows this one is without: the tag counts them */
    bool in_parts;          /* they are committed already */
    struct px_plan *row;    /* the statement of a single row; made when asked for. Owned */
    bool row_sought;
    size_t holders; /* statements of sessions that are counted (client/core/statements) … */
    size_t counted; /* … as so many bytes, once for all of them */
} px_plan;

void px_plan_take(px_plan *plan);
void px_plan_drop(px_plan *plan); /* NULL is fine */

/* The types of parameters that a client declared in its Parse. */
typedef struct px_declared {
    const uint32_t *types;
    size_t count;
} px_declared;

/* Whether TimeZone makes of the parameters of its key what it made when the plan was made. */
bool px_plan_is_in_zone(const px_plan *plan, const px_identity *identity);
/* An empty plan around a statement parsed in `arena` (given away). NULL and the error if its hash
 * is constant and cannot be computed. */
px_plan *px_plan_new(pgw_arena arena, rw_insert *insert, px_catalog *catalog, px_identity *identity,
                     px_declared declared, pgw_error *error);
/* The plan is of `asked`, as the client sent it, which was filled with parameters. */
void px_plan_asks(px_plan *plan, const rw_insert *asked, const rw_filled *filled,
                  size_t client_count);
/* Whether a Bind that was filled for one of the plans fits the other. */
bool px_plan_asks_same(const px_plan *a, const px_plan *b);
/* The statement as its client sent it; how many parameters that has. */
pgw_slice px_plan_client_text(const px_plan *plan);
size_t px_plan_client_parameters(const px_plan *plan);
/* Whether a hash of it may depend on TimeZone. */
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
/* What Describe said (ours at the end still there). False: it has said something else before, which
 * the plan stays with, but is outdated. */
bool px_plan_describe(px_plan *plan, const uint32_t *types, size_t count);
/* … of the rows that it returns: the body of a RowDescription, or nothing for NoData. */
bool px_plan_describe_rows(px_plan *plan, pgw_slice body);
/* Clients were told that it returns what `was` did, which they have prepared before. False: it is
 * known not to. */
PGW_MUST_CHECK bool px_plan_keeps_rows(px_plan *plan, const px_plan *was);
/* Whether its text is likely to come again, so that it is worth to be described beside others: it
 * has parameters, or this was asked before. */
bool px_plan_comes_again(px_plan *plan);
/* Whether another look may find other types than it was described with. */
bool px_plan_may_change(const px_plan *plan);
/* A plan to describe anew, of a statement that is prepared already; it is only good for its types.
 * Counted. */
px_plan *px_plan_undescribed(px_plan *plan);
/* The types to declare to a backend that is to prepare the statement as it was described: all that
 * are known, and ours. An array of `*count`, in `arena`. */
uint32_t *px_plan_types(const px_plan *plan, size_t *count, pgw_arena *arena);

#endif
