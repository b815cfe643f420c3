/*
 * wire_vectors: reads the vector files of the codec's tests (a case a line, fields between tabs,
 * bytes as themselves, \xHH or \\), and writes bytes down the same way.
 */
#ifndef TESTS_WIRE_VECTORS_H
#define TESTS_WIRE_VECTORS_H

#include "protocol/bytes.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VECTOR_FIELDS = 8 };

/* A line; absent fields are "". */
typedef struct vector {
    const char *field[VECTOR_FIELDS];
    int line;
} vector;

static inline void vector_split(char *text, vector *out)
{
    text[strcspn(text, "\n")] = '\0';
    for (int i = 0; i < VECTOR_FIELDS; i++) {
        out->field[i] = text;
        text += strcspn(text, "\t");
        if (*text != '\0')
            *text++ = '\0';
    }
}

/* Calls `test` for each case of VECTORS/`name`, and returns how many there were. */
static inline int vectors_each(const char *name, void (*test)(const vector *, void *), void *data)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", VECTORS, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s cannot be opened", path);
    char *text = NULL;
    size_t cap = 0;
    int cases = 0;
    vector current = {.line = 0};
    while (getline(&text, &cap, file) >= 0) {
        current.line++;
        if (text[0] == '#' || text[0] == '\n')
            continue;
        vector_split(text, &current);
        test(&current, data);
        cases++;
    }
    free(text);
    fclose(file);
    return cases;
}

/* Bytes in a block of exactly their length, so that ASan sees every read past them. */
static inline pgw_slice exact(pgw_slice bytes)
{
    char *copy = malloc(bytes.len > 0 ? bytes.len : 1);
    assert_non_null(copy);
    if (bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    return (pgw_slice){copy, bytes.len};
}

static inline void exact_free(pgw_slice bytes)
{
    free((void *)bytes.ptr);
}

/* The bytes that a field stands for; freed by exact_free(). */
static inline pgw_slice vector_bytes(const char *field)
{
    pgw_buf out = {0};
    while (*field != '\0') {
        unsigned byte = (unsigned char)*field++;
        if (byte == '\\' && *field == 'x') {
            assert_int_equal(sscanf(field, "x%2x", &byte), 1);
            field += 3;
        } else if (byte == '\\') {
            byte = (unsigned char)*field++;
        }
        pgw_buf_add_byte(&out, (char)byte);
    }
    pgw_slice bytes = exact(pgw_slice_buf(&out));
    pgw_buf_free(&out);
    return bytes;
}

static inline void print_escaped(pgw_buf *out, pgw_slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char c = (unsigned char)bytes.ptr[i];
        if (c == '\\')
            pgw_buf_add_str(out, "\\\\");
        else if (c >= ' ' && c < 127)
            pgw_buf_add_byte(out, (char)c);
        else
            pgw_buf_addf(out, "\\x%02x", c);
    }
}

static inline void print_bracketed(pgw_buf *out, pgw_slice bytes)
{
    pgw_buf_add_byte(out, '[');
    print_escaped(out, bytes);
    pgw_buf_add_byte(out, ']');
}

/* Compares, shows both in full and names the line if they differ. */
static inline void check_text(const vector *v, const pgw_buf *got, const char *expected)
{
    if (!pgw_slice_eq_str(pgw_slice_buf(got), expected))
        fail_msg("line %d:\n  got      %.*s\n  expected %s", v->line, (int)got->len,
                 got->ptr ? got->ptr : "", expected);
}

static inline void check_bytes(const vector *v, pgw_slice got, pgw_slice expected)
{
    pgw_buf left = {0}, right = {0};
    print_escaped(&left, got);
    print_escaped(&right, expected);
    pgw_buf_add_byte(&right, '\0');
    check_text(v, &left, right.ptr);
    pgw_buf_free(&left);
    pgw_buf_free(&right);
}

#endif
