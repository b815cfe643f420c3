#include "rewrite/read/drawn.h"

#include "rewrite/lex/lexer.h"

#include <inttypes.h>

typedef struct teller {
    pgw_slice text;
    rw_lexer lexer;
    rw_token token, before, earlier, first; /* the one at hand, and the three before it */
    const rw_drawn *drawn;
    size_t copied; /* bytes of the text that are in `out` */
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

/* As a word, or in quotes. */
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

/* Where the call begins whose parenthesis is at hand; false: its function is another schema's, or
 * it stands as a table. */
static bool find_begin(const teller *t, size_t *begin)
{
    bool qualified = is_char(t, t->earlier, ".");
    *begin = qualified ? t->first.start : t->before.start;
    return qualified ? is_name(t, t->first, "pg_catalog")
                     : !rw_token_is(t->text, t->earlier, "from") &&
                           !rw_token_is(t->text, t->earlier, "join");
}

/* Behind its closing parenthesis; false: there is none. */
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

static void tell_currval(teller *t, pgw_slice arguments)
{
    pgw_buf_add_str(t->out, "(select case");
    for (size_t i = 0; i < t->drawn->count; i++)
        pgw_buf_addf(t->out,
                     " when s::pg_catalog.oid operator(pg_catalog.=) %" PRIu32 " then (%" PRId64
                     ")::pg_catalog.int8",
                     t->drawn->of[i].sequence, t->drawn->of[i].number);
    pgw_buf_add_str(t->out, " else pg_catalog.currval(s) end as currval from (select (");
    pgw_buf_add_slice(t->out, arguments);
    pgw_buf_add_str(t->out, "\n)::pg_catalog.regclass) q(s))");
}

static void tell_lastval(teller *t)
{
    pgw_buf_addf(t->out, "(select (%" PRId64 ")::pg_catalog.int8 as lastval)",
                 t->drawn->of[t->drawn->count - 1].number);
}

/* The token at hand is the parenthesis behind the name. */
static void tell(teller *t, bool last)
{
    size_t begin, opened = t->token.end;
    if (!find_begin(t, &begin) || (last && !t->drawn->last) || !skip_arguments(t))
        return;
    copy_up_to(t, begin);
    if (last)
        tell_lastval(t);
    else
        tell_currval(t, (pgw_slice){t->text.ptr + opened, t->before.start - opened});
    t->copied = t->before.end;
}

bool rw_drawn_tell(pgw_slice text, const rw_drawn *drawn, bool conforming, pgw_buf *out,
                   bool *moves)
{
    size_t begun = out->len;
    teller t = {.text = text, .drawn = drawn, .out = out};
    *moves = false;
    rw_lexer_init(&t.lexer, text, conforming);
    advance(&t);
    bool later = rw_token_is(text, t.token, "create") || rw_token_is(text, t.token, "prepare");
    while (t.token.kind != RW_TOKEN_END && t.token.kind != RW_TOKEN_BAD) {
        *moves = *moves || is_name(&t, t.token, "nextval") || is_name(&t, t.token, "setval");
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
