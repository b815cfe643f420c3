/*
 * plain: rows of text and csv in which no byte is quoted or escaped, as most are: they are cut and
 * put out with the least work. Where a caller's own fill is compiled into that, it is not called
 * for each row.
 */
#ifndef PGW_COPY_PLAIN_H
#define PGW_COPY_PLAIN_H

#include "protocol/copy/cut.h"
#include "protocol/near.h"

enum {
    PGW_COPY_ROOM = 32, /* bytes that a fill may append without making room */
    AHEAD = 32          /* blocks that are looked through at once after plain rows were found */
};

/* Reads the fields of a plain row, each of which ends before a special byte, behind which the next
 * one begins: `cuts` has where they do in the piece. */
static inline void read_plain(pgw_copy *copy, const char *piece, const uint32_t *cuts)
{
    const pgw_copy_options *options = copy->options;
    const size_t *column = copy->column_of, *const end = column + options->wanted_count;
    for (pgw_copy_field *field = copy->fields; column < end; field++, column++) {
        uint32_t begin = cuts[*column];
        *field = (pgw_copy_field){.bytes = {piece + begin, cuts[*column + 1] - begin - 1}};
        if (field->bytes.len == options->null.len || field->bytes.len == options->marker.len)
            pgw_copy_field_plain(options, options->force[field - copy->fields], field->bytes,
                                 field);
    }
}

/* A pgw_copy_pass: passes whole rows as long as each has as many fields as it should and none that
 * is quoted or escaped. Their fields are read where they lie. Every other row is left as it is.
 * When `fill` is called, there is room for PGW_COPY_ROOM bytes. */
static inline __attribute__((always_inline)) void pgw_copy_pass_plain(pgw_copy_chunk *in,
                                                                      pgw_copy_fill *fill)
{
    pgw_copy *const copy = in->copy;
    const pgw_copy_options *const options = copy->options;
    const char delimiter = options->delimiter, *const begin = in->at, *put = in->put;
    /* A row that is longer than what is kept of it is none of these. */
    const char *const end =
        in->end - begin > PGW_COPY_KEY_MOST ? begin + PGW_COPY_KEY_MOST : in->end;
    const size_t columns = options->columns;
    pgw_buf *const out = in->out;
    pgw_copy_cuts of = {begin, begin, end, copy->cuts, 1, columns + 1 + AHEAD * BLOCK};
    const uint32_t *row = of.cuts, *known = row;
    of.cuts[0] = 0;
    for (const uint32_t *next;; row = next) {
        next = row + columns;
        if (next >= known) {
            known = pgw_copy_scan_on(&copy->scan, row, columns + 1, &of);
            row = of.cuts;
            next = row + columns;
            if (next >= known)
                break;
        }
        for (const uint32_t *cut = row + 1; cut < next; cut++)
            if (begin[*cut - 1] != delimiter)
                goto over;
        const char *at = begin + *next - 1;
        if (*at != '\n' || begin[*row] == '\\')
            break;
        read_plain(copy, begin, row);
        size_t come = (size_t)(at - put);
        char *to = pgw_buf_reserve(out, come + PGW_NEAR + PGW_COPY_ROOM);
        *pgw_put_near(to, put, come, end) = delimiter;
        out->len += come + 1;
        if (!fill(copy->context, copy->fields, out))
            pgw_buf_add_slice(out, options->null);
        copy->rows++;
        end_line_of(copy, *next - 1 - *row);
        put = at;
    }
over:
    in->put = put;
    in->at = in->row = in->field = begin + *row;
}

#endif
