/*
 * fields: how the data of a COPY is written, and a field of text or csv as PostgreSQL's COPY reads
 * it, escapes and quotes taken away.
 */
#ifndef PGW_COPY_FIELDS_H
#define PGW_COPY_FIELDS_H

#include "protocol/bytes.h"

typedef enum pgw_copy_format { PGW_COPY_TEXT, PGW_COPY_CSV, PGW_COPY_BINARY } pgw_copy_format;

typedef enum pgw_copy_header {
    PGW_COPY_NO_HEADER,
    PGW_COPY_HEADER,      /* The server skips the first line. */
    PGW_COPY_HEADER_MATCH /* The server compares it with the names of the columns. */
} pgw_copy_header;

/* How a column of csv takes the NULL string. */
typedef enum pgw_copy_force {
    PGW_COPY_FORCE_NOTHING,
    PGW_COPY_FORCE_NULL = 1 << 0,    /* It is NULL also in quotes. */
    PGW_COPY_FORCE_NOT_NULL = 1 << 1 /* It is no NULL without quotes. */
} pgw_copy_force;

/* A field of a row, as COPY would give it to the input function of its column's type. */
typedef struct pgw_copy_field {
    bool null;
    bool unknown; /* It is the marker of the column's default, or longer than PGW_COPY_KEY_MOST. */
    pgw_slice bytes;
} pgw_copy_field;

/* How the data is written. */
typedef struct pgw_copy_options {
    pgw_copy_format format;
    pgw_copy_header header;
    char delimiter, quote, escape;
    pgw_slice null;    /* the string that stands for NULL, as it is written in a field */
    pgw_slice marker;  /* the string that stands for a column's default; no pointer: there is none */
    bool csv_dot_ends; /* `\.` alone on a line of csv ends the data, as before PostgreSQL 18. */
    size_t columns;    /* of each of the client's rows */
    const uint16_t *wanted; /* for each column: which of the fields that are read it is, from 1; 0:
                               it is not read */
    const unsigned char *force; /* for each field that is read: pgw_copy_force */
    size_t wanted_count;
    pgw_slice added; /* the name of the added column, as a header line has it */
} pgw_copy_options;

/* Reads `raw` in place: the result is no longer, and lies in the same bytes. `force` is of csv. */
pgw_copy_field pgw_copy_field_text(const pgw_copy_options *options, char *raw, size_t len);
pgw_copy_field pgw_copy_field_csv(const pgw_copy_options *options, unsigned force, char *raw, size_t len);

#endif
