#define _GNU_SOURCE
#include "rewrite/lex/lexer.h"

#include <string.h>

/* What a token can begin with, and what may stand inside one. */
enum {
    SPACE = 1 << 0,
    WORD = 1 << 1, /* may be the first byte of an identifier */
    DIGIT = 1 << 2,
    OPERATOR = 1 << 3,
    PART = 1 << 4,   /* may be a later byte of an identifier */
    SPECIAL = 1 << 5 /* an operator that holds one may end in + or - */
};

/* clang-format off */
#define LETTER (WORD | PART)
#define STRANGE (OPERATOR | SPECIAL)
static const unsigned char classes[256] = {
    ['\t'] = SPACE, ['\n'] = SPACE, ['\r'] = SPACE, ['\f'] = SPACE, [' '] = SPACE,
    ['0' ... '9'] = DIGIT | PART,
    ['A' ... 'Z'] = LETTER, ['a' ... 'z'] = LETTER, ['_'] = LETTER, [128 ... 255] = LETTER,
    ['$'] = PART,
    ['~'] = STRANGE, ['!'] = STRANGE, ['@'] = STRANGE, ['#'] = STRANGE, ['^'] = STRANGE,
    ['&'] = STRANGE, ['|'] = STRANGE, ['`'] = STRANGE, ['?'] = STRANGE, ['%'] = STRANGE,
    ['+'] = OPERATOR, ['-'] = OPERATOR, ['*'] = OPERATOR, ['/'] = OPERATOR,
    ['<'] = OPERATOR, ['>'] = OPERATOR, ['='] = OPERATOR,
};
/* clang-format on */

enum { MAX_OPERATOR = 64 }; /* NAMEDATALEN: longer ones are an error in PostgreSQL */

/* The byte at `at`, or NUL behind the end. A NUL inside the text ends it the same way. */
static unsigned char peek(pgw_slice text, size_t at)
{
    return at < text.len ? (unsigned char)text.ptr[at] : 0;
}

static bool is(pgw_slice text, size_t at, unsigned class)
{
    return (classes[peek(text, at)] & class) != 0;
}

static size_t skip(pgw_slice text, size_t at, unsigned class)
{
    while (at < text.len && classes[(unsigned char)text.ptr[at]] & class)
        at++;
    return at;
}

static bool is_newline(unsigned char c)
{
    return c == '\n' || c == '\r';
}

static size_t skip_line(pgw_slice text, size_t at)
{
    while (at < text.len && !is_newline(peek(text, at)) && text.ptr[at] != '\0')
        at++;
    return at;
}

bool rw_lexer_heeds_conforming(pgw_slice text)
{
    if (memchr(text.ptr, '\\', text.len) != NULL)
        return true;
    const char *at = text.ptr, *end = text.ptr + text.len;
    while (at < end && (at = memchr(at, '&', (size_t)(end - at))) != NULL)
        if (++at < end && *at == '\'')
            return true;
    return false;
}

void rw_lexer_init(rw_lexer *lexer, pgw_slice text, bool conforming)
{
    /* The text is lexed up to a NUL: the backend would not see what is behind it. */
    *lexer = (rw_lexer){.text = text, .conforming = conforming};
}

/* The place behind the comment that begins at `at`; text.len + 1 if it does not end. */
static size_t skip_nested_comment(pgw_slice text, size_t at)
{
    size_t depth = 1;
    for (at += 2; at < text.len && text.ptr[at] != '\0'; at++) {
        if (text.ptr[at] == '/' && peek(text, at + 1) == '*') {
            depth++;
            at++;
        } else if (text.ptr[at] == '*' && peek(text, at + 1) == '/') {
            depth--;
            at++;
            if (depth == 0)
                return at + 1;
        }
    }
    return text.len + 1;
}

/* Where the next token begins; text.len + 1 in an unterminated comment. */
static size_t skip_blanks(pgw_slice text, size_t at)
{
    for (;;) {
        at = skip(text, at, SPACE);
        unsigned char c = peek(text, at);
        if (c == '-' && peek(text, at + 1) == '-')
            at = skip_line(text, at);
        else if (c == '/' && peek(text, at + 1) == '*')
            at = skip_nested_comment(text, at);
        else
            return at;
    }
}

/* scan.l's quotecontinue: blanks with at least one newline, comments of one line, then a quote.
 * The place of that quote, or 0. */
static size_t continuation(pgw_slice text, size_t at)
{
    for (;;) {
        unsigned char c = peek(text, at);
        if (c == '-' && peek(text, at + 1) == '-')
            at = skip_line(text, at);
        else if (c == ' ' || c == '\t' || c == '\f')
            at++;
        else
            break;
    }
    if (!is_newline(peek(text, at)))
        return 0;
    for (;;) {
        at = skip(text, at, SPACE);
        if (peek(text, at) != '-' || peek(text, at + 1) != '-')
            break;
        at = skip_line(text, at);
        if (at >= text.len)
            return 0;
    }
    return peek(text, at) == '\'' ? at : 0;
}

typedef enum quoting { PLAIN, BACKSLASHES, BITS } quoting;

/* The place behind the string whose opening quote is at `at`, with all its continuations; 0 if it
 * does not end. In B'…' and X'…' two quotes are an end and a beginning. */
static size_t skip_string(pgw_slice text, size_t at, quoting how)
{
    for (at++; at < text.len; at++) {
        char c = text.ptr[at];
        if (c == '\0')
            return 0;
        if (c == '\\' && how == BACKSLASHES) {
            if (peek(text, ++at) == 0)
                return 0;
        } else if (c == '\'') {
            if (how != BITS && peek(text, at + 1) == '\'') {
                at++;
                continue;
            }
            size_t more = continuation(text, at + 1);
            if (more == 0)
                return at + 1;
            at = more;
        }
    }
    return 0;
}

/* The place behind the "identifier" at `at`; 0 if it does not end or is empty. */
static size_t skip_quoted(pgw_slice text, size_t at)
{
    size_t start = at;
    for (at++; at < text.len && text.ptr[at] != '\0'; at++) {
        if (text.ptr[at] != '"')
            continue;
        if (peek(text, at + 1) != '"')
            return at == start + 1 ? 0 : at + 1;
        at++;
    }
    return 0;
}

/* How long the `$tag$` at `at` is; 0 if none stands there. */
static size_t dollar_tag(pgw_slice text, size_t at)
{
    size_t end = at + 1;
    if (is(text, end, WORD))
        end = skip(text, end, WORD | DIGIT);
    return peek(text, end) == '$' ? end + 1 - at : 0;
}

/* The place behind the string that the `$tag$` of `len` bytes at `at` opens; 0 if it does not end.
 */
static size_t skip_dollar(pgw_slice text, size_t at, size_t len)
{
    for (size_t end = at + len; end + len <= text.len; end++) {
        const char *dollar = memchr(text.ptr + end, '$', text.len - end);
        if (dollar == NULL)
            return 0;
        end = (size_t)(dollar - text.ptr);
        if (end + len <= text.len && memcmp(dollar, text.ptr + at, len) == 0)
            return memchr(text.ptr + at, '\0', end - at) ? 0 : end + len;
    }
    return 0;
}

static rw_token token(rw_token_kind kind, size_t start, size_t end)
{
    return (rw_token){kind, start, end};
}

/* `end` 0 means that it does not end. */
static rw_token finished(rw_token_kind kind, size_t start, size_t end)
{
    return end == 0 ? token(RW_TOKEN_BAD, start, start) : token(kind, start, end);
}

static bool is_digit_of(unsigned char c, int base)
{
    unsigned char letter = c | 32;
    return (c >= '0' && c <= '9' && c - '0' < base) ||
           (base == 16 && letter >= 'a' && letter <= 'f');
}

/* The place behind the digits from `at` on, which may be parted by single underscores; with a
 * `base` but 10 one may stand before the first, too. */
static size_t skip_parted(pgw_slice text, size_t at, int base)
{
    for (size_t end = at;;) {
        size_t digit = end + (peek(text, end) == '_' && (end > at || base != 10));
        if (!is_digit_of(peek(text, digit), base))
            return end;
        end = digit + 1;
    }
}

/* The base of 0x1F, 0o17 and 0b11; 10: it is none of them. */
static int base_of(pgw_slice text, size_t start)
{
    unsigned char mark = peek(text, start) == '0' ? peek(text, start + 1) | 32 : 0;
    return mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
}

/* Reads a number that no PostgreSQL before version 16 takes, or none at all. A server that does not
 * take it refuses the text itself. */
static rw_token lex_newer_number(pgw_slice text, size_t start)
{
    rw_token_kind kind = RW_TOKEN_INTEGER;
    int base = base_of(text, start);
    size_t first = base != 10 ? start + 2 : start;
    size_t end = skip_parted(text, first, base);
    if (base == 10 && peek(text, end) == '.' && peek(text, end + 1) != '.') {
        kind = RW_TOKEN_DECIMAL;
        end = skip_parted(text, end + 1, 10);
    }
    if (base == 10 && (peek(text, end) | 32) == 'e') {
        size_t digits = end + 1;
        digits += peek(text, digits) == '+' || peek(text, digits) == '-';
        kind = RW_TOKEN_DECIMAL;
        end = skip_parted(text, digits, 10);
        first = digits;
    }
    bool none = end == first || is(text, end, WORD);
    return none ? token(RW_TOKEN_BAD, start, start) : token(kind, start, end);
}

bool rw_number_is_newer(pgw_slice number)
{
    return number.len > 2 &&
           (base_of(number, 0) != 10 || memchr(number.ptr, '_', number.len) != NULL);
}

static rw_token lex_number(pgw_slice text, size_t start)
{
    rw_token_kind kind = RW_TOKEN_INTEGER;
    size_t end = skip(text, start, DIGIT);
    /* 1..10 is an integer and "..", as PL/pgSQL wants it */
    if (peek(text, end) == '.' && peek(text, end + 1) != '.') {
        kind = RW_TOKEN_DECIMAL;
        end = skip(text, end + 1, DIGIT);
    }
    if ((peek(text, end) | 32) == 'e') {
        size_t digits = end + 1;
        if (peek(text, digits) == '+' || peek(text, digits) == '-')
            digits++;
        if (is(text, digits, DIGIT)) {
            kind = RW_TOKEN_DECIMAL;
            end = skip(text, digits, DIGIT);
        }
    }
    /* PostgreSQL 15 refuses trailing junk, earlier ones read two tokens, later ones another number
     */
    return is(text, end, WORD) ? lex_newer_number(text, start) : token(kind, start, end);
}

static rw_token lex_dollar(pgw_slice text, size_t start)
{
    size_t end = skip(text, start + 1, DIGIT);
    if (end > start + 1)
        return is(text, end, WORD) ? token(RW_TOKEN_BAD, start, start)
                                   : token(RW_TOKEN_PARAM, start, end);
    size_t tag = dollar_tag(text, start);
    return tag == 0 ? token(RW_TOKEN_CHAR, start, start + 1)
                    : finished(RW_TOKEN_STRING, start, skip_dollar(text, start, tag));
}

/* A run of operator characters ends before a comment, and does not end in + or - unless it holds a
 * character that no operator of the standard has. */
static rw_token lex_operator(pgw_slice text, size_t start)
{
    size_t end = start + 1;
    bool special = is(text, start, SPECIAL);
    for (; is(text, end, OPERATOR); end++) {
        char c = text.ptr[end], next = (char)peek(text, end + 1);
        if ((c == '/' && next == '*') || (c == '-' && next == '-'))
            break;
        special = special || is(text, end, SPECIAL);
    }
    if (!special)
        while (end > start + 1 && (text.ptr[end - 1] == '+' || text.ptr[end - 1] == '-'))
            end--;
    if (end - start >= MAX_OPERATOR)
        return token(RW_TOKEN_BAD, start, start);
    return token(RW_TOKEN_OPERATOR, start, end);
}

/* A word, or a string or quoted identifier with a letter in front of it. */
static rw_token lex_word(const rw_lexer *lexer, size_t start)
{
    pgw_slice text = lexer->text;
    unsigned char c = peek(text, start), next = peek(text, start + 1);
    if (next == '\'') {
        switch (c | 32) {
        case 'e':
            return finished(RW_TOKEN_STRING, start, skip_string(text, start + 1, BACKSLASHES));
        case 'n':
            return finished(RW_TOKEN_STRING, start,
                            skip_string(text, start + 1, lexer->conforming ? PLAIN : BACKSLASHES));
        case 'b':
        case 'x':
            return finished(RW_TOKEN_BITS, start, skip_string(text, start + 1, BITS));
        default:
            break;
        }
    } else if (next == '&' && (c | 32) == 'u') {
        unsigned char quote = peek(text, start + 2);
        if (quote == '"')
            return finished(RW_TOKEN_QUOTED, start, skip_quoted(text, start + 2));
        if (quote == '\'') /* PostgreSQL refuses U&'…' when backslashes escape */
            return finished(RW_TOKEN_STRING, start,
                            lexer->conforming ? skip_string(text, start + 2, PLAIN) : 0);
    }
    return token(RW_TOKEN_WORD, start, skip(text, start + 1, PART));
}

static rw_token lex(const rw_lexer *lexer, size_t start)
{
    pgw_slice text = lexer->text;
    unsigned char c = peek(text, start), next = peek(text, start + 1);
    unsigned class = classes[c];
    if (class & WORD)
        return lex_word(lexer, start);
    if (class & DIGIT)
        return lex_number(text, start);
    if (class & OPERATOR)
        return lex_operator(text, start);
    switch (c) {
    case '\0':
        return start >= text.len ? token(RW_TOKEN_END, text.len, text.len)
                                 : token(RW_TOKEN_BAD, start, start);
    case '\'':
        return finished(RW_TOKEN_STRING, start,
                        skip_string(text, start, lexer->conforming ? PLAIN : BACKSLASHES));
    case '"':
        return finished(RW_TOKEN_QUOTED, start, skip_quoted(text, start));
    case '$':
        return lex_dollar(text, start);
    case '.':
        if (is(text, start + 1, DIGIT))
            return lex_number(text, start);
        return next == '.' ? token(RW_TOKEN_OPERATOR, start, start + 2)
                           : token(RW_TOKEN_CHAR, start, start + 1);
    case ':':
        if (next == ':')
            return token(RW_TOKEN_CAST, start, start + 2);
        return next == '=' ? token(RW_TOKEN_OPERATOR, start, start + 2)
                           : token(RW_TOKEN_CHAR, start, start + 1);
    default:
        return token(RW_TOKEN_CHAR, start, start + 1);
    }
}

void rw_lexer_init_noted(rw_lexer *lexer, pgw_slice text, bool conforming, const rw_noted *noted)
{
    rw_lexer_init(lexer, text, conforming);
    lexer->known = noted->tokens;
    lexer->known_end = noted->tokens + noted->count;
}

void rw_noted_cut(rw_noted *noted, size_t start, size_t end)
{
    rw_token *tokens = noted->tokens;
    size_t skipped = 0, count = noted->count;
    while (count > 0 && (tokens[count - 1].end > end || tokens[count - 1].end <= start ||
                         tokens[count - 1].end == tokens[count - 1].start))
        count--;
    while (skipped < count && tokens[skipped].start < start)
        skipped++;
    noted->count = count - skipped;
    for (size_t i = 0; i < noted->count && start > 0; i++)
        tokens[i] = (rw_token){tokens[i + skipped].kind, tokens[i + skipped].start - start,
                               tokens[i + skipped].end - start};
}

static void note(rw_noted *notes, rw_token token)
{
    if (notes->count < RW_TOKENS_NOTED)
        notes->tokens[notes->count++] = token;
}

rw_token rw_lexer_read(rw_lexer *lexer)
{
    size_t start = skip_blanks(lexer->text, lexer->at);
    if (start > lexer->text.len) { /* each call meets the unterminated comment again */
        size_t at = lexer->at;
        return token(RW_TOKEN_BAD, at, at);
    }
    rw_token found = lex(lexer, start);
    lexer->at = found.end;
    if (lexer->notes != NULL)
        note(lexer->notes, found);
    return found;
}

pgw_slice rw_token_text(pgw_slice text, rw_token found)
{
    return (pgw_slice){text.ptr + found.start, found.end - found.start};
}

uint32_t rw_parameter_number(pgw_slice text, rw_token found)
{
    uint32_t number = 0;
    for (size_t i = found.start + 1;
         found.kind == RW_TOKEN_PARAM && i < found.end && number <= UINT16_MAX; i++)
        number = number * 10 + (uint32_t)(text.ptr[i] - '0');
    return number;
}

uint32_t rw_highest_parameter(pgw_slice text, bool conforming)
{
    uint32_t highest = 0;
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, conforming);
    for (rw_token token = rw_lexer_next(&lexer);
         token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD; token = rw_lexer_next(&lexer)) {
        uint32_t number = rw_parameter_number(text, token);
        highest = number > highest ? number : highest;
    }
    return highest;
}

bool rw_word_is(pgw_slice text, rw_token found, const char *lower)
{
    for (size_t at = found.start; at < found.end; at++, lower++) {
        unsigned char c = (unsigned char)text.ptr[at];
        if (*lower == '\0' || (unsigned char)*lower != (c >= 'A' && c <= 'Z' ? c + 32 : c))
            return false;
    }
    return *lower == '\0';
}

size_t rw_parameter_uses(pgw_slice text, bool conforming, uint32_t parameter)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, conforming);
    size_t uses = 0;
    for (rw_token token = rw_lexer_next(&lexer);
         token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD; token = rw_lexer_next(&lexer))
        uses += rw_parameter_number(text, token) == parameter;
    return uses;
}

rw_token *rw_tokens_of(pgw_slice text, bool conforming, pgw_arena *arena, size_t *count)
{
    pgw_buf list = {0};
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, conforming);
    rw_token token;
    while ((token = rw_lexer_next(&lexer)).kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD)
        pgw_buf_add(&list, &token, sizeof token);
    *count = list.len / sizeof token;
    return (void *)pgw_arena_keep(arena, &list).ptr;
}

size_t rw_token_at(const rw_token *tokens, size_t count, int32_t start)
{
    size_t from = 0, to = count;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (tokens[middle].start < (size_t)start)
            from = middle + 1;
        else
            to = middle;
    }
    bool there = start >= 0 && from < count && tokens[from].start == (size_t)start;
    return there ? from : count;
}
