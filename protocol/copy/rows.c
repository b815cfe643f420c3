#include "protocol/copy/rows.h"

#include "protocol/copy/plain.h"
#include "protocol/copy/tuples.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

uint64_t pgw_copy_rows(const pgw_copy *copy)
{
    return copy->rows;
}

uint64_t pgw_copy_at_line(const pgw_copy *copy)
{
    return copy->line;
}

size_t pgw_copy_header_end(const pgw_copy *copy)
{
    return copy->header;
}

bool pgw_copy_has_ended(const pgw_copy *copy)
{
    return copy->ended || copy->marked;
}

const pgw_copy_fault *pgw_copy_wrong(const pgw_copy *copy)
{
    return copy->wrong;
}

bool pgw_copy_is_odd(const pgw_copy *copy, size_t *fields)
{
    *fields = copy->column;
    return copy->odd;
}

bool pgw_copy_line(const pgw_copy *copy, uint64_t line, size_t *bytes)
{
    *bytes = line < copy->line ? copy->lengths[line % LINES] : PGW_COPY_LINE_MOST;
    return line + LINES > copy->line;
}

/* --- the fields that are read --- */

/* Keeps the field at hand up to `to`, where it ends, or where the chunk does. */
static void keep_field(pgw_copy_chunk *in, const char *to)
{
    if (in->copy->wanted > 0)
        keep(in->copy, in->field, (size_t)(to - in->field));
}

/* --- the added field --- */

static void read_fields(pgw_copy *copy)
{
    const pgw_copy_options *options = copy->options;
    size_t there = options->every_row && copy->column < options->wanted_count
                       ? copy->column
                       : options->wanted_count;
    for (size_t i = 0; i < there; i++) {
        char *raw = copy->raw.ptr + copy->begins[i];
        size_t len = copy->ends[i] - copy->begins[i];
        copy->fields[i] = copy->overlong ? (pgw_copy_field){.unknown = true}
                          : options->format == PGW_COPY_TEXT
                              ? pgw_copy_field_text(options, raw, len)
                              : pgw_copy_field_csv(options, options->force[i], raw, len);
    }
}

/* `\.` alone on a line of csv. */
static bool is_end(const pgw_copy *copy)
{
    return copy->options->format == PGW_COPY_CSV && copy->options->csv_dot_ends &&
           copy->raw.len == 2 && memcmp(copy->raw.ptr, "\\.", 2) == 0 && copy->column == 1;
}

static void add_to_row(pgw_copy *copy, pgw_buf *out)
{
    copy->marked = copy->marked || is_end(copy);
    const pgw_copy_options *options = copy->options;
    bool header = !copy->began && options->header != PGW_COPY_NO_HEADER;
    bool few = copy->column < options->columns;
    if ((few && !options->every_row) || is_end(copy) ||
        (header && options->header == PGW_COPY_HEADER))
        return;
    pgw_buf_add_byte(out, options->delimiter);
    if (header) {
        pgw_buf_add_slice(out, options->added);
        return;
    }
    copy->odd = copy->column != options->columns;
    read_fields(copy);
    if (!copy->fill(copy->context, copy->fields, out))
        pgw_buf_add_slice(out, options->null);
    copy->rows++;
    copy->odd = false;
}

/* How many bytes of the row at hand, up to `to`, are beyond ASCII; in UTF8 that does not matter. */
static size_t beyond_ascii(const pgw_copy_chunk *in, const char *to)
{
    size_t beyond = 0;
    if (in->copy->options->characters != PGW_COPY_UTF8)
        for (const char *at = in->row; at < to; at++)
            beyond += (unsigned char)*at >= 0x80;
    return in->copy->beyond + beyond;
}

/* At the end of its line, or of the data: the row ends here. */
static void end_row(pgw_copy_chunk *in)
{
    pgw_copy *copy = in->copy;
    size_t len = copy->len + (size_t)(in->at - in->row) - beyond_ascii(in, in->at);
    keep_field(in, in->at);
    end_field(copy);
    put(in, in->at);
    add_to_row(copy, in->out);
    if (!copy->began && copy->options->header != PGW_COPY_NO_HEADER)
        copy->header = in->out->len;
    end_line_of(copy, len);
    copy->began = true;
    begin_row(copy);
}

/* --- rows of plain fields --- */

/* Whether the row at hand has just begun, and lines end as they do mostly. */
static bool may_be_plain(const pgw_copy_chunk *in)
{
    const pgw_copy *copy = in->copy;
    return in->at == in->row && copy->len == 0 && copy->column == 0 && copy->began &&
           copy->eol == EOL_NL && !copy->quoted && copy->options->columns > 0 &&
           copy->options->characters == PGW_COPY_UTF8;
}

/* A pgw_copy_pass for any fill. */
static void pass_rows(pgw_copy_chunk *in)
{
    pgw_copy_pass_plain(in, in->copy->fill);
}

/* --- text and csv --- */

/* A carriage return, or a newline, that does not end lines of this data. */
static void blame_eol(pgw_copy *copy, bool cr)
{
    static const pgw_copy_fault faults[2][2] = {
        {{"literal newline found in data", "Use \"\\n\" to represent newline."},
         {"literal carriage return found in data", "Use \"\\r\" to represent carriage return."}},
        {{"unquoted newline found in data", "Use quoted CSV field to represent newline."},
         {"unquoted carriage return found in data",
          "Use quoted CSV field to represent carriage return."}}};
    blame(copy, &faults[copy->options->format == PGW_COPY_CSV][cr]);
}

static void end_line(pgw_copy_chunk *in)
{
    pgw_copy *copy = in->copy;
    bool cr = *in->at == '\r';
    if (cr ? copy->eol == EOL_NL : copy->eol == EOL_CR || copy->eol == EOL_CRNL)
        blame_eol(copy, cr);
    end_row(in);
    copy->behind_cr = cr;
    if (!cr)
        copy->eol = EOL_NL;
    in->row = in->field = ++in->at;
}

static void next_field(pgw_copy_chunk *in)
{
    keep_field(in, in->at);
    end_field(in->copy);
    begin_field(in->copy);
    in->field = ++in->at;
}

/* Behind a carriage return that has ended a line: a newline is of the same end. */
static void pass_newline(pgw_copy_chunk *in)
{
    pgw_copy *copy = in->copy;
    bool both = *in->at == '\n' && (copy->eol == EOL_UNKNOWN || copy->eol == EOL_CRNL);
    if (copy->eol == EOL_UNKNOWN)
        copy->eol = both ? EOL_CRNL : EOL_CR;
    if (copy->eol == EOL_CRNL && !both)
        blame_eol(copy, true);
    if (both)
        in->row = in->field = ++in->at;
    copy->behind_cr = false;
}

/* The backslash that was the last byte of the chunk before is no part of the row. */
static void drop_backslash(pgw_copy *copy)
{
    copy->len--;
    if (copy->wanted > 0 && copy->raw.len > 0)
        copy->raw.len--;
}

/* `\.` ends the data of text; what stands before it on its line is a row. The backslash was not put
 * out yet. */
static void end_data(pgw_copy_chunk *in, bool here)
{
    pgw_copy *copy = in->copy;
    size_t before = copy->len + (size_t)(in->at - in->row) - 1;
    copy->ended = true;
    if (before == 0)
        return;
    if (here)
        in->at--;
    else
        drop_backslash(copy);
    end_row(in);
}

/* The byte behind a backslash in text. */
static void pass_escaped(pgw_copy_chunk *in, bool here)
{
    in->copy->backslash = false;
    if (*in->at == '.')
        end_data(in, here);
    if (!here)
        pgw_buf_add_byte(in->out, '\\');
    if (!in->copy->ended)
        in->at++;
}

/* Goes on to the next special byte, or to the end. */
static void pass_plain(pgw_copy_chunk *in)
{
    in->at = pgw_copy_scan_next(&in->copy->scan, in->at, in->end);
}

static void read_text(pgw_copy_chunk *in)
{
    pgw_copy *copy = in->copy;
    char delimiter = copy->options->delimiter;
    if (copy->backslash)
        pass_escaped(in, false);
    while (!copy->ended && in->at < in->end) {
        if (copy->behind_cr) {
            pass_newline(in);
            continue;
        }
        if (may_be_plain(in))
            copy->pass_rows(in);
        pass_plain(in);
        if (in->at == in->end)
            break;
        if (*in->at == delimiter) {
            next_field(in);
        } else if (*in->at != '\\') {
            end_line(in);
        } else if (++in->at < in->end) {
            pass_escaped(in, true);
        } else {
            copy->backslash = true;
        }
    }
}

/* As CopyReadLineText() follows quotes, which may be escapes at once. */
static void note_quote(pgw_copy *copy, char c)
{
    const pgw_copy_options *options = copy->options;
    bool escape = c == options->escape && options->escape != options->quote;
    if (copy->quoted && escape)
        copy->escaped = !copy->escaped;
    if (c == options->quote && !copy->escaped)
        copy->quoted = !copy->quoted;
    if (!escape)
        copy->escaped = false;
}

static void read_csv(pgw_copy_chunk *in)
{
    pgw_copy *copy = in->copy;
    while (in->at < in->end) {
        if (copy->behind_cr) {
            pass_newline(in);
            continue;
        }
        if (may_be_plain(in))
            copy->pass_rows(in);
        const char *run = in->at;
        pass_plain(in);
        copy->escaped = copy->escaped && in->at == run;
        if (in->at == in->end)
            break;
        char c = *in->at;
        if (c == copy->options->quote || c == copy->options->escape)
            note_quote(copy, c);
        else
            copy->escaped = false;
        bool newline = c == '\n' || c == '\r';
        if (!copy->quoted && newline) {
            end_line(in);
        } else if (!copy->quoted && c == copy->options->delimiter) {
            next_field(in);
        } else {
            if (copy->quoted && c == (copy->eol == EOL_NL ? '\n' : '\r'))
                end_line_of(copy, PGW_COPY_LINE_MOST);
            in->at++;
        }
    }
}

/* --- in and out --- */

pgw_copy *pgw_copy_new(const pgw_copy_options *options, pgw_copy_fill *fill, void *context)
{
    pgw_copy *copy = pgw_calloc(1, sizeof *copy);
    copy->options = options;
    copy->fill = fill;
    copy->pass_rows = pass_rows;
    copy->context = context;
    copy->line = 1;
    copy->binary.left = SIGNATURE;
    bool csv = options->format == PGW_COPY_CSV;
    const char specials[SPECIALS] = {'\n', '\r', options->delimiter, csv ? options->quote : '\\',
                                     csv ? options->escape : '\\'};
    pgw_copy_scan_of(specials, &copy->scan);
    pgw_buf_reserve(&copy->raw,
                    64); /* It is never without memory, so that its fields have places. */
    copy->lengths = pgw_alloc(LINES);
    copy->begins = pgw_calloc(options->wanted_count + 1, sizeof *copy->begins);
    copy->ends = pgw_calloc(options->wanted_count + 1, sizeof *copy->ends);
    copy->fields = pgw_calloc(options->wanted_count + 1, sizeof *copy->fields);
    copy->cuts = pgw_calloc(options->columns + 1 + AHEAD * BLOCK, sizeof *copy->cuts);
    copy->column_of = pgw_calloc(options->wanted_count + 1, sizeof *copy->column_of);
    for (size_t i = 0; i < options->columns; i++)
        if (options->wanted[i] > 0)
            copy->column_of[options->wanted[i] - 1] = i;
    begin_row(copy);
    return copy;
}

void pgw_copy_pass_by(pgw_copy *copy, pgw_copy_pass *pass)
{
    copy->pass_rows = pass;
}

void pgw_copy_free(pgw_copy *copy)
{
    if (copy == NULL)
        return;
    pgw_buf_free(&copy->masked);
    pgw_buf_free(&copy->raw);
    free(copy->lengths);
    free(copy->begins);
    free(copy->ends);
    free(copy->fields);
    free(copy->cuts);
    free(copy->column_of);
    free(copy);
}

/* The chunk with no later byte of a character that looks like one of ASCII's: the server sees
 * characters, of which only those of ASCII mean something. */
static const char *mask(pgw_copy *copy, pgw_slice bytes)
{
    pgw_copy_characters characters = copy->options->characters;
    if (characters <= PGW_COPY_BEYOND_ASCII || copy->options->format == PGW_COPY_BINARY)
        return bytes.ptr;
    pgw_buf_clear(&copy->masked);
    pgw_buf_add_slice(&copy->masked, bytes);
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char byte = (unsigned char)bytes.ptr[i];
        bool one = characters == PGW_COPY_SJIS && byte >= 0xa1 && byte <= 0xdf;
        if (copy->later)
            copy->masked.ptr[i] = '\xff';
        copy->later = !copy->later && byte >= 0x80 && !one;
    }
    return copy->masked.ptr;
}

void pgw_copy_feed(pgw_copy *copy, pgw_slice bytes, pgw_buf *out)
{
    if (bytes.len == 0)
        return;
    const char *begin = mask(copy, bytes);
    pgw_copy_chunk in = {.copy = copy,
                         .at = begin,
                         .end = begin + bytes.len,
                         .begin = begin,
                         .bytes = bytes.ptr,
                         .row = begin,
                         .field = begin,
                         .put = begin,
                         .out = out};
    pgw_buf_reserve(out, bytes.len + bytes.len / 2); /* A row is mostly longer than two numbers. */
    if (copy->options->format == PGW_COPY_BINARY)
        pgw_copy_read_tuples(&in);
    else if (copy->options->format == PGW_COPY_TEXT)
        read_text(&in);
    else
        read_csv(&in);
    if (copy->options->format != PGW_COPY_BINARY && !copy->ended) {
        keep_field(&in, in.end);
        copy->beyond = beyond_ascii(&in, in.end);
        copy->len += (size_t)(in.end - in.row);
    }
    put(&in, in.end - copy->backslash);
}

/* What the data lacks at its end. */
static void blame_end(pgw_copy *copy)
{
    static const pgw_copy_fault quoted = {"unterminated CSV quoted field", ""},
                                cut = {"unexpected EOF in COPY data", ""};
    const binary *it = &copy->binary;
    bool whole = it->place == IN_TRAILER || (it->place == IN_COUNT && it->have == 0);
    if (copy->options->format == PGW_COPY_CSV && copy->quoted)
        blame(copy, &quoted);
    else if (copy->options->format == PGW_COPY_BINARY && !whole)
        blame(copy, &cut);
}

void pgw_copy_finish(pgw_copy *copy, pgw_buf *out)
{
    pgw_copy_chunk in = {.copy = copy, .at = "", .out = out};
    in.begin = in.bytes = in.row = in.field = in.put = in.end = in.at;
    bool row = copy->len > 0 || copy->column > 0;
    /* The server leaves a backslash away that ends the data, but would take it for an escape of the
     * delimiter behind it. */
    if (copy->backslash && copy->column + 1 < copy->options->columns)
        pgw_buf_add_byte(out, '\\');
    else if (copy->backslash)
        drop_backslash(copy);
    if (copy->binary.place == IN_COUNT)
        pgw_buf_add(out, copy->binary.number, copy->binary.have);
    blame_end(copy);
    if (row && copy->options->format != PGW_COPY_BINARY && !copy->ended && !copy->quoted &&
        !copy->later)
        end_row(&in);
}
