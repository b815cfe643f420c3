#include "rewrite/statement/tree/where.h"

#include "rewrite/statement/tree/walk.h"

static bool is_char(const rw_tokens *in, size_t at, char wanted)
{
    return in->list[at].kind == RW_TOKEN_CHAR && in->text.ptr[in->list[at].start] == wanted;
}

int rw_where_token(const rw_tokens *in, int32_t location)
{
    size_t at = rw_token_at(in->list, in->count, location);
    return at < in->count ? (int)at : RW_NO_TOKEN;
}

int rw_where_begin(const rw_tokens *in, const PgQuery__Node *condition, const char *word)
{
    int at = rw_where_token(in, rw_leftmost((const ProtobufCMessage *)condition));
    do
        at--;
    while (at >= 0 && is_char(in, (size_t)at, '('));
    return at >= 0 && rw_token_is(in->text, in->list[at], word) ? at : RW_NO_TOKEN;
}

/* GROUP BY, not WITHIN GROUP (…). */
static bool is_within(const rw_tokens *in, size_t at)
{
    return rw_token_is(in->text, in->list[at], "group") && at + 1 < in->count &&
           is_char(in, at + 1, '(');
}

/* All of them are reserved: none is a name, but behind a dot. */
static bool goes_on(const rw_tokens *in, size_t at)
{
    static const char *const words[] = {"group", "having",    "window", "union",  "intersect",
                                        "order", "except",    "limit",  "offset", "fetch",
                                        "for",   "returning", "on"};
    bool goes = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && !goes; i++)
        goes = rw_token_is(in->text, in->list[at], words[i]) && !is_char(in, at - 1, '.');
    return goes && !is_within(in, at);
}

int rw_where_end(const rw_tokens *in, int word)
{
    size_t at = (size_t)word + 1;
    for (size_t depth = 0; at < in->count; at++) {
        if (depth == 0 && (is_char(in, at, ')') || is_char(in, at, ';') || goes_on(in, at)))
            break;
        depth += is_char(in, at, '(') || is_char(in, at, '[');
        depth -= depth > 0 && (is_char(in, at, ')') || is_char(in, at, ']'));
    }
    return (int)at - 1;
}
