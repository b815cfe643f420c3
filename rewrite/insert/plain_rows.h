/*
 * plain_rows: the rows of an INSERT … VALUES whose cells are plain constants, found without the
 * parser, which reads them alike. Texts that are equal up to the first row and behind the last one
 * differ in constants alone.
 */
#ifndef RW_PLAIN_ROWS_H
#define RW_PLAIN_ROWS_H

#include "protocol/value_time.h"
#include "rewrite/hash/literal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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
    bool doubled; /* A quote stands in the string twice, for one. */
    bool known;   /* `number` is the value of an INTEGER, or of a timestamptz. */
    int64_t number;
} rw_plain_cell;

/* A reading of one text, row by row. */
typedef struct rw_plain_rows {
    pgw_slice text;
    size_t values;      /* Offset behind the word VALUES. */
    size_t open, close; /* Offsets of the parentheses of the row that was read last. */
    size_t next;        /* Offset where the next row is to begin, if there is one. */
    bool more;          /* A comma follows the row that was read last, and so another row. */
    bool defaults;      /* There is a DEFAULT in the row that was read last. */
    pgw_day day;        /* The day of the last timestamptz. */
    size_t cell_count;
    rw_plain_cell cells[RW_PLAIN_CELLS]; /* Cells of the row that was read last. */
} rw_plain_rows;

/* What stands before a cell: all that is written between what the cell and the one before it hold.
 * Quotes are part of it. */
typedef struct rw_plain_gap {
    uint64_t bytes, mask; /* Eight bytes, and which of them are the gap's. */
    uint8_t len;
    uint8_t before; /* An rw_plain_before. */
} rw_plain_gap;

/* What follows a gap. */
typedef enum rw_plain_before {
    RW_PLAIN_BEFORE_NUMBER,
    RW_PLAIN_BEFORE_STRING,
    RW_PLAIN_BEFORE_TIME, /* A string that is mostly a timestamptz. */
    RW_PLAIN_BEFORE_ROW   /* The next row. */
} rw_plain_before;

enum {
    RW_PLAIN_QUICK = 32, /* Rows of more cells are not read by their gaps. */
    RW_PLAIN_AHEAD = 32  /* A gap and what is read at once behind it have at most so many bytes. */
};

/* How many cells a row has, and which of them are DEFAULT; and how rows are written that follow
 * each other, if these are of strings and numbers and there is little between them. */
typedef struct rw_plain_pattern {
    size_t cells;
    bool any; /* Some cells are DEFAULT. */
    uint64_t defaults[RW_PLAIN_CELLS / 64];
    bool quick;        /* Rows can be read by the gaps (quick_rows.h). */
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
/* Has strings in this cell, by its place in a row, read as timestamptz where they can be. */
void rw_plain_expect_time(rw_plain_pattern *pattern, size_t cell);
/* Reads the next row, byte by byte. False: the row is not plain, or has another pattern. */
PGW_MUST_CHECK bool rw_plain_next_like(rw_plain_rows *rows, const rw_plain_pattern *pattern);
enum { RW_PLAIN_AT_ONCE = 16 /* Bytes of a string that are looked at together. */ };

/* Which of the RW_PLAIN_AT_ONCE bytes from `at` on are quotes or backslashes: the first byte is the
 * lowest bit. */
static inline unsigned rw_plain_marks(const char *at)
{
#ifdef __SSE2__
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\''));
    __m128i backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(quotes, backslashes));
#else
    unsigned marks = 0;
    for (unsigned i = 0; i < RW_PLAIN_AT_ONCE; i++)
        marks |= (unsigned)(at[i] == '\'' || at[i] == '\\') << i;
    return marks;
#endif
}

/* The place of the next quote or backslash, or `end`, before which there are at least
 * RW_PLAIN_AT_ONCE bytes of text. */
const char *rw_plain_mark(const char *at, const char *end);
/* Reads a number. Returns the place behind it; NULL: there is none. */
const char *rw_plain_number(const rw_plain_rows *rows, const char *at, rw_plain_cell *cell);
/* The text behind the row that was read last. */
pgw_slice rw_plain_tail(const rw_plain_rows *rows);
/* Writes the text up to the end of its first row, which was read last, without the constants; if it
 * is the only row, with the blanks between them. Returns the shape's length; 0: it is longer than
 * `room`. */
size_t rw_plain_shape(const rw_plain_rows *rows, char *out, size_t room);
/* The cell as the parser would have it. `arena` gives memory where a quote is doubled. */
void rw_plain_read(pgw_slice text, const rw_plain_cell *cell, pgw_arena *arena, rw_cell *out);

#endif
