/*
 * lines: reading vectors: a case a line, fields between tabs, # comments, <NL> for a newline.
 */
#ifndef TEST_LINES_H
#define TEST_LINES_H

#include <stdio.h>
#include <string.h>

enum { MAX_FIELDS = 4, MAX_LINE = 8192 };

typedef struct test_lines {
    FILE *file;
    int number;
    char line[MAX_LINE];
    char *fields[MAX_FIELDS];
    int count;
} test_lines;

static inline void test_unescape(char *text)
{
    for (char *mark; (mark = strstr(text, "<NL>")) != NULL;) {
        *mark = '\n';
        memmove(mark + 1, mark + 4, strlen(mark + 4) + 1);
    }
}

/* The next case, cut into fields; false at the end of the file, which is then closed. */
static inline bool test_next_line(test_lines *lines)
{
    while (fgets(lines->line, sizeof lines->line, lines->file) != NULL) {
        lines->number++;
        lines->line[strcspn(lines->line, "\n")] = '\0';
        if (lines->line[0] == '\0' || lines->line[0] == '#')
            continue;
        lines->count = 0;
        for (char *at = lines->line; at != NULL && lines->count < MAX_FIELDS;) {
            char *field = strsep(&at, "\t");
            lines->fields[lines->count++] = field;
        }
        for (int i = 0; i < lines->count; i++)
            test_unescape(lines->fields[i]);
        return true;
    }
    fclose(lines->file);
    return false;
}

#endif
