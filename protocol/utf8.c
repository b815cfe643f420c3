#include "protocol/utf8.h"

size_t pgw_utf8_announced(char first)
{
    if ((first & 0xe0) == 0xc0)
        return 2;
    if ((first & 0xf0) == 0xe0)
        return 3;
    if ((first & 0xf8) == 0xf0)
        return 4;
    return 1;
}

size_t pgw_utf8_length(pgw_slice text)
{
    const unsigned char *s = (const unsigned char *)text.ptr;
    if (text.len == 0 || s[0] == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    size_t length = pgw_utf8_announced(text.ptr[0]);
    if (length == 1 || length > text.len)
        return 0;
    /* No overlong forms, no surrogates, nothing above U+10FFFF. */
    unsigned char low = 0x80, high = 0xbf;
    if (s[0] == 0xe0)
        low = 0xa0;
    else if (s[0] == 0xed)
        high = 0x9f;
    else if (s[0] == 0xf0)
        low = 0x90;
    else if (s[0] == 0xf4)
        high = 0x8f;
    if (s[0] < 0xc2 || s[0] > 0xf4 || s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (!pgw_utf8_continues(text.ptr[i]))
            return 0;
    return length;
}

uint32_t pgw_utf8_code_point(pgw_slice text, size_t *length)
{
    unsigned char first = (unsigned char)text.ptr[0];
    *length = pgw_utf8_length(text);
    if (*length <= 1) {
        *length = 1;
        return first;
    }
    uint32_t code = first & (0x7fu >> *length);
    for (size_t i = 1; i < *length; i++)
        code = code << 6 | ((unsigned char)text.ptr[i] & 0x3fu);
    return code;
}

bool pgw_is_ascii(pgw_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0x80)
            return false;
    return true;
}

bool pgw_utf8_valid(pgw_slice text)
{
    for (size_t at = 0, length; at < text.len; at += length) {
        bool ascii = (unsigned char)text.ptr[at] < 0x80;
        length = ascii ? 1 : pgw_utf8_length((pgw_slice){text.ptr + at, text.len - at});
        if (length == 0)
            return false;
    }
    return true;
}

pgw_slice pgw_utf8_cut(pgw_slice text, size_t most)
{
    if (text.len <= most)
        return text;
    while (most > 0 && pgw_utf8_continues(text.ptr[most]))
        most--;
    return (pgw_slice){text.ptr, most};
}

size_t pgw_characters(pgw_slice text, size_t offset, bool utf8)
{
    size_t end = offset < text.len ? offset : text.len, characters = 0;
    if (!utf8)
        return end;
    for (size_t i = 0; i < end; i++)
        characters += !pgw_utf8_continues(text.ptr[i]);
    return characters;
}

size_t pgw_byte_of(pgw_slice text, size_t position, bool utf8)
{
    size_t at = 0;
    for (; at < text.len; at++)
        if ((!utf8 || !pgw_utf8_continues(text.ptr[at])) && --position == 0)
            break;
    return at;
}
