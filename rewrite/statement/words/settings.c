#include "rewrite/statement/words/settings.h"

#include "rewrite/lex/lexer_text.h"

#include <string.h>

static bool is_one_of(pgw_slice name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (pgw_slice_eq_str(name, *names))
            return true;
    return false;
}

const char *const rw_tracked[RW_TRACKED] = {
    [RW_CLIENT_ENCODING] = "client_encoding",
    [RW_DATESTYLE] = "datestyle",
    [RW_INTERVALSTYLE] = "intervalstyle",
    [RW_TIMEZONE] = "timezone",
    [RW_CONFORMING_STRINGS] = "standard_conforming_strings",
    [RW_SYNCHRONOUS_COMMIT] = "synchronous_commit",
    [RW_STATEMENT_TIMEOUT] = "statement_timeout",
    [RW_LOCK_TIMEOUT] = "lock_timeout",
    [RW_SEARCH_PATH] = "search_path",
};

/* ---- keyspread's own ---- */

const char *const rw_own[RW_OWN_SETTINGS] = {
    [RW_OWN_TRANSACTIONS] = "keyspread.transactions",
    [RW_OWN_COPY] = "keyspread.copy",
    [RW_OWN_COPY_ON_CONFLICT] = "keyspread.copy_on_conflict",
};

static const struct {
    const char *word;
    rw_own_setting setting;
    rw_own_word says;
} own_words[] = {
    {"eager", RW_OWN_TRANSACTIONS, RW_SAYS_EAGER},
    {"lazy", RW_OWN_TRANSACTIONS, RW_SAYS_LAZY},
    {"atomic", RW_OWN_COPY, RW_SAYS_ATOMIC},
    {"partition", RW_OWN_COPY, RW_SAYS_PARTITION},
    {"error", RW_OWN_COPY_ON_CONFLICT, RW_SAYS_ERROR},
    {"nothing", RW_OWN_COPY_ON_CONFLICT, RW_SAYS_DO_NOTHING},
    {"update", RW_OWN_COPY_ON_CONFLICT, RW_SAYS_UPDATE},
};
enum { OWN_WORDS = sizeof own_words / sizeof *own_words };

rw_own_word rw_own_word_of(rw_own_setting setting, pgw_slice value)
{
    for (size_t i = 0; i < OWN_WORDS; i++)
        if (own_words[i].setting == setting && pgw_slice_ieq_str(value, own_words[i].word))
            return own_words[i].says;
    return value.len == 0 ? RW_SAYS_NOTHING : RW_SAYS_WRONG;
}

rw_own_setting rw_own_setting_of(pgw_slice name)
{
    rw_own_setting i = 0;
    while (i < RW_OWN_SETTINGS && !pgw_slice_eq_str(name, rw_own[i]))
        i++;
    return i;
}

bool rw_own_refuse(rw_own_setting setting, pgw_slice value, pgw_error *error)
{
    pgw_buf words = {0};
    for (size_t i = 0; i < OWN_WORDS; i++)
        if (own_words[i].setting == setting)
            pgw_buf_addf(&words, "%s%s", words.len > 0 ? ", " : "", own_words[i].word);
    if (value.len > 0)
        pgw_fail(error, "22023", "invalid value for parameter \"%s\": \"%.*s\"", rw_own[setting],
                 (int)value.len, value.ptr);
    else
        pgw_fail(error, "22023", "invalid value for parameter \"%s\"", rw_own[setting]);
    pgw_error_hint(error, "Available values: %.*s.", (int)words.len, words.ptr);
    pgw_buf_free(&words);
    return false;
}

/* ---- names ---- */

pgw_slice rw_setting_name(pgw_arena *arena, pgw_slice name)
{
    char *copy = (char *)pgw_arena_copy(arena, name).ptr;
    for (size_t i = 0; i < name.len; i++)
        if (copy[i] >= 'A' && copy[i] <= 'Z')
            copy[i] = (char)(copy[i] + 32);
    return (pgw_slice){copy, name.len};
}

/* The next schema of a path, less its quotes. */
static pgw_slice next_schema(pgw_slice *path)
{
    while (path->len > 0 && strchr(" ,\"", path->ptr[0]) != NULL)
        *path = (pgw_slice){path->ptr + 1, path->len - 1};
    pgw_slice schema = {path->ptr, 0};
    while (schema.len < path->len && strchr(" ,\"", schema.ptr[schema.len]) == NULL)
        schema.len++;
    *path = (pgw_slice){path->ptr + schema.len, path->len - schema.len};
    return schema;
}

bool rw_path_informs(pgw_slice path)
{
    pgw_slice first = next_schema(&path);
    while (pgw_slice_eq_str(first, "pg_catalog"))
        first = next_schema(&path);
    return pgw_slice_eq_str(first, "information_schema");
}

/* --- set_config() --- */

static bool is_char(const rw_lexer *lexer, rw_token token, char c)
{
    return token.kind == RW_TOKEN_CHAR && lexer->text.ptr[token.start] == c;
}

/* ('lock_timeout', …: "$user" of search_path is whoever the role is. */
static bool names_quiet_setting(rw_lexer *lexer, pgw_arena *arena)
{
    static const char *const moving[] = {"search_path", "role", "session_authorization", NULL};
    pgw_slice name;
    rw_token open = rw_lexer_next(lexer), constant = rw_lexer_next(lexer);
    if (!is_char(lexer, open, '(') || constant.kind != RW_TOKEN_STRING ||
        !rw_token_string(lexer->text, constant, lexer->conforming, arena, &name) || name.len == 0)
        return false;
    return is_char(lexer, rw_lexer_next(lexer), ',') &&
           !is_one_of(rw_setting_name(arena, name), moving);
}

/* Whether an identifier is certainly another name. */
static bool is_another(pgw_slice text, rw_token token, const char *name, pgw_arena *arena)
{
    pgw_slice is = rw_token_name(text, token, arena);
    return is.ptr != NULL && !pgw_slice_eq_str(is, name);
}

static bool is_name(rw_token token)
{
    return token.kind == RW_TOKEN_WORD || token.kind == RW_TOKEN_QUOTED;
}

bool rw_configures_no_names(pgw_slice text, bool conforming, pgw_arena *arena)
{
    rw_lexer lexer;
    rw_token before = {0}, last = {0}; /* the tokens two and one before the current token */
    rw_lexer_init(&lexer, text, conforming);
    for (;;) {
        rw_token token = rw_lexer_next(&lexer);
        bool elsewhere = is_char(&lexer, last, '.') && !rw_token_is(text, before, "pg_catalog");
        if (token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD)
            return token.kind == RW_TOKEN_END;
        before = last;
        last = token;
        if (is_name(token) && !is_another(text, token, "set_config", arena) &&
            (elsewhere || !names_quiet_setting(&lexer, arena)))
            return false;
    }
}
