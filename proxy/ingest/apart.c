#include "proxy/ingest/apart.h"

#include "proxy/backend/places/maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes behind the mark of the data's end that the server is to see: more than the mark's own line.
 */
enum { BEHIND_END = 1024 };

/* A complete row: where it ends in `out`, its partition and its last line. */
typedef struct whole {
    size_t end;
    uint32_t partition;
    uint64_t line;
} whole;

struct px_apart {
    px_worker *worker;
    px_load *load;
    const rw_copy *copy;
    pgw_copy *cutter;
    pgw_buf out; /* Rows with their hashes that were not given to `load`. */
    whole *rows; /* rows that end in `out` */
    size_t count, cap;
    uint64_t line;   /* The last line that was given to `load`. */
    bool framed;     /* `load` knows what batches begin with. */
    bool begun;      /* A row was given to `load`. */
    bool finished;   /* The data has ended. */
    const char *eol; /* How lines end; NULL: none has ended. */
};

px_apart *px_apart_new(px_worker *worker, px_load *load, const rw_copy *copy, pgw_copy *rows)
{
    px_apart *it = pgw_calloc(1, sizeof *it);
    it->worker = worker;
    it->load = load;
    it->copy = copy;
    it->cutter = rows;
    return it;
}

void px_apart_free(px_apart *apart)
{
    if (apart == NULL)
        return;
    px_load_free(apart->load);
    pgw_buf_free(&apart->out);
    free(apart->rows);
    free(apart);
}

px_load *px_apart_load(const px_apart *apart)
{
    return apart->load;
}

/* Rows behind the mark of the data's end do not count. */
void px_apart_row(px_apart *apart, uint64_t hash, size_t end)
{
    if (pgw_copy_has_ended(apart->cutter))
        return;
    if (apart->count == apart->cap) {
        apart->cap = apart->cap > 0 ? 2 * apart->cap : 64;
        apart->rows = pgw_realloc(apart->rows, apart->cap * sizeof *apart->rows);
    }
    uint32_t partition = px_map_partition(apart->worker, apart->copy->table, hash);
    apart->rows[apart->count++] = (whole){end, partition, pgw_copy_at_line(apart->cutter)};
}

/* --- what is refused here --- */

static void refuse_line(px_apart *it, uint64_t line, const char *code, const char *what,
                        const char *hint)
{
    pgw_buf body = {0};
    pgw_buf_addf(&body, "SERROR%cVERROR%cC%s%cM%s%cH%s%cWCOPY %s, line %llu%c%c", '\0', '\0', code,
                 '\0', what, '\0', hint, '\0', it->copy->table->name, (unsigned long long)line,
                 '\0', '\0');
    px_load_refuse(it->load, pgw_slice_buf(&body), line);
    pgw_buf_free(&body);
}

void px_apart_refuse(px_apart *apart, const char *sqlstate, const char *message)
{
    refuse_line(apart, pgw_copy_at_line(apart->cutter), sqlstate, message, "");
}

/* A line has ended otherwise than those before it. */
static void refuse_eol(px_apart *it, const char *eol)
{
    bool csv = it->copy->data.format == PGW_COPY_CSV, cr = *eol == '\r';
    const char *name = cr ? "carriage return" : "newline";
    char what[80], hint[80];
    snprintf(what, sizeof what, "%s %s found in data", csv ? "unquoted" : "literal", name);
    if (csv)
        snprintf(hint, sizeof hint, "Use quoted CSV field to represent %s.", name);
    else
        snprintf(hint, sizeof hint, "Use \"%s\" to represent %s.", cr ? "\\r" : "\\n", name);
    refuse_line(it, it->line, "22P04", what, hint);
}

/* --- what batches begin with --- */

static bool is_binary(const px_apart *it)
{
    return it->copy->data.format == PGW_COPY_BINARY;
}

/* The signature, the flags and the extension; 0: they have not come. */
static size_t head_of_binary(const px_apart *it)
{
    enum {
        SIGNATURE = 15,
        HEAD = SIGNATURE + 4
    }; /* The flags are in the first, behind it is a length. */
    if (it->out.len < HEAD)
        return 0;
    const unsigned char *length = (const unsigned char *)it->out.ptr + SIGNATURE;
    size_t len = HEAD + ((size_t)length[0] << 24 | (size_t)length[1] << 16 |
                         (size_t)length[2] << 8 | length[3]);
    return it->out.len < len ? 0 : len;
}

/* The lines of the header, counted as the server does before it knows how lines end. */
static size_t lines_of_header(pgw_slice header)
{
    size_t lines = 1;
    for (size_t i = 0; i < header.len; i++)
        lines += header.ptr[i] == '\r';
    return lines;
}

/* Whether all that stands before the first row has come; `*len`: so many bytes of `out`. */
static bool frame(px_apart *it, size_t *len)
{
    *len = 0;
    if (it->framed)
        return true;
    bool header = it->copy->data.header != PGW_COPY_NO_HEADER;
    if (is_binary(it) || header) {
        *len = is_binary(it) ? head_of_binary(it) : pgw_copy_header_end(it->cutter);
        if (*len == 0)
            return false;
        pgw_slice head = {it->out.ptr, *len};
        it->line = is_binary(it) ? 0 : lines_of_header(head);
        px_load_frame(it->load, head, it->line,
                      is_binary(it) ? PGW_LITERAL("\377\377") : PGW_LITERAL(""));
    }
    it->framed = true;
    return true;
}

/* --- rows --- */

/* How many of the bytes are the end of the line before. All lines have to end alike, which the
 * server cannot see where each batch has some of them. */
static size_t take_eol(px_apart *it, pgw_slice bytes)
{
    bool before = it->begun || it->line > 0;
    if (is_binary(it) || !before || bytes.len == 0)
        return 0;
    const char *eol = bytes.ptr[0] == '\n'                    ? "\n"
                      : bytes.len > 1 && bytes.ptr[1] == '\n' ? "\r\n"
                                                              : "\r";
    if (it->eol != NULL && strcmp(eol, it->eol) != 0)
        refuse_eol(it, eol);
    it->eol = eol;
    return strlen(eol);
}

/* Gives all rows that are whole to the load. */
static void give_rows(px_apart *it)
{
    size_t at;
    if (!frame(it, &at))
        return;
    for (size_t i = 0; i < it->count; i++) {
        const whole *row = &it->rows[i];
        pgw_slice bytes = {it->out.ptr + at, row->end - at};
        size_t begin = take_eol(it, bytes);
        px_load_add(it->load, row->partition, bytes, begin, row->line, row->line - it->line);
        it->line = row->line;
        it->begun = true;
        at = row->end;
    }
    it->count = 0;
    it->out.len -= at;
    if (at > 0)
        memmove(it->out.ptr, it->out.ptr + at, it->out.len);
}

void px_apart_data(px_apart *apart, pgw_slice bytes)
{
    if (pgw_copy_has_ended(apart->cutter) && apart->out.len >= BEHIND_END)
        return;
    pgw_copy_feed(apart->cutter, bytes, &apart->out);
    give_rows(apart);
    if (apart->out.len > PX_APART_ROW_MOST) {
        refuse_line(apart, pgw_copy_at_line(apart->cutter), "54000",
                    "a row is too long to be stored in a batch", "COPY it as one: copy: atomic.");
        pgw_buf_free(&apart->out);
    }
}

/* Whether nothing is left but what ends data that has been stored, or has no rows. A header without
 * rows is for the server to judge. */
static bool ends_here(const px_apart *it, pgw_slice rest, size_t eol)
{
    if (is_binary(it))
        return it->framed && (rest.len == 0 || pgw_slice_eq(rest, PGW_LITERAL("\377\377")));
    return rest.len == eol && (it->begun || it->line == 0);
}

void px_apart_end(px_apart *apart)
{
    if (apart->finished)
        return;
    apart->finished = true;
    pgw_copy_finish(apart->cutter, &apart->out);
    give_rows(apart);
    pgw_slice rest = pgw_slice_buf(&apart->out);
    size_t eol = take_eol(apart, rest);
    uint64_t next = pgw_copy_at_line(apart->cutter),
             last = next > apart->line + 1 ? next - 1 : apart->line + 1;
    if (!ends_here(apart, rest, eol))
        px_load_add_last(apart->load, rest, eol, last, last - apart->line);
    px_load_finish(apart->load);
}
