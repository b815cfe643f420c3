/*
 * array: the elements of a one-dimensional array of a type known here, in text or binary, as
 * PostgreSQL's array_in and array_recv read them (src/backend/utils/adt/arrayfuncs.c).
 */
#ifndef PGW_ARRAY_H
#define PGW_ARRAY_H

#include "protocol/value.h"

/* The type of arrays of `element`, and the reverse; PGW_UNSPECIFIED for a type not known here. */
uint32_t pgw_array_of(uint32_t element);
uint32_t pgw_array_element(uint32_t array);

typedef struct pgw_array {
    pgw_slice *list; /* the elements, in the arena or in what was read */
    size_t count;
} pgw_array;

/* PGW_UNKNOWABLE: it has more or less than one dimension, bounds of its own, a NULL, more than
 * `most` elements, or PostgreSQL would refuse it. `{}` has no elements. The text is UTF-8, or of
 * another encoding in which no other character holds the byte of an ASCII one. */
PGW_MUST_CHECK pgw_verdict pgw_array_from_text(pgw_slice text, size_t most, pgw_arena *arena,
                                               pgw_array *out);
PGW_MUST_CHECK pgw_verdict pgw_array_from_binary(uint32_t element, pgw_slice bytes, size_t most,
                                                 pgw_arena *arena, pgw_array *out);

#endif
