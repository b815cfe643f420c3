/* Names beyond ASCII in texts of other encodings, and how long characters are there. */
#include "rewrite/lex/encoding.h"
#include "rewrite/statement/words/spelling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_lengths(void **state)
{
    (void)state;
    static const struct {
        const char *encoding, *text;
        size_t length;
    } cases[] = {
        {"UTF8", "a", 1},
        {"UTF8", "\xc3\xa9", 2},
        {"UNICODE", "\xe6\x97\xa5", 3},
        {"UTF8", "\xf0\x9f\x98\x80", 4},
        {"UTF8", "\xf0\x9f", 2}, /* cut off */
        {"LATIN1", "\xe9t", 1},
        {"SQL_ASCII", "\xc3\xa9", 1},
        {"GBK", "\x81\x5c!", 2},
        {"GBK", "a\x5c", 1},
        {"BIG5", "\xa4\x5c!", 2},
        {"UHC", "\x81\x41!", 2},
        {"EUC_CN", "\x8e\xa1!!", 2},
        {"EUC_JP", "\x8e\xb1!!", 2},
        {"EUC_JP", "\x8f\xb1\xb1!", 3},
        {"EUC_KR", "\xb0\xa1!!", 2},
        {"EUC_JIS_2004", "\xb0\xa1!!", 2},
        {"JOHAB", "\x88\x61!!", 2},
        {"EUC_TW", "\x8e\xa2\xa1\xa1", 4},
        {"EUC_TW", "\x8f\xa1\xa1!", 3},
        {"SJIS", "\x95\x5c!", 2},
        {"SJIS", "\xb1\x5c!", 1}, /* half a width */
        {"SJIS", "\xdf\x5c!", 1},
        {"SHIFT_JIS_2004", "\xe0\x5c!", 2},
        {"GB18030", "\x81\x30\x81\x30!", 4},
        {"GB18030", "\x81\x40!!", 2},
        {"MULE_INTERNAL", "\x81\xe9!!", 2},
        {"MULE_INTERNAL", "\x92\xb0\xa1!", 3},
        {"MULE_INTERNAL", "\x9a\xa0\xa1!", 3},
        {"MULE_INTERNAL", "\x9c\xf0\xa1\xa1!", 4},
        {"MULE_INTERNAL", "\x9d\xf5\xa1\xa1!", 4},
        {"MULE_INTERNAL", "\xff!!", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(
            rw_character_length(rw_encoding_of(cases[i].encoding), pgw_slice_str(cases[i].text)),
            cases[i].length);
}

static void test_hidden_marks(void **state)
{
    (void)state;
    static const struct {
        const char *encoding, *text;
        bool hides;
    } cases[] = {
        {"SJIS", "\x95\x5c", true},    {"SJIS", "\x95\x41\x95\x5f\x95\x7a", false},
        {"SJIS", "a\\", false},        {"SJIS", "\xb1\\", false},
        {"GBK", "\x81\x40", true},     {"GBK", "\x81\x81\\", false},
        {"GBK", "\x81\x7c", true},     {"GB18030", "\x81\x30\x81\x39", false},
        {"EUC_JP", "\xb0\xa1", false}, {"LATIN1", "\xe9\\", false},
        {"BIG5", "\xa4", false},       {"UTF8", "\xc3\xa9", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(rw_encoding_hides_marks(rw_encoding_of(cases[i].encoding),
                                                 pgw_slice_str(cases[i].text)),
                         cases[i].hides);
}

static rw_column columns[] = {{.name = "h"}, {.name = "id"}, {.name = "cl\xc3\xa9"}};
static size_t id = 1, cle = 2;

static rw_table table_of(char *schema, char *name, size_t *key)
{
    return (rw_table){.schema = schema,
                      .name = name,
                      .columns = columns,
                      .column_count = 3,
                      .primary_key = key,
                      .primary_key_count = 1,
                      .hash_key = key,
                      .hash_key_count = 1};
}

static rw_script_encoding written(const char *client, bool folded)
{
    rw_encoding encoding = rw_encoding_of(client);
    return (rw_script_encoding){encoding, encoding != RW_ENCODING_UTF8, folded};
}

typedef struct text_case {
    const char *encoding;
    bool folded;
    const char *text;
    bool may;
} text_case;

static void expect_tables(rw_table *table, const text_case *cases, size_t count)
{
    const rw_table *const tables[] = {table};
    const rw_catalog names = {.tables = tables, .count = 1};
    for (size_t i = 0; i < count; i++) {
        rw_script_encoding how = written(cases[i].encoding, cases[i].folded);
        if (rw_may_spell_table(&how, pgw_slice_str(cases[i].text), &names, true) != cases[i].may)
            fail_msg("%s: %s", cases[i].encoding, cases[i].text);
    }
}

static void test_tables(void **state)
{
    (void)state;
    rw_table cafe = table_of("public", "caf\xc3\xa9", &id);
    rw_table both = table_of("public", "\xe6\x97\xa5x\xe8\xa8\x98", &id);
    char sixty[64] = "\xc3\xa9";
    memset(sixty + 2, 'a', 60);
    rw_table large = table_of("public", sixty, &id);
    char accents[64];
    for (size_t i = 0; i < 31; i++)
        memcpy(accents + 2 * i, "\xc3\xa9", 3);
    rw_table accented = table_of("public", accents, &id);
    static const text_case of_cafe[] = {
        {"LATIN1", false, "insert into caf\xe9 values (1)", true},
        {"LATIN1", false, "insert into CAF\xe9 values (1)", true},
        {"LATIN1", false, "insert into \"caf\xe9\" values (1)", true},
        {"LATIN1", false, "select U&\"caf\xe9\"", true},
        {"LATIN1", false, "insert into caf\xe9s values (1)", false},
        {"LATIN1", false, "insert into kaf\xe9 values (1)", false},
        {"LATIN1", false, "select 'caf\xe9' -- caf\xe9", false},
        {"LATIN1", false, "select 'it''s', caf\xe9", true},
        {"LATIN1", false, "select '\\', caf\xe9, '\\'", true}, /* whatever a backslash is */
        {"LATIN1", false, "select '\\', ' caf\xe9'", true},
        {"LATIN1", false, "select '\\', kaf\xe9, '\\'", false},
        {"LATIN1", false, "select '\\', ' \xe9'", false},
        {"LATIN1", false, "select 1a, caf\xe9", true}, /* two tokens, in other versions */
        {"LATIN1", false, "select ' caf\xe9", true},
        {"LATIN1", false, "insert into cafe values (1)", false},
        {"LATIN1", false, "insert into caf\xc3\xa9 values (1)", false}, /* two letters there */
        {"GBK", false, "insert into caf\x81\x40 values (1)", true},
        {"SJIS", false, "select E'\x95\\', caf\xb1 --'", true},
        {"UTF8", false, "insert into CAF\xc3\x89 values (1)", false},
        {"UTF8", true, "insert into CAF\xc3\x89 values (1)", true},
        {"UTF8", true, "insert into \"CAF\xc3\x89\" values (1)", false},
        {"UTF8", true, "insert into caf\xc3\xa9 values (1)", false}, /* is seen for what it is */
    };
    static const text_case of_both[] = {
        {"GBK", false, "select \xc8\xd5x\xd3\x9b", true},
        {"GBK", false, "select \xc8\xd5X\xd3\x9b", true},
        {"GBK", false, "select \xc8\xd5\x41X\xd3\x9b", false},
        {"GBK", false, "select \xc8\xd5x\xd3\x9b\xd3\x9b", false},
        {"EUC_JP", false, "select \xc8\xd5x\xd3\xfb", true},
        {"EUC_JP", false, "select x\xc8\xd5\xd3\xfb", false},
    };
    char text[80];
    snprintf(text, sizeof text, "table \xe9%.60sbbb", sixty + 2);
    const text_case of_large[] = {{"LATIN1", false, text, true}, /* is cut */
                                  {"LATIN1", false,
                                   "table \xe9"
                                   "aaa",
                                   false}};
    expect_tables(&cafe, of_cafe, sizeof of_cafe / sizeof *of_cafe);
    expect_tables(&both, of_both, sizeof of_both / sizeof *of_both);
    expect_tables(&large, of_large, 2);
    memset(text, '\xe9', 40);
    text[40] = '\0';
    const text_case of_accented[] = {{"LATIN1", false, text, true},
                                     {"LATIN1", false, text + 9, true},
                                     {"LATIN1", false, text + 10, false}};
    expect_tables(&accented, of_accented, 3);
}

/* Two code points may be one character of JIS X 0213. */
static void test_joined(void **state)
{
    (void)state;
    rw_table table = table_of("public", "\xe3\x81\x8b\xe3\x82\x9a", &id);
    static const text_case cases[] = {
        {"EUC_JIS_2004", false, "select \xa4\xf7", true},
        {"SHIFT_JIS_2004", false, "select \x82\xf5", true},
        {"EUC_JIS_2004", false, "select \xa4\xf7\xa4\xf7\xa4\xf7", false},
        {"GBK", false, "select \xa4\xf7", false},
    };
    expect_tables(&table, cases, sizeof cases / sizeof *cases);
}

static void test_parts(void **state)
{
    (void)state;
    rw_table keyed = table_of("public", "keyed", &cle), inside = table_of("\xc3\x9f", "names", &id),
             plain = table_of("public", "plain", &id);
    const rw_table *const tables[] = {&keyed, &inside, &plain};
    const rw_catalog names = {.tables = tables, .count = 3};
    static const text_case cases[] = {
        {"LATIN1", false, "insert into keyed values (1)", true},
        {"LATIN1", false, "insert into \"names\" values (1)", true},
        {"LATIN1", false, "insert into plain values (1)", false},
        {"UTF8", false, "insert into keyed (CL\xc3\x89) values (1)", false},
        {"UTF8", true, "insert into keyed (CL\xc3\x89) values (1)", true},
        {"UTF8", true, "insert into keyed (cl\xc3\xa9) values (1)", false},
        {"UTF8", true, "insert into \xe1\xba\x9e.names values (1)", true},
        {"UTF8", true, "insert into keyed values (1)", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_script_encoding how = written(cases[i].encoding, cases[i].folded);
        if (rw_may_spell_part(&how, pgw_slice_str(cases[i].text), &names, true) != cases[i].may)
            fail_msg("%s: %s", cases[i].encoding, cases[i].text);
    }
    assert_true(rw_names_beyond_ascii(&names));
    const rw_table *const later[] = {&plain, &inside}, *const third[] = {&plain, &plain, &keyed};
    assert_true(rw_names_beyond_ascii(&(rw_catalog){.tables = later, .count = 2}));
    assert_true(rw_names_beyond_ascii(&(rw_catalog){.tables = third, .count = 3}));
    assert_false(rw_names_beyond_ascii(&(rw_catalog){.tables = third, .count = 2}));
    /* whichever of its columns it is that makes the hash, or is it */
    rw_table by_hash = table_of("public", "plain", &id), hashed = by_hash;
    by_hash.hash_column = cle;
    hashed.hash_key = &cle;
    const rw_table *const hashes[] = {&by_hash}, *const keys[] = {&hashed};
    assert_true(rw_names_beyond_ascii(&(rw_catalog){.tables = hashes, .count = 1}));
    assert_true(rw_names_beyond_ascii(&(rw_catalog){.tables = keys, .count = 1}));
    by_hash.column_count = cle; /* there is none */
    assert_false(rw_names_beyond_ascii(&(rw_catalog){.tables = hashes, .count = 1}));
    const rw_table *const only[] = {&plain};
    assert_false(rw_names_beyond_ascii(&(rw_catalog){.tables = only, .count = 1}));
}

static void test_a_part_of_a_text(void **state)
{
    (void)state;
    rw_table cafe = table_of("public", "caf\xc3\xa9", &id);
    const rw_table *const tables[] = {&cafe};
    const rw_catalog names = {.tables = tables, .count = 1};
    rw_script_encoding latin1 = written("LATIN1", false), utf8 = written("UTF8", false);
    assert_true(rw_part_may_spell_table(&latin1, pgw_slice_str("'CAF\xe9'"), &names));
    assert_true(rw_part_may_spell_table(&latin1, pgw_slice_str("caf\xe9"), &names));
    assert_false(rw_part_may_spell_table(&latin1, pgw_slice_str("caf"), &names));
    assert_false(rw_part_may_spell_table(&latin1, pgw_slice_str("cafe \xe9"), &names));
    assert_false(rw_part_may_spell_table(&utf8, pgw_slice_str("caf\xe9"), &names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_hidden_marks),
        cmocka_unit_test(test_tables),  cmocka_unit_test(test_joined),
        cmocka_unit_test(test_parts),   cmocka_unit_test(test_a_part_of_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
