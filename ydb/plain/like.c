#include "ydb/plain/like.h"

/* The bytes of the character at this place, at least one. */
static size_t character(pgw_slice text, size_t at)
{
    size_t end = at + 1;
    while (end < text.len && ((unsigned char)text.ptr[end] & 0xC0) == 0x80)
        end++;
    return end - at;
}

/* Takes one character of the text, and what stands for it in the pattern; no %. */
static bool step(pgw_slice text, pgw_slice pattern, size_t *at, size_t *known)
{
    if (*at == text.len || *known == pattern.len)
        return false;
    if (pattern.ptr[*known] == '_') {
        *at += character(text, *at);
        ++*known;
        return true;
    }
    if (pattern.ptr[*known] == '\\')
        ++*known;
    return *known < pattern.len && text.ptr[(*at)++] == pattern.ptr[(*known)++];
}

bool rw_is_like(pgw_slice text, pgw_slice pattern)
{
    size_t at = 0, known = 0;
    size_t back_at = 0, back = SIZE_MAX; /* the places behind the last %: in the text, and in the
                                            pattern (SIZE_MAX: none yet) */
    for (;;) {
        if (known < pattern.len && pattern.ptr[known] == '%') {
            back = ++known;
            back_at = at;
        } else if (at == text.len && known == pattern.len) {
            return true;
        } else if (!step(text, pattern, &at, &known)) {
            if (back == SIZE_MAX || back_at == text.len)
                return false;
            back_at += character(text, back_at);
            at = back_at;
            known = back;
        }
    }
}
