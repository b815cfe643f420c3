#include "rewrite/lex/encoding.h"

#include <ctype.h>
#include <string.h>

rw_encoding rw_encoding_of(const char *name)
{
    static const struct {
        const char *name;
        rw_encoding encoding;
    } known[] = {
        {"utf8", RW_ENCODING_UTF8},         {"unicode", RW_ENCODING_UTF8},
        {"big5", RW_ENCODING_PAIRS},        {"win950", RW_ENCODING_PAIRS},
        {"windows950", RW_ENCODING_PAIRS},  {"gbk", RW_ENCODING_PAIRS},
        {"win936", RW_ENCODING_PAIRS},      {"windows936", RW_ENCODING_PAIRS},
        {"uhc", RW_ENCODING_PAIRS},         {"win949", RW_ENCODING_PAIRS},
        {"windows949", RW_ENCODING_PAIRS},  {"euccn", RW_ENCODING_PAIRS},
        {"eucjp", RW_ENCODING_EUC},         {"euckr", RW_ENCODING_EUC},
        {"eucjis2004", RW_ENCODING_EUC},    {"johab", RW_ENCODING_EUC},
        {"euctw", RW_ENCODING_EUC_TW},      {"sjis", RW_ENCODING_SJIS},
        {"shiftjis", RW_ENCODING_SJIS},     {"mskanji", RW_ENCODING_SJIS},
        {"win932", RW_ENCODING_SJIS},       {"windows932", RW_ENCODING_SJIS},
        {"shiftjis2004", RW_ENCODING_SJIS}, {"gb18030", RW_ENCODING_GB18030},
        {"muleinternal", RW_ENCODING_MULE},
    };
    char clean[24];
    size_t len = 0;
    for (; *name != '\0' && len + 1 < sizeof clean; name++)
        if (isalnum((unsigned char)*name))
            clean[len++] = (char)tolower((unsigned char)*name);
    clean[len] = '\0';
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (*name == '\0' && strcmp(clean, known[i].name) == 0)
            return known[i].encoding;
    return RW_ENCODING_SINGLE;
}

static size_t utf8_length(unsigned char first)
{
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* SS2 or SS3 in front means that the character is of another set. */
static size_t euc_length(unsigned char first, size_t after_ss2)
{
    return first == 0x8e ? after_ss2 : first == 0x8f ? 3 : 2;
}

static size_t mule_length(unsigned char first)
{
    return first <= 0x8d ? 2 : first <= 0x99 ? 3 : first <= 0x9b ? 3 : first <= 0x9d ? 4 : 1;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t announced(rw_encoding encoding, pgw_slice text)
{
    unsigned char first = (unsigned char)text.ptr[0];
    if (first < 0x80)
        return 1;
    switch (encoding) {
    case RW_ENCODING_UTF8:
        return utf8_length(first);
    case RW_ENCODING_SINGLE:
        return 1;
    case RW_ENCODING_PAIRS:
        return 2;
    case RW_ENCODING_EUC:
        return euc_length(first, 2);
    case RW_ENCODING_EUC_TW:
        return euc_length(first, 4);
    case RW_ENCODING_SJIS:
        return first >= 0xa1 && first <= 0xdf ? 1 : 2;
    case RW_ENCODING_GB18030:
        return text.len > 1 && is_digit(text.ptr[1]) ? 4 : 2;
    case RW_ENCODING_MULE:
        return mule_length(first);
    }
    return 1;
}

size_t rw_character_length(rw_encoding encoding, pgw_slice text)
{
    size_t length = announced(encoding, text);
    return length < text.len ? length : text.len;
}

static pgw_slice from(pgw_slice text, size_t at)
{
    return (pgw_slice){text.ptr + at, text.len - at};
}

static bool is_mark(char c)
{
    char lower = c | 0x20;
    return (unsigned char)c < 0x80 && !is_digit(c) && !(lower >= 'a' && lower <= 'z') && c != '_';
}

bool rw_encoding_hides_marks(rw_encoding encoding, pgw_slice text)
{
    for (size_t at = 0; at < text.len;) {
        size_t length = rw_character_length(encoding, from(text, at));
        for (size_t i = 1; i < length; i++)
            if (is_mark(text.ptr[at + i]))
                return true;
        at += length;
    }
    return false;
}

pgw_slice rw_encoding_lexable(rw_encoding encoding, pgw_slice text, pgw_arena *arena)
{
    pgw_slice copy = pgw_arena_copy(arena, text);
    char *bytes = (char *)copy.ptr;
    for (size_t at = 0; at < text.len;) {
        size_t length = rw_character_length(encoding, from(text, at));
        for (size_t i = 1; i < length; i++)
            bytes[at + i] = (char)0xff;
        at += length;
    }
    return copy;
}
