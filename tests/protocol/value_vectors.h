/*
 * value_vectors: what the tests of values, literals and hashes share: reading tests/vectors files
 * (a case a line, fields parted by '|', \xHH for bytes that would be in the way) and writing a
 * value, or why there is none, as these files do:
 *   =text  known      ?  unknowable      !SQLSTATE message  refused
 */
#ifndef VALUE_VECTORS_H
#define VALUE_VECTORS_H

#include "protocol/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTOR_FIELDS = 10 };

typedef struct vector_line {
    const char *file;
    unsigned number;
    char *text; /* cut into the fields */
    pgw_slice fields[VECTOR_FIELDS];
    size_t count;
} vector_line;

static inline int vector_hex(char c)
{
    return c >= 'a' ? c - 'a' + 10 : c - '0';
}

/* Cuts and unescapes in place. */
static inline void vector_cut(vector_line *line)
{
    char *read = line->text, *write = line->text;
    line->count = 0;
    for (;;) {
        pgw_slice *field = &line->fields[line->count++];
        char *start = write;
        while (*read != '\0' && *read != '\n' && *read != '|') {
            if (read[0] == '\\' && read[1] == 'x') {
                *write++ = (char)(vector_hex(read[2]) << 4 | vector_hex(read[3]));
                read += 4;
            } else {
                *write++ = *read++;
            }
        }
        *field = (pgw_slice){start, (size_t)(write - start)};
        if (*read != '|' || line->count == VECTOR_FIELDS)
            return;
        read++;
        write = read;
    }
}

/* Each field at the very end of its memory, so that a read behind it is seen. */
static inline void vector_keep(vector_line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        size_t len = line->fields[i].len;
        char *copy = malloc(len > 0 ? len : 1);
        memcpy(copy, line->fields[i].ptr, len);
        line->fields[i].ptr = copy;
    }
}

static inline void vector_forget(vector_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        free((char *)line->fields[i].ptr);
}

/* Calls `check` for each case of tests/vectors/`name`; returns how many there were. */
static inline unsigned vector_each(const char *path, void (*check)(const vector_line *line))
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t room = 0;
    unsigned cases = 0;
    vector_line line = {.file = path};
    if (file == NULL)
        return 0;
    while (getline(&text, &room, file) >= 0) {
        line.number++;
        if (text[0] == '#' || text[0] == '\n')
            continue;
        line.text = text;
        vector_cut(&line);
        vector_keep(&line);
        check(&line);
        vector_forget(&line);
        cases++;
    }
    free(text);
    fclose(file);
    return cases;
}

static inline int64_t vector_number(pgw_slice field)
{
    char digits[32] = "";
    memcpy(digits, field.ptr, field.len < 31 ? field.len : 31);
    return digits[0] == '-' ? strtoll(digits, NULL, 0) : (int64_t)strtoull(digits, NULL, 0);
}

static inline void vector_add_hex(pgw_slice bytes, pgw_buf *out)
{
    for (size_t i = 0; i < bytes.len; i++)
        pgw_buf_addf(out, "%02x", (unsigned char)bytes.ptr[i]);
}

static inline void vector_add_value(const pgw_value *value, pgw_buf *out)
{
    pgw_buf_add_byte(out, '=');
    if (value->null) {
        pgw_buf_add_str(out, "NULL");
        return;
    }
    switch (value->type) {
    case PGW_BYTEA:
    case PGW_UUID:
        vector_add_hex(value->as.bytes, out);
        return;
    case PGW_FLOAT4:
    case PGW_FLOAT8:
        pgw_buf_addf(out, "%.17g", value->as.real);
        return;
    case PGW_TEXT:
    case PGW_VARCHAR:
    case PGW_BPCHAR:
    case PGW_NAME:
    case PGW_UNKNOWN:
    case PGW_NUMERIC:
        pgw_buf_add_slice(out, value->as.bytes);
        return;
    default:
        pgw_buf_addf(out, "%lld", (long long)value->as.integer);
    }
}

static inline void vector_add_outcome(pgw_verdict verdict, const pgw_value *value,
                                      const pgw_error *error, pgw_buf *out)
{
    if (verdict == PGW_KNOWN)
        vector_add_value(value, out);
    else if (verdict == PGW_UNKNOWABLE)
        pgw_buf_add_byte(out, '?');
    else
        pgw_buf_addf(out, "!%s %s%s%s%s%s", error->sqlstate, error->message,
                     error->detail[0] != '\0' ? " DETAIL " : "", error->detail,
                     error->hint[0] != '\0' ? " HINT " : "", error->hint);
}

/* Prints both sides and returns false if they differ. */
static inline bool vector_same(const vector_line *line, pgw_slice wanted, const pgw_buf *got)
{
    if (pgw_slice_eq(wanted, pgw_slice_buf(got)))
        return true;
    fprintf(stderr, "%s:%u: wanted %.*s\n  got %.*s\n", line->file, line->number, (int)wanted.len,
            wanted.ptr, (int)got->len, got->ptr != NULL ? got->ptr : "");
    return false;
}

#endif
