/*
 * drawn: a text that asks what its session drew from sequences, told what was drawn elsewhere for
 * it: its calls of lastval() and currval() give these numbers.
 */
#ifndef RW_DRAWN_H
#define RW_DRAWN_H

#include "protocol/bytes.h"

enum { RW_DRAWN_MOST = 8 };

typedef struct rw_drawn {
    struct {
        uint32_t sequence; /* its oid */
        int64_t number;
    } of[RW_DRAWN_MOST];
    size_t count;
    bool last; /* the last one of them is what was drawn last */
} rw_drawn;

/* Appends the text with its calls replaced, each by a subquery with the same name and type. False:
 * there is none, and `out` is as it was. What is only made for later (CREATE, PREPARE), and calls
 * that stand as a table, are left. `*moves`: it may draw, or set a sequence, itself. */
PGW_MUST_CHECK bool rw_drawn_tell(pgw_slice text, const rw_drawn *drawn, bool conforming,
                                  pgw_buf *out, bool *moves);

#endif
