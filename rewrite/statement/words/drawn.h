/*
 * drawn: puts the numbers that other links drew from sequences for a session into a text that asks
 * for them: its lastval() and currval() give these, unless the session's own link has drawn others
 * since.
 */
#ifndef RW_DRAWN_H
#define RW_DRAWN_H

#include "protocol/bytes.h"

enum { RW_DRAWN_MOST = 8 };

typedef struct rw_drawn {
    struct {
        uint32_t sequence; /* oid of the sequence */
        int64_t number;    /* the number that the session got last */
        int64_t link;      /* the number that its own link drew last, as far as keyspread knows */
        bool linked;       /* the own link has drawn from this sequence, and `link` is set */
    } of[RW_DRAWN_MOST];   /* sequences in the order in which the session got their last numbers */
    size_t count;
    int64_t link; /* the number that the own link drew last, from any of the sequences */
    bool linked;  /* the own link has drawn from a sequence, and `link` is set */
} rw_drawn;

/* Appends the text with its calls replaced, each by an expression of the same name and type. False:
 * there is none, and `out` is as it was. What is only made for later (CREATE, PREPARE), and calls
 * that stand as a table, are left. */
PGW_MUST_CHECK bool rw_drawn_tell(pgw_slice text, const rw_drawn *drawn, bool conforming,
                                  pgw_buf *out);

#endif
