#include "ydb/plain/known_text.h"

#include "rewrite/lex/lexer_text.h"
#include "ydb/plain/cursor.h"

/* Bytes that are looked at before the text is none of the known ones, because `"…"` may be tried at
 * many places, and what follows it at many more for each. The known ones take a tenth of it. */
enum { LOOKS = 256 * 1024 };

typedef struct matching {
    pgw_slice text;
    pgw_arena *arena;
    rw_known_value *values;
    size_t looks; /* bytes that may still be looked at, of LOOKS */
} matching;

static bool look(matching *it, size_t bytes)
{
    it->looks -= bytes < it->looks ? bytes : it->looks;
    return it->looks > 0;
}

static bool is_constant(const rw_cursor *at)
{
    return at->token.kind == RW_TOKEN_STRING || at->token.kind == RW_TOKEN_INTEGER ||
           at->token.kind == RW_TOKEN_PARAM || rw_cursor_at_word(at, "null") ||
           rw_cursor_at_word(at, "true") || rw_cursor_at_word(at, "false");
}

static bool read_constant(const matching *it, rw_cursor *at, rw_known_value *out)
{
    bool null = rw_cursor_at_word(at, "null");
    *out = (rw_known_value){.text = rw_token_text(it->text, at->token)};
    if (!is_constant(at))
        return false;
    if (at->token.kind == RW_TOKEN_PARAM)
        *out = (rw_known_value){.parameter = rw_parameter_number(it->text, at->token)};
    if (at->token.kind == RW_TOKEN_STRING &&
        !rw_token_string(it->text, at->token, true, it->arena, &out->text))
        return false;
    if (null)
        out->text = (pgw_slice){NULL, 0};
    rw_cursor_advance(at);
    return true;
}

/* Skips `::` and the type: one name, and []. */
static void skip_type(rw_cursor *at)
{
    rw_cursor_advance(at);
    if (rw_cursor_at_name(at))
        rw_cursor_advance(at);
    if (rw_cursor_take(at, '['))
        rw_cursor_take(at, ']');
}

/* Takes a constant or a parameter, which may stand in brackets and with casts. */
static bool take_value(const matching *it, rw_cursor *at, rw_known_value *out)
{
    size_t open = 0;
    while (rw_cursor_take(at, '('))
        open++;
    if (!read_constant(it, at, out))
        return false;
    for (;;) {
        if (at->token.kind == RW_TOKEN_CAST)
            skip_type(at);
        else if (open > 0 && rw_cursor_take(at, ')'))
            open--;
        else
            return open == 0;
    }
}

static bool same(const rw_cursor *known, const rw_cursor *at)
{
    pgw_slice a = rw_token_text(known->lexer.text, known->token);
    pgw_slice b = rw_token_text(at->lexer.text, at->token);
    return known->token.kind == at->token.kind &&
           (at->token.kind == RW_TOKEN_WORD ? pgw_slice_ieq(a, b) : pgw_slice_eq(a, b));
}

/* Skips an optional part of the known text; its values are missing. */
static void skip_optional(const matching *it, rw_cursor *known, size_t *value)
{
    while (!rw_cursor_take(known, ']')) {
        if (known->token.kind == RW_TOKEN_PARAM && *value < RW_KNOWN_VALUES)
            it->values[(*value)++] = (rw_known_value){.missing = true};
        rw_cursor_advance(known);
    }
}

/* Skips a token, or a bracket up to its partner, where the known text has `"…"`. False: the
 * brackets around `"…"` end, or too much was looked at. */
static bool pass(matching *it, rw_cursor *at)
{
    const size_t from = at->token.start;
    return !rw_cursor_ended(at) && !rw_cursor_at(at, ')') && rw_cursor_skip(at) &&
           look(it, at->token.start - from);
}

/* Whether the texts are alike from here on; `value` values stand before. */
static bool match(matching *it, rw_cursor known, rw_cursor at, size_t value)
{
    for (; known.token.kind != RW_TOKEN_END; rw_cursor_advance(&known)) {
        if (!look(it, 1))
            return false;
        if (rw_cursor_take(&known, '[')) {
            if (match(it, known, at, value))
                return true;
            skip_optional(it, &known, &value);
            return match(it, known, at, value);
        }
        if (rw_cursor_at(&known, ']'))
            continue;
        if (known.token.kind == RW_TOKEN_PARAM) {
            if (value == RW_KNOWN_VALUES || !take_value(it, &at, &it->values[value++]))
                return false;
        } else if (known.token.kind == RW_TOKEN_QUOTED) {
            rw_cursor_advance(&known);
            while (!match(it, known, at, value))
                if (!pass(it, &at))
                    return false;
            return true;
        } else if (same(&known, &at)) {
            rw_cursor_advance(&at);
        } else {
            return false;
        }
    }
    return at.token.kind == RW_TOKEN_END;
}

static rw_cursor begin(pgw_slice text)
{
    rw_cursor cursor;
    rw_cursor_begin(&cursor, text, (rw_part){0, text.len}, true);
    return cursor;
}

bool rw_known_match(const char *known, pgw_slice text, pgw_arena *arena,
                    rw_known_value values[RW_KNOWN_VALUES])
{
    matching it = {text, arena, values, LOOKS};
    return match(&it, begin(pgw_slice_str(known)), begin(text), 0);
}
