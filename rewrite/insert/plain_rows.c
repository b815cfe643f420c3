#include "rewrite/insert/plain_rows.h"

#include "protocol/digits.h"

#include <string.h>

enum {
    MOST_HEAD = 1024, /* Bytes up to VALUES that are looked through. */
    MOST_TEXT = 1 << 30,
    AT_ONCE = RW_PLAIN_AT_ONCE /* No INSERT is shorter. */
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
    if (text.len < AT_ONCE || text.len > MOST_TEXT)
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
    rows->next = (size_t)(skip_blanks(behind) - text.ptr);
    rows->more = false;
    rows->day = (pgw_day){0};
    return true;
}

const char *rw_plain_mark(const char *at, const char *end)
{
    unsigned marks = 0;
    for (const char *last = end - AT_ONCE; at <= last; at += AT_ONCE) {
        marks = rw_plain_marks(at);
        if (marks != 0)
            return at + __builtin_ctz(marks);
    }
    marks = rw_plain_marks(end - AT_ONCE) >> (AT_ONCE - (end - at));
    return marks != 0 ? at + __builtin_ctz(marks) : end;
}

/* The place behind the string that opens at `at`; NULL: it does not end, or has backslashes. */
static inline const char *read_string(const char *at, const char *end, rw_plain_cell *cell)
{
    cell->kind = RW_PLAIN_STRING;
    cell->minus = cell->doubled = cell->known = false;
    for (at = rw_plain_mark(at + 1, end); *at == '\''; at = rw_plain_mark(at + 2, end)) {
        if (at[1] != '\'')
            return at + 1;
        cell->doubled = true;
    }
    return NULL;
}

static const char *skip_digits(const char *at)
{
    while (class_of(at) & DIGIT)
        at++;
    return at;
}

/* Reads the digits behind those that make `number`, or the last ones of a text; returns the place
 * behind them. */
static __attribute__((noinline)) const char *read_more_digits(const char *at, uint64_t *number)
{
    for (; class_of(at) & DIGIT; at++)
        *number = *number * 10 + (uint64_t)(*at - '0');
    return at;
}

/* The place behind the digits at `at`; `number` is the one that they make, modulo 2^64. */
static inline const char *read_digits(const char *at, const char *end, uint64_t *number)
{
    enum { FEW = 8 };
    *number = 0;
    if (end - at < FEW)
        return read_more_digits(at, number);
    size_t len = pgw_leading_digits(at, number);
    return len < FEW ? at + len : read_more_digits(at + len, number);
}

/* The place behind the number; NULL: there is none. A minus is part of the number right behind
 * it. */
static inline const char *read_number(const char *at, const char *end, rw_plain_cell *cell)
{
    enum { SHORT_DIGITS = 18 /* So many fit into an int8. */ };
    uint64_t number;
    bool minus = *at == '-';
    const char *from = at + minus, *to = read_digits(from, end, &number);
    cell->minus = minus;
    cell->doubled = false;
    cell->known = *to != '.' && to - from <= SHORT_DIGITS;
    cell->number = (int64_t)(minus ? -number : number);
    cell->kind = RW_PLAIN_INTEGER;
    if (to == from)
        return NULL;
    if (*to != '.')
        return to;
    cell->kind = RW_PLAIN_DECIMAL;
    const char *behind = skip_digits(to + 1);
    return behind > to + 1 ? behind : NULL;
}

const char *rw_plain_number(const rw_plain_rows *rows, const char *at, rw_plain_cell *cell)
{
    const char *base = rows->text.ptr, *behind = read_number(at, base + rows->text.len, cell);
    cell->start = (uint32_t)(at - base);
    cell->end = (uint32_t)(behind - base);
    return behind;
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
        cell->minus = cell->doubled = cell->known = false;
        rows->defaults = rows->defaults || words[i].kind == RW_PLAIN_DEFAULT;
        return at + words[i].len;
    }
    return NULL;
}

/* The place behind the cell that begins at `at`, or behind the blanks there; NULL: it is not
 * plain. */
static inline const char *read_cell(rw_plain_rows *rows, const char *at, rw_plain_cell *cell)
{
    const char *base = rows->text.ptr, *end = base + rows->text.len;
    unsigned class = class_of(at);
    if (class & BLANK) {
        at = skip_blanks(at + 1);
        class = class_of(at);
    }
    cell->start = (uint32_t)(at - base);
    if (*at == '\'')
        at = read_string(at, end, cell);
    else if (class & WORD)
        at = read_word(rows, at, cell);
    else
        at = read_number(at, end, cell);
    cell->end = (uint32_t)(at - base);
    return at;
}

bool rw_plain_next(rw_plain_rows *rows)
{
    const char *base = rows->text.ptr, *at = base + rows->next;
    rw_plain_cell *cell = rows->cells, *last = cell + RW_PLAIN_CELLS;
    /* More blanks may stand there than before the rows that this one was found like. */
    if (*at != '(' && *(at = skip_blanks(at)) != '(')
        return false;
    rows->open = (size_t)(at - base);
    rows->defaults = false;
    do {
        at = cell < last ? read_cell(rows, at + 1, cell++) : NULL;
        if (at == NULL)
            return false;
        at = skip_blanks(at);
    } while (*at == ',');
    if (*at != ')')
        return false;
    rows->cell_count = (size_t)(cell - rows->cells);
    rows->close = (size_t)(at - base);
    at = skip_blanks(at + 1);
    rows->more = *at == ',';
    if (rows->more)
        rows->next = (size_t)(skip_blanks(at + 1) - base);
    return true;
}

/* ---- rows like the first one ---- */

static bool is_string(const rw_plain_cell *cell)
{
    return cell->kind == RW_PLAIN_STRING;
}

/* Makes a gap of the text from `from` to `to`. False: it is too long. */
static bool set_gap(const rw_plain_rows *rows, size_t from, size_t to, rw_plain_gap *gap)
{
    static const char ones[sizeof gap->mask] = "\377\377\377\377\377\377\377\377";
    if (to - from > sizeof gap->bytes)
        return false;
    gap->len = (uint8_t)(to - from);
    memcpy(&gap->bytes, rows->text.ptr + from, to - from);
    memcpy(&gap->mask, ones, to - from);
    return true;
}

/* Learns how rows are written. False: no rows can be read like that. */
static bool learn_gaps(const rw_plain_rows *rows, rw_plain_pattern *out)
{
    if (!rows->more || out->any || out->cells > RW_PLAIN_QUICK || rows->text.len < RW_PLAIN_AHEAD)
        return false;
    size_t from = rows->open;
    for (size_t i = 0; i < out->cells; i++) {
        const rw_plain_cell *cell = &rows->cells[i];
        bool string = is_string(cell);
        if (cell->kind > RW_PLAIN_DECIMAL ||
            !set_gap(rows, from, cell->start + string, &out->gaps[i]))
            return false;
        out->gaps[i].before = string ? RW_PLAIN_BEFORE_STRING : RW_PLAIN_BEFORE_NUMBER;
        from = cell->end - string;
    }
    out->from_close = rows->next - rows->close;
    out->gaps[out->cells].before = RW_PLAIN_BEFORE_ROW;
    return set_gap(rows, from, rows->next, &out->gaps[out->cells]);
}

void rw_plain_pattern_of(const rw_plain_rows *rows, rw_plain_pattern *out)
{
    *out = (rw_plain_pattern){.cells = rows->cell_count, .any = rows->defaults};
    for (size_t i = 0; i < out->cells; i++)
        out->defaults[i / 64] |= (uint64_t)(rows->cells[i].kind == RW_PLAIN_DEFAULT) << i % 64;
    out->quick = learn_gaps(rows, out);
}

static bool has_pattern(const rw_plain_rows *rows, const rw_plain_pattern *pattern)
{
    bool has = rows->cell_count == pattern->cells;
    for (size_t i = 0; i < rows->cell_count && has; i++)
        has =
            (rows->cells[i].kind == RW_PLAIN_DEFAULT) == (pattern->defaults[i / 64] >> i % 64 & 1);
    return has;
}

void rw_plain_expect_time(rw_plain_pattern *pattern, size_t cell)
{
    if (pattern->quick && pattern->gaps[cell].before == RW_PLAIN_BEFORE_STRING)
        pattern->gaps[cell].before = RW_PLAIN_BEFORE_TIME;
}

bool rw_plain_next_like(rw_plain_rows *rows, const rw_plain_pattern *pattern)
{
    return rw_plain_next(rows) && has_pattern(rows, pattern);
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
