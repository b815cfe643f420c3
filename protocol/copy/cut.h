/*
 * cut: what rows (text and csv) and tuples (binary) share while they cut the data of a COPY into
 * rows: the state between two pieces of the data, and the fields of the row at hand that are read.
 */
#ifndef PGW_COPY_CUT_H
#define PGW_COPY_CUT_H

#include "protocol/copy/fields.h"
#include "protocol/copy/scan.h"

typedef enum eol { EOL_UNKNOWN, EOL_NL, EOL_CR, EOL_CRNL } eol;

/* What binary data is about to say. */
typedef enum place {
    IN_SIGNATURE,
    IN_EXTENSION_LENGTH,
    IN_EXTENSION,
    IN_COUNT, /* How many fields a tuple has; -1 ends the data. */
    IN_LENGTH,
    IN_VALUE,
    IN_TRAILER /* It has ended, or is nothing that the server would take. */
} place;

enum {
    SIGNATURE = 15, /* bytes of the signature and the flags behind it */
    LINES = 65536   /* The lengths of this many lines are known, which are more than can be on their
                       way to the server. */
};

typedef struct binary {
    place place;
    unsigned char number[4]; /* The first `have` bytes of a number that came in parts. */
    size_t have;             /* How many bytes of `number` have come. */
    size_t left;   /* Bytes of the signature, extension or value that are still to come. */
    int32_t count; /* How many fields the tuple has. */
} binary;

struct pgw_copy {
    pgw_copy_scan scan; /* Newlines, carriage returns, delimiters, quotes and escapes. */
    const pgw_copy_options *options;
    pgw_copy_fill *fill;
    void *context;
    pgw_copy_pass *pass_rows; /* Passes rows of plain fields. */
    uint32_t *cuts;           /* Where those rows are cut (pgw_copy_cuts). */
    size_t *column_of;        /* The column, from 0, of each field that is read. */
    size_t column;            /* The field at hand is of this column, from 0. */
    size_t wanted;  /* The number, from 1, of the field at hand among those that are read; 0: it is
                       not. */
    uint64_t line;  /* The row at hand is on this line, from 1. */
    uint64_t rows;  /* So many rows have had their field added. */
    size_t header;  /* `out` was so long when the header's line had ended. */
    size_t len;     /* So many bytes of the row at hand were in earlier chunks. */
    bool ended;     /* The rest is no data. */
    bool marked;    /* A line of csv has said that the data ends. */
    bool backslash; /* The byte before was a backslash that says what this one means. */
    bool behind_cr; /* The byte before was a carriage return that ended a line. */
    bool quoted, escaped; /* The byte is inside of quotes; it stands behind an escape there. */
    eol eol;
    bool began; /* The first line has ended. */
    bool odd;   /* The row whose field is added has other than options->columns fields. */
    const pgw_copy_fault *wrong; /* The first that was found; NULL: none was. */
    binary binary;
    size_t beyond;          /* So many bytes of the row in earlier chunks were beyond ASCII; in UTF8
                               they are not counted. */
    pgw_buf masked;         /* The chunk with the later bytes of characters beyond ASCII. */
    bool later;             /* The next byte belongs to a character that has begun. */
    pgw_buf raw;            /* The bytes of the row's fields that are read. */
    size_t *begins, *ends;  /* Where each field that is read begins and ends in `raw`. */
    pgw_copy_field *fields; /* The fields that `fill` is given. */
    bool overlong;          /* `raw` lacks something. */
    unsigned char *lengths; /* Of the last LINES lines. */
};

/* A piece of the data while it is read. */
typedef struct pgw_copy_chunk {
    pgw_copy *copy;
    const char *at, *end;
    const char *begin, *bytes; /* Where the chunk begins; where its bytes are as they came, which
                                  are not those between `begin` and `end` if these are masked. */
    const char *row;           /* Where the row at hand begins, or the chunk if it began earlier. */
    const char *field; /* Where the field at hand begins, or the chunk if it began earlier. */
    const char *put;   /* All bytes before this one were appended to `out`. */
    pgw_buf *out;
} pgw_copy_chunk;

static inline void blame(pgw_copy *copy, const pgw_copy_fault *fault)
{
    if (copy->wrong == NULL)
        copy->wrong = fault;
}

/* Appends the bytes up to `to` to the output. */
static inline void put(pgw_copy_chunk *in, const char *to)
{
    pgw_buf_add(in->out, in->bytes + (in->put - in->begin), (size_t)(to - in->put));
    in->put = to;
}

/* --- the fields that are read --- */

/* Keeps bytes of the field at hand. */
static inline void keep(pgw_copy *copy, const char *bytes, size_t len)
{
    copy->overlong = copy->overlong || copy->raw.len + len > PGW_COPY_KEY_MOST;
    if (!copy->overlong)
        pgw_buf_add(&copy->raw, bytes, len);
}

static inline void begin_field(pgw_copy *copy)
{
    copy->wanted = copy->column < copy->options->columns ? copy->options->wanted[copy->column] : 0;
    if (copy->wanted > 0)
        copy->begins[copy->wanted - 1] = copy->raw.len;
}

static inline void end_field(pgw_copy *copy)
{
    if (copy->wanted > 0)
        copy->ends[copy->wanted - 1] = copy->raw.len;
    copy->column++;
}

/* The row at hand, of so many bytes, has ended. */
static inline void end_line_of(pgw_copy *copy, size_t bytes)
{
    copy->lengths[copy->line++ % LINES] =
        (unsigned char)(bytes < PGW_COPY_LINE_MOST ? bytes : PGW_COPY_LINE_MOST);
}

static inline void begin_row(pgw_copy *copy)
{
    copy->column = copy->len = copy->beyond = copy->raw.len = 0;
    copy->overlong = false;
    begin_field(copy);
}

#endif
