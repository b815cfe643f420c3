#include "rewrite/statement/words/spelling.h"

#include "protocol/value_text.h"
#include "rewrite/lex/lexer.h"

#include <string.h>

static bool is_beyond(const char *name)
{
    for (; *name != '\0'; name++)
        if ((unsigned char)*name >= 0x80)
            return true;
    return false;
}

typedef bool name_test(const void *who, const char *name);

static bool any_column(const rw_table *table, name_test *test, const void *who)
{
    if (table->hash_column < table->column_count &&
        test(who, table->columns[table->hash_column].name))
        return true;
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (test(who, table->columns[table->primary_key[i]].name))
            return true;
    for (size_t i = 0; i < table->hash_key_count; i++)
        if (test(who, table->columns[table->hash_key[i]].name))
            return true;
    return false;
}

static bool is_beyond_ascii(const void *unused, const char *name)
{
    (void)unused;
    return is_beyond(name);
}

/* Whether the schema or a key column of the table has a name beyond ASCII. */
static bool parts_beyond(const rw_table *table)
{
    return is_beyond(table->schema) || any_column(table, is_beyond_ascii, NULL);
}

bool rw_names_beyond_ascii(const rw_catalog *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (is_beyond(names->tables[i]->name) || parts_beyond(names->tables[i]))
            return true;
    return false;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* How many characters beyond ASCII `text` begins with; they are taken off it. */
static size_t take_beyond(rw_encoding encoding, pgw_slice *text)
{
    size_t count = 0;
    for (; text->len > 0 && (unsigned char)text->ptr[0] >= 0x80; count++) {
        size_t length = rw_character_length(encoding, *text);
        *text = (pgw_slice){text->ptr + length, text->len - length};
    }
    return count;
}

/* Whether both have the same number of characters; one of JIS X 0213 may stand for two. */
static bool same_number(rw_encoding encoding, size_t in_name, size_t in_text)
{
    bool halves = encoding == RW_ENCODING_EUC || encoding == RW_ENCODING_SJIS;
    return in_text == in_name || (halves && in_text < in_name && in_text >= (in_name + 1) / 2);
}

/* Takes the ASCII letters off that both begin with. */
static void take_common(pgw_slice *text, pgw_slice *name)
{
    while (name->len > 0 && text->len > 0 && (unsigned char)name->ptr[0] < 0x80 &&
           lower(name->ptr[0]) == lower(text->ptr[0])) {
        *name = (pgw_slice){name->ptr + 1, name->len - 1};
        *text = (pgw_slice){text->ptr + 1, text->len - 1};
    }
}

/* Whether `text` has as many characters, and those of ASCII are the name's. One that stands for one
 * beyond ASCII is not compared. A long name is cut by the server, who counts bytes of its own. */
static bool is_like(rw_encoding encoding, pgw_slice text, pgw_slice name)
{
    bool cut = name.len + 4 > PGW_NAME_MAX, same = true;
    while (name.len > 0 && same) {
        size_t before = name.len;
        take_common(&text, &name);
        size_t in_name = take_beyond(RW_ENCODING_UTF8, &name);
        size_t in_text = take_beyond(encoding, &text);
        bool more = cut && name.len == 0 && in_text > in_name;
        same = name.len < before && (more || same_number(encoding, in_name, in_text));
    }
    return same && (text.len == 0 || cut);
}

typedef struct search {
    const rw_script_encoding *how;
    pgw_slice text;       /* the text as the client wrote it */
    rw_token token;       /* the current token of the text in a form that can be lexed */
    const rw_table *only; /* table whose schema and columns are sought; NULL: tables are */
    const rw_catalog *names;
} search;

static bool token_spells(const void *who, const char *name)
{
    const search *it = who;
    if (!is_beyond(name))
        return false;
    pgw_slice word = rw_token_text(it->text, it->token);
    if (it->token.kind == RW_TOKEN_WORD)
        return (it->how->recoded || !pgw_slice_eq_str(word, name)) &&
               is_like(it->how->encoding, word, pgw_slice_str(name));
    if (word.ptr[0] != '"') /* U&"…", and letters beside those that numbers stand for */
        return true;
    return it->how->recoded &&
           is_like(it->how->encoding, (pgw_slice){word.ptr + 1, word.len - 2}, pgw_slice_str(name));
}

static bool token_is_named(const search *it)
{
    if (it->only != NULL)
        return token_spells(it, it->only->schema) || any_column(it->only, token_spells, it);
    for (size_t i = 0; i < it->names->count; i++)
        if (token_spells(it, it->names->tables[i]->name))
            return true;
    return false;
}

static bool has_beyond(pgw_slice word)
{
    for (size_t i = 0; i < word.len; i++)
        if ((unsigned char)word.ptr[i] >= 0x80)
            return true;
    return false;
}

/* An end that is missing is looked behind: a word too many is but too careful. */
static bool any_token(search *it, bool conforming)
{
    pgw_arena arena = {0};
    bool found = false;
    rw_lexer lexer;
    rw_lexer_init(&lexer, rw_encoding_lexable(it->how->encoding, it->text, &arena), conforming);
    for (it->token = rw_lexer_next(&lexer); it->token.kind != RW_TOKEN_END && !found;
         it->token = rw_lexer_next(&lexer)) {
        bool name = it->token.kind == RW_TOKEN_WORD || it->token.kind == RW_TOKEN_QUOTED;
        found = name && has_beyond(rw_token_text(it->text, it->token)) && token_is_named(it);
        if (it->token.kind == RW_TOKEN_BAD)
            lexer.at = it->token.start + 1;
    }
    pgw_arena_free(&arena);
    return found;
}

/* Looks for a token by either reading of backslashes. */
static bool any_token_read(search *it, bool conforming)
{
    return any_token(it, conforming) ||
           (rw_lexer_heeds_conforming(it->text) && any_token(it, !conforming));
}

bool rw_may_spell_table(const rw_script_encoding *how, pgw_slice text, const rw_catalog *names,
                        bool conforming)
{
    search it = {.how = how, .text = text, .names = names};
    return (how->recoded || how->folded) && has_beyond(text) && rw_names_beyond_ascii(names) &&
           any_token_read(&it, conforming);
}

/* The letters of ASCII that a name begins with, and one beyond. */
static bool part_begins(pgw_slice part, const char *name)
{
    size_t letters = 0;
    while ((unsigned char)name[letters] < 0x80)
        letters++;
    for (size_t at = 0; at + letters < part.len; at++) {
        size_t same = 0;
        while (same < letters && lower(part.ptr[at + same]) == lower(name[same]))
            same++;
        if (same == letters && (unsigned char)part.ptr[at + same] >= 0x80)
            return true;
    }
    return false;
}

bool rw_part_may_spell_table(const rw_script_encoding *how, pgw_slice part, const rw_catalog *names)
{
    bool found = false;
    for (size_t i = 0; (how->recoded || how->folded) && i < names->count && !found; i++)
        found = is_beyond(names->tables[i]->name) && part_begins(part, names->tables[i]->name);
    return found;
}

bool rw_may_spell_part(const rw_script_encoding *how, pgw_slice text, const rw_catalog *names,
                       bool conforming)
{
    for (size_t i = 0; (how->recoded || how->folded) && i < names->count; i++) {
        const rw_table *table = names->tables[i];
        const rw_catalog alone = {.tables = &table, .count = 1};
        search it = {.how = how, .text = text, .only = table, .names = names};
        if (parts_beyond(table) && rw_catalog_mentioned(&alone, text) &&
            (how->recoded || any_token_read(&it, conforming)))
            return true;
    }
    return false;
}
