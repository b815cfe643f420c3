/*
 * fuzz_session: statements about settings, a line each, and ends of transactions between them.
 * Whatever they say: what is shown can be set again and is shown the same, a rollback undoes, and
 * memory stays within its bounds.
 */
#include "ydb/plain/session.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 4096, MOST = 20000 };

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* What SHOW says is a value that SET takes, and says again. */
static void check_shown(rw_variables *variables, pgw_slice name)
{
    pgw_error error;
    pgw_slice value, again;
    if (!rw_variables_get(variables, name, &value))
        return;
    char *copy = pgw_strndup(value.ptr, value.len);
    if (rw_variables_set(variables, name, (pgw_slice){copy, value.len}, false, &error)) {
        require(rw_variables_get(variables, name, &again));
        require(pgw_slice_eq_str(again, copy));
    } else {
        require(pgw_error_is(&error, "55P02") || pgw_error_is(&error, "53200"));
    }
    free(copy);
}

static void check_rows(const rw_said *said)
{
    for (size_t i = 0; i < said->rows * said->width; i++)
        require(said->cells[i].ptr != NULL || said->cells[i].len == 0);
}

static void say(rw_variables *variables, pgw_slice text)
{
    pgw_arena arena = {0};
    pgw_error error;
    pgw_reading reading = {&env, &arena, &error};
    rw_said said;
    bool selects = rw_session_selects(text, &reading);
    if (rw_session_describe(variables, text, &reading, &said))
        require(!selects || said.columns.len > 2);
    if (rw_session_run(variables, text, text.len % 2 == 0, &reading, &said))
        check_rows(&said);
    pgw_arena_free(&arena);
}

static void take_line(rw_variables *variables, pgw_slice line)
{
    if (pgw_slice_eq_str(line, "commit"))
        rw_variables_commit(variables);
    else if (pgw_slice_eq_str(line, "rollback"))
        rw_variables_rollback(variables);
    else if (line.len > 1 && line.ptr[0] == '?')
        check_shown(variables, (pgw_slice){line.ptr + 1, line.len - 1});
    else if (line.len > 0 && memchr(line.ptr, '\0', line.len) == NULL)
        say(variables, line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rw_variables *variables = rw_variables_new(LIMIT);
    const char *at = (const char *)data, *end = at + (size < MOST ? size : MOST);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        take_line(variables, (pgw_slice){at, (size_t)(stop - at)});
        at = stop + 1;
    }
    pgw_slice name, value;
    for (size_t told = 0; rw_variables_report(variables, &name, &value); told++)
        require(told < 100);
    rw_variables_free(variables);
    return 0;
}
