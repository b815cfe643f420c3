/*
 * word_deleted: texts with one word or byte left out, and with one twice. A judge says of each of
 * them what must hold, whatever the text is.
 *
 * With KEYSPREAD_FIFTH=N in the environment only each fifth text is judged, those from the Nth on.
 * With --all each text is printed with all that is made of it: scripts/compare-builds tells what
 * two builds make differently.
 */
#ifndef TEST_WORD_DELETED_H
#define TEST_WORD_DELETED_H

#include "protocol/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct word_deleted_span {
    size_t start, end;
} word_deleted_span;

/* Judges a text, and appends all that is made of it. */
typedef void word_deleted_judge(pgw_slice text, pgw_buf *out);

static bool word_deleted_all;         /* --all */
static size_t word_deleted_count;     /* texts that were judged */
static pgw_slice word_deleted_judged; /* the text that is judged at the moment */

/* Fails with the text that is judged, where the sentence is not true of it. */
static inline void word_deleted_holds(bool holds, const char *sentence)
{
    if (holds)
        return;
    fprintf(stderr, "not true: %s\n%.*s\n", sentence, (int)word_deleted_judged.len,
            word_deleted_judged.ptr);
    if (!word_deleted_all)
        fail();
}

/* With a zero behind it; empty if there is none. */
static inline char *word_deleted_read(const char *path)
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

/* Whether the text is one of those that are judged in this run. */
static inline bool word_deleted_is_drawn(void)
{
    const char *fifth = getenv("KEYSPREAD_FIFTH");
    return word_deleted_all || fifth == NULL ||
           word_deleted_count % 5 == strtoul(fifth, NULL, 10) % 5;
}

/* Nothing behind the text can be read. */
static inline void word_deleted_text(const pgw_buf *text, word_deleted_judge *judge)
{
    word_deleted_count++;
    if (!word_deleted_is_drawn())
        return;
    pgw_buf told = {0};
    pgw_slice whole = {malloc(text->len > 0 ? text->len : 1), text->len};
    if (text->len > 0)
        memcpy((char *)whole.ptr, text->ptr, text->len);
    word_deleted_judged = whole;
    judge(whole, &told);
    if (word_deleted_all) {
        printf("%zu %zu\n", text->len, told.len);
        fwrite(text->ptr, 1, text->len, stdout);
        fwrite(told.ptr, 1, told.len, stdout);
        putchar('\n');
    }
    free((char *)whole.ptr);
    pgw_buf_free(&told);
}

/* The text with a part of it once more, or without it; `between` comes in its place. */
static inline void word_deleted_variant(pgw_slice text, word_deleted_span part, bool twice,
                                        const char *between, word_deleted_judge *judge)
{
    pgw_buf variant = {0};
    size_t behind = twice ? part.start : part.end;
    pgw_buf_add(&variant, text.ptr, twice ? part.end : part.start);
    pgw_buf_add_str(&variant, between);
    pgw_buf_add(&variant, text.ptr + behind, text.len - behind);
    word_deleted_text(&variant, judge);
    pgw_buf_free(&variant);
}

/* The whole text, and with each byte left out, and twice. */
static inline void word_deleted_bytes(pgw_slice text, word_deleted_judge *judge)
{
    pgw_buf whole = {0};
    pgw_buf_add_slice(&whole, text);
    word_deleted_text(&whole, judge);
    for (size_t i = 0; i < text.len; i++)
        for (int twice = 0; twice < 2; twice++)
            word_deleted_variant(text, (word_deleted_span){i, i + 1}, twice, "", judge);
    pgw_buf_free(&whole);
}

/* The main function of a test of one function; the program's arguments decide what is printed. */
static inline int word_deleted_main(int argc, char **argv, CMUnitTestFunction test)
{
    const struct CMUnitTest tests[] = {
        {.name = "every text is judged", .test_func = test},
    };
    word_deleted_all = argc > 1 && strcmp(argv[1], "--all") == 0;
    if (!word_deleted_all)
        return cmocka_run_group_tests(tests, NULL, NULL);
    test(&(void *){NULL});
    return 0;
}

#endif
