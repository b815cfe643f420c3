#include "ydb/plain/variable_name.h"

#include "ydb/plain/variable_value.h"

#include <string.h>

static bool begins_identifier(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

/* Whether the name is one for PostgreSQL's valid_custom_variable_name(). */
static bool is_custom(pgw_slice name)
{
    bool dot = false, begins = true;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c == '.') {
            if (begins)
                return false;
            dot = begins = true;
        } else if (begins_identifier(c) || (!begins && ((c >= '0' && c <= '9') || c == '$'))) {
            begins = false;
        } else {
            return false;
        }
    }
    return dot && !begins;
}

bool rw_variable_may_be(pgw_slice name, pgw_error *error)
{
    if (is_custom(name))
        return true;
    if (memchr(name.ptr, '.', name.len) == NULL)
        return pgw_fail(error, "42704", "unrecognized configuration parameter \"%.*s\"",
                        RW_SHOWN(name));
    pgw_fail(error, "42602", "invalid configuration parameter name \"%.*s\"", RW_SHOWN(name));
    pgw_error_detail(error, "Custom parameter names must be two or more simple identifiers "
                            "separated by dots.");
    return false;
}
