/*
 * vectors: text files of test cases, a case a line, its fields between bars; # begins a comment.
 */
#ifndef TEST_VECTORS_H
#define TEST_VECTORS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { VECTOR_LINE = 8192, VECTOR_FIELDS = 8 };

typedef struct vectors {
    FILE *file;
    int line; /* of the case at hand */
    char text[VECTOR_LINE];
    char *field[VECTOR_FIELDS];
} vectors;

/* \n becomes a line break. */
static inline void vectors_unescape(char *text)
{
    char *to = text;
    for (char *from = text; *from != '\0'; from++)
        if (from[0] == '\\' && from[1] == 'n') {
            *to++ = '\n';
            from++;
        } else {
            *to++ = *from;
        }
    *to = '\0';
}

/* The next case of `fields` fields, the last of which may hold bars. False at the end. */
static inline bool vectors_next(vectors *it, int fields)
{
    while (fgets(it->text, sizeof it->text, it->file) != NULL) {
        it->line++;
        it->text[strcspn(it->text, "\n")] = '\0';
        if (it->text[0] == '#' || it->text[0] == '\0')
            continue;
        char *at = it->text;
        for (int i = 0; i < fields; i++) {
            it->field[i] = at;
            char *bar = i + 1 < fields ? strchr(at, '|') : NULL;
            if (bar == NULL && i + 1 < fields)
                return false;
            if (bar != NULL) {
                *bar = '\0';
                at = bar + 1;
            }
        }
        vectors_unescape(it->field[fields - 1]);
        return true;
    }
    return false;
}

#endif
