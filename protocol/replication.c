#include "protocol/replication.h"

#include "protocol/value_parts.h"
#include "protocol/value_text.h"

#include <string.h>

static const char of_database[] = "database";

/* parse_bool() takes no blanks around a word, as the input of a boolean value does. */
static bool has_blank(pgw_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (pgw_is_blank(text.ptr[i]))
            return true;
    return false;
}

const char *pgw_replication_of(const pgw_startup *startup)
{
    pgw_slice sent = pgw_startup_parameter(startup, "replication");
    pgw_value value;
    pgw_error error;
    if (sent.ptr == NULL || pgw_slice_eq_str(sent, of_database) || has_blank(sent) ||
        pgw_bool_in(sent, &value, &error) != PGW_KNOWN)
        return sent.ptr;
    return value.as.integer != 0 ? "true" : NULL;
}

bool pgw_replication_takes_sql(const char *replication)
{
    return replication == NULL || strcmp(replication, of_database) == 0;
}

static bool is_word(char c)
{
    return c == '_' || c == '$' || pgw_is_digit(c) || (unsigned char)c >= 0x80 ||
           (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool pgw_replication_is_command(pgw_slice text)
{
    static const char *const words[] = {
        "ALTER_REPLICATION_SLOT", /* PostgreSQL 17 */
        "BASE_BACKUP",
        "CREATE_REPLICATION_SLOT",
        "DROP_REPLICATION_SLOT",
        "IDENTIFY_SYSTEM",
        "READ_REPLICATION_SLOT",
        "SHOW",
        "START_REPLICATION",
        "TIMELINE_HISTORY",
        "UPLOAD_MANIFEST", /* PostgreSQL 17 */
    };
    size_t at = pgw_skip_blanks(text, 0), end = at;
    while (end < text.len && is_word(text.ptr[end]))
        end++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (pgw_slice_ieq_str((pgw_slice){text.ptr + at, end - at}, words[i]))
            return true;
    return false;
}
