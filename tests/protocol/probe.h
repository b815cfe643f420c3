/*
 * probe: fields of a line, and bytes in hexadecimal, for programs that answer line by line.
 */
#ifndef TEST_PROBE_H
#define TEST_PROBE_H

#include "protocol/bytes.h"

#include <stdlib.h>
#include <string.h>

/* Cuts the line in place; returns how many there are. */
static inline size_t split(char *line, char separator, char **fields, size_t most)
{
    size_t count = 0;
    while (line != NULL && count < most) {
        fields[count++] = line;
        line = strchr(line, separator);
        if (line != NULL)
            *line++ = '\0';
    }
    return count;
}

/* None of what is no pair of digits, such as "-". */
static inline pgw_slice unhex(const char *hex, pgw_arena *arena)
{
    size_t length = strlen(hex) / 2;
    char *bytes = pgw_arena_alloc(arena, length + 1);
    for (size_t i = 0; i < length; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (char)strtol(pair, NULL, 16);
    }
    return (pgw_slice){bytes, length};
}

#endif
