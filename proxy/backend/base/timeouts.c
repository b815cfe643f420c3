#include "proxy/backend/base/timeouts.h"

#include <stdlib.h>
#include <string.h>

static const char *const timeouts[] = {"statement_timeout", "lock_timeout",
                                       "idle_in_transaction_session_timeout",
                                       "idle_session_timeout", NULL};

/* isspace() of the C locale. */
static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Takes the next word, with its backslashes; false at the end. */
static bool next_word(const char **at, pgw_slice *word)
{
    while (is_blank(**at))
        (*at)++;
    const char *start = *at;
    while (**at != '\0' && !is_blank(**at))
        *at += **at == '\\' && (*at)[1] != '\0' ? 2 : 1;
    *word = (pgw_slice){start, (size_t)(*at - start)};
    return word->len > 0;
}

/* Compares names as the server reads them in options: - is _, and case does not matter. */
static bool is_name(pgw_slice name, const char *setting)
{
    if (name.len != strlen(setting))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c + 32);
        if ((c == '-' ? '_' : c) != setting[i])
            return false;
    }
    return true;
}

/* The timeout that the assignment ("lock-timeout=5s") sets; NULL if it sets none. */
static const char *timeout_of(pgw_slice assignment)
{
    const char *equals = memchr(assignment.ptr, '=', assignment.len);
    if (equals == NULL)
        return NULL;
    pgw_slice name = {assignment.ptr, (size_t)(equals - assignment.ptr)};
    for (size_t i = 0; timeouts[i] != NULL; i++)
        if (is_name(name, timeouts[i]))
            return timeouts[i];
    return NULL;
}

/* One setting, or any other word of the options. */
typedef struct option {
    pgw_slice words;      /* the words of the option as they stand, "-c name=value" */
    pgw_slice assignment; /* "name=value"; empty if the word sets nothing */
} option;

static bool next_option(const char **at, option *out)
{
    pgw_slice word;
    if (!next_word(at, &word))
        return false;
    *out = (option){.words = word};
    bool dashes = word.len > 2 && word.ptr[0] == '-' && (word.ptr[1] == '-' || word.ptr[1] == 'c');
    if (dashes) {
        out->assignment = (pgw_slice){word.ptr + 2, word.len - 2};
    } else if (pgw_slice_eq_str(word, "-c") && next_word(at, &out->assignment)) {
        const char *end = out->assignment.ptr + out->assignment.len;
        out->words.len = (size_t)(end - word.ptr);
    }
    return true;
}

void px_timeouts_cut(const char *options, pgw_buf *out)
{
    const char *at = options != NULL ? options : "";
    for (option one; next_option(&at, &one);) {
        if (one.assignment.len > 0 && timeout_of(one.assignment) != NULL)
            continue;
        if (out->len > 0)
            pgw_buf_add_byte(out, ' ');
        pgw_buf_add_slice(out, one.words);
    }
}

uint64_t px_timeouts_read(pgw_slice text)
{
    static const struct {
        const char *name;
        double ms;
    } write_groups[] = {{"", 1},       {"us", 0.001}, {"ms", 1},     {"s", 1000},
                        {"min", 60e3}, {"h", 3600e3}, {"d", 86400e3}};
    char copy[64], *end;
    size_t len = 0;
    for (size_t i = 0; i < text.len && len < sizeof copy - 1; i++)
        if (text.ptr[i] != '\\' && !is_blank(text.ptr[i]))
            copy[len++] = text.ptr[i];
    copy[len] = '\0';
    double number = strtod(copy, &end);
    for (size_t i = 0; i < sizeof write_groups / sizeof *write_groups; i++)
        if (strcmp(end, write_groups[i].name) == 0) {
            double ms = number * write_groups[i].ms;
            return ms > 0 && ms <= INT32_MAX ? (uint64_t)(ms + 0.5) : 0;
        }
    return 0;
}

bool px_timeouts_statement(const char *options, uint64_t *ms)
{
    bool found = false;
    const char *at = options != NULL ? options : "";
    for (option one; next_option(&at, &one);)
        if (one.assignment.len > 0 && timeout_of(one.assignment) == timeouts[0]) {
            const char *value = memchr(one.assignment.ptr, '=', one.assignment.len);
            const char *end = one.assignment.ptr + one.assignment.len;
            *ms = px_timeouts_read((pgw_slice){value + 1, (size_t)(end - value - 1)});
            found = true;
        }
    return found;
}
