/* The lexer against PostgreSQL's own (libpg_query), and what its tokens stand for. */
#include "rewrite/lex/lexer.h"
#include "rewrite/lex/lexer_text.h"
#include "tests/rewrite/exact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

static pgw_slice slice(const char *text)
{
    return exact(text);
}

/* --- the oracle --- */

/* PostgreSQL's kinds where they tell more than the boundaries do. */
static bool same_kind(rw_token_kind ours, PgQuery__Token theirs)
{
    switch (theirs) {
    case PG_QUERY__TOKEN__SCONST:
    case PG_QUERY__TOKEN__USCONST:
        return ours == RW_TOKEN_STRING;
    case PG_QUERY__TOKEN__BCONST:
    case PG_QUERY__TOKEN__XCONST:
        return ours == RW_TOKEN_BITS;
    case PG_QUERY__TOKEN__UIDENT:
        return ours == RW_TOKEN_QUOTED;
    case PG_QUERY__TOKEN__IDENT:
        return ours == RW_TOKEN_QUOTED || ours == RW_TOKEN_WORD;
    case PG_QUERY__TOKEN__FCONST:
        return ours == RW_TOKEN_DECIMAL || ours == RW_TOKEN_INTEGER; /* too large for int4 */
    case PG_QUERY__TOKEN__ICONST:
        return ours == RW_TOKEN_INTEGER;
    case PG_QUERY__TOKEN__PARAM:
        return ours == RW_TOKEN_PARAM;
    case PG_QUERY__TOKEN__TYPECAST:
        return ours == RW_TOKEN_CAST;
    case PG_QUERY__TOKEN__Op:
    case PG_QUERY__TOKEN__LESS_EQUALS:
    case PG_QUERY__TOKEN__GREATER_EQUALS:
    case PG_QUERY__TOKEN__NOT_EQUALS:
    case PG_QUERY__TOKEN__COLON_EQUALS:
    case PG_QUERY__TOKEN__EQUALS_GREATER:
        return ours == RW_TOKEN_OPERATOR;
    default:
        return ours == RW_TOKEN_WORD || ours == RW_TOKEN_CHAR || ours == RW_TOKEN_OPERATOR;
    }
}

static size_t statements, accepted;

static void disagree(const char *sql, const char *why, rw_token ours, int start, int end)
{
    fail_msg("%s: ours %d [%u, %u), theirs [%d, %d) in: %s", why, ours.kind, ours.start, ours.end,
             start, end, sql);
}

static bool is_comment(const PgQuery__ScanToken *token)
{
    return token->token == PG_QUERY__TOKEN__SQL_COMMENT ||
           token->token == PG_QUERY__TOKEN__C_COMMENT;
}

/* libpg_query makes tokens of comments, and so cuts `'a' --comment<NL>'b'` in three, which is one
 * string in PostgreSQL. The last part of such a string, or `at`. */
static size_t last_part(const PgQuery__ScanResult *theirs, size_t at, size_t end)
{
    size_t i = at;
    bool commented = false;
    while (i + 1 < theirs->n_tokens && (size_t)theirs->tokens[i]->end < end)
        commented = is_comment(theirs->tokens[++i]) || commented;
    return commented && (size_t)theirs->tokens[i]->end == end ? i : at;
}

static void compare_tokens(const char *sql, const PgQuery__ScanResult *theirs)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, slice(sql), true);
    for (size_t i = 0; i < theirs->n_tokens; i++) {
        const PgQuery__ScanToken *token = theirs->tokens[i];
        if (is_comment(token))
            continue;
        rw_token ours = rw_lexer_next(&lexer);
        int start = token->start;
        /* N'…' is the word NCHAR and a string there */
        if (token->token == PG_QUERY__TOKEN__NCHAR && sql[token->start + 1] == '\'')
            token = theirs->tokens[++i];
        if (ours.kind == RW_TOKEN_STRING || ours.kind == RW_TOKEN_BITS) {
            i = last_part(theirs, i, ours.end);
            token = theirs->tokens[i];
        }
        /* its end of U& tokens is wrong; the next token's start is not */
        bool unicode =
            token->token == PG_QUERY__TOKEN__USCONST || token->token == PG_QUERY__TOKEN__UIDENT;
        if (ours.start != (size_t)start || (!unicode && ours.end != (size_t)token->end) ||
            !same_kind(ours.kind, token->token))
            disagree(sql, "token", ours, start, token->end);
    }
    rw_token end = rw_lexer_next(&lexer);
    if (end.kind != RW_TOKEN_END)
        disagree(sql, "end", end, 0, 0);
}

/* Errors of the value of a string are found when the value is asked for. */
static bool is_about_the_value(const char *message)
{
    return strstr(message, "Unicode") != NULL || strstr(message, "surrogate") != NULL ||
           strstr(message, "byte sequence") != NULL;
}

static void compare_error(const char *sql, const char *message)
{
    rw_lexer lexer;
    rw_token token;
    rw_lexer_init(&lexer, slice(sql), true);
    bool newer = false;
    do {
        token = rw_lexer_next(&lexer);
        bool number = token.kind == RW_TOKEN_INTEGER || token.kind == RW_TOKEN_DECIMAL;
        newer = newer || (number && rw_number_is_newer(rw_token_text(slice(sql), token)));
    } while (token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD);
    if (token.kind != RW_TOKEN_BAD && !newer && !is_about_the_value(message))
        fail_msg("PostgreSQL says \"%s\" to: %s", message, sql);
}

static void compare(const char *sql)
{
    statements++;
    PgQueryScanResult result = pg_query_scan(sql);
    if (result.error != NULL) {
        compare_error(sql, result.error->message);
    } else {
        accepted++;
        PgQuery__ScanResult *tokens =
            pg_query__scan_result__unpack(NULL, result.pbuf.len, (const uint8_t *)result.pbuf.data);
        assert_non_null(tokens);
        compare_tokens(sql, tokens);
        pg_query__scan_result__free_unpacked(tokens, NULL);
    }
    pg_query_free_scan_result(result);
}

/* A line of a vectors file, with <NL> for a newline; NULL at the end. */
static char *next_line(FILE *file, char *line, size_t size)
{
    while (fgets(line, (int)size, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#')
            continue;
        for (char *mark; (mark = strstr(line, "<NL>")) != NULL;) {
            *mark = '\n';
            memmove(mark + 1, mark + 4, strlen(mark + 4) + 1);
        }
        return line;
    }
    return NULL;
}

static void vectors_agree_with_postgresql(void **state)
{
    (void)state;
    char line[4096];
    FILE *file = fopen(VECTORS "/lexer", "r");
    assert_non_null(file);
    while (next_line(file, line, sizeof line) != NULL)
        compare(line);
    fclose(file);
    assert_true(statements > 100);
}

/* --- generated statements --- */

static uint32_t seed = 12345;

static uint32_t any(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)seed * below) >> 32);
}

static const char *const pieces[] = {
    "INSERT INTO",
    "events",
    "\"Events\"",
    "\"a\"\"b\"",
    "(",
    ")",
    ",",
    ";",
    "values",
    "VALUES",
    "1",
    "42",
    "2147483648",
    "99999999999999999999",
    "1.5",
    ".5",
    "5.",
    "1e10",
    "1E-3",
    "1.5e+7",
    "1..10",
    "1.e5",
    "'a'",
    "'it''s'",
    "''",
    "'\\'",
    "E'a\\'b'",
    "e'\\n\\x41\\101\\u0041'",
    "U&'d\\0061t'",
    "U&\"d\\0061t\"",
    "B'101'",
    "x'1F'",
    "N'abc'",
    "n''",
    "$1",
    "$22",
    "$$a$$",
    "$tag$ $$ ' $tag$",
    "$a$",
    "$",
    "::",
    ":",
    ":=",
    "=>",
    "<=",
    ">=",
    "<>",
    "!=",
    "=",
    "+",
    "-",
    "*",
    "/",
    "<",
    ">",
    "%",
    "^",
    "||",
    "->>",
    "@>",
    "?|",
    "+-",
    "*-",
    "@-",
    "<-",
    "--comment\n",
    "/* c */",
    "/* a /* b */ c */",
    "/*",
    "*/",
    "--",
    "'a'\n'b'",
    "'a' --c\n 'b'",
    "'a' 'b'",
    "'a'\n--x\n'b'",
    "E'a'\n'\\'b'",
    " ",
    "\n",
    "\t",
    "\f",
    "\r",
    ".",
    "..",
    "[",
    "]",
    "{",
    "}",
    "\\",
    "`",
    "~",
    "!",
    "#",
    "&",
    "|",
    "?",
    "null",
    "TRUE",
    "default",
    "cast",
    "a$b",
    "_x",
    "\xc3\xa9t\xc3\xa9",
    "a1",
    "1a",
    "1e",
    "1e+",
    "$1a",
    "0x1F",
    "'open",
    "\"open",
    "\"\"",
    "U&'x' UESCAPE '!'",
    "interval",
    "'1 day'",
    "B'1''0'",
    "current_timestamp",
    "now()",
    "u&",
    "e",
    "E",
    "b",
    "x",
    "n",
    "U",
    "\"x",
    "'",
    "\"",
    "$$",
    "$x$",
};

/* As the scanner of PostgreSQL 18 says. */
static void numbers_of_newer_servers_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t len; /* 0: it is none */
        rw_token_kind kind;
    } cases[] = {
        {"0x1F", 4, RW_TOKEN_INTEGER},     {"0X_f ", 4, RW_TOKEN_INTEGER},
        {"0o17,", 4, RW_TOKEN_INTEGER},    {"0B1_1)", 5, RW_TOKEN_INTEGER},
        {"1_000", 5, RW_TOKEN_INTEGER},    {"1_0.5_0", 7, RW_TOKEN_DECIMAL},
        {"1_0e1_0", 7, RW_TOKEN_DECIMAL},  {"1_0..2", 3, RW_TOKEN_INTEGER},
        {"1_0E-1_0", 8, RW_TOKEN_DECIMAL}, {"0x", 0, RW_TOKEN_BAD},
        {"0xg", 0, RW_TOKEN_BAD},          {"0x1g", 0, RW_TOKEN_BAD},
        {"0b2", 0, RW_TOKEN_BAD},          {"0o8", 0, RW_TOKEN_BAD},
        {"1_", 0, RW_TOKEN_BAD},           {"1__0", 0, RW_TOKEN_BAD},
        {"1_0e_1", 0, RW_TOKEN_BAD},       {"1_0e", 0, RW_TOKEN_BAD},
        {"0x1_", 0, RW_TOKEN_BAD},         {"1_0a", 0, RW_TOKEN_BAD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_lexer lexer;
        rw_lexer_init(&lexer, slice(cases[i].text), true);
        rw_token token = rw_lexer_next(&lexer);
        assert_int_equal(token.kind, cases[i].kind);
        assert_int_equal(token.end - token.start, cases[i].len);
    }
    assert_true(rw_number_is_newer(slice("0x1")));
    assert_true(rw_number_is_newer(slice("1_0")));
    assert_false(rw_number_is_newer(slice("0e1")));
    assert_false(rw_number_is_newer(slice("100")));
}

/* Anything after anything, mostly with a blank between. */
static void generated_statements_agree_with_postgresql(void **state)
{
    (void)state;
    size_t before = accepted;
    for (int i = 0; i < 6000; i++) {
        char sql[1024] = "";
        for (uint32_t left = 1 + any(14); left > 0; left--) {
            strcat(sql, pieces[any(sizeof pieces / sizeof *pieces)]);
            if (any(4) != 0)
                strcat(sql, " ");
        }
        compare(sql);
    }
    assert_true(accepted - before > 2000);
}

/* Any bytes at all, as long as they are of the lexer's own alphabet. */
static void random_bytes_agree_with_postgresql(void **state)
{
    (void)state;
    static const char alphabet[] = "'\"\\$$eEuUxnb&-+*/<=>:.;,()[]@~0159aZ_ \n\t!";
    for (int i = 0; i < 6000; i++) {
        char sql[64];
        uint32_t len = 1 + any(sizeof sql - 2);
        for (uint32_t k = 0; k < len; k++)
            sql[k] = alphabet[any(sizeof alphabet - 1)];
        sql[len] = '\0';
        compare(sql);
    }
}

/* --- what tokens stand for --- */

static rw_token first_token(const char *sql, bool conforming)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, slice(sql), conforming);
    return rw_lexer_next(&lexer);
}

/* `value` NULL: the escapes are invalid. */
static void check_string(const char *sql, bool conforming, const char *value)
{
    pgw_arena arena = {0};
    pgw_slice out;
    rw_token token = first_token(sql, conforming);
    assert_int_equal(token.kind, RW_TOKEN_STRING);
    assert_int_equal(token.end, strlen(sql));
    bool valid = rw_token_string(slice(sql), token, conforming, &arena, &out);
    if (valid != (value != NULL))
        fail_msg("%s is %s", sql, valid ? "valid" : "invalid");
    if (valid && !pgw_slice_eq_str(out, value))
        fail_msg("%s gives %.*s", sql, (int)out.len, out.ptr);
    pgw_arena_free(&arena);
}

static void strings_are_unescaped(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *value;
    } cases[] = {
        {"'abc'", "abc"},
        {"''", ""},
        {"'it''s'", "it's"},
        {"''''", "'"},
        {"'a\\nb'", "a\\nb"},
        {"E'a\\nb\\t\\b\\f\\r\\\\\\''", "a\nb\t\b\f\r\\'"},
        {"e'\\x41\\x4g\\101\\7'", "A\x04gA\x07"},
        {"E'\\xyz'", "xyz"},
        {"E'\\u0041\\U00000042'", "AB"},
        {"E'\\u00e9'", "\xc3\xa9"},
        {"E'\\uD83D\\uDE00'", "\xf0\x9f\x98\x80"},
        {"E'\\xc3\\xa9'", "\xc3\xa9"},
        {"E'\\xc3'", NULL},
        {"E'\\303\\251'", "\xc3\xa9"},
        {"E'\\303'", NULL},
        {"E'\\uD83D'", NULL},
        {"E'\\uD83Dx'", NULL},
        {"E'\\uDE00'", NULL},
        {"E'\\u00'", NULL},
        {"E'\\u0000'", NULL},
        {"E'\\000'", NULL},
        {"E'\\v'", NULL},
        {"E'a''b'", "a'b"},
        {"U&'d\\0061t\\+000061'", "data"},
        {"U&'\\\\'", "\\"},
        {"U&'it''s'", "it's"},
        {"U&'\\D83D\\DE00'", "\xf0\x9f\x98\x80"},
        {"U&'\\00'", NULL},
        {"U&'\\D83D'", NULL},
        {"u&'\\0041'\n'\\0042'", "AB"},
        {"N'it''s'", "it's"},
        {"$$it's$$", "it's"},
        {"$a$ $$ $b$ $a$", " $$ $b$ "},
        {"$$$$", ""},
        {"'a'\n'b'", "ab"},
        {"'a'\n--it's\n'b'", "ab"},
        {"'a' -- it's\n  'b'\n\t'c'", "abc"},
        {"E'a\\''\n'\\'b'", "a''b"},
        {"E'\\0078'", "\a8"},
        {"E'\\1'", "\001"},
        {"E'\\18'", "\0018"},
        {"E'\\128'", "\n8"},
        {"E'\\1777'", "\1777"},
        {"E'\\/'", "/"},
        {"E'\\8'", "8"},
        {"E'\\1/'", "\001/"},
        {"E'\\1:'", "\001:"},
        {"E'\\400'", NULL},
        {"E'\\777'", NULL},
        {"E'\\x0g'", NULL},
        {"E'\\x00'", NULL},
        {"E'\\x1'", "\001"},
        {"E'\\x01'", "\001"},
        {"E'\\x10'", "\x10"},
        {"E'\\x4141'", "A41"},
        {"E'\\x4A\\x4f\\x4F'", "JOO"},
        {"E'\\x/'", "x/"},
        {"E'\\x:'", "x:"},
        {"E'\\x`'", "x`"},
        {"E'\\X41'", "X41"},
        {"E'\\q\\n'", "q\n"},
        {"E'\\u004'", NULL},
        {"E'\\u0041\\u'", NULL},
        {"E'\\U0010FFFF'", "\xf4\x8f\xbf\xbf"},
        {"E'\\U00110000'", NULL},
        {"E'\\uD83D\\101'", NULL},
        {"E'\\uD83D\\x41'", NULL},
        {"E'\\uD83D\\n'", NULL},
        {"E'\\uD83D'''", NULL},
        {"U&'a\\'", NULL},
        {"U&'\\+'", NULL},
        {"U&'\\+00004'", NULL},
        {"U&'\\+0000411'", "A1"},
        {"U&'\\+110000'", NULL},
        {"U&'\\004'", NULL},
        {"U&'\\00411'", "A1"},
        {"U&'\\D83Dx'", NULL},
        {"U&'\\D83D\\\\'", NULL},
        {"U&'\\DE00'", NULL},
        {"U&'\\0000'", NULL},
        {"'a' --\n'b'", "ab"},
        {"'a'\r'b'", "ab"},
        {"'a'--'\r'b'", "ab"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_string(cases[i].sql, true, cases[i].value);
    check_string("'a\\nb\\''", false, "a\nb'");
    check_string("N'\\t'", false, "\t");
}

static void check_name(const char *sql, const char *name)
{
    pgw_arena arena = {0};
    rw_token token = first_token(sql, true);
    pgw_slice out = rw_token_name(slice(sql), token, &arena);
    if (name == NULL)
        assert_null(out.ptr);
    else if (!pgw_slice_eq_str(out, name))
        fail_msg("%s gives %.*s", sql, (int)out.len, out.ptr);
    pgw_arena_free(&arena);
}

static void names_are_folded_or_unquoted(void **state)
{
    (void)state;
    check_name("Events", "events");
    check_name("\"Events\"", "Events");
    check_name("\"a\"\"b\"\"\"", "a\"b\"");
    check_name("\xc3\x89t\xc3\xa9", "\xc3\x89t\xc3\xa9");
    check_name("U&\"d\\0061t\\0061\"", "data");
    check_name("U&\"\\00\"", NULL);
    check_name("U&\"a\"\"\\0062\"\"\"", "a\"b\"");
    check_name("U&\"\"\"\"", "\"");
    check_name("a$B_1", "a$b_1");
}

/* Alone behind a letter, and alone in front of one. */
static void every_byte_is_in_words_or_not(void **state)
{
    (void)state;
    for (int c = 1; c < 256; c++) {
        char behind[] = {'a', (char)c, 'a', '\0'}, in_front[] = {(char)c, 'a', '\0'};
        bool starts = c >= 128 || c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        bool goes_on = starts || c == '$' || (c >= '0' && c <= '9');
        rw_token token = first_token(behind, true);
        if (token.kind != RW_TOKEN_WORD || token.end != (goes_on ? 3 : 1))
            fail_msg("byte %d behind a letter", c);
        token = first_token(in_front, true);
        if ((token.kind == RW_TOKEN_WORD && token.end == 2) != (starts || strchr(" \t\n\r\f", c)))
            fail_msg("byte %d in front of a letter: %d", c, token.kind);
    }
}

/* The ends of all ranges that UTF-8 and UTF-16 have; `value` NULL: no escape may spell it. */
static void points_are_written_as_utf8(void **state)
{
    (void)state;
    static const struct {
        uint32_t point;
        const char *value;
    } cases[] = {{0, NULL},
                 {1, "\x01"},
                 {0x7f, "\x7f"},
                 {0x80, "\xc2\x80"},
                 {0x7ff, "\xdf\xbf"},
                 {0x800, "\xe0\xa0\x80"},
                 {0xd7ff, "\xed\x9f\xbf"},
                 {0xd800, NULL},
                 {0xdbff, NULL},
                 {0xdc00, NULL},
                 {0xdfff, NULL},
                 {0xe000, "\xee\x80\x80"},
                 {0xffff, "\xef\xbf\xbf"},
                 {0x10000, "\xf0\x90\x80\x80"},
                 {0x10ffff, "\xf4\x8f\xbf\xbf"},
                 {0x110000, NULL},
                 {0xffffff, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[32];
        snprintf(sql, sizeof sql, "E'\\U%08x'", cases[i].point);
        check_string(sql, true, cases[i].value);
        snprintf(sql, sizeof sql, "U&'\\+%06X'", cases[i].point);
        check_string(sql, true, cases[i].value);
        if (cases[i].point > 0xffff)
            continue;
        snprintf(sql, sizeof sql, "E'\\u%04X'", cases[i].point);
        check_string(sql, true, cases[i].value);
        snprintf(sql, sizeof sql, "U&'\\%04x'", cases[i].point);
        check_string(sql, true, cases[i].value);
    }
    check_string("E'\\ud800\\udc00'", true, "\xf0\x90\x80\x80");
    check_string("E'\\udbff\\udfff'", true, "\xf4\x8f\xbf\xbf");
    check_string("U&'\\d800\\dfff'", true, "\xf0\x90\x8f\xbf");
    check_string("U&'\\dbff\\dc00'", true, "\xf4\x8f\xb0\x80");
    check_string("U&'\\d800\\e000'", true, NULL);
    check_string("U&'\\d800\\dbff'", true, NULL);
    check_string("U&'\\d800x\\dc00'", true, NULL);
}

static void words_compare_without_case(void **state)
{
    (void)state;
    assert_true(rw_token_is(slice("InSert"), first_token("InSert", true), "insert"));
    assert_false(rw_token_is(slice("inserts"), first_token("inserts", true), "insert"));
    assert_false(rw_token_is(slice("inser"), first_token("inser", true), "insert"));
    assert_false(rw_token_is(slice("\"insert\""), first_token("\"insert\"", true), "insert"));
}

/* Without standard_conforming_strings a backslash hides the quote, and U& is refused. */
static void old_strings_take_backslashes(void **state)
{
    (void)state;
    assert_int_equal(first_token("'a\\'b'", false).end, 6);
    assert_int_equal(first_token("'a\\'b'", true).end, 4);
    assert_int_equal(first_token("U&'a'", false).kind, RW_TOKEN_BAD);
}

/* The backend does not see what stands behind a NUL, so neither may we. */
static void nothing_is_lexed_past_a_nul(void **state)
{
    (void)state;
    static const char *const texts[] = {"a\0b",   "'a\0'",   "E'\\\0'", "\"a\0\"",
                                        "$$\0$$", "--\0\nb", "/*\0*/b", " \0b"};
    static const size_t lens[] = {3, 4, 6, 4, 5, 5, 6, 3};
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        rw_lexer lexer;
        rw_lexer_init(&lexer, (pgw_slice){texts[i], lens[i]}, true);
        rw_token token = rw_lexer_next(&lexer);
        if (i == 0)
            token = rw_lexer_next(&lexer);
        assert_int_equal(token.kind, RW_TOKEN_BAD);
        assert_int_equal(rw_lexer_next(&lexer).kind, RW_TOKEN_BAD);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_agree_with_postgresql),
        cmocka_unit_test(numbers_of_newer_servers_are_read),
        cmocka_unit_test(generated_statements_agree_with_postgresql),
        cmocka_unit_test(random_bytes_agree_with_postgresql),
        cmocka_unit_test(strings_are_unescaped),
        cmocka_unit_test(names_are_folded_or_unquoted),
        cmocka_unit_test(every_byte_is_in_words_or_not),
        cmocka_unit_test(points_are_written_as_utf8),
        cmocka_unit_test(words_compare_without_case),
        cmocka_unit_test(old_strings_take_backslashes),
        cmocka_unit_test(nothing_is_lexed_past_a_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
