#include "rewrite/lex/splitter.h"

#include "rewrite/lex/calls.h"

#include <string.h>

/* What is known of a statement while its tokens come by. */
typedef struct cutter {
    pgw_slice text;
    rw_piece *piece;
    rw_token previous, before, ahead; /* the last three tokens */
    rw_token first;
    size_t depth;  /* open parentheses */
    bool opened;   /* a parenthesis was met */
    size_t blocks; /* BEGIN ATOMIC and CASE that wait for their END */
    bool routine;  /* CREATE [OR REPLACE] FUNCTION or PROCEDURE */
    bool create;
} cutter;

static bool is_char(pgw_slice text, rw_token token, char c)
{
    return token.kind == RW_TOKEN_CHAR && text.ptr[token.start] == c;
}

static bool is_any(pgw_slice text, rw_token token, const char *const *words, size_t count)
{
    if (token.kind != RW_TOKEN_WORD)
        return false;
    for (size_t i = 0; i < count; i++)
        if (rw_token_is(text, token, words[i]))
            return true;
    return false;
}

#define IS_ANY(text, token, ...)                                                                   \
    is_any(text, token, (const char *const[]){__VA_ARGS__},                                        \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static bool begins(pgw_slice name, const char *prefix)
{
    size_t len = strlen(prefix);
    return name.len >= len && pgw_slice_ieq_str((pgw_slice){name.ptr, len}, prefix);
}

/* Names count whether quoted or not; the quoted ones in any case, which costs nothing. */
static unsigned mark_of_name(const cutter *cut, pgw_slice name)
{
    /* A temporary object is made by CREATE or INTO; what is only read was noticed when it was made.
     */
    if (begins(name, "pg_temp") && (cut->create || rw_token_is(cut->text, cut->previous, "into")))
        return RW_MARK_TEMPORARY;
    if (begins(name, "pg_advisory_") || begins(name, "pg_try_advisory_"))
        return RW_MARK_ADVISORY;
    if (pgw_slice_ieq_str(name, "set_config"))
        return RW_MARK_SET_CONFIG;
    return pgw_slice_ieq_str(name, "pg_settings") ? RW_MARK_SETTINGS : 0;
}

static bool writes(pgw_slice text, rw_token word)
{
    switch (text.ptr[word.start] | 0x20) {
    case 'i':
        return rw_token_is(text, word, "insert");
    case 'u':
        return rw_token_is(text, word, "update") || rw_token_is(text, word, "upsert");
    case 'd':
        return rw_token_is(text, word, "delete");
    case 'm':
        return rw_token_is(text, word, "merge");
    case 'r':
        return rw_token_is(text, word, "replace");
    case 'c':
        return rw_token_is(text, word, "copy");
    default:
        return false;
    }
}

static unsigned mark_of_word(const cutter *cut, rw_token word)
{
    pgw_slice text = cut->text;
    switch (text.ptr[word.start] | 0x20) {
    case 'c':
    case 'd':
    case 'm':
    case 'r':
    case 'u':
        return writes(text, word) ? RW_MARK_WRITE : 0;
    case 'i':
        if (rw_token_is(text, word, "into"))
            return writes(text, cut->previous) ? 0 : RW_MARK_INTO;
        return writes(text, word) ? RW_MARK_WRITE : 0;
    case 't':
        if (IS_ANY(text, word, "temp", "temporary") &&
            IS_ANY(text, cut->previous, "create", "replace", "local", "global", "into"))
            return RW_MARK_TEMPORARY;
        return 0;
    case 'h':
        return rw_token_is(text, word, "hold") && rw_token_is(text, cut->previous, "with")
                   ? RW_MARK_HOLD
                   : 0;
    case 'w':
        return rw_token_is(text, word, "where") ? RW_MARK_WHERE : 0;
    case 'p':
    case 's':
        return mark_of_name(cut, rw_token_text(text, word));
    default:
        return 0;
    }
}

static unsigned mark_of_quoted(const cutter *cut, rw_token token)
{
    pgw_slice text = cut->text;
    if (text.ptr[token.start] != '"')
        return RW_MARK_OPAQUE;
    return mark_of_name(cut, (pgw_slice){text.ptr + token.start + 1, token.end - token.start - 2});
}

/* Bodies of SQL routines hold semicolons: BEGIN ATOMIC … END, in which CASE has an END, too. A word
 * behind AS or a dot is a name. */
static void count_blocks(cutter *cut, rw_token word)
{
    pgw_slice text = cut->text;
    if (cut->create && cut->piece->tokens <= 4 && IS_ANY(text, word, "function", "procedure"))
        cut->routine = true;
    if (!cut->routine || cut->depth > 0 || rw_token_is(text, cut->previous, "as") ||
        is_char(text, cut->previous, '.'))
        return;
    if (rw_token_is(text, word, "atomic") && rw_token_is(text, cut->previous, "begin")) {
        cut->piece->marks |= RW_MARK_ATOMIC;
        cut->blocks++;
    } else if (cut->blocks > 0 && rw_token_is(text, word, "case")) {
        cut->blocks++;
    } else if (cut->blocks > 0 && rw_token_is(text, word, "end")) {
        cut->blocks--;
    }
}

/* INSERT INTO schema.name (…: the name before the first parenthesis is a table's. */
static bool lists_columns(const cutter *cut)
{
    bool named =
        IS_ANY(cut->text, cut->before, "into", "copy") || is_char(cut->text, cut->before, '.');
    return named && !cut->opened && cut->piece->tokens <= 6 &&
           IS_ANY(cut->text, cut->first, "insert", "upsert", "replace", "copy");
}

/* Whether the function is of a temporary schema: the session made it itself. */
static bool calls_temporary(const cutter *cut)
{
    bool quoted = cut->ahead.kind == RW_TOKEN_QUOTED;
    pgw_slice schema = rw_token_text(cut->text, cut->ahead);
    if (!is_char(cut->text, cut->before, '.') || schema.len == 0)
        return false;
    if (quoted && schema.ptr[0] != '"')
        return true;
    return begins((pgw_slice){schema.ptr + quoted, schema.len - quoted}, "pg_temp");
}

/* What the name before a parenthesis may do. Behind AS, TABLE, :: and their like it is no function.
 */
static unsigned mark_of_call(const cutter *cut)
{
    pgw_slice text = cut->text, name = rw_token_text(text, cut->previous);
    if (cut->previous.kind == RW_TOKEN_QUOTED)
        name = (pgw_slice){name.ptr + 1, name.len - 2};
    else if (cut->previous.kind != RW_TOKEN_WORD)
        return 0;
    if (lists_columns(cut) ||
        IS_ANY(text, cut->before, "as", "with", "table", "view", "exists", "references", "into",
               "function", "procedure") ||
        cut->before.kind == RW_TOKEN_CAST)
        return 0;
    if (calls_temporary(cut))
        return RW_MARK_CALLS;
    switch (rw_call_of(name)) {
    case RW_CALL_HARMLESS:
        return 0;
    case RW_CALL_KEEPS:
        return RW_MARK_KEEPS;
    case RW_CALL_DRAWS:
        return RW_MARK_KEEPS | RW_MARK_DRAWS;
    case RW_CALL_RESETS:
        return RW_MARK_KEEPS | RW_MARK_DRAWS | RW_MARK_RESETS;
    case RW_CALL_UNKNOWN:
        break;
    }
    return RW_MARK_CALLS;
}

static void take_mark(cutter *cut, rw_token token)
{
    rw_piece *piece = cut->piece;
    if (token.kind == RW_TOKEN_WORD) {
        piece->marks |= mark_of_word(cut, token);
        if (cut->create)
            count_blocks(cut, token);
    } else if (token.kind == RW_TOKEN_QUOTED) {
        piece->marks |= mark_of_quoted(cut, token);
    } else if (is_char(cut->text, token, '(')) {
        piece->marks |= mark_of_call(cut);
        cut->opened = true;
        cut->depth++;
    } else if (is_char(cut->text, token, ')') && cut->depth > 0) {
        cut->depth--;
    }
}

static void take(cutter *cut, rw_token token)
{
    rw_piece *piece = cut->piece;
    piece->end = token.end;
    if (piece->tokens++ == 0) {
        piece->start = token.start;
        cut->first = token;
        cut->create = rw_token_is(cut->text, token, "create");
    }
    if (piece->tokens > 1 || token.kind != RW_TOKEN_WORD)
        take_mark(cut, token);
    cut->ahead = cut->before;
    cut->before = cut->previous;
    cut->previous = token;
}

bool rw_split_next(rw_lexer *lexer, rw_piece *piece)
{
    *piece = (rw_piece){0};
    cutter cut = {.text = lexer->text, .piece = piece};
    for (;;) {
        rw_token token = rw_lexer_next(lexer);
        if (token.kind == RW_TOKEN_END)
            return piece->tokens > 0;
        if (token.kind == RW_TOKEN_BAD) {
            if (piece->tokens++ == 0)
                piece->start = token.start;
            piece->end = lexer->text.len;
            piece->marks |= RW_MARK_OPAQUE;
            lexer->at = lexer->text.len;
            return true;
        }
        if (!is_char(lexer->text, token, ';') || cut.depth > 0 || cut.blocks > 0)
            take(&cut, token);
        else if (piece->tokens > 0)
            return true;
    }
}
