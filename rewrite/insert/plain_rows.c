#include "rewrite/insert/plain_rows.h"

#include <string.h>

enum {
    MOST_HEAD = 1024, /* Bytes up to VALUES that are looked through. */
    MOST_TEXT = 1 << 30
};

enum { BLANK = 1, DIGIT = 2, WORD = 4 };

static const unsigned char classes[256] = {
    ['\t'] = BLANK, ['\n'] = BLANK,        ['\f'] = BLANK,       ['\r'] = BLANK,
    [' '] = BLANK,  ['0' ... '9'] = DIGIT, ['A' ... 'Z'] = WORD, ['a' ... 'z'] = WORD,
    ['_'] = WORD,   ['$'] = WORD,          [128 ... 255] = WORD,
};

static unsigned class_of(const char *at)
{
    return classes[(unsigned char)*at];
}

static const char *skip_blanks(const char *at)
{
    while (class_of(at) & BLANK)
        at++;
    return at;
}

/* Whether this word, in any case, stands at `at`; none stands at the NUL behind the text. */
static bool is_word(const char *at, const char *lower, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((at[i] | 32) != lower[i])
            return false;
    return !(class_of(at + len) & (WORD | DIGIT));
}

/* The place behind VALUES at `at`, if a parenthesis follows the word; else NULL. */
static const char *behind_values(const char *at)
{
    if (!is_word(at, "values", 6) || class_of(at - 1) & (WORD | DIGIT))
        return NULL;
    return *skip_blanks(at + 6) == '(' ? at + 6 : NULL;
}

bool rw_plain_begin(pgw_slice text, rw_plain_rows *rows)
{
    if (text.len == 0 || text.len > MOST_TEXT)
        return false;
    const char *at = skip_blanks(text.ptr), *behind = NULL;
    if (!is_word(at, "insert", 6))
        return false;
    const char *end = text.ptr + (text.len < MOST_HEAD ? text.len : MOST_HEAD);
    for (at += 6; at < end && behind == NULL; at++)
        if ((*at | 32) == 'v')
            behind = behind_values(at);
    if (behind == NULL)
        return false;
    rows->text = text;
    rows->values = (size_t)(behind - text.ptr);
    rows->close = (size_t)(skip_blanks(behind) - text.ptr) - 1;
    rows->escapes = memchr(behind, '\\', text.len - rows->values) != NULL;
    rows->more = false;
    return true;
}

/* The place behind the string that opens at `at`; NULL: it does not end, or has backslashes. */
static const char *read_string(const rw_plain_rows *rows, const char *at, rw_plain_cell *cell)
{
    const char *from = at + 1, *end = rows->text.ptr + rows->text.len;
    const char *quote = memchr(from, '\'', (size_t)(end - from));
    cell->kind = RW_PLAIN_STRING;
    while (quote != NULL && quote[1] == '\'') {
        cell->doubled = true;
        quote = memchr(quote + 2, '\'', (size_t)(end - quote - 2));
    }
    if (quote == NULL || !rows->escapes)
        return quote != NULL ? quote + 1 : NULL;
    if (memchr(from, '\\', (size_t)(quote - from)) != NULL)
        return NULL;
    return quote + 1;
}

static const char *skip_digits(const char *at)
{
    while (class_of(at) & DIGIT)
        at++;
    return at;
}

/* A minus is part of the number right behind it. */
static const char *read_number(const char *at, rw_plain_cell *cell)
{
    cell->minus = *at == '-';
    const char *from = at + cell->minus, *to = from;
    for (unsigned digit; (digit = (unsigned)*to - '0') <= 9; to++)
        cell->number = cell->number * 10 + digit;
    if (to == from)
        return NULL;
    cell->kind = RW_PLAIN_INTEGER;
    if (*to != '.')
        return to;
    cell->kind = RW_PLAIN_DECIMAL;
    const char *behind = skip_digits(to + 1);
    return behind > to + 1 ? behind : NULL;
}

static const char *read_word(rw_plain_rows *rows, const char *at, rw_plain_cell *cell)
{
    static const struct {
        const char *word;
        size_t len;
        rw_plain_kind kind;
    } words[] = {{"null", 4, RW_PLAIN_NULL},
                 {"true", 4, RW_PLAIN_TRUE},
                 {"false", 5, RW_PLAIN_FALSE},
                 {"default", 7, RW_PLAIN_DEFAULT}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if ((*at | 32) != *words[i].word || !is_word(at, words[i].word, words[i].len))
            continue;
        cell->kind = (uint8_t)words[i].kind;
        rows->defaults = rows->defaults || words[i].kind == RW_PLAIN_DEFAULT;
        return at + words[i].len;
    }
    return NULL;
}

/* The place behind the cell at `at` and the blanks that follow it; NULL: the cell is not plain. */
static const char *read_cell(rw_plain_rows *rows, const char *at)
{
    pgw_slice text = rows->text;
    if (rows->cell_count == RW_PLAIN_CELLS)
        return NULL;
    rw_plain_cell *cell = &rows->cells[rows->cell_count++];
    *cell = (rw_plain_cell){.start = (uint32_t)(at - text.ptr)};
    if (*at == '\'')
        at = read_string(rows, at, cell);
    else if (class_of(at) & WORD)
        at = read_word(rows, at, cell);
    else
        at = read_number(at, cell);
    if (at == NULL)
        return NULL;
    cell->end = (uint32_t)(at - text.ptr);
    return skip_blanks(at);
}

bool rw_plain_next(rw_plain_rows *rows)
{
    const char *base = rows->text.ptr, *at = skip_blanks(base + rows->close + 1);
    if (rows->more)
        at = skip_blanks(at + 1);
    if (*at != '(')
        return false;
    rows->open = (size_t)(at - base);
    rows->cell_count = 0;
    rows->defaults = false;
    do {
        at = read_cell(rows, skip_blanks(at + 1));
        if (at == NULL)
            return false;
    } while (*at == ',');
    if (*at != ')')
        return false;
    rows->close = (size_t)(at - base);
    rows->more = *skip_blanks(at + 1) == ',';
    return true;
}

rw_plain_pattern rw_plain_pattern_of(const rw_plain_rows *rows)
{
    rw_plain_pattern it = {.cells = rows->cell_count, .any = rows->defaults};
    for (size_t i = 0; i < it.cells; i++)
        it.defaults[i / 64] |= (uint64_t)(rows->cells[i].kind == RW_PLAIN_DEFAULT) << i % 64;
    return it;
}

bool rw_plain_has_pattern(const rw_plain_rows *rows, const rw_plain_pattern *pattern)
{
    bool has = rows->cell_count == pattern->cells;
    if (!pattern->any && !rows->defaults)
        return has;
    for (size_t i = 0; i < rows->cell_count && has; i++)
        has =
            (rows->cells[i].kind == RW_PLAIN_DEFAULT) == (pattern->defaults[i / 64] >> i % 64 & 1);
    return has;
}

pgw_slice rw_plain_tail(const rw_plain_rows *rows)
{
    pgw_slice text = rows->text;
    return (pgw_slice){text.ptr + rows->close + 1, text.len - rows->close - 1};
}

typedef struct writer {
    char *at, *end;
} writer;

static bool put(writer *out, const char *from, const char *to)
{
    size_t len = (size_t)(to - from);
    if (len > (size_t)(out->end - out->at))
        return false;
    memcpy(out->at, from, len);
    out->at += len;
    return true;
}

/* The bytes in a shape that stand for cells, and for its end; none of them stands between cells of
 * a row. */
enum { CONSTANT = 1, DEFAULT = 2, ALONE = 3, FIRST = 4 };

static bool put_mark(writer *out, char mark)
{
    return put(out, &mark, &mark + 1);
}

size_t rw_plain_shape(const rw_plain_rows *rows, char *out, size_t room)
{
    const char *text = rows->text.ptr, *from = text + rows->open;
    bool alone = !rows->more;
    writer to = {out, out + room};
    bool fits = put(&to, text, from);
    for (size_t i = 0; i < rows->cell_count && fits; i++) {
        const rw_plain_cell *cell = &rows->cells[i];
        bool constant = cell->kind != RW_PLAIN_DEFAULT;
        fits = (!alone || put(&to, from, text + cell->start)) &&
               put_mark(&to, constant ? CONSTANT : DEFAULT);
        from = text + (constant ? cell->end : cell->start);
    }
    fits = fits && (!alone || put(&to, from, text + rows->close)) &&
           put_mark(&to, alone ? ALONE : FIRST);
    return fits ? (size_t)(to.at - out) : 0;
}

/* The inside of a string, with each doubled quote once. */
static pgw_slice without_doubles(pgw_slice inner, pgw_arena *arena)
{
    char *out = pgw_arena_alloc(arena, inner.len);
    size_t len = 0;
    for (size_t i = 0; i < inner.len; i++) {
        out[len++] = inner.ptr[i];
        i += inner.ptr[i] == '\'';
    }
    return (pgw_slice){out, len};
}

void rw_plain_read(pgw_slice text, const rw_plain_cell *cell, pgw_arena *arena, rw_cell *out)
{
    static const rw_cell_kind kinds[] = {
        [RW_PLAIN_STRING] = RW_CELL_STRING,   [RW_PLAIN_INTEGER] = RW_CELL_INTEGER,
        [RW_PLAIN_DECIMAL] = RW_CELL_DECIMAL, [RW_PLAIN_NULL] = RW_CELL_NULL,
        [RW_PLAIN_TRUE] = RW_CELL_BOOL,       [RW_PLAIN_FALSE] = RW_CELL_BOOL,
        [RW_PLAIN_DEFAULT] = RW_CELL_DEFAULT,
    };
    pgw_slice written = {text.ptr + cell->start + cell->minus,
                         cell->end - cell->start - cell->minus};
    *out = (rw_cell){.text = written,
                     .position = cell->start,
                     .kind = kinds[cell->kind],
                     .minus_after = cell->minus ? 0 : -1};
    if (cell->kind == RW_PLAIN_STRING) {
        out->text = (pgw_slice){written.ptr + 1, written.len - 2};
        if (cell->doubled)
            out->text = without_doubles(out->text, arena);
    } else if (out->kind == RW_CELL_BOOL) {
        out->text = cell->kind == RW_PLAIN_TRUE ? PGW_LITERAL("true") : PGW_LITERAL("false");
    } else if (out->kind == RW_CELL_NULL || out->kind == RW_CELL_DEFAULT) {
        out->text = (pgw_slice){NULL, 0};
    }
}
