/*
 * window: 64 bytes of a text at once, as bits: where letters stand, and where marks that the quick
 * look of the hot path stops at. Words begin where a letter stands behind a byte that is none.
 */
#ifndef RW_WINDOW_H
#define RW_WINDOW_H

#include <stddef.h>
#include <stdint.h>

enum { RW_WINDOW = 64 };

/* The bits of a window; its first byte is the lowest bit. */
typedef struct rw_window {
    uint64_t letters; /* A to Z, a to z, _ and all beyond ASCII */
    uint64_t marks;   /* ( ; and NUL, and the first of any two of - / * & " (of which comments and
                         U&"…" are made: those of dates and strings stand alone); the last byte
                         counts as such a one, whatever comes behind it */
} rw_window;

/* Fills `count` windows, each `step` bytes behind the one before, the first at `bytes`. */
void rw_windows_of(const char *bytes, size_t step, size_t count, rw_window *windows);
/* Does the same as rw_windows_of() without special instructions of the processor. */
void rw_windows_anywhere(const char *bytes, size_t step, size_t count, rw_window *windows);

#endif
