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
    AHEAD = 8           /* blocks that are looked at once plain rows were found */
};

/* Reads a plain field of the row at hand, by its number among those that are read. */
static inline void read_plain(pgw_copy *copy, size_t number, const char *begin, const char *end)
{
    const pgw_copy_options *options = copy->options;
    if (number > 0)
        pgw_copy_field_plain(options, options->force[number - 1],
                             (pgw_slice){begin, (size_t)(end - begin)}, &copy->fields[number - 1]);
}

/* The special bytes of a chunk, a word for each block. */
typedef struct special_blocks {
    const pgw_copy_scan *scan;
    const char *end;
    size_t count, number; /* how many blocks were looked at; which of them is at hand */
    uint64_t blocks[AHEAD];
} special_blocks;

/* Goes on to the next block that has special bytes. 0: there is none. */
static inline uint64_t next_block(special_blocks *it, const char **block)
{
    uint64_t found = 0;
    while (found == 0) {
        *block += BLOCK;
        if (*block >= it->end)
            break;
        if (++it->number == it->count) {
            it->count = pgw_copy_scan_blocks(it->scan, *block, it->end, AHEAD, it->blocks);
            it->number = 0;
        }
        found = it->blocks[it->number];
    }
    return found;
}

/* A pgw_copy_pass: passes whole rows as long as each has as many fields as it should and none that
 * is quoted or escaped. Their fields are read where they lie. Every other row is left as it is.
 * When `fill` is called, there is room for PGW_COPY_ROOM bytes. */
static inline __attribute__((always_inline)) void pgw_copy_pass_plain(pgw_copy_chunk *in,
                                                                      pgw_copy_fill *fill)
{
    pgw_copy *const copy = in->copy;
    const pgw_copy_options *const options = copy->options;
    const char delimiter = options->delimiter, *const end = in->end;
    const uint16_t *const last = options->wanted + options->columns - 1;
    const char *row = in->at, *block = row, *put = in->put;
    pgw_buf *const out = in->out;
    special_blocks of = {.scan = &copy->scan, .end = in->end};
    of.count = pgw_copy_scan_blocks(of.scan, block, end, 1, of.blocks);
    for (uint64_t found = of.blocks[0];;) {
        const char *field = row, *at;
        const uint16_t *wanted = options->wanted;
        for (;; wanted++, field = at + 1) {
            if (found == 0 && (found = next_block(&of, &block)) == 0)
                goto over;
            at = block + (size_t)__builtin_ctzll(found);
            found &= found - 1;
            if (wanted == last)
                break;
            if (*at != delimiter)
                goto over;
            read_plain(copy, *wanted, field, at);
        }
        if (*at != '\n' || *row == '\\' || at - row > PGW_COPY_KEY_MOST)
            break;
        read_plain(copy, *wanted, field, at);
        size_t come = (size_t)(at - put);
        char *to = pgw_buf_reserve(out, come + PGW_NEAR + PGW_COPY_ROOM);
        *pgw_put_near(to, put, come, end) = delimiter;
        out->len += come + 1;
        if (!fill(copy->context, copy->fields, out))
            pgw_buf_add_slice(out, options->null);
        copy->rows++;
        end_line_of(copy, (size_t)(at - row));
        put = at;
        row = at + 1;
    }
over:
    in->put = put;
    in->at = in->row = in->field = row;
}

#endif
