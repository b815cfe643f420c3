#include "rewrite/statement/words/drawn.h"

#include "rewrite/lex/lexer.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_ARGUMENTS = 1024 /* bytes of arguments, which are repeated for each sequence */ };

typedef struct teller {
    pgw_slice text;
    rw_lexer lexer;
    rw_token token, before, earlier, first; /* the current token, and the three before it */
    const rw_drawn *drawn;
    size_t copied; /* bytes of the text that have been copied to `out` */
    pgw_buf *out;
} teller;

static void advance(teller *t)
{
    t->first = t->earlier;
    t->earlier = t->before;
    t->before = t->token;
    t->token = rw_lexer_next(&t->lexer);
}

static bool is_char(const teller *t, rw_token token, const char *text)
{
    return pgw_slice_eq_str(rw_token_text(t->text, token), text);
}

/* Whether the token is the name, as a word or in quotes. */
static bool is_name(const teller *t, rw_token token, const char *name)
{
    pgw_slice text = rw_token_text(t->text, token);
    if (token.kind == RW_TOKEN_QUOTED && text.len > 2)
        return pgw_slice_eq_str((pgw_slice){text.ptr + 1, text.len - 2}, name);
    return rw_token_is(t->text, token, name);
}

static void copy_up_to(const teller *t, size_t at)
{
    pgw_buf_add(t->out, t->text.ptr + t->copied, at - t->copied);
}

/* Finds where the call of the current parenthesis begins; false: its function is another schema's,
 * or the call stands as a table. */
static bool find_begin(const teller *t, size_t *begin)
{
    bool qualified = is_char(t, t->earlier, ".");
    *begin = qualified ? t->first.start : t->before.start;
    return qualified ? is_name(t, t->first, "pg_catalog")
                     : !rw_token_is(t->text, t->earlier, "from") &&
                           !rw_token_is(t->text, t->earlier, "join");
}

/* Goes on behind the closing parenthesis; false: there is none. */
static bool skip_arguments(teller *t)
{
    size_t depth = 0;
    do {
        if (t->token.kind == RW_TOKEN_END || t->token.kind == RW_TOKEN_BAD)
            return false;
        depth += is_char(t, t->token, "(");
        depth -= is_char(t, t->token, ")");
        advance(t);
    } while (depth > 0);
    return true;
}

/* Appends a CASE that gives the session's number if the call gives what the link drew. */
static void tell_unless_newer(pgw_buf *out, const char *call, int64_t link, int64_t number)
{
    pgw_buf_addf(out,
                 "case when %s operator(pg_catalog.=) (%" PRId64 ")::pg_catalog.int8 then (%" PRId64
                 ")::pg_catalog.int8 else %s end",
                 call, link, number, call);
}

/* Whether the link gives another number of its i'th sequence than the session has. */
static bool differs(const rw_drawn *drawn, size_t i)
{
    return !drawn->of[i].linked || drawn->of[i].number != drawn->of[i].link;
}

static void tell_sequence(const teller *t, size_t i, pgw_slice arguments)
{
    const uint32_t sequence = t->drawn->of[i].sequence;
    char call[64];
    pgw_buf_add_str(t->out, " when (");
    pgw_buf_add_slice(t->out, arguments);
    pgw_buf_addf(
        t->out, "\n)::pg_catalog.regclass::pg_catalog.oid operator(pg_catalog.=) %" PRIu32 " then ",
        sequence);
    snprintf(call, sizeof call, "pg_catalog.currval(%" PRIu32 ")", sequence);
    if (t->drawn->of[i].linked)
        tell_unless_newer(t->out, call, t->drawn->of[i].link, t->drawn->of[i].number);
    else
        pgw_buf_addf(t->out, "(%" PRId64 ")::pg_catalog.int8", t->drawn->of[i].number);
}

/* A CASE has the name of what stands behind ELSE. */
static bool tell_currval(teller *t, size_t begin, pgw_slice arguments)
{
    bool any = false;
    for (size_t i = 0; i < t->drawn->count && arguments.len <= MOST_ARGUMENTS; i++) {
        if (!differs(t->drawn, i))
            continue;
        if (!any) {
            copy_up_to(t, begin);
            pgw_buf_add_str(t->out, "(case");
        }
        any = true;
        tell_sequence(t, i, arguments);
    }
    if (!any)
        return false;
    pgw_buf_add_str(t->out, " else pg_catalog.currval(");
    pgw_buf_add_slice(t->out, arguments);
    pgw_buf_add_str(t->out, "\n) end)");
    return true;
}

static bool tell_lastval(teller *t, size_t begin)
{
    const rw_drawn *drawn = t->drawn;
    int64_t number = drawn->of[drawn->count - 1].number;
    if (drawn->linked && number == drawn->link)
        return false;
    copy_up_to(t, begin);
    if (!drawn->linked) {
        pgw_buf_addf(t->out, "(select (%" PRId64 ")::pg_catalog.int8 as lastval)", number);
        return true;
    }
    pgw_buf_add_byte(t->out, '(');
    tell_unless_newer(t->out, "pg_catalog.lastval()", drawn->link, number);
    pgw_buf_add_byte(t->out, ')');
    return true;
}

/* The token at hand is the parenthesis behind the name. */
static void tell(teller *t, bool last)
{
    size_t begin, opened = t->token.end;
    if (!find_begin(t, &begin) || !skip_arguments(t))
        return;
    pgw_slice arguments = {t->text.ptr + opened, t->before.start - opened};
    if (last ? tell_lastval(t, begin) : tell_currval(t, begin, arguments))
        t->copied = t->before.end;
}

bool rw_drawn_tell(pgw_slice text, const rw_drawn *drawn, bool conforming, pgw_buf *out)
{
    size_t begun = out->len;
    teller t = {.text = text, .drawn = drawn, .out = out};
    rw_lexer_init(&t.lexer, text, conforming);
    advance(&t);
    bool later = rw_token_is(text, t.token, "create") || rw_token_is(text, t.token, "prepare");
    while (t.token.kind != RW_TOKEN_END && t.token.kind != RW_TOKEN_BAD) {
        advance(&t);
        bool last = is_name(&t, t.before, "lastval");
        if (!later && is_char(&t, t.token, "(") && (last || is_name(&t, t.before, "currval")))
            tell(&t, last);
    }
    if (t.copied == 0)
        return false;
    copy_up_to(&t, text.len);
    return out->len > begun;
}
