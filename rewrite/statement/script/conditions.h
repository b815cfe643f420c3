/*
 * conditions: a statement with the conditions of its lookups put in, and its stars written out; and
 * the way back from a position in it to the client's text.
 */
#ifndef RW_CONDITIONS_H
#define RW_CONDITIONS_H

#include "rewrite/statement/words/statement.h"

typedef struct rw_conditions {
    rw_change *list; /* in order of `at` */
    size_t count;
    const rw_lookup **lookups; /* whose conditions are among them, in order */
    size_t lookup_count;
    uint32_t parameters; /* that are none of the client's … */
    uint32_t own;        /* … and stand behind these */
    bool in_text;        /* the former are bound in text: some are arrays, or buckets */
    bool by_sql;         /* it is a PREPARE: there are none, the server computes hashes of keys */
    size_t made;         /* … by expressions of so many bytes */
} rw_conditions;

/* A statement that is prepared: the hashes of keys that hold its parameters are further ones. */
typedef struct rw_prepared {
    pgw_slice text;       /* of the statement */
    rw_declared declared; /* types of its parameters */
    uint32_t parameters;  /* how many it has */
} rw_prepared;

/* The conditions of all lookups whose constants can be hashed, and all stars; in the reading's
 * arena. `prepared` NULL: those that hold parameters are left out, and constants that TimeZone
 * decides are written with their zone. A PREPARE has the hashes of its own parameters as
 * expressions, which the server computes. */
void rw_conditions_of(const rw_statement *statement, const rw_prepared *prepared,
                      const pgw_reading *reading, rw_conditions *out);
/* A copy that needs nothing of what it was made of but the tables. */
void rw_conditions_keep(const rw_conditions *conditions, pgw_arena *arena, rw_conditions *out);
/* `text`: the statement, as it was read. */
void rw_conditions_render(const rw_conditions *conditions, pgw_slice text, pgw_buf *out);
/* Where a position in it (characters, from 1) is in the client's text. One inside of something put
 * in is where that was put in. */
size_t rw_conditions_position(const rw_conditions *conditions, pgw_slice text, size_t position,
                              bool utf8);
/* Whether such a position is in something put in. */
bool rw_conditions_put_in(const rw_conditions *conditions, pgw_slice text, size_t position,
                          bool utf8);
/* What such a further parameter is given. */
typedef struct rw_further {
    uint64_t hash;
    pgw_slice hashes; /* of all elements of an array, as an array in text; no pointer: none */
} rw_further;

/* The types of the further parameters, in their order. */
void rw_conditions_types(const rw_conditions *conditions, uint32_t *types);
/* What a Bind gives them. Not PGW_KNOWN: the statement has to go as its client wrote it. */
PGW_MUST_CHECK pgw_verdict rw_conditions_bind(const rw_conditions *conditions, rw_params params,
                                              const pgw_reading *reading, rw_further *out);

#endif
