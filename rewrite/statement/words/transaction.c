#include "rewrite/statement/words/transaction.h"

#include "rewrite/lex/lexer.h"

#include <stdio.h>
#include <string.h>

/* A text that is read word by word; `token` comes next. */
typedef struct reading {
    pgw_slice text;
    rw_lexer lexer;
    rw_token token;
} reading;

/* Each mode once: of two that contradict each other the server takes the later. */
enum { ISOLATION = 1 << 0, ACCESS = 1 << 1, DEFERRABLE = 1 << 2 };

static void next(reading *r)
{
    r->token = rw_lexer_next(&r->lexer);
}

static bool takes(reading *r, const char *word)
{
    if (!rw_token_is(r->text, r->token, word))
        return false;
    next(r);
    return true;
}

static bool is_char(const reading *r, char c)
{
    return r->token.kind == RW_TOKEN_CHAR && r->text.ptr[r->token.start] == c;
}

static bool reads_isolation(reading *r, rw_transaction *out)
{
    if (!takes(r, "level"))
        return false;
    if (takes(r, "read"))
        return takes(r, "committed") || takes(r, "uncommitted");
    out->ordinary = false;
    if (takes(r, "serializable"))
        return out->primary = true;
    return takes(r, "repeatable") && takes(r, "read");
}

static bool reads_access(reading *r, rw_transaction *out)
{
    if (takes(r, "write"))
        return out->primary = true;
    out->ordinary = false;
    return takes(r, "only");
}

/* One mode; 0: it is none. */
static unsigned read_mode(reading *r, rw_transaction *out)
{
    if (takes(r, "isolation"))
        return reads_isolation(r, out) ? ISOLATION : 0;
    if (takes(r, "read"))
        return reads_access(r, out) ? ACCESS : 0;
    if (takes(r, "not"))
        return takes(r, "deferrable") ? DEFERRABLE : 0;
    return takes(r, "deferrable") ? DEFERRABLE : 0;
}

static bool is_over(const reading *r)
{
    return r->token.kind == RW_TOKEN_END || is_char(r, ';');
}

static bool reads_modes(reading *r, rw_transaction *out)
{
    unsigned all = 0;
    while (!is_over(r)) {
        unsigned mode = read_mode(r, out);
        if (mode == 0 || all & mode)
            return false;
        all |= mode;
        if (is_char(r, ',')) {
            next(r);
            if (is_over(r))
                return false;
        }
    }
    return true;
}

static void skip_noise(reading *r)
{
    if (!takes(r, "work"))
        (void)takes(r, "transaction");
}

/* What is no name unless it stands in quotes. */
static bool is_reserved(const char *name)
{
    static const char words[] =
        " all analyse analyze and any array as asc asymmetric authorization binary both case cast"
        " check collate collation column concurrently constraint create cross current_catalog"
        " current_date current_role current_schema current_time current_timestamp current_user"
        " default deferrable desc distinct do else end except false fetch for foreign freeze from"
        " full grant group having ilike in initially inner intersect into is isnull join lateral"
        " leading left like limit localtime localtimestamp natural not notnull null offset on only"
        " or order outer overlaps placing primary references returning right select session_user"
        " similar some symmetric system_user table tablesample then to trailing true union unique"
        " user using variadic verbose when where window with ";
    char word[66];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(words, word) != NULL;
}

/* The name of a savepoint, of letters whose case and whose length are the same to every server. */
static bool reads_savepoint(reading *r, rw_transaction *out)
{
    pgw_slice written = rw_token_text(r->text, r->token);
    bool quoted = r->token.kind == RW_TOKEN_QUOTED;
    if (quoted && written.len > 2 && written.ptr[0] == '"')
        written = (pgw_slice){written.ptr + 1, written.len - 2};
    else if (r->token.kind != RW_TOKEN_WORD)
        return false;
    if (written.len >= sizeof out->savepoint)
        return false;
    for (size_t i = 0; i < written.len; i++) {
        unsigned char c = (unsigned char)written.ptr[i];
        if (c >= 0x80 || c == '"')
            return false;
        out->savepoint[i] = (char)(!quoted && c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
    next(r);
    return quoted || !is_reserved(out->savepoint);
}

static rw_transaction_word read_savepoint(reading *r, rw_transaction_word word, rw_transaction *out)
{
    return reads_savepoint(r, out) ? word : RW_TRANSACTION_NONE;
}

static rw_transaction_word read_word(reading *r, rw_transaction *out)
{
    if (takes(r, "begin")) {
        skip_noise(r);
        return reads_modes(r, out) ? RW_TRANSACTION_BEGIN : RW_TRANSACTION_NONE;
    }
    if (takes(r, "start"))
        return takes(r, "transaction") && reads_modes(r, out) ? RW_TRANSACTION_START
                                                              : RW_TRANSACTION_NONE;
    if (takes(r, "savepoint"))
        return read_savepoint(r, RW_TRANSACTION_SAVEPOINT, out);
    if (takes(r, "release")) {
        (void)takes(r, "savepoint");
        return read_savepoint(r, RW_TRANSACTION_RELEASE, out);
    }
    bool commits = takes(r, "commit") || takes(r, "end"), rolls = !commits && takes(r, "rollback");
    if (!commits && !rolls && !takes(r, "abort"))
        return RW_TRANSACTION_NONE;
    skip_noise(r);
    if (!rolls || !takes(r, "to"))
        return commits ? RW_TRANSACTION_COMMIT : RW_TRANSACTION_ROLLBACK;
    (void)takes(r, "savepoint");
    return read_savepoint(r, RW_TRANSACTION_ROLLBACK_TO, out);
}

rw_transaction rw_transaction_of(pgw_slice text, bool conforming)
{
    reading r = {.text = text};
    rw_transaction out = {.word = RW_TRANSACTION_NONE, .ordinary = true};
    rw_lexer_init(&r.lexer, text, conforming);
    next(&r);
    rw_transaction_word word = read_word(&r, &out);
    while (is_char(&r, ';'))
        next(&r);
    if (r.token.kind == RW_TOKEN_END)
        out.word = word;
    return out;
}

const char *rw_transaction_tag(rw_transaction_word word)
{
    static const char *const tags[] = {[RW_TRANSACTION_NONE] = NULL,
                                       [RW_TRANSACTION_BEGIN] = "BEGIN",
                                       [RW_TRANSACTION_START] = "START TRANSACTION",
                                       [RW_TRANSACTION_COMMIT] = "COMMIT",
                                       [RW_TRANSACTION_ROLLBACK] = "ROLLBACK",
                                       [RW_TRANSACTION_SAVEPOINT] = "SAVEPOINT",
                                       [RW_TRANSACTION_ROLLBACK_TO] = "ROLLBACK",
                                       [RW_TRANSACTION_RELEASE] = "RELEASE"};
    return tags[word];
}
