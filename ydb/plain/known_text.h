/*
 * known_text: texts that are known by heart, token by token, but for the values in them.
 */
#ifndef RW_KNOWN_TEXT_H
#define RW_KNOWN_TEXT_H

#include "protocol/value.h"

enum { RW_KNOWN_VALUES = 3 };

/* What stands in a text where the known one has $1. */
typedef struct rw_known_value {
    pgw_slice text;     /* unescaped; {NULL, 0}: NULL, or a parameter */
    uint32_t parameter; /* n of $n; 0: none */
    bool missing;       /* it is in [], and does not stand there */
} rw_known_value;

/* Whether a text is a known one. There, a value is $1; "…" is whatever else stands there, brackets
 * in pairs; what stands in [] may be missing. Values are of the arena or the text, in the order of
 * the known text; strings are read as standard_conforming_strings has them. */
PGW_MUST_CHECK bool rw_known_match(const char *known, pgw_slice text, pgw_arena *arena,
                                   rw_known_value values[RW_KNOWN_VALUES]);

#endif
