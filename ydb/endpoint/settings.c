#include "ydb/endpoint/settings.h"

#include "protocol/backend.h"
#include "proxy/backend/base/greeting.h"

#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 64 * 1024 };

/* The next word of options that pgw_options_add() wrote: a backslash takes what follows as it is.
 */
static bool next_word(const char **at, pgw_buf *word)
{
    pgw_buf_clear(word);
    *at += strspn(*at, " ");
    if (**at == '\0')
        return false;
    for (; **at != '\0' && **at != ' '; ++*at) {
        if (**at == '\\' && (*at)[1] != '\0')
            ++*at;
        pgw_buf_add_byte(word, **at);
    }
    return true;
}

static bool start(rw_variables *variables, pgw_slice setting, pgw_error *error)
{
    const char *equals = memchr(setting.ptr, '=', setting.len);
    if (equals == NULL)
        return true; /* switches such as -F are for a server's process: ignored */
    pgw_slice name = {setting.ptr, (size_t)(equals - setting.ptr)};
    pgw_slice value = {equals + 1, setting.len - name.len - 1};
    return rw_variables_start(variables, name, value, error);
}

/* Starts the settings of options such as "-c name=value -c name=value". */
static bool start_all(rw_variables *variables, const char *options, pgw_error *error)
{
    pgw_buf word = {0};
    bool fine = true;
    while (fine && next_word(&options, &word))
        if (!pgw_slice_eq_str(pgw_slice_buf(&word), "-c"))
            fine = start(variables, pgw_slice_buf(&word), error);
    pgw_buf_free(&word);
    return fine;
}

/* Defines server_version, and server_version_num as PostgreSQL has it since 10: 14.5 is 140005. */
static void define_version(rw_variables *variables, const char *version)
{
    char number[32];
    unsigned major = 0, minor = 0;
    rw_variables_define(variables, "server_version", pgw_slice_str(version));
    if (sscanf(version, "%4u.%4u", &major, &minor) < 1)
        return;
    snprintf(number, sizeof number, "%u", major * 10000 + minor);
    rw_variables_define(variables, "server_version_num", pgw_slice_str(number));
}

rw_variables *px_ydb_settings_new(const px_link *link, const char *server_version, pgw_error *error)
{
    const px_identity *identity = link->identity;
    bool own = link->role == PX_LINK_SESSION;
    rw_variables *variables = rw_variables_new(MOST_BYTES);
    pgw_buf application = {0};
    px_greeting_clean(pgw_slice_str(identity->application), server_version, &application);
    define_version(variables, server_version);
    rw_variables_define(variables, "session_authorization", pgw_slice_str(identity->user));
    bool fine = start_all(variables, own ? identity->options : identity->shared, error) &&
                rw_variables_start(variables, PGW_LITERAL("application_name"),
                                   pgw_slice_buf(&application), error);
    pgw_buf_free(&application);
    if (fine)
        return variables;
    rw_variables_free(variables);
    return NULL;
}

void px_ydb_settings_report(rw_variables *variables, pgw_buf *out)
{
    pgw_slice name, value;
    while (rw_variables_report(variables, &name, &value))
        pgw_write_parameter_status(name, value, out);
}
