#include "proxy/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Atomic cfg_log_level threshold = CFG_LOG_INFO;

void px_log_level(cfg_log_level level)
{
    atomic_store(&threshold, level);
}

void px_log(cfg_log_level level, const char *event, const char *format, ...)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    if (level > atomic_load(&threshold))
        return;
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    char line[1024];
    size_t len = strftime(line, sizeof line, "time=%Y-%m-%dT%H:%M:%S", &utc);
    len += (size_t)snprintf(line + len, sizeof line - len, ".%03ldZ level=%s event=%s ",
                            now.tv_nsec / 1000000, names[level], event);
    va_list args;
    va_start(args, format);
    int more = vsnprintf(line + len, sizeof line - len, format, args);
    va_end(args);
    len = more < 0 ? len : len + (size_t)more;
    if (len > sizeof line - 1)
        len = sizeof line - 1;
    while (len > 0 && line[len - 1] == ' ')
        len--;
    line[len++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, len);
    (void)written; /* there is nowhere else to complain */
}
