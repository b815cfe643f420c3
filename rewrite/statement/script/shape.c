/*
 * What the value of a constant decides in the grammar of rows, and must therefore stay: the bits of
 * float(n), the character of UESCAPE, the escapes of E'…' and U&'…'. ORDER BY 1 and LIMIT 1 are
 * numbers to the grammar like any other.
 */
#include "rewrite/statement/script/shape.h"

#include <string.h>

/* Where the numbers of a type may stand: numeric(10,2), interval second(3), x::my.type(5). */
typedef enum place { ELSEWHERE, BEFORE_TYPE, TYPE_NAME, TYPMODS } place;

static bool is_any(pgw_slice text, rw_token token, const char *const *words)
{
    for (; *words != NULL; words++)
        if (rw_token_is(text, token, *words))
            return true;
    return false;
}

/* What the grammar allows behind these words holds no SET, no option and no definition. */
static bool begins_with_rows(pgw_slice text, rw_token first)
{
    static const char *const words[] = {"select", "update", "delete",  "insert", "with",
                                        "merge",  "upsert", "replace", "values", NULL};
    return is_any(text, first, words) ||
           (first.kind == RW_TOKEN_CHAR && text.ptr[first.start] == '(');
}

/* Types of the grammar that take numbers, in front of a constant as well: float(8) '1.5'. */
static bool takes_typmods(pgw_slice text, rw_token word)
{
    static const char *const words[] = {
        "bit",   "char",    "character", "dec",  "decimal",   "float",   "interval", "national",
        "nchar", "numeric", "second",    "time", "timestamp", "varchar", "varying",  NULL};
    return is_any(text, word, words);
}

static place next_place(place here, pgw_slice text, rw_token before, rw_token token)
{
    char c = token.kind == RW_TOKEN_CHAR ? text.ptr[token.start] : '\0';
    if (here == TYPMODS)
        return c == ')' ? ELSEWHERE : TYPMODS;
    if (c == '(' && (here == TYPE_NAME || takes_typmods(text, before)))
        return TYPMODS;
    if (token.kind == RW_TOKEN_CAST || rw_token_is(text, token, "as"))
        return BEFORE_TYPE;
    if (here == TYPE_NAME && c == '.')
        return BEFORE_TYPE;
    bool name = token.kind == RW_TOKEN_WORD || token.kind == RW_TOKEN_QUOTED;
    return here == BEFORE_TYPE && name && !rw_token_is(text, token, "materialized") ? TYPE_NAME
                                                                                    : ELSEWHERE;
}

/* Whether the digits are an ICONST in PostgreSQL's scan.l, and no FCONST. */
static bool fits_int4(pgw_slice digits)
{
    while (digits.len > 0 && digits.ptr[0] == '0') {
        digits.ptr++;
        digits.len--;
    }
    return digits.len < 10 || (digits.len == 10 && memcmp(digits.ptr, "2147483647", 10) <= 0);
}

/* '…' in one piece: libpg_query does not go on with it behind a comment, as PostgreSQL does. */
static bool is_plain_string(pgw_slice token)
{
    if (token.ptr[0] != '\'')
        return false;
    size_t end = token.len - 1;
    for (size_t at = 1; at < end; at += 2) {
        const char *quote = memchr(token.ptr + at, '\'', end - at);
        if (quote == NULL)
            return true;
        at = (size_t)(quote - token.ptr);
        if (quote[1] != '\'')
            return false;
    }
    return true;
}

/* What stands for a constant; NULL if the token is none, or one of many ways to write it. No token
 * looks like these: what begins with a quote ends with one. */
static const char *placeholder(pgw_slice text, rw_token token)
{
    if ((token.kind == RW_TOKEN_INTEGER || token.kind == RW_TOKEN_DECIMAL) &&
        rw_number_is_newer(rw_token_text(text, token)))
        return NULL;
    switch (token.kind) {
    case RW_TOKEN_INTEGER:
        return fits_int4(rw_token_text(text, token)) ? "'i" : "'n";
    case RW_TOKEN_DECIMAL:
        return "'n";
    case RW_TOKEN_STRING:
        return is_plain_string(rw_token_text(text, token)) ? "'s" : NULL;
    default:
        return NULL;
    }
}

static bool add(rw_shape *out, const void *bytes, size_t len)
{
    if (len > sizeof out->bytes - out->len)
        return false;
    memcpy(out->bytes + out->len, bytes, len);
    out->len += len;
    return true;
}

static bool add_token(rw_shape *out, pgw_slice text, rw_token token, bool as_written)
{
    const char *constant = as_written ? NULL : placeholder(text, token);
    pgw_slice bytes = constant != NULL ? (pgw_slice){constant, 2} : rw_token_text(text, token);
    if (!add(out, bytes.ptr, bytes.len) || out->len == sizeof out->bytes)
        return false;
    out->bytes[out->len++] = '\0';
    return true;
}

/* What the words mean. The tables of a catalog are of one epoch, which no other has in a worker. */
static bool add_rules(rw_shape *out, const rw_catalog *catalog, bool conforming)
{
    uint64_t epoch = catalog->count > 0 ? catalog->tables[0]->epoch : 0;
    bool rules[] = {catalog->unqualified != NULL, conforming, catalog->informs};
    bool fits = add(out, &epoch, sizeof epoch) && add(out, rules, sizeof rules);
    for (size_t i = 0; catalog->unqualified != NULL && i < catalog->count && fits; i++)
        fits = add(out, &(char){(char)catalog->unqualified[i]}, 1);
    return fits;
}

bool rw_shape_of(rw_lexer lexer, const rw_catalog *catalog, rw_shape *out)
{
    pgw_slice text = lexer.text;
    rw_token before = {.kind = RW_TOKEN_END}, token = rw_lexer_next(&lexer);
    out->len = 0;
    if (!begins_with_rows(text, token) || !add_rules(out, catalog, lexer.conforming))
        return false;
    place here = ELSEWHERE;
    for (; token.kind != RW_TOKEN_END; token = rw_lexer_next(&lexer)) {
        here = next_place(here, text, before, token);
        bool as_written = here == TYPMODS || rw_token_is(text, before, "uescape");
        if (token.kind == RW_TOKEN_BAD || !add_token(out, text, token, as_written))
            return false;
        before = token;
    }
    return true;
}
