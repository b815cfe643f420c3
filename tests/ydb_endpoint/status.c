#include "tests/ydb_endpoint/status.h"

#include "protocol/frontend.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int code; /* of the issue of one that was ordered */
    const char *issue;
} statuses[YE_STATUSES] = {
    [YE_SUCCESS] = {"SUCCESS", 0, ""},
    [YE_BAD_REQUEST] = {"BAD_REQUEST", 0, "Bad request"},
    [YE_UNAUTHORIZED] = {"UNAUTHORIZED", 2018, "Access denied"},
    [YE_INTERNAL_ERROR] = {"INTERNAL_ERROR", 0, "Internal error"},
    [YE_ABORTED] = {"ABORTED", 2001, "Transaction locks invalidated."},
    [YE_UNAVAILABLE] = {"UNAVAILABLE", 2005,
                        "Kikimr cluster or one of its subsystems was unavailable."},
    [YE_OVERLOADED] = {"OVERLOADED", 2006, "Pending previous query completion"},
    [YE_SCHEME_ERROR] = {"SCHEME_ERROR", 2003, "Scheme error"},
    [YE_GENERIC_ERROR] = {"GENERIC_ERROR", 0, "Generic error"},
    [YE_TIMEOUT] = {"TIMEOUT", 0, "Request timeout"},
    [YE_BAD_SESSION] = {"BAD_SESSION", 0, "Session not found"},
    [YE_PRECONDITION_FAILED] = {"PRECONDITION_FAILED", 2012, "Constraint violated."},
    [YE_NOT_FOUND] = {"NOT_FOUND", 2015, "Transaction not found"},
    [YE_SESSION_EXPIRED] = {"SESSION_EXPIRED", 0, "Session is under shutdown"},
    [YE_CANCELLED] = {"CANCELLED", 0, "Request was cancelled"},
    [YE_UNDETERMINED] = {"UNDETERMINED", 2026, "State of operation is unknown."},
    [YE_SESSION_BUSY] = {"SESSION_BUSY", 0, "Session is busy"},
};

/* What becomes of PostgreSQL's SQLSTATEs, the longest prefix first (the table of 1.7 read from
 * right to left). `issue` NULL: PostgreSQL's own words. */
static const struct {
    const char *prefix;
    ye_status status;
    int code;
    const char *issue;
} states[] = {
    {"23505", YE_PRECONDITION_FAILED, 2012, "Conflict with existing key."},
    {"23502", YE_BAD_REQUEST, 2031, NULL},
    {"23", YE_PRECONDITION_FAILED, 2012, NULL},
    {"40001", YE_ABORTED, 2001, "Transaction locks invalidated."},
    {"40P01", YE_ABORTED, 2001, "Transaction locks invalidated."},
    {"42501", YE_UNAUTHORIZED, 2018, NULL},
    {"42P07", YE_SCHEME_ERROR, 2003, NULL},
    {"42", YE_GENERIC_ERROR, 0, NULL},
    {"22", YE_PRECONDITION_FAILED, 0, NULL},
    {"53", YE_OVERLOADED, 2006, NULL},
    {"55P03", YE_OVERLOADED, 2006, NULL},
    {"57014", YE_CANCELLED, 0, NULL},
    {"57P", YE_UNAVAILABLE, 2005, NULL},
    {"08", YE_UNAVAILABLE, 2005, NULL},
    {"", YE_GENERIC_ERROR, 0, NULL},
};

const char *ye_status_name(ye_status status)
{
    return statuses[status].name;
}

ye_status ye_status_named(const char *name)
{
    for (int i = 1; i < YE_STATUSES; i++)
        if (strcmp(statuses[i].name, name) == 0)
            return (ye_status)i;
    return YE_SUCCESS;
}

bool ye_fail(ye_failure *failure, ye_status status, int code, const char *format, ...)
{
    char text[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    failure->status = status;
    if (code == 0)
        snprintf(failure->issues, sizeof failure->issues, "<main>: Error: %s\n", text);
    else
        snprintf(failure->issues, sizeof failure->issues, "<main>: Error: %s, code: %d\n", text,
                 code);
    return false;
}

/* `relation "t" does not exist` is known by its text alone: the name stands in quotes. */
static bool is_missing_table(const pgw_error *error, pgw_slice *name)
{
    const char *begin = strchr(error->message, '"'), *end = strrchr(error->message, '"');
    if (!pgw_error_is(error, "42P01") || begin == end)
        return false;
    *name = (pgw_slice){begin + 1, (size_t)(end - begin - 1)};
    return true;
}

void ye_failure_of(const pgw_error *error, const ye_options *options, ye_failure *failure)
{
    pgw_slice name;
    size_t i = 0;
    if (options->duplicate_constraint && pgw_error_is(error, "23505")) {
        ye_fail(failure, YE_PRECONDITION_FAILED, 2012, "Constraint violated.");
        return;
    }
    if (is_missing_table(error, &name)) {
        ye_fail(failure, YE_SCHEME_ERROR, 2003,
                "Cannot find table '%.*s' because it does not exist or you do not have access "
                "permissions. Please check correctness of table path and user permissions.",
                (int)name.len, name.ptr);
        return;
    }
    while (strncmp(error->sqlstate, states[i].prefix, strlen(states[i].prefix)) != 0)
        i++;
    ye_fail(failure, states[i].status, states[i].code, "%s",
            states[i].issue ? states[i].issue : error->message);
}

void ye_failure_ordered(ye_status status, ye_failure *failure)
{
    ye_fail(failure, status, statuses[status].code, "%s", statuses[status].issue);
}

bool ye_failure_drops(const ye_failure *failure)
{
    return failure->status == YE_INTERNAL_ERROR || failure->status == YE_BAD_SESSION;
}

static void add_field(pgw_buf *out, char code, const char *value)
{
    pgw_buf_add_byte(out, code);
    pgw_buf_add(out, value, strlen(value) + 1);
}

static void end_fields(pgw_buf *out, size_t begun)
{
    pgw_buf_add_byte(out, '\0');
    pgw_end_small(out, begun);
}

void ye_failure_write(const ye_failure *failure, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'E');
    add_field(out, 'E', "ERROR");
    pgw_buf_addf(out, "MStatus: %s\nIssues:\n%s", statuses[failure->status].name, failure->issues);
    pgw_buf_add_byte(out, '\0');
    if (strstr(failure->issues, "Error: Cannot find table") != NULL)
        add_field(out, 'C', "42P01");
    if (failure->status == YE_INTERNAL_ERROR)
        add_field(out, 'C', "XX000");
    if (failure->status == YE_BAD_SESSION)
        add_field(out, 'C', "08006");
    end_fields(out, begun);
}

void ye_error_write(pgw_buf *out, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t begun = pgw_begin(out, 'E');
    add_field(out, 'E', "ERROR");
    add_field(out, 'M', text);
    end_fields(out, begun);
}

void ye_cancelled_write(pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'E');
    add_field(out, 'S', "ERROR");
    add_field(out, 'V', "ERROR");
    add_field(out, 'C', "57014");
    add_field(out, 'M', "Cancelling statement due to user request");
    end_fields(out, begun);
}

void ye_refused_write(const char *message, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'E');
    add_field(out, 'S', "FATAL");
    add_field(out, 'V', "FATAL");
    add_field(out, 'M', message);
    add_field(out, 'R', "auth_failed");
    end_fields(out, begun);
}

void ye_warning_write(const char *message, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'N');
    add_field(out, 'S', "WARNING");
    add_field(out, 'M', message);
    end_fields(out, begun);
}
