#include "ydb/plain/blame.h"

#include "protocol/types.h"
#include "ydb/plain/pg_type.h"

#include <string.h>

/* The type behind "to" in the words of an error, or an array's element type. PGW_UNSPECIFIED: there
 * is no type that is known. */
static uint32_t type_of_words(pgw_slice words)
{
    static const char to[] = " to ";
    rw_pg_type type;
    for (size_t at = 0; at + sizeof to - 1 <= words.len; at++) {
        if (memcmp(words.ptr + at, to, sizeof to - 1) != 0)
            continue;
        const size_t from = at + sizeof to - 1;
        if (!rw_pg_type_written((pgw_slice){words.ptr + from, words.len - from}, &type))
            return PGW_UNSPECIFIED;
        return type.is_array ? type.element : type.oid;
    }
    return PGW_UNSPECIFIED;
}

/* Whether the word begins as the name does: some type names have several words, and most types have
 * two names. */
static bool begins_alike(pgw_slice word, const char *name)
{
    enum { BEGINNING = 3 };
    return word.len >= BEGINNING &&
           pgw_slice_ieq((pgw_slice){word.ptr, BEGINNING}, (pgw_slice){name, BEGINNING});
}

/* Whether the cursor is at the type of a cast: `::` or AS stands before it. */
static bool at_type(const rw_cursor *cursor)
{
    return cursor->before.kind == RW_TOKEN_CAST || rw_cursor_after_word(cursor, "as");
}

bool rw_cast_may_be_clients(pgw_slice text, pgw_slice words, bool conforming)
{
    rw_cursor cursor;
    rw_pg_type type;
    bool known = rw_pg_type_of(type_of_words(words), &type);
    rw_cursor_begin(&cursor, text, (rw_part){0, text.len}, conforming);
    for (; !rw_cursor_ended(&cursor); rw_cursor_advance(&cursor)) {
        pgw_slice word = rw_token_text(text, cursor.token);
        if (at_type(&cursor) &&
            (!known || begins_alike(word, type.name) || begins_alike(word, type.shown) ||
             pgw_type_by_name(word) == type.oid))
            return true;
    }
    return false;
}
