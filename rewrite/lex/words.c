#include "rewrite/lex/words.h"

#include <string.h>

static bool is_letter(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool holds(pgw_slice text, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= text.len; i++) {
        bool begins = i == 0 || !is_letter(text.ptr[i - 1]);
        bool ends = i + len == text.len || !is_letter(text.ptr[i + len]);
        if (begins && ends && pgw_slice_ieq_str((pgw_slice){text.ptr + i, len}, word))
            return true;
    }
    return false;
}

bool rw_holds_any(pgw_slice text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (holds(text, *words))
            return true;
    return false;
}
