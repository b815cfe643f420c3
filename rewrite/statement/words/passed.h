/*
 * passed: long texts that the prefilter has let pass, by all of their bytes but those of numbers.
 * One that comes again, with whatever numbers, is known by a single look at its bytes, however many
 * words and calls are in it.
 */
#ifndef RW_PASSED_H
#define RW_PASSED_H

#include "rewrite/statement/words/prefilter.h"

enum {
    RW_PASSED_LEAST = 192, /* bytes: the prefilter itself takes no longer for shorter texts */
    RW_PASSED_MOST = 4096,
    RW_PASSED_TEXTS = 256 /* So many are kept: a mebibyte at most. */
};

/* All zero is an empty one. */
typedef struct rw_passed {
    struct rw_passed_text *texts; /* RW_PASSED_TEXTS, each where its hash says; NULL: none yet */
} rw_passed;

/* Answers as rw_prefilter_passes(); each call must have the same filter. A text is kept when it
 * comes for the second time; texts that do not come again push out none that does. */
PGW_MUST_CHECK bool rw_passed_passes(rw_passed *passed, pgw_slice text, const rw_prefilter *filter,
                                     unsigned *effects);
/* Forgets all of them. */
void rw_passed_free(rw_passed *passed);

#endif
