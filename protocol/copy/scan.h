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
    BLOCK = 64             /* bytes whose special ones are told by one word */
};

/* Bytes that end a run of plain ones. */
typedef struct pgw_copy_scan {
    sixteen specials[SPECIALS]; /* Each special byte, sixteen times. */
    unsigned char by_low[16];   /* The special byte outside of quotes for each value of its low four
                                   bits; another byte, with other low bits, where there is none. */
    bool is_by_low;             /* Whether by_low has all of them, and the machine can use it. */
    bool special[256];          /* Whether a byte is a special one. */
} pgw_copy_scan;

void pgw_copy_scan_of(const char specials[SPECIALS], pgw_copy_scan *out);
/* Which bytes of up to `most` blocks from `at` on are special outside of quotes: one word a block,
 * the first byte is its lowest bit. The last block may end at `end`, before its 64 bytes do.
 * Returns how many blocks there are, at least one: `at` is before `end`. */
size_t pgw_copy_scan_blocks(const pgw_copy_scan *scan, const char *at, const char *end, size_t most,
                            uint64_t *found);
/* Where the next special byte is, or `end`. */
const char *pgw_copy_scan_next(const pgw_copy_scan *scan, const char *at, const char *end);

#endif
