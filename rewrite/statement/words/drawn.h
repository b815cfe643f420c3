/*
 * drawn: a text that asks what its session drew from sequences, told what was drawn elsewhere for
 * it: its calls of lastval() and currval() give these numbers, unless the session's link has drawn
 * others since, of which nobody else knows.
 */
#ifndef RW_DRAWN_H
#define RW_DRAWN_H

#include "protocol/bytes.h"

enum { RW_DRAWN_MOST = 8 };

typedef struct rw_drawn {
    struct {
        uint32_t sequence; /* its oid */
        int64_t number;    /* the session's */
        int64_t link;      /* what its link drew of it, as far as that is known … */
        bool linked;       /* … which it has */
    } of[RW_DRAWN_MOST];   /* in the order in which the session got them */
    size_t count;
    int64_t link; /* what its link drew last, of any of them … */
    bool linked;  /* … if anything */
} rw_drawn;

/* Appends the text with its calls replaced, each by an expression of the same name and type. False:
 * there is none, and `out` is as it was. What is only made for later (CREATE, PREPARE), and calls
 * that stand as a table, are left. */
PGW_MUST_CHECK bool rw_drawn_tell(pgw_slice text, const rw_drawn *drawn, bool conforming,
                                  pgw_buf *out);

#endif
