/*
 * quick_rows: rows of a long INSERT that are written like the one before them, read by what stands
 * between their cells.
 */
#ifndef RW_QUICK_ROWS_H
#define RW_QUICK_ROWS_H

#include "protocol/digits.h"
#include "rewrite/insert/plain_rows.h"

/* Sets a cell from `at` to `behind`, without a minus. */
static inline void rw_quick_set(const rw_plain_rows *rows, const char *at, const char *behind,
                                rw_plain_kind kind, bool known, rw_plain_cell *cell)
{
    cell->start = (uint32_t)(at - rows->text.ptr);
    cell->end = (uint32_t)(behind - rows->text.ptr);
    cell->kind = (uint8_t)kind;
    cell->minus = cell->doubled = false;
    cell->known = known;
}

/* Reads a string up to its first quote or backslash: in the gap behind it there is one quote.
 * Returns the place of that. */
static inline const char *rw_quick_string(const rw_plain_rows *rows, const char *at,
                                          rw_plain_cell *cell)
{
    unsigned marks = rw_plain_marks(at);
    const char *behind =
        marks != 0 ? at + __builtin_ctz(marks)
                   : rw_plain_mark(at + RW_PLAIN_AT_ONCE, rows->text.ptr + rows->text.len);
    rw_quick_set(rows, at - 1, behind + 1, RW_PLAIN_STRING, false, cell);
    return behind;
}

/* Reads a string that is mostly a usual timestamptz. */
static inline const char *rw_quick_time(rw_plain_rows *rows, const char *at, rw_plain_cell *cell)
{
    const char *behind = at + PGW_TIME_USUAL;
    if (*behind != '\'' || !pgw_time_usual_at(at, &rows->day, &cell->number))
        return rw_quick_string(rows, at, cell);
    rw_quick_set(rows, at - 1, behind + 1, RW_PLAIN_STRING, true, cell);
    return behind;
}

/* Reads a number, at once if it has few digits alone. The place behind it; NULL: there is none. */
static inline const char *rw_quick_number(const rw_plain_rows *rows, const char *at,
                                          rw_plain_cell *cell)
{
    enum { MOST = 7 };
    uint64_t number;
    size_t digits = pgw_leading_digits(at, &number);
    if (digits - 1 >= MOST || at[digits] == '.')
        return rw_plain_number(rows, at, cell);
    rw_quick_set(rows, at, at + digits, RW_PLAIN_INTEGER, true, cell);
    cell->number = (int64_t)number;
    return at + digits;
}

/* Reads the next row if it is written like the first one and another row follows. */
static inline bool rw_quick_row(rw_plain_rows *rows, const rw_plain_pattern *pattern)
{
    const char *base = rows->text.ptr, *at = base + rows->next;
    const char *last = base + rows->text.len - RW_PLAIN_AHEAD;
    rw_plain_cell *cell = rows->cells;
    for (const rw_plain_gap *gap = pattern->gaps; at <= last; cell++, gap++) {
        uint64_t bytes;
        memcpy(&bytes, at, sizeof bytes);
        if (((bytes ^ gap->bytes) & gap->mask) != 0)
            return false;
        at += gap->len;
        switch (gap->before) {
        case RW_PLAIN_BEFORE_NUMBER:
            at = rw_quick_number(rows, at, cell);
            if (at == NULL)
                return false;
            break;
        case RW_PLAIN_BEFORE_TIME:
            at = rw_quick_time(rows, at, cell);
            break;
        case RW_PLAIN_BEFORE_STRING:
            at = rw_quick_string(rows, at, cell);
            break;
        default:
            rows->open = rows->next;
            rows->next = (size_t)(at - base);
            rows->close = rows->next - pattern->from_close;
            return true;
        }
    }
    return false;
}

/* Reads the next row. False: the row is not plain, or has another pattern. */
PGW_MUST_CHECK static inline bool rw_quick_next(rw_plain_rows *rows,
                                                const rw_plain_pattern *pattern)
{
    return (pattern->quick && rw_quick_row(rows, pattern)) || rw_plain_next_like(rows, pattern);
}

#endif
