#include "rewrite/insert/default_text.h"

#include "rewrite/lex/lexer.h"

#define PG "pg_catalog."

typedef struct copier {
    pgw_slice text;
    rw_token before, token, next;
} copier;

static bool is_char(const copier *it, rw_token token, char c)
{
    return token.kind == RW_TOKEN_CHAR && it->text.ptr[token.start] == c;
}

static bool is_name(rw_token token)
{
    return token.kind == RW_TOKEN_WORD || token.kind == RW_TOKEN_QUOTED;
}

static bool is_one_of(pgw_slice name, const char *const *names)
{
    while (*names != NULL && !pgw_slice_eq_str(name, *names))
        names++;
    return *names != NULL;
}

/* Whether the name behind `::` is a type of PostgreSQL's own that is found by its name. Other types
 * may be users' own, or words of the grammar, and get no schema. */
static bool is_type(const copier *it, pgw_slice name)
{
    static const char *const types[] = {"bpchar", "bytea", "date",     "inet", "json", "jsonb",
                                        "name",   "oid",   "regclass", "text", "uuid", NULL};
    return it->before.kind == RW_TOKEN_CAST && is_one_of(name, types);
}

/* Whether the name is that of a function which is called. What the grammar makes is told in
 * capitals, or is a type with a length; functions of such names are told in quotes. */
static bool is_call(const copier *it, pgw_slice name)
{
    static const char *const types[] = {"bit",  "character", "interval", "numeric", "second",
                                        "time", "timestamp", "varying",  NULL};
    bool upper = it->token.kind == RW_TOKEN_WORD && name.ptr[0] >= 'A' && name.ptr[0] <= 'Z';
    return is_char(it, it->next, '(') && !upper && !is_one_of(name, types);
}

static bool is_operator(const copier *it, pgw_slice name)
{
    return it->token.kind == RW_TOKEN_OPERATOR && !pgw_slice_eq_str(name, "=>");
}

static void add_token(const copier *it, pgw_buf *out)
{
    pgw_slice name = rw_token_text(it->text, it->token);
    bool bare = !is_char(it, it->before, '.') && !is_char(it, it->next, '.');
    if (bare && is_operator(it, name)) {
        pgw_buf_add_str(out, "operator(" PG);
        pgw_buf_add_slice(out, name);
        pgw_buf_add_byte(out, ')');
        return;
    }
    if (bare && is_name(it->token) && (is_type(it, name) || is_call(it, name)))
        pgw_buf_add_str(out, PG);
    pgw_buf_add_slice(out, name);
}

void rw_add_default(const char *text, pgw_buf *out)
{
    rw_lexer lexer;
    copier it = {.text = pgw_slice_str(text)};
    size_t at = 0;
    rw_lexer_init(&lexer, it.text, true);
    it.token = rw_lexer_next(&lexer);
    for (; it.token.kind != RW_TOKEN_END && it.token.kind != RW_TOKEN_BAD; it.token = it.next) {
        it.next = rw_lexer_next(&lexer);
        pgw_buf_add(out, text + at, it.token.start - at);
        add_token(&it, out);
        at = it.token.end;
        it.before = it.token;
    }
    pgw_buf_add_str(out, text + at);
}
