/*
 * logged: what is written to stderr meanwhile, as text: setup and teardown of a test, and a look at
 * the lines since the last one.
 */
#ifndef TEST_LOGGED_H
#define TEST_LOGGED_H

#include "proxy/base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    FILE *file;
    int stderr_before;
    char text[4096];
} log_test;

static inline int redirect_log(void **state)
{
    (void)state;
    log_test.file = tmpfile();
    log_test.stderr_before = dup(STDERR_FILENO);
    dup2(fileno(log_test.file), STDERR_FILENO);
    return 0;
}

static inline int restore_log(void **state)
{
    (void)state;
    px_log_level(CFG_LOG_INFO);
    dup2(log_test.stderr_before, STDERR_FILENO);
    close(log_test.stderr_before);
    fclose(log_test.file);
    return 0;
}

/* What was logged since the last call. */
static inline char *logged(void)
{
    ssize_t len = pread(fileno(log_test.file), log_test.text, sizeof log_test.text - 1, 0);
    log_test.text[len > 0 ? len : 0] = '\0';
    if (ftruncate(fileno(log_test.file), 0) != 0)
        abort();
    lseek(STDERR_FILENO, 0, SEEK_SET);
    return log_test.text;
}

/* … of one line, without its time. */
static inline const char *logged_line(void)
{
    char *text = logged(), *line = strchr(text, ' ');
    return line != NULL && strchr(line, '\n') == line + strlen(line) - 1 ? line + 1 : text;
}

#endif
