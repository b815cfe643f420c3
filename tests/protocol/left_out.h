/*
 * left_out: texts with one word or byte left out, and with one twice, and what is made of each:
 * two letters a text stand for all of it, so that nothing changes unseen. What is right is the
 * other tests' matter.
 *
 * A file of them has a line a text: its name, and the letters of the whole, then for each word of
 * it left out, and twice. With --again it is written anew; with --all each text and what is made of
 * it is printed, for a diff.
 */
#ifndef TEST_LEFT_OUT_H
#define TEST_LEFT_OUT_H

#include "protocol/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT_OUT_LETTERS = 2 };

typedef struct left_out_span {
    size_t start, end;
} left_out_span;

/* Appends all that is made of the text. */
typedef void left_out_describe(pgw_slice text, pgw_buf *out);

/* With a zero behind it; empty if there is none. */
static inline char *left_out_read(const char *path)
{
    pgw_buf text = {0};
    char part[4096];
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        for (size_t len; (len = fread(part, 1, sizeof part, file)) > 0;)
            pgw_buf_add(&text, part, len);
        fclose(file);
    }
    pgw_buf_add_byte(&text, '\0');
    return text.ptr;
}

/* FNV-1a, of which a few letters are told. */
static inline void left_out_letters(const pgw_buf *told, pgw_buf *out)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < told->len; i++)
        hash = (hash ^ (unsigned char)told->ptr[i]) * UINT64_C(0x100000001b3);
    pgw_buf_add_byte(out, ' ');
    for (size_t i = 0; i < LEFT_OUT_LETTERS; i++, hash >>= 5)
        pgw_buf_add_byte(out, "abcdefghijklmnopqrstuvwxyz234567"[(hash ^ hash >> 32) & 31]);
}

static bool left_out_all; /* --all */

static inline void left_out_text(const pgw_buf *text, left_out_describe *describe, pgw_buf *line)
{
    pgw_buf told = {0};
    pgw_slice whole = {malloc(text->len + 1), text->len}; /* nothing behind it is read */
    if (text->len > 0)
        memcpy((char *)whole.ptr, text->ptr, text->len);
    describe(whole, &told);
    left_out_letters(&told, line);
    if (left_out_all)
        printf("%.*s\n%.*s===\n", (int)text->len, text->ptr, (int)told.len, told.ptr);
    free((char *)whole.ptr);
    pgw_buf_free(&told);
}

/* The text with a part of it once more, or without it; `between` comes in its place. */
static inline void left_out_variant(pgw_slice text, left_out_span part, bool twice,
                                    const char *between, left_out_describe *describe, pgw_buf *line)
{
    pgw_buf variant = {0};
    size_t behind = twice ? part.start : part.end;
    pgw_buf_add(&variant, text.ptr, twice ? part.end : part.start);
    pgw_buf_add_str(&variant, between);
    pgw_buf_add(&variant, text.ptr + behind, text.len - behind);
    left_out_text(&variant, describe, line);
    pgw_buf_free(&variant);
}

/* With each byte left out, and twice. */
static inline void left_out_bytes(pgw_slice text, left_out_describe *describe, pgw_buf *line)
{
    pgw_buf whole = {0};
    pgw_buf_add_slice(&whole, text);
    left_out_text(&whole, describe, line);
    for (size_t i = 0; i < text.len; i++)
        for (int twice = 0; twice < 2; twice++)
            left_out_variant(text, (left_out_span){i, i + 1}, twice, "", describe, line);
    pgw_buf_free(&whole);
}

/* Whether the file has what `all` makes; tells of some lines that are other. */
static inline bool left_out_same(const char *path, char *(*all)(void))
{
    size_t wrong = 0, lines = 0;
    char *got = all(), *wanted = left_out_read(path), *rest[2];
    char *a = strtok_r(got, "\n", &rest[0]), *b = strtok_r(wanted, "\n", &rest[1]);
    for (; a != NULL && b != NULL; lines++) {
        if (strcmp(a, b) != 0 && ++wrong < 10)
            fprintf(stderr, "wanted %s\n   got %s\n", b, a);
        a = strtok_r(NULL, "\n", &rest[0]);
        b = strtok_r(NULL, "\n", &rest[1]);
    }
    bool same = a == NULL && b == NULL && lines > 0 && wrong == 0;
    free(got);
    free(wanted);
    return same;
}

/* Of a program that was started with --again or --all. */
static inline bool left_out_asked(int argc, char **argv, char *(*all)(void))
{
    if (argc < 2)
        return false;
    left_out_all = strcmp(argv[1], "--all") == 0;
    char *letters = all();
    if (!left_out_all)
        fputs(letters, stdout);
    free(letters);
    return true;
}

#endif
