/*
 * window: 64 bytes of a text at once, as bits: where letters stand, and where marks that the quick
 * look of the hot path stops at. Words begin where a letter stands behind a byte that is none.
 */
#ifndef RW_WINDOW_H
#define RW_WINDOW_H

#include <stdint.h>

enum { RW_WINDOW = 64 };

/* The first byte is the lowest bit. */
typedef struct rw_window {
    uint64_t letters; /* A to Z, a to z, _ and all beyond ASCII */
    uint64_t marks;   /* ( ; & - / and NUL */
} rw_window;

/* Of the RW_WINDOW bytes at `bytes`. */
rw_window rw_window_of(const char *bytes);

#endif
