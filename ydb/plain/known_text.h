/*
 * known_text: whether a text is a known one, token by token, but for the values in it.
 */
#ifndef RW_KNOWN_TEXT_H
#define RW_KNOWN_TEXT_H

#include "protocol/value.h"

enum { RW_KNOWN_VALUES = 3 };

/* A value that stands in a text where the known text has $1. */
typedef struct rw_known_value {
    pgw_slice text;     /* the value, unescaped; {NULL, 0}: NULL, or a parameter */
    uint32_t parameter; /* n of $n; 0: the value is no parameter */
    bool missing;       /* the value is optional (in []), and the text has none */
} rw_known_value;

/* Whether a text is the known one. In the known text $1 is a value, "…" is whatever else stands
 * there, with brackets in pairs, and what stands in [] may be missing. The values are of the arena
 * or the text, in the order of the known text; strings are read as standard_conforming_strings has
 * them. */
PGW_MUST_CHECK bool rw_known_match(const char *known, pgw_slice text, pgw_arena *arena,
                                   rw_known_value values[RW_KNOWN_VALUES]);

#endif
