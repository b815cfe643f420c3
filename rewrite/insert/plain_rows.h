/*
 * plain_rows: the rows of an INSERT … VALUES whose cells are plain constants, found without the
 * parser, which reads them alike. Texts that are equal up to the first row and behind the last one
 * differ in constants alone.
 */
#ifndef RW_PLAIN_ROWS_H
#define RW_PLAIN_ROWS_H

#include "rewrite/hash/literal.h"

enum {
    RW_PLAIN_CELLS = 128, /* Rows with more cells are not plain. */
    RW_PLAIN_SHAPE = 2048 /* Bytes of the longest shape. */
};

typedef enum rw_plain_kind {
    RW_PLAIN_STRING,  /* '…', without backslashes; two quotes may stand for one. */
    RW_PLAIN_INTEGER, /* Digits, perhaps with a minus before them. */
    RW_PLAIN_DECIMAL, /* Digits, a point, digits. */
    RW_PLAIN_NULL,
    RW_PLAIN_TRUE,
    RW_PLAIN_FALSE,
    RW_PLAIN_DEFAULT
} rw_plain_kind;

typedef struct rw_plain_cell {
    uint32_t start, end; /* Offsets in the text, with the cell's quotes and minus. */
    uint8_t kind;        /* An rw_plain_kind. */
    bool minus;
    bool doubled;    /* A quote stands in the string twice, for one. */
    uint64_t number; /* The value of an INTEGER's digits, if there are not too many. */
} rw_plain_cell;

/* A reading of one text, row by row. */
typedef struct rw_plain_rows {
    pgw_slice text;
    size_t values;      /* Offset behind the word VALUES. */
    size_t open, close; /* Offsets of the parentheses of the row that was read last. */
    size_t next;        /* Offset where the next row is to begin, if there is one. */
    bool more;          /* A comma follows the row that was read last, and so another row. */
    bool defaults;      /* There is a DEFAULT in the row that was read last. */
    size_t cell_count;
    rw_plain_cell cells[RW_PLAIN_CELLS]; /* Cells of the row that was read last. */
} rw_plain_rows;

/* What stands before a cell: all that is written between what the cell and the one before it hold.
 * Quotes are part of it. */
typedef struct rw_plain_gap {
    uint64_t bytes, mask; /* Eight bytes, and which of them are the gap's. */
    uint8_t len;
    bool string; /* A string follows; else a number. */
} rw_plain_gap;

enum { RW_PLAIN_QUICK = 32 /* Rows of more cells are not read by their gaps. */ };

/* How many cells a row has, and which of them are DEFAULT; and how rows are written that follow
 * each other, if these are of strings and numbers and there is little between them. */
typedef struct rw_plain_pattern {
    size_t cells;
    bool any; /* Some cells are DEFAULT. */
    uint64_t defaults[RW_PLAIN_CELLS / 64];
    bool quick;        /* Rows can be read by the gaps. */
    size_t from_close; /* How far the next row begins behind a row's closing parenthesis. */
    rw_plain_gap gaps[RW_PLAIN_QUICK + 1]; /* The last gap ends where the next row begins. */
} rw_plain_pattern;

/* Whether the text may be an INSERT with plain rows, as far as its first row; to be called only
 * where standard_conforming_strings is on. A NUL must stand behind the text. */
PGW_MUST_CHECK bool rw_plain_begin(pgw_slice text, rw_plain_rows *rows);
/* Reads the first row, or the next one where there are more. False: the row is not plain. */
PGW_MUST_CHECK bool rw_plain_next(rw_plain_rows *rows);
/* Fills the pattern of the row that was read last, which is what all rows are to have. */
void rw_plain_pattern_of(const rw_plain_rows *rows, rw_plain_pattern *out);
/* Reads the next row. False: the row is not plain, or has another pattern. */
PGW_MUST_CHECK bool rw_plain_next_like(rw_plain_rows *rows, const rw_plain_pattern *pattern);
/* The text behind the row that was read last. */
pgw_slice rw_plain_tail(const rw_plain_rows *rows);
/* Writes the text up to the end of its first row, which was read last, without the constants; if it
 * is the only row, with the blanks between them. Returns the shape's length; 0: it is longer than
 * `room`. */
size_t rw_plain_shape(const rw_plain_rows *rows, char *out, size_t room);
/* The cell as the parser would have it. `arena` gives memory where a quote is doubled. */
void rw_plain_read(pgw_slice text, const rw_plain_cell *cell, pgw_arena *arena, rw_cell *out);
/* The integer that a cell of the kind INTEGER is. False: the cell has too many digits. */
PGW_MUST_CHECK static inline bool rw_plain_integer(const rw_plain_cell *cell, int64_t *out)
{
    enum { SHORT_DIGITS = 18 /* So many fit into an int8. */ };
    if (cell->end - cell->start - cell->minus > SHORT_DIGITS)
        return false;
    *out = cell->minus ? -(int64_t)cell->number : (int64_t)cell->number;
    return true;
}

#endif
