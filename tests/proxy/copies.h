/*
 * copies: how often keyspread copies a row on its way, in a conversation: what is written "row A"
 * to "row Z" is looked for in all that it copies while it runs. (The program is linked so that it
 * calls these.)
 */
#ifndef TEST_COPIES_H
#define TEST_COPIES_H

#include "tests/proxy/parties.h"

#include <ctype.h>

#define COPIES_MARK "row "

static unsigned copies_of[26];

static void copies_count(const char *from, size_t len)
{
    const char *end = from + len, *at = from;
    const size_t mark = strlen(COPIES_MARK);
    while (here.running && len > mark &&
           (at = memmem(at, (size_t)(end - at), COPIES_MARK, mark)) != NULL) {
        at += mark;
        if (at < end && *at >= 'A' && *at <= 'Z' && (at + 1 == end || !isalpha((unsigned char)at[1])))
            copies_of[*at - 'A']++;
    }
}

/* Where they are not called so, they are not there. */
#define COPIES_OF(name)                                                                            \
    __attribute__((weak)) void *__real_##name(void *to, const void *from, size_t len);             \
    void *__wrap_##name(void *to, const void *from, size_t len);                                   \
    void *__wrap_##name(void *to, const void *from, size_t len)                                    \
    {                                                                                              \
        copies_count(from, len);                                                                   \
        return __real_##name(to, from, len);                                                       \
    }

COPIES_OF(memcpy)
COPIES_OF(__asan_memcpy)
COPIES_OF(__tsan_memcpy)

static void copies_begin(void)
{
    memset(copies_of, 0, sizeof copies_of);
}

static void copies_print(pgw_buf *out)
{
    for (size_t i = 0; i < sizeof copies_of / sizeof *copies_of; i++)
        if (copies_of[i] > 0)
            pgw_buf_addf(out, "= " COPIES_MARK "%c is copied %u times\n", (char)('A' + i),
                         copies_of[i]);
}

#endif
