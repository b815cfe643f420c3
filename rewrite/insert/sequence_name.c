#include "rewrite/insert/sequence_name.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_NAME = 2 * 66 + 1 }; /* two quoted names of 64 bytes, and the point between them */

static bool is_first(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_next(char c)
{
    return is_first(c) || (c >= '0' && c <= '9') || c == '$';
}

/* The offset behind an ASCII identifier that begins at `at`; 0: there is none. */
static size_t identifier(pgw_slice text, size_t at)
{
    bool quoted = at < text.len && text.ptr[at] == '"';
    size_t begun = at += quoted;
    if (!quoted && (at == text.len || !is_first(text.ptr[at])))
        return 0;
    while (at < text.len &&
           (quoted ? is_next(text.ptr[at]) || text.ptr[at] == '-' || text.ptr[at] == ' '
                   : is_next(text.ptr[at])))
        at++;
    if (!quoted)
        return at;
    return at > begun && at < text.len && text.ptr[at] == '"' ? at + 1 : 0;
}

/* Whether the text is `name` or `schema.name`, as the backend would read it. */
static bool is_name(pgw_slice text)
{
    size_t end = text.len <= MOST_NAME ? identifier(text, 0) : 0;
    if (end > 0 && end < text.len && text.ptr[end] == '.')
        end = identifier(text, end + 1);
    return end > 0 && end == text.len;
}

pgw_slice rw_sequence_name(const rw_insert *insert, size_t i)
{
    const rw_wanted *wanted = &insert->wanted[i];
    const pgw_slice none = {NULL, 0};
    if (!wanted->draws || wanted->overridden ||
        insert->table->columns[wanted->column].draws_from == 0)
        return none;
    rw_lexer lexer; /* a name never depends on standard_conforming_strings, so `true` will do */
    rw_lexer_init(&lexer, insert->text, true);
    lexer.at = wanted->from;
    rw_token token = rw_lexer_next(&lexer);
    while (token.kind != RW_TOKEN_STRING && token.kind != RW_TOKEN_BAD && token.end < wanted->to)
        token = rw_lexer_next(&lexer);
    pgw_slice text = rw_token_text(insert->text, token);
    if (token.kind != RW_TOKEN_STRING || text.len < 2 || text.ptr[0] != '\'')
        return none;
    pgw_slice name = {text.ptr + 1, text.len - 2};
    return is_name(name) ? name : none;
}

/* A condition: no user has made a function or type of that name, which might be found before
 * PostgreSQL's own. */
#define NONE_CALLED(catalog, column, name)                                                         \
    "not exists (select from pg_catalog." catalog " where " column                                 \
    " operator(pg_catalog.=) '" name "' and oid operator(pg_catalog.>=) 16384)"

void rw_sequence_question(pgw_slice name, uint32_t sequence, pgw_buf *sql)
{
    pgw_buf_addf(sql,
                 "select '" RW_SEQUENCE_NAMED "', case when pg_catalog.to_regclass('%.*s')"
                 "::pg_catalog.oid operator(pg_catalog.=) %" PRIu32
                 " and " NONE_CALLED("pg_proc", "proname", "nextval") " and " NONE_CALLED(
                     "pg_type", "typname", "regclass") " then 't' else 'f' end, null",
                 (int)name.len, name.ptr, sequence);
}
