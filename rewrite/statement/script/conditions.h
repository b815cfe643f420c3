/*
 * conditions: a statement with the conditions of its lookups put in, and its stars written out; and
 * the way back from a position in it to the client's text.
 */
#ifndef RW_CONDITIONS_H
#define RW_CONDITIONS_H

#include "rewrite/statement/words/statement.h"

typedef struct rw_conditions {
    rw_change *list; /* changes of the statement, in the order of `at` */
    size_t count;
    const rw_lookup **lookups; /* lookups whose conditions are in `list`, in its order */
    size_t lookup_count;
    uint32_t parameters; /* parameters for hashes, which stand behind the `own` ones */
    uint32_t own;        /* parameters of the client's statement */
    bool in_text;        /* the added parameters are bound in text: some are arrays, or buckets */
    bool by_sql; /* the statement is a PREPARE: no parameters are added, and the server computes the
                    hashes */
    size_t made; /* bytes of the conditions that are put into a PREPARE */
} rw_conditions;

/* A statement that is prepared: the hashes of keys that hold its parameters are further ones. */
typedef struct rw_prepared {
    pgw_slice text;       /* text of the statement */
    rw_declared declared; /* types of its parameters */
    uint32_t parameters;  /* how many it has */
} rw_prepared;

/* The conditions of all lookups whose constants can be hashed, and all stars; in the reading's
 * arena. `prepared` NULL: those that hold parameters are left out, and constants that TimeZone
 * decides are written with their zone. A PREPARE has the hashes of its own parameters as
 * expressions, which the server computes. */
void rw_conditions_of(const rw_statement *statement, const rw_prepared *prepared,
                      const pgw_reading *reading, rw_conditions *out);
/* A copy of the conditions that shares nothing with them but the tables. */
void rw_conditions_keep(const rw_conditions *conditions, pgw_arena *arena, rw_conditions *out);
/* `text`: the statement, as it was read. */
void rw_conditions_render(const rw_conditions *conditions, pgw_slice text, pgw_buf *out);
/* Where a position in the rendered statement (characters, from 1) is in the client's text. A
 * position inside of something put in is where that was put in. */
size_t rw_conditions_position(const rw_conditions *conditions, pgw_slice text, size_t position,
                              bool utf8);
/* Whether a position in the rendered statement is in something put in. */
bool rw_conditions_put_in(const rw_conditions *conditions, pgw_slice text, size_t position,
                          bool utf8);
/* The value of a parameter that keyspread adds. */
typedef struct rw_further {
    uint64_t hash;
    pgw_slice hashes; /* hashes of an array's elements, in text; no pointer: see `hash` */
} rw_further;

/* The types of the parameters that keyspread adds, in their order. */
void rw_conditions_types(const rw_conditions *conditions, uint32_t *types);
/* Computes the values of the added parameters for a Bind. Not PGW_KNOWN: the statement has to go as
 * its client wrote it. */
PGW_MUST_CHECK pgw_verdict rw_conditions_bind(const rw_conditions *conditions, rw_params params,
                                              const pgw_reading *reading, rw_further *out);

#endif
