/*
 * fields: how the data of a COPY is written, and a field of text or csv as PostgreSQL's COPY reads
 * it, escapes and quotes taken away.
 */
#ifndef PGW_COPY_FIELDS_H
#define PGW_COPY_FIELDS_H

#include "protocol/error.h"

#include <string.h>

enum {
    PGW_COPY_KEY_MOST = 1 << 20, /* Bytes of the fields of one row that are kept to be read. */
    PGW_COPY_LINE_MOST =
        255 /* Bytes that a row is known to have; what it has more is not counted. */
};

typedef enum pgw_copy_format { PGW_COPY_TEXT, PGW_COPY_CSV, PGW_COPY_BINARY } pgw_copy_format;

typedef enum pgw_copy_header {
    PGW_COPY_NO_HEADER,
    PGW_COPY_HEADER,      /* The server skips the first line. */
    PGW_COPY_HEADER_MATCH /* The server compares it with the names of the columns. */
} pgw_copy_header;

/* How a column of csv takes the NULL string. */
typedef enum pgw_copy_force {
    PGW_COPY_FORCE_NOTHING,
    PGW_COPY_FORCE_NULL = 1 << 0,    /* The NULL string is NULL also in quotes. */
    PGW_COPY_FORCE_NOT_NULL = 1 << 1 /* The NULL string is no NULL without quotes. */
} pgw_copy_force;

/* Which bytes the characters beyond ASCII have, each of which begins with a byte beyond ASCII. */
typedef enum pgw_copy_characters {
    PGW_COPY_UTF8, /* All bytes are beyond ASCII, and the client sees them as it sent them. */
    PGW_COPY_BEYOND_ASCII, /* All bytes are beyond ASCII, too, and the client may see others. */
    PGW_COPY_PAIRS,        /* Two bytes, of which the second may be any, or two such pairs. */
    PGW_COPY_SJIS          /* Two such bytes, or one. */
} pgw_copy_characters;

/* A field of a row, as COPY would give it to the input function of its column's type. */
typedef struct pgw_copy_field {
    bool null;
    bool unknown; /* The field is the marker of the column's default, or longer than
                     PGW_COPY_KEY_MOST. */
    pgw_slice bytes;
} pgw_copy_field;

struct pgw_copy_chunk;

/* How the data is written. */
typedef struct pgw_copy_options {
    pgw_copy_format format;
    pgw_copy_header header;
    char delimiter, quote, escape;
    pgw_slice null;   /* The string that stands for NULL, as it is written in a field. */
    pgw_slice marker; /* The string that stands for a column's default; without a pointer there is
                         none. */
    pgw_copy_characters characters; /* Of text and csv; of fields that are read, bytes beyond ASCII
                                       count, and no others of such characters. */
    bool csv_dot_ends; /* `\.` alone on a line of csv ends the data, as before PostgreSQL 18. */
    bool every_row;    /* Rows of fewer or more fields than they should have are filled, too: no
                          server judges them. All columns are read, in their order. */
    size_t columns;    /* Each of the client's rows has so many fields. */
    const uint16_t *wanted; /* Each column has the number of its field among those that are read,
                               from 1, or 0 where it is not read. */
    const unsigned char *force; /* Each field that is read has its pgw_copy_force. */
    size_t wanted_count;        /* So many fields are read. */
    size_t added_count;         /* So many fields are added to each row; 0 counts as 1. */
    pgw_slice added;            /* The names of the added columns, as a header line has them. */
} pgw_copy_options;

/* Appends the added fields of a row to `out`: what stands there in text and csv, without anything
 * that would have to be escaped or quoted, delimiters between them; in binary each field with its
 * length. False: the only one is NULL, and nothing was appended. */
typedef bool pgw_copy_fill(void *context, const pgw_copy_field *fields, pgw_buf *out);

/* What PostgreSQL would refuse of how the data is cut, with its words. */
typedef struct pgw_copy_fault {
    const char *message, *hint; /* A hint that is empty is none. */
} pgw_copy_fault;

/* A COPY whose data is being cut into rows. */
typedef struct pgw_copy pgw_copy;

/* Passes rows of plain fields, from the beginning of one on; see plain.h. */
typedef void pgw_copy_pass(struct pgw_copy_chunk *in);

/* Whether a field is written as `string`, which is none if it has no pointer. */
static inline bool pgw_copy_is(pgw_slice string, pgw_slice raw)
{
    return string.len == raw.len && string.ptr != NULL && memcmp(string.ptr, raw.ptr, raw.len) == 0;
}

/* Reads a field of text or csv without a quote, an escape or a backslash in it; `force` is of
 * pgw_copy_force. */
__attribute__((cold)) void pgw_copy_field_plain(const pgw_copy_options *options, unsigned force,
                                                pgw_slice raw, pgw_copy_field *out);
/* Reads a field of text in place: the result lies in the bytes of `raw`. */
pgw_copy_field pgw_copy_field_text(const pgw_copy_options *options, char *raw, size_t len);
/* Reads a field of csv in place, too; `force` has flags of pgw_copy_force. */
pgw_copy_field pgw_copy_field_csv(const pgw_copy_options *options, unsigned force, char *raw,
                                  size_t len);

/* Whether PostgreSQL takes such a delimiter beside such a quote; else the error is filled (22023).
 */
PGW_MUST_CHECK bool pgw_copy_delimits(bool csv, char delimiter, char quote, pgw_error *error);

/* Whether a number as the added field could be read as anything else: as NULL, as the marker of a
 * default, as a delimiter or a quote. */
bool pgw_copy_confuses(const pgw_copy_options *options);

#endif
