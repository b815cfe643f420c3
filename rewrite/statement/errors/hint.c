#define _GNU_SOURCE
#include "rewrite/statement/errors/hint.h"

#include <string.h>

static const pgw_slice head = PGW_LITERAL("Perhaps you meant to reference the column \"");
static const pgw_slice joint = PGW_LITERAL("\" or the column \"");
static const pgw_slice tail = PGW_LITERAL("\".");

/* Tables whose hash columns may be hidden. */
typedef struct hashes {
    const rw_table *const *tables;
    size_t count;
} hashes;

/* The next hidden hash column, of the tables from `*i` on; NULL: there is none. */
static const char *next_of(const hashes *of, size_t *i)
{
    while (*i < of->count) {
        const rw_table *table = of->tables[(*i)++];
        if (!table->shows_hash && table->hash_column < table->column_count)
            return table->columns[table->hash_column].name;
    }
    return NULL;
}

/* Whether `column`, written `table.column`, is a hidden hash column. */
static bool is_hash(const hashes *of, pgw_slice column)
{
    size_t i = 0;
    for (const char *name; (name = next_of(of, &i)) != NULL;) {
        size_t len = strlen(name);
        const char *end = column.ptr + column.len;
        if (column.len > len && end[-(ptrdiff_t)len - 1] == '.' &&
            memcmp(end - len, name, len) == 0)
            return true;
    }
    return false;
}

/* Whether a hint in another language than English mentions a hash column. */
static bool mentions(const hashes *of, pgw_slice hint)
{
    size_t i = 0;
    for (const char *name; (name = next_of(of, &i)) != NULL;)
        if (rw_text_mentions(hint, name))
            return true;
    return false;
}

/* Reads the one or two columns that the hint names; false: it is another hint. */
static bool read_columns(pgw_slice hint, pgw_slice columns[2])
{
    if (hint.len <= head.len + tail.len || memcmp(hint.ptr, head.ptr, head.len) != 0)
        return false;
    pgw_slice all = {hint.ptr + head.len, hint.len - head.len - tail.len};
    const char *at = memmem(all.ptr, all.len, joint.ptr, joint.len);
    columns[0] = (pgw_slice){all.ptr, at != NULL ? (size_t)(at - all.ptr) : all.len};
    size_t second = columns[0].len + joint.len;
    columns[1] =
        at != NULL ? (pgw_slice){all.ptr + second, all.len - second} : (pgw_slice){all.ptr, 0};
    return true;
}

/* Writes the hint without hash columns, if anything is left of it. False: it names none. */
static bool write_hint(const hashes *of, pgw_slice hint, pgw_buf *out)
{
    pgw_slice columns[2];
    if (!read_columns(hint, columns))
        return mentions(of, hint);
    bool first = is_hash(of, columns[0]), second = is_hash(of, columns[1]);
    if (!first && !second)
        return false;
    const pgw_slice left = columns[first];
    if ((first && second) || left.len == 0)
        return true;
    pgw_buf_add_byte(out, 'H');
    pgw_buf_add_slice(out, head);
    pgw_buf_add_slice(out, left);
    pgw_buf_add_slice(out, tail);
    pgw_buf_add_byte(out, '\0');
    return true;
}

bool rw_hint_hide(const rw_table *const *tables, size_t count, pgw_slice body, pgw_buf *out)
{
    const hashes of = {tables, count};
    pgw_buf hint = {0};
    if (!pgw_slice_eq_str(pgw_error_field(body, 'C'), "42703") ||
        !write_hint(&of, pgw_error_field(body, 'H'), &hint))
        return false;
    for (size_t at = 0; at < body.len && body.ptr[at] != '\0';) {
        size_t len = strnlen(body.ptr + at + 1, body.len - at - 1) + 2;
        if (body.ptr[at] == 'H')
            pgw_buf_add_slice(out, pgw_slice_buf(&hint));
        else
            pgw_buf_add(out, body.ptr + at, len);
        at += len;
    }
    pgw_buf_add_byte(out, '\0');
    pgw_buf_free(&hint);
    return true;
}
