#include "tests/ydb_endpoint/split.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

ye_split ye_split_of(pgw_slice text)
{
    return (ye_split){.text = text, .state = YE_IN_STATEMENT, .fresh = true};
}

static char peek(const ye_split *split, size_t ahead)
{
    return split->at + ahead < split->text.len ? split->text.ptr[split->at + ahead] : '\0';
}

static bool at_end(const ye_split *split)
{
    return split->at >= split->text.len;
}

/* Goes to the next of these characters; false: there is none, and this is the end. */
static bool find_any(ye_split *split, const char *characters)
{
    while (!at_end(split) && strchr(characters, peek(split, 0)) == NULL)
        split->at++;
    return !at_end(split);
}

/* Goes behind the next `what`; false: there is none, and this is the end. */
static bool find_behind(ye_split *split, pgw_slice what)
{
    size_t left = split->text.len - split->at;
    const char *found = memmem(split->text.ptr + split->at, left, what.ptr, what.len);
    split->at = found ? (size_t)(found - split->text.ptr) + what.len : split->text.len;
    return found != NULL;
}

/* --- what a character begins --- */

static bool says_from_stdin(const ye_split *split)
{
    static const char *const words[] = {" FROM STDIN", " FROM STDOUT"};
    for (size_t at = split->begun; at < split->at; at++)
        for (size_t i = 0; i < 2; i++) {
            size_t length = strlen(words[i]);
            if (split->at - at >= length &&
                strncasecmp(split->text.ptr + at, words[i], length) == 0)
                return true;
        }
    return false;
}

static void begin_comment(ye_split *split, ye_split_state outer)
{
    const char first = peek(split, 0), second = peek(split, 1);
    if (first == '-' && second == '-')
        split->state = YE_IN_LINE_COMMENT;
    else if (first == '/' && second == '*')
        split->state = YE_IN_BLOCK_COMMENT;
    else
        return;
    split->depth = 1;
    split->outer = outer;
    split->at++;
}

/* "`$` after whitespace followed by letters is taken as dollar quoting" (1.5): nowhere else. */
static void begin_dollars(ye_split *split)
{
    size_t end = 1;
    if (split->at > 0 && !isspace((unsigned char)split->text.ptr[split->at - 1]))
        return;
    if (isdigit((unsigned char)peek(split, end)))
        return;
    while (isalnum((unsigned char)peek(split, end)) || peek(split, end) == '_')
        end++;
    if (peek(split, end) != '$')
        return;
    split->tag = (pgw_slice){split->text.ptr + split->at, end + 1};
    split->state = YE_IN_DOLLARS;
    split->at += end;
}

static void begin_string(ye_split *split)
{
    bool escapes = split->at > 0 && toupper((unsigned char)split->text.ptr[split->at - 1]) == 'E';
    split->state = escapes ? YE_IN_ESCAPES : YE_IN_STRING;
}

static void begin_variable(ye_split *split)
{
    if (split->at == 0 || split->text.ptr[split->at - 1] == '\n')
        split->state = YE_IN_LINE;
}

static void begin_other(ye_split *split)
{
    switch (peek(split, 0)) {
    case '\'':
        begin_string(split);
        break;
    case '"':
        split->state = YE_IN_NAME;
        break;
    case ';':
        split->state = says_from_stdin(split) ? YE_IN_COPY : YE_AFTER_STATEMENT;
        break;
    case '$':
        begin_dollars(split);
        break;
    case '\\':
        split->state = YE_IN_LINE;
        break;
    case ':':
        begin_variable(split);
        break;
    default:
        begin_comment(split, YE_IN_STATEMENT);
    }
}

/* --- each returns true where the piece ends --- */

static bool end_piece(ye_split *split)
{
    split->state = YE_IN_STATEMENT;
    split->fresh = true;
    return true;
}

static bool in_statement(ye_split *split)
{
    while (split->fresh && isspace((unsigned char)peek(split, 0)))
        split->at++;
    if (!find_any(split, split->fresh ? "'\";-/$\\:" : "'\";-/$"))
        return true;
    begin_other(split);
    split->at++;
    return at_end(split);
}

static bool after_statement(ye_split *split)
{
    while (!at_end(split) && strchr(" \t\r", peek(split, 0)) != NULL)
        split->at++;
    if (at_end(split))
        return true;
    begin_comment(split, YE_AFTER_STATEMENT);
    if (split->state == YE_AFTER_STATEMENT) {
        split->at += peek(split, 0) == '\n';
        return end_piece(split);
    }
    split->at++;
    return at_end(split);
}

static bool in_line_comment(ye_split *split)
{
    if (!find_behind(split, PGW_LITERAL("\n")) || at_end(split))
        return true;
    split->state = split->outer;
    return split->outer == YE_AFTER_STATEMENT && end_piece(split);
}

static bool in_block_comment(ye_split *split)
{
    if (!find_any(split, "*/"))
        return true;
    const char first = peek(split, 0), second = peek(split, 1);
    if (first == '/' && second == '*')
        split->depth++;
    else if (first == '*' && second == '/')
        split->depth--;
    split->at += (first == '/' && second == '*') || (first == '*' && second == '/') ? 2 : 1;
    if (split->depth == 0)
        split->state = split->outer;
    return at_end(split);
}

static bool end_literal(ye_split *split)
{
    split->state = YE_IN_STATEMENT;
    split->fresh = false;
    return at_end(split);
}

static bool in_escapes(ye_split *split)
{
    size_t backslashes = 0;
    if (!find_behind(split, PGW_LITERAL("'")))
        return true;
    while (split->text.ptr[split->at - 2 - backslashes] == '\\')
        backslashes++;
    return backslashes % 2 == 1 ? at_end(split) : end_literal(split);
}

static bool in_line(ye_split *split)
{
    return !find_behind(split, PGW_LITERAL("\n")) || at_end(split) || end_piece(split);
}

static bool step(ye_split *split)
{
    switch (split->state) {
    case YE_IN_STATEMENT:
        return in_statement(split);
    case YE_AFTER_STATEMENT:
        return after_statement(split);
    case YE_IN_LINE_COMMENT:
        return in_line_comment(split);
    case YE_IN_BLOCK_COMMENT:
        return in_block_comment(split);
    case YE_IN_NAME:
        return !find_behind(split, PGW_LITERAL("\"")) || end_literal(split);
    case YE_IN_STRING:
        return !find_behind(split, PGW_LITERAL("'")) || end_literal(split);
    case YE_IN_ESCAPES:
        return in_escapes(split);
    case YE_IN_DOLLARS:
        return !find_behind(split, split->tag) || end_literal(split);
    case YE_IN_LINE:
        return in_line(split);
    case YE_IN_COPY:
        return !find_behind(split, PGW_LITERAL("\n\\.\n")) || end_piece(split);
    }
    return true;
}

/* --- what is made of it --- */

static bool is_literal(ye_split_state state)
{
    return state >= YE_IN_NAME && state <= YE_IN_DOLLARS;
}

/* Outside of literals line ends are one line feed each, and empty lines are gone; so is the first
 * line end where nothing but it stands before, unless it follows a literal. */
static void add_lines(pgw_slice raw, pgw_buf *piece)
{
    bool first = true;
    if (piece->len > 0 && raw.len > 0 && raw.ptr[0] == '\n')
        pgw_buf_add_byte(piece, '\n');
    for (size_t at = 0; at < raw.len;) {
        size_t length = 0;
        while (at + length < raw.len && strchr("\r\n", raw.ptr[at + length]) == NULL)
            length++;
        if (length > 0 && !first)
            pgw_buf_add_byte(piece, '\n');
        first &= length == 0;
        pgw_buf_add(piece, raw.ptr + at, length);
        at += length + 1;
    }
}

bool ye_split_next(ye_split *split, pgw_buf *piece)
{
    bool ended = at_end(split);
    pgw_slice raw = {split->text.ptr + split->at, 0};
    pgw_buf_clear(piece);
    if (ended)
        return false;
    split->begun = split->at;
    while (!ended) {
        const size_t from = split->at;
        const bool literal = is_literal(split->state);
        ended = step(split);
        const size_t length = split->at - from;
        if (!literal) {
            raw.len += length;
            continue;
        }
        add_lines(raw, piece);
        pgw_buf_add(piece, split->text.ptr + from, length);
        raw = (pgw_slice){split->text.ptr + split->at, 0};
    }
    add_lines(raw, piece);
    pgw_buf_add_byte(piece, '\n');
    return true;
}
