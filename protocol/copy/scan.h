/*
 * scan: the search of a COPY's data for bytes that mean something: many bytes are compared at once.
 */
#ifndef PGW_COPY_SCAN_H
#define PGW_COPY_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The compiler compares them all at once, where the machine can. */
typedef unsigned char sixteen __attribute__((vector_size(16)));

enum {
    SPECIALS = 5,
    UNQUOTED_SPECIALS = 4, /* Outside of quotes, the last special byte of csv means nothing else. */
    BLOCK = 64             /* bytes that are looked through at once */
};

/* Bytes that end a run of plain ones. */
typedef struct pgw_copy_scan {
    sixteen specials[SPECIALS]; /* Each special byte, sixteen times. */
    unsigned char by_low[16];   /* The special byte outside of quotes for each value of its low four
                                   bits; another byte, with other low bits, where there is none. */
    bool is_by_low;             /* Whether by_low has all of them, and the machine can use it. */
    bool special[256];          /* Whether a byte is a special one. */
} pgw_copy_scan;

/* A piece of data that is cut behind its special bytes outside of quotes. */
typedef struct pgw_copy_cuts {
    const char *begin, *at, *end; /* The piece; it was looked through up to `at`. */
    uint32_t *cuts;     /* Counted from `begin`, in their order. The caller puts the first, a 0. */
    size_t count, room; /* So many cuts are known; there is room for so many. */
} pgw_copy_cuts;

void pgw_copy_scan_of(const char specials[SPECIALS], pgw_copy_scan *out);
/* Drops the cuts before `first`, and looks on until there are `wanted`: through one block at first,
 * and then through as many as there is room for, which is for BLOCK cuts more than `wanted` at
 * least. Returns the end of the cuts: there are fewer than `wanted` only if the piece has no more.
 */
const uint32_t *pgw_copy_scan_on(const pgw_copy_scan *scan, const uint32_t *first, size_t wanted,
                                 pgw_copy_cuts *it);
/* Where the next special byte is, or `end`. */
const char *pgw_copy_scan_next(const pgw_copy_scan *scan, const char *at, const char *end);

#endif
