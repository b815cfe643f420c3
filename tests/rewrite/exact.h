/*
 * exact: a text at the very end of its memory, so that AddressSanitizer sees a read behind it. It
 * lives until some more were asked for.
 */
#ifndef TEST_EXACT_H
#define TEST_EXACT_H

#include "protocol/bytes.h"

#include <stdlib.h>
#include <string.h>

static inline pgw_slice exact(const char *text)
{
    enum { KEPT = 16 };
    static char *kept[KEPT];
    static unsigned next;
    size_t len = strlen(text);
    char **at = &kept[next++ % KEPT];
    free(*at);
    *at = malloc(len > 0 ? len : 1);
    memcpy(*at, text, len);
    return (pgw_slice){*at, len};
}

#endif
