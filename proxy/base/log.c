#include "proxy/base/log.h"

#include "protocol/printable.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Atomic cfg_log_level threshold = CFG_LOG_INFO;

void px_log_level(cfg_log_level level)
{
    atomic_store(&threshold, level);
}

/* Adds what one conversion of the format, between `%` and its letter, makes of the next argument:
 * those that px_log() names, and no others. */
static void add_argument(const char *spec, size_t len, va_list *args, pgw_buf *value)
{
    char copy[8];
    snprintf(copy, sizeof copy, "%.*s", (int)len, spec);
    if (strcmp(copy, "%s") == 0)
        pgw_buf_add_slice(value, pgw_slice_str(va_arg(*args, const char *)));
    else if (strcmp(copy, "%u") == 0)
        pgw_buf_addf(value, "%u", va_arg(*args, unsigned));
    else if (strcmp(copy, "%d") == 0)
        pgw_buf_addf(value, "%d", va_arg(*args, int));
    else if (strcmp(copy, "%zu") == 0)
        pgw_buf_addf(value, "%zu", va_arg(*args, size_t));
    else if (strcmp(copy, "%lu") == 0)
        pgw_buf_addf(value, "%lu", va_arg(*args, unsigned long));
    else if (strcmp(copy, "%llu") == 0)
        pgw_buf_addf(value, "%llu", va_arg(*args, unsigned long long));
    else if (strcmp(copy, "%ld") == 0)
        pgw_buf_addf(value, "%ld", va_arg(*args, long));
    else if (strcmp(copy, "%.1f") == 0)
        pgw_buf_addf(value, "%.1f", va_arg(*args, double));
    else
        abort(); /* a mistake in the format, which the first such line shows */
}

/* Adds one `key=…` of the format, up to the blank behind it: nothing in its value can end it. */
static const char *add_field(const char *format, va_list *args, pgw_buf *line)
{
    size_t key = strcspn(format, "=") + 1;
    pgw_buf_add(line, format, key);
    format += key;
    pgw_buf value = {0};
    while (*format != '\0' && *format != ' ') {
        size_t len = *format == '%' ? strcspn(format, "sudf") + 1 : 1;
        if (*format == '%')
            add_argument(format, len, args, &value);
        else
            pgw_buf_add_byte(&value, *format);
        format += len;
    }
    pgw_add_logfmt(pgw_slice_buf(&value), line);
    pgw_buf_free(&value);
    return format;
}

static void add_time(pgw_buf *line)
{
    struct timespec now;
    struct tm utc;
    char date[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    pgw_buf_addf(line, "time=%s.%03ldZ", date, now.tv_nsec / 1000000);
}

void px_log(cfg_log_level level, const char *event, const char *format, ...)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    if (level > atomic_load(&threshold))
        return;
    pgw_buf line = {0};
    add_time(&line);
    pgw_buf_addf(&line, " level=%s event=%s", names[level], event);
    va_list args;
    va_start(args, format);
    while (*format != '\0') {
        pgw_buf_add_byte(&line, ' ');
        format = add_field(format + strspn(format, " "), &args, &line);
    }
    va_end(args);
    pgw_buf_add_byte(&line, '\n');
    ssize_t written = write(STDERR_FILENO, line.ptr, line.len);
    (void)written; /* a failed write cannot be reported anywhere else */
    pgw_buf_free(&line);
}
